"""Certificates are found for matrices of any size of number, near the axis too, and only for what is so."""

from fractions import Fraction

import pytest
import sympy as sp

from obliquetd.algebra import EXACT
from obliquetd.dynamics.certificate import _exact_lyapunov, make_certificate
from obliquetd.dynamics.check import check_certificate
from obliquetd.errors import MathematicalError

R = sp.Rational
TINY, HUGE = R(1, 10**40), R(10**40)


def matrix(rows):
    n = len(rows)
    return EXACT.matrix([[EXACT.scalar(R(v)) for v in row] for row in rows], (n, n))


def made(rows, verdict):
    """A certificate of a matrix that is all there is: A = Q, in the unit basis."""
    n, Q = len(rows), matrix(rows)
    return make_certificate(Q, EXACT.identity(n), Q, verdict)


def scaled(factor, rows):
    return [[factor * R(v) for v in row] for row in rows]


LARGE = [[int(i == j) * 2 + int(i + 1 == j) for j in range(9)] for i in range(9)]
MATRICES = {
    "stable": [
        [[2]], [[1, 100], [0, 1]], [[1, -50], [50, R(1, 100)]], [[R(9, 10), R(-81, 100)], [0, R(1, 100)]],
        [[1, 2, 3], [0, 1, 2], [0, 0, 1]], [[R(1, 10**7), 1], [-1, R(1, 10**7)]], [[1, 10**4], [0, 1]], LARGE,
        [[1, 0], [0, R(1, 10**20)]], [[1, 1], [1, 1 + R(1, 10**20)]],
        [[1, 2, 0], [1, 2 + R(1, 10**20), 0], [0, 1, 3]],
    ],
    "unstable": [
        [[-1]], [[-1, 0], [0, 0]], [[1, 0], [0, R(-1, 100)]], [[1, 0, 0], [0, 0, 0], [0, 0, -1]],
        [[0, 1], [-1, R(-1, 100)]], [[1, 4], [4, 1]], [[R(-1, 1000), 1], [-1, 0]], [[-1, 0], [0, 1]],
        [[0, 0, 0], [0, R(-1, 50), 1], [0, -1, R(-1, 50)]], [[0, 1, 0], [-1, 0, 0], [0, 0, R(-1, 10)]],
    ],
}  # fmt: skip
SHORT = [[[2]], [[-1]], [[1, 100], [0, 1]], [[1, 4], [4, 1]]]
"""Matrices that short numbers certify."""
CASES = [(verdict, rows) for verdict, several in MATRICES.items() for rows in several]


@pytest.mark.parametrize(("verdict", "rows"), CASES, ids=lambda v: str(v)[:30])
@pytest.mark.parametrize("factor", [1, 3, TINY, HUGE], ids=["1", "3", "tiny", "huge"])
def test_a_certificate_is_found_and_holds(verdict, rows, factor):
    found = made(scaled(factor, rows), verdict)
    assert found["claim"] == verdict
    assert check_certificate(found)
    assert (
        found["A"] == found["quotient"] == [[str(v) for v in row] for row in scaled(factor, rows)]
    )
    if factor == 1 and rows in SHORT:
        assert max(len(v) for row in found["K"] for v in row) < 60


@pytest.mark.parametrize(
    ("rows", "vector"), [([[0]], ["1"]), ([[0, 1], [0, 2]], ["1", "0"]), ([[1, 2], [2, 4]], None)]
)
def test_the_eigenvalue_zero_is_certified(rows, vector):
    found = made(rows, "marginal")
    assert found["claim"] == "singular"
    assert check_certificate(found)
    assert vector is None or found["vector"] == vector


@pytest.mark.parametrize(
    ("rows", "verdict", "words"),
    [
        ([[0, 1], [-1, 0]], "marginal", "imaginary axis"),
        ([[-1]], "stable", "no certificate was found"),
        ([[1]], "unstable", "no certificate was found"),
        ([], "stable", "nothing to certify"),
    ],
)
def test_what_is_not_so_has_none(rows, verdict, words):
    with pytest.raises(MathematicalError, match=words):
        made(rows, verdict)


def test_the_size_up_to_which_k_is_solved_for_is_told_where_it_matters():
    with pytest.raises(MathematicalError) as small:
        made([[-1]], "stable")
    assert "denominators up to 1e+12" in str(small.value)
    assert "solved for exactly" not in str(small.value)
    rows = scaled(-1, LARGE)
    with pytest.raises(MathematicalError, match="solved for exactly up to size 8"):
        made(rows, "stable")


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 3)])
@pytest.mark.parametrize(
    "rows", [[[2]], [[1, 2], [0, 3]], [[1, 2, 3], [-1, 2, 0], [4, 0, 5]]], ids=str
)
def test_the_exact_solution_solves_the_equation(rows, rate):
    """Q'K + KQ + 2 rate K = I, for matrices that floats find singular as well."""
    n = len(rows)
    K = sp.Matrix(_exact_lyapunov(matrix(rows), rate)).applyfunc(R)
    Q = sp.Matrix(rows)
    assert K == K.T
    assert Q.T * K + K * Q + 2 * R(rate.numerator, rate.denominator) * K == sp.eye(n)


def test_the_exact_equation_of_a_singular_matrix_has_no_solution():
    assert _exact_lyapunov(matrix([[0]]), Fraction(0)) is None
    assert _exact_lyapunov(matrix([[1, 0], [0, -1]]), Fraction(0)) is None


def test_no_rate_is_named_where_none_is_needed():
    assert made([[-1]], "unstable")["rate"] == "0"
    assert Fraction(made([[-1, 0], [0, 0]], "unstable")["rate"]) > 0


def test_a_rate_is_found_beyond_the_size_that_is_solved_exactly():
    """diag(-1, 0, ..., 0): nothing but a rate makes S definite."""
    rows = [[-int(i == j == 0) for j in range(9)] for i in range(9)]
    assert check_certificate(made(rows, "unstable"))
