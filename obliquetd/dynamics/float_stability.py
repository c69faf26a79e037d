"""Stability in floats: eigenvalues, and how far rounding may have moved each.

To first order, a change of Q by at most E, entry by entry, moves a simple eigenvalue with
right and left eigenvectors x and y by at most |y|'E|x| / |y'x| (Wilkinson 1965). E is what
rounding did to the data and to Q since (:class:`obliquetd.dynamics.scalars.Rounded`), so that
a Q that is nothing but rounding noise is never called stable. Where the eigenvalues as
computed in floats are too rough for that, they are computed with 50 digits.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.rounding import EPS
from obliquetd.dynamics.stability import Stability

__all__ = ["float_stability"]

Floats = npt.NDArray[Any]

SAFETY = 4.0
DIGITS = 50
LARGEST_PRECISE = 16
"""Size of Q up to which eigenvalues are computed with more digits, where floats are too few."""


def float_stability(Q: FloatMatrix, form: Matrix, kernel_dimension: int) -> Stability:
    """The verdict for Q, known to within its error; undecided where that leaves it open."""
    from scipy.linalg import matrix_balance

    with np.errstate(all="ignore"):
        balanced, scaling = matrix_balance(Q.dense(), permute=False, separate=True)
        scale = scaling[0]
        error = Q.error * scale[None, :] / scale[:, None]
    error = np.where(np.isfinite(error), error, np.inf)
    verdict, margin = "undecided", float(np.linalg.eigvals(balanced).real.min())
    if np.isfinite(error).all():
        verdict, margin = _judged(*_in_floats(balanced, error))
        if verdict == "undecided" and len(balanced) <= LARGEST_PRECISE:
            verdict, margin = _judged(*_precisely(balanced, error))
    note = (
        ("too close to call in floats; use arithmetic='exact'",) if verdict == "undecided" else ()
    )
    return Stability(verdict, kernel_dimension, _definiteness(form), margin, note)


def _judged(real_parts: Floats, bands: Floats) -> tuple[str, float]:
    margin = float(real_parts.min())
    if (real_parts > SAFETY * bands).all():
        return "stable", margin
    return ("unstable" if (real_parts < -SAFETY * bands).any() else "undecided"), margin


def _in_floats(Q: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Real parts of the eigenvalues, and a bound on what rounding did to each."""
    from scipy.linalg import eig

    found: Any = eig(Q, left=True, right=True)
    values, left, right = found
    backward = len(Q) * EPS * math.hypot(*Q.ravel())  # numpy's norm squares what may be 1e200
    with np.errstate(all="ignore"):
        moved = np.einsum("ik,ij,jk->k", np.abs(left), error + backward, np.abs(right))
        bands = moved / np.abs(np.einsum("ik,ik->k", left.conj(), right))
    return values.real, np.where(np.isfinite(bands), bands, np.inf)


def _precisely(Q: Floats, error: Floats) -> tuple[Floats, Floats]:
    """:func:`_in_floats` with :data:`DIGITS` digits of the smallest entry.

    Their own rounding counts too: where A has a block of zeros (GTD2 and TDC), the bounds on its
    entries say nothing of an eigenvalue 0 of that structure, which comes out as 1e-53, of either sign.
    """
    sizes = np.log10(np.abs(Q[Q != 0]))
    with mpmath.workdps(DIGITS + int(np.ptp(sizes) if sizes.size else 0)):
        own = len(Q) * mpmath.eps * mpmath.mnorm(mpmath.matrix(Q.tolist()), "f")
        try:
            values, left, right = mpmath.eig(mpmath.matrix(Q.tolist()), left=True, right=True)
        except (RuntimeError, ZeroDivisionError):
            return np.zeros(1), np.full(1, np.inf)
        bands = []
        m = len(Q)
        for k in range(m):
            size = abs(mpmath.fsum(left[k, i] * right[i, k] for i in range(m)))
            moved = mpmath.fsum(
                abs(left[k, i]) * (error[i, j] + own) * abs(right[j, k])
                for i in range(m)
                for j in range(m)
            )
            bands.append(float(moved / size) if size else np.inf)
        return np.array([float(v.real) for v in values]), np.array(bands)


def _definiteness(form: Matrix) -> str:
    """Of the symmetric part, scaled to a unit diagonal, which changes no sign."""
    assert isinstance(form, FloatMatrix)
    twice = form + form.T
    S, E = twice.dense() / 2, np.asarray(twice.error) / 2
    with np.errstate(all="ignore"):
        scale: Any = 1 / np.sqrt(np.abs(np.diag(S)))
        scale = np.where(np.isfinite(scale), scale, 1.0)
        S, E = (M * scale[:, None] * scale[None, :] for M in (S, E))
    if not np.isfinite(E).all():
        return "unknown"
    least = float(np.linalg.eigvalsh(S).min())
    band = float(np.linalg.norm(E)) + len(S) * EPS * float(np.linalg.norm(S))
    return "positive definite" if least > band else "indefinite" if least < -band else "unknown"
