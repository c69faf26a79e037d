import pytest


@pytest.fixture(scope="session")
def results(judged):
    """Every claim by its id."""
    return {result.id: result for result in judged}
