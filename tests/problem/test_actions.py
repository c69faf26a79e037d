"""Action values: the pairs' chain built by hand, on random rational problems."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.domains import two_state
from obliquetd.learners import LEARNERS
from tests.strategies import distributions, mdps
from tests.test_completeness import CLOSED_FORMS

G = sp.Rational(9, 10)


@st.composite
def actions(draw, full=True, **sizes):
    """An MDP, a target and a behaviour that covers it, and features of the pairs."""
    mdp = draw(mdps(**{"most_states": 3, "most_actions": 2, **sizes}))
    if len(mdp.states) > 1 and draw(st.booleans()):  # the last state ends episodes
        end = mdp.states[-1]
        rows = [row for row in mdp.transitions if row.state != end]
        mdp = otd.MDP.from_transitions(rows, states=mdp.states, actions=mdp.actions)

    def policy(full):
        rows = {}
        for s, offered in mdp.offered.items():
            if offered:
                chances = draw(distributions(len(offered), full))
                rows[s] = dict(zip(offered, chances, strict=True))
        return otd.Policy(rows)

    target, behavior = policy(False), policy(True)
    n = sum(max(1, len(offered)) for offered in mdp.offered.values())
    d = draw(st.integers(1, 3))
    row = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
    features = draw(st.lists(row, min_size=n, max_size=n))
    return mdp, target, behavior, features


class ByHand:
    """The pairs' chain: P of pairs by states, and for each policy Pi of states by pairs."""

    def __init__(self, mdp, target, behavior, discount=G):
        self.pairs = [(s, a) for s in mdp.states for a in mdp.offered[s] or (None,)]
        states, n, m = list(mdp.states), len(self.pairs), len(mdp.states)
        P, self.r, Pg = sp.zeros(n, m), sp.zeros(n, 1), sp.zeros(n, m)
        for s, a, t, p, r, d in mdp.transitions:
            i, j = self.pairs.index((s, a)), states.index(t)
            P[i, j] += sp.nsimplify(p)
            Pg[i, j] += sp.nsimplify(p) * discount * sp.nsimplify(d) * int(bool(mdp.offered[t]))
            self.r[i] += sp.nsimplify(p) * sp.nsimplify(r)
        for i, (s, a) in enumerate(self.pairs):
            if a is None:
                P[i, states.index(s)] = 1

        def chances(policy):
            return sp.Matrix(m, n, lambda j, i: self.chance(policy, states[j], i))

        self.Pi = chances(target)
        self.P_pi, self.P_b = P * self.Pi, P * chances(behavior)
        self.P_gamma = Pg * self.Pi
        self.L = sp.eye(n) - self.P_gamma

    def chance(self, policy, state, i):
        s, a = self.pairs[i]
        if s != state:
            return 0
        return 1 if a is None else sp.nsimplify(policy[s].get(a, 0))


@settings(max_examples=25)
@given(actions())
def test_every_matrix_is_that_of_the_pairs_chain(model):
    mdp, target, behavior, features = model
    hand = ByHand(mdp, target, behavior)
    n = len(hand.pairs)
    xi = [Fraction(i + 1, n) for i in range(n)]
    problem = otd.PolicyEvaluation.of_actions(
        mdp, target=target, behavior=behavior, features=features, discount=G, xi=xi
    )
    assert list(problem.states) == hand.pairs
    assert (problem.P_pi, problem.P_b, problem.r_pi) == (hand.P_pi, hand.P_b, hand.r)
    assert problem.L_pi == hand.L
    Phi, Xi = sp.Matrix(features), sp.diag(*map(sp.Rational, xi))
    assert problem.Phi == Phi
    assert Phi.T * Xi * Phi == problem.C
    assert problem.Lambda == hand.L * Phi
    assert problem.X_star == hand.L.T.LUsolve(Xi * Phi)
    assert problem.f == hand.L.T.LUsolve(sp.Matrix(list(map(sp.Rational, xi))))
    assert problem.native.features_next.public() == _expected(hand, target) * Phi


def _expected(hand, target):
    """Pi by the state of each pair."""
    n = len(hand.pairs)
    return sp.Matrix(n, n, lambda i, j: hand.chance(target, hand.pairs[i][0], j))


