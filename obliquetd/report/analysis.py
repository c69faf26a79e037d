"""Everything about one problem, gathered for a table or a JSON file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import serial_number
from obliquetd.dynamics import MeanDynamics, mean_dynamics, step_size_limit
from obliquetd.dynamics.stability import Stability
from obliquetd.errors import MathematicalError, ObliqueTDError, SingularError
from obliquetd.learners import Learner
from obliquetd.problem import METHODS, PolicyEvaluation
from obliquetd.problem.compare import COLUMNS, Comparison, compare
from obliquetd.report.noise import Noise, measure_noise, too_large

__all__ = ["Analysis", "LearnerRow", "analyze", "json_number", "quick_verdict", "stability_remarks"]

HEAVY = ("criterion", "distance", "angle", "worst_case")
"""Quantities that need X*, an n by d matrix of long numbers."""
LARGEST_X = {"exact": 2_500, "symbolic": 200, "float": 300_000}
"""Entries of X* up to which they are computed."""


LARGEST_SWEEP = 300_000
"""Evaluations of a rule's inner loop up to which its mean dynamics are derived."""
LARGEST_VERDICT = 40
"""Weights up to which stability is decided where it takes more than eigenvalues in floats."""
LARGEST_LIMIT = 150
"""Entries of the second moments up to which the largest step size is computed."""
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
    """

    name: str
    dynamics: MeanDynamics
    numbers: dict[str, Any]
    error: ObliqueTDError | None = None
    stability: Stability | None = None
    limit: Any = None

    @property
    def verdict(self) -> str:
        """``"stable"``, ``"unstable"``, ``"marginal"``, ``"undecided"``, or ``"-"``."""
        return "-" if self.stability is None else self.stability.verdict

    @property
    def matrices(self) -> tuple[Any, Any] | None:
        """A and b, which there are where there is no fixed point, too; None where a sign is undecided."""
        found: tuple[Any, Any] | None = _attempt(lambda: (self.dynamics.A, self.dynamics.b))
        return found


@dataclass(frozen=True, eq=False)
class Analysis:
    """What :func:`analyze` found; what does not exist is in ``problems``, with the reason.

    Attributes
    ----------
    problem : PolicyEvaluation
    columns : dict of str to list
        For each state: ``xi``, ``v_pi``, ``best`` and the spread of the return.
    comparison : Comparison
        The fixed points, by formula.
    learners : tuple of LearnerRow
        The learners, by their rules.
    errors : dict of str to MathematicalError
        Quantities by state that do not exist.
    notes : dict of str to str
        What was left out, and why.
    noise : Noise or None
        How noisy the learners are, and LSTD and LS-ETD, where that was computed.
    """

    problem: PolicyEvaluation
    columns: dict[str, list[Any]]
    comparison: Comparison
    learners: tuple[LearnerRow, ...]
    errors: dict[str, MathematicalError]
    notes: dict[str, str]
    noise: Noise | None = None

    @property
    def problems(self) -> dict[str, str]:
        """What does not exist or was left out, and why."""
        return {what: str(error) for what, error in self.errors.items()} | self.notes

    @property
    def remarks(self) -> list[str]:
        """Sentences on what the numbers alone would hide: divergence, and rewards that are zero."""
        found = stability_remarks({row.name: row.verdict for row in self.learners})
        if self.problem.native.r_pi.is_zero():
            found.append(
                "The target policy's expected reward is zero in every state, so values, fixed points "
                "and errors are zero whatever a learner does; what tells learners apart is stability."
            )
        return found

    def failures(self, wanted: Sequence[str] = ()) -> list[str]:
        """What makes the model bad input: no values, no weights, or a singular equation.

        A method in ``wanted`` counts whatever keeps it from a fixed point.
        """
        found = [str(error) for error in self.errors.values()]
        for row in self.comparison:
            error: MathematicalError | None = row.errors.get("fixed point")
            if isinstance(error, SingularError) or (error is not None and row.name in wanted):
                found.append(str(error))
        found += [str(r.error) for r in self.learners if r.error is not None and r.name in wanted]
        return list(dict.fromkeys(found))

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data: exact numbers as text, floats as numbers."""
        problem = self.problem
        chain = problem.chain
        data: dict[str, Any] = {
            "states": list(problem.states),
            "actions": list(problem.mdp.actions),
            "arithmetic": problem.arithmetic,
            "discount": json_number(problem.discount),
            "on_policy": problem.on_policy,
            "features": problem.native.Phi.shape[1],
            "chain": {
                "classes": [
                    {"states": list(c.states), "closed": c.closed, "period": c.period}
                    for c in chain.classes
                ]
            },
            "by_state": [
                {"state": s, **{k: json_number(v[i]) for k, v in self.columns.items()}}
                for i, s in enumerate(problem.states)
            ],
            "fixed_points": [
                {
                    "method": row.name,
                    **{k: json_number(v) for k, v in row.quantities.items()},
                    "theta": None if row.theta is None else _vector(row.theta),
                    "undetermined": list(row.undetermined),
                    "problems": row.problems,
                }
                for row in self.comparison
            ],
            "learners": [_learner_data(row) for row in self.learners],
            "noise": None if self.noise is None else self.noise.to_dict(json_number),
            "problems": self.problems,
            "remarks": self.remarks,
        }
        if self._small():
            data["X_star"] = self._attempted(lambda: _rows(problem.X_star))
        if problem.accuracy:
            data["accuracy"] = {
                k: {"residual": r.residual, "condition": json_number(r.condition)}
                for k, r in problem.accuracy.items()
            }
        return data

    def _small(self) -> bool:
        return is_small(self.problem)

    @staticmethod
    def _attempted(function: Callable[[], Any]) -> Any:
        try:
            return function()
        except MathematicalError:
            return None


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
        len(problem.mdp.table) * d * d > LARGEST_SWEEP
        or _weights(problem, learner) > LARGEST_VERDICT
    ):
        return None
    found: Stability | None = _attempt(
        lambda: _stability(mean_dynamics(problem, learner, sampling=sampling))
    )
    return None if found is None else found.verdict


