"""Action values where episodes end, in simulations, in files and reports, and from bad input."""

import json
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.domains import two_state
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.errors import (
    CoverageError,
    EpisodesEndError,
    FeatureError,
    FormatWarning,
    InputError,
    LabelError,
    ProbabilityError,
    StationaryError,
)
from obliquetd.experiments.streams import TableStream
from obliquetd.formats.model import model_from_dict
from obliquetd.learners import Learner, Theta, Trace, emphatic, expected_td_error, phi, unit
from obliquetd.report import model_page
from obliquetd.report.analysis import analyze
from tests.test_cli import run

ROWS = [
    ("A", "go", "B", "1/2", 0), ("A", "go", "A", "1/2", 1), ("A", "stop", "end", 1, 3),
    ("B", "go", "end", "1/2", 1), ("B", "go", "A", "1/2", -1), ("B", "back", "A", 1, 2),
]  # fmt: skip
MDP = otd.MDP.from_transitions(ROWS)
TARGET = otd.Policy({"A": {"go": "1/3", "stop": "2/3"}, "B": {"go": "3/4", "back": "1/4"}})
BEHAVIOR = otd.Policy({"A": {"go": "3/4", "stop": "1/4"}, "B": {"go": "1/4", "back": "3/4"}})
PAIRS = (("A", "go"), ("A", "stop"), ("B", "go"), ("B", "back"), ("end", None))
FEATURES = {p: [1, k] for k, p in enumerate(PAIRS[:4])}


def episodes(**fields):
    given = {"target": TARGET, "behavior": BEHAVIOR, "features": FEATURES, "discount": "9/10",
             "start": {"A": "1/4", "B": "3/4"}}  # fmt: skip
    return otd.PolicyEvaluation.of_actions(MDP, **{**given, **fields})


# --- rules in the form of action values ----------------------------------------------------


class Lam(NamedTuple):
    lam: Any


def expected_sarsa(x, m, t, alpha, p):
    """Expected Sarsa(0): delta with the expected next features, and the ratio that is left."""
    delta = expected_td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho_expected * delta * phi(t, i)
    return delta


def retrace(x, m, t, alpha, p):
    """Retrace(lambda) (Munos et al. 2016): e = gamma c e + phi, c = lambda min(1, rho)."""
    delta = expected_td_error(x.theta, t)
    cut = t.rho if t.rho < 1 else 1 + 0 * t.g
    for i in range(len(x.theta)):
        trace = m.e[i] + phi(t, i)
        x.theta[i] += alpha * t.rho_expected * delta * trace
        m.e[i] = t.g * p.lam * cut * trace
    return delta


def tree_backup(x, m, t, alpha, p):
    """Tree Backup(lambda) (Precup, Sutton and Singh 2000): c = lambda pi."""
    delta = expected_td_error(x.theta, t)
    for i in range(len(x.theta)):
        trace = m.e[i] + phi(t, i)
        x.theta[i] += alpha * t.rho_expected * delta * trace
        m.e[i] = t.g * p.lam * t.pi * trace
    return delta


@final
@dataclass(frozen=True)
class ExpectedSarsa(Learner):
    alpha: Any = None
    weights, rule = Theta, staticmethod(expected_sarsa)


@final
@dataclass(frozen=True)
class ActionRetrace(Learner):
    alpha: Any = None
    lam: Any = unit(0)  # noqa: RUF009
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(retrace)


@final
@dataclass(frozen=True)
class ActionTreeBackup(Learner):
    alpha: Any = None
    lam: Any = unit(0)  # noqa: RUF009
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(tree_backup)


OWN = (ExpectedSarsa, ActionRetrace, ActionTreeBackup)


@pytest.mark.parametrize("kind", OWN)
def test_the_rules_are_sound(kind):
    assert otd.learners.check(kind()).ok
    assert "features_next" in kind().reads
    assert "features_next" not in otd.TD().reads


