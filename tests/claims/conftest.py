import pytest

from obliquetd.claims import verify


@pytest.fixture(scope="session")
def results():
    """Every claim, judged once."""
    return {result.id: result for result in verify()}
