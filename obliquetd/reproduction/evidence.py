"""From many runs to a verdict: quantities with confidence intervals, and bounds they are held to.

Every quantity is a ratio of two learners on the same transitions, or a share of runs, so it has
no unit. Intervals have level 0.99 each:

* the median over the runs of the ratio a_k / b_k, by order statistics (David and Nagaraja 2003,
  Section 7.1): no moment has to exist, and a run that diverged, or never got there, is one run
  among many;
* a ratio of spreads, the standard deviation over the runs averaged over the steps, by the
  jackknife over runs. It needs moments, so it is withheld where
  :mod:`obliquetd.reproduction.tails` knows that these runs do not show them, and where one run
  carries most of the jackknife's variance;
* a share k/n, by Clopper and Pearson (1934).

No test on the runs alone can prove that a variance is shown by them: one that says "tame" has not
met what is rare. So the diagnostics only ever withhold an interval, and a verdict needs five seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from obliquetd.experiments import Curve

__all__ = [
    "CONFIDENCE",
    "EARLY",
    "LATE",
    "SILENT",
    "Interval",
    "Part",
    "Verdict",
    "agreed",
    "half_time",
    "late",
    "median_ratio",
    "ratio_of_spreads",
    "share",
    "whole",
]

Floats = npt.NDArray[np.float64]
Verdict = Literal["holds", "does not hold", "cannot be decided", "cannot be decided from the paper"]

SILENT: Verdict = "cannot be decided from the paper"
"""Of a sentence on a set-up that the paper does not give."""
CONFIDENCE = 0.99
EARLY = 1000
"""The first steps that the paper's figures zoom in on."""
LATE = 500
"""The last ones."""
RECORDS = 1000
"""A spread is averaged over at most so many steps."""
CARRIED = 0.5
"""The share of a jackknife's variance above which one run carries it."""


@dataclass(frozen=True)
class Interval:
    """A measured quantity with its confidence interval; NaN where it is not defined.

    ``why`` says why there is no interval; then it runs from 0 to infinity.
    """

    value: float
    low: float
    high: float
    why: str = ""

    def __str__(self) -> str:
        if math.isnan(self.value):
            return f"undefined ({self.why or 'both diverged'})"
        if self.why:
            return f"{self.value:.3g} (no interval: {self.why})"
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"

    @classmethod
    def hull(cls, intervals: Sequence[Interval]) -> Interval:
        """The median value, and the least interval that holds all of them.

        Examples
        --------
        >>> print(Interval.hull([Interval(2, 1, 3), Interval(4, 2, 5), Interval(3, 2, 4)]))
        3 [1, 5]
        """
        values = [i.value for i in intervals if not math.isnan(i.value)]
        return cls(
            float(np.median(values)) if values else math.nan,
            min(i.low for i in intervals),
            max(i.high for i in intervals),
            next((i.why for i in intervals if i.why), ""),
        )


