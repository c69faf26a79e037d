"""Retrace, Tree Backup, V-trace and ABTD for state values: matrices, fixed points, derived numbers."""

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import ABTD, MDP, TD, Policy, PolicyEvaluation, Retrace, TreeBackup, VTrace
from obliquetd.domains import two_state
from obliquetd.errors import InputError, SignUndecidedError
from obliquetd.learners import Learner, Theta, Trace, Transition, phi, positive, td_error
from obliquetd.learners.check import qq
from obliquetd.learners.evaluate import PlainRule
from tests.learners.closed_forms import LAMBDAS, behavior_of, ratio, traced, visited, walks
from tests.learners.test_rules import vector
from tests.problem.test_action_episodes import BEHAVIOR, PAIRS, ROWS, TARGET, episodes

Q = sp.Rational


def dynamics(problem, learner):
    dyn = otd.mean_dynamics(problem, learner)
    return sp.Matrix(dyn.A), sp.Matrix(list(dyn.b))


def pairs(problem):
    """(pi, mu) of each state and action that the behaviour can take."""
    found = {row[:2] for row in problem.mdp.transitions}
    both = [[policy[s].get(a, 0) for policy in (problem.target, behavior_of(problem))]
            for s, a in found]  # fmt: skip
    return [pair for pair in both if pair[1]]


def psi_of(problem, zeta):
    sizes = [max(pair) for pair in pairs(problem)]
    low, high = 1 / max(sizes), 1 / min(sizes)
    zeta = Q(zeta)
    return 2 * zeta * low + max(2 * zeta - 1, 0) * (high - 2 * low)


@settings(max_examples=15)
@given(walks(), LAMBDAS, st.sampled_from(["1/2", "1", "5/4", "9"]), st.sampled_from(["1/3", "1"]),
       st.sampled_from(["1/4", "1/2", "3/4", "1"]))  # fmt: skip
def test_the_matrices(problem, lam, rho_bar, c_bar, zeta):
    lam_, cap, cut = Q(lam), Q(rho_bar), Q(c_bar)
    psi = psi_of(problem, zeta)
    wanted = {
        Retrace(lam=lam): traced(problem, lambda pi, mu: lam_ * min(1, pi / mu), ratio),
        TreeBackup(lam=lam): traced(problem, lambda pi, _: lam_ * pi, ratio),
        VTrace(lam=lam, rho_bar=rho_bar, c_bar=c_bar): traced(
            problem, lambda pi, mu: lam_ * min(cut, pi / mu), lambda pi, mu: min(cap, pi / mu)
        ),
        ABTD(zeta=zeta): traced(problem, lambda pi, mu: min(psi, 1 / max(pi, mu)) * pi, ratio),
    }
    for learner, expected in wanted.items():
        assert dynamics(problem, learner) == expected, learner


@settings(max_examples=10)
@given(walks(tabular=True), LAMBDAS, st.sampled_from([0, "1/2", "3/4", 1]),
       st.sampled_from(["1/2", 1, "5/4", 9]))  # fmt: skip
def test_the_tabular_fixed_points(problem, lam, zeta, rho_bar):
    """v_pi for all but V-trace, which has the value of the policy proportional to min(rho_bar mu, pi)."""
    for learner in (Retrace(lam=lam), TreeBackup(lam=lam), ABTD(zeta=zeta)):
        found = otd.mean_dynamics(problem, learner).fixed_point()
        assert visited(problem, found) == visited(problem, problem.v_pi)
    capped = {}
    for s in problem.target:
        kept = {a: min(Q(rho_bar) * behavior_of(problem)[s].get(a, 0), problem.target[s].get(a, 0))
                for a in problem.mdp.offered[s]}  # fmt: skip
        capped[s] = {a: Q(p) / sum(kept.values()) for a, p in kept.items()}
    theirs = problem.replace(target=Policy(capped), behavior=behavior_of(problem)).v_pi
    found = otd.mean_dynamics(problem, VTrace(lam=lam, rho_bar=rho_bar, c_bar="1/2"))
    assert visited(problem, found.fixed_point()) == visited(problem, theirs)


