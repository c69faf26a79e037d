"""Compiled rules against a loop written by hand for one rule, and against plain numpy."""

from types import SimpleNamespace

import numba
import numpy as np
import pytest

from obliquetd.learners import (
    ETD,
    GTD,
    GTD2MP,
    HTD,
    LEARNERS,
    SETD,
    TD,
    TDC,
    TDRC,
    NStepTD,
    RegularizedTD,
    TrueOnlineTD,
    VTrace,
    WeightedTD,
)
from obliquetd.learners.base import each
from obliquetd.learners.compiled import SUMS, compiled_driver, float_numbers
from obliquetd.learners.state import floats
from tests.benchmarks import loops_by_hand as loops
from tests.benchmarks.former_rules import FORMER, former_driver

STATES, ROWS = 64, 512


def outcomes(d, steps, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "features": rng.normal(size=(STATES, d)) / np.sqrt(d),
        "state": rng.integers(STATES, size=ROWS),
        "next_state": rng.integers(STATES, size=ROWS),
        "reward": rng.normal(size=ROWS),
        "discount": np.full(ROWS, 0.9),
        "rho": rng.random(ROWS) * 2,
        "rows": rng.integers(ROWS, size=steps),
    }


@numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)
def td_by_hand(theta, e, features, state, next_state, reward, discount, rho, rows, alpha, lam):
    d = len(theta)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta = reward[i]
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
        step = alpha * delta
        for k in range(d):
            e[k] = ratio * (decay * e[k] + features[s, k])
            theta[k] += step * e[k]
        decay = g * lam


@numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)
def setd_by_hand(theta, e, features, state, next_state, reward, discount, rho, rows, alpha, lam):
    d = len(theta)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta, up, down = reward[i], 0.0, 0.0
        for k in range(d):
            gap = features[s, k] - g * features[n, k]
            delta -= gap * theta[k]
            up += gap * features[s, k]
            down += gap * gap
        m = max(up / down, 0.0) if down > 0 else 0.0
        step = alpha * delta
        for k in range(d):
            e[k] = ratio * (decay * e[k] + m * features[s, k])
            theta[k] += step * e[k]
        decay = g * lam


@numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)
def tdc_by_hand(
    theta, w, features, state, next_state, reward, discount, rho, rows, alpha, beta, lam
):
    d = len(theta)
    e = np.zeros(d)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta, pw, ew = reward[i], 0.0, 0.0
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
            e[k] = ratio * (decay * e[k] + features[s, k])
            pw += features[s, k] * w[k]
            ew += e[k] * w[k]
        for k in range(d):
            theta[k] += alpha * (delta * e[k] - g * (1 - lam) * ew * features[n, k])
            w[k] += beta * (delta * e[k] - pw * features[s, k])
        decay = g * lam


@numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)
def weighted_by_hand(
    theta, e, features, state, next_state, reward, discount, rho, rows, alpha, lam, weights
):
    d = len(theta)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        m, delta = weights[s], reward[i]
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
        step = alpha * delta
        for k in range(d):
            e[k] = ratio * (decay * e[k] + m * features[s, k])
            theta[k] += step * e[k]
        decay = g * lam


@numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)
def etd_by_hand(
    theta, e, features, state, next_state, reward, discount, rho, rows, alpha, lam, weights, beta
):
    d = len(theta)
    decay, F = 0.0, 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        F = weights[s] + F
        m, delta = lam * weights[s] + (1 - lam) * F, reward[i]
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
        step = alpha * delta
        for k in range(d):
            e[k] = ratio * (decay * e[k] + m * features[s, k])
            theta[k] += step * e[k]
        decay, F = g * lam, beta * ratio * F


@numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)
def true_online_by_hand(
    theta, e, features, state, next_state, reward, discount, rho, rows, alpha, lam
):
    d = len(theta)
    decay, moved = 0.0, 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta, along = reward[i], 0.0
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
            along += e[k] * features[s, k]
        own = alpha * (1.0 - ratio * decay * along)
        change = 0.0
        for k in range(d):
            e[k] = ratio * (decay * e[k] + own * features[s, k])
            step = (delta + moved) * e[k] - moved * alpha * ratio * features[s, k]
            theta[k] += step
            change += step * features[n, k]
        decay, moved = g * lam, change


def td_in_numpy(theta, e, features, state, next_state, reward, discount, rho, rows, alpha, lam):
    decay = 0.0
    for i in rows:
        phi, nxt, g = features[state[i]], features[next_state[i]], discount[i]
        delta = reward[i] + g * nxt @ theta - phi @ theta
        e = rho[i] * (decay * e + phi)
        theta = theta + alpha * delta * e
        decay = g * lam
    return theta


def drive(learner, data, lam):
    d = data["features"].shape[1]
    steps = len(data["rows"])
    fresh = np.zeros(steps, dtype=np.bool_)
    alphas, record = np.full(steps, 1e-3), np.zeros((2, d))
    values = {k: each(float, v) for k, v in learner.values.items()}
    numbers = float_numbers(learner, values | ({"lam": lam} if "lam" in values else {}))
    ones = np.ones(ROWS)

    def run():
        weights, x = floats(learner.weights, d, numbers)
        memory, m = floats(learner.memory, d, numbers)
        compiled_driver(learner.rule)(
            x.theta, weights, x, memory, m, numbers, data["features"], data["features"],
            data["state"], data["next_state"], data["reward"], data["discount"], ones, ones, ones,
            data["rho"], data["rho"], data["rows"], data["rows"], fresh, alphas, steps, np.inf,
            record,
        )  # fmt: skip
        return x.theta

    return run