def agreed(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of all seeds, where it is the same.

    Examples
    --------
    >>> agreed(["holds", "holds"]), agreed(["holds", "does not hold"])
    ('holds', 'cannot be decided')
    """
    return verdicts[0] if len(set(verdicts)) == 1 else "cannot be decided"


@dataclass(frozen=True)
class Part:
    """One measurable reading of a sentence: every interval has to lie on one side of a bound.

    Attributes
    ----------
    quantity : str
        What was measured, in words.
    side : {"below", "above"}
    bound : float
    found : mapping of str to Interval
        For each comparison, such as ``"SETD / TD"``; of several seeds the hull.
    by_seed : tuple of Part
        One for each seed, where there were several.
    """

    quantity: str
    side: Literal["below", "above"]
    bound: float
    found: Mapping[str, Interval]
    by_seed: tuple[Part, ...] = ()

    @property
    def decisions(self) -> list[Verdict]:
        """Of each comparison: holds where the interval clears the bound, fails where it lies beyond."""
        sign = 1 if self.side == "below" else -1
        low, high = ("low", "high") if sign > 0 else ("high", "low")

        def decide(found: Interval) -> Verdict:
            near, far = sign * getattr(found, low), sign * getattr(found, high)
            if near >= sign * self.bound:
                return "does not hold"
            return "holds" if far < sign * self.bound else "cannot be decided"

        return [decide(found) for found in self.found.values()]

    @property
    def verdict(self) -> Verdict:
        """Holds where all comparisons do, and fails where one does; the same for every seed."""
        if self.by_seed:
            return agreed([part.verdict for part in self.by_seed])
        return every(self.decisions)

    @classmethod
    def together(cls, parts: Sequence[Part]) -> Part:
        """The same reading for several seeds."""
        first = parts[0]
        hulls = {name: Interval.hull([p.found[name] for p in parts]) for name in first.found}
        return cls(first.quantity, first.side, first.bound, hulls, tuple(parts))

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data."""

        def number(x: float) -> float | str | None:
            return None if math.isnan(x) else x if math.isfinite(x) else "infinite"

        def told(i: Interval) -> dict[str, Any]:
            limits = {"value": number(i.value), "low": number(i.low), "high": number(i.high)}
            return {**limits, **({"why": i.why} if i.why else {})}

        return {
            "quantity": self.quantity,
            "wanted": f"{self.side} {self.bound:g}",
            "found": {name: told(i) for name, i in self.found.items()},
            "by_seed": [{name: told(i) for name, i in part.found.items()} for part in self.by_seed],
            "confidence": CONFIDENCE,
            "verdict": self.verdict,
        }


def every(decisions: Sequence[Verdict]) -> Verdict:
    """All have to hold; one that fails decides."""
    if "does not hold" in decisions:
        return "does not hold"
    return "holds" if set(decisions) == {"holds"} else "cannot be decided"


def most(decisions: Sequence[Verdict]) -> Verdict:
    """More than half have to hold: what something *tends* to do.

    Examples
    --------
    >>> most(["holds", "holds", "does not hold"])
    'holds'
    >>> most(["holds", "does not hold"]), most(["holds", "cannot be decided"])
    ('does not hold', 'cannot be decided')
    """
    if 2 * decisions.count("holds") > len(decisions):
        return "holds"
    if 2 * decisions.count("does not hold") >= len(decisions):
        return "does not hold"
    return "cannot be decided"


def late(curve: Curve, error: str, steps: npt.NDArray[np.int64]) -> Floats:
    """Each run's mean error over the last 500 steps: where it ends."""
    errors: Floats = getattr(curve, error)
    return np.asarray(errors[:, steps > steps[-1] - LATE].mean(axis=1))


def whole(curve: Curve, error: str, steps: npt.NDArray[np.int64]) -> Floats:  # noqa: ARG001
    """Each run's mean error over the whole run."""
    errors: Floats = getattr(curve, error)
    return np.asarray(errors.mean(axis=1))


def half_time(curve: Curve, error: str, steps: npt.NDArray[np.int64]) -> Floats:
    """Each run's first recorded step from which on the error stays at most half of its first.

    Infinite where it is not so at the end of the run.
    """
    errors: Floats = getattr(curve, error)
    above = errors > errors[:, :1] / 2
    last = errors.shape[1] - 1 - above[:, ::-1].argmax(axis=1)  # step 0 is always above
    times = np.append(steps.astype(float), np.inf)
    return np.asarray(times[last + 1])


def median_ratio(a: Floats, b: Floats, end: float = math.inf) -> Interval:
    """The median over the runs of a_k / b_k, of runs on the same transitions.

    An infinite error is one that diverged, and worse than any other. An infinite time is one that
    had not come at the ``end`` of the run, so at least that: a ratio with it is known to lie in a
    range only, and the interval is that of the least medians and of the largest.

    Examples
    --------
    >>> print(median_ratio(np.arange(1.0, 21), np.full(20, 2.0)))
    5.25 [2, 8.5]
    >>> print(median_ratio(np.full(20, 10.0), np.full(20, np.inf), end=200))
    0.05 [0, 0.05]
    """
    from scipy import stats  # takes longer to import than all else

    least, most_ = np.minimum(a, end), np.minimum(b, end)
    with np.errstate(divide="ignore", invalid="ignore"):
        values, low, high = least / most_, least / b, a / most_
    low, high = np.sort(np.where(np.isnan(low), 0, low)), np.where(np.isnan(high), math.inf, high)
    n, known = len(a), values[~np.isnan(values)]
    value = float(np.median(known)) if known.size else math.nan
    k = int(stats.binom.ppf((1 - CONFIDENCE) / 2, n, 0.5))
    if k < 1:
        return Interval(value, 0.0, math.inf, f"{n} runs are too few")
    return Interval(value, float(low[k - 1]), float(np.sort(high)[n - k]))


def ratio_of_spreads(
    a: Curve, b: Curve, error: str, records: slice = slice(None), why: str = ""
) -> Interval:
    """Spread of a over spread of b, on some of the records; withheld for a reason given."""
    from scipy import stats

    x, y = (_thin(getattr(curve, error)[:, records]) for curve in (a, b))
    lost = sum(int((~np.isfinite(v).all(axis=1)).sum()) for v in (x, y))
    if lost:
        return Interval(math.nan, 0.0, math.inf, why or f"runs diverged: {lost}")
    n = len(x)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        top, bottom = (float(v.std(axis=0, ddof=1).mean()) for v in (x, y))
        if not (0 < top < math.inf and 0 < bottom < math.inf) or n < 3:
            return Interval(math.nan, 0.0, math.inf, why or "no spread that is a number")
        logs = np.log(_left_out(x)) - np.log(_left_out(y))
    if not np.isfinite(logs).all():
        return Interval(top / bottom, 0.0, math.inf, why or f"one run of {n} carries all of it")
    squares = (logs - logs.mean()) ** 2
    if not why and squares.max() > CARRIED * squares.sum():
        why = f"one run of {n} carries {squares.max() / squares.sum():.0%} of its variance"
    if why:
        return Interval(top / bottom, 0.0, math.inf, why)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * math.sqrt((n - 1) / n * squares.sum())
    if reach > 700:  # beyond the floats
        return Interval(top / bottom, 0.0, math.inf, "the jackknife finds no limit")
    return Interval(top / bottom, top / bottom * math.exp(-reach), top / bottom * math.exp(reach))


def share(hits: int, runs: int) -> Interval:
    """The share of runs with some property.

    Examples
    --------
    >>> print(share(200, 200))
    1 [0.974, 1]
    """
    from scipy import stats

    found = stats.binomtest(hits, runs).proportion_ci(CONFIDENCE, method="exact")
    return Interval(hits / runs, float(found.low), float(found.high))


def _thin(errors: Floats) -> Floats:
    return errors[:, :: max(1, errors.shape[1] // RECORDS)]


def _left_out(x: Floats) -> Floats:
    """For each run, the spread of all the others."""
    n = len(x)
    gap = x - x.mean(axis=0)
    squares = (gap**2).sum(axis=0)
    without = squares - gap**2 * n / (n - 1)
    return np.asarray(np.sqrt(np.maximum(without, 0) / (n - 2)).mean(axis=1))