def _best(problem: PolicyEvaluation) -> list[Any]:
    """Pi v_pi, None where an unvisited state leaves it open."""
    open_ = set(problem.best_undetermined)
    return [None if s in open_ else v for s, v in zip(problem.states, problem.best, strict=True)]


def is_small(problem: PolicyEvaluation) -> bool:
    """Whether X* is small enough to be worth its digits."""
    n, d = problem.native.Phi.shape
    return n * d <= LARGEST_X[problem.arithmetic]


def _learner_data(row: LearnerRow) -> dict[str, Any]:
    data: dict[str, Any] = {
        "learner": row.name,
        **{k: json_number(v) for k, v in row.dynamics.numbers.items()},
        "stability": None if row.stability is None else row.verdict,
        "diverges": {"unstable": True, "stable": False}.get(row.verdict),
        "step_size_limit": "oo" if row.limit == math.inf else json_number(row.limit),
    }
    if row.stability is not None and row.stability.condition:
        data["condition"] = [str(serial_number(c)) for c in row.stability.condition]
    dyn = row.dynamics
    matrices = row.matrices
    if matrices is not None:
        data.update(A=_rows(matrices[0]), b=_vector(matrices[1]))
    if row.error is not None:
        return {**data, "problem": str(row.error)}
    return {
        **data,
        "theta": _vector(dyn.fixed_point()),
        **{k: json_number(v) for k, v in row.numbers.items()},
    }


def _learner_row(problem: PolicyEvaluation, name: str, learner: Learner) -> LearnerRow:
    dyn = mean_dynamics(problem, learner)
    stability = _attempt(lambda: _stability(dyn))
    unstable = stability is not None and stability.verdict == "unstable"
    limit = 0 if unstable else _attempt(lambda: _limit(problem, learner))
    try:
        v_hat = dyn.v_hat
        gap = [a - b for a, b in zip(v_hat, problem.best, strict=True)]
        numbers = {"rmse": problem.rmse(v_hat), "to_best": problem.weighted_norm(gap)}
        return LearnerRow(name, dyn, numbers, None, stability, limit)
    except ObliqueTDError as error:
        return LearnerRow(name, dyn, {}, error, stability, limit)


