"""A number that was read, as a float."""

from __future__ import annotations

from typing import Any

from obliquetd.algebra.writing import number_text
from obliquetd.errors import KindError, NumberError

__all__ = ["to_float"]


def to_float(value: Any) -> float:
    """The float next to a rational.

    Raises
    ------
    NumberError
        Where it is beyond the range of floats.
    KindError
        For a formula.

    Examples
    --------
    >>> from fractions import Fraction
    >>> to_float(Fraction(1, 8))
    0.125
    """
    if isinstance(value, float):
        return value
    try:
        number = int(value.numerator) / int(value.denominator)
        if number == 0 and value:
            raise OverflowError
        return number
    except OverflowError:
        raise NumberError(
            f"the number {number_text(value)} is beyond the range of floats, 1e-308 to 1e308; "
            "use arithmetic='exact'"
        ) from None
    except AttributeError:
        raise KindError(
            f"the formula {value} has symbols, but the arithmetic is 'float'; substitute "
            "numbers for them first, as in problem.subs({symbol: value})"
        ) from None
