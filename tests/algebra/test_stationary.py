import importlib

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import EXACT, FLOAT, FieldArithmetic, FloatMatrix, parse_number, stationary


def irreducible(draw_weights, n):
    rows = [
        [w + (j == (i + 1) % n) for j, w in enumerate(row)] for i, row in enumerate(draw_weights)
    ]
    return [[f"{w}/{sum(row)}" for w in row] for row in rows]


@given(st.data(), st.integers(1, 5))
def test_xi_P_is_xi_in_every_arithmetic(data, n):
    weights = data.draw(
        st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=n, max_size=n)
    )
    P = irreducible(weights, n)
    exact = None
    for arithmetic in (EXACT, FieldArithmetic(), FLOAT):
        native = [[arithmetic.scalar(parse_number(x)) for x in row] for row in P]
        matrix = arithmetic.matrix(native, (n, n))
        xi = stationary(matrix)
        entries = [float(x) for x in xi.public_list()]
        assert sum(entries) == pytest.approx(1)
        if arithmetic is FLOAT:
            assert entries == pytest.approx(exact, rel=1e-13)
            sparse = stationary(FloatMatrix(scipy.sparse.csr_array(matrix.array)))
            assert sparse.entries() == pytest.approx(exact, rel=1e-9)
            assert xi.report.residual < 1e-15
        else:
            assert (matrix.T @ xi - xi).is_zero()
            exact = entries


def test_floats_keep_relative_accuracy_where_an_eigenvector_does_not():
    """A birth-death chain with rare steps up: pi_k = (up/down)^k pi_0, down to 1e-36."""
    up, down, n = 1e-9, 0.5, 5
    P = np.zeros((n, n))
    for k in range(n):
        P[k, min(k + 1, n - 1)] += up
        P[k, max(k - 1, 0)] += down
        P[k, k] += 1 - up - down
    weights = np.array([(up / down) ** k for k in range(n)])
    weights /= weights.sum()
    for order in (1, -1):  # both ends are eliminated first once
        turned = P[::order, ::order]
        for matrix in (turned, scipy.sparse.csr_array(turned)):
            xi = np.array(stationary(FloatMatrix(matrix)).entries())
            assert np.abs(xi / weights[::order] - 1).max() < 1e-13
    values, vectors = np.linalg.eig(
        P.T
    )  # negative control: the usual route loses the small entries
    naive = np.real(vectors[:, np.argmax(values.real)])
    naive = naive / naive.sum()
    assert abs(naive[-1] / weights[-1] - 1) > 1e-3


def test_sparse_elimination_gives_way_to_sparse_lu(monkeypatch):
    rng = np.random.default_rng(3)
    P = rng.random((40, 40)) * (rng.random((40, 40)) < 0.2) + np.roll(np.eye(40), 1, axis=1)
    P /= P.sum(axis=1, keepdims=True)
    eliminated = stationary(FloatMatrix(scipy.sparse.csr_array(P)))
    module = importlib.import_module("obliquetd.algebra.stationary")
    monkeypatch.setattr(module, "MOST_UPDATES", 10)
    factored = stationary(FloatMatrix(scipy.sparse.csr_array(P)))
    assert factored.report.condition > eliminated.report.condition == 1
    assert factored.entries() == pytest.approx(eliminated.entries(), rel=1e-10)


def test_periodic_chain_has_a_stationary_distribution():
    ring = np.roll(np.eye(6), 1, axis=1)
    assert stationary(FloatMatrix(ring)).entries() == pytest.approx([1 / 6] * 6)
