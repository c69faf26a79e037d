"""Table I of the paper, recomputed, and what the paper says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from obliquetd.claims.table_one import rounds_to
from obliquetd.claims.two_state import TABLE_1, emphasis_by
from obliquetd.domains import two_state
from obliquetd.errors import InputError
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.compare import compare
from obliquetd.reproduction.evidence import SILENT, Verdict
from obliquetd.reproduction.study import Sentence

__all__ = ["judge_table_1", "table_1"]

QUANTITIES = ("criterion", "distance", "angle")
PRINTED = QUANTITIES[:2]
"""The columns that the paper's table has."""
CONVENTIONS = {
    "limit": "Xi^-1 diag(f), as the limit",
    "example": "diag(f), as printed",
    "X_E": "f = diag(X_E)",
}
"""Of :data:`obliquetd.claims.two_state.DEFINITIONS`, the three things that the paper says of f and
ETD's matrix, and that disagree."""


def table_1(discount: Any = "9/10") -> list[dict[str, Any]]:
    """The rows of Table I: method, convention, printed, criterion, distance, angle, remark.

    What does not exist is None, with the reason as the remark. ETD has three rows, one for each
    of the paper's definitions of its matrix; the printed numbers are those of the second.

    Raises
    ------
    InputError
        For a discount that is a symbol.

    Examples
    --------
    >>> [(row["method"], row["criterion"]) for row in table_1()]
    [('setd', 1/4), ('etd', 81/100), ('etd', 16/25), ('etd', 1), ('td', 729/100)]
    """
    problem = two_state(discount=discount)
    if problem.symbols:
        raise InputError("table1 needs a number for the discount, such as 9/10")
    found = compare(problem, list(TABLE_1), quantities=QUANTITIES)
    rows = []
    for name, printed in TABLE_1.items():
        convention = CONVENTIONS["limit"] if name == "etd" else ""
        row = {"method": name, "convention": convention, "printed": " / ".join(printed)}
        why = "; ".join(found[name].problems.values())
        numbers = {key: found[name].quantities.get(key) for key in QUANTITIES}
        rows.append({**row, **numbers, "remark": why})
        if name == "etd":
            rows += [{**row, **other} for other in _other_definitions(problem)]
    return rows


def _other_definitions(problem: PolicyEvaluation) -> list[dict[str, Any]]:
    """ETD's row where f is the diagonal of Omega_E, and where it is that of X_E."""
    out = []
    for definition in ("example", "X_E"):
        point = problem.fixed_point(Omega=emphasis_by(problem, definition))
        numbers = {key: getattr(point, key) for key in QUANTITIES}
        out.append({"convention": CONVENTIONS[definition], **numbers, "remark": ""})
    return out


def judge_table_1() -> list[Sentence]:
    """What the paper says of Table I, decided exactly.

    Its definitions of ETD's matrix disagree, so a sentence on ETD is decided where each of them
    decides it alike.
    """
    rows = table_1()
    setd = next(row for row in rows if row["method"] == "setd")
    emphatic = [row for row in rows if row["method"] == "etd"]
    out = []
    for name in TABLE_1:
        readings = [row for row in rows if row["method"] == name]
        told = "; ".join(_told(row, PRINTED) for row in readings)
        says = f"{name.upper()}'s row of the table."
        out.append(_exactly(says, [_as_printed(row) for row in readings], told))
    nearer = [all(bool(setd[key] < row[key]) for key in PRINTED) for row in emphatic]
    angles = {float(setd["angle"]) < float(row["angle"]) for row in emphatic}
    nearest = "SETD" if angles == {True} else "ETD" if angles == {False} else "neither"
    told = "; ".join(_told(row, QUANTITIES) for row in (setd, *emphatic))
    remark = (
        f"By criterion and distance, as the table has it: {told}. The angle between the spans, which "
        f"no scaling of X changes, is smaller for {nearest} under every definition."
    )
    out.append(_exactly("SETD does better than ETD in the estimation of X*.", nearer, remark))
    return out


def _told(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    name = row["method"].upper() + (f" ({row['convention']})" if row["convention"] else "")
    return f"{name} has " + ", ".join(f"{key} {float(row[key]):.5g}" for key in keys)


def _as_printed(row: Mapping[str, Any]) -> bool:
    """Whether criterion and distance round to the printed numbers."""
    pairs = zip(row["printed"].split(" / "), PRINTED, strict=True)
    return all(rounds_to(row[key], text) for text, key in pairs)


def _exactly(says: str, readings: list[bool], remark: str) -> Sentence:
    """Holds, or not, where every definition says so; else the paper does not decide it."""
    verdict: Verdict = SILENT
    if len(set(readings)) == 1:
        verdict = "holds" if readings[0] else "does not hold"
    return Sentence("IV, Table I", says, (), f"Exact. {remark}", verdict)
