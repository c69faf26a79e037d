"""Certificates as files that Coq checks.

The file of a certificate holds its matrices A, B and Q and says of them what the certificate claims:

stable      if Qx = ax - by and Qy = ay + bx, x and y not both 0, then a > 0: every eigenvalue a + ib of Q
            has a positive real part (said in real numbers, over any ordered field)
convergent  then a^2 + b^2 < 1
singular    Qx = 0 for some x that is not 0
unstable    no positive definite G has Q'G + GQ nonnegative, so that every such x'Gx rises somewhere along x' = -Qx
            (over any archimedean field, such as the rational or the real numbers)

and with each of them that AB = BQ and that the columns of B are independent: Q is A on the span of B. What
follows for A on that span is said as well. The witnesses (K, rounded anew, and what shows that a matrix is
positive definite, :mod:`obliquetd.dynamics.dominance`) are no part of the statement; one computation in
whole numbers checks them, and the proof that the computation suffices stands at the head of the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from obliquetd.dynamics.check import Rows, check_certificate, fraction, matrix
from obliquetd.dynamics.dominance import Whole, dominant_basis, product, transposed
from obliquetd.errors import InputError, MathematicalError
from obliquetd.kernel import certificate_head

__all__ = ["Witnesses", "certificate_text", "file_of", "witnesses"]

ROUNDINGS = (10, 20, 40, 80)
"""Binary digits of K that are tried."""

CONCLUSIONS = {
    "stable": (
        "realFieldType",
        [
            "forall a b x y, eigenpair Q a b x y -> 0 < a",
            "forall a b x y, eigenpair A a b (B *m x) (B *m y) -> 0 < a",
        ],
        "KVW",
    ),
    "convergent": (
        "realFieldType",
        [
            "forall a b x y, eigenpair Q a b x y -> a ^+ 2 + b ^+ 2 < 1",
            "forall a b x y, eigenpair A a b (B *m x) (B *m y) -> a ^+ 2 + b ^+ 2 < 1",
        ],
        "KVW",
    ),
    "singular": (
        "realFieldType",
        ["exists2 x : 'cV_{n}, x != 0 & Q *m x = 0", "exists2 x : 'cV_{d}, x != 0 & A *m x = 0"],
        "v",
    ),
    "unstable": (
        "archiFieldType",
        [
            "forall G, positive G -> ~ (forall x, 0 <= form (fall Q G) x x)",
            "forall G, positive G -> ~ (forall x, 0 <= form (fall A G) x x)",
        ],
        "KefvW",
    ),
}
"""Of each claim: over which fields, what is said beside the restriction, and the witnesses' order."""


@dataclass(frozen=True)
class Witnesses:
    """What a file holds, in whole numbers.

    Attributes
    ----------
    claim : str
    A, a, B, b, Q : list of rows, int
        The matrices A / a, B / b and Q / a.
    C : list of rows
        C B is diagonal without a 0.
    evidence : dict
        By letter: K symmetric; V and W, which show that K and the claim's form are positive definite;
        e / f, the rate; v, one row.
    """

    claim: str
    A: Whole
    a: int
    B: Whole
    b: int
    Q: Whole
    C: Whole
    evidence: dict[str, Whole | int] = field(default_factory=dict)


def certificate_text(certificate: dict[str, Any]) -> str:
    """The file of a certificate, for Coq.

    Parameters
    ----------
    certificate : dict
        As ``MeanDynamics.certificate`` returns it, or read from JSON.

    Raises
    ------
    InputError
        Where the certificate does not prove its claim.

    Examples
    --------
    >>> good = {"claim": "stable", "A": [["2"]], "basis": [["1"]], "quotient": [["2"]], "K": [["1/4"]]}
    >>> text = certificate_text(good)
    >>> "forall a b x y, eigenpair Q a b x y -> 0 < a" in text
    True

    ``obliquetd.kernel.check_text(text)`` has Coq check it.
    """
    return file_of(witnesses(certificate))


def witnesses(certificate: dict[str, Any]) -> Witnesses:
    """The numbers of a certificate's file."""
    if not check_certificate(certificate):
        raise InputError(
            "the certificate does not prove its claim, so there is no proof to write; "
            "obliquetd.check_certificate says whether one does"
        )
    claim = certificate["claim"]
    A, B, Q = (matrix(certificate[key]) for key in ("A", "basis", "quotient"))
    a = _common([*A, *Q])
    b = _common(B)
    whole_B = _times(B, b)
    parts = (claim, _times(A, a), a, whole_B, b, _times(Q, a), _left_inverse(whole_B))
    if claim == "singular":
        vector = [[fraction(x) for x in certificate["vector"]]]
        return Witnesses(*parts, {"v": _times(vector, _common(vector))})
    rate = fraction(certificate.get("rate", "0")) if claim == "unstable" else Fraction(0)
    for K in _rounded(matrix(certificate["K"])):
        form = _form(claim, parts[5], a, K, rate)
        W = dominant_basis(form)
        if W is None:
            continue
        if claim == "unstable":
            for v in _vectors([fraction(x) for x in certificate["vector"]]):
                if product(product([v], K), transposed([v]))[0][0] < 0:
                    e, f = rate.numerator, rate.denominator
                    return Witnesses(*parts, {"K": K, "e": e, "f": f, "v": [v], "W": W})
        elif (V := dominant_basis(K)) is not None:
            return Witnesses(*parts, {"K": K, "V": V, "W": W})
    raise MathematicalError("no witness was found for a certificate that proves its claim")