@pytest.mark.parametrize("lam", ["0", "1/2", "1"])
@pytest.mark.parametrize(
    ("kind", "cut"),
    [
        (ActionRetrace, lambda pi, mu: min(pi, mu)),
        (ActionTreeBackup, lambda pi, mu: mu * pi),
    ],
)
def test_traces_are_cut_by_the_action_that_follows(kind, cut, lam):
    """Z = Xi Phi + K' Z with K = g p lam mu c: A = Z' L Phi and b = Z' r."""
    problem = episodes()
    n = len(PAIRS)
    K = sp.zeros(n, n)
    for s, a, t, p, _ in ROWS:
        for j, (u, b) in enumerate(PAIRS):
            if u == t != "end":
                pi, mu = TARGET[t][b], BEHAVIOR[t][b]
                K[PAIRS.index((s, a)), j] += sp.Rational("9/10") * sp.Rational(p) * cut(pi, mu)
    Z = (sp.eye(n) - sp.Rational(lam) * K.T).LUsolve(sp.diag(*problem.xi) * problem.Phi)
    dyn = otd.mean_dynamics(problem, kind(lam=lam))
    assert Z.T * problem.L_pi * problem.Phi == dyn.A
    assert dyn.b == Z.T * problem.r_pi


@pytest.mark.parametrize("kind", OWN)
def test_tabular_fixed_points_are_the_action_values(kind):
    problem = episodes(features=None)
    theta = list(otd.mean_dynamics(problem, kind()).fixed_point())
    assert theta[:4] == list(problem.v_pi)[:4]


def _noise(problem, kind):
    """The trace of the noise covariance at the fixed point."""
    return otd.efficiency(problem, kind()).noise_covariance.trace()


def test_expected_sarsa_has_the_mean_of_sarsa_and_less_noise():
    problem = episodes()
    sarsa, expected = (otd.mean_dynamics(problem, k()) for k in (otd.TD, ExpectedSarsa))
    assert (sarsa.A, sarsa.b) == (expected.A, expected.b)
    noise = [_noise(problem, k) for k in (otd.TD, ExpectedSarsa)]
    assert noise[1] < noise[0]


def test_over_states_the_expected_form_is_the_plain_one():
    states = otd.PolicyEvaluation(
        MDP, target=TARGET, behavior=BEHAVIOR, discount="9/10", start={"A": 1},
        features={"A": [1, 0], "B": [1, 2], "end": [0, 0]},
    )  # fmt: skip
    plain, expected = (otd.mean_dynamics(states, k()) for k in (otd.TD, ExpectedSarsa))
    assert (plain.A, plain.b) == (expected.A, expected.b)
    assert _noise(states, otd.TD) == _noise(states, ExpectedSarsa)


# --- episodes ------------------------------------------------------------------------------


def test_a_terminal_state_has_one_pair():
    problem = episodes()
    assert problem.states == PAIRS
    assert problem.xi[-1] == 0
    assert problem.v_pi[-1] == 0
    assert list(problem.Phi.row(-1)) == [0, 0]
    given = episodes(features={**FEATURES, ("end", None): [0, 7]})
    assert list(given.Phi.row(-1)) == [0, 7]
    for learner in (otd.TD(lam="1/2"), otd.ETD(), otd.SETD(), ActionRetrace(lam="1/2")):
        ours, theirs = (otd.mean_dynamics(p, learner) for p in (problem, given))
        assert (ours.A, ours.b) == (theirs.A, theirs.b)
    rows = [FEATURES[p] for p in PAIRS[:4]]
    assert episodes(features=rows).Phi == problem.Phi
    assert episodes(features=[*rows, [0, 0]]).Phi == problem.Phi


