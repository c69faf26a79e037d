"""Confidence intervals of logs: their parts, their size against the exact covariance, and how often they hold."""

import numpy as np
import pytest
from scipy import stats

from obliquetd import LoggedData, PolicyEvaluation, efficiency, replay
from obliquetd.errors import InputError, SingularError
from obliquetd.estimators import BRM, FPKF, LSETD, LSPE, LSTD, Averager
from obliquetd.estimators.confidence import BATCH_MEANS, BOOTSTRAP
from obliquetd.learners import TD

P, REWARD, GAMMA = (
    np.array([[0.1, 0.9, 0], [0.2, 0.3, 0.5], [0.6, 0, 0.4]]),
    np.array([1.0, -1, 2]),
    0.8,
)
PHI = np.array([[1.0, 0], [0.5, 1], [0, 1]])
THETA = np.array(
    PolicyEvaluation.from_chain(P, REWARD, discount=GAMMA, features=PHI).fixed_point(LSTD()).theta,
    dtype=float,
)


def walk(steps, seed):
    """One long trajectory of the chain, in its stationary distribution from the first row on."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eig(P.T)
    xi = np.abs(vectors[:, np.argmax(values.real)].real)
    s = [int(rng.choice(3, p=xi / xi.sum()))]
    for u in rng.random(steps):
        s.append(min(2, int(np.searchsorted(P[s[-1]].cumsum(), u, side="right"))))
    s = np.array(s)
    noise = rng.normal(size=steps)
    return LoggedData(PHI[s[:-1]], PHI[s[1:]], REWARD[s[:-1]] + noise, GAMMA)


def episodes(count, seed):
    """Episodes that end after each row with chance 1 - GAMMA in place of a discount."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        s, first, on = 0, True, True
        while on:
            t, on = int(rng.choice(3, p=P[s])), rng.random() < GAMMA
            rows.append((PHI[s], PHI[t], REWARD[s] + rng.normal(), float(on), first))
            s, first = t, False
    phi, after, reward, g, firsts = zip(*rows, strict=True)
    return LoggedData(phi, after, reward, g, first=firsts)


ESTIMATORS = [
    LSTD(),
    LSTD(lam="1/2", rho="target"),
    LSETD(lam="1/4"),
    BRM(),
    Averager(),
    LSTD(ridge=2),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.label)
@pytest.mark.parametrize("method", [BOOTSTRAP, BATCH_MEANS])
def test_the_estimate_is_that_of_the_whole_log(estimator, method):
    """Its blocks add up to it."""
    log = episodes(60, 0)
    if isinstance(estimator, Averager):
        before, after = (np.abs(x) / 2 for x in np.split(log.outcomes.features, 2))
        log = LoggedData(
            before, after, log.outcomes.reward, log.outcomes.discount, first=[True] * log.length
        )
    found = replay(log, estimator)
    interval = found.confidence(0.9, method=method)
    assert interval.theta == pytest.approx(np.array(found.theta, dtype=float))
    assert (interval.lower < interval.upper).all()
    assert interval.method == method
    assert method in str(interval)
    assert "90 %" in interval._repr_html_()


def test_the_method_follows_the_log():
    assert replay(episodes(40, 0), LSTD()).confidence().method == BOOTSTRAP
    assert replay(walk(300, 0), LSTD()).confidence().method == BATCH_MEANS


def test_the_standard_error_is_that_of_the_exact_covariance():
    """t Cov(theta) tends to A^-1 Sigma A^-T, which efficiency() has exactly, for rewards without noise."""
    steps, seeds = 3000, range(12)
    exact = np.array(efficiency(PolicyEvaluation.from_chain(
        P.tolist(), REWARD.tolist(), discount=GAMMA, features=PHI.tolist()), LSTD()).averaged, dtype=float)  # fmt: skip
    squares = []
    for seed in seeds:
        log = walk(steps, seed)
        s = [int(np.argmin(np.abs(PHI - row).sum(axis=1))) for row in log.outcomes.features[:steps]]
        clean = LoggedData(
            log.outcomes.features[:steps], log.outcomes.features[steps:], REWARD[s], GAMMA
        )
        squares.append(replay(clean, LSTD()).confidence().standard_error ** 2 * steps)
    # each is chi-square with 29 degrees of freedom, about: the mean of 12 is within 4 standard deviations
    assert np.mean(squares, axis=0) == pytest.approx(np.diag(exact), rel=4 * np.sqrt(2 / 29 / 12))


