"""Certificates are found for matrices of any size of number, near the axis too, and only for what is so."""

import pytest
import sympy as sp

from obliquetd.algebra import EXACT
from obliquetd.dynamics.certificate import make_certificate
from obliquetd.dynamics.check import check_certificate
from obliquetd.errors import MathematicalError

R = sp.Rational
TINY, HUGE = R(1, 10**40), R(10**40)


def made(rows, verdict):
    """A certificate of a matrix that is all there is: A = Q, in the unit basis."""
    n = len(rows)
    Q = EXACT.matrix([[EXACT.scalar(R(v)) for v in row] for row in rows], (n, n))
    return make_certificate(Q, EXACT.identity(n), Q, verdict)


def scaled(factor, rows):
    return [[factor * R(v) for v in row] for row in rows]


LARGE = [[int(i == j) * 2 + int(i + 1 == j) for j in range(9)] for i in range(9)]
MATRICES = {
    "stable": [
        [[2]], [[1, 100], [0, 1]], [[1, -50], [50, R(1, 100)]], [[R(9, 10), R(-81, 100)], [0, R(1, 100)]],
        [[1, 2, 3], [0, 1, 2], [0, 0, 1]], [[R(1, 10**7), 1], [-1, R(1, 10**7)]], [[1, 10**4], [0, 1]], LARGE,
        [[1, 0], [0, R(1, 10**20)]],
    ],
    "unstable": [
        [[-1]], [[-1, 0], [0, 0]], [[1, 0], [0, R(-1, 100)]], [[1, 0, 0], [0, 0, 0], [0, 0, -1]],
        [[0, 1], [-1, R(-1, 100)]], [[1, 4], [4, 1]], [[R(-1, 1000), 1], [-1, 0]], [[-1, 0], [0, 1]],
        [[0, 0, 0], [0, R(-1, 50), 1], [0, -1, R(-1, 50)]], [[0, 1, 0], [-1, 0, 0], [0, 0, R(-1, 10)]],
    ],
}  # fmt: skip
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
    if factor == 1 and rows is not LARGE:  # short numbers where they will do
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


def test_numbers_beyond_the_rounding_are_solved_for_exactly():
    """Eigenvalues 1 and 10^-20: no K with denominators up to 10^12 and float entries will do."""
    found = made([[1, 10**15], [0, 1]], "stable")
    assert check_certificate(found)
