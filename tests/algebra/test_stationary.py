import contextlib
import importlib
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sympy import QQ

from obliquetd.algebra import (
    EXACT,
    FLOAT,
    FieldArithmetic,
    FieldMatrix,
    FloatMatrix,
    parse_number,
    stationary,
)
from obliquetd.errors import PrecisionWarning, SingularError


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


def leave_the_linear_solve(monkeypatch):
    """No other route to the weights of a sparse chain."""
    module = importlib.import_module("obliquetd.algebra.stationary")
    for name, value in (("MOST_UPDATES", 10), ("CHEAP_BAND", 0), ("LARGEST_DENSE_CHAIN", 0)):
        monkeypatch.setattr(module, name, value)
    for route in ("eliminated", "walked"):
        monkeypatch.setattr(module, route, lambda *_: None)


def test_sparse_elimination_gives_way_to_sparse_lu(monkeypatch):
    rng = np.random.default_rng(3)
    P = rng.random((40, 40)) * (rng.random((40, 40)) < 0.2) + np.roll(np.eye(40), 1, axis=1)
    P /= P.sum(axis=1, keepdims=True)
    eliminated = stationary(FloatMatrix(scipy.sparse.csr_array(P)))
    leave_the_linear_solve(monkeypatch)
    factored = stationary(FloatMatrix(scipy.sparse.csr_array(P)))
    assert factored.report.condition > eliminated.report.condition == 1
    assert factored.entries() == pytest.approx(eliminated.entries(), rel=1e-10)


def test_periodic_chain_has_a_stationary_distribution():
    ring = np.roll(np.eye(6), 1, axis=1)
    assert stationary(FloatMatrix(ring)).entries() == pytest.approx([1 / 6] * 6)


@pytest.mark.parametrize("states", [450, 700, 1500])
@pytest.mark.parametrize(("up", "down"), [(0.2, 0.8), (0.8, 0.2), (0.3, 0.7)])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_weights_further_apart_than_floats_reach(states, up, down, order, form):
    """A walk whose weights fall as (up/down)^k: 4^-699 before they are normalised."""
    if form == "dense" and states > 700:
        pytest.skip("the same as 700, more slowly")
    place = np.arange(states)
    P = scipy.sparse.lil_array((states, states))
    for k in place:
        P[k, min(k + 1, states - 1)] += up
        P[k, max(k - 1, 0)] += down
    P = scipy.sparse.csr_array(P)[::order][:, ::order]
    logs = place * np.log(up / down)
    right = np.exp(logs - logs.max())
    right = (right / right.sum())[::order]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        xi = np.array(stationary(FloatMatrix(P.toarray() if form == "dense" else P)).entries())
    assert np.isfinite(xi).all()
    seen = right > 1e-300
    assert np.abs(xi[seen] / right[seen] - 1).max() < 1e-11
    assert [w.category for w in caught] == [PrecisionWarning] * bool((xi == 0).any())
    assert (xi == 0).sum() < 5 or "below the smallest float" in str(caught[0].message)


@pytest.mark.parametrize("rare", [1e-200, 1e-300, 1e-320])
def test_transitions_as_rare_as_floats_get(rare):
    """Two such steps in a row are rarer than any float; elimination multiplies them."""
    P = np.array([[0, 1 - rare, rare, 0], [1, 0, 0, 0], [0, 0, 1 - rare, rare], [1, 0, 0, 0]])
    said = pytest.warns(PrecisionWarning, match="of 1 states come out below the smallest float")
    with said if rare < 1e-307 else contextlib.nullcontext():
        xi = np.array(stationary(FloatMatrix(P)).entries())
    assert np.isfinite(xi).all()
    last = rare / 3 if rare > 1e-307 else 0.0
    assert xi == pytest.approx([1 / 3, 1 / 3, 1 / 3, last], rel=1e-12, abs=0)


def test_the_linear_solve_takes_no_rare_state_for_its_unit(monkeypatch):
    leave_the_linear_solve(monkeypatch)
    n = 600
    P = np.zeros((n, n))
    for k in range(n):
        P[k, min(k + 1, n - 1)] += 0.2
        P[k, max(k - 1, 0)] += 0.8
    with pytest.warns(PrecisionWarning, match="below the smallest float"):
        xi = np.array(stationary(FloatMatrix(scipy.sparse.csr_array(P))).entries())
    assert np.isfinite(xi).all()
    assert xi[:5] == pytest.approx([0.75 * 0.25**k for k in range(5)], rel=1e-9)


@pytest.mark.parametrize("n", [2, 7, 30])
def test_integers_of_rows_give_the_weights_that_rationals_give(n, monkeypatch):
    """Rows of long denominators that have nothing in common, and moves in a ring, against the solve in rationals."""
    rng = np.random.default_rng(n)
    weights = rng.integers(0, 10**6, size=(n, n)) * (rng.random((n, n)) < 0.5)
    long = EXACT.matrix(_scalars(irreducible(weights.tolist(), n)), (n, n))
    ring = EXACT.matrix(
        _scalars([[int(j == (i + 1) % n) for j in range(n)] for i in range(n)]), (n, n)
    )
    found = [stationary(P) for P in (long, ring)]
    monkeypatch.setattr(FieldMatrix, "stationary", lambda _: None)
    assert [x.entries() for x in found] == [stationary(P).entries() for P in (long, ring)]
    assert all((P.T @ x - x).is_zero() for P, x in zip((long, ring), found, strict=True))


def _scalars(rows):
    return [[EXACT.scalar(parse_number(x)) for x in row] for row in rows]


def test_a_chain_with_two_closed_classes_is_refused_in_rationals():
    with pytest.raises(SingularError, match="I - P without its last state is singular"):
        stationary(EXACT.matrix(_scalars([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), (3, 3)))


@pytest.mark.parametrize("n", [2, 15, 16, 17, 40])
def test_blocks_of_states_keep_the_digits_of_every_weight(n):
    """Dyadic chains, whose floats are exact, with moves down to 2^-40: against rationals, entry by entry."""
    rng = np.random.default_rng(n)
    moves = np.ldexp(
        rng.integers(1, 4, size=(n, n)).astype(float), -rng.integers(8, 41, size=(n, n))
    )
    P = np.where(np.eye(n, dtype=bool), 0.0, moves)
    P[np.diag_indices(n)] = 1.0 - P.sum(axis=1)
    found = np.array(stationary(FloatMatrix(P)).entries())
    exact = stationary(
        EXACT.matrix([[QQ(*x.as_integer_ratio()) for x in row] for row in P.tolist()], (n, n))
    )
    wanted = [QQ(*x.as_integer_ratio()) for x in found.tolist()]
    gaps = [abs(x / w - 1) for x, w in zip(wanted, exact.entries(), strict=True)]
    assert max(map(float, gaps)) < 1e-14
