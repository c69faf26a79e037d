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
    median_ratio,
    ratio_of_spreads,
    share,
    whole,
)
from obliquetd.reproduction.study import Sentence


def curve(errors):
    errors = np.asarray(errors, dtype=float)
    lost = tuple(None if np.isfinite(row).all() else int(np.isfinite(row).sum()) for row in errors)
    return Curve(TD(0.1), errors, errors, np.zeros((len(errors), 1)), lost, np.empty(0))


def covered(make, truth, trials=400):
    """How often the interval holds the truth; 0.99 up to binomial noise."""
    rng = np.random.default_rng(0)
    hits = sum(i.low <= truth <= i.high for i in (make(rng) for _ in range(trials)))
    return hits / trials


HEAVY = {
    "normal": lambda rng, n: np.exp(0.3 * rng.normal(size=n)),
    "no mean": lambda rng, n: rng.pareto(0.7, size=n) + 1,
    "one run in a hundred explodes": lambda rng, n: np.where(
        rng.random(n) < 0.01, np.inf, 1 + rng.random(n)
    ),
}
MEDIANS = {
    "normal": 1.0,
    "no mean": 2 ** (1 / 0.7),
    "one run in a hundred explodes": 1 + 0.5 / 0.99,
}


@pytest.mark.parametrize("tail", HEAVY)
@pytest.mark.parametrize("n", [20, 100])
def test_ratios_of_medians_cover_whatever_the_tail(tail, n):
    def make(rng):
        common = rng.exponential(size=n)
        return median_ratio(common * HEAVY[tail](rng, n), common)

    assert covered(make, MEDIANS[tail], 600) >= 0.98


def test_medians_by_hand():
    half = median_ratio(np.full(9, 1.0), np.full(9, 2.0))
    assert (half.value, half.low, half.high) == (0.5, 0.5, 0.5)
    few = median_ratio(np.ones(4), np.ones(4))
    assert (few.low, few.high) == (0, math.inf)
    assert "4 runs are too few" in str(few)
    # 20 runs: P(Bin(20, 1/2) <= 3) = 0.0013 and P(... <= 4) = 0.0059, so the 4th of each end
    ends = median_ratio(np.arange(1.0, 21), np.ones(20))
    assert (ends.low, ends.high) == (4, 17)
    alone = median_ratio(np.zeros(20), np.zeros(20))  # nothing is known of 0/0
    assert math.isnan(alone.value)
    assert (alone.low, alone.high) == (0, math.inf)


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


def test_one_diverged_run_makes_no_verdict_certain():
    """It is one run of many in a median, and there is no spread with it."""
    fine = np.linspace(1, 2, 40)
    lost = np.where(np.arange(40) == 7, np.inf, fine)
    for found in (median_ratio(lost, fine), median_ratio(fine, lost)):
        assert (found.low, found.value, found.high) == (1, 1, 1)
        assert Part("", "below", 1.1, {"x": found}).verdict == "holds"
    a, b = curve(np.c_[fine, fine]), curve(np.c_[fine, lost])
    for found in (ratio_of_spreads(b, a, "rmse"), ratio_of_spreads(a, b, "rmse")):
        assert (found.low, found.high) == (0, math.inf)
        assert found.why == "runs diverged: 1"
        for side in ("below", "above"):
            assert Part("", side, 1, {"x": found}).verdict == "cannot be decided"


def test_runs_that_diverge_more_often_than_not_are_worse_than_any_number():
    fine, lost = np.ones(40), np.full(40, np.inf)
    assert median_ratio(lost, fine) == Interval(math.inf, math.inf, math.inf)
    assert median_ratio(fine, lost) == Interval(0, 0, 0)
    both = median_ratio(lost, lost)
    assert (both.low, both.high) == (0, math.inf)
    assert "undefined" in str(both)


def test_a_spread_that_one_run_carries_is_withheld():
    rng = np.random.default_rng(0)
    tame, heavy = rng.normal(size=(100, 1)), rng.normal(size=(100, 1))
    assert ratio_of_spreads(curve(tame), curve(tame + heavy), "rmse").why == ""
    heavy[3] = 1000
    found = ratio_of_spreads(curve(tame), curve(heavy), "rmse")
    assert (found.low, found.high) == (0, math.inf)
    assert "one run of 100 carries 99% of its variance" in str(found)
    told = ratio_of_spreads(curve(tame), curve(tame), "rmse", why="a reason")
    assert (told.low, told.high, told.why) == (0, math.inf, "a reason")


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
    never = np.full(10, np.inf)
    once = np.where(np.arange(10) == 3, np.inf, slow)
    assert median_ratio(fast, slow, 200) == Interval(0.1, 0.1, 0.1)
    assert median_ratio(fast, once, 200) == Interval(0.1, 0, 0.1)  # the least of ten is low
    assert (median_ratio(fast, never, 200).low, median_ratio(fast, never, 200).high) == (0, 0.05)
    assert median_ratio(never, fast, 200).low == 20
    assert median_ratio(never, fast, 200).high == math.inf
    both = median_ratio(never, never, 200)
    assert (both.low, both.high) == (0, math.inf)
    assert Part("", "below", 0.5, {"x": both}).verdict == "cannot be decided"
    assert Part("", "below", 0.5, {"x": median_ratio(fast, never, 200)}).verdict == "holds"


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


def sentence(*intervals, **about):
    """A sentence that wants each interval below 1."""
    found = {str(i): Interval(sum(pair) / 2, *pair) for i, pair in enumerate(intervals)}
    return Sentence("", "", (Part("", "below", 1, found),), **about)