def test_restarts_are_those_of_the_states():
    problem = episodes()
    states = otd.PolicyEvaluation(
        MDP, target=TARGET, behavior=BEHAVIOR, discount="9/10", start=problem.inputs.start.chances
    )
    weight = dict(zip(states.states, states.xi, strict=True))
    assert list(problem.xi) == [weight[s] * BEHAVIOR[s][a] for s, a in PAIRS[:4]] + [0]
    assert problem.average_reward[0] == states.average_reward[0]
    assert problem.start == {
        (s, a): problem.inputs.start.chances[s] * p for s in "AB" for a, p in BEHAVIOR[s].items()
    }
    closed = MDP.with_restarts({"A": "1/4", "B": "3/4"})
    other = otd.PolicyEvaluation.of_actions(
        closed, target=TARGET, behavior=BEHAVIOR, features=FEATURES, discount="9/10"
    )
    assert (problem.P_pi[:4, :4], problem.P_b[:4, :4]) == (other.P_pi, other.P_b)
    for learner in (
        otd.TD(lam="1/2"),
        otd.ETD(lam="1/2"),
        otd.GTD2(lam=1),
        ActionTreeBackup(lam=1),
    ):
        ours, theirs = (otd.mean_dynamics(p, learner) for p in (problem, other))
        assert (ours.A, ours.b) == (theirs.A, theirs.b)


def test_nothing_is_corrected_where_an_episode_ends():
    """rho is 1 of a move into a terminal state, whoever begins after it."""
    for problem in (episodes(), episodes(start={("A", "go"): 1}), episodes(start=None, xi=[1] * 5)):
        ops = problem.native
        ended = ops.own_discount == 0
        told = zip(ops.told_pi[ended], ops.told_mu[ended], strict=True)
        assert ended.any()
        assert all(pi == mu == 1 for pi, mu in told)
        exact = [s.transition for s in RuleOnNumbers(ops, otd.TD()).samples]
        moved = [t for t in exact if t.own == 0]
        assert moved
        assert all(t.pi == t.mu == t.rho == 1 for t in moved)
        assert any(t.rho != 1 for t in exact)
        stream = TableStream(problem, "iid")
        assert (stream.outcomes.rho[stream.outcomes.own == 0] == 1).all()


def test_a_start_may_be_of_pairs():
    explored = episodes(start={("A", "stop"): "1/2", ("B", "back"): "1/2"})
    assert explored.start == {("A", "stop"): sp.Rational(1, 2), ("B", "back"): sp.Rational(1, 2)}
    assert explored.P_pi.row(1) == sp.Matrix([[0, "1/2", 0, "1/2", 0]])  # the target begins so, too
    assert explored.replace(behavior=TARGET).start == explored.start
    follows = episodes().replace(behavior=TARGET)  # a start of states follows the behaviour
    assert follows.start["B", "go"] == sp.Rational(9, 16)


def test_weights_of_visits():
    problem = episodes(xi="occupancy", discount=1)
    states = otd.PolicyEvaluation(
        MDP, target=TARGET, behavior=BEHAVIOR, xi="occupancy", start={"A": "1/4", "B": "3/4"}
    )
    weight = dict(zip(states.states, states.xi, strict=True))
    assert list(problem.xi)[:4] == [weight[s] * BEHAVIOR[s][a] for s, a in PAIRS[:4]]


def test_several_closed_classes():
    mdp = otd.MDP.from_transitions([(s, a, s, 1, k) for s in "XY" for k, a in enumerate("ab")])
    uniform = otd.Policy.uniform(mdp)
    problem = otd.PolicyEvaluation.of_actions(mdp, target=uniform, discount="1/2")
    with pytest.raises(StationaryError, match="2 recurrent classes"):
        _ = problem.xi
    weighted = problem.replace(xi=problem.chain.stationary_by_class[0])
    assert list(weighted.xi) == [sp.Rational(1, 2), sp.Rational(1, 2), 0, 0]
    assert list(weighted.v_pi) == [sp.Rational(1, 2), sp.Rational(3, 2)] * 2


# --- at work ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_simulated_means_are_the_exact_ones():
    """Theta after 12 steps, over 2000 runs: within 5 standard errors of its exact mean."""
    problem, first = episodes(arithmetic="float"), [1, -1]
    learners = {"td": otd.TD(0.05), "setd": otd.SETD(0.05), "expected": ExpectedSarsa(0.05)}
    found = otd.simulate(problem, learners, 12, 2000, seed=3, theta0=first)
    for name, learner in learners.items():
        exact = otd.exact_moments(problem, learner, 12, first).mean[-1]
        theta = found[name].theta
        error = theta.std(axis=0) / np.sqrt(len(theta))
        assert (np.abs(theta.mean(axis=0) - np.ravel(exact)) < 5 * error).all(), name


