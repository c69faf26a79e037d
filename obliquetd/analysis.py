"""Everything about one problem, gathered for a table or a JSON file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import cell_text, number_text, serial_number
from obliquetd.compare import COLUMNS, Comparison, compare
from obliquetd.dynamics import MeanDynamics, mean_dynamics
from obliquetd.errors import MathematicalError, ObliqueTDError, SingularError
from obliquetd.learners import Learner
from obliquetd.problem import METHODS, PolicyEvaluation

__all__ = ["Analysis", "analyze", "json_number"]

HEAVY = ("criterion", "distance", "angle", "worst_case")
"""Quantities that need X*, an n by d matrix of long numbers."""
LARGEST_X = {"exact": 2_500, "symbolic": 200, "float": 300_000}
"""Entries of X* up to which they are computed."""


LARGEST_SWEEP = 300_000
"""Evaluations of a rule's inner loop up to which its mean dynamics are derived."""


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
    """

    name: str
    dynamics: MeanDynamics
    numbers: dict[str, Any]
    error: ObliqueTDError | None = None


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
    """

    problem: PolicyEvaluation
    columns: dict[str, list[Any]]
    comparison: Comparison
    learners: tuple[LearnerRow, ...]
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
            "learners": [_learner_data(row) for row in self.learners],
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


def _learner_data(row: LearnerRow) -> dict[str, Any]:
    data: dict[str, Any] = {"learner": row.name, "lam": json_number(row.dynamics.lam)}
    if row.error is not None:
        return {**data, "problem": str(row.error)}
    dyn = row.dynamics
    return {
        **data,
        "A": _rows(dyn.A),
        "b": _vector(dyn.b),
        "theta": _vector(dyn.fixed_point()),
        **{k: json_number(v) for k, v in row.numbers.items()},
    }


def _learner_row(problem: PolicyEvaluation, name: str, learner: Learner) -> LearnerRow:
    dyn = mean_dynamics(problem, learner)
    try:
        v_hat = dyn.v_hat
        gap = [a - b for a, b in zip(v_hat, problem.best, strict=True)]
        return LearnerRow(
            name, dyn, {"rmse": problem.rmse(v_hat), "to_best": problem.weighted_norm(gap)}
        )
    except ObliqueTDError as error:
        return LearnerRow(name, dyn, {}, error)


def analyze(
    problem: PolicyEvaluation,
    methods: Sequence[str] = METHODS,
    learners: Mapping[str, Learner] | None = None,
) -> Analysis:
    """The chain, the values, the fixed points and the learners of a problem.

    Parameters
    ----------
    problem : PolicyEvaluation
    methods : sequence of str
        Names that ``problem.fixed_point`` knows.
    learners : mapping of name to Learner, optional
        Whose expected update is derived from its rule; none unless given.

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
    rows = []
    n_rows, d = len(problem.mdp.table), problem._ops.Phi.shape[1]
    if learners and n_rows * d * d > LARGEST_SWEEP:
        notes["learners"] = (
            f"left out: {n_rows} transitions with {d} features are many for {d + 1} sweeps"
        )
    elif "xi" not in errors:
        rows = [_learner_row(problem, name, learner) for name, learner in (learners or {}).items()]
    comparison = compare(problem, methods, quantities=wanted)
    return Analysis(problem, columns, comparison, tuple(rows), errors, notes)


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


def learner_cells(analysis: Analysis) -> list[list[str]]:
    """The table of learners as text, a heading first; A and b for one feature, theta up to four."""
    d = analysis.problem._ops.Phi.shape[1]
    out = [["learner", *(["A", "b"] if d == 1 else []), *(["theta"] if d <= 4 else [])]]
    out[0] += ["RMSE", "|v - Pi v|"]
    for row in analysis.learners:
        if row.error is None:
            dyn = row.dynamics
            matrices = ([dyn.A, dyn.b] if d == 1 else []) + ([dyn.fixed_point()] if d <= 4 else [])
            numbers = [cell_text(row.numbers[k], 10, beside=False) for k in ("rmse", "to_best")]
            out.append([row.name, *map(_matrix_text, matrices), *numbers])
    return out


def formula_lines(analysis: Analysis) -> list[str]:
    """A symbolic problem as lines of formulas, which no table can hold."""
    out = []
    for i, s in enumerate(analysis.problem.states):
        known = [f"{k} = {_cell(v[i])}" for k, v in analysis.columns.items()]
        out.append(f"state {s}: {', '.join(known)}")
    out += [
        f"{point.name}: theta = ({', '.join(map(number_text, point.theta))})"
        for point in analysis.comparison
        if point.theta is not None
    ]
    for row in analysis.learners:
        if row.error is None and analysis.problem._ops.Phi.shape[1] == 1:
            A, b = (_matrix_text(m) for m in (row.dynamics.A, row.dynamics.b))
            out.append(f"{row.name}, from its rule: A = [{A}], b = [{b}]")
    return out


def _matrix_text(matrix: Any) -> str:
    rows = matrix.tolist()
    rows = rows if isinstance(rows[0], list) else [[x] for x in rows]
    if len(rows[0]) == 1:
        rows = [[row[0] for row in rows]]
    return "; ".join(" ".join(cell_text(x, 8, beside=False) for x in row) for row in rows)


def state_cells(analysis: Analysis, most: int) -> list[list[str]]:
    """The table by state as text, a heading first, at most ``most`` states."""
    names = {"xi": "xi", "v_pi": "v_pi", "best": "Pi v_pi", "return_variance": "Var(return)"}
    keys = [k for k in names if k in analysis.columns]
    out = [["state", *(names[k] for k in keys)]]
    for i, s in enumerate(analysis.problem.states[:most]):
        out.append([str(s), *(_cell(analysis.columns[k][i]) for k in keys)])
    return out
