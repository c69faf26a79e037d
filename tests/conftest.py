import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # before numpy: threads of small solves wait for each other

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import browser  # noqa: F401 - a fixture

settings.register_profile(
    "default",
    deadline=None,
    max_examples=40,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


@pytest.fixture(scope="session")
def judged():
    """Every claim, judged once."""
    from obliquetd import verify

    return verify()


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as running:
        yield running
