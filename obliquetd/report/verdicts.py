"""What one learner does in expectation: its verdict, its fixed point, its largest step size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import cell_text
from obliquetd.algebra.sign_cases import SignCase
from obliquetd.dynamics import MeanDynamics, mean_dynamics, step_size_limit
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.dynamics.stability import Stability
from obliquetd.errors import ObliqueTDError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.compare import ROUNDED
from obliquetd.problem.metrics import root_mean_squared_error, weighted_norm
from obliquetd.problem.requests import read_values
from obliquetd.report.over_symbols import OverSymbols, over_symbols
from obliquetd.report.plain import formula_text, plain_cell

__all__ = [
    "LearnerRow", "condition_text", "is_large", "learner_row", "quick_verdict", "stability_remarks",
    "verdict_left_out",
]  # fmt: skip

LARGEST_SWEEP = {"exact": 300_000, "symbolic": 300_000, "float": 3_000_000}
"""Evaluations of a rule's inner loop up to which its mean dynamics are derived."""
LARGEST_VERDICT = {"exact": 128, "symbolic": 40}
"""Weights up to which stability is decided where it takes more than eigenvalues in floats."""
LARGEST_QUICK = 40
"""Weights up to which it is decided beside other numbers."""
LARGEST_LIMIT = 150
"""Entries of the second moments up to which the largest step size is computed."""
LARGEST_BOUND = 2_000
"""Rows of the model times squares of the weights up to which a bound is sought for a learner with a trace."""
LONGEST_LIMIT = 256
"""Bits of the numbers up to which it is computed."""


@dataclass(frozen=True, eq=False)
class LearnerRow:
    """What one learner does in expectation, from its rule.

    Attributes
    ----------
    name : str
    dynamics : MeanDynamics
    numbers : dict of str to number
        ``rmse`` at the fixed point, and ``to_best``, ||v_hat - Pi v||_Xi.
    error : ObliqueTDError or None
        Why there is no update or no fixed point.
    stability : Stability or None
        The verdict on the expected update; None where there is none.
    limit : number or None
        The largest constant step size that is stable in mean square, where one is computed.
    bound : StepSizeLimit or None
        With a trace, where the largest is not known: a certified bound, below which every constant step
        size is stable in mean square.
    no_bound : str
        Why there is no bound, where one was sought.
    cases : tuple of SignCase
        With symbols: the mean dynamics in each case of the signs that the rule asks for.
    over : OverSymbols or None
        With symbols: the verdict over their ranges.
    rounding : float
        Of floats: what one of the numbers may be by rounding alone where it is 0.
    """

    name: str
    dynamics: MeanDynamics
    numbers: dict[str, Any]
    error: ObliqueTDError | None = None
    stability: Stability | None = None
    limit: Any = None
    bound: Any = None
    no_bound: str = ""
    cases: tuple[SignCase[MeanDynamics], ...] = ()
    over: OverSymbols | None = None
    rounding: float = 0.0

    def number_text(self, key: str, width: int = 10) -> str:
        """A number as it is shown, "-" where there is none."""
        if key not in self.numbers:
            return "-"
        value = self.numbers[key]
        if isinstance(value, float) and 0 < abs(value) <= self.rounding:
            return ROUNDED
        return plain_cell(value, width)

    @property
    def verdict(self) -> str:
        """``"stable"``, ``"unstable"``, ``"marginal"``, ``"undecided"``, or ``"-"``.

        Over the ranges of symbols ``"stable in part"`` and ``"stable nowhere"``, too.
        """
        if self.over is not None:
            return self.over.verdict
        return "-" if self.stability is None else self.stability.verdict

    @property
    def limit_text(self) -> str:
        """The largest step size in words: a number, or why there is none."""
        if self.limit == 0:
            return f"none, {self.name} is {self.verdict}"
        return "any" if self.limit in (math.inf, sp.oo) else cell_text(self.limit, beside=False)

    @property
    def matrices(self) -> tuple[Any, Any] | None:
        """A and b, which there are where there is no fixed point, too; None where a sign is undecided."""
        found: tuple[Any, Any] | None = _attempt(lambda: (self.dynamics.A, self.dynamics.b))
        return found


def condition_text(stability: Stability) -> str:
    """Where a learner with symbols is stable; the length of what fits no line."""
    text = "stable where " + " and ".join(f"{formula_text(c)} > 0" for c in stability.condition)
    return text if len(text) <= 300 else f"stable on a condition of {len(text)} characters"


def stability_remarks(verdicts: Mapping[str, str | None]) -> list[str]:
    """A sentence on the learners that are unstable, and one on those that are marginal."""
    named = {
        wanted: ", ".join(name for name, verdict in verdicts.items() if verdict == wanted)
        for wanted in ("unstable", "marginal")
    }
    found = []
    if named["unstable"]:
        found.append(
            f"{named['unstable']}: the expected update is unstable, so the weights run away from "
            "the fixed point with every step size; the learner diverges."
        )
    if named["marginal"]:
        found.append(
            f"{named['marginal']}: the expected update is marginal, so the weights need not "
            "come to the fixed point."
        )
    return found


def quick_verdict(problem: PolicyEvaluation, learner: Learner, sampling: str) -> str | None:
    """The verdict on a learner's expected update; None where it is not quick, or there is none.

    ``sampling`` counts: from independent transitions, where traces start empty, ETD is TD.
    """
    d = problem.native.Phi.shape[1]
    if (
        len(problem.mdp.table) * d * d > LARGEST_SWEEP[problem.arithmetic]
        or _weights(problem, learner) > LARGEST_QUICK
    ):
        return None
    found: Stability | None = _attempt(
        lambda: _stability(mean_dynamics(problem, learner, sampling=sampling))
    )
    return None if found is None else found.verdict