@pytest.mark.parametrize("arithmetic", ["exact", "symbolic", "float"])
@settings(max_examples=12)
@given(model=actions())
def test_a_value_is_the_sum_of_action_values(model, arithmetic):
    mdp, target, behavior, _ = model
    shared = {
        "target": target, "behavior": behavior, "arithmetic": arithmetic,
        "discount": sp.Symbol("gamma") if arithmetic == "symbolic" else G,
    }  # fmt: skip
    q = otd.PolicyEvaluation.of_actions(mdp, **shared).values
    v = otd.PolicyEvaluation(mdp, **shared).values
    for s in target:
        total = sum((p * q[s, a] for a, p in target[s].items()), sp.Integer(0))
        if arithmetic == "float":
            assert float(total) == pytest.approx(v[s], rel=1e-9, abs=1e-9)
        else:
            assert sp.cancel(total - v[s]) == 0


@settings(max_examples=20)
@given(actions())
def test_weights_are_those_of_the_state_times_the_chance_of_the_action(model):
    mdp, target, behavior, _ = model
    states = otd.PolicyEvaluation(mdp, target=target, behavior=behavior, discount=G)
    pairs = otd.PolicyEvaluation.of_actions(mdp, target=target, behavior=behavior, discount=G)
    assume(len(states.chain.recurrent) == 1)
    weight = dict(zip(states.states, states.xi, strict=True))
    chance = {(s, a): p for s, row in behavior.items() for a, p in row.items()}
    ends = {(s, None): 1 for s in mdp.terminal}
    assert list(pairs.xi) == [weight[s] * {**chance, **ends}[s, a] for s, a in pairs.states]


# --- learners ------------------------------------------------------------------------------


def _ergodic(features=True, **fields):
    """Two states, three actions in one and two in the other, rewards in every outcome."""
    rows = [
        ("A", "l", "A", "1/2", 1), ("A", "l", "B", "1/2", 0), ("A", "r", "B", 1, -1),
        ("A", "x", "A", 1, 2), ("B", "l", "A", "1/3", 0), ("B", "l", "B", "2/3", 3),
        ("B", "r", "A", 1, 1),
    ]  # fmt: skip
    mdp = otd.MDP.from_transitions(rows)
    given = {
        "target": otd.Policy({"A": {"l": "1/4", "r": "3/4"}, "B": {"l": "2/3", "r": "1/3"}}),
        "behavior": otd.Policy(
            {"A": {"l": "1/2", "r": "1/4", "x": "1/4"}, "B": {"l": "1/3", "r": "2/3"}}
        ),
        "discount": "4/5",
        "features": {
            ("A", "l"): [1, 0], ("A", "r"): [1, 1], ("A", "x"): [0, 2],
            ("B", "l"): [2, -1], ("B", "r"): [1, 3],
        } if features else None,
        **fields,
    }  # fmt: skip
    return otd.PolicyEvaluation.of_actions(mdp, **given)


def _resolvent(problem, kernel, lam):
    """Z with Z = Xi Phi + gamma lam kernel' Z."""
    n = len(problem.states)
    return (sp.eye(n) - problem.discount * lam * kernel.T).LUsolve(
        sp.diag(*problem.xi) * problem.Phi
    )


@pytest.mark.parametrize("lam", [0, sp.Rational(1, 2), 1])
def test_td_is_sarsa(lam):
    problem = _ergodic()
    dyn = otd.mean_dynamics(problem, otd.TD(lam=lam))
    Z = _resolvent(problem, problem.P_pi, lam)
    assert Z.T * problem.L_pi * problem.Phi == dyn.A
    assert dyn.b == Z.T * problem.r_pi


def test_etd_gtd2_and_tdc():
    problem = _ergodic()
    A, C = otd.mean_dynamics(problem, otd.TD()).A, problem.C
    follow = sp.diag(*problem.L_pi.T.LUsolve(sp.Matrix(list(problem.xi))))
    etd, gtd2, tdc = (otd.mean_dynamics(problem, k()).A for k in (otd.ETD, otd.GTD2, otd.TDC))
    assert etd == problem.Phi.T * follow * problem.L_pi * problem.Phi
    for found, corner in ((gtd2, [0 * A, -A.T]), (tdc, [A, C - A.T])):
        assert found == sp.Matrix(sp.BlockMatrix([corner, [A, C]]))


