"""The paper's batch problem: diagonal weights that minimise ||Lambda' Xi Omega Phi - C||_F."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import Matrix
from obliquetd.algebra.rounding import NO_DESCENT
from obliquetd.errors import MathematicalError
from obliquetd.problem.native import Operators

__all__ = ["BatchMinimizers", "batch_minimizers", "least_norm_batch"]


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
        omega = _least_norm(ops, design, target)
        what = "the minimiser of the batch problem"
        omega = omega.settled(what, ops.exactly(least_norm_batch))
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
    return _least_norm(ops, *_design(ops))


def _design(ops: Operators) -> tuple[Matrix, Matrix]:
    """M and c with criterion ||M omega - c||^2: column s of M is xi_s Lambda_s phi_s', as a vector."""
    Phi = ops.unit_Phi  # omega does not change with the scale of Phi
    Lambda = (ops.L_pi @ Phi).cleaned().scale_rows(ops.xi)
    return Lambda.row_outer(Phi).T, (Phi.T @ Phi.scale_rows(ops.xi)).flattened()


def _least_norm(ops: Operators, design: Matrix, target: Matrix) -> Matrix:
    """The least-squares solution of least norm: omega = B z, with B a basis of the row space."""
    basis = design.T.column_basis()
    ops.require_rank(
        basis.shape[1], lambda ops: _design(ops)[0], "the states' parts of the criterion"
    )
    if basis.shape[0] == basis.shape[1]:  # unique: each weight in units of its own
        units = design.T.row_units()
        scaled = design.T.scale_rows(units)
        z = (scaled @ scaled.T).solve(scaled @ target, "the batch problem")
        omega = z.scale_rows(units)
    else:
        reduced = design @ basis
        omega = basis @ (reduced.T @ reduced).solve(reduced.T @ target, "the batch problem")
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
    tolerance = 0 if arithmetic.kind != "float" else NO_DESCENT * max(map(abs, right.entries()))
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
