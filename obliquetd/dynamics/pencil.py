"""The outcomes of a jump system on the span of the updates, as matrices linear in the step size."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import EXACT, Arithmetic, FloatMatrix, Matrix, parse_number
from obliquetd.algebra.polynomials import determinant_polynomial
from obliquetd.algebra.roots import first_positive_root
from obliquetd.algebra.rounding import EPS
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.jumps import Jump, linear_system, one_plus
from obliquetd.dynamics.moments import JumpSystem
from obliquetd.dynamics.span import Span
from obliquetd.dynamics.stability import definiteness
from obliquetd.errors import MathematicalError, SingularError

__all__ = [
    "Map",
    "Pencil",
    "balanced",
    "contracts",
    "coordinates_on",
    "exact_limit",
    "pencils_of",
    "restricted_to",
]

ROUNDED = 1e3
"""Eigenvalues of a matrix of floats are right to so many roundings for each of its rows."""

Floats = npt.NDArray[np.float64]
Rows = list[list[Any]]
Map = tuple[int, int, Any, Callable[[int], Rows]]


@dataclass(frozen=True)
class Pencil:
    """One outcome of a jump system on U: z in group s goes to (1 + alpha G) z in group t."""

    s: int
    t: int
    weight: Any
    G: list[list[Any]]
    weight_error: float = 0.0
    G_error: Any = 0.0
    """Bounds on the errors of floats."""

    def at(self, alpha: int) -> list[list[Any]]:
        """1 + alpha G."""
        return one_plus(EXACT, alpha, self.G)


def pencils_of(system: JumpSystem, found: Expectation) -> list[Pencil]:
    """The outcomes of one class on the span of its updates, groups numbered anew."""
    inside = [0] if system.iid else [s for s, w in enumerate(found.xi) if w]
    place = {s: k for k, s in enumerate(inside)}
    out = []
    for k, (s, t, w, _, _) in enumerate(system.outcomes):
        if s in place:
            G = found.span.restrict(system.gradient(k))
            errors = (system.weight_error(k), G.dense_error()) if isinstance(G, FloatMatrix) else ()
            out.append(Pencil(place[s], place[t], w, G.rows(), *errors))
    return out


def maps_of(system: JumpSystem, found: Expectation, inside: list[int]) -> list[Map]:
    """The outcomes of one class on U, as functions of alpha, from the rule at that very alpha."""
    arithmetic, size = system.ops.arithmetic, system.size
    place = {s: k for k, s in enumerate(inside)}

    @functools.cache
    def at(alpha: int) -> list[list[list[Any]]]:
        steps = system.steps_at(arithmetic.scalar(parse_number(alpha)))
        return [
            restricted_to(
                system, found.span, arithmetic.matrix([row[1:] for row in rows], (size, size))
            )
            for _, _, _, rows in steps
        ]

    return [
        (place[s], place[t], w, functools.partial(lambda k, alpha: at(alpha)[k], k))
        for k, (s, t, w, _, _) in enumerate(system.outcomes)
        if s in place
    ]


def restricted_to(system: JumpSystem, span: Span, M: Matrix) -> list[list[Any]]:
    """A matrix of a step on the span of the updates.

    Raises
    ------
    MathematicalError
        Where it leaves the span, as a rule may that is not linear in its step size.
    """
    Q = span.restrict(M)
    _stays(system, M @ span.basis - span.basis @ Q)
    return Q.rows()


def coordinates_on(system: JumpSystem, span: Span, vector: Matrix) -> list[Any]:
    """A step in coordinates of the span of the updates; errors as for :func:`restricted_to`."""
    z = span.coordinates(vector)
    _stays(system, vector - span.basis @ z)
    return z.entries()


def _stays(system: JumpSystem, outside: Matrix) -> None:
    if not (system.linear or outside.cleaned().is_zero()):
        raise MathematicalError(
            f"a step of {system.learner.name} leaves the span of its slopes in alpha; what becomes of "
            "its moments there is not decided"
        )


def _constant(M: Rows, _alpha: int) -> Rows:
    return M


def contracts(
    arithmetic: Arithmetic, maps: Sequence[tuple[int, int, Any, Rows]], m: int, groups: int
) -> bool:
    """Whether S_t <- sum of w M S_s M' over the maps (s, t, w, M) has a spectral radius below one.

    The map keeps positive semidefinite matrices so, and its radius is below one exactly where
    X - T X = 1 has a positive definite solution (see :mod:`obliquetd.dynamics.memory_moments`). In floats
    the eigenvalues are asked.

    Raises
    ------
    MathematicalError
        Where it is too close to call in floats.
    """
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    one, zero = arithmetic.one, arithmetic.zero
    jumps = _second_order(
        [(s, t, w, functools.partial(_constant, M)) for s, t, w, M in maps], 0, pairs
    )
    system, _ = linear_system(arithmetic, jumps, groups, len(pairs))
    if arithmetic.kind == "float":
        T = np.eye(len(system)) - np.array(system, dtype=float)
        radius = float(np.abs(np.linalg.eigvals(T)).max(initial=0.0))
        if abs(radius - 1) <= ROUNDED * len(system) * EPS:
            raise MathematicalError(
                "whether the step size has a stationary second moment is too close to call in floats; "
                "use arithmetic='exact'"
            )
        return radius < 1
    right = arithmetic.column([one if i == j else zero for _ in range(groups) for i, j in pairs])
    try:
        x = arithmetic.matrix(system, (len(system), len(system))).solve(right, "1 - T").entries()
    except SingularError:
        return False
    for g in range(groups):
        block = dict(zip(pairs, x[g * len(pairs) :], strict=False))
        form = [[block[min(i, j), max(i, j)] for j in range(m)] for i in range(m)]
        if definiteness(arithmetic.matrix(form, (m, m))) != "positive definite":
            return False
    return True


def exact_limit(maps: list[Map], m: int, groups: int, degree: int = 1) -> Any:
    """The smallest positive root of det(1 - T(alpha)), interpolated from integer samples.

    T maps S_s to the sum of w M S_s M' over the maps (s, t, w, M) into t, M a polynomial in alpha of
    the given degree.
    """
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    polynomial = determinant_polynomial(
        lambda alpha: linear_system(EXACT, _second_order(maps, alpha, pairs), groups, len(pairs))[
            0
        ],
        2 * degree * groups * len(pairs),
    )
    return first_positive_root(polynomial)


def _second_order(maps: list[Map], alpha: int, pairs: list[tuple[int, int]]) -> Iterator[Jump]:
    """S -> M S M' on symmetric matrices, in the coordinates S_ij, i <= j, for each outcome."""
    for s, t, weight, at_alpha in maps:
        M = at_alpha(alpha)
        yield Jump(s, t, weight, [
            [M[i][a] * M[j][b] + (M[i][b] * M[j][a] if a != b else 0) for a, b in pairs]
            for i, j in pairs
        ])  # fmt: skip


def balanced(G: Floats) -> tuple[Floats, float, Floats]:
    """The matrices in coordinates in which none is much larger, times a unit of step size.

    With it the unit, and what the entries are multiplied by, powers of two.
    """
    from scipy.linalg import matrix_balance

    scaling = matrix_balance(np.abs(G).sum(axis=0), permute=False, separate=True)[1][0]
    factors: Floats = scaling[None, :] / scaling[:, None]
    unit = 2.0 ** -math.frexp(float(np.abs(G * factors).max()))[1]
    return G * (factors * unit), unit, factors * unit
