"""How far rounding alone may take a float quantity of a fixed point from 0.

A solve comes with its condition kappa: its entries are off by at most kappa eps times the largest of
them, to first order (:class:`obliquetd.algebra.SolveReport`; Higham 2002, Section 7.2). With
e(v) = kappa eps max|v| the numbers that are exactly 0 for features that tell all states apart come out below

    ||v_hat - v||_Xi          e(v_hat) + e(v) + 2 eps max|v|
    ||Pi (T v_hat - v_hat)||  2 e(v_hat) + (n + 2) eps (max|r| + 2 max|v|)
    ||X - X*||_F              n k eps (||X||_F + ||X*||_F)
    ||Lambda'X - C||_F^2      (n k eps (||Lambda||_F ||X||_F + ||C||_F))^2
    angle                     n k eps s_1(X) / s_r(X)

with k the largest condition of what X and X* are made of, s_r the least singular value that is not 0, and ||I - gamma P|| <= 2. A quantity at or below
its bound is not told from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquetd.algebra import Matrix
from obliquetd.errors import ObliqueTDError
from obliquetd.problem.native import Operators

__all__ = ["error_bound", "rounding_bounds"]

EPS = float(np.finfo(float).eps)
LARGEST = 100_000
"""Entries of X up to which bounds on what depends on it are computed."""


def error_bound(ops: Operators, v_hat: Matrix, solved: Matrix) -> float:
    """How large ||v_hat - v||_Xi may be where it is 0; 0 unless floats.

    ``solved`` has the report of the solve that v_hat comes from.
    """
    if ops.arithmetic.kind != "float":
        return 0.0
    return _error_bound(ops, v_hat.public_vector(), _condition(solved))


def _error_bound(ops: Operators, v_hat: Any, condition: float) -> float:
    values = float(np.abs(np.asarray(ops.v_pi.public_vector(), dtype=float)).max(initial=0.0))
    guess = float(np.abs(np.asarray(v_hat, dtype=float)).max(initial=0.0))
    own = _condition(ops.v_pi)
    return EPS * (condition * guess + own * values + 2 * max(values, guess))


def rounding_bounds(point: Any) -> dict[str, float]:
    """For the float quantities of a fixed point, by name, the bounds above; none for exact numbers.

    Examples
    --------
    >>> from obliquetd.domains import random_walk
    >>> point = random_walk().replace(arithmetic="float").fixed_point("td")
    >>> point.rmse <= rounding_bounds(point)["rmse"] < 1e-13
    True
    """
    ops: Operators = point.native
    if ops.arithmetic.kind != "float":
        return {}
    try:
        return {**_of_values(ops, point), **_of_X(ops, point)}
    except ObliqueTDError:  # what has no value needs no bound
        return {}


def _of_values(ops: Operators, point: Any) -> dict[str, float]:
    condition = _condition_of(point.accuracy)
    v_hat = np.abs(np.asarray(point.v_hat, dtype=float)).max(initial=0.0)
    values = max(v_hat, np.abs(np.asarray(ops.v_pi.public_vector(), dtype=float)).max(initial=0.0))
    reward = np.abs(np.asarray(ops.r_pi.public_vector(), dtype=float)).max(initial=0.0)
    residual = (ops.n + 2) * EPS * (reward + 2 * values)
    return {
        "rmse": _error_bound(ops, point.v_hat, condition),
        "rmspbe": float(2 * EPS * condition * v_hat + residual),
    }


def _of_X(ops: Operators, point: Any) -> dict[str, float]:
    n, d = ops.Phi.shape
    if n * d > LARGEST:
        return {}
    X, X_star, Lambda, C = (
        _dense(M) for M in (point.X, ops.X_star.public(), ops.Lambda.public(), ops.C.public())
    )
    k = max(map(_condition, (ops.xi, ops.X_star, ops.f)))
    unit = n * k * EPS
    size = np.linalg.norm
    return {
        "distance": float(unit * (size(X) + size(X_star))),
        "criterion": float(unit * (size(Lambda) * size(X) + size(C))) ** 2,
        "angle": float(unit * _ratio_of_sizes(X)),
    }


def _ratio_of_sizes(X: Any) -> float:
    """The largest singular value over the smallest that is not 0."""
    values = np.linalg.svd(X, compute_uv=False)
    kept = values[values > max(X.shape) * EPS * values.max(initial=0.0)]
    return float(kept[0] / kept[-1]) if len(kept) else 0.0


def _dense(matrix: Any) -> Any:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)


def _condition(matrix: Any) -> float:
    return _condition_of(getattr(matrix, "report", None))


def _condition_of(report: Any) -> float:
    return 1.0 if report is None else max(1.0, float(report.condition))
