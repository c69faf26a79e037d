"""Diagonal weightings Omega with X = Xi Omega Phi: the paper's three, and the exact one.

==============  =========================================================================
Omega_star      minimiser of ||Xi Omega Phi - X*||_F
Omega_S         omega(s) = max(Lambda_s . phi_s / ||Lambda_s||^2, 0), Lambda = L_pi Phi
Omega_S_batch   minimiser of ||Lambda' Xi Omega Phi - C||_F, the paper's Eq. (batch)
Omega_E         Xi^-1 diag(f), f = L_pi^-T xi
==============  =========================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.errors import MathematicalError, SignUndecidedError, UndefinedError
from obliquetd.operators import Operators

__all__ = [
    "BatchMinimizers",
    "EmphasisCell",
    "batch_minimizers",
    "cells",
    "deciding_symbols",
    "emphatic",
    "nearest_to_X_star",
    "projection_weights",
    "rational_between",
    "symbolic_weights",
]


def projection_weights(ops: Operators, signs: dict[int, int] | None = None) -> Matrix:
    """The column of omega(s) = max(Lambda_s . phi_s / ||Lambda_s||^2, 0) (Eq. omega-i).

    Lambda_s is the expected Delta phi under the target policy, so this is the paper's
    Table I; a learner sees the sampled Delta phi instead. A state with phi(s) = 0 or
    weight zero gets 0, which changes nothing: its row of X is zero anyway.

    Parameters
    ----------
    ops : Operators
    signs : dict of int to int, optional
        The sign of Lambda_s . phi_s for states where it depends on a symbol.

    Raises
    ------
    UndefinedError
        Where Lambda_s = 0 although phi(s) and the weight are not: every omega
        minimises the paper's objective.
    SignUndecidedError
        Where a sign depends on a symbol and is not given.
    """
    known = signs or {}
    return ops.arithmetic.column(
        [_weight(ops, i, ratio, known.get(i)) for i, ratio in enumerate(_ratios(ops))]
    )


def _weight(ops: Operators, i: int, ratio: tuple[Any, Any, Any, Any], sign: int | None) -> Any:
    """omega of state i, native; the sign of Lambda . phi is asked for where it is not given."""
    up, down, size, weight = ratio
    if not size or not weight:
        return ops.arithmetic.zero
    if not down:
        raise UndefinedError(
            f"omega is undefined in state {ops.labels[i]!r}: its expected Delta phi = phi - "
            "gamma E[phi'] is zero, so every omega minimises ||omega Delta phi - phi||. Give "
            "weights of your own with fixed_point(Omega=...)",
            [ops.labels[i]],
        )
    positive = (ops.arithmetic.sign(up) if sign is None else sign) > 0
    return up / down if positive else ops.arithmetic.zero


def _ratios(ops: Operators) -> list[tuple[Any, Any, Any, Any]]:
    """For each state: Lambda . phi, ||Lambda||^2, ||phi||^2 and the weight.

    Among floats each state has units of its own, in which its Lambda is of size one: the
    ratio of the first two does not change. What is zero in Lambda but for rounding counts
    as zero.
    """
    Lambda = (ops.L_pi @ ops.unit_Phi).cleaned()
    Lambda.check_digits("the expected Delta phi of Omega_S")
    units = Lambda.row_units()
    Lambda, Phi = Lambda.scale_rows(units), ops.unit_Phi.scale_rows(units)
    own = ops.Phi.scale_rows(ops.Phi.row_units())
    return list(
        zip(
            Lambda.row_dots(Phi).entries(),
            Lambda.row_dots(Lambda).entries(),
            own.row_dots(own).entries(),
            ops.xi.entries(),
            strict=True,
        )
    )


def symbolic_weights(ops: Operators) -> list[Any]:
    """omega(s) as public numbers, ``Max(0, ...)`` where the sign depends on a symbol."""
    out = []
    for i, ratio in enumerate(_ratios(ops)):
        try:
            out.append(ops.arithmetic.public(_weight(ops, i, ratio, None)))
        except SignUndecidedError:
            out.append(sp.Max(0, ops.arithmetic.public(_weight(ops, i, ratio, 1))))
    return out


@dataclass(frozen=True, eq=False)
class EmphasisCell:
    """A range of one symbol on which Omega_S is a matrix of rational functions.

    Attributes
    ----------
    domain : sympy.Set
        An interval with exact end points, open at the break points: there an expected
        Delta phi may vanish and leave omega undefined.
    sample : sympy.Rational
        A point inside.
    Omega : sympy.ImmutableDenseMatrix
        Omega_S on the cell; pass it to ``fixed_point(Omega=...)``.
    zero_states : tuple of hashable
        States whose weight is cut to 0 on the cell.
    """

    domain: Any
    sample: Any
    Omega: Any
    zero_states: tuple[Hashable, ...]


def cells(ops: Operators, symbol: sp.Symbol, domain: sp.Interval) -> list[EmphasisCell]:
    """Split a range of the only symbol in Omega_S at the sign changes of Lambda_s . phi_s.

    The break points are the real roots, isolated exactly; between two of them every
    sign is that at one rational sample.
    """
    ends = _break_points(list(_sign_formulas(ops).values()), symbol, domain)
    inner = ends[1:-1]
    out = []
    for left, right in itertools.pairwise(ends):
        sample = rational_between(left, right)
        signs = {i: int(sp.sign(q.subs(symbol, sample))) for i, q in _sign_formulas(ops).items()}
        omega = projection_weights(ops, signs)
        cut = tuple(ops.labels[i] for i, s in signs.items() if s <= 0)
        where = sp.Intersection(sp.Interval(left, right, left in inner, right in inner), domain)
        diagonal = sp.ImmutableDenseMatrix(sp.diag(*omega.public()))
        out.append(EmphasisCell(where, sample, diagonal, cut))
    return out


def _sign_formulas(ops: Operators) -> dict[int, Any]:
    """Lambda_s . phi_s, public, for the states where it decides between omega and 0."""
    return {
        i: ops.arithmetic.public(up)
        for i, (up, down, size, weight) in enumerate(_ratios(ops))
        if down and size and weight
    }


def deciding_symbols(ops: Operators) -> list[sp.Symbol]:
    """The symbols on which a sign in Omega_S depends, by name."""
    found = {s for q in _sign_formulas(ops).values() for s in q.free_symbols}
    return sorted(found, key=str)


def _break_points(quotients: list[Any], symbol: sp.Symbol, domain: sp.Interval) -> list[Any]:
    inside = set()
    for quotient in quotients:
        numerator, denominator = sp.fraction(sp.together(quotient))
        for part in (numerator, denominator):
            poly = sp.Poly(part, symbol)
            if poly.degree() > 0:
                inside |= {root for root in poly.real_roots() if domain.start < root < domain.end}
    return [domain.start, *sorted(inside, key=lambda x: sp.N(x, 60)), domain.end]


def rational_between(left: Any, right: Any) -> sp.Rational:
    """A rational strictly between two reals, of which at most one is infinite."""
    if left == -sp.oo and right == sp.oo:
        return sp.Integer(0)
    if left == -sp.oo:
        return sp.floor(right) - 1
    if right == sp.oo:
        return sp.ceiling(left) + 1
    precision = 4
    while True:
        middle = sp.Rational(str(sp.N((left + right) / 2, precision)))
        if left < middle < right:
            return middle
        precision *= 2


def nearest_to_X_star(ops: Operators) -> Matrix:
    """The column of Omega*: the diagonal minimiser of ||Xi Omega Phi - X*||_F.

    State by state, omega(s) = phi(s) . x*(s) / (xi(s) ||phi(s)||^2). Where phi(s) = 0
    or xi(s) = 0 every omega(s) attains the minimum, and 0 is given.
    """
    zero = ops.arithmetic.zero
    units = ops.Phi.row_units()
    Phi, X_star = ops.Phi.scale_rows(units), ops.X_star.scale_rows(units)
    dots, sizes = Phi.row_dots(X_star).entries(), Phi.row_dots(Phi).entries()
    return ops.arithmetic.column(
        [
            dot / (weight * size) if weight and size else zero
            for dot, size, weight in zip(dots, sizes, ops.xi.entries(), strict=True)
        ]
    )


def emphatic(ops: Operators) -> Matrix:
    """The column of Omega_E = Xi^-1 f (Section IV).

    Raises
    ------
    UndefinedError
        At states of weight zero, where it is 0/0.
    """
    if ops.unvisited:
        states = ops.names(ops.unvisited)
        raise UndefinedError(
            f"Omega_E = Xi^-1 diag(f) divides by zero at the states {states[:8]}, which the "
            "behaviour chain leaves for good (xi = 0). X_E = diag(f) Phi exists: use "
            "fixed_point('etd'), or problem.f",
            states,
        )
    pairs = zip(ops.f.entries(), ops.xi.entries(), strict=True)
    return ops.arithmetic.column([f / w for f, w in pairs])


@dataclass(frozen=True, eq=False)
class BatchMinimizers:
    """Every diagonal Omega that minimises ||Lambda' Xi Omega Phi - C||_F^2.

    Attributes
    ----------
    omega : object (n, 1)
        One minimiser; that of least Euclidean norm where there are many.
    null_space : object (n, k)
        Directions in which omega may move without changing the objective.
    objective : object
        The smallest value of the squared criterion.
    nonnegative : bool
        Whether omega >= 0 was asked for.
    unique : bool
        Whether there is one minimiser only. Under omega >= 0 this is decided for
        ``null_space`` directions alone (False if there are any).
    """

    omega: Any
    null_space: Any
    objective: Any
    nonnegative: bool
    unique: bool


def batch_minimizers(ops: Operators, nonnegative: bool = False) -> BatchMinimizers:
    """Solve the paper's batch problem (Eq. batch), a least-squares problem in omega.

    With Lambda_s and phi_s the rows of state s, the criterion is
    ||sum_s xi_s omega_s Lambda_s phi_s' - C||_F^2 = ||M omega - c||^2; let G = M'M and
    h = M'c. Under omega >= 0 the optimality conditions
    (omega >= 0, G omega - h >= 0, complementary) are solved by the active-set method of
    Lawson and Hanson (1974), exactly where the numbers are exact.

    Raises
    ------
    SignUndecidedError
        For ``nonnegative`` with symbols.
    """
    design, target = _design(ops)
    gram, right = design.T @ design, design.T @ target
    if nonnegative:
        omega = _nonnegative_least_squares(ops, gram, right)
    else:
        omega = _least_norm(design, target)
    null = design.null_space()
    gap = (design @ omega - target).frobenius_squared()
    arithmetic = ops.arithmetic
    unit = arithmetic.squared(arithmetic.squared(arithmetic.magnitude(ops.Phi)))
    public = arithmetic.public(gap * unit)
    return BatchMinimizers(
        omega.public(), null.public(), public, nonnegative, unique=null.shape[1] == 0
    )


def least_norm_batch(ops: Operators) -> Matrix:
    """The column of the least-norm batch minimiser."""
    return _least_norm(*_design(ops))


def _design(ops: Operators) -> tuple[Matrix, Matrix]:
    """M and c with criterion ||M omega - c||^2: column s of M is xi_s Lambda_s phi_s', as a vector."""
    Phi, d = ops.unit_Phi, ops.Phi.shape[1]  # omega does not change with the scale of Phi
    differences = (ops.L_pi @ Phi).cleaned()
    differences.check_digits("the expected Delta phi of the batch problem")
    Lambda = differences.scale_rows(ops.xi).rows()
    columns = [[x * y for x in a for y in b] for a, b in zip(Lambda, Phi.rows(), strict=True)]
    design = ops.arithmetic.matrix(columns, (ops.n, d * d)).T
    C = Phi.T @ Phi.scale_rows(ops.xi)
    return design, ops.arithmetic.column([x for row in C.rows() for x in row])


