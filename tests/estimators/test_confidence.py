"""Confidence intervals of logs: their parts, their size against the exact covariance, and how often they hold."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from obliquetd import LoggedData, PolicyEvaluation, efficiency, replay
from obliquetd.errors import InputError, SingularError
from obliquetd.estimators import BRM, FPKF, LSETD, LSPE, LSTD, Averager
from obliquetd.estimators.confidence import BATCH_MEANS, BOOTSTRAP
from obliquetd.learners import TD
from tests.estimators.coverage import SETTINGS, too_narrow

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
    """One feature of 1 and discount 0: the estimate is the mean reward, and batches of 15 are summed by hand."""
    rewards = np.random.default_rng(4).normal(size=300)
    log = LoggedData(np.ones((300, 1)), np.ones((300, 1)), rewards, 0, first=[True] * 300)
    found = replay(log, LSTD()).confidence(method=BATCH_MEANS, seed=7)
    assert found.correlation_time == 1
    means = rewards.reshape(20, 15).mean(axis=1)
    error = means.std(ddof=1) / np.sqrt(20)
    assert found.theta[0] == pytest.approx(rewards.mean())
    assert found.standard_error[0] == pytest.approx(error)
    low, high = studentised(means, 7)
    assert found.upper[0] == pytest.approx(rewards.mean() - low * error)
    assert found.lower[0] == pytest.approx(rewards.mean() - high * error)
    again = replay(log, LSTD()).confidence(method=BOOTSTRAP)
    assert again.standard_error[0] == pytest.approx(rewards.std(ddof=1) / np.sqrt(300))


@pytest.mark.parametrize(("steps", "rho"), [(1200, 0.8), (2000, 0.9), (600, 0.5)])
def test_a_mean_of_correlated_rewards_by_hand(steps, rho):
    """The batches' error over the root of the share of the variance that they see, and near the exact one."""
    rng = np.random.default_rng(8)
    rewards = lfilter([1], [1, -rho], rng.normal(size=steps + 200))[200:]
    found = replay(LoggedData(np.ones((steps, 1)), np.ones((steps, 1)), rewards, 0), LSTD())
    found = found.confidence()  # by batches, though with discount 0 each row looks like an episode
    assert found.method == BATCH_MEANS
    K, tau = found.blocks, found.correlation_time
    assert tau == pytest.approx((1 + rho) / (1 - rho), rel=0.5)
    assert steps / K >= 4 * tau
    means = [part.mean() for part in np.split(rewards, np.arange(1, K) * steps // K)]
    seen = 1 - (tau - 1 / tau) / 2 * K / steps
    assert found.standard_error[0] == pytest.approx(
        np.std(means, ddof=1) / np.sqrt(K * seen), rel=5e-3
    )
    assert found.standard_error[0] == pytest.approx(1 / (1 - rho) / np.sqrt(steps), rel=0.5)


def test_a_few_rows_that_may_be_episodes_or_not_are_asked_about():
    rewards = np.random.default_rng(2).normal(size=40)
    for first in (None, [True] * 40):
        found = replay(
            LoggedData(np.ones((40, 1)), np.ones((40, 1)), rewards, 0, first=first), LSTD()
        )
        with pytest.raises(
            InputError, match=r"has 40 rows, each an episode .*'bootstrap over episodes'"
        ):
            found.confidence()
        assert found.confidence(method="bootstrap over episodes").blocks == 40


def studentised(x, seed):
    """The quantiles of t* for a mean, one draw after the other, after Owen (2025), and Student's where nearer."""
    K, found = len(x), []
    for w in np.random.default_rng(seed).beta(0.5, 1.5, size=(1000, K)):
        mean = np.average(x, weights=w)
        spread = np.sqrt(np.average((x - mean) ** 2, weights=w) / (K - 1))
        found.append((mean - x.mean()) / spread)
    low, high = np.quantile(found, [0.025, 0.975])
    far = stats.t.ppf(0.975, K - 1)
    return min(low, -far), max(high, far)


def test_quantiles_follow_the_skewness_and_stay_beyond_students():
    """Exponential rewards: the mean falls short where the spread is small, so that the upper side is the long one."""
    rewards = np.random.default_rng(1).exponential(size=40)
    log = LoggedData(np.ones((40, 1)), np.ones((40, 1)), rewards, 0, first=[True] * 40)
    found = replay(log, LSTD()).confidence(method=BOOTSTRAP, seed=3)
    low, high = studentised(rewards, 3)
    assert found.upper[0] == pytest.approx(rewards.mean() - low * found.standard_error[0])
    assert found.lower[0] == pytest.approx(rewards.mean() - high * found.standard_error[0])
    up, down = found.upper - found.theta, found.theta - found.lower
    assert up > 1.2 * down
    assert down == pytest.approx(stats.t.ppf(0.975, 39) * found.standard_error)


@pytest.mark.parametrize(
    "estimator",
    [LSTD(), LSTD(lam="1/2"), LSETD(), BRM(), LSTD(ridge=2), LSTD(rho="target")],
    ids=lambda e: e.label,
)
def test_the_standard_error_is_that_of_logs_without_one_episode(estimator):
    """The jackknife, from the weights of forty logs of which each lacks an episode."""
    log = episodes(40, 3)
    rng = np.random.default_rng(0)
    seen = log.outcomes
    log = LoggedData(
        seen.features[: log.length], seen.features[log.length :], seen.reward, seen.discount,
        first=log.first, rho=rng.uniform(0.5, 2, size=log.length),
    )  # fmt: skip
    number = np.cumsum(log.first) - 1
    without = [
        replay(log, estimator, weights=(number != k).astype(int).tolist()).theta for k in range(40)
    ]
    wanted = np.sqrt(39 * np.var(np.array(without, dtype=float), axis=0))
    assert replay(log, estimator).confidence().standard_error == pytest.approx(wanted)


def test_what_does_not_vary_has_no_width():
    for log in (
        LoggedData([[1]] * 120, [[1]] * 120, 1, "1/2"),
        LoggedData([[1, 0], [0, 1]] * 60, [[0, 1], [1, 0]] * 60, [1, 3] * 60, "1/2"),
        LoggedData([[1.0]] * 120, [[1.0]] * 120, 0.0, 0, first=[True] * 120),
        LoggedData([[0.1]] * 120, [[0.1]] * 120, 0.3, 0, first=[True] * 120),
    ):
        found = replay(log, LSTD()).confidence()
        assert found.lower == pytest.approx(found.theta, rel=1e-12)
        assert found.upper == pytest.approx(found.theta, rel=1e-12)
        assert np.isfinite(found.standard_error).all()


def test_a_seed_makes_the_same_interval():
    estimate = replay(episodes(40, 1), LSTD())
    a, b, c = (estimate.confidence(seed=seed).lower for seed in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


def test_exact_logs_have_intervals_in_floats():
    log = LoggedData([[1]] * 120, [[1]] * 120, ["1/2", "1/3"] * 60, "1/2")
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


def test_short_logs_are_refused_by_their_number_and_longer_ones_are_not():
    with pytest.raises(
        InputError, match=r"has 99 rows, too few .* at least 100 rows.*or 30 episodes"
    ):
        replay(walk(99, 0), LSTD()).confidence()
    assert replay(walk(100, 0), LSTD()).confidence().method == BATCH_MEANS
    with pytest.raises(InputError, match=r"has 29 episodes; .* at least 30\. .* needs 100 rows"):
        replay(episodes(29, 0), LSTD()).confidence(method=BOOTSTRAP)
    assert replay(episodes(30, 0), LSTD()).confidence().blocks == 30
    assert replay(episodes(29, 1), LSTD()).confidence(method=BATCH_MEANS).blocks > 3


def slow(steps, stay, phi=PHI, lam=0):
    """A walk that stays where it is for long; what it says of its weights."""
    rng = np.random.default_rng(5)
    leaves = np.flatnonzero(np.append(rng.random(steps) > stay, True))
    visited = rng.integers(3, size=len(leaves))
    s = np.repeat(visited, np.diff(leaves, prepend=-1))
    log = LoggedData(phi[s[:-1]], phi[s[1:]], REWARD[s[:-1]], GAMMA)
    return replay(log, LSTD(lam=lam)).confidence()


@pytest.mark.parametrize(
    ("stay", "phi", "lam"),
    [(0.95, PHI, 0), (0.95, np.eye(3), 0), (0.9, PHI, "9/10"), (0.985, PHI[:, :1], 0)],
)
def test_rows_that_depend_on_each_other_for_long_are_refused_and_as_many_as_it_says_are_not(
    stay, phi, lam
):
    words = (
        r"has 120 rows, and they depend on each other over .*: about (\d+) rows are usually enough"
    )
    with pytest.raises(InputError, match=words) as error:
        slow(120, stay, phi, lam)
    enough = int(re.search(words, str(error.value))[1])
    assert slow(enough, stay, phi, lam).correlation_time < enough / 4
    found = slow(4000, stay, phi, lam)
    assert found.correlation_time > 5
    assert found.blocks <= 4000 / (4 * found.correlation_time)


def test_a_feature_of_one_episode_is_said_and_the_ways_out_work():
    """One episode of forty has the second feature."""
    phi = [[1, 0]] * 39 + [[0, 1]]
    log = LoggedData(phi, phi, list(range(40)), 0, first=[True] * 40)
    with pytest.raises(SingularError, match=r"without episode 39 of 40 .* each feature in several"):
        replay(log, LSTD()).confidence(method=BOOTSTRAP)
    assert replay(log, LSTD(ridge=1)).confidence(method=BOOTSTRAP).blocks == 40
    left = LoggedData(
        [row[:1] for row in phi], [row[:1] for row in phi], list(range(40)), 0, first=[True] * 40
    )
    assert replay(left, LSTD()).confidence(method=BOOTSTRAP).blocks == 40
    more = LoggedData(phi * 3, phi * 3, list(range(120)), 0, first=[True] * 120)
    assert replay(more, LSTD()).confidence(method=BOOTSTRAP).blocks == 120
    # the same sum of features in all episodes but one, which rounding hides
    phi = [[0.1 * k, 0.3 * k] for k in range(1, 40)] + [[0, 1]]
    log = LoggedData(phi, phi, list(range(40)), 0, first=[True] * 40)
    with pytest.raises(SingularError, match=r"without episode 39 of 40"):
        replay(log, LSTD()).confidence(method=BOOTSTRAP)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_intervals_hold_as_often_as_they_say(setting):
    """300 logs of each setting of the table: no number is further below 95 % than three deviations of a coin."""
    hits, refused = setting.count(300, 1)
    assert len(hits) + refused == 300
    assert len(hits) > 150
    assert not too_narrow(hits, 0.95), hits.mean(axis=0)


def test_the_count_sees_intervals_that_are_too_narrow():
    """Percentiles of a bootstrap, and batches that ignore the correlation, held 83 to 91 %."""
    rng = np.random.default_rng(0)
    assert too_narrow(rng.random((300, 1)) < 0.9, 0.95)
    assert not too_narrow(rng.random((300, 4)) < 0.95, 0.95)


def test_the_page_has_the_table_of_these_settings():
    """Name by name, with what was run and where it began."""
    page = Path(__file__).parents[2] / "tutorials/site/pages/howto/05_learn_from_a_log.md"
    text = page.read_text(encoding="utf-8")
    names = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert names == ["log", *(setting.name for setting in SETTINGS)]
    assert "python -m tests.estimators.coverage --runs 1000 --seed 0" in text
