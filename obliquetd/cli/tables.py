"""An analysis as tables and lines of text."""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from obliquetd.algebra import cell_text, number_text
from obliquetd.dynamics.stability import Stability
from obliquetd.report.analysis import Analysis, LearnerRow

__all__ = ["formula_lines", "learner_cells", "stability_cells", "stability_text", "state_cells"]


def _cell(value: Any) -> str:
    return "open" if value is None else cell_text(value)


def learner_cells(analysis: Analysis) -> list[list[str]]:
    """The table of learners as text, a heading first; A and b for one feature, theta up to four."""
    d = analysis.problem.native.Phi.shape[1]
    out = [["learner", *(["A", "b"] if d == 1 else []), *(["theta"] if d <= 4 else [])]]
    out[0] += ["RMSE", "|v - Pi v|"]
    for row in analysis.learners:
        if row.error is None:
            dyn = row.dynamics
            matrices = ([dyn.A, dyn.b] if d == 1 else []) + ([dyn.fixed_point()] if d <= 4 else [])
            numbers = [cell_text(row.numbers[k], 10, beside=False) for k in ("rmse", "to_best")]
            out.append([row.name, *map(_matrix_text, matrices), *numbers])
    return out


def stability_cells(analysis: Analysis) -> list[list[str]]:
    """The table of verdicts as text, a heading first."""
    out = [["learner", "expected update", "constant step sizes"]]
    out += [
        [row.name, row.verdict, _limit_text(row)]
        for row in analysis.learners
        if row.stability is not None
    ]
    return out


def _limit_text(row: LearnerRow) -> str:
    """The step sizes that are stable in mean square, in words."""
    limit = row.limit
    if limit is None:
        return "not computed" + (" (a trace)" if row.dynamics.learner.has_memory else "")
    if limit in (0, math.inf, sp.oo):
        return "none is stable" if limit == 0 else "all are stable"
    return f"stable below {cell_text(limit, 8, beside=False)}"


def formula_lines(analysis: Analysis) -> list[str]:
    """A symbolic problem as lines of formulas, which no table can hold."""
    out = []
    for i, s in enumerate(analysis.problem.states):
        known = [f"{k} = {_cell(v[i])}" for k, v in analysis.columns.items()]
        out.append(f"{analysis.problem.native.noun} {s}: {', '.join(known)}")
    out += [
        f"{point.name}: theta = ({', '.join(map(number_text, point.theta))})"
        for point in analysis.comparison
        if point.theta is not None
    ]
    for row in analysis.learners:
        if row.error is None and analysis.problem.native.Phi.shape[1] == 1:
            A, b = (_matrix_text(m) for m in (row.dynamics.A, row.dynamics.b))
            out.append(f"{row.name}, from its rule: A = [{A}], b = [{b}]")
        if row.stability is not None:
            out.append(f"{row.name} is {stability_text(row.stability)}")
    return out


def stability_text(stability: Stability) -> str:
    """The verdict in words, with its condition where that depends on symbols and fits a line."""
    conditions = [x for x in stability.condition if isinstance(x, sp.Basic)]
    if not conditions:
        return stability.verdict
    text = "stable where " + " and ".join(f"{number_text(c)} > 0" for c in conditions)
    return text if len(text) <= 300 else f"stable on a condition of {len(text)} characters"


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
    out = [[analysis.problem.native.noun, *(names[k] for k in keys)]]
    for i, s in enumerate(analysis.problem.states[:most]):
        out.append([str(s), *(_cell(analysis.columns[k][i]) for k in keys)])
    return out