def _least_norm(design: Matrix, target: Matrix) -> Matrix:
    """The least-squares solution of least norm: omega = B z, with B a basis of the row space."""
    basis = design.T.column_basis()
    if basis.shape[0] == basis.shape[1]:  # unique: each weight in units of its own
        units = design.T.row_units()
        scaled = design.T.scale_rows(units)
        z = (scaled @ scaled.T).solve(scaled @ target, "the batch problem")
        omega = z.scale_rows(units)
    else:
        reduced = design @ basis
        omega = basis @ (reduced.T @ reduced).solve(reduced.T @ target, "the batch problem")
    omega.check_digits("the minimiser of the batch problem", 1)
    return omega


def _nonnegative_least_squares(ops: Operators, gram: Matrix, right: Matrix) -> Matrix:
    """Lawson and Hanson's algorithm on the normal equations.

    1. From omega = 0 and no free index, take the index with the largest gradient into
       the free set (Bland's first index, once exact numbers repeat).
    2. Solve for the free indices; while one would turn nonpositive, go as far as the
       bound and take it out.
    3. Stop when no gradient outside is positive.
    """
    arithmetic, n = ops.arithmetic, ops.n
    tolerance = 0 if arithmetic.kind != "float" else 1e-12 * max(map(abs, right.entries()))
    omega = [arithmetic.zero] * n
    free: list[int] = []
    for _ in range(10 * n + 10):
        gradient = (right - gram @ arithmetic.column(omega)).entries()
        candidates = [
            i for i in range(n) if i not in free and arithmetic.sign(gradient[i] - tolerance) > 0
        ]
        if not candidates:
            return arithmetic.column(omega)
        free.append(max(candidates, key=lambda i: gradient[i]))
        while free:
            trial = dict(zip(free, _free_solution(gram, right, free), strict=True))
            bad = [i for i in free if arithmetic.sign(trial[i]) <= 0]
            if not bad:
                omega = [trial.get(i, arithmetic.zero) for i in range(n)]
                break
            step = min(omega[i] / (omega[i] - trial[i]) for i in bad if omega[i] != trial[i])
            for i in free:
                omega[i] = omega[i] + step * (trial[i] - omega[i])
            free = [i for i in free if arithmetic.sign(omega[i]) > 0]
    raise MathematicalError("the active-set method did not end; please report this problem")


def _free_solution(gram: Matrix, right: Matrix, free: list[int]) -> list[Any]:
    """The least-squares solution in the free weights; their columns are kept independent."""
    return gram.submatrix(free, free).solve(right.submatrix(free, [0])).entries()