def test_v_trace_s_value_is_not_v_pi_where_its_cap_binds():
    problem = two_state(reward=1).replace(features=None)
    rows = [("l", "go", "r", 1, 0), ("l", "stay", "l", 1, 1), ("r", "go", "l", 1, 2)]
    mdp = MDP.from_transitions(rows)
    target = Policy({"l": {"go": "3/4", "stay": "1/4"}, "r": {"go": 1}})
    problem = PolicyEvaluation(mdp, target=target, behavior=Policy.uniform(mdp), discount="1/2")
    assert list(otd.mean_dynamics(problem, VTrace()).fixed_point()) != list(problem.v_pi)
    assert list(otd.mean_dynamics(problem, VTrace(rho_bar="3/2")).fixed_point()) == list(
        problem.v_pi
    )


@settings(max_examples=8)
@given(walks(on_policy=True), walks())
def test_which_of_them_are_td(on_policy, off_policy):
    """On-policy all of them without a trace; off-policy those that weigh the TD error by rho."""
    one = (Retrace(), TreeBackup(), ABTD(zeta=0))
    for problem, same in ((on_policy, (*one, VTrace())), (off_policy, (*one, VTrace(rho_bar=99)))):
        expected = dynamics(problem, TD())
        assert all(dynamics(problem, learner) == expected for learner in same)
    for lam in ("1/2", 1):
        expected = dynamics(on_policy, TD(lam=lam))
        assert dynamics(on_policy, Retrace(lam=lam)) == expected
        assert dynamics(on_policy, VTrace(lam=lam)) == expected


@pytest.mark.parametrize("lam", ["0", "1/2", "1"])
def test_over_pairs_they_are_what_their_sources_define(lam):
    """delta takes the expectation over the next action and no ratio; c is that of the next action."""
    problem, n, lam_ = episodes(), len(PAIRS), Q(lam)
    sizes = [max(TARGET[s][a], BEHAVIOR[s][a]) for s, a in PAIRS[:4]]
    psi = {"1/2": 1 / max(sizes), "1": 1 / min(sizes)}
    cuts = {
        Retrace(lam=lam): lambda pi, mu: lam_ * min(1, pi / mu),
        TreeBackup(lam=lam): lambda pi, _: lam_ * pi,
        ABTD(): lambda pi, mu: min(psi["1/2"], 1 / max(pi, mu)) * pi,
        ABTD(zeta=1): lambda pi, mu: min(psi["1"], 1 / max(pi, mu)) * pi,
    }
    for learner, cut in cuts.items():
        K = sp.zeros(n, n)
        for s, a, t, p, _ in ROWS:
            for j, (u, b) in enumerate(PAIRS):
                if u == t != "end":
                    pi, mu = Q(TARGET[t][b]), Q(BEHAVIOR[t][b])
                    K[PAIRS.index((s, a)), j] += Q("9/10") * Q(p) * mu * cut(pi, mu)
        Z = (sp.eye(n) - K.T).LUsolve(sp.diag(*problem.xi) * problem.Phi)
        expected = Z.T * problem.L_pi * problem.Phi, Z.T * sp.Matrix(problem.r_pi)
        assert dynamics(problem, learner) == expected, learner
        tabular = problem.replace(features=None)
        assert list(otd.mean_dynamics(tabular, learner).fixed_point()) == list(tabular.v_pi)
        run = otd.simulate(problem, dataclasses.replace(learner, alpha=0.05), 500)[learner.name]
        assert run.diverged == 0
        assert run.theta.any()


