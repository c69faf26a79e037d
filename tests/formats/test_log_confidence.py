"""Intervals of a model that was estimated from a log: exact derivatives, many logs, and how often they hold."""

import random
import re

import numpy as np
import pytest
import sympy as sp
from scipy import stats

from obliquetd import MDP, PolicyEvaluation
from obliquetd.errors import InputError, LabelError
from obliquetd.formats.frequencies import Frequencies
from obliquetd.formats.log import Log
from obliquetd.formats.logged_steps import LoggedStep
from obliquetd.mdp import Policy

STATES = ("a", "b", "c")
CHANCE = {
    ("a", "l"): {"a": 0.3, "b": 0.7}, ("a", "r"): {"b": 0.5, "c": 0.5},
    ("b", "l"): {"a": 1.0}, ("b", "r"): {"c": 0.8, None: 0.2},
    ("c", "l"): {"a": 0.4, "b": 0.4, None: 0.2}, ("c", "r"): {"c": 0.6, "a": 0.4},
}  # fmt: skip
MEAN = {"a": 1.0, "b": -1.0, "c": 0.5, None: 3.0}
START = {"a": 0.5, "b": 0.5}
PHI = {"a": [1, 0], "b": ["1/2", 1], "c": [0, 1]}
TARGET = Policy(
    {"a": {"l": "1/4", "r": "3/4"}, "b": {"l": "1/2", "r": "1/2"}, "c": {"l": "2/3", "r": "1/3"}}
)
FIELDS = {"discount": "4/5", "features": PHI}


def truth():
    """What an endless log leads to: the MDP with mean rewards, its ends beginning anew."""
    rows = []
    for (s, a), outcomes in CHANCE.items():
        for t, p in outcomes.items():
            if t is None:
                rows += [(s, a, u, p * q, MEAN[t], 0) for u, q in START.items()]
            else:
                rows.append((s, a, t, p, MEAN[t]))
    mdp = MDP.from_transitions(rows, states=STATES)
    return PolicyEvaluation(
        mdp, target=TARGET, behavior=Policy.uniform(mdp), arithmetic="float", **FIELDS
    )


def draw(length, seed, behavior=None):
    """A log of the MDP under the uniform behaviour, with rewards one off their mean either way."""
    rng = random.Random(seed)
    steps, s, first = [], None, True
    for k in range(length):
        if first:
            (s,) = rng.choices(list(START), START.values())
        a = rng.choice("lr")
        (t,) = rng.choices(list(CHANCE[s, a]), CHANCE[s, a].values())
        reward = sp.Rational(MEAN[t] + rng.choice([-1, 1]))
        steps.append(LoggedStep(s, a, t or "a", reward, t is None, first, None, behavior, k))
        s, first = t, t is None
    return Log(tuple(steps))


def estimates(log):
    problem = log.problem(TARGET, **{**FIELDS, "arithmetic": "float"})
    points = [problem.fixed_point(m) for m in ("td", "etd")]
    by_state = [dict(zip(problem.states, v, strict=True)) for v in (problem.xi, problem.v_pi)]
    found = [v[s] for v in by_state for s in STATES]
    return [*found, *(x for p in points for x in (*p.theta, p.rmse))]


def answers(log, h=0, pair=None, share=None, mean=None, state=None, action=None, start=None):
    """What follows from the log's model, exactly, with one row moved by h to an outcome, or a mean moved by h."""
    counts = {}
    for step in log.steps:
        to = None if step.done else step.next_state
        counts.setdefault((step.state, step.action), {}).setdefault(to, []).append(step.reward)

    def moved(p, moves, here):
        return (1 - h) * sp.Rational(p) + (h if here else 0) if moves else sp.Rational(p)

    q = {u: moved(p, start is not None, u == start) for u, p in log.start().items()}
    rows = []
    for x, outcomes in counts.items():
        total = sum(map(len, outcomes.values()))
        for t, rewards in outcomes.items():
            p = moved(sp.Rational(len(rewards), total), x == pair and share, [t] == share)
            m = sum(rewards) / len(rewards) + (h if x == pair and [t] == mean else 0)
            if t is None:
                rows += [(*x, u, p * w, m, 0) for u, w in q.items()]
            else:
                rows.append((*x, t, p, m))
    mu = {
        s: {a: moved(p, s == state, a == action) for a, p in row.items()}
        for s, row in log.behavior().items()
    }
    mdp = MDP.from_transitions(rows, states=STATES)
    problem = PolicyEvaluation(mdp, target=TARGET, behavior=Policy(mu), **FIELDS)
    point = problem.fixed_point("td")
    return np.array([*problem.xi, *problem.v_pi, *point.theta, point.rmse**2]), counts


