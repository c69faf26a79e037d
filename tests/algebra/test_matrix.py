"""One table of systems through exact, symbolic (one and two symbols) and floating arithmetic."""

import numpy as np
import pytest
import scipy.sparse
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import EXACT, FLOAT, FieldArithmetic, FloatMatrix, parse_number
from obliquetd.algebra.factors import Factored
from obliquetd.errors import (
    KindError,
    PrecisionWarning,
    SignUndecidedError,
    SingularError,
    SizeError,
)
from tests.algebra.old_routes import solve_without_fractions

gamma, p = sp.symbols("gamma p")
ARITHMETICS = {
    "exact": EXACT,
    "one symbol": FieldArithmetic([gamma]),
    "two symbols": FieldArithmetic([gamma, p]),
    "float": FLOAT,
}
TOLERANCE = 1e-9


def make(arithmetic, rows, shape=None):
    native = [[arithmetic.scalar(parse_number(x)) for x in row] for row in rows]
    return arithmetic.matrix(native, shape or (len(native), len(native[0]) if native else 0))


def as_sympy(matrix):
    return sp.Matrix(
        *matrix.shape, [matrix.arithmetic.public(x) for row in matrix.rows() for x in row]
    )


def close(a, b):
    gap = as_sympy(a) - sp.Matrix(b)
    return all(abs(x) < TOLERANCE for x in gap) if a.arithmetic is FLOAT else gap.is_zero_matrix


@pytest.fixture(params=ARITHMETICS, ids=lambda k: k.replace(" ", "-"))
def arithmetic(request):
    return ARITHMETICS[request.param]


small = st.integers(-4, 4)


@given(st.data(), st.sampled_from(sorted(ARITHMETICS)), st.integers(1, 4))
def test_operations_agree_with_sympy(data, name, n):
    arithmetic = ARITHMETICS[name]
    rows = data.draw(st.lists(st.lists(small, min_size=n, max_size=n), min_size=n, max_size=n))
    other = data.draw(st.lists(st.lists(small, min_size=n, max_size=n), min_size=n, max_size=n))
    A, B = make(arithmetic, rows), make(arithmetic, other)
    a, b = sp.Matrix(rows), sp.Matrix(other)
    assert close(A @ B, a * b)
    assert close(A + B, a + b)
    assert close(A - B, a - b)
    assert close(A.T, a.T)
    assert A.rank() == a.rank()
    assert sp.Abs(arithmetic.public(A.det()) - a.det()) < TOLERANCE
    expected = a.charpoly().all_coeffs()
    assert all(
        abs(arithmetic.public(x) - y) < 1e-6 for x, y in zip(A.charpoly(), expected, strict=True)
    )
    null = A.null_space()
    assert null.shape[1] == n - a.rank()
    assert close(A @ null, sp.zeros(n, null.shape[1]))
    assert A.column_basis().shape[1] == a.rank()
    dots = [
        [sum(x * y for x, y in zip(r, s, strict=True))] for r, s in zip(rows, other, strict=True)
    ]
    assert close(A.row_dots(B), dots)
    if a.det() != 0:
        assert close(A.solve(B), a.LUsolve(b))
    else:
        with pytest.raises(SingularError) as caught:
            A.solve(B)
        vector = sp.Matrix(np.asarray(caught.value.null_vector).reshape(-1).tolist())
        assert (a * vector).norm() < TOLERANCE
        assert vector.norm() > 0


@given(st.data(), st.sampled_from(sorted(ARITHMETICS)), st.integers(1, 4), st.integers(1, 4))
def test_general_solution_is_the_whole_solution_set(data, name, m, n):
    arithmetic = ARITHMETICS[name]
    rows = data.draw(st.lists(st.lists(small, min_size=n, max_size=n), min_size=m, max_size=m))
    right = data.draw(st.lists(small, min_size=m, max_size=m))
    A, b = make(arithmetic, rows), make(arithmetic, [[x] for x in right])
    a, c = sp.Matrix(rows), sp.Matrix(right)
    found = A.general_solution(b)
    solvable = a.rank() == a.row_join(c).rank()
    assert (found.particular is not None) == solvable
    if solvable:
        assert close(A @ found.particular, c)
    assert found.null_space.shape == (n, n - a.rank())
    assert found.null_space.rank() == n - a.rank()
    assert close(A @ found.null_space, sp.zeros(m, n - a.rank()))


