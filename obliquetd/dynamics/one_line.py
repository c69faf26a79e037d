"""The proof of a certificate in one line, where there is one: by the determinant, the trace, and what is between.

det(zI + Q) = z^m + e_1 z^(m-1) + ... + e_m, where e_k is the sum of the principal minors of size k: e_1 is the
trace and e_m the determinant. It is a product of z + q and of z^2 + 2 Re(q) z + |q|^2 over the eigenvalues q of Q,
so if no real part is negative, no e_k is. One e_k < 0 is a proof that some eigenvalue has a negative real part,
and where it is the determinant, that one is real: complex ones come in pairs, whose products are positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from obliquetd.dynamics.check import check_certificate, matrix
from obliquetd.errors import InputError, MathematicalError

__all__ = ["minor_sums", "one_line_proof"]

LARGEST = 12
"""Size of Q up to which its minors are summed."""
LONGEST = 24
"""Letters of a fraction up to which it is written; a longer one is a decimal."""


def one_line_proof(certificate: dict[str, Any]) -> str:
    """A proof of a certificate's verdict in one line, to be followed by hand where that is possible.

    Parameters
    ----------
    certificate : dict
        As ``MeanDynamics.certificate`` returns it, or read from JSON.

    Returns
    -------
    str

    Raises
    ------
    InputError
        For anything but a certificate.
    MathematicalError
        Where the certificate does not prove its claim.

    Examples
    --------
    >>> from obliquetd import TD, domains, mean_dynamics
    >>> one_line_proof(mean_dynamics(domains.two_state("9/10"), TD()).certificate())
    'A = -1/5 < 0'
    >>> one_line_proof(mean_dynamics(domains.two_state("1/2"), TD()).certificate())
    'A = 1 > 0'
    """
    if not isinstance(certificate, Mapping):
        raise InputError(
            f"the certificate is {certificate!r}; expected what mean_dynamics(problem, learner).certificate() gives"
        )
    if not check_certificate(certificate):
        raise MathematicalError(
            f"the certificate does not prove its claim ({certificate.get('claim')})"
        )
    Q = matrix(certificate["quotient"])
    whole = certificate["quotient"] == certificate["A"]
    name = "A" if whole else "Q"
    lines = {"unstable": _unstable, "stable": _stable}.get(certificate["claim"], _other)
    said = lines(Q, name, certificate)
    many = f"{len(Q)} directions" if len(Q) > 1 else "one direction"
    return said if whole else f"{said}; Q is A on the {many} that data moves"


def minor_sums(Q: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """e_1, ..., e_m of the module's preface, by the recursion of Faddeev and LeVerrier.

    Examples
    --------
    >>> [str(e) for e in minor_sums([[Fraction(1), Fraction(2)], [Fraction(3), Fraction(4)]])]
    ['5', '-2']
    """
    m = len(Q)
    found: list[Fraction] = []
    M = [[Fraction(0)] * m for _ in range(m)]
    last = Fraction(1)
    for k in range(1, m + 1):
        M = [[M[i][j] + last * (i == j) for j in range(m)] for i in range(m)]
        M = [
            [sum((Q[i][t] * M[t][j] for t in range(m)), Fraction(0)) for j in range(m)]
            for i in range(m)
        ]
        last = -sum((M[i][i] for i in range(m)), Fraction(0)) / k
        found.append(last if k % 2 == 0 else -last)
    return found


def _unstable(Q: list[list[Fraction]], name: str, certificate: dict[str, Any]) -> str:
    m = len(Q)
    if m == 1:
        return f"{name} = {_number(Q[0][0])} < 0"
    sums = minor_sums(Q) if m <= LARGEST else []
    if sums and sums[-1] < 0:
        return f"det {name} = {_number(sums[-1])} < 0, so one eigenvalue is negative"
    if sums and sums[0] < 0:
        return f"trace {name} = {_number(sums[0])} < 0, so one eigenvalue has a negative real part"
    for k, each in enumerate(sums, 1):
        if each < 0:
            return (
                f"the principal minors of {name} of size {k} sum to {_number(each)} < 0, so one eigenvalue has "
                "a negative real part"
            )
    return (
        f"with K and v of the certificate, {name}'K + K{name} + {_twice(certificate['rate'])}K is positive definite and "
        "v'Kv < 0, so one eigenvalue has a negative real part"
    )


def _twice(rate: str) -> str:
    return _number(2 * Fraction(rate)) + " "


def _stable(Q: list[list[Fraction]], name: str, _certificate: dict[str, Any]) -> str:
    m = len(Q)
    if m == 1:
        return f"{name} = {_number(Q[0][0])} > 0"
    if m == 2:
        trace, det = minor_sums(Q)
        return (
            f"trace {name} = {_number(trace)} > 0 and det {name} = {_number(det)} > 0, so both eigenvalues have "
            "positive real parts"
        )
    return (
        f"K and {name}'K + K{name} are positive definite for the certificate's K, so every eigenvalue has a positive "
        "real part (Lyapunov)"
    )


def _other(_Q: list[list[Fraction]], name: str, certificate: dict[str, Any]) -> str:
    if certificate["claim"] == "singular":
        vector = ", ".join(map(str, certificate["vector"]))
        return f"{name} v = 0 for v = ({vector})"
    return (
        f"K and K - {name}'K{name} are positive definite for the certificate's K, so every eigenvalue is inside "
        "the unit circle (Stein)"
    )


def _number(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else f"{float(value):.6g}"