def test_a_mean_by_hand():
    """One feature of 1 and discount 0: the estimate is the mean reward, and batches of 10 are summed by hand."""
    rewards = np.random.default_rng(3).normal(size=300)
    log = LoggedData(np.ones((300, 1)), np.ones((300, 1)), rewards, 0, first=[True] * 300)
    found = replay(log, LSTD()).confidence(method=BATCH_MEANS)
    means = rewards.reshape(30, 10).mean(axis=1)
    error = means.std(ddof=1) / np.sqrt(30)
    assert found.theta[0] == pytest.approx(rewards.mean())
    assert found.standard_error[0] == pytest.approx(error)
    assert found.upper[0] == pytest.approx(rewards.mean() + stats.t.ppf(0.975, 29) * error)
    again = replay(log, LSTD()).confidence(method=BOOTSTRAP, resamples=4000)
    assert again.standard_error[0] == pytest.approx(rewards.std() / np.sqrt(300), rel=0.08)


def test_a_seed_makes_the_same_interval():
    estimate = replay(episodes(40, 1), LSTD())
    a, b, c = (estimate.confidence(seed=seed).lower for seed in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


def test_exact_logs_have_intervals_in_floats():
    log = LoggedData([[1]] * 60, [[1]] * 60, ["1/2", "1/3"] * 30, "1/2")
    assert replay(log, LSTD()).confidence().theta == pytest.approx([5 / 6])


@pytest.mark.parametrize(
    ("estimator", "options", "words"),
    [
        (LSPE(), {}, "LSPE goes from row to row.*LSTD"),
        (FPKF(), {}, "FPKF goes from row to row"),
        (TD(0.1), {}, "TD has no confidence interval"),
        (LSTD(), {"level": 95}, "level is 95"),
        (LSTD(), {"level": True}, "level is True"),
        (LSTD(), {"method": "bayes"}, "method is 'bayes'"),
        (LSTD(), {"method": BOOTSTRAP}, "has 1 episodes"),
        (LSTD(), {"resamples": 3}, "resamples is 3"),
        (LSTD(), {"seed": -1}, "seed is -1"),
    ],
)
def test_what_has_no_interval_says_so(estimator, options, words):
    with pytest.raises(InputError, match=words):
        replay(walk(60, 0), estimator).confidence(**options)


def test_short_logs_are_refused():
    with pytest.raises(InputError, match="has 40 rows"):
        replay(walk(40, 0), LSTD()).confidence()


def test_draws_that_determine_nothing_are_said():
    """One episode of forty has the second feature."""
    phi = [[1, 0]] * 39 + [[0, 1]]
    log = LoggedData(phi, phi, list(range(40)), 0, first=[True] * 40)
    with pytest.raises(SingularError, match="batch means"):
        replay(log, LSTD()).confidence()


def held(logs, theta, level=0.9):
    """How often each weight is in its interval."""
    hits = []
    for log in logs:
        found = replay(log, LSTD()).confidence(level, resamples=400)
        hits.append((found.lower <= theta) & (theta <= found.upper))
    return np.mean(hits, axis=0)


@pytest.mark.slow
def test_batch_means_hold_as_often_as_they_say():
    """90 % of 300: within 4 standard deviations of a coin, and two points for the finite log."""
    share = held((walk(2000, seed) for seed in range(300)), THETA)
    assert (np.abs(share - 0.9) < 4 * np.sqrt(0.09 / 300) + 0.02).all(), share


@pytest.mark.slow
def test_the_bootstrap_holds_as_often_as_it_says():
    """Beside the weights of a log that is 400 times longer."""
    big = replay(episodes(60_000, 99), LSTD()).theta
    share = held((episodes(150, seed) for seed in range(300)), np.array(big, dtype=float))
    assert (np.abs(share - 0.9) < 4 * np.sqrt(0.09 / 300) + 0.02).all(), share