def _attempt(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except ObliqueTDError:
        return None


def _weights(problem: PolicyEvaluation, learner: Learner) -> int:
    return learner.size(int(problem.native.Phi.shape[1]))


def _stability(dyn: MeanDynamics) -> Stability | None:
    small = _weights(dyn.problem, dyn.learner) <= LARGEST_VERDICT
    return dyn.stability if small or dyn.problem.arithmetic == "float" else None


def _limit(problem: PolicyEvaluation, learner: Learner) -> Any:
    if problem.arithmetic == "symbolic" or learner.has_memory:
        return None
    size = len(problem.states) * _weights(problem, learner) ** 2
    if size > LARGEST_LIMIT or _longest(problem) > LONGEST_LIMIT:
        return None
    return step_size_limit(problem, learner)


def _longest(problem: PolicyEvaluation) -> int:
    """Bits of the longest rational of the model."""
    numbers = (x for row in problem.mdp.transitions for x in row[3:])
    rationals = (x for x in (*numbers, *problem.xi) if isinstance(x, sp.Rational))
    return max((max(abs(int(x.p)), int(x.q)).bit_length() for x in rationals), default=0)


def analyze(
    problem: PolicyEvaluation,
    methods: Sequence[str] = METHODS,
    learners: Mapping[str, Learner] | None = None,
    *,
    noise: bool | None = None,
) -> Analysis:
    """The chain, the values, the fixed points and the learners of a problem.

    Parameters
    ----------
    problem : PolicyEvaluation
    methods : sequence of str
        Names that ``problem.fixed_point`` knows.
    learners : mapping of name to Learner, optional
        Whose expected update is derived from its rule; none unless given.
    noise : bool, optional
        Whether to compute how noisy those learners are; unless given, where that is quick.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> found = analyze(two_state(reward=1), ["td", "setd"])
    >>> found.columns["v_pi"], found.comparison["setd"].quantities["rmse"]
    ([10, 10], 5*sqrt(2)/2)
    """
    errors: dict[str, MathematicalError] = {}
    notes: dict[str, str] = {}
    columns: dict[str, list[Any]] = {}

    def column(name: str, function: Callable[[], Any]) -> None:
        try:
            columns[name] = list(function())
        except MathematicalError as error:
            errors[name] = error

    column("xi", lambda: problem.xi)
    column("v_pi", lambda: problem.v_pi)
    column("best", lambda: _best(problem))
    if problem.arithmetic != "symbolic":
        column("return_variance", lambda: problem.return_variance)
    wanted = list(COLUMNS)
    if not is_small(problem):
        n, d = problem.native.Phi.shape
        wanted = [key for key in COLUMNS if key not in HEAVY]
        notes["X_star"] = (
            f"left out: X* has {n} x {d} {problem.arithmetic} entries; so are {', '.join(HEAVY)}"
        )
    methods = list(methods)
    if not is_small(problem) and "best" in methods:
        methods.remove("best")
    rows = []
    n_rows, d = len(problem.mdp.table), problem.native.Phi.shape[1]
    if learners and n_rows * d * d > LARGEST_SWEEP:
        notes["learners"] = (
            f"left out: {n_rows} transitions with {d} features are many for {d + 1} sweeps"
        )
    elif "xi" not in errors:
        rows = [_learner_row(problem, name, learner) for name, learner in (learners or {}).items()]
    comparison = compare(problem, methods, quantities=wanted)
    found = None
    if rows and learners and noise is not False:
        why = "" if noise else too_large(problem)
        if why:
            notes["noise"] = why
        else:
            found = measure_noise(problem, learners)
    return Analysis(problem, columns, comparison, tuple(rows), errors, notes, found)


def json_number(value: Any) -> Any:
    """A number for strict JSON: text where exact, null where there is none or it is infinite."""
    if value is None:
        return None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return serial_number(value)


def _vector(vector: Any) -> list[Any]:
    return [json_number(x) for x in list(vector)]


def _rows(matrix: Any) -> list[list[Any]]:
    if hasattr(matrix, "toarray"):
        matrix = matrix.toarray()
    return [[json_number(x) for x in row] for row in matrix.tolist()]