YES, NO, OPEN = (0.1, 0.9), (1.1, 2.0), (0.5, 1.5)


@pytest.mark.parametrize(
    ("intervals", "all_of_them", "most_of_them"),
    [
        ([YES, YES], "holds", "holds"),
        ([YES, YES, NO], "does not hold", "holds"),
        ([YES, YES, OPEN], "cannot be decided", "holds"),
        ([YES, NO], "does not hold", "does not hold"),
        ([YES, NO, OPEN], "does not hold", "cannot be decided"),
        ([OPEN], "cannot be decided", "cannot be decided"),
        ([NO, NO, YES], "does not hold", "does not hold"),
    ],
)
def test_what_tends_to_be_is_so_in_most_comparisons(intervals, all_of_them, most_of_them):
    assert sentence(*intervals).verdict == all_of_them
    assert sentence(*intervals, tends=True).verdict == most_of_them


@pytest.mark.parametrize(
    ("seeds", "verdict"),
    [
        ([YES] * 5, "holds"),
        ([NO] * 5, "does not hold"),
        ([YES] * 4 + [NO], "cannot be decided"),
        ([YES] * 4 + [OPEN], "cannot be decided"),
        ([NO] * 4 + [OPEN], "cannot be decided"),
    ],
)
def test_a_verdict_is_that_of_every_seed(seeds, verdict):
    found = Sentence.together([sentence(pair) for pair in seeds])
    assert found.verdict == found.finding == verdict
    assert found.parts[0].verdict == verdict
    hull = found.parts[0].found["0"]
    assert (hull.low, hull.high) == (min(s[0] for s in seeds), max(s[1] for s in seeds))
    assert len(found.to_dict()["parts"][0]["by_seed"]) == 5


def test_a_set_up_that_the_paper_does_not_give_decides_nothing_of_the_paper():
    found = Sentence.together([sentence(YES, silent="no discount")] * 5)
    assert found.verdict == "cannot be decided from the paper"
    assert found.finding == "holds"
    assert found.to_dict()["silent"] == "no discount"


def test_a_reason_is_kept_in_the_data():
    part = Part(
        "q", "below", 1, {"a": Interval(2, 1, 3), "b": Interval(2, 0, math.inf, "few runs")}
    )
    found = part.to_dict()["found"]
    assert found["a"] == {"value": 2, "low": 1, "high": 3}
    assert found["b"] == {"value": 2, "low": 0, "high": "infinite", "why": "few runs"}


FLAT, SPREAD = [[1.0], [1.0], [1.0], [1.0]], [[0.0], [1.0], [2.0], [4.0]]


@pytest.mark.parametrize(("a", "b"), [(FLAT, SPREAD), (SPREAD, FLAT), (FLAT, FLAT)])
def test_no_spread_no_ratio(a, b):
    found = ratio_of_spreads(curve(a), curve(b), "rmse")
    assert math.isnan(found.value)
    assert found.why == "no spread that is a number"


def test_two_runs_have_no_jackknife():
    assert "no spread" in ratio_of_spreads(curve(SPREAD[:2]), curve(SPREAD[:2]), "rmse").why


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("runs", [3, 4, 20])
def test_one_run_that_is_all_of_the_spread_shows_none(runs, swapped):
    """Left out, it leaves runs that agree: the logarithm of that spread is not a number."""
    a, b = curve([[1.0]] + [[0.0]] * (runs - 1)), curve([[float(k)] for k in range(runs)])
    found = ratio_of_spreads(*((b, a) if swapped else (a, b)), "rmse")
    assert found.why == f"one run of {runs} carries all of it"
    assert (found.low, found.high) == (0, math.inf)
    ratio = np.std([1.0] + [0.0] * (runs - 1)) / np.std(range(runs))
    assert found.value == pytest.approx(1 / ratio if swapped else ratio)
    assert ratio_of_spreads(a, b, "rmse", why="heavy tails").why == "heavy tails"


def test_a_spread_is_averaged_over_a_thousand_records_at_most():
    """Of 2000 records each second one is looked at; what the others hold is of no account."""
    rng = np.random.default_rng(3)
    errors = rng.random((10, 2000))
    wild = errors.copy()
    wild[:, 1::2] = np.inf
    expected = ratio_of_spreads(curve(errors), curve(errors[::-1] ** 2), "rmse")
    assert ratio_of_spreads(curve(wild), curve(errors[::-1] ** 2), "rmse") == expected
    assert not expected.why


def test_several_seeds_have_the_hull_of_their_intervals_and_the_first_reason():
    wide, none = Interval(2, 1, 3), Interval(5, 0, math.inf, "few runs")
    assert Interval.hull([wide, none, Interval(3, 2, 9)]) == Interval(3, 0, math.inf, "few runs")
    assert Interval.hull([wide]) == wide
    assert math.isnan(Interval.hull([Interval(math.nan, 0, 1)]).value)
    parts = [Part("q", "above", 1, {"a": i}) for i in (Interval(3, 2, 4), Interval(2, 1.5, 3))]
    together = Part.together(parts)
    assert together.found["a"] == Interval(2.5, 1.5, 4)
    assert together.by_seed == tuple(parts)
    assert together.verdict == "holds"
    assert Part.together(parts[:1]).verdict == "holds"
    unsure = Part.together([*parts, Part("q", "above", 1, {"a": Interval(1, 0, 2)})])
    assert unsure.verdict == "cannot be decided"
