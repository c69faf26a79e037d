"""Tall products by blocks of rows against the same product in one piece, values and bounds."""

import numpy as np
import pytest
import scipy.sparse as sparse

from obliquetd.algebra import FloatMatrix, float_solve
from obliquetd.algebra.rounding import BLOCK, EPS
from obliquetd.algebra.tall import column_sizes, gram, is_tall

ROWS = BLOCK + 100


def parts(seed=0, d=3):
    rng = np.random.default_rng(seed)
    i = np.repeat(np.arange(ROWS), 2)
    M = sparse.csr_array(
        (rng.normal(size=2 * ROWS), (i, rng.integers(ROWS, size=2 * ROWS))), (ROWS, ROWS)
    )
    X, R = (rng.normal(size=(ROWS, d)) * 10.0 ** rng.integers(-8, 8, size=d) for _ in range(2))
    w = FloatMatrix(rng.random((ROWS, 1)))
    return FloatMatrix(X).scale_rows(w), FloatMatrix(M), FloatMatrix(R)


@pytest.mark.parametrize("between", [True, False])
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_a_product_by_blocks_is_the_product_and_so_are_its_bounds(between, balanced, known):
    X, M, R = parts()
    if known:  # bounds of the right factor entry by entry
        R = FloatMatrix(R.array, error=np.abs(R.array) * 3 * EPS)
    chain = (M, R) if between else (R,)
    assert is_tall(X, chain)
    found = X.cross(*chain, balanced=balanced)
    left = X.balanced() if balanced else X
    wanted = left.T @ (M @ R if between else R)
    assert (np.abs(found.array - wanted.array) <= wanted.error).all()
    assert found.error == pytest.approx(wanted.error, rel=0.05)


def test_rows_of_a_product_by_blocks_are_those_of_the_product():
    _, M, R = parts(1)
    wanted = M @ R
    places = []
    for rows, found in M.row_products(R):
        places.append(rows)
        assert (found.array == wanted.array[rows]).all()
        assert found.error == pytest.approx(wanted.error[rows], rel=0.01)
    assert [(p.start, p.stop) for p in places] == [(0, BLOCK), (BLOCK, ROWS)]


def test_a_part_has_the_bounds_of_the_whole():
    X, _, _ = parts(2)
    rows = slice(5, 9)
    before = X.part(rows)
    assert before.error == pytest.approx(X.error[rows], rel=1e-12)
    assert (X.balanced().part(rows).array == X.balanced().array[rows]).all()


def test_the_error_of_a_tall_solution_times_features_is_made_by_rows():
    """The errors of theta belong together: they cancel in Phi theta as in one piece."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(3, 3))
    theta = FloatMatrix(A).general_solution(FloatMatrix(rng.normal(size=(3, 1)))).particular
    Phi = rng.normal(size=(ROWS, 3))
    tall, short = FloatMatrix(Phi) @ theta, FloatMatrix(Phi[:50]) @ theta
    assert tall.error[:50] == pytest.approx(short.error, rel=1e-12)


def test_sizes_of_columns_need_no_copy():
    assert column_sizes(np.array([[1.0, -3.0], [-2.0, 0.5]])).tolist() == [2.0, 3.0]
    assert column_sizes(np.zeros((0, 2))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("d", "e"), [(1, 1), (3, 5), (32, 32), (7, 600)])
@pytest.mark.parametrize("rows", [1, 255, 5_000])
def test_a_product_in_pieces_is_the_product(d, e, rows):
    rng = np.random.default_rng(d)
    x, y = rng.integers(-9, 9, size=(rows, d)), rng.integers(-9, 9, size=(rows, e))
    assert (gram(x.astype(float), y.astype(float)) == x.T @ y).all()


@pytest.mark.parametrize("rows", [slice(7, 300), [5, ROWS - 1, 5]])
def test_a_part_of_a_product_is_made_anew_with_the_bounds_of_the_whole(rows):
    _, M, R = parts(3)
    product, whole = M @ R, (M @ R).error
    part = product.part(rows)
    assert (part.array == product.array[rows]).all()
    assert part.error == pytest.approx(whole[rows], rel=0.01)


def test_many_right_sides_of_a_large_sparse_system_have_bounds_that_hold(monkeypatch):
    """Column by column, against all of them at once and against a right side made for known solutions."""
    rng = np.random.default_rng(4)
    n = ROWS
    to = rng.integers(n, size=(n, 3))
    to[:, 0] = (np.arange(n) + 1) % n
    P = sparse.csr_array((np.full(3 * n, 0.3), (np.repeat(np.arange(n), 3), to.ravel())), (n, n))
    A = FloatMatrix(sparse.csr_array(sparse.eye_array(n) - P))
    known = rng.integers(-8, 9, size=(n, 3)) * 10.0 ** np.array([0, 150, -90])
    exact = A.array.astype(np.longdouble) @ known.astype(np.longdouble)
    right = FloatMatrix(exact.astype(float))
    found = A.solve(right)
    assert (np.abs(found.array - known) <= found.error).all()
    rows = slice(40, 90)
    assert (found.part(rows).error == found.error[rows]).all()
    monkeypatch.setattr(float_solve, "BLOCK", 10 * n)
    plain = A.solve(right)
    assert (plain.array == found.array).all()
    assert (found.error >= 0.99 * plain.error).all()
    assert (found.error < 30 * plain.error).all()
    assert found.report.residual == pytest.approx(plain.report.residual, abs=2 * EPS)
    assert found.report.condition == pytest.approx(plain.report.condition, rel=2)
    assert plain.report.condition < found.report.condition * 1.01