def slope(log, **where):
    """The derivative as a difference of exact answers, off by the square of the step."""
    h = sp.Rational(1, 10**12)
    (up, _), (down, _) = answers(log, h, **where), answers(log, -h, **where)
    return ((up - down) / (2 * h)).astype(float)


def test_the_variance_is_that_of_exact_derivatives():
    """Every term of V, with derivatives of the exact answers in the place of differences of floats."""
    log = draw(150, 3)
    found = log.confidence(TARGET, methods=["td"], **FIELDS)
    counts = answers(log)[1]
    visits = {s: sum(k for (u, _), k in log.counts().items() if u == s) for s in STATES}
    variance = np.zeros(9)
    for x, outcomes in counts.items():
        n = sum(map(len, outcomes.values()))
        for t, rewards in outcomes.items():
            if len(outcomes) > 1:
                variance += len(rewards) / n / (n - 1) * slope(log, pair=x, share=[t]) ** 2
            spread = np.var([float(r) for r in rewards], ddof=1)
            variance += spread / len(rewards) * slope(log, pair=x, mean=[t]) ** 2
    for s, row in log.behavior().items():
        for a, p in row.items():
            variance += float(p) / (visits[s] - 1) * slope(log, state=s, action=a) ** 2
    begun = sum(step.first for step in log.steps)
    for u, p in log.start().items():
        variance += float(p) / (begun - 1) * slope(log, start=u) ** 2
    names = [(quantity, s, None) for quantity in ("xi", "v_pi") for s in STATES]
    names += [("theta", 0, "td"), ("theta", 1, "td"), ("rmse", None, "td")]
    wanted = np.sqrt(variance)
    wanted[-1] /= 2 * found.interval("rmse", None, "td").estimate
    told = [found.interval(*name).standard_error for name in names]
    np.testing.assert_allclose(told, wanted, rtol=1e-4)


def test_the_spread_of_many_logs_is_the_standard_error():
    """The sampling variance over 60 logs against V of one long log, scaled; 99.9 % of their chi-square."""
    length, long, count = 300, 5000, 60
    drawn = np.array([estimates(draw(length, seed)) for seed in range(count)])
    told = draw(long, 10_000).confidence(TARGET, methods=["td", "etd"], **FIELDS)
    names = [(quantity, s, None) for quantity in ("xi", "v_pi") for s in STATES]
    names += [
        (q, of, m) for m in ("td", "etd") for q, of in [("theta", 0), ("theta", 1), ("rmse", None)]
    ]
    wanted = [told.interval(*name).standard_error for name in names]
    ratio = drawn.var(axis=0, ddof=1) / (np.array(wanted) ** 2 * long / length)
    low, high = stats.chi2.ppf([0.0005, 0.9995], count - 1) / (count - 1)
    assert (ratio > low * 0.85).all()
    assert (ratio < high * 1.15).all()


@pytest.mark.slow
def test_nineteen_of_twenty_intervals_hold_the_truth():
    exact = truth()
    wanted = {("v_pi", None, s): v for s, v in zip(STATES, exact.v_pi, strict=True)}
    wanted |= {("xi", None, s): v for s, v in zip(STATES, exact.xi, strict=True)}
    for method in ("td", "etd", "best"):
        point = exact.fixed_point(method)
        wanted |= {("theta", method, j): x for j, x in enumerate(point.theta)}
        wanted["rmse", method, None] = point.rmse
    held = dict.fromkeys(wanted, 0)
    logs = 80
    for seed in range(logs):
        for a in draw(1000, seed).confidence(TARGET, **FIELDS).answers:
            if a[:3] in wanted:
                held[a[:3]] += a.lower <= wanted[a[:3]] <= a.upper
    # 95 % of 80 is 76, with a standard deviation of 2; the delta method's own error is beside it
    assert all(68 <= k <= 80 for k in held.values()), held


def error_of(log, quantity, target=TARGET):
    found = log.confidence(target, methods=[], **FIELDS)
    return found.interval(quantity, "a").standard_error


def test_a_known_behaviour_has_no_error_of_its_own():
    counted, known = draw(300, 1), draw(300, 1, behavior=sp.Rational(1, 2))
    assert error_of(known, "xi") < error_of(counted, "xi")
    # values do not see the behaviour where the target is given, and do where it follows
    assert error_of(known, "v_pi") == pytest.approx(error_of(counted, "v_pi"), rel=1e-6)
    assert error_of(counted, "v_pi", None) > error_of(counted, "v_pi", counted.behavior())