def test_setd_weighs_each_outcome_with_the_action_that_follows():
    problem = _ergodic()
    expected, constant = sp.zeros(2, 2), sp.zeros(2, 1)
    xi = dict(zip(problem.states, problem.xi, strict=True))
    phi = {s: problem.Phi.row(i).T for i, s in enumerate(problem.states)}
    for s, a, t, p, r, _ in problem.mdp.transitions:
        for b, pi in problem.target[t].items():
            gap = phi[s, a] - problem.discount * phi[t, b]
            omega = max(gap.dot(phi[s, a]) / gap.dot(gap), 0)
            expected += xi[s, a] * p * pi * omega * phi[s, a] * gap.T
            constant += xi[s, a] * p * pi * omega * r * phi[s, a]
    dyn = otd.mean_dynamics(problem, otd.SETD())
    assert (dyn.A, dyn.b) == (expected, constant)


class AsStates:
    """A problem over pairs as closed forms over states read it: the action of a row is the pair after."""

    def __init__(self, problem):
        self._problem = problem
        rows = [
            ((s, a), (t, b), (t, b), p, r, d)
            for s, a, t, p, r, d in problem.mdp.transitions
            for b in problem.mdp.offered[t]
        ]
        self.mdp = SimpleNamespace(transitions=rows, terminal=self._ends(problem))

        def chances(policy):
            after = {(s, a): policy[s].get(a, 0) for s, a in problem.states}
            return dict.fromkeys(problem.states, after)

        self.target, self.behavior = chances(problem.target), chances(problem.behavior)

    def replace(self, **_):
        """On-policy, as the closed forms ask for the behaviour's own problem."""
        return AsStates(self._problem.replace(target=self._problem.behavior, behavior=None))

    @staticmethod
    def _ends(problem):
        return [pair for pair in problem.states if pair[0] in problem.mdp.terminal]

    def __getattr__(self, name):
        return getattr(self._problem, name)


@pytest.mark.parametrize("key", LEARNERS)
def test_every_learner_has_its_closed_form_over_pairs(key):
    problem = _ergodic()
    found = sp.Matrix(otd.mean_dynamics(problem, LEARNERS[key]()).A)
    assert found == CLOSED_FORMS[key](AsStates(problem))


@pytest.mark.parametrize("lam", ["0", "1/2", "1"])
def test_least_squares_find_the_fixed_point(lam):
    for problem in (_ergodic(), _ergodic(features=False)):
        theta = otd.LSTD(lam=lam).limit(problem).theta
        assert theta == otd.mean_dynamics(problem, otd.TD(lam=lam)).fixed_point()


@pytest.mark.parametrize("kind", [otd.TD, otd.ETD, otd.GTD2, otd.TDC])
def test_tabular_fixed_points_are_the_action_values(kind):
    problem = _ergodic(features=False)
    theta = otd.mean_dynamics(problem, kind(lam="1/2")).fixed_point()
    assert list(theta)[: len(problem.states)] == list(problem.v_pi)


def test_verdicts_and_certificates():
    problem = _ergodic()
    dyn = otd.mean_dynamics(problem, otd.ETD())
    certificate = dyn.certificate()
    assert otd.check_certificate(certificate, problem, otd.ETD())
    assert not otd.check_certificate(certificate, problem, otd.TD())
    assert float(otd.projection_analysis(problem, "td").norm) >= 1
    region = otd.stability_region(problem.replace(discount="gamma"), otd.TD(), "gamma")
    verdicts = {g: otd.mean_dynamics(problem.replace(discount=g), otd.TD()).is_stable()
                for g in ("1/10", "4/5", "99/100")}  # fmt: skip
    assert verdicts == {g: sp.Rational(g) in region for g in verdicts}


def test_the_two_state_example_over_pairs():
    """Features by the state that is reached, phi = (1, 2): the chain of Section IV one step later."""
    base = two_state(discount="9/10")
    pairs = otd.PolicyEvaluation.of_actions(
        base.mdp, target=base.target, behavior=base.behavior, discount="9/10",
        features={(s, a): [1 if a == "left" else 2] for s in base.states for a in base.states},
    )  # fmt: skip
    for kind in (otd.TD, otd.ETD):
        assert otd.mean_dynamics(pairs, kind()).A == otd.mean_dynamics(base, kind()).A
    assert otd.mean_dynamics(pairs, otd.TD()).stability.verdict == "unstable"
