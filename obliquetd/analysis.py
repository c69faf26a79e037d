"""Everything about one problem, gathered for a table or a JSON file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import cell_text, serial_number
from obliquetd.compare import COLUMNS, Comparison, compare
from obliquetd.errors import MathematicalError, SingularError
from obliquetd.problem import METHODS, PolicyEvaluation

__all__ = ["Analysis", "analyze", "json_number"]

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
        The fixed points.
    errors : dict of str to MathematicalError
        Quantities by state that do not exist.
    notes : dict of str to str
        What was left out, and why.
    """

    problem: PolicyEvaluation
    columns: dict[str, list[Any]]
    comparison: Comparison
    errors: dict[str, MathematicalError]
    notes: dict[str, str]

    @property
    def problems(self) -> dict[str, str]:
        """What does not exist or was left out, and why."""
        return {what: str(error) for what, error in self.errors.items()} | self.notes

    def failures(self, wanted: Sequence[str] = ()) -> list[str]:
        """What makes the model bad input: no values, no weights, or a singular equation.

        A method in ``wanted`` counts whatever keeps it from a fixed point.
        """
        found = [str(error) for error in self.errors.values()]
        for row in self.comparison:
            error = row.errors.get("fixed point")
            if isinstance(error, SingularError) or (error is not None and row.name in wanted):
                found.append(str(error))
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
            "features": problem._ops.Phi.shape[1],
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
            "problems": self.problems,
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
    n, d = problem._ops.Phi.shape
    return n * d <= LARGEST_X[problem.arithmetic]


def analyze(problem: PolicyEvaluation, methods: Sequence[str] = METHODS) -> Analysis:
    """The chain, the values, and the fixed points of a problem.

    Parameters
    ----------
    problem : PolicyEvaluation
    methods : sequence of str
        Names that ``problem.fixed_point`` knows.

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
        n, d = problem._ops.Phi.shape
        wanted = [key for key in COLUMNS if key not in HEAVY]
        notes["X_star"] = (
            f"left out: X* has {n} x {d} {problem.arithmetic} entries; so are {', '.join(HEAVY)}"
        )
    methods = list(methods)
    if not is_small(problem) and "best" in methods:
        methods.remove("best")
    return Analysis(problem, columns, compare(problem, methods, quantities=wanted), errors, notes)


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


def _cell(value: Any) -> str:
    return "open" if value is None else cell_text(value)


def state_cells(analysis: Analysis, most: int) -> list[list[str]]:
    """The table by state as text, a heading first, at most ``most`` states."""
    names = {"xi": "xi", "v_pi": "v_pi", "best": "Pi v_pi", "return_variance": "Var(return)"}
    keys = [k for k in names if k in analysis.columns]
    out = [["state", *(names[k] for k in keys)]]
    for i, s in enumerate(analysis.problem.states[:most]):
        out.append([str(s), *(_cell(analysis.columns[k][i]) for k in keys)])
    return out
