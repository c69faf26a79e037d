"""From many runs to a verdict: quantities with confidence intervals, and bounds they are held to.

Every quantity is a ratio of two learners on the same transitions, or a share of runs, so it has
no unit. Intervals have level 0.99 each:

* a ratio of means a/b, run by run paired, on the logarithmic scale (delta method):
  Var log(a/b) ~ Var(a_k / a - b_k / b) / n;
* a ratio of spreads, the standard deviation over the runs averaged over the steps, by the
  jackknife over runs;
* a share k/n, by Clopper and Pearson (1934).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from obliquetd.experiments import Curve

__all__ = [
    "CONFIDENCE",
    "EARLY",
    "LATE",
    "Interval",
    "Part",
    "Verdict",
    "half_time",
    "late",
    "ratio_of_means",
    "ratio_of_spreads",
    "ratio_of_times",
    "share",
    "whole",
]

Floats = npt.NDArray[np.float64]
Verdict = Literal["holds", "does not hold", "cannot be decided"]

CONFIDENCE = 0.99
EARLY = 1000
"""The first steps that the paper's figures zoom in on."""
LATE = 500
"""The last ones."""
RECORDS = 1000
"""A spread is averaged over at most so many steps."""


@dataclass(frozen=True)
class Interval:
    """A measured quantity with its confidence interval; NaN where it is not defined."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "undefined (both diverged)"
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


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
        For each comparison, such as ``"SETD / TD"``.
    """

    quantity: str
    side: Literal["below", "above"]
    bound: float
    found: Mapping[str, Interval]

    @property
    def verdict(self) -> Verdict:
        """Holds where all intervals clear the bound, does not hold where one lies beyond it."""
        sign = 1 if self.side == "below" else -1
        bound = sign * self.bound
        low, high = ("low", "high") if sign > 0 else ("high", "low")
        edges = [(sign * getattr(i, low), sign * getattr(i, high)) for i in self.found.values()]
        if any(near >= bound for near, _ in edges):
            return "does not hold"
        return "holds" if edges and all(far < bound for _, far in edges) else "cannot be decided"

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data."""

        def number(x: float) -> float | str | None:
            return None if math.isnan(x) else x if math.isfinite(x) else "infinite"

        return {
            "quantity": self.quantity,
            "wanted": f"{self.side} {self.bound:g}",
            "found": {
                name: {"value": number(i.value), "low": number(i.low), "high": number(i.high)}
                for name, i in self.found.items()
            },
            "confidence": CONFIDENCE,
            "verdict": self.verdict,
        }


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


def ratio_of_times(a: Floats, b: Floats, end: float) -> Interval:
    """The ratio of mean times, where some runs had not got there at the end.

    Those count as if they got there at the end, which is too early; so with such runs in a
    the interval has no upper limit, and with such runs in b no lower one.

    Examples
    --------
    >>> print(ratio_of_times(np.array([10.0, 12.0]), np.array([100.0, np.inf]), end=200))
    0.0733 [0, 3.69e+05]
    """
    found = ratio_of_means(np.minimum(a, end), np.minimum(b, end))
    low = 0.0 if np.isinf(b).any() else found.low
    high = math.inf if np.isinf(a).any() else found.high
    return Interval(found.value, low, high)


def ratio_of_means(a: Floats, b: Floats) -> Interval:
    """Mean of a over mean of b, of runs on the same transitions; infinite where only a diverged.

    Examples
    --------
    >>> print(ratio_of_means(np.array([1.0, 1.2, 1.1]), np.array([2.0, 2.4, 2.2])))
    0.5 [0.5, 0.5]
    """
    n = len(a)
    top, bottom = float(a.mean()), float(b.mean())
    if not (math.isfinite(top) and math.isfinite(bottom)):
        return _without_limits(top, bottom)
    if top <= 0 or bottom <= 0 or n < 2:
        return Interval(math.nan, math.nan, math.nan)
    error = float((a / top - b / bottom).std(ddof=1)) / math.sqrt(n)
    return _around(top / bottom, error, n)


def ratio_of_spreads(a: Curve, b: Curve, error: str) -> Interval:
    """Spread of a over spread of b."""
    x, y = _thin(getattr(a, error)), _thin(getattr(b, error))
    with np.errstate(invalid="ignore", over="ignore"):
        top, bottom = (float(v.std(axis=0, ddof=1).mean()) for v in (x, y))
    if not (math.isfinite(top) and math.isfinite(bottom)):
        return _without_limits(*(t if math.isfinite(t) else math.inf for t in (top, bottom)))
    if top <= 0 or bottom <= 0 or len(x) < 3:
        return Interval(math.nan, math.nan, math.nan)
    n = len(x)
    logs = np.log(_left_out(x)) - np.log(_left_out(y))
    return _around(top / bottom, math.sqrt((n - 1) * float(logs.var())), n)


def share(hits: int, runs: int) -> Interval:
    """The share of runs with some property.

    Examples
    --------
    >>> print(share(200, 200))
    1 [0.974, 1]
    """
    found = stats.binomtest(hits, runs).proportion_ci(CONFIDENCE, method="exact")
    return Interval(hits / runs, float(found.low), float(found.high))


def _around(ratio: float, error: float, n: int) -> Interval:
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    if reach > 700:  # beyond the floats
        return Interval(ratio, 0.0, math.inf)
    return Interval(ratio, ratio * math.exp(-reach), ratio * math.exp(reach))


def _without_limits(top: float, bottom: float) -> Interval:
    """A diverged learner has no finite mean: worse than any that has one."""
    if not math.isfinite(top) and not math.isfinite(bottom):
        return Interval(math.nan, math.nan, math.nan)
    value = 0.0 if math.isfinite(top) else math.inf
    return Interval(value, value, value)


def _thin(errors: Floats) -> Floats:
    return errors[:, :: max(1, errors.shape[1] // RECORDS)]


def _left_out(x: Floats) -> Floats:
    """For each run, the spread of all the others."""
    n = len(x)
    gap = x - x.mean(axis=0)
    squares = (gap**2).sum(axis=0)
    without = squares - gap**2 * n / (n - 1)
    return np.asarray(np.sqrt(np.maximum(without, 0) / (n - 2)).mean(axis=1))