@pytest.mark.parametrize("stream", ["trajectory", "episodes", "iid"])
@pytest.mark.parametrize("learner", [otd.TD(0.05, lam=0.5), ActionRetrace(0.05, lam=0.5)])
def test_a_simulation_runs_the_rule_on_the_pairs(learner, stream):
    """The compiled run, and the plain rule over the same outcomes, read from the model."""
    problem, steps = episodes(arithmetic="float"), 60
    found = otd.simulate(problem, {"it": learner}, steps, 1, seed=5, stream=stream)["it"].theta[0]
    source = TableStream(problem, stream)
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(0,)))
    drawn = source.draw(steps, rng, False)
    Phi = np.array([FEATURES.get(p, [0, 0]) for p in PAIRS], dtype=float)
    after = np.array(
        [sum(TARGET[s].get(b, 0) * Phi[PAIRS.index((s, b))] for b in TARGET[s]) if s != "end"
         else Phi[-1] for s, _ in PAIRS], dtype=float,
    )  # fmt: skip
    theta, trace = np.zeros(2), np.zeros(2)
    for k, fresh in zip(drawn.rows, drawn.fresh, strict=True):
        o = source.outcomes
        i, j, r, g = o.state[k], o.next_state[k], o.reward[k], o.discount[k]
        after_state, follows = PAIRS[j]
        rho = 1.0
        if g > 0:
            rho = float(TARGET[after_state][follows] / BEHAVIOR[after_state][follows])
            assert r in {row[4] for row in ROWS if row[:3] == (*PAIRS[i], after_state)}
        trace = trace * (not fresh)
        if isinstance(learner, otd.TD):
            trace = rho * (trace + Phi[i])
            theta = theta + 0.05 * (r + (g * Phi[j] - Phi[i]) @ theta) * trace
            trace = g * 0.5 * trace
        else:
            trace = trace + Phi[i]
            theta = theta + 0.05 * (r + (g * after[j] - Phi[i]) @ theta) * trace
            trace = g * 0.5 * min(1.0, rho) * trace
    assert found == pytest.approx(theta, rel=1e-9)


class Weight(NamedTuple):
    weight: Any


def weighed(x, m, t, alpha, p):
    return emphatic(x.theta, m.e, t, p.weight[t.s], alpha, 0 * t.g)


@final
@dataclass(frozen=True)
class ByPair(Learner):
    """A learner whose emphasis is a number of the problem for each label."""

    alpha: Any = None
    memory, numbers, rule = Trace, Weight, staticmethod(weighed)
    derives = {"weight": (1, "1/2", 3, 2)}  # noqa: RUF012

    def derive(self, problem):
        return {"weight": [1 + k for k in range(len(problem.states))]}


def test_other_questions_are_answered_over_pairs():
    problem = episodes(features=None)
    states = otd.PolicyEvaluation(
        MDP, target=TARGET, behavior=BEHAVIOR, discount="9/10", start={"A": "1/4", "B": "3/4"}
    )
    dq, dv = (otd.sensitivity(p, ("A", "go", "B")).v_pi for p in (problem, states))
    assert dv[0] == sum(p * dq[PAIRS.index(("A", a))] for a, p in TARGET["A"].items())
    visited = problem.replace(features=[[int(i == j) for j in range(4)] for i in range(4)])
    it = otd.iteration(visited, otd.FQI())
    assert it.is_convergent()
    assert list(it.fixed_point()) == list(problem.v_pi)[:4]


@pytest.mark.parametrize("over", ["states", "pairs"])
@pytest.mark.parametrize("learner", [otd.TD(lam="1/2"), otd.ETD(), otd.TrueOnlineTD(lam="1/2")])
def test_a_trace_has_a_mean_in_floats_where_episodes_begin_anew(learner, over):
    """Terminal states have the weight 0, which floats know only with an error bound."""
    exact = episodes(arithmetic="exact")
    if over == "states":
        exact = otd.PolicyEvaluation(
            MDP, target=TARGET, behavior=BEHAVIOR, discount="9/10", start={"A": "1/4", "B": "3/4"},
            features={"A": [1, 0], "B": [1, 2], "end": [0, 0]},
        )  # fmt: skip
    ours, theirs = (
        otd.mean_dynamics(p, learner) for p in (exact, exact.replace(arithmetic="float"))
    )
    assert np.allclose(theirs.A, np.array(ours.A, dtype=float), rtol=1e-12)
    assert np.allclose(np.ravel(theirs.b), np.array(ours.b, dtype=float).ravel(), rtol=1e-12)


