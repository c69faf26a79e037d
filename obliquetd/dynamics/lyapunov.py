"""The Lyapunov equation, in the package's own arithmetic."""

from __future__ import annotations

from obliquetd.algebra import Matrix

__all__ = ["solve_lyapunov"]


def solve_lyapunov(Q: Matrix, right: Matrix) -> Matrix:
    """The S with Q S + S Q' = right, for a symmetric right-hand side: a system for its upper triangle.

    Raises
    ------
    SingularError
        Where two eigenvalues of Q add up to 0.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> two = EXACT.identity(1).scaled(EXACT.one + EXACT.one)
    >>> solve_lyapunov(two, EXACT.identity(1)).public()
    Matrix([[1/4]])
    """
    m, arithmetic = Q.shape[0], Q.arithmetic
    if not m:
        return right
    q, wanted = Q.rows(), right.rows()
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    place = {pair: k for k, pair in enumerate(pairs)}
    system = [[arithmetic.zero] * len(pairs) for _ in pairs]
    for k, (i, j) in enumerate(pairs):  # (Q S + S Q')_ij = sum over l of q_il S_lj + q_jl S_il
        for t in range(m):
            for coefficient, a, b in ((q[i][t], t, j), (q[j][t], i, t)):
                column = place[min(a, b), max(a, b)]
                system[k][column] = system[k][column] + coefficient
    left = arithmetic.matrix(system, (len(pairs), len(pairs)))
    constants = arithmetic.column([wanted[i][j] for i, j in pairs])
    found = left.solve(constants, "the Lyapunov equation").entries()
    return arithmetic.matrix(
        [[found[place[min(i, j), max(i, j)]] for j in range(m)] for i in range(m)], (m, m)
    )