def former(name, data, lam):
    d = data["features"].shape[1]
    steps = len(data["rows"])
    fresh = np.zeros(steps, dtype=np.bool_)
    alphas, record = np.full(steps, 1e-3), np.zeros((2, d))
    step, code = FORMER[name]
    driver = former_driver(step)

    def run():
        theta = np.zeros(d)
        driver(
            code, theta, np.zeros(d), np.zeros(d + 1), data["features"], data["state"],
            data["next_state"], data["reward"], data["discount"], data["rho"], data["rows"],
            data["rows"], fresh, alphas, 1.0, lam, steps, record,
        )  # fmt: skip
        return theta

    return run


def test_the_driver_is_called_as_it_is():
    """Benchmarks are skipped by default, and would not be missed."""
    data = outcomes(8, 2000)
    assert np.allclose(
        drive(TD(), data, 0.5)(), td_in_numpy(np.zeros(8), np.zeros(8), *data.values(), 1e-3, 0.5)
    )


def by_hand(function, data, *last):
    d = data["features"].shape[1]

    def run():
        theta = np.zeros(d)
        out = function(theta, np.zeros(d), *data.values(), *last)
        return theta if out is None else out

    return run


@pytest.mark.benchmark(group="learners")
@pytest.mark.parametrize(("d", "wanted"), [(8, "at most 2"), (201, "at most 1.5")])
@pytest.mark.parametrize("name", ["td", "setd", "tdc"])
def test_against_a_loop_by_hand(against, name, d, wanted):
    data = outcomes(d, 2_000_000 // d)
    learner, function, lam, last = {
        "td": (TD(), td_by_hand, 0.5, (1e-3, 0.5)),
        "setd": (SETD(), setd_by_hand, 0.5, (1e-3, 0.5)),
        "tdc": (TDC(mu=2), tdc_by_hand, 0.5, (1e-3, 2e-3, 0.5)),
    }[name]
    ours, peer = drive(learner, data, lam), by_hand(function, data, *last)
    assert np.allclose(ours(), peer(), rtol=1e-8)
    against(f"{name}, d = {d}, against a loop by hand", ours, peer, wanted, rounds=9)


@pytest.mark.benchmark(group="learners")
@pytest.mark.parametrize(("d", "wanted"), [(8, "at most 2"), (201, "at most 1.5")])
@pytest.mark.parametrize("name", ["weighted", "etd", "true-online-td"])
def test_later_rules_against_a_loop_by_hand(against, name, d, wanted):
    """An emphasis for each state; beta and an interest for each state; true online.

    On a trajectory: the state that a row leaves is the one that the row before it reached.
    """
    data = outcomes(d, 2_000_000 // d)
    data["next_state"] = np.roll(data["state"], -1)
    data["rows"] = np.arange(len(data["rows"])) % ROWS
    weights = np.linspace(0.5, 1.5, STATES)
    by_state = [float(w) for w in weights]
    problem = SimpleNamespace(states=range(STATES))
    learner, function, last = {
        "weighted": (WeightedTD(emphasis=lambda p: by_state), weighted_by_hand, (weights,)),
        "etd": (ETD(beta="1/10", interest=lambda p: by_state), etd_by_hand, (weights, 0.1)),
        "true-online-td": (TrueOnlineTD(), true_online_by_hand, ()),
    }[name]
    ours, peer = drive(learner.bound(problem), data, 0.5), by_hand(function, data, 1e-3, 0.5, *last)
    assert np.allclose(ours(), peer(), rtol=1e-7)
    against(f"{name}, d = {d}, against a loop by hand", ours, peer, wanted, rounds=9)


@pytest.mark.benchmark(group="learners")
@pytest.mark.parametrize(("d", "wanted"), [(8, "at most 2"), (201, "at most 1.5")])
@pytest.mark.parametrize(
    ("learner", "loop", "last"),
    [
        (GTD(mu=2), loops.gtd, (2e-3, 0.5)),
        (HTD(mu=2), loops.htd, (2e-3, 0.5)),
        (TDRC(mu=2), loops.tdrc, (2e-3, 0.5)),
        (GTD2MP(mu=2), loops.gtd2_mp, (2e-3, 0.5)),
        (VTrace(), loops.v_trace, (0.5,)),
        (NStepTD(n=4), loops.n_step, (4,)),
        (RegularizedTD(), loops.regularized, (1.0,)),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_the_gradient_and_trace_family_against_loops_by_hand(
    against, learner, loop, last, d, wanted
):
    data = outcomes(d, 2_000_000 // d)
    ours, peer = drive(learner, data, 0.5), by_hand(loop, data, 1e-3, *last)
    assert np.allclose(ours(), peer(), rtol=1e-8)
    against(f"{learner.name}, d = {d}, against a loop by hand", ours, peer, wanted, rounds=9)


@pytest.mark.benchmark(group="learners")
@pytest.mark.parametrize("d", [8, 32, 201])
@pytest.mark.parametrize("name", FORMER)
def test_against_the_rules_of_version_0_1(against, name, d):
    data = outcomes(d, 2_000_000 // d)
    ours, peer = drive(LEARNERS[name](), data, 0.5), former(name, data, 0.5)
    assert np.allclose(ours(), peer(), rtol=1e-9)
    against(f"{name}, d = {d}, against version 0.1.0", ours, peer, "at most 1.15", rounds=15)


@pytest.mark.benchmark(group="learners")
def test_against_plain_numpy(against):
    data = outcomes(8, 20_000)
    ours, peer = drive(TD(), data, 0.5), by_hand(td_in_numpy, data, 1e-3, 0.5)
    assert np.allclose(ours(), peer(), rtol=1e-8)
    against("td, d = 8, against plain numpy", ours, peer, "below 0.01", rounds=3)
