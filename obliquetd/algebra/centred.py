"""A matrix of rational functions, evaluated around points near by.

Powers of a variable are nearly dependent on a range away from 0: of a polynomial of degree 100 the terms
are 10^30 times what they add up to, and balls for a whole range hold nothing but that. Powers of the distance
from a point of the range are not, and what is exact about the polynomials stays so.
"""

from __future__ import annotations

import math
from typing import Any

import flint
import numpy as np

from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.functions import FunctionMatrix

__all__ = ["CentredFunctions"]

POINTS = 8
"""At least so many steps from point to point are in a range."""


class CentredFunctions(FunctionMatrix):
    """N(x) / D(x) for low <= x <= high, with N a polynomial of matrices.

    The points are multiples of a power of two, and the nearest one is used. A float less the nearest
    is a float, since one is between half and twice of the other, or the point is 0 (Sterbenz 1974).

    Parameters
    ----------
    D : fmpq_poly
    N : list of fmpq_mat (size, size)
        N_0, N_1, ...
    low, high : fmpq

    Examples
    --------
    >>> x = flint.fmpq_poly([0, 1])
    >>> one = flint.fmpq_mat(1, 1, [1])
    >>> functions = CentredFunctions(x + 1, [one, one * 2, one], 1, flint.fmpq(1, 2), flint.fmpq(1))
    >>> functions.at(flint.fmpq(1, 2))
    [3/2]
    >>> functions.over(flint.arb("0.6 +/- 0.001"))[0, 0].contains(flint.arb("1.6"))
    True
    >>> value, slope, bend = functions.in_floats(np.array([0.5, 0.75]), np.array([0.0, 0.125]))
    >>> value.middle.ravel(), slope.middle.ravel()
    (array([1.5 , 1.75]), array([1., 1.]))
    """

    def __init__(self, D: Any, N: list[Any], size: int, low: Any, high: Any) -> None:
        super().__init__({"D": (D, N)}, size)
        width = float(high - low)
        self._step = 2.0 ** math.floor(math.log2(width / POINTS)) if width > 0 else 1.0
        self._around: dict[float, FunctionMatrix] = {}

    def _near(self, point: float) -> FunctionMatrix:
        """The same functions of x less a point."""
        if point not in self._around:
            ((D, N),) = self._terms
            shift = flint.fmpq_poly([flint.fmpq(*point.as_integer_ratio()), 1])
            entries = zip(*(M.entries() for M in N), strict=True)
            moved = [flint.fmpq_poly(list(entry))(shift) for entry in entries]
            powers = [
                flint.fmpq_mat(self.size, self.size, [polynomial[k] for polynomial in moved])
                for k in range(len(N))
            ]
            self._around[point] = FunctionMatrix({"D": (D(shift), powers)}, self.size)
        return self._around[point]

    def over(self, ball: Any, order: int = 0) -> Any:
        """Balls that hold the values, or derivatives, at all points of a ball."""
        point = round(float(ball.mid()) / self._step) * self._step
        return self._near(point).over(ball - point, order)

    def in_floats(self, middle: Any, radius: Any, chosen: Any = None) -> Any:
        """As :meth:`FunctionMatrix.in_floats`."""
        shape = np.shape(middle)
        middle, radius = np.ravel(middle), np.ravel(radius)
        nearest = np.rint(middle / self._step) * self._step
        out = np.empty((3, 2, len(middle), self.size, self.size))
        for point in np.unique(nearest).tolist():
            here = nearest == point
            three = self._near(point).in_floats(middle[here] - point, radius[here], chosen)
            if three is None:
                return None
            for k, found in enumerate(three):
                out[k, :, here] = np.stack([found.middle, found.radius], axis=1)
        out = out.reshape(3, 2, *shape, self.size, self.size)
        return tuple(FloatBalls(*each) for each in out)
