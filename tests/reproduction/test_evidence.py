"""Intervals that cover, and verdicts that say no more than they can."""

import math

import numpy as np
import pytest

from obliquetd.experiments import Curve
from obliquetd.learners import TD
from obliquetd.reproduction.evidence import (
    Interval,
    Part,
    half_time,
    late,
    ratio_of_means,
    ratio_of_spreads,
    ratio_of_times,
    share,
    whole,
)


def curve(errors):
    errors = np.asarray(errors, dtype=float)
    lost = tuple(None if np.isfinite(row).all() else int(np.isfinite(row).sum()) for row in errors)
    return Curve(TD(0.1), errors, errors, np.zeros((len(errors), 1)), lost, np.empty(0))


def covered(make, truth, trials=400):
    """How often the interval holds the truth; 0.99 up to binomial noise."""
    rng = np.random.default_rng(0)
    hits = sum(i.low <= truth <= i.high for i in (make(rng) for _ in range(trials)))
    return hits / trials


def test_ratios_of_paired_means_cover():
    def make(rng):
        common = rng.exponential(size=200)
        return ratio_of_means(
            2 * (common + rng.exponential(size=200)), common + rng.exponential(size=200)
        )

    assert 0.97 <= covered(make, 2.0) <= 1
    half = ratio_of_means(np.full(9, 1.0), np.full(9, 2.0))
    assert (half.value, half.low, half.high) == (0.5, 0.5, 0.5)


def test_ratios_of_spreads_cover():
    def make(rng):
        a, b = rng.normal(size=(2, 200, 5)).cumsum(axis=2)
        return ratio_of_spreads(curve(3 * a), curve(b), "rmse")

    assert 0.96 <= covered(make, 3.0, 200) <= 1


def test_the_jackknife_leaves_each_run_out():
    x = np.random.default_rng(1).normal(size=(7, 3))
    from obliquetd.reproduction.evidence import _left_out

    for k, value in enumerate(_left_out(x)):
        assert np.isclose(value, np.delete(x, k, axis=0).std(axis=0, ddof=1).mean())


def test_shares_cover():
    assert covered(lambda rng: share(int(rng.binomial(100, 0.3)), 100), 0.3) >= 0.98


def test_divergence_is_worse_than_any_number_and_two_say_nothing():
    fine, lost = np.array([1.0, 2.0, 3.0]), np.array([1.0, np.inf, 1.0])
    assert ratio_of_means(lost, fine) == Interval(math.inf, math.inf, math.inf)
    assert ratio_of_means(fine, lost) == Interval(0, 0, 0)
    assert math.isnan(ratio_of_means(lost, lost).value)
    a, b = curve([[1, 2], [1, 3], [1, 4]]), curve([[1, 2], [1, np.inf], [1, 3]])
    assert ratio_of_spreads(b, a, "rmse").low == math.inf
    assert ratio_of_spreads(a, b, "rmse").high == 0
    assert "undefined" in str(ratio_of_means(lost, lost))


def test_times_by_hand():
    steps = np.array([0, 10, 20, 30])
    times = half_time(
        curve([[8, 4, 5, 3], [8, 4, 4, 4], [8, 5, 5, 5], [8, 9, 1, np.inf], [8, 9, 9, 4]]),
        "rmse",
        steps,
    )
    assert times.tolist() == [30, 10, np.inf, np.inf, 30]


def test_times_that_were_not_reached_open_the_interval():
    fast, slow = np.full(10, 10.0), np.full(10, 100.0)
    never = np.where(np.arange(10) == 3, np.inf, slow)
    assert ratio_of_times(fast, slow, 200) == Interval(0.1, 0.1, 0.1)
    assert ratio_of_times(fast, never, 200).low == 0
    assert ratio_of_times(never, fast, 200).high == math.inf
    both = ratio_of_times(never, never, 200)
    assert (both.low, both.high) == (0, math.inf)
    assert Part("", "below", 0.5, {"x": both}).verdict == "cannot be decided"
    assert Part("", "below", 0.5, {"x": ratio_of_times(fast, never, 200)}).verdict == "holds"


@pytest.mark.parametrize(
    ("side", "intervals", "verdict"),
    [
        ("below", [(0.1, 0.9)], "holds"),
        ("below", [(0.1, 0.9), (0.5, 1.1)], "cannot be decided"),
        ("below", [(0.1, 0.9), (1.0, 1.1)], "does not hold"),
        ("above", [(1.1, 2)], "holds"),
        ("above", [(0.9, 2)], "cannot be decided"),
        ("above", [(0.5, 0.9), (2, 3)], "does not hold"),
        ("above", [(math.inf, math.inf)], "holds"),
        ("below", [(math.inf, math.inf)], "does not hold"),
        ("below", [(math.nan, math.nan)], "cannot be decided"),
        ("below", [], "cannot be decided"),
    ],
)
def test_verdicts(side, intervals, verdict):
    found = {str(k): Interval(low, low, high) for k, (low, high) in enumerate(intervals)}
    part = Part("", side, 1, found)
    assert part.verdict == verdict
    assert part.to_dict()["verdict"] == verdict


def test_windows():
    steps = np.arange(2001)
    ramp = curve(np.tile(steps.astype(float), (2, 1)))
    assert late(ramp, "rmse", steps)[0] == np.arange(1501, 2001).mean()
    assert whole(ramp, "rmspbe", steps)[0] == 1000
