"""How the words of the paper's experimental section are read as numbers, the same throughout.

Two learners are compared on the same
transitions, run by run, and what counts is the median of the ratio: a typical run.

=================  ==================================================================
better             a lower mean error over the whole run
fast, faster       fewer steps until the error stays below half of its first value
much faster        at most half as many
slow               at least twice as many
similar            at most 10 % more over the last 500 steps, than each other learner
slightly better    better, and by no more than 25 %
substantially      at least 20 % less
sensitive          the factor by which a step size ten times as large changes the last
                   error, up or down; very sensitive from 2 on
convergent         in nine runs of ten both errors end below where they began
variance           the standard deviation, averaged over the steps: of the estimate itself,
                   exactly, where its moments are known; else of the error over the runs
tends to           in more than half of the comparisons, not in all
=================  ==================================================================

A sentence on "both" or on no error in particular is read for RMSE and RMSPBE.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from obliquetd.reproduction.evidence import (
    EARLY,
    Interval,
    Part,
    half_time,
    late,
    median_ratio,
    ratio_of_spreads,
    share,
    whole,
)
from obliquetd.reproduction.study import Runs

__all__ = [
    "BETTER_AND_SLIGHTLY",
    "CONVERGED",
    "ERRORS",
    "MUCH",
    "SIMILAR",
    "SUBSTANTIAL",
    "VERY",
    "Side",
    "against",
    "below_start",
    "changed",
    "compared",
    "spreads",
]

SIMILAR, SLIGHT, SUBSTANTIAL, MUCH, CONVERGED, VERY = 1.1, 0.75, 0.8, 0.5, 0.9, 2
ERRORS = ("rmse", "rmspbe")
Side = Literal["below", "above"]
Pairs = Iterable[tuple[str, str]]
BETTER_AND_SLIGHTLY: tuple[tuple[Side, float], ...] = (("below", 1), ("above", SLIGHT))
MEASURES = {
    "late": (late, "{error} of the last 500 steps"),
    "whole": (whole, "{error} of the whole run"),
    "half": (half_time, "steps until the {error} stays below half"),
}


def compared(
    runs: Runs, measure: str, error: str, pairs: Pairs, side: Side, bound: float
) -> Part:  # fmt: skip
    """Median ratios of a measure between pairs of learners, held to a bound."""
    function, words = MEASURES[measure]
    sweep = runs.sweep
    values = {name: function(curve, error, sweep.steps) for name, curve in sweep.curves.items()}
    end = float(sweep.steps[-1]) if measure == "half" else float("inf")
    told = f"{runs.case}: {words.format(error=error.upper())}"
    ratios = {f"{a} / {b}": median_ratio(values[a], values[b], end) for a, b in pairs}
    return Part(told, side, bound, ratios)


def spreads(
    runs: Runs, error: str, pairs: Pairs, side: Side, bound: float = 1, early: bool = False
) -> Part:
    """Ratios of standard deviations, averaged over all steps or the first 1000.

    Exact where the moments are known, and the runs do not contradict them.
    """
    pairs = list(pairs)
    steps = runs.sweep.steps
    records = slice(int(np.searchsorted(steps, EARLY, "right")) if early else None)
    names = {name for pair in pairs for name in pair}
    known = names <= set(runs.exact) and not names & set(runs.withheld)

    def exactly(name: str) -> float:
        return float(runs.exact[name][f"{error}_deviation"][steps[records]].mean())

    def ratio(a: str, b: str) -> Interval:
        if known:
            value = exactly(a) / exactly(b)
            return Interval(value, value, value)
        why = runs.withheld.get(a) or runs.withheld.get(b, "")
        return ratio_of_spreads(runs.sweep[a], runs.sweep[b], error, records, why)

    window = " in the first 1000 steps" if early else ""
    what = "exact deviation behind" if known else "spread over runs of"
    return Part(
        f"{runs.case}: {what} the {error.upper()}{window}", side, bound,
        {f"{a} / {b}": ratio(a, b) for a, b in pairs},
    )  # fmt: skip


def against(name: str, runs: Runs) -> list[tuple[str, str]]:
    """One learner against each other one."""
    return [(name, other) for other in runs.sweep.curves if other != name]


def below_start(runs: Runs, name: str, error: str) -> Interval:
    """The share of runs that end with a smaller error than they began with."""
    errors = getattr(runs.sweep[name], error)
    return share(int((errors[:, -1] < errors[:, 0]).sum()), len(errors))


def changed(own: Runs, larger: Runs, name: str) -> np.ndarray:
    """The factor by which a larger step size changes the last RMSE of each run, up or down."""
    ends = (late(runs.sweep[name], "rmse", runs.sweep.steps) for runs in (larger, own))
    factor = np.divide(*ends)
    return np.asarray(np.maximum(factor, 1 / factor))
