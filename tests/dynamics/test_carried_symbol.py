"""Regions of learners with a trace by boxes: against the route over the function field, and against verdicts at numbers."""

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics import regions, symbol
from tests.dynamics.test_boxes import both_routes, drawn
from tests.turn import part

LEARNERS = (
    otd.TD(lam="1/10"), otd.ETD(), otd.ETD(lam="1/3"), otd.SETD(lam="1/5"), otd.TDC(mu=1, lam="1/5"),
    otd.TrueOnlineTD(lam="1/10"), otd.HTD(mu=1, lam="1/10"), otd.TreeBackup(lam="1/5"), otd.VTrace(lam="1/2"),
)  # fmt: skip


def skewed(seed):
    """Two or three states off-policy with features of unlike sizes: some learners are unstable."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    d = int(rng.integers(1, n))
    rows = []
    for s in range(n):
        for a in ("l", "r"):
            t = s if rng.random() < 0.3 else int(rng.integers(n))
            q = sp.Rational(int(rng.integers(1, 10)), 10)
            rows += [(s, a, t, q, int(rng.integers(-2, 3))), (s, a, (t + 1) % n, 1 - q, 0)]
    mdp = otd.MDP.from_transitions(rows)

    def policy():
        chances = [sp.Rational(int(rng.integers(1, 10)), 10) for _ in range(n)]
        return otd.Policy({s: {"l": q, "r": 1 - q} for s, q in enumerate(chances)})

    target, behavior = policy(), policy()
    features = {s: [int(rng.integers(-1, 7)) for _ in range(d)] for s in range(n)}
    return otd.PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=features, discount="gamma"
    )


@pytest.fixture
def families(monkeypatch):
    """What the route by boxes made of each learner with a trace that was asked for."""
    found = []
    plain = symbol.carried_in_one_symbol

    def spied(*given):
        found.append(plain(*given))
        return found[-1]

    monkeypatch.setattr(symbol, "carried_in_one_symbol", spied)
    return found


@pytest.mark.parametrize(
    ("seed", "learner"),
    [
        (5, otd.TD(lam="1/10")),
        pytest.param(5, otd.TDC(mu=1, lam="1/5"), marks=pytest.mark.slow), (5, otd.TreeBackup(lam="1/5")),
        (8, otd.TrueOnlineTD(lam="1/10")), (11, otd.SETD(lam="1/5")), (0, otd.ETD()),
    ],
)  # fmt: skip
def test_a_trace_changes_no_region(seed, learner, monkeypatch, families):
    """But for ETD each of these is unstable from some algebraic discount on, or between two."""
    found, old = both_routes(monkeypatch, skewed(seed), learner, "gamma")
    assert found == old
    assert families[0] is not None
    assert (found == sp.Interval.Ropen(0, 1)) == isinstance(learner, otd.ETD)


@pytest.mark.slow
@pytest.mark.parametrize("seed", part(range(8), 2))
def test_a_trace_changes_no_region_of_many(seed, monkeypatch):
    for problem in (skewed(seed), drawn(seed)):
        for learner in LEARNERS:
            for domain in (None, sp.Interval(-2, 2)):
                found, old = both_routes(monkeypatch, problem, learner, "gamma", domain)
                assert found == old


def test_the_symbol_in_a_trace(monkeypatch, families):
    found, old = both_routes(monkeypatch, two_state("9/10"), otd.TD(lam="l"), "l")
    assert found == old == sp.Interval.Lopen(sp.Rational(4, 9), 1)
    assert families[0] is not None


@pytest.mark.parametrize(
    ("n", "learner"),
    [
        (6, otd.TD(lam="1/2")), (6, otd.ETD()), (6, otd.HTD(mu=1, lam="1/2")), (6, otd.SETD(lam="1/2")),
        pytest.param(8, otd.SETD(lam="1/2"), marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_boxes_do_it_alone_where_a_trace_is_carried(n, learner, monkeypatch):
    """The function field is not asked: ETD with 12 states and 6 features took more than 20 s there.

    SETD's A has one denominator of degree 108 with 8 states, and took minutes.
    """
    monkeypatch.setattr(regions, "exactly", None)
    problem = random_problem(n, n // 2, seed=1, discount="gamma")
    found = otd.stability_region(problem, learner, "gamma")
    for point in (sp.Rational(1, 7), sp.Rational(99, 100)):
        dyn = otd.mean_dynamics(problem.subs({"gamma": point}), learner)
        assert found.contains(point) == sp.true
        assert dyn.is_stable()


def test_weights_that_nothing_moves_are_left_to_the_other_route(families):
    """Two features that are one: A has the eigenvalue 0 throughout."""
    problem = two_state("gamma").replace(features={"left": [1, 1], "right": [2, 2]})
    assert otd.stability_region(problem, otd.ETD(), "gamma") == sp.Interval.Ropen(0, 1)
    assert families == [None]