def test_empty_matrices(arithmetic):
    empty = arithmetic.matrix([[], []], (2, 0))
    assert empty.shape == (2, 0)
    assert (empty @ empty.T).shape == (2, 2)
    assert empty.rank() == 0
    assert arithmetic.identity(0).solve(arithmetic.matrix([], (0, 1))).shape == (0, 1)


def test_assemble_adds_entries_at_one_place(arithmetic):
    one = arithmetic.one
    values = np.array([one, one, one], dtype=float if arithmetic is FLOAT else object)
    A = arithmetic.assemble((2, 2), np.array([0, 0, 1]), np.array([1, 1, 0]), values)
    assert close(A, [[0, 2], [1, 0]])


@given(st.data(), st.integers(1, 4))
def test_interpolation_agrees_with_fraction_free_elimination(data, n):
    """Two routes to a solution over QQ(gamma)."""
    field = ARITHMETICS["one symbol"]
    entry = st.builds(
        lambda a, b, c, d: (a + b * gamma) / (c + d * gamma), small, small, st.integers(1, 3), small
    )
    rows = data.draw(st.lists(st.lists(entry, min_size=n, max_size=n), min_size=n, max_size=n))
    right = data.draw(st.lists(entry, min_size=n, max_size=n))
    A, b = make(field, rows), make(field, [[x] for x in right])
    if not A.det():
        with pytest.raises(SingularError):
            A.solve(b)
        return
    x = A.solve(b)
    assert (A @ x - b).is_zero()
    assert x._m == solve_without_fractions(A._m, b._m)


def test_solution_over_one_symbol_is_in_lowest_terms():
    field = ARITHMETICS["one symbol"]
    A = make(field, [[1 - gamma**2, 0], [0, 2 - 2 * gamma]])
    b = make(field, [[1 - gamma], [1 - gamma]])
    assert [field.public(v) for v in A.solve(b).entries()] == [1 / (gamma + 1), sp.Rational(1, 2)]
    for value in A.solve(b).entries():
        assert value == field.domain.from_sympy(field.public(value))


@given(st.lists(small, min_size=6, max_size=6), st.lists(small, min_size=6, max_size=6), small)
def test_public_form_is_factored_and_in_lowest_terms(a, b, c):
    field = ARITHMETICS["two symbols"]
    powers = [1, gamma, p, gamma * p, gamma**2, p**2]
    above, below = (sum(x * y for x, y in zip(v, powers, strict=True)) for v in (a, b))
    if below == 0:
        return
    value = field.scalar(parse_number(above * (gamma + c) / below))
    public = field.public(value)
    assert sp.cancel(public - above * (gamma + c) / below) == 0
    numerator, denominator = sp.fraction(public)
    assert sp.gcd(numerator, denominator).is_Rational
    for part in (numerator, denominator):
        for factor in sp.Mul.make_args(part):
            base = factor.as_base_exp()[0]
            assert base.is_Rational or len(sp.factor_list(base)[1]) == 1


def test_symbolic_sign_is_undecided_not_false():
    field = ARITHMETICS["one symbol"]
    with pytest.raises(SignUndecidedError, match=r"1 - 2\*gamma"):
        field.sign(field.scalar(1 - 2 * gamma))
    assert field.sign(field.scalar(parse_number("-1/2"))) == -1


def test_symbol_in_exact_arithmetic_is_named():
    with pytest.raises(KindError, match="gamma"):
        EXACT.scalar(gamma)


