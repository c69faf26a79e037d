"""Table I of the paper, recomputed, and what its claims say of the sentences around it."""

from __future__ import annotations

from typing import Any

from obliquetd.claims import verify
from obliquetd.claims.two_state import TABLE_1, printed_convention
from obliquetd.compare import compare
from obliquetd.domains import two_state
from obliquetd.errors import InputError
from obliquetd.reproduction.evidence import Verdict
from obliquetd.reproduction.study import Sentence

__all__ = ["judge_stability", "judge_table_1", "table_1"]

QUANTITIES = ("criterion", "distance", "angle")
VERDICTS: dict[str, Verdict] = {
    "proved": "holds",
    "verified": "holds",
    "refuted": "does not hold",
    "corrected": "does not hold",
    "open": "cannot be decided",
}
"""What a claim's verdict makes of a sentence; a number that has to be corrected does not hold."""

TABLE_SENTENCES = {
    "table-1-setd": "SETD's row of the table.",
    "table-1-etd": "ETD's row of the table.",
    "table-1-td": "TD's row of the table.",
    "setd-better-by-criterion": "SETD is nearer to X* than ETD, by the criterion.",
    "setd-better-by-distance": "SETD is nearer to X* than ETD, by the distance.",
    "setd-better-by-angle": "SETD is nearer to X* than ETD, by the angle.",
}


def table_1(discount: Any = "9/10") -> list[dict[str, Any]]:
    """The rows of Table I: method, convention, printed, criterion, distance, angle, remark.

    What does not exist is None, with the reason as the remark. ETD has two rows: by the definition of its matrix, and by the convention that reproduces the
    printed numbers.

    Raises
    ------
    InputError
        For a discount that is a symbol.

    Examples
    --------
    >>> [(row["method"], row["criterion"]) for row in table_1()]
    [('setd', 1/4), ('etd', 81/100), ('etd', 16/25), ('td', 729/100)]
    """
    problem = two_state(discount=discount)
    if problem.symbols:
        raise InputError("table1 needs a number for the discount, such as 9/10")
    found = compare(problem, list(TABLE_1), quantities=QUANTITIES)
    by_print = problem.fixed_point(Omega=printed_convention(problem))
    rows = []
    for name, printed in TABLE_1.items():
        convention = "Xi^-1 diag(f), as defined" if name == "etd" else ""
        row = {"method": name, "convention": convention, "printed": " / ".join(printed)}
        why = "; ".join(found[name].problems.values())
        numbers = {key: found[name].quantities.get(key) for key in QUANTITIES}
        rows.append({**row, **numbers, "remark": why})
        if name == "etd":
            numbers = {key: getattr(by_print, key) for key in QUANTITIES}
            rows.append({**row, "convention": "diag(f), as printed", **numbers, "remark": ""})
    return rows


def judge_table_1() -> list[Sentence]:
    """The sentences on Table I, decided exactly by the claims."""
    return [_decided("IV-C, Table I", claim, says) for claim, says in TABLE_SENTENCES.items()]


def judge_stability() -> list[Sentence]:
    """The summary's first point, decided by a counterexample with a certificate."""
    return [
        _decided("V, last paragraph", "setd-off-policy-stable", "SETD is off-policy convergent.")
    ]


def _decided(where: str, claim: str, says: str) -> Sentence:
    (result,) = verify([claim])
    remark = f"Exact: claim {claim} is {result.verdict}. {result.evidence}"
    return Sentence(where, says, (), remark, VERDICTS[result.verdict])
