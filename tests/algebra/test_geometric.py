"""Sums of powers of a chain's moves: every entry keeps its digits, and its bound holds."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import EXACT, FLOAT, FloatMatrix, geometric_sum
from obliquetd.algebra.watched import watched
from obliquetd.errors import SingularError

SMALL = [Fraction(1, 2**k) for k in (1, 3, 20, 52, 200)]


@st.composite
def chains(draw):
    """Moves, what they leak and a right-hand side, in dyadic fractions that floats hold whole."""
    n = draw(st.integers(1, 5))
    entry = st.sampled_from([Fraction(0), Fraction(0), *SMALL])
    moves = [[draw(entry) / n for _ in range(n)] for _ in range(n)]
    leak = [draw(st.sampled_from(SMALL)) for _ in range(n)]
    if draw(st.booleans()) and n > 1:  # the last state is left by moves alone
        leak[-1], moves[-1][0] = Fraction(0), draw(st.sampled_from(SMALL))
    right = [[Fraction(draw(st.integers(-3, 3))) for _ in range(2)] for _ in range(n)]
    return moves, leak, right


def exact(x):
    return EXACT.scalar(sp.Rational(x.numerator, x.denominator))


def exactly(moves, leak, right, transposed):
    """(I - kernel) X = right with what each row does not leak or move elsewhere on its diagonal."""
    n = len(moves)
    system = [
        [leak[i] + sum(moves[i]) - moves[i][i] if i == j else -moves[i][j] for j in range(n)]
        for i in range(n)
    ]
    L = EXACT.matrix([[exact(x) for x in row] for row in system], (n, n))
    b = EXACT.matrix([[exact(x) for x in row] for row in right], (n, 2))
    X = (L.T if transposed else L).solve(b, "the system")
    return [Fraction(int(x.numerator), int(x.denominator)) for row in X.rows() for x in row]


@given(chains(), st.booleans())
def test_entries_and_their_bounds(chain, transposed):
    moves, leak, right = chain
    n = len(moves)
    kernel = FloatMatrix(np.array(moves, dtype=float).reshape(n, n), error=0.0)
    found = geometric_sum(
        kernel, FLOAT.column([float(x) for x in leak]), FLOAT.matrix([[float(x) for x in r] for r in right], (n, 2)),
        "the sum", transposed=transposed,
    )  # fmt: skip
    wanted = exactly(moves, leak, right, transposed)
    sizes = exactly(moves, leak, [[abs(x) for x in row] for row in right], transposed)
    error = found.dense_error().ravel().tolist()
    for x, w, size, e in zip(found.dense().ravel().tolist(), wanted, sizes, error, strict=True):
        assert abs(Fraction(x) - w) <= Fraction(e)
        assert e <= 1e-12 * size  # whatever is leaked


@pytest.mark.parametrize("transposed", [False, True])
def test_a_class_that_is_never_left_is_singular(transposed):
    kernel = FLOAT.matrix([[0.0, 1.0], [1.0, 0.0]], (2, 2))
    with pytest.raises(SingularError, match="never left"):
        geometric_sum(
            kernel, FLOAT.column([0, 0]), FLOAT.column([1, 1]), "it", transposed=transposed
        )


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 40])
def test_blocks_are_no_matter(n, monkeypatch):
    from obliquetd.algebra import watched as room

    P = np.random.default_rng(n).random((n, n)) * (np.random.default_rng(1).random((n, n)) < 0.6)
    usual = watched(P)
    for size in (1, 5, 100):
        monkeypatch.setattr(room, "AT_ONCE", size)
        for a, b in zip(usual, watched(P), strict=True):
            assert np.allclose(np.nan_to_num(a), np.nan_to_num(b), rtol=1e-13)
