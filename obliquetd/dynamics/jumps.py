"""Linear jump systems: u_t is the sum over jumps s -> t of w M u_s + source.

A vector u_s of k entries belongs to each group s (a state, or all of them where transitions are
independent). Mean memories, stationary means and second moments, and the determinants of
step-size limits are all of this form, and are assembled here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from obliquetd.algebra import Arithmetic

__all__ = ["Jump", "linear_system", "one_plus"]


class Jump(NamedTuple):
    """From group s to group t with a weight; ``source`` has its weight in it, and is empty for 0."""

    s: int
    t: int
    weight: Any
    M: Sequence[Sequence[Any]]
    source: Sequence[Any] = ()


def linear_system(
    arithmetic: Arithmetic,
    jumps: Iterable[Jump],
    groups: int,
    k: int,
    lift: Callable[[Any], Any] = lambda x: x,
) -> tuple[list[list[Any]], list[Any]]:
    """The rows of 1 - T and the right-hand side of u = T u + right.

    Zeros of M and of the source are passed over, so that floats with error bounds gain none there.

    Parameters
    ----------
    arithmetic : Arithmetic
    jumps : iterable of Jump
    groups, k : int
        How many groups there are, and how many entries u has in each.
    lift : function, optional
        From a native scalar to the numbers that M and source are made of.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> half = EXACT.one / 2
    >>> rows, right = linear_system(EXACT, [Jump(0, 0, half, [[half]], [half])], 1, 1)
    >>> str(rows[0][0]), str(right[0])
    ('3/4', '1/2')
    """
    zero = lift(arithmetic.zero)
    unit = [[lift(x) for x in row] for row in arithmetic.identity(k).rows()]
    system = [
        [*([zero] * (g * k)), *row, *([zero] * ((groups - g - 1) * k))]
        for g in range(groups)
        for row in unit
    ]
    right = [zero] * (groups * k)
    for s, t, weight, M, source in jumps:
        for i, c in enumerate(source):
            if c:
                right[t * k + i] = right[t * k + i] + c
        for i, row in enumerate(M):
            into = system[t * k + i]
            for j, value in enumerate(row):
                if value:
                    into[s * k + j] = into[s * k + j] - weight * value
    return system, right


def one_plus(arithmetic: Arithmetic, alpha: Any, G: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """1 + alpha G."""
    identity = arithmetic.identity(len(G)).rows()
    return [
        [alpha * g + one for one, g in zip(*rows, strict=True)]
        for rows in zip(identity, G, strict=True)
    ]
