"""Spans of columns in floats, and angles between them, with what rounding may have turned them by.

span(X*) for X* = L'^-1 Xi Phi is that of X* T for every regular T. As the discount nears 1, each column of X* nears one
and the same direction, times 1 / (1 - gamma): what tells the columns apart is rounding beside it. So X* is solved for
anew with columns Xi Phi T that take it out of all but one, until no column hides another.

Unit columns that are off by E turn their span by no more than |E| / s, s their least singular value, to first order
(Wedin 1983, "On angles between subspaces of a finite dimensional inner product space").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.accuracy import warn_of_few_digits
from obliquetd.algebra.rounding import EPS, SAFETY, power_of_two
from obliquetd.algebra.tall import column_sizes
from obliquetd.problem.native import Operators

__all__ = ["float_angle", "spanning_X_star"]

PASSES = 3
"""Each squares away what the last one left: after so many, only the data are in doubt."""
APART = 0.1
"""Columns of size one with this least singular value are told apart well enough."""
ENOUGH = 1e-6
"""An angle that is not told from 0 is 0 to so much of a radian, or there is a warning."""


def spanning_X_star(ops: Operators) -> Matrix:
    """Columns that span what those of X* do; X* itself unless floats."""
    X = ops.X_star
    if not isinstance(X, FloatMatrix) or ops.row_space is not None:
        return X
    T = np.eye(X.shape[1])
    for _ in range(PASSES):
        assert isinstance(X, FloatMatrix)
        sizes = column_sizes(X.array)
        if not (np.isfinite(sizes).all() and sizes.all()):
            break
        sizes = power_of_two(sizes)
        _, s, turned = np.linalg.svd(X.dense() / sizes, full_matrices=False)
        if s[-1] > APART or not s[-1]:
            break
        T = (T / sizes) @ (turned.T / s)
        X = ops.transposed_sum(ops.Xi_Phi @ FloatMatrix(T, error=0.0))
    return X


def float_angle(X: FloatMatrix, Y: FloatMatrix) -> float:
    """The largest principal angle, and a PrecisionWarning where it has few digits.

    It is found from sines and from cosines, whichever is the smaller (Knyazev and Argentati 2002). One that
    rounding does not tell from 0 is not warned of: :mod:`obliquetd.problem.rounding` has its bound.
    """
    from scipy.linalg import subspace_angles

    (U, turned), (V, also) = _basis(X), _basis(Y)
    bound = turned + also
    if U.shape[1] != V.shape[1]:
        angle = math.pi / 2
    else:
        angle = float(subspace_angles(U, V)[0]) if U.shape[1] else 0.0
    hidden = angle <= SAFETY * bound <= ENOUGH
    if not hidden:
        why = "the angle is between spans whose columns are nearly dependent"
        warn_of_few_digits(why, bound / max(angle, EPS), 6)
    return angle


def _basis(X: FloatMatrix) -> tuple[Any, float]:
    """A basis, and by what angle rounding may have turned its span, to first order."""
    basis = X.column_basis()
    columns = X.balanced()
    sizes = np.linalg.norm(columns.dense(), axis=0)
    seen = sizes > 0
    left_out = basis.shape[1] < int(seen.sum())
    U = basis.dense()
    if not U.size:
        return U, 0.0
    lengths = power_of_two(column_sizes(U))
    turned = float(np.linalg.norm(basis.dense_error() / lengths))
    turned /= float(np.linalg.svd(U / lengths, compute_uv=False)[-1])
    if left_out:  # a column is taken for dependent that may be off by so much
        turned += float(np.linalg.norm(columns.dense_error()[:, seen] / sizes[seen]))
    return U, turned
