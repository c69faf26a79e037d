"""How good a float result is: what a solve reports, and how its errors travel on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.rounding import BLOCK, EPS, FEW_DIGITS
from obliquetd.algebra.storage import trimmed
from obliquetd.algebra.tall import blocks
from obliquetd.errors import NumberError, PrecisionWarning

__all__ = [
    "OfSum",
    "SolveReport",
    "Spread",
    "dropped",
    "finite",
    "never_nan",
    "quiet",
    "warn_of_few_digits",
]


@dataclass(frozen=True)
class SolveReport:
    """How good a floating-point solve was.

    Attributes
    ----------
    residual : float
        Largest ``|A x - b|`` over ``|A| |x| + |b|`` (a normwise backward error).
    condition : float
        By how much the solve magnifies the rounding of the numbers that came in:
        the largest entry of ``|A^-1| (E |x| + e)`` over that of ``eps |x|``, where E and e
        bound the errors that A and b inherit from the data (Higham 2002, Section 7.2).
    warned : bool
        Whether a :class:`~obliquetd.errors.PrecisionWarning` was given.
    """

    residual: float
    condition: float
    warned: bool = False

    @property
    def digits(self) -> float:
        """Correct decimal digits to be expected of the largest entries."""
        lost = math.log10(max(1.0, self.condition)) if math.isfinite(self.condition) else 16.0
        return max(0.0, -math.log10(max(self.residual, EPS)) - lost)


@dataclass(frozen=True, eq=False)
class Spread:
    """The errors of a solution, ``|G| w`` and some more, with G kept.

    The errors of its entries belong together: those of Phi theta are ``|Phi G| w``, which may be
    far below ``|Phi| |G| w``. With many states Phi G is as large as Phi, and made by rows.
    """

    G: npt.NDArray[Any]
    w: npt.NDArray[Any]
    more: Callable[[], Any] | None = None
    tall: Any = None
    """What G is still to be multiplied by from the left, where it has many rows."""

    def __call__(self) -> Any:
        return self._of_G(self.w) + (self.more() if self.more else 0.0)

    def _of_G(self, w: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.tall is None:
            return np.asarray(np.abs(self.G) @ w)
        n = self.tall.shape[0]
        return np.concatenate([np.abs(self.tall[p] @ self.G) @ w for p in blocks(n)])

    def through(self, array: Any, own: Callable[[], Any]) -> Spread:
        """The errors after a product from the left, which adds its ``own``."""

        def more() -> Any:
            return abs(array) @ _full(self) + own()

        if self.tall is None and array.shape[0] > BLOCK and isinstance(array, np.ndarray):
            return Spread(self.G, self.w, more, array)
        G = self.G if self.tall is None else quiet(lambda: self.tall @ self.G)
        return Spread(quiet(lambda: array @ G), self.w, more)


def _full(spread: Spread) -> Any:
    more = spread.more() if spread.more else 0.0
    rows = spread.G.shape[0] if spread.tall is None else spread.tall.shape[0]
    return np.zeros((rows, spread.w.shape[1])) + more


def warn_of_few_digits(why: str, growth: float, frames: int = 4) -> bool:
    """PrecisionWarning, and True, where a relative error of ``growth`` leaves under FEW_DIGITS digits."""
    growth = math.inf if math.isnan(growth) else growth
    digits = -math.log10(max(growth, EPS))
    if digits < FEW_DIGITS:
        warnings.warn(
            f"{why} (condition {growth / EPS:.1e}): about "
            f"{max(0.0, digits):.0f} correct digits are left; use arithmetic='exact'",
            PrecisionWarning,
            stacklevel=frames,
        )
    return digits < FEW_DIGITS


def never_nan(error: Any) -> Any:
    """Bounds on errors, with no bound at all (infinity) for NaN, which compares as if it were small.

    A NaN is made of a bound that is infinite: of its product with 0, or its difference from another.
    """
    if isinstance(error, float):
        return error
    dense = isinstance(error, np.ndarray)
    entries = error if dense else error.data
    if not (entries.size and math.isnan(entries.max())):
        return error
    known = np.where(np.isnan(entries), math.inf, entries)
    if dense:
        return known
    error = error.copy()
    error.data = known
    return error


def dropped(weights: npt.NDArray[Any], lost: Any, what: str) -> npt.NDArray[Any]:
    """The weights with 0 for those that are lost to the floor of the floats, and a warning."""
    if lost.any():
        warnings.warn(
            f"the {what} of {int(lost.sum())} states come out below the smallest float that keeps "
            "its digits (2.2e-308) and are taken as 0, so that these states count as never visited; "
            "use arithmetic='exact' for them",
            PrecisionWarning,
            stacklevel=5,
        )
    return np.where(lost, 0.0, weights)


def quiet(compute: Callable[[], Any]) -> Any:
    """An infinity that arises on the way is refused where it would come out, not warned of."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return compute()


def finite(values: Any, *, or_infinite: bool = False) -> Any:
    """The values, refused where one has left the range of floats; NaN is refused always."""
    listed = values if isinstance(values, np.ndarray | float) else getattr(values, "data", values)
    if not (np.isfinite(listed).all() or (or_infinite and not np.isnan(listed).any())):
        raise NumberError(
            "the result, or a step on the way to it, is beyond the range of floats (1e308); use "
            "arithmetic='exact', or scale the rewards or features"
        )
    return values


class OfSum:
    """The bounds on a sum or a difference of two matrices, made when they are asked for.

    Those of a long sum are made from its beginning on: asked for at its end, each would wait for the one before,
    deeper than Python goes.

    Parameters
    ----------
    left, right : FloatMatrix
    total : array
    """

    def __init__(self, left: Any, right: Any, total: Any) -> None:
        self.left, self.right, self.total = left, right, total

    def __call__(self) -> Any:
        seen, found, left_over = {}, [], [self.left, self.right]
        while left_over:
            matrix = left_over.pop()
            waiting = matrix._error
            if isinstance(waiting, OfSum) and id(matrix) not in seen:
                seen[id(matrix)] = matrix
                found.append(matrix)
                left_over += [waiting.left, waiting.right]
        for matrix in reversed(found):
            _ = matrix.error
        return trimmed(self.left.error + self.right.error + abs(self.total) * EPS)