def test_a_learner_may_be_bound_to_pairs():
    problem = episodes()
    X = sp.diag(*(w * k for k, w in enumerate(problem.xi, 1))) * problem.Phi
    assert X.T * problem.L_pi * problem.Phi == otd.mean_dynamics(problem, ByPair()).A


def test_the_command_line_reads_any_model_over_pairs(tmp_path):
    path = tmp_path / "model.tra"
    mdp = two_state().mdp
    otd.save_model(otd.PolicyEvaluation(mdp, target=otd.Policy.uniform(mdp)), path)
    found = run("analyze", path, "--over", "pairs", "--discount", "1/2", "--json")
    assert json.loads(found.stdout)["states"] == [[s, a] for s in mdp.states for a in mdp.actions]
    refused = run("analyze", path, "--over", "trios", expect=2)
    assert "over is 'trios'; expected 'states' or 'pairs'" in refused.stderr


def test_a_certificate_speaks_of_the_pairs():
    problem = episodes()
    certificate = otd.mean_dynamics(problem, otd.ETD()).certificate()
    assert otd.check_certificate(certificate, problem, otd.ETD())
    shifted = problem.replace(features={p: [1, 2 * k] for k, p in enumerate(PAIRS[:4])})
    assert not otd.check_certificate(certificate, shifted, otd.ETD())


def same(a, b):
    names = ("states", "P_pi", "P_b", "r_pi", "L_pi", "xi", "Phi", "v_pi", "start")
    return all(getattr(a, name) == getattr(b, name) for name in names)


VARIANTS = [
    {}, {"start": {("A", "go"): "1/3", ("B", "back"): "2/3"}}, {"features": None},
    {"xi": {p: k for k, p in enumerate(PAIRS[:4])}, "start": None}, {"xi": "occupancy"},
    {"behavior": None, "discount": "g", "arithmetic": "symbolic"},
]  # fmt: skip


@pytest.mark.parametrize("fields", VARIANTS)
@pytest.mark.parametrize("ending", [".json", ".npz", ".graphml"])
def test_whole_files_keep_the_pairs(fields, ending, tmp_path):
    problem = episodes(**fields)
    path = tmp_path / f"model{ending}"
    otd.save_model(problem, path)
    assert same(otd.load_model(path), problem)
    assert same(pickle.loads(pickle.dumps(problem)), problem)


def test_other_files_say_that_they_leave_the_pairs_behind(tmp_path):
    path = tmp_path / "model.tra"
    with pytest.warns(FormatWarning, match="over='pairs'"):
        otd.save_model(episodes(features=None, start=None, discount=1), path)
    found = otd.load_model(path, target=TARGET, behavior=BEHAVIOR, over="pairs", start={"A": 1})
    assert found.states[0] == ("A", "go")
    assert same(found, found.replace())


def test_a_model_file_may_be_written_by_hand():
    data = {
        "transitions": [list(row) for row in ROWS], "over": "pairs", "discount": "9/10",
        "features": {f'["{s}", "{a}"]': v for (s, a), v in FEATURES.items()},
        "target": {s: dict(TARGET[s]) for s in "AB"}, "start": {"A": "1/4", "B": "3/4"},
        "behavior": {s: dict(BEHAVIOR[s]) for s in "AB"},
    }  # fmt: skip
    assert same(model_from_dict(data), episodes())
    with pytest.raises(InputError, match="over is 'trios'; expected 'states' or 'pairs'"):
        model_from_dict({**data, "over": "trios"})


