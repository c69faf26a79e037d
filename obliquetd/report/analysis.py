"""Everything about one problem, gathered for a table or a JSON file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import serial_number
from obliquetd.algebra.sign_cases import SignCase
from obliquetd.dynamics import MeanDynamics
from obliquetd.errors import MathematicalError, SingularError
from obliquetd.learners import SETD, Learner
from obliquetd.problem import METHODS, PolicyEvaluation
from obliquetd.problem.compare import COLUMNS, Comparison, compare
from obliquetd.problem.resting import resting_remark
from obliquetd.report.noise import Noise, measure_noise, too_large
from obliquetd.report.verdicts import LearnerRow, is_large, learner_row, stability_remarks

__all__ = ["Analysis", "analyze", "introduction", "json_number"]

HEAVY = ("criterion", "distance", "angle", "worst_case")
"""Quantities that need X*, an n by d matrix of long numbers."""
LARGEST_X = {"exact": 2_500, "symbolic": 200, "float": 300_000}
"""Entries of X* up to which they are computed."""


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
        found += filter(None, [resting_remark(self.problem.native), self._two_omegas()])
        return found

    def _two_omegas(self) -> str:
        """A sentence where the method setd and the learner of that name have two fixed points."""
        method = next((row for row in self.comparison if row.name == SETD.key), None)
        learner = next((row for row in self.learners if row.name == SETD.key), None)
        if method is None or learner is None:
            return ""
        if method.quantities.get("rmse") == learner.numbers.get("rmse"):
            return ""
        return (
            "setd is two things here: among the methods it weighs each state by the omega of its expected "
            "Delta phi (the paper's Omega_S); the learner weighs each transition by an omega of its own, and has "
            "another fixed point. SETD(omega='expected') is the learner of the method."
        )

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
    if row.bound is not None:
        data["step_size_bound"] = {"below": json_number(float(row.bound)), "kind": row.bound.kind}
    if row.stability is not None and row.stability.condition:
        data["condition"] = [str(serial_number(c)) for c in row.stability.condition]
    dyn = row.dynamics
    matrices = row.matrices
    if matrices is not None:
        data.update(A=_rows(matrices[0]), b=_vector(matrices[1]))
    if len(row.cases) > 1:
        return {**data, "cases": [_case_data(case) for case in row.cases]}
    if row.error is not None:
        return {**data, "problem": str(row.error)}
    return {
        **data,
        "theta": _vector(dyn.fixed_point()),
        **{k: json_number(v) for k, v in row.numbers.items()},
    }


def _case_data(case: SignCase[MeanDynamics]) -> dict[str, Any]:
    """What a learner does where the signs that its rule asks for are those of one case."""
    found = case.value
    data = {"where": str(case.condition), "A": _rows(found.A), "b": _vector(found.b)}
    try:
        return {**data, "theta": _vector(found.fixed_point())}
    except MathematicalError as error:
        return {**data, "problem": str(error)}


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
    if learners and is_large(problem):
        notes["learners"] = (
            f"left out, because a matrix A from {n_rows} transitions and {d} features takes long; "
            "otd.mean_dynamics(problem, learner) makes one"
        )
    elif "xi" not in errors:
        rows = [learner_row(problem, name, learner) for name, learner in (learners or {}).items()]
    comparison = compare(problem, methods, quantities=wanted)
    found = None
    if rows and learners and noise is not False:
        why = "" if noise else too_large(problem)
        if why:
            notes["noise"] = why
        else:
            found = measure_noise(problem, learners)
    return Analysis(problem, columns, comparison, tuple(rows), errors, notes, found)


def introduction(problem: PolicyEvaluation) -> str:
    """The problem in a line, with one state or one feature in the singular.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> introduction(two_state())
    'PolicyEvaluation(2 states, 1 feature, off-policy, discount 9/10, exact)'
    """
    return re.sub(r"(?<![\d/])1 (feature|state|pair)s\b", r"1 \1", repr(problem))


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
