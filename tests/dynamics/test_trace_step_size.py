"""Step sizes of learners with traces: certified ones against second moments over all memories that there are."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation, mean_dynamics, step_size_limit
from obliquetd.domains import random_problem, random_walk, two_state
from obliquetd.dynamics.step_size_result import LOWER_BOUND, StepSizeLimit
from obliquetd.dynamics.trace_step_size import certified_with_trace
from obliquetd.errors import InputError, KindError, MathematicalError, SizeError
from obliquetd.learners import ETD, SETD, TD, NStepTD, Retrace, TrueOnlineTD
from tests.strategies import problems

GAMMA, LAM = 0.9, 0.75
FEATURES = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 1.0], [0.0, 2.0]])
"""Of states 0 to 3: two ways through an episode of three steps, so that there are few memories."""
MOVES = [
    (0, "a", 1, 1),
    (0, "b", 2, 1),
    (1, "a", 3, 1),
    (1, "b", 2, 1),
    (2, "a", 3, 1),
    (3, "a", 0, 0),
]
TARGET = {0: {"a": 0.75, "b": 0.25}, 1: {"a": 0.5, "b": 0.5}, 2: {"a": 1}, 3: {"a": 1}}
BEHAVIOR = {0: {"a": 0.5, "b": 0.5}, 1: {"a": 0.25, "b": 0.75}, 2: {"a": 1}, 3: {"a": 1}}


def episodes(kind):
    rows = [(s, a, t, 1, 0, g) for s, a, t, g in MOVES]
    read = (lambda x: x) if kind == "float" else (lambda x: str(sp.nsimplify(x)))
    pi, mu = (
        Policy({s: {a: read(p) for a, p in row.items()} for s, row in policy.items()})
        for policy in (TARGET, BEHAVIOR)
    )
    Phi = [[read(x) for x in row] for row in FEATURES.tolist()]
    return PolicyEvaluation(
        MDP.from_transitions(rows), target=pi, behavior=mu, features=Phi, discount=read(GAMMA)
    )


def radius(alpha):
    """Of the map of second moments, over every pair of a state and a trace, by hand for TD(lambda)."""
    start = (0, (0.0, 0.0))
    nodes, todo, jumps = {start: 0}, [start], []
    while todo:
        s, e = todo.pop()
        for u, a, t, own in MOVES:
            if u != s:
                continue
            g, rho = GAMMA * own, TARGET[s][a] / BEHAVIOR[s][a]
            trace = rho * (np.array(e) + FEATURES[s])
            there = (t, tuple(np.round(g * LAM * trace, 12)))
            M = np.eye(2) - alpha * np.outer(trace, FEATURES[s] - g * FEATURES[t])
            if there not in nodes:
                nodes[there] = len(nodes)
                todo.append(there)
            jumps.append((nodes[s, e], nodes[there], BEHAVIOR[s][a], M))
    T = np.zeros((len(nodes), 4, len(nodes), 4))
    for i, j, p, M in jumps:
        T[j, :, i, :] += p * np.kron(M, M)
    assert 5 < len(nodes) < 20
    size = 4 * len(nodes)
    return float(np.abs(np.linalg.eigvals(T.reshape(size, size))).max())


@pytest.mark.parametrize("kind", ["exact", "float"])
def test_second_moments_die_out_below_what_is_certified(kind):
    found = step_size_limit(episodes(kind), TD(lam="3/4" if kind == "exact" else 0.75))
    assert found.kind == LOWER_BOUND
    assert found.sense == "mean square"
    alphas = np.geomspace(1e-3, 10, 400)
    limit = next(a for a in alphas if radius(a) >= 1)
    assert limit / 60 < float(found) < limit
    for alpha in float(found) * np.array([0.01, 0.3, 0.7, 0.999]):
        assert radius(alpha) < 1


@settings(max_examples=20, deadline=None)
@given(problems(closed=True, most_states=4), st.sampled_from([TD(), SETD(), Retrace(lam=0)]))
def test_without_a_trace_the_bound_is_below_the_limit(problem, learner):
    dyn = mean_dynamics(problem, learner, sampling="trajectory")
    if dyn.stability.verdict != "stable":
        return
    certified = certified_with_trace(dyn.expectation)
    assert (
        0
        < certified
        < float(step_size_limit(problem, TD() if isinstance(learner, Retrace) else learner))
    )


@pytest.mark.parametrize(
    "learner", [TD(lam="1/2"), SETD(lam="1/4"), NStepTD(n=2), ETD()], ids=lambda x: x.label
)
def test_the_expected_update_is_stable_up_to_its_limit_and_no_further(learner):
    problem = random_walk()
    found = step_size_limit(problem, learner, sense="mean")
    assert (found.sense, found.kind) == ("expected update", "limit")
    values = mean_dynamics(problem, learner).spectrum()
    assert np.abs(1 - float(found) * values).max() == pytest.approx(1, abs=1e-9)
    floats = problem.replace(arithmetic="float")
    assert float(step_size_limit(floats, learner, sense="mean")) == pytest.approx(
        float(found), rel=1e-9
    )
    assert sp.sympify(found).is_real
    assert not isinstance(found.exact, float)


def test_a_limit_by_hand():
    """TD(lambda) on two states: A = 1/22 at lambda 1/2, so |1 - alpha / 22| < 1 for alpha < 44."""
    found = step_size_limit(two_state(), TD(lam="1/2"), sense="mean")
    assert found == mean_dynamics(two_state(), TD(lam="1/2")).A[0] ** -1 * 2 == 44
    assert str(found) == "44"


def test_an_unstable_mean_leaves_no_step_size():
    for sense in ("mean", "mean square"):
        assert step_size_limit(two_state(), TD(lam="1/10"), sense=sense) == 0


@pytest.mark.parametrize(
    ("problem", "learner", "words", "more"),
    [
        (two_state("9/10"), TD(lam="3/5"), r"trace that no bound holds.*sense='mean'", {}),
        (random_walk(), TrueOnlineTD(lam="1/2"), r"hears of the weights", {}),
        (two_state(), TD(lam="1/2"), r"carries a trace", {"sampling": "iid"}),
    ],
    ids=["unbounded", "true online", "iid"],
)
def test_what_is_not_certified_is_said(problem, learner, words, more):
    with pytest.raises(InputError, match=words):
        step_size_limit(problem, learner, **more)


def test_more_that_is_not_certified():
    with pytest.raises(KindError, match="substitute"):
        step_size_limit(two_state(), TD(lam="l"))
    with pytest.raises(MathematicalError, match="moves any weight"):
        step_size_limit(two_state().replace(features=[[0], [0]]), TD(lam="1/2"))


def test_what_is_large_is_refused(monkeypatch):
    monkeypatch.setattr("obliquetd.dynamics.trace_step_size.LARGEST", 3)
    with pytest.raises(SizeError, match=r"sense='mean'"):
        step_size_limit(random_walk(), TD(lam="1/2"))


class TestAsANumber:
    """An irrational limit prints as a decimal, and computes as what it is."""

    ROOT = sp.sqrt(2) / 3
    FOUND = StepSizeLimit(ROOT, "mean square")

    def test_a_long_root_prints_as_a_decimal(self):
        found = step_size_limit(random_problem(3, 2, seed=1), TD())
        assert repr(found) == "0.050297 (limit, mean square)"
        assert isinstance(found.exact, sp.CRootOf)
        assert len(str(found.exact)) > 500
        assert f"{found:.3f}" == "0.050"
        assert float(found) == pytest.approx(float(found.exact))

    def test_rationals_are_as_they_were(self):
        found = step_size_limit(two_state(), SETD(), sampling="iid")
        assert found == sp.Rational(1, 4)
        assert isinstance(found, sp.Rational)

    def test_it_computes(self):
        found, root = self.FOUND, self.ROOT
        assert (found + 1, 1 + found, found - 1, 1 - found) == (
            root + 1,
            1 + root,
            root - 1,
            1 - root,
        )
        assert (found * 2, 2 * found, found / 2, 2 / found) == (
            root * 2,
            2 * root,
            root / 2,
            2 / root,
        )
        assert (found**2, -found, abs(found)) == (sp.Rational(2, 9), -root, root)
        assert found * found == sp.Rational(2, 9)
        assert sp.sympify(found) is root
        assert sp.Rational(1, 2) * found == root / 2
        assert sp.N(found, 20) == root.n(20)

    def test_it_compares(self):
        found = self.FOUND
        assert found == self.ROOT
        assert self.ROOT == found  # noqa: SIM300 - the number is asked, too
        assert found == StepSizeLimit(self.ROOT, "mean")
        assert found != 0
        assert 0.4 < found < 0.5
        assert found <= found
        assert found > sp.Rational(1, 3)
        assert hash(found) == hash(self.ROOT)
        assert found
        assert not StepSizeLimit(sp.Integer(0), "mean")
        assert max([found, 0.1, 0.2]) is found

    def test_it_travels(self):
        for again in (pickle.loads(pickle.dumps(self.FOUND)), copy.deepcopy(self.FOUND)):
            assert (again, again.sense) == (self.FOUND, "mean square")

    def test_it_asks_its_number(self):
        assert not self.FOUND.is_Rational
        assert self.FOUND.evalf(5) == self.ROOT.evalf(5)
        with pytest.raises(AttributeError):
            _ = self.FOUND.nothing_of_the_kind

    @pytest.mark.parametrize(
        ("value", "text"), [(sp.oo, "oo"), (0.0, "0"), (sp.Rational(1, 10**400), "1.00000e-400")]
    )
    def test_extremes(self, value, text):
        assert str(StepSizeLimit(value, "mean")) == text


@given(st.floats(1e-200, 1e200))
def test_a_bound_prints_rounded_down_and_a_limit_to_the_nearest(number):
    bound, limit = (StepSizeLimit(number, "mean square", kind) for kind in (LOWER_BOUND, "limit"))
    assert float(str(bound)) <= number
    assert float(str(bound)) == pytest.approx(number, rel=1e-5)
    assert float(str(limit)) == pytest.approx(number, rel=5e-6)
