"""The chain of certificates, against the eigenvalues of the whole pencil and against exact roots."""

import warnings

import numpy as np
import pytest
import sympy as sp

from obliquetd import PolicyEvaluation, step_size_limit
from obliquetd.domains import random_problem
from obliquetd.dynamics import certified_step, float_step_size, step_size
from obliquetd.dynamics.radius import Maps, proved_side
from obliquetd.errors import PrecisionWarning
from obliquetd.learners import GTD2, HTD, SETD, TD, TDC, TDRC


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

    monkeypatch.setattr(float_step_size, "SMALL", 0)
    monkeypatch.setattr(float_step_size, "first_root", spied)
    return answers


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("learner", [TD(), SETD(), TDC(), GTD2()], ids=lambda x: x.name)
@pytest.mark.parametrize("seed", range(3))
def test_both_routes_find_the_same_root(learner, sampling, seed, certified, monkeypatch):
    problem = in_floats(4, 2, seed)
    found = step_size_limit(problem, learner, sampling=sampling)
    if found == 0:
        pytest.skip("no step size is stable")
    monkeypatch.setattr(float_step_size, "SMALL", 10**9)
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
    pairs = float_step_size._pairs
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


NEARLY = [["1/250000", "249999/250000", 0], [0, "1/3", "2/3"], ["1/2", "1/2", 0]]
MULTIPLE = [(HTD(), "9/10", [1000, -3, 2], 1), (HTD(), "1/2", [1, 2, -1], "1/1000"), (TDC(), 0, [3, 1, 2], "1/1000"),
            (TDRC(), 0, [2, 1, -1], 1000), (TD(), "9/10", [1, -1, 2], "1/1000000")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("always", [True, False], ids=["certificates", "eigenvalues"])
@pytest.mark.parametrize("case", range(len(MULTIPLE)))
def test_a_root_that_several_share_keeps_its_digits(case, always, monkeypatch):
    """On-policy the two vectors of a learner have roots in common, of which eigenvalues keep a third
    of the digits; and where features are nearly dependent a sign changes by rounding before the root."""
    learner, discount, column, scale = MULTIPLE[case]
    monkeypatch.setattr(float_step_size, "SMALL", 0 if always else 10**9)
    Phi = sp.Matrix([[c * sp.Rational(scale), k] for c, k in zip(column, (1, 1, 2), strict=True)])
    exact = PolicyEvaluation.from_chain(NEARLY, [1, 0, 2], discount=discount, features=Phi)
    floats = PolicyEvaluation.from_chain(
        np.array(sp.Matrix(NEARLY).tolist(), dtype=float),
        [1.0, 0.0, 2.0],
        discount=float(sp.Rational(discount)),
        features=np.array(Phi.tolist(), dtype=float),
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = step_size_limit(floats, learner)
    wanted = float(step_size_limit(exact, learner))
    if told:
        assert told[0].filename == __file__
        assert "digits are left" in str(told[0].message)
    assert found == pytest.approx(wanted, rel=1e-2 if told else 1e-7)


def test_a_warning_of_few_digits_names_the_line_that_asked(monkeypatch):
    monkeypatch.setattr(step_size, "is_small", lambda *_: False)
    problem = PolicyEvaluation.from_chain(
        np.array([[0.5, 0.5], [0.25, 0.75]]),
        [1.0, 2.0],
        discount=0.9,
        features=np.array([[1000.0, 1.0], [-3.0, 1.0]]),
    )
    with pytest.warns(PrecisionWarning, match="digits are left") as told:
        step_size_limit(problem, HTD())
    assert told[0].filename == __file__


@pytest.mark.parametrize("alpha", [0.5, 1.99, 2.01, 3.0])
def test_a_proof_knows_which_side_it_is_on_and_gives_up_where_errors_hide_it(alpha):
    """One map 1 - alpha, of radius (1 - alpha)^2, with and without an error of G that may be as large as it."""
    X = np.full((1, 1, 1), 1 / (1 - (1 - alpha) ** 2))

    def side(error):
        one = np.ones((1, 1, 1))
        return proved_side(Maps([0], [0], np.ones(1), -one, np.zeros(1), error * one), alpha, X)

    assert side(1e-12) == (1 if alpha < 2 else -1)
    assert side(1.0) == 0