def test_fields_change_as_over_states():
    problem = episodes(discount="g")
    assert problem.subs({"g": "9/10"}).v_pi == episodes().v_pi
    assert problem.replace(discount="9/10").X_star == episodes().X_star
    floats = episodes(arithmetic="float")
    assert np.allclose(floats.v_pi, np.array(episodes().v_pi, dtype=float)[:, 0])
    assert "5 pairs" in repr(problem)


@pytest.mark.slow
def test_analysis_and_report():
    problem = episodes()
    analysis = analyze(problem)
    data = analysis.to_dict()
    assert data["states"][0] == ("A", "go")
    assert not analysis.failures()
    assert json.loads(json.dumps(data))["states"][-1] == ["end", None]
    page = model_page(problem, "action values")
    assert "(&#39;A&#39;, &#39;stop&#39;)" in page
    assert "By pair: weight" in page
    rows = list(
        otd.compare(problem, {"td": "td", "mine": dict.fromkeys(PAIRS, 1), "rule": otd.TD()})
    )
    assert rows[0].theta == rows[1].theta == rows[2].theta


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"features": {"A": [1], "B": [2]}}, LabelError,
         ["features name the state 'A'", "each pair (state, action)", "('A', 'go')"]),
        ({"features": {**FEATURES, ("B", "stop"): [1, 1]}}, LabelError,
         ["the pair ('B', 'stop')", "state 'B' offers ['go', 'back']"]),
        ({"features": {**FEATURES, ("C", "go"): [1, 1]}}, LabelError,
         ["('C', 'go'), which is no pair (state, action)", "('end', None)"]),
        ({"features": {**FEATURES, ("end", "go"): [1, 1]}}, LabelError,
         ["('end', 'go')", "no action, and its one pair has None"]),
        ({"features": {k: v for k, v in FEATURES.items() if k != ("B", "go")}}, FeatureError,
         ["no feature row for pair ('B', 'go')", "every pair needs one"]),
        ({"features": [[1], [2], [3]]}, FeatureError, ["3 rows for 5 pairs", "problem.states"]),
        ({"xi": {("A", "go"): 1}}, LabelError, ["no weight for pair ('A', 'stop')"]),
        ({"xi": {"A": 1, "B": 1}}, LabelError, ["xi names the state 'A'", "('A', 'stop')"]),
        ({"xi": [1, 1]}, InputError, ["2 weights for 5 pairs"]),
        ({"xi": dict.fromkeys(PAIRS, -1)}, ProbabilityError, ["xi gives pair ('A', 'go') the weight -1"]),
        ({"start": {("A", "go"): 1, "B": 0}}, InputError, ["both states and pairs"]),
        ({"start": {("A", "go"): "1/2"}}, ProbabilityError, ["sums to 1/2"]),
        ({"start": {("end", None): 1}}, LabelError, ["is terminal"]),
        ({"start": {"nowhere": 1}}, LabelError, ["'nowhere' is unknown"]),
        ({"behavior": otd.Policy({"A": {"go": 1}, "B": {"go": 1}})}, CoverageError,
         ["'stop' in state 'A'"]),
        ({"target": {("A", "go"): {"go": 1}}}, LabelError, ["no state ('A', 'go')"]),
    ],
)  # fmt: skip
def test_bad_input_is_named(fields, error, words):
    with pytest.raises(error) as caught:
        episodes(**fields)
    for word in words:
        assert word in str(caught.value)


def test_episodes_that_end_for_good_need_a_start():
    problem = episodes(start=None)
    assert problem.v_pi == episodes().v_pi
    with pytest.raises(EpisodesEndError, match="start="):
        _ = otd.mean_dynamics(problem, otd.TD()).A
    with pytest.raises(FeatureError, match="Omega has no entry for pair"):
        episodes().fixed_point(Omega={("A", "go"): 1})
    given = {p: k for k, p in enumerate(PAIRS[:4])}
    assert episodes().fixed_point(Omega=given).theta == (
        episodes().fixed_point(Omega={**given, ("end", None): 0}).theta
    )
    with pytest.raises(FeatureError, match="4 rows for 5 pairs"):
        episodes().fixed_point(X=[[1, 0]] * 4)
