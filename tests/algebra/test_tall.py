"""Tall products by blocks of rows against the same product in one piece, values and bounds."""

import numpy as np
import pytest
import scipy.sparse as sparse

from obliquetd.algebra import FloatMatrix
from obliquetd.algebra.rounding import BLOCK, EPS
from obliquetd.algebra.tall import column_sizes, is_tall

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
