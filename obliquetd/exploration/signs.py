"""Case distinctions over several symbols: the signs at a point, and the formulas whose signs were asked.

For one symbol :mod:`obliquetd.algebra.cells` finds every cell. Over several, a sample of points finds the combinations of
signs that fill some room; the page asks at each place which combination holds there, exactly.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy as sp

from obliquetd.algebra import FieldArithmetic

__all__ = ["SignsAt", "sample_points"]

POINTS = 60
"""Points at which combinations of signs are looked for."""
PARTS = 1009
"""A prime: no point is a round number, at which signs like to change."""


class SignsAt(FieldArithmetic):
    """Functions of several symbols whose signs are those at a rational point; ``asked`` keeps them.

    Examples
    --------
    >>> x, y = sp.symbols("x y")
    >>> field = SignsAt({x: sp.Rational(1, 2), y: sp.Rational(1, 3)})
    >>> field.sign(field.scalar(y - x)), [(field.public(f), s) for f, s in field.asked.items()]
    (-1, [(-x + y, -1)])
    """

    def __init__(self, point: Mapping[sp.Symbol, Any]) -> None:
        super().__init__(point)
        self.point = dict(point)
        self.asked: dict[Any, int] = {}

    def sign(self, scalar: Any) -> int:
        found = self.there(scalar)
        if not (scalar.numer.is_ground and scalar.denom.is_ground):
            self.asked[scalar] = found
        return found

    def there(self, scalar: Any) -> int:
        """The sign at the point; 0 at a pole."""
        value = self.domain.to_sympy(scalar).subs(self.point)
        return int(sp.sign(value)) if value.is_finite else 0


def sample_points(ranges: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, ...]]:
    """Rational points of a box, the same every time.

    Examples
    --------
    >>> next(sample_points([(0, 1), (2, 4)]))
    (865/1009, 2808/1009)
    """
    numbers = random.Random(0)
    for _ in range(POINTS):
        yield tuple(
            low + (high - low) * sp.Rational(numbers.randrange(1, PARTS), PARTS)
            for low, high in ranges
        )