def is_large(problem: PolicyEvaluation) -> bool:
    """Whether the mean dynamics of a learner take long: exact ones by the features that are not 0."""
    table, (n, d) = len(problem.mdp.table), problem.native.Phi.shape
    size = table * d * d
    if problem.arithmetic != "exact" or size <= LARGEST_SWEEP["exact"]:
        return size > LARGEST_SWEEP[problem.arithmetic]
    filled = np.bincount(problem.native.Phi.support()[0], minlength=n)
    return size > LARGEST_SWEEP["float"] or table * (filled**2).mean() > LARGEST_SWEEP["exact"]


def learner_row(problem: PolicyEvaluation, name: str, learner: Learner) -> LearnerRow:
    """The row of one learner; what does not exist is in its ``error``."""
    if problem.arithmetic == "symbolic" or learner.symbols:
        return _row_over_symbols(problem, name, learner)
    dyn = mean_dynamics(problem, learner)
    stability = _attempt(lambda: _stability(dyn))
    unstable = stability is not None and stability.verdict == "unstable"
    limit = 0 if unstable else _attempt(lambda: _limit(problem, learner))
    error, numbers = _numbers(problem, dyn)
    bound = _attempt(lambda: dyn.rounding) if numbers else None
    found = LearnerRow(name, dyn, numbers, error, stability, limit, rounding=bound or 0.0)
    stable = stability is not None and stability.verdict == "stable"
    return _with_bound(found, problem) if stable and limit is None else found


def _with_bound(row: LearnerRow, problem: PolicyEvaluation) -> LearnerRow:
    """The same with a certified bound for the step size of a learner with a trace, or why there is none."""
    learner = row.dynamics.learner
    cells = len(problem.mdp.table) * _weights(problem, learner) ** 2
    if not learner.has_memory or cells > LARGEST_BOUND:
        return row
    try:
        return replace(row, bound=step_size_limit(problem, learner))
    except ObliqueTDError as error:
        return replace(row, no_bound=str(error))


def _row_over_symbols(problem: PolicyEvaluation, name: str, learner: Learner) -> LearnerRow:
    """The same with symbols; where signs make cases, they have what the learner does."""
    dyn = mean_dynamics(problem, learner)
    try:
        cases = tuple(dynamics_cases(problem, learner))
    except ObliqueTDError as error:
        return LearnerRow(name, dyn, {}, error)
    found = None
    if _weights(problem, learner) <= LARGEST_VERDICT["symbolic"]:
        found = _attempt(lambda: over_symbols(problem, learner, cases))
    if len(cases) > 1:
        return LearnerRow(name, dyn, {}, cases=cases, over=found)
    dyn = cases[0].value
    stability = _attempt(lambda: _stability(dyn))
    missing, numbers = _numbers(problem, dyn)
    return LearnerRow(name, dyn, numbers, missing, stability, cases=cases, over=found)


def _numbers(
    problem: PolicyEvaluation, dyn: MeanDynamics
) -> tuple[ObliqueTDError | None, dict[str, Any]]:
    """The errors of a fixed point, or why there are none."""
    try:
        v_hat = dyn.v_hat
        gap = [a - b for a, b in zip(v_hat, problem.best, strict=True)]
        ops = dyn.operators  # over a field that has the learner's symbols, too
        return None, {
            "rmse": root_mean_squared_error(ops, read_values(ops, v_hat)),
            "to_best": weighted_norm(ops, read_values(ops, gap)),
        }
    except ObliqueTDError as error:
        return error, {}


def _attempt(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except ObliqueTDError:
        return None


def _weights(problem: PolicyEvaluation, learner: Learner) -> int:
    return learner.size(int(problem.native.Phi.shape[1]))


def verdict_left_out(dyn: MeanDynamics) -> str:
    """Why the verdict is left out, where the learner has too many weights for it; empty where it has not."""
    kind, weights = dyn.operators.arithmetic.kind, _weights(dyn.problem, dyn.learner)
    if weights <= LARGEST_VERDICT.get(kind, math.inf):
        return ""
    floats = ", and arithmetic='float' is quick" if kind == "exact" else ""
    return (
        f"the verdict is left out: it takes long for {weights} weights in {kind} arithmetic; "
        f"otd.mean_dynamics(problem, learner).stability decides it{floats}"
    )


def _stability(dyn: MeanDynamics) -> Stability | None:
    return None if verdict_left_out(dyn) else dyn.stability


def _limit(problem: PolicyEvaluation, learner: Learner) -> Any:
    if problem.arithmetic == "symbolic" or learner.has_memory:
        return None
    size = len(problem.states) * _weights(problem, learner) ** 2
    if size > LARGEST_LIMIT or _longest(problem) > LONGEST_LIMIT:
        return None
    limit = step_size_limit(problem, learner)
    return getattr(limit, "exact", limit)


def _longest(problem: PolicyEvaluation) -> int:
    """Bits of the longest rational of the model."""
    numbers = (x for row in problem.mdp.transitions for x in row[3:])
    rationals = (x for x in (*numbers, *problem.xi) if isinstance(x, sp.Rational))
    return max((max(abs(int(x.p)), int(x.q)).bit_length() for x in rationals), default=0)
