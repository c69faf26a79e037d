"""Large sparse chains against the routes that they replace: dense elimination and dense solves."""

import importlib
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse

from obliquetd.algebra import FLOAT, FloatMatrix, stationary
from obliquetd.algebra.krylov import MonotoneSystem, layout
from obliquetd.algebra.large_chain import eliminated, walked
from obliquetd.errors import ConvergenceError, PrecisionWarning

route = importlib.import_module("obliquetd.algebra.stationary")
krylov = importlib.import_module("obliquetd.algebra.krylov")


def stochastic(n, states, following, weights):
    P = sparse.csr_array((weights, (states, following)), shape=(n, n))
    P.sum_duplicates()
    return sparse.csr_array(sparse.diags_array(1.0 / P.sum(axis=1)) @ P)


def far(n, seed, successors=5):
    """Every state moves to the next and to four others anywhere."""
    rng = np.random.default_rng(seed)
    following = rng.integers(n, size=(n, successors))
    following[:, 0] = (np.arange(n) + 1) % n
    states = np.repeat(np.arange(n), successors)
    return stochastic(n, states, following.ravel(), rng.random(n * successors) + 1e-3)


def near(n, seed):
    """Every state moves to five around it."""
    rng = np.random.default_rng(seed)
    following = (np.arange(n)[:, None] + np.arange(-2, 3)) % n
    return stochastic(n, np.repeat(np.arange(n), 5), following.ravel(), rng.random(5 * n) + 1e-3)


def periodic(n, seed):
    """Even states move to odd ones and back."""
    P = far(n, seed).tocoo()
    following = P.col // 2 * 2 + (1 - P.row % 2)
    following[P.col == (P.row + 1) % n] = P.col[P.col == (P.row + 1) % n]
    return stochastic(n, P.row, following, P.data)


