"""Whether an iteration in the metric of the features reaches the root of A theta = b.

On the span of the features of visited states, with C = Phi' Xi Phi,

    LSPE   theta <- theta + alpha C^-1 (b - A theta)   |1 - alpha mu| < 1 for every eigenvalue mu of C^-1 A
    FPKF   theta'  = C^-1 (b - A theta)                Re mu > 0

Since |1 - alpha mu| < 1 exactly where Re(2 / (alpha mu) - 1) > 0, both are decided by Routh's table
of a characteristic polynomial, exactly: of 2/alpha A^-1 C - I, and of C^-1 A.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import sympy as sp

from obliquetd.algebra import Arithmetic, FieldArithmetic, Matrix, parse_number
from obliquetd.algebra.rounding import EIGENVALUE
from obliquetd.dynamics.stability import verdict_on
from obliquetd.errors import MathematicalError, SignUndecidedError, SingularError
from obliquetd.estimators.base import Equation

__all__ = ["require_contraction", "require_stable_flow"]


def require_stable_flow(equation: Equation, label: str) -> None:
    """MathematicalError where theta' = C^-1 (b - A theta) does not lead to its root."""
    C, Q = _restricted(equation, label)
    G = C.solve(Q, "C")
    if G.rank() < G.shape[0]:
        return  # many roots or none, which the solve says
    if G.arithmetic.kind == "float":
        least = float(np.linalg.eigvals(_floats(G)).real.min(initial=np.inf))
        stable = _beyond(least, np.abs(_floats(G)).max(initial=0.0), label)
    else:
        stable = _all_right(G, label)
    if not stable:
        raise MathematicalError(
            f"{label} does not converge here: C^-1 A has the eigenvalue {_worst(G):.4g}, whose real part is "
            "not positive. LSTD finds the same fixed point without an iteration"
        )


def require_contraction(equation: Equation, alpha: Any, label: str) -> None:
    """MathematicalError where theta <- theta + alpha C^-1 (b - A theta) does not converge.

    Parameters
    ----------
    equation : Equation
    alpha : number
        As ``parse_number`` returned it.
    label : str
    """
    C, Q = _restricted(equation, label)
    if Q.rank() < Q.shape[0]:
        return  # many roots or none, which the solve says
    if isinstance(alpha, sp.Basic) and isinstance(Q.arithmetic, FieldArithmetic):
        field = FieldArithmetic({*Q.arithmetic.symbols, *alpha.free_symbols})
        C, Q = _over(C, field), _over(Q, field)
    arithmetic = Q.arithmetic
    size = arithmetic.scalar(alpha)
    if arithmetic.kind == "float":
        values = np.linalg.eigvals(_floats(C.solve(Q, "C")))
        modulus = float(np.abs(1 - size * values).max(initial=0.0))
        converges = _beyond(1 - modulus, 1.0, label)
    else:
        two = (arithmetic.one + arithmetic.one) / size
        converges = _all_right(Q.solve(C, "A").scaled(two) - arithmetic.identity(Q.shape[0]), label)
    if not converges:
        _refuse(C.solve(Q, "C"), size, label)


def _refuse(G: Matrix, alpha: Any, label: str) -> NoReturn:
    values = np.linalg.eigvals(_floats(G))
    modulus = float(np.abs(1 - _float(G.arithmetic, alpha) * values).max())
    limit = float((2 * values.real / np.abs(values) ** 2).min())
    way = (
        f"A smaller step size does: LSPE(alpha={limit / 2:.2g})"
        if limit > 0
        else "No step size does; LSTD finds the same fixed point without an iteration"
    )
    raise MathematicalError(
        f"{label} does not converge here: I - alpha C^-1 A has an eigenvalue of modulus {modulus:.4g}, "
        f"which is not below 1. {way}"
    )


def _restricted(equation: Equation, label: str) -> tuple[Matrix, Matrix]:
    """C and A on the span of the features of visited states, which no update leaves."""
    C, A = equation.ops.C, equation.A
    outside = C.null_space()
    if outside.shape[1] and not (A @ outside).cleaned().is_zero():
        raise SingularError(
            f"C = Phi' Xi Phi is singular, so {label} does not move all weights, and A depends on those "
            "that stay. Leave xi out, or give positive weights to all states that others lead to",
            outside.public(),
        )
    basis = C.column_basis()
    return basis.T @ C @ basis, basis.T @ A @ basis


def _all_right(matrix: Matrix, label: str) -> bool:
    """Whether all eigenvalues have a positive real part; no floats."""
    if not matrix.shape[0]:
        return True
    verdict, conditions = verdict_on(matrix)
    if verdict != "undecided":
        return verdict == "stable"
    if any(c.is_nonpositive for c in conditions):
        return False
    if conditions:
        raise SignUndecidedError(
            f"{label} converges where {' and '.join(f'{c} > 0' for c in conditions)}; put numbers in place "
            "of the symbols, or ask for the fixed point of LSTD, which is the same under no condition",
            conditions,
        )
    return True


def _beyond(value: float, size: float, label: str) -> bool:
    """Whether a float is above 0; SignUndecidedError where rounding decides."""
    if abs(value) <= EIGENVALUE * max(size, 1.0):
        raise SignUndecidedError(
            f"whether {label} converges is too close to call in floats; use arithmetic='exact'"
        )
    return value > 0


def _worst(G: Matrix) -> Any:
    values = np.linalg.eigvals(_floats(G))
    worst = complex(values[values.real.argmin()])
    return worst if worst.imag else worst.real


def _over(matrix: Matrix, field: FieldArithmetic) -> Matrix:
    rows = [
        [field.scalar(parse_number(matrix.arithmetic.public(x))) for x in row]
        for row in matrix.rows()
    ]
    return field.matrix(rows, matrix.shape)


def _float(arithmetic: Arithmetic, scalar: Any) -> float:
    return float(arithmetic.public(scalar))


def _floats(matrix: Matrix) -> Any:
    return np.array([[_float(matrix.arithmetic, x) for x in row] for row in matrix.rows()])