def test_size_is_refused_by_number():
    with pytest.raises(SizeError, match="20000"):
        ARITHMETICS["one symbol"].identity(20000)
    with pytest.raises(SizeError, match="20000"):
        EXACT.identity(20000)


def test_every_float_solve_carries_a_residual():
    rng = np.random.default_rng(0)
    A, b = FloatMatrix(rng.normal(size=(30, 30))), FloatMatrix(rng.normal(size=(30, 1)))
    x = A.solve(b)
    assert x.report.residual < 1e-14
    assert 0.1 < x.report.condition / np.linalg.cond(A.array, 1) < 10
    sparse = FloatMatrix(scipy.sparse.csr_array(A.array)).solve(b)
    assert np.allclose(sparse.array, x.array)
    assert 0.05 < sparse.report.condition / np.linalg.cond(A.array, 1) < 20


def test_a_nearly_singular_float_solve_says_how_few_digits_are_left():
    A = FloatMatrix(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-12]]))
    with pytest.warns(PrecisionWarning, match="correct digits"):
        A.solve(FloatMatrix(np.array([[1.0], [2.0]])))


def test_sparse_stays_sparse_and_large_dense_is_refused():
    eye = FLOAT.identity(20000)
    assert eye.sparse
    assert (eye @ eye.T + eye).sparse
    with pytest.raises(SizeError, match="20000"):
        eye.dense()


@pytest.mark.parametrize("seed", range(30))
def test_a_system_has_a_solution_however_rounding_moves_its_null_vectors(seed):
    """Phi' D Phi U x = Phi' D, on the star of Baird, with weights that differ by a last place."""
    rng = np.random.default_rng(seed)
    rows = np.c_[2 * np.eye(7), np.ones(7)]
    rows[6, 6:] = 1, 2
    Phi = FloatMatrix(rows)
    D = FloatMatrix(np.full((7, 1), 1 / 7) * (1 + rng.integers(-2, 3, (7, 1)) * 2.0**-53))
    X = Phi.balanced().scale_rows(D)
    U = FloatMatrix(np.linalg.svd(Phi.dense())[2][:7].T, error=0.0)
    A, b = X.T @ (Phi @ U), X.T @ FLOAT.identity(7)
    found = A.general_solution(b).particular
    assert found is not None
    assert np.allclose(Phi.dense() @ U.dense() @ found.dense(), np.eye(7), atol=1e-12)
    off = b.dense().copy()
    off[1, 3] += 1e-11
    assert A.general_solution(FloatMatrix(off)).particular is None


@pytest.mark.parametrize("n", [1, 3, 31, 64, 65, 150])
@pytest.mark.parametrize("columns", [None, 0, 1, 100])
def test_factors_solve_with_the_matrix_and_its_transpose(n, columns):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n)) + 3 * np.roll(np.eye(n), 1, axis=0)  # rows change places
    b = rng.normal(size=n if columns is None else (n, columns))
    factored = Factored.of(A)
    for solve, matrix in ((factored.solve, A), (factored.solve_transposed, A.T)):
        x = solve(b)
        assert x.shape == b.shape
        size = np.abs(matrix).sum(axis=1).max() * np.abs(x).max(initial=1.0)
        assert np.abs(matrix @ x - b).max(initial=0.0) < 1e-13 * size
    assert Factored.of(np.ones((2, 2))) is None


@pytest.mark.parametrize("nested", ["left", "right", "twice"])
def test_the_bounds_of_a_sum_of_thousands_are_those_of_its_parts(nested):
    part = FLOAT.matrix([[0.1, 3.0]], (1, 2))
    total, gap = part, part
    for _ in range(3_000):
        total = part + total if nested == "right" else total + part
        gap = total - gap if nested == "twice" else gap - part
    steps = np.arange(1, 3_002)
    least = 3_001 * part.error + sum(np.outer(steps[1:], [0.1, 3.0])) * np.finfo(float).eps
    assert total.error == pytest.approx(np.atleast_2d(least), rel=1e-6)
    assert np.isfinite(gap.error).all()
