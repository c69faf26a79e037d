"""Stability in floats, proved for every matrix that the data may have meant.

What rounding did to the data and to Q since is bounded entry by entry
(:class:`obliquetd.dynamics.scalars.Rounded`), so that a Q that is nothing but rounding noise is never
called stable. The verdict holds for all matrices within some times that bound: one Lyapunov matrix, or
balls that hold the eigenvalues, prove it (:mod:`obliquetd.algebra.enclosures`). It is too close to call
where neither does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.enclosures import side_within
from obliquetd.algebra.rounding import EPS
from obliquetd.dynamics.stability import Stability

__all__ = ["float_definiteness", "float_stability"]

Floats = npt.NDArray[Any]

SAFETY = 4.0


def float_stability(Q: FloatMatrix, form: Matrix, kernel_dimension: int) -> Stability:
    """The verdict for Q, known to within its error; undecided where that leaves it open."""
    from scipy.linalg import matrix_balance

    with np.errstate(all="ignore"):
        balanced, scaling = matrix_balance(Q.dense(), permute=False, separate=True)
        scale = scaling[0]
        error = Q.error * scale[None, :] / scale[:, None]
    error = np.where(np.isfinite(error), error, np.inf)
    margin = float(np.linalg.eigvals(balanced).real.min())
    side = side_within(balanced, SAFETY * error)
    verdict = {1: "stable", -1: "unstable", None: "undecided"}[side]
    note = ("too close to call in floats; use arithmetic='exact'",) if side is None else ()
    return Stability(verdict, kernel_dimension, float_definiteness(form), margin, note)


def float_definiteness(form: Matrix) -> str:
    """Of the symmetric part, scaled to a unit diagonal, which changes no sign."""
    assert isinstance(form, FloatMatrix)
    twice = form + form.T
    S, E = twice.dense() / 2, twice.dense_error() / 2
    with np.errstate(all="ignore"):
        scale: Any = 1 / np.sqrt(np.abs(np.diag(S)))
        scale = np.where(np.isfinite(scale), scale, 1.0)
        S, E = (M * scale[:, None] * scale[None, :] for M in (S, E))
    if not np.isfinite(E).all():
        return "unknown"
    least = float(np.linalg.eigvalsh(S).min())
    band = float(np.linalg.norm(E)) + len(S) * EPS * float(np.linalg.norm(S))
    return "positive definite" if least > band else "indefinite" if least < -band else "unknown"
