"""Proofs in ball arithmetic against eigenvalues that are known."""

import flint
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd.algebra import EXACT
from obliquetd.algebra.enclosures import (
    LARGEST_IN_BALLS,
    balls,
    form_side,
    lyapunov_side,
    side_of_axis,
    side_within,
)
from obliquetd.dynamics.stability import definiteness, verdict_of, verdict_on


def similar(blocks, seed):
    """A rational matrix with the given diagonal blocks, in other coordinates."""
    D = sp.diag(*blocks)
    rng = np.random.default_rng(seed)
    n = D.shape[0]
    L = sp.Matrix(n, n, lambda i, j: 1 if i == j else int(rng.integers(-2, 3)) if i > j else 0)
    return L * D * L.inv()


def native(M):
    rows = [[EXACT.scalar(x) for x in M.row(i)] for i in range(M.shape[0])]
    return EXACT.matrix(rows, M.shape)


PAIR = sp.Matrix([[0, 2], [-2, 0]])
JORDAN = sp.Matrix([[1, 1], [0, 1]])
ZEROS = sp.Matrix([[0, 1], [0, 0]])
TINY = sp.Rational(1, 10**60)
CASES = [
    ("stable", [*range(1, 10)]), ("stable", [JORDAN] * 5), ("stable", [TINY, *range(1, 9)]),
    ("unstable", [-TINY, *range(1, 9)]), ("unstable", [-1, PAIR, *range(1, 8)]),
    ("marginal", [PAIR, *range(1, 9)]), ("marginal", [PAIR, PAIR, JORDAN, 1, 2, 3]),
    ("marginal", [0, *range(1, 10)]), ("marginal", [ZEROS, PAIR, JORDAN, 1, 2, 3]),
    ("unstable", [3, -3, PAIR, 1, 2, 4, 5, 6]), ("stable", [TINY * sp.eye(2) + PAIR, *range(1, 8)]),
]  # fmt: skip


@pytest.mark.parametrize(("verdict", "blocks"), CASES, ids=str)
def test_large_verdicts(verdict, blocks):
    M = similar(blocks, len(blocks))
    assert verdict_on(native(M)) == (verdict, ())
    assert verdict_of(M.charpoly().all_coeffs()) == verdict
    side = side_of_axis(native(M).rows())
    assert side in (
        (1, None) if verdict == "stable" else (-1, None) if verdict == "unstable" else (None,)
    )


def test_large_forms():
    eye = sp.eye(9)
    assert definiteness(native(eye)) == "positive definite"
    assert definiteness(native(sp.diag(*range(9)))) == "positive semidefinite"
    assert definiteness(native(sp.diag(*range(8), -TINY))) == "indefinite"
    assert definiteness(native(sp.ones(9, 9))) == "positive semidefinite"
    assert form_side(native(sp.ones(9, 9)).rows()) is None


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(-8, 0))
def test_a_proof_holds_in_the_corners(size, seed, exponent):
    """Every matrix within the radius has its eigenvalues where they were said to be."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((size, size)) + rng.uniform(-1, 2) * np.eye(size)
    radius = np.abs(rng.standard_normal((size, size))) * 10**exponent
    side = side_within(A, radius)
    for _ in range(20):
        least = np.linalg.eigvals(A + radius * rng.choice([-1, 1], (size, size))).real.min()
        assert side is None or abs(least) < 1e-9 or np.sign(least) == side


@pytest.mark.parametrize("size", [3, LARGEST_IN_BALLS + 5])
def test_in_floats_and_in_balls_alike(size):
    A = np.diag(np.linspace(0.5, 2, size)) + np.triu(np.full((size, size), 0.1), 1)
    small, wide = np.full((size, size), 1e-9), np.full((size, size), 1.0)
    assert [side_within(M, small) for M in (A, -A)] == [1, -1]
    assert side_within(A, wide) is None
    assert side_within(A - 0.5 * np.eye(size), small) is None
    assert side_within(A * np.nan, small) is None
    assert side_within(A, small * np.inf) is None
    one_left = A.copy()
    one_left[0, 0] = -1e-3
    assert side_within(one_left, small) == -1


def test_an_eigenvalue_left_of_the_axis_counts_beside_one_that_is_open():
    A = np.diag([-1.0, 0.0, 1.0])
    assert side_within(A, np.full((3, 3), 1e-6)) == -1


def test_rows_between_two_matrices():
    one, other = (balls(np.array([[v]]), np.zeros((1, 1))) for v in (1.0, 3.0))
    assert lyapunov_side(one, other) == 1
    assert lyapunov_side(one, balls(np.array([[-1.0]]), np.zeros((1, 1)))) is None
    assert flint.ctx.prec == 53