def _form(claim: str, Q: Whole, a: int, K: Whole, rate: Fraction) -> Whole:
    """The form that has to be positive definite, times a whole number; the matrix is Q / a."""
    n = len(Q)
    if claim == "convergent":
        after = product(product(transposed(Q), K), Q)
        return [[a * a * K[i][j] - after[i][j] for j in range(n)] for i in range(n)]
    KQ = product(K, Q)
    e, f = rate.numerator, rate.denominator
    return [[f * (KQ[i][j] + KQ[j][i]) + 2 * a * e * K[i][j] for j in range(n)] for i in range(n)]


def _rounded(K: Rows) -> Iterator[Whole]:
    """A multiple of K in whole numbers: with few digits first, exactly at last."""
    size = max(abs(x) for row in K for x in row) or Fraction(1)
    for bits in ROUNDINGS:
        yield [[round(x / size * 2**bits) for x in row] for row in K]
    yield _times(K, _common(K))


def _vectors(v: list[Fraction]) -> Iterator[list[int]]:
    yield from (row for (row,) in _rounded([v]))


def _common(rows: Rows) -> int:
    """The least number that makes all entries whole."""
    return math.lcm(*(x.denominator for row in rows for x in row))


def _times(rows: Rows, c: int) -> Whole:
    return [[int(x * c) for x in row] for row in rows]


def _left_inverse(B: Whole) -> Whole:
    """C with C B diagonal and no 0 on it: rows that make B's independent rows the identity, times a number each."""
    n = len(B[0])
    rows = [[*map(Fraction, r), *(Fraction(int(i == j)) for j in range(len(B)))] for i, r in enumerate(B)]  # fmt: skip
    for k in range(n):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        head = rows[k][k]
        rows[k] = [x / head for x in rows[k]]
        for i, other in enumerate(rows):
            if i != k and other[k]:
                factor = other[k]
                rows[i] = [x - factor * y for x, y in zip(other, rows[k], strict=True)]
    found = [row[n:] for row in rows[:n]]
    return [[int(x * c) for x in row] for row in found for c in [_common([row])]]


def file_of(numbers: Witnesses) -> str:
    """The file that says what is claimed of the numbers; whether it holds, Coq finds."""
    claim, d, n = numbers.claim, len(numbers.A), len(numbers.Q)
    field_type, said, order = CONCLUSIONS[claim]
    tables = {"A": numbers.A, "B": numbers.B, "Q": numbers.Q, "C": numbers.C}
    tables |= {k: v for k, v in numbers.evidence.items() if isinstance(v, list)}
    given = {key: f"{key}_numbers" for key in tables}
    given |= {k: _number(v) for k, v in numbers.evidence.items() if isinstance(v, int)}
    arguments = [
        str(d), str(n), given["A"], _number(numbers.a), given["B"], _number(numbers.b),
        given["Q"], given["C"], *(given[key] for key in order),
    ]  # fmt: skip
    conclusion = ",\n      ".join(said[:-1]).format(n=n, d=d)
    last = said[-1].format(n=n, d=d)
    return "\n".join(
        [
            certificate_head(claim),
            f"(* The certificate. A is {d} by {d}, for the mean step x' = {'A x' if claim == 'convergent' else 'b - A x'}; B has {n} independent columns, and Q is",
            "   A on their span: AB = BQ. Whose matrix A is, and that every weight that moves does so in that span, no",
            "   file can say: obliquetd.check_certificate computes both anew from a problem and a learner. *)",
            *(f"Definition {given[key]} : table := {_table(rows)}." for key, rows in tables.items()),
            "",
            f"Theorem {claim}_certificate (R : {field_type}) :",
            f"  let A := fractions R {d} {d} A_numbers {_number(numbers.a)} in",
            f"  let B := fractions R {d} {n} B_numbers {_number(numbers.b)} in",
            f"  let Q := fractions R {n} {n} Q_numbers {_number(numbers.a)} in",
            "  [/\\ restriction A B Q,",
            f"      {conclusion}",
            f"    & {last}].",
            "Proof.",
            f"refine (@{claim}_sound R {' '.join(arguments)} _).",
            "vm_cast_no_check (erefl true).",
            "Qed.",
            f"Print Assumptions {claim}_certificate.",
            "",
        ]
    )  # fmt: skip


def _number(x: int) -> str:
    return f"({x})%Z"


def _table(rows: Whole) -> str:
    lines = ";\n  ".join("[:: " + "; ".join(map(str, row)) + "]" for row in rows)
    return f"([::\n  {lines}])%Z"