def test_estimates_are_those_of_the_model_and_levels_are_nested():
    log = draw(200, 5)
    found = log.confidence(TARGET, methods=["setd"], **FIELDS)
    problem = log.problem(TARGET, **FIELDS)
    point = problem.fixed_point("setd")
    assert found.interval("theta", 1, "setd").estimate == pytest.approx(float(point.theta[1]))
    assert found.interval("rmse", None, "setd").estimate == pytest.approx(float(point.rmse))
    wide = log.confidence(TARGET, methods=["setd"], level=0.99, **FIELDS)
    for a, b in zip(found.answers, wide.answers, strict=True):
        assert b.lower <= a.lower <= a.estimate <= a.upper <= b.upper
    assert next(iter(found.rows()))["quantity"] == "xi"
    assert "delta method" in str(found)


def steps_of(rows):
    """Steps of action x from triples of state, next state (None ends) and reward."""
    first = [True, *(t is None for _, t, _ in rows[:-1])]
    return Log(
        tuple(
            LoggedStep(s, "x", t or "s", sp.Rational(r), t is None, f, None, None, k)
            for k, ((s, t, r), f) in enumerate(zip(rows, first, strict=True))
        )
    )


@pytest.mark.parametrize(("stays", "rounds"), [(1, 12), (2, 10), (8, 11), (12, 12)])
def test_an_interval_of_one_share_has_the_freedom_of_its_variance(stays, rounds):
    """s stays, or goes to t and back: 2 / f is the relative variance of p (1 - p), to the first order, with n - 1."""
    log = steps_of(rounds * [*stays * [("s", "s", 0)], ("s", "t", 0), ("t", "s", 1)])
    n, p = rounds * (stays + 1), 1 / (stays + 1)
    found = log.confidence(discount="9/10", methods=[]).interval("v_pi", "s")
    slope = (1 - 2 * p) ** 2 / (p * (1 - p))
    freedom = min(n - 1, 2 * n / (slope + 2 / (n - 1)))
    reach = (found.upper - found.estimate) / found.standard_error
    assert reach == pytest.approx(stats.t.ppf(0.975, freedom))
    shares = np.random.default_rng(0).binomial(n, p, size=200_000) / n
    told = np.var(shares * (1 - shares)) / (p * (1 - p)) ** 2
    if freedom < n - 1:
        assert 2 / freedom == pytest.approx(told, rel=0.15)
    else:  # never more than of normal observations
        assert 2 / freedom > told


def test_a_reward_that_came_once_has_the_variance_of_the_others():
    """Ninety-nine rewards 0 and 2, and one 5 with another outcome, which told of no variance before."""
    rows = [("s", "s", 2 * (k % 2)) for k in range(99)]
    rows.insert(50, ("s", None, 5))
    found = Frequencies.of_steps(steps_of(rows).steps)
    wanted = np.var([r for _, t, r in rows if t], ddof=1)
    assert found.v["s", "x"].tolist() == pytest.approx([wanted, wanted])
    alone = Frequencies.of_steps(steps_of([("s", "s", 1), ("s", None, 5)]).steps)
    assert alone.v["s", "x"].tolist() == [0, 0]


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_log_with_a_pair_that_is_seldom_seen_is_refused_and_a_longer_one_is_not(seed):
    words = r"has 40 rows, and (\d) of them with action '.' in state '.': .* at least 10 .* about (\d+) rows"
    with pytest.raises(InputError, match=words) as error:
        draw(40, seed).confidence(**FIELDS)
    told = re.search(words, str(error.value))
    assert int(told[1]) == min(draw(40, seed).counts().values())
    enough = int(1.5 * int(told[2]))  # a rate of a few rows is one of many
    assert draw(enough, seed).confidence(methods=[], **FIELDS).fewest[1] >= 10


def test_what_has_no_interval_says_why():
    log = draw(150, 2)
    with pytest.raises(InputError, match=r"the symbols gamma"):
        log.confidence(discount="gamma")
    with pytest.raises(InputError, match=r"level is 95; expected a number between 0 and 1"):
        log.confidence(level=95, discount="1/2")
    found = log.confidence(discount="1/2", methods=["td"])  # tabular: no error
    with pytest.raises(LabelError, match=r"no interval is for RMSE of td"):
        found.interval("rmse", None, "td")
    assert "0 to rounding" in found.problems["rmse of td"]
    assert "was logged only 19 times" in found.remarks[0]
    assert "missed by 14 logs of 100" in found.remarks[0]
