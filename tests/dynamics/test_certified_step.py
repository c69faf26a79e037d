"""The chain of certificates, against the eigenvalues of the whole pencil and against exact roots."""

import numpy as np
import pytest

from obliquetd import PolicyEvaluation, step_size_limit
from obliquetd.domains import random_problem
from obliquetd.dynamics import certified_step, step_size
from obliquetd.learners import GTD2, SETD, TD, TDC


def in_floats(n, d, seed):
    exact = random_problem(n, d, seed=seed, discount="1/2")
    return PolicyEvaluation(
        exact.mdp,
        target=exact.target,
        behavior=exact.behavior,
        features=np.array(exact.Phi, dtype=float),
        discount=0.5,
        arithmetic="float",
    )


@pytest.fixture
def certified(monkeypatch):
    """What the chain answers, which it is always asked."""
    answers = []

    def spied(*arguments):
        answers.append(certified_step.first_root(*arguments))
        return answers[-1]

    monkeypatch.setattr(step_size, "SMALL", 0)
    monkeypatch.setattr(step_size, "first_root", spied)
    return answers


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("learner", [TD(), SETD(), TDC(), GTD2()], ids=lambda x: x.name)
@pytest.mark.parametrize("seed", range(3))
def test_both_routes_find_the_same_root(learner, sampling, seed, certified, monkeypatch):
    problem = in_floats(4, 2, seed)
    found = step_size_limit(problem, learner, sampling=sampling)
    if found == 0:
        pytest.skip("no step size is stable")
    monkeypatch.setattr(step_size, "SMALL", 10**9)
    assert found == pytest.approx(step_size_limit(problem, learner, sampling=sampling), rel=1e-9)
    assert len(certified) == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_the_chain_ends_at_the_exact_root(seed, certified):
    exact = random_problem(3, 2, seed=seed, discount="1/2")
    found = step_size_limit(in_floats(3, 2, seed), TD())
    assert found == pytest.approx(float(step_size_limit(exact, TD())), rel=1e-9)
    assert certified[0] is not None


def test_a_chain_that_does_not_arrive_is_left_to_the_eigenvalues(certified, monkeypatch):
    problem = in_floats(4, 2, 1)
    wanted = step_size_limit(problem, TD())
    assert certified.pop() is not None
    monkeypatch.setattr(certified_step, "STEPS", 2)
    assert step_size_limit(problem, TD()) == pytest.approx(wanted, rel=1e-9)
    assert certified == [None]


def test_each_interval_that_is_certified_is_stable():
    """The radius of T is below 1 at the end of the interval, by eigenvalues; T of one state, by hand."""
    g = np.array([[-1.0, 0.3], [-0.2, -0.5]])
    h = np.array([[-2.0, 0.1], [0.4, 0.3]])
    i, j = np.triu_indices(2)
    G, same = np.array([g, h]), np.broadcast_to(np.eye(2), (2, 2, 2))
    pairs = step_size._pairs
    T = (
        np.eye(3),
        (pairs(same, G, i, j) + pairs(G, same, i, j)).mean(axis=0),
        pairs(G, G, i, j).mean(axis=0),
    )
    radius = lambda a: np.abs(np.linalg.eigvals(T[0] + a * T[1] + a * a * T[2])).max()  # noqa: E731
    moments = certified_step._Moments(T, 2)
    for alpha in (0.01, 0.1, 0.2):
        assert radius(alpha) < 1
        assert radius(alpha + moments.certified(alpha)) < 1
    assert radius(5.0) > 1
    assert moments.certified(5.0) is None
    root = certified_step.first_root(T, (-T[1], -T[2], np.zeros((3, 3))), 2)
    assert radius(root) == pytest.approx(1, abs=1e-9)
