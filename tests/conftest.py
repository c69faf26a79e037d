import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,
    max_examples=40,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


COSTLY = ("judged", "baird")
"""Fixtures that take seconds: the tests that share one run in one worker, which makes it once."""


def pytest_itemcollected(item):
    for name in COSTLY:
        if name in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture(scope="session")
def judged():
    """Every claim, judged once."""
    from obliquetd import verify

    return verify()