@pytest.mark.parametrize("over_pairs", [False, True])
def test_a_step_by_vectors(over_pairs):
    """Over pairs the ratio of the next action cuts the trace and scales no step: a mean hides that."""
    theta, e, phi_, nxt, expected = (
        vector(*v) for v in ((1, 2), ("1/2", -1), (1, 3), (2, 1), (1, 5))
    )
    alpha, g, pi, mu, reward = (Fraction(x) for x in ("1/3", "1/2", "3/4", "1/4", 2))
    rho, half = pi / mu, Fraction(1, 2)
    late, left = (expected, Fraction(1)) if over_pairs else (nxt, rho)
    t = Transition(
        np.stack([phi_, nxt]), 0, 1, reward, g, Fraction(1), pi, mu, rho, 1, g, rho,
        np.stack([phi_, late]), left,
    )  # fmt: skip
    delta, sampled = (reward + g * v.dot(theta) - phi_.dot(theta) for v in (late, nxt))
    psi = {"psi_0": Fraction(4, 3), "psi_max": Fraction(4)}
    for learner, numbers, error, k, c in (
        (Retrace(), {"lam": half}, delta, left, half),
        (TreeBackup(), {"lam": half}, delta, left, half * pi),
        (ABTD(), {"zeta": half, **psi}, delta, left, Fraction(4, 3) * pi),
        (VTrace(), {"lam": half, "rho_bar": Fraction(2), "c_bar": Fraction(1)}, sampled, 2, half),
    ):
        x, m, found = PlainRule(learner, 2, qq, numbers).run(t, list(theta), list(e), alpha)
        assert found == error != 0, learner
        assert x == list(theta + alpha * k * error * (e + phi_)), learner
        assert m == list(g * c * (e + phi_)), learner


def three_actions(a="1/2"):
    """Chances 1/2, 1/4 and 1/4 under the behaviour, and another policy as the target."""
    rows = [(s, k, (s + j) % 2, 1, s + j) for s in (0, 1) for j, k in enumerate("xyz")]
    mdp = MDP.from_transitions(rows)
    behavior = Policy({s: {"x": "1/2", "y": "1/4", "z": "1/4"} for s in (0, 1)})
    rest = (1 - sp.Symbol(a)) / 2 if a.isidentifier() else (1 - Q(a)) / 2
    target = Policy({s: {"x": a, "y": rest, "z": rest} for s in (0, 1)})
    return PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=[[1], [2]], discount="9/10"
    )


def numbers(problem, **settings):
    found = otd.mean_dynamics(problem, ABTD(**settings)).numbers
    return found["psi_0"], found["psi_max"]


