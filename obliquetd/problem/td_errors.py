"""TD errors among floats, which are differences of values far larger than they are.

Near discount 1 the values are some 1/(1 - g) times the rewards, and what tells one outcome
from another is below their last place. Any baseline b will do in place of v: with h = v - b,

delta = r + g v(s') - v(s) = d + g h(s') - h(s),    d = r + g b(s') - b(s),

where h solves h = P_gamma h + E d. With b = v as floats have it, d is small, and computed here
as if with twice the digits (Dekker 1971), h is small, and nothing large cancels: a step of
iterative refinement (Higham 2002, Chapter 12).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.error_free import product_and_lost, sum_and_lost
from obliquetd.algebra.rounding import EPS, negligible
from obliquetd.errors import PrecisionWarning
from obliquetd.problem.native import Operators
from obliquetd.problem.sums import discounted_sum

__all__ = ["accurate_td_errors", "settled_variance"]

Floats = npt.NDArray[np.float64]


def accurate_td_errors(ops: Operators) -> tuple[Floats, Floats, float]:
    """delta of v_pi in each row, bounds on its errors, and the unit of both."""
    value = np.array(ops.v_pi.entries())
    unit = float(ops.arithmetic.magnitude(ops.arithmetic.column([*value, *ops.reward])))
    b, r, g = value / unit, ops.reward / unit, ops.row_discount
    after, before = b[ops.next_state], b[ops.state]
    weight = ops.pi * ops.probability
    d = _sum_with_product(r, -before, g, after)
    with warnings.catch_warnings():  # v_pi has told it; an error of h counts 1 - g times in delta
        warnings.simplefilter("ignore", PrecisionWarning)
        correction = discounted_sum(ops, ops.moves, ops.by_state(weight * d), "L_pi")
    h = np.array(correction.entries())
    delta = d + g * h[ops.next_state] - h[ops.state]
    error = EPS * (np.abs(r) + g * _range_after(ops, b) + np.abs(delta))
    noise = negligible(delta, error)
    delta, error = np.where(noise, 0.0, delta), error + np.where(noise, np.abs(delta), 0.0)
    certain = _certain(ops, weight)
    delta, error = np.where(certain, 0.0, delta), np.where(certain, 0.0, error)
    scale = float(ops.arithmetic.magnitude(ops.arithmetic.column([*delta, *error])))
    return delta / scale, error / scale, unit * scale


def _certain(ops: Operators, weight: Floats) -> npt.NDArray[np.bool_]:
    """Whether all that may happen in a row's state is one and the same; its delta is its mean, 0."""
    taken = np.flatnonzero(weight)
    first = np.zeros(ops.n, dtype=np.intp)
    first[ops.state[taken[::-1]]] = taken[::-1]
    like = first[ops.state[taken]]
    g, r, after = ops.row_discount, ops.reward, ops.next_state
    differs = (g[taken] != g[like]) | (r[taken] != r[like])
    differs |= (g[taken] != 0) & (after[taken] != after[like])
    certain = np.full(ops.n, True)
    certain[ops.state[taken[differs]]] = False
    found: npt.NDArray[np.bool_] = certain[ops.state]
    return found


def _range_after(ops: Operators, b: Floats) -> Floats:
    """How far the value after each row is from the others that may come in its place.

    A last place of a probability counts that much, and no more: a level that all share
    is shared still.
    """
    high, low = np.full(ops.n, -np.inf), np.full(ops.n, np.inf)
    after = ops.row_discount * b[ops.next_state]
    np.maximum.at(high, ops.state, after)
    np.minimum.at(low, ops.state, after)
    spread: Floats = (high - low)[ops.state]
    return spread


def _sum_with_product(x: Floats, y: Floats, p: Floats, q: Floats) -> Floats:
    """x + y + p q, as if computed with twice the digits."""
    high, low = product_and_lost(p, q)
    total, lost = sum_and_lost(high, y)
    total, more = sum_and_lost(total, x)
    accurate: Floats = total + (lost + more + low)
    return accurate


def settled_variance(
    variance: Matrix, error: Matrix, exactly: Callable[[], Matrix] | None
) -> Matrix:
    """The variance, with a PrecisionWarning where the errors of TD errors, or of the solve, leave it few digits."""
    assert isinstance(variance, FloatMatrix)
    bound = variance.dense_error() + np.array(error.entries()).reshape(-1, 1)
    held = FloatMatrix(variance.dense(), error=bound)
    settled: Matrix = held.settled("the variance of the return", exactly)
    return settled
