"""An analysis as tables and lines of text."""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from obliquetd.algebra import cell_text
from obliquetd.dynamics import MeanDynamics
from obliquetd.dynamics.stability import Stability
from obliquetd.errors import MathematicalError, NotUniqueError
from obliquetd.report.analysis import Analysis
from obliquetd.report.plain import formula_text, plain_cell
from obliquetd.report.verdicts import LearnerRow, condition_text

__all__ = [
    "NO_BOUND",
    "formula_lines",
    "learner_cells",
    "stability_cells",
    "stability_text",
    "state_cells",
    "verdict_lines",
]

NAMES = {"xi": "xi", "v_pi": "v_pi", "best": "Pi v_pi", "return_variance": "Var(return)"}
"""What is known of a state, as it is headed."""
NO_BOUND = "no bound is known"
"""In place of a step size for a learner with a trace."""


def _cell(value: Any) -> str:
    return "open" if value is None else plain_cell(value)


def learner_cells(analysis: Analysis) -> list[list[str]]:
    """The table of learners as text, a heading first; A and b for one feature, theta up to four."""
    d = analysis.problem.native.Phi.shape[1]
    out = [["learner", *(["A", "b"] if d == 1 else []), *(["theta"] if d <= 4 else [])]]
    out[0] += ["RMSE", "|v - Pi v|"]
    for row in analysis.learners:
        known = row.matrices
        if known is None:
            continue
        cells = [*map(_matrix_text, known)] if d == 1 else []
        if d <= 4:
            cells.append(
                _matrix_text(row.dynamics.fixed_point()) if row.error is None else _none(row.error)
            )
        cells += [row.number_text(k) for k in ("rmse", "to_best")]
        out.append([row.name, *cells])
    return out


def _none(error: Exception) -> str:
    """In place of a fixed point."""
    return "many" if isinstance(error, NotUniqueError) else "none"


def verdict_lines(analysis: Analysis) -> list[tuple[str, str]]:
    """The verdict on each learner, and it in words: those of one verdict together, conditions apart."""
    together: dict[str, list[str]] = {}
    undecided: dict[str, list[str]] = {}
    apart = []
    for row in analysis.learners:
        if row.over is not None and row.over.where:
            apart.append((row.verdict, f"{row.name} is {row.over.verdict} {row.over.where}"))
        elif row.stability is None:
            why = (
                str(row.error)
                if row.error is not None
                else "not decided, since it has many weights"
            )
            undecided.setdefault(why, []).append(row.name)
        elif row.stability.condition:
            apart.append((row.verdict, f"{row.name} is {stability_text(row.stability)}"))
        else:
            together.setdefault(row.verdict, []).append(row.name)
    told = [(verdict, f"{verdict}: {', '.join(names)}") for verdict, names in together.items()]
    told += [("undecided", f"undecided: {', '.join(x)}: {why}") for why, x in undecided.items()]
    return sorted(told) + apart


def stability_cells(analysis: Analysis) -> list[list[str]]:
    """The table of verdicts as text, a heading first."""
    out = [["learner", "expected update", "constant step sizes"]]
    out += [
        [row.name, row.verdict, _limit_text(row)]
        for row in analysis.learners
        if row.stability is not None or row.over is not None
    ]
    return out


def _limit_text(row: LearnerRow) -> str:
    """The step sizes that are stable in mean square, in words."""
    limit = row.limit
    if limit is None and row.bound is not None:
        return f"stable below {row.bound} (certified bound)" if row.bound else NO_BOUND
    if limit is None:
        return NO_BOUND if row.no_bound else "not computed"
    if limit in (0, math.inf, sp.oo):
        return "none is stable" if limit == 0 else "all are stable"
    return f"stable below {cell_text(limit, 8)}"


def formula_lines(analysis: Analysis) -> list[str]:
    """A symbolic problem as lines of formulas, which no table can hold."""
    out = []
    for i, s in enumerate(analysis.problem.states):
        known = [f"{NAMES[k]} = {_cell(v[i])}" for k, v in analysis.columns.items()]
        out.append(f"{analysis.problem.native.noun} {s}: {', '.join(known)}")
    out += [
        f"{point.name}, by its formula: theta = ({', '.join(map(formula_text, point.theta))})"
        for point in analysis.comparison
        if point.theta is not None
    ]
    for row in analysis.learners:
        if analysis.problem.native.Phi.shape[1] > 1:
            continue
        several = len(row.cases) > 1
        for case in row.cases:
            A, b = map(_matrix_text, (case.value.A, case.value.b))
            where = f" where {formula_text(case.condition)}" if several else ""
            out.append(
                f"{row.name}, from its rule{where}: A = [{A}], b = [{b}]{_theta(case.value)}"
            )
    if analysis.noise is not None:
        heading, *rows = analysis.noise.cells(width=60)
        for name, noise, *cells in rows:
            cells = [x if len(x) <= 200 else f"a formula of {len(x)} characters" for x in cells]
            told = "; ".join(f"{of} {x}" for of, x in zip(heading[2:], cells, strict=True))
            out.append(f"noise of {name}: {noise}; {told}")
    return out


def _theta(dynamics: MeanDynamics) -> str:
    """The fixed point as the end of a line; empty where there is none."""
    try:
        return f", theta = [{_matrix_text(dynamics.fixed_point())}]"
    except MathematicalError:
        return ""


def stability_text(stability: Stability) -> str:
    """The verdict in words, with its condition where that depends on symbols and fits a line."""
    conditions = [x for x in stability.condition if isinstance(x, sp.Basic)]
    if not conditions:
        return stability.verdict
    return condition_text(stability)


def _matrix_text(matrix: Any) -> str:
    rows = matrix.tolist()
    rows = rows if isinstance(rows[0], list) else [[x] for x in rows]
    if len(rows[0]) == 1:
        rows = [[row[0] for row in rows]]
    return "; ".join(_row_text([plain_cell(x, 8) for x in row]) for row in rows)


def _row_text(cells: list[str]) -> str:
    """Numbers beside each other; formulas have spaces of their own and need commas."""
    return (", " if any(" " in x for x in cells) else " ").join(cells)


def state_cells(analysis: Analysis, most: int) -> list[list[str]]:
    """The table by state as text, a heading first, at most ``most`` states."""
    keys = [k for k in NAMES if k in analysis.columns]
    out = [[analysis.problem.native.noun, *(NAMES[k] for k in keys)]]
    for i, s in enumerate(analysis.problem.states[:most]):
        out.append([str(s), *(_cell(analysis.columns[k][i]) for k in keys)])
    return out