class TestWhatFollowsFromTheProblem:
    def test_by_hand(self):
        """The sizes are 3/4, 1/4 and 1/4, so psi_0 = 4/3 and psi_max = 4."""
        problem = three_actions("3/4")
        assert numbers(problem) == (Q(4, 3), 4)
        assert numbers(problem.replace(discount="gamma")) == (Q(4, 3), 4)
        assert numbers(problem, zeta="z") == (Q(4, 3), 4)
        floats = numbers(problem.replace(arithmetic="float"))
        assert floats == pytest.approx((4 / 3, 4), rel=1e-15)

    def test_a_symbol_for_zeta(self):
        """Its region is split at 1/2, and where the smaller of psi and 1/m changes."""
        problem = three_actions("3/4").replace(discount="99/100")
        region = otd.stability_region(problem, ABTD(zeta="z"), "z")
        for value in (0, "1/8", "3/8", "1/2", "5/8", "7/8", 1):
            stable = otd.mean_dynamics(problem, ABTD(zeta=value)).is_stable()
            assert (Q(value) in region) == stable, value

    def test_a_symbol_in_a_policy(self):
        """What is largest may depend on it, which is said; where it does not, it may stay."""
        with pytest.raises(SignUndecidedError, match=r"largest .* depends on p; put a number"):
            numbers(three_actions("p"))
        with pytest.raises(SignUndecidedError, match=r"problem\.subs"):
            otd.stability_region(three_actions("p"), ABTD(), "p")
        assert numbers(three_actions("p").subs({"p": "2/3"})) == (Q(3, 2), 4)

    def test_a_terminal_state_has_no_action(self):
        """It is left with chance 1 in the closed chain, which would make psi_0 a 1."""
        rows = [("s", k, "s", 1, 1) for k in "xyz"] + [("s", "w", "end", 1, 0)]
        mdp = MDP.from_transitions(rows)
        mu = Policy({"s": dict.fromkeys("xyzw", "1/4")})
        for weights, sampling in (
            ({"start": {"s": 1}}, None),
            ({"xi": {"s": "1/2", "end": "1/2"}}, "iid"),
        ):
            problem = PolicyEvaluation(mdp, target=mu, features=None, discount="1/2", **weights)
            dyn = otd.mean_dynamics(problem, ABTD(), sampling=sampling)
            assert dyn.numbers["psi_0"] == dyn.numbers["psi_max"] == 4

    def test_where_there_is_no_action_nothing_is_learned(self):
        mdp = MDP.from_transitions([], states=["end"], actions=["x"])
        problem = PolicyEvaluation(mdp, target=Policy({}), discount="1/2", xi=[1])
        for learner in (TD(), ABTD()):
            dyn = otd.mean_dynamics(problem, learner, sampling="iid")
            assert list(dyn.fixed_point()) == [0]

    def test_a_simulation_runs_on_the_numbers_of_the_problem(self):
        """zeta = 3/4 makes psi = 8/3: a rule of one's own with that for a setting does the same."""
        problem = three_actions("3/4")
        for stream in ("trajectory", "iid"):
            ours, theirs = (
                otd.simulate(problem, learner, 400, seed=1, stream=stream)[learner.name].theta
                for learner in (ABTD(0.01, 0.75), Fixed(0.01, 8 / 3))
            )
            assert np.allclose(ours, theirs, rtol=1e-12)
            assert ours.any()

    def test_a_log_is_replayed_with_the_numbers_of_its_problem(self):
        """Its own pairs are but a part of them: psi is 4/3 and not 4."""
        log = otd.LoggedData([[1.0]] * 3, [[1.0]] * 3, [1, 0, 2], 0.9,
                             target=[0.125] * 3, behavior=[0.25] * 3)  # fmt: skip
        problem = three_actions("3/4")
        ours = otd.simulate(problem, ABTD(0.1), 3, stream=log)["ABTD"].theta
        theirs = otd.simulate(problem, Fixed(0.1, 4 / 3), 3, stream=log)["Fixed"].theta
        assert np.allclose(ours, theirs, rtol=1e-12)
        with pytest.raises(InputError, match="give the problem too"):
            otd.simulate(None, ABTD(0.1), 3, stream=log)
        ratios = otd.LoggedData([[1.0]], [[1.0]], [1], 0.9, rho=[2.0])
        with pytest.raises(InputError, match="ratios alone"):
            otd.simulate(problem, ABTD(0.1), 1, stream=ratios)


class GivenPsi(NamedTuple):
    psi: Any


def fixed(x, m, t, alpha, p):
    most = t.pi
    if t.mu > t.pi:
        most = t.mu
    nu = p.psi
    if nu * most > 1:
        nu = 1 / most
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        trace = m.e[i] + phi(t, i)
        x.theta[i] += alpha * t.rho * delta * trace
        m.e[i] = t.g * nu * t.pi * trace
    return delta


@dataclass(frozen=True)
class Fixed(Learner):
    alpha: Any = None
    psi: Any = positive(1)  # noqa: RUF009
    weights, memory, numbers = Theta, Trace, GivenPsi
    rule = staticmethod(fixed)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Retrace(0.1, 2), "lam is 2"),
        (lambda: TreeBackup(0.1, -1), "lam is -1"),
        (lambda: VTrace(0.1, 0, 0), "rho_bar is 0"),
        (lambda: VTrace(0.1, 0, 1, "-1/2"), "c_bar is -1/2"),
        (lambda: VTrace(0.1, "3/2"), "lam is 3/2"),
        (lambda: VTrace(0.1, 0, float("inf")), "rho_bar is inf"),
        (lambda: ABTD(0.1, 2), "zeta is 2"),
        (lambda: ABTD(0.1, float("nan")), "zeta is nan"),
    ],
)
def test_bad_settings(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_positional_order_and_labels():
    assert VTrace(0.1, 0.5, 2, 3) == VTrace(alpha=0.1, lam=0.5, rho_bar=2, c_bar=3)
    assert ABTD(0.1).label == "ABTD"
    assert ABTD(0.1, "3/4").label == "ABTD zeta=3/4"