def two_parts(n, seed, rare):
    """Two chains, with one move from each to the other, of that chance."""
    left, right = far(n // 2, seed), far(n - n // 2, seed + 1)
    across = sparse.csr_array(([rare], ([0], [0])), shape=(n // 2, n - n // 2))
    P = sparse.block_array([[left, across], [across.T, right]]).tocoo()
    return stochastic(n, P.row, P.col, P.data)


def drift(n, up):
    place = np.arange(n)
    following = np.r_[np.minimum(place + 1, n - 1), np.maximum(place - 1, 0)]
    return stochastic(n, np.r_[place, place], following, np.r_[np.full(n, up), np.full(n, 1 - up)])


@pytest.mark.parametrize("make", [far, near, periodic, lambda n, s: far(n, s, 3)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_walk_is_the_dense_elimination_within_its_bound(make, seed):
    P = make(300, seed)
    exact = route._dense(P.toarray())
    found = walked(P)
    if make is near:  # it mixes in some n^2 steps
        assert found is None
        return
    xi, condition = found
    assert np.abs(xi / exact - 1).max() < (8 + 4 * 300**0.5) * condition * np.finfo(float).eps
    assert np.abs(xi / exact - 1).max() < 1e-13


@pytest.mark.parametrize("rare", [1e-6, 1e-12, 1e-17, 1e-200])
def test_a_walk_that_hardly_ever_changes_parts_is_given_up(rare):
    """Each step changes the weights by less than rounding, and they are wrong by a half."""
    assert walked(two_parts(400, 5, rare)) is None


@pytest.mark.parametrize(
    "make", [near, far, periodic, lambda n, s: two_parts(n, s, 1e-13), lambda n, s: drift(n, 0.3 + s / 5)]
)  # fmt: skip
@pytest.mark.parametrize("seed", [0, 2])
def test_the_band_is_eliminated_as_the_dense_matrix_is(make, seed):
    P = make(150, seed)
    exact = route._dense(P.toarray())
    assert np.abs(eliminated(P, *layout(P)) / exact - 1).max() < 1e-13


@pytest.mark.parametrize("up", [0.3, 0.7])
@pytest.mark.parametrize("order", [1, -1])
def test_a_long_band_keeps_its_digits_where_weights_leave_the_range_of_floats(up, order):
    n = 5_000
    P = sparse.csr_array(drift(n, up)[::order][:, ::order])
    logs = np.arange(n) * np.log(up / (1 - up))
    right = np.exp(logs - logs.max())
    right = (right / right.sum())[::order]
    with pytest.warns(PrecisionWarning, match="below the smallest float"):
        xi = stationary(FloatMatrix(P)).dense().ravel()
    seen = right > 1e-300
    assert np.abs(xi[seen] / right[seen] - 1).max() < 1e-11


@pytest.mark.parametrize("make", [far, periodic, near])
def test_every_route_of_a_large_chain_is_stationary(make):
    P = make(2_100, 7)
    xi = stationary(FloatMatrix(P))
    assert xi.report.residual < 1e-13
    solved = route._by_linear_solve(P)[0] if make is not near else route._elimination(P)
    assert np.abs(xi.dense().ravel() / solved - 1).max() < 1e-9


@pytest.mark.slow
def test_two_parts_of_far_moves_are_eliminated():
    """Two thousand states, which a walk gives up: half the weight is in each to 1e-10 of a move."""
    P = two_parts(2_100, 7, 1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xi = stationary(FloatMatrix(P))
    exact = route._dense(P.toarray())
    assert np.abs(xi.dense().ravel() / exact - 1).max() < 1e-12


@pytest.mark.parametrize("gamma", [0.5, 0.99, 0.9999])
@pytest.mark.parametrize("make", [far, periodic, lambda n, s: two_parts(n, s, 1e-9)])
@pytest.mark.parametrize("transposed", [False, True])
def test_iterated_values_are_those_of_factors(monkeypatch, gamma, make, transposed):
    P = make(500, 3)
    A = sparse.csr_array(sparse.eye_array(500) - gamma * P)
    A = sparse.csr_array(A.T) if transposed else A
    b = np.random.default_rng(4).standard_normal((500, 2))
    plain = FloatMatrix(A).solve(FloatMatrix(b))
    monkeypatch.setattr(krylov, "LARGEST_FACTORED", 10)
    monkeypatch.setattr(krylov, "CHEAP_BAND", 0)
    system = MonotoneSystem.of_matrix(A)
    assert system is not None
    found = FloatMatrix(A).solve(FloatMatrix(b))
    exact = np.linalg.solve(A.toarray(), b)
    assert np.abs(found.array - exact).max() <= 1e-12 / (1 - gamma) * np.abs(exact).max()
    assert (np.abs(found.array - plain.array) <= found.error + plain.error).all()
    inverse = np.abs(np.linalg.inv(A.toarray()))
    for w in (np.ones(500), np.random.default_rng(5).random(500) ** 9):
        true = (inverse @ w).max()
        assert 0.999 * true <= system.largest_growth(w) <= 20 / krylov.FLOOR * true
    assert system.largest_growth(np.zeros(500)) == 0.0


def test_a_system_of_another_kind_is_factored(monkeypatch):
    monkeypatch.setattr(krylov, "LARGEST_FACTORED", 10)
    monkeypatch.setattr(krylov, "CHEAP_BAND", 0)
    A = sparse.csr_array(sparse.eye_array(100) - 0.9 * far(100, 0))
    assert MonotoneSystem.of_matrix(A) is not None
    assert MonotoneSystem.of_matrix(sparse.csr_array(-A)) is None
    assert MonotoneSystem.of_matrix(sparse.csr_array(A + sparse.eye_array(100, k=1))) is None
    monkeypatch.setattr(krylov, "CHEAP_BAND", 1e9)
    assert MonotoneSystem.of_matrix(A) is None


@pytest.mark.parametrize("can_factor", [True, False])
def test_what_does_not_converge_is_factored_or_an_error(monkeypatch, can_factor):
    """Two steps are too few; never is their answer given out."""
    monkeypatch.setattr(krylov, "LARGEST_FACTORED", 10)
    monkeypatch.setattr(krylov, "CHEAP_BAND", 0)
    monkeypatch.setattr(krylov, "BASIS", 2)
    monkeypatch.setattr(krylov, "RESTARTS", 1)
    if not can_factor:
        monkeypatch.setattr(krylov, "LARGEST_BAND", 0)
    A = FloatMatrix(sparse.csr_array(sparse.eye_array(400) - 0.999 * far(400, 0)))
    b = FloatMatrix(np.random.default_rng(0).random((400, 1)))
    if can_factor:
        exact = np.linalg.solve(A.dense(), b.array)
        assert np.abs(A.solve(b).array - exact).max() < 1e-10 * np.abs(exact).max()
        assert A.T.solve(b).report.residual < 1e-14
        return
    with pytest.raises(
        ConvergenceError, match="of 400 equations stopped with a backward error"
    ) as e:
        A.solve(b)
    assert e.value.residual > 1e-14


def test_a_singular_system_of_a_chain_without_discount_is_never_solved(monkeypatch):
    monkeypatch.setattr(krylov, "LARGEST_FACTORED", 10)
    monkeypatch.setattr(krylov, "CHEAP_BAND", 0)
    from obliquetd.errors import SingularError

    A = FLOAT.identity(600) - FloatMatrix(far(600, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        with pytest.raises((SingularError, ConvergenceError)):
            A.solve(FloatMatrix(np.random.default_rng(0).random((600, 1))))


WAYS = ("LARGEST_FACTORED", "CHEAP_BAND", "LARGEST_BAND", "LARGEST_FILL", "SHAPE")


@pytest.mark.parametrize("value", [0, 1e300])
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("made", [far, near, periodic], ids=lambda x: x.__name__)
def test_every_way_of_solving_a_large_system_answers_the_same(made, name, value, monkeypatch):
    """Each number that chooses a way is put below and above all sizes, where the others leave it the choice."""
    monkeypatch.setattr("obliquetd.algebra.storage.SPARSE_FROM", 0)
    for other in WAYS[: WAYS.index(name)]:
        monkeypatch.setattr(krylov, other, 0)
    monkeypatch.setattr(krylov, name, value)
    n = 240
    P = made(n, 5)
    rng = np.random.default_rng(1)
    b = np.c_[
        rng.random(n), np.where(np.arange(n) % 7, 0.0, rng.random(n) - 0.5)
    ]  # one sparse, of both signs
    system = FloatMatrix(sparse.csr_array(sparse.eye_array(n) - 0.995 * P))
    for A in (system, system.T):
        found = A.solve(FloatMatrix(b), "the system")
        wanted = np.linalg.solve(A.array.toarray(), b)
        gap = np.abs(found.array - wanted)
        assert (gap <= 1e-9 * np.abs(wanted).max(axis=0)).all()
        assert (gap <= 10 * np.asarray(found.dense_error()) + 1e-12).all()
