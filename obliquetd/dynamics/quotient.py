"""R^d modulo ker Phi, where no value moves; for gradient learners in both halves of (theta, w)."""

from __future__ import annotations

from obliquetd.algebra import Matrix
from obliquetd.operators import Operators

__all__ = ["quotient_basis"]


def quotient_basis(ops: Operators, doubled: bool) -> tuple[Matrix, Matrix, Matrix]:
    """N with columns spanning ker Phi, B spanning the row space, and (B'B)^-1 B'.

    A matrix A with A N = 0 acts on the quotient as (B'B)^-1 B' A B.
    """
    d = ops.Phi.shape[1]
    basis = ops.row_space
    B = ops.arithmetic.identity(d) if basis is None else basis
    N = ops.arithmetic.matrix([[]] * d, (d, 0)) if basis is None else ops.Phi.null_space()
    if doubled:
        B, N = _doubled(B), _doubled(N)
    return N, B, (B.T @ B).solve(B.T)


def _doubled(M: Matrix) -> Matrix:
    """diag(M, M)."""
    m, n = M.shape
    zero = [M.arithmetic.zero] * n
    rows = M.rows()
    return M.arithmetic.matrix(
        [*([*r, *zero] for r in rows), *([*zero, *r] for r in rows)], (2 * m, 2 * n)
    )
