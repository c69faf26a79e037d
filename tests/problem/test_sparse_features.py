"""Features of scipy.sparse: kept as they are where they are large, and the same problem as dense ones."""

import gc
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sparse

from obliquetd import (
    ETD,
    GTD2,
    MDP,
    SETD,
    TD,
    Policy,
    PolicyEvaluation,
    efficiency,
    features,
    mean_dynamics,
    simulate,
)
from obliquetd.errors import FeatureError, NumberError
from obliquetd.experiments.streams import stored
from obliquetd.learners.active import Rows

N, D = 40, 600
rng = np.random.default_rng(0)
P = rng.dirichlet(np.ones(N) / 3, size=(2, N))
mdp = MDP.from_arrays(P, rng.normal(size=N))
points = rng.random((N, 1))


def problem(phi, **changes):
    fields = {"target": Policy.random(mdp, 1), "behavior": Policy.uniform(mdp), "discount": 0.9}
    return PolicyEvaluation(mdp, features=phi, **(fields | changes))


def wide():
    phi = features.tile_coding(points, bins=74, tilings=8)
    assert phi.shape == (N, D)
    return phi


def test_the_same_problem_as_with_dense_features():
    kept, dense = problem(wide()), problem(wide().toarray())
    assert sparse.issparse(kept.native.Phi.array)
    assert not sparse.issparse(dense.native.Phi.array)
    assert np.array_equal(kept.Phi.toarray(), dense.Phi)
    for name in ("xi", "v_pi", "r_pi"):
        assert np.allclose(getattr(kept, name), getattr(dense, name), rtol=1e-12)


def test_a_problem_with_something_changed_keeps_them():
    kept = problem(wide())
    for other in (kept.replace(discount=0.5), pickle.loads(pickle.dumps(kept))):
        assert sparse.issparse(other.native.Phi.array)
        assert np.array_equal(other.Phi.toarray(), kept.Phi.toarray())
    assert kept.replace(features=None).Phi.shape == (N, N)


def test_states_in_another_order_take_their_rows_along():
    kept = problem(wide())
    order = list(reversed(range(N)))
    turned = MDP.from_arrays(
        P[:, order][:, :, order], np.array(kept.r_pi)[order].ravel(), states=order
    )
    found = kept.replace(mdp=turned, target=Policy.uniform(turned), behavior=Policy.uniform(turned))
    assert np.array_equal(found.Phi, kept.Phi.toarray()[order])


def test_small_ones_and_exact_ones_are_read_as_numbers():
    small = problem(sparse.csr_array(np.eye(N)[:, :3] * 0.5))
    assert isinstance(small.native.Phi.array, np.ndarray)
    exact = PolicyEvaluation(
        MDP.from_transitions([(0, "a", 1, 1, 1), (1, "a", 0, 1, 0)]),
        target=Policy({0: {"a": 1}, 1: {"a": 1}}),
        features=sparse.csr_array((np.array([0.5]), ([0], [599])), (2, D)),
        discount="1/2",
        arithmetic="exact",
    )
    assert str(exact.Phi[0, 599]) == "1/2"


def test_what_was_given_may_change_afterwards():
    phi = wide().copy()
    kept = problem(phi)
    before = kept.Phi.toarray()
    phi.data[:] = 7.0
    assert np.array_equal(kept.replace(discount=0.5).Phi.toarray(), before)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_entry_is_named(bad):
    phi = wide().astype(float)
    k = phi.indptr[3] + 2
    phi.data[k] = bad
    with pytest.raises(NumberError, match=f"feature {phi.indices[k]} of state 3"):
        problem(phi)


def test_too_few_rows_are_refused():
    with pytest.raises(FeatureError, match="39 rows for 40 states"):
        problem(wide()[:39])


def test_a_simulation_is_that_of_dense_features():
    runs = [
        simulate(problem(phi), TD(0.05), 300, seed=3, every=10, keep_path=True)["TD"]
        for phi in (wide(), wide().toarray())
    ]
    for name in ("path", "rmse", "rmspbe"):
        assert np.allclose(getattr(runs[0], name), getattr(runs[1], name), rtol=1e-8, atol=1e-9)


def ring(phi, n=600):
    """A lazy ring, large enough for its matrices, and features that are mostly 0, to stay sparse."""
    stay, go = sparse.eye_array(n), sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
    reward = np.cos(np.arange(n))
    chain = sparse.csr_array(0.5 * stay + 0.5 * go)
    return PolicyEvaluation.from_chain(chain, reward, features=phi, discount=0.9)


def few(n=600, d=3):
    rng = np.random.default_rng(5)
    return sparse.csr_array(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.05))


@pytest.mark.parametrize(
    "learner", [TD(), TD(lam=0.5), SETD(), ETD(), GTD2()], ids=lambda x: x.label
)
def test_verdicts_and_fixed_points_are_those_of_dense_features(learner):
    kept, dense = (mean_dynamics(ring(phi), learner) for phi in (few(), few().toarray()))
    assert sparse.issparse(kept.problem.native.Phi.array)
    assert kept.stability.verdict == dense.stability.verdict == "stable"
    assert np.allclose(kept.A, dense.A, rtol=1e-9, atol=1e-15)
    assert np.allclose(kept.fixed_point(), dense.fixed_point(), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("form", [sparse.csr_array.copy, sparse.csr_array.toarray])
def test_the_noise_of_more_outcomes_than_python_nests_calls(form):
    """Sigma of TD(0) by the fundamental matrix: E U U' + C + C', C = sum over k >= 1 of E U_0 U_k'."""
    problem = ring(form(few()))
    n, phi, r = 600, few().toarray(), np.cos(np.arange(600))
    A = phi.T @ (phi - 0.45 * (phi + np.roll(phi, -1, axis=0))) / n
    theta = np.linalg.solve(A, phi.T @ r / n)
    deltas = [r + 0.9 * after @ theta - phi @ theta for after in (phi, np.roll(phi, -1, axis=0))]
    mean = sum(deltas)[:, None] / 2 * phi
    P = (np.eye(n) + np.roll(np.eye(n), 1, axis=1)) / 2
    ahead = np.linalg.solve(np.eye(n) - P + np.full((n, n), 1 / n), mean)
    after = [ahead, np.roll(ahead, -1, axis=0)]
    C = sum((d[:, None] * phi).T @ h for d, h in zip(deltas, after, strict=True)) / (2 * n)
    here = sum((d[:, None] * phi).T @ (d[:, None] * phi) for d in deltas) / (2 * n)
    found = efficiency(problem, TD())
    assert np.allclose(found.noise_covariance, here + C + C.T, rtol=1e-6, atol=1e-12)
    whole = np.linalg.solve(A, np.linalg.solve(A, here + C + C.T).T)
    assert np.allclose(found.averaged, whole, rtol=1e-6)


def test_tiles_take_the_memory_of_their_places_from_the_maker_to_the_learner():
    """2,000 states with 8 of 9,800 tiles active: 16,000 short indices, and nothing twice."""
    n = 2_000
    ring = sparse.csr_array((np.ones(n), (np.arange(n), np.arange(1, n + 1) % n)), (n, n))
    big = MDP.from_arrays([ring], np.zeros(n))
    corners = np.random.default_rng(0).random((n, 2))
    target = Policy.uniform(big)

    def made():
        phi = features.tile_coding(corners, bins=34, tilings=8)
        return phi, PolicyEvaluation(big, target=target, features=phi, discount=0.9)

    Rows.of(stored(made()[1].native.Phi))  # imports, and what is made once
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    phi = features.tile_coding(corners, bins=34, tilings=8)
    alone = tracemalloc.get_traced_memory()[0] - before
    before += alone
    whole = PolicyEvaluation(big, target=target, features=phi, discount=0.9)
    gc.collect()
    problem_too = tracemalloc.get_traced_memory()[0] - before
    before += problem_too
    table = Rows.of(stored(whole.native.Phi))
    table_too = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert phi.shape == (n, 9_800)
    assert alone < 80_000
    assert alone + problem_too < 120_000
    assert table_too < 2_000
    assert table.column is whole.inputs.features.indices is phi.indices


@pytest.mark.parametrize("n", [6_000, pytest.param(60_000, marks=pytest.mark.slow)])
def test_groups_of_many_states_need_nothing_of_states_by_states(n):
    """Where the 10 features were decomposed, so were as many directions as there are states: 600 MB of 6,000."""
    k = np.arange(n)
    P = sparse.csr_array(
        (np.full(2 * n, 0.5), (np.r_[k, k], np.r_[(k + 1) % n, (k + 7) % n])), (n, n)
    )
    groups = sparse.csr_array((np.ones(n), (k, k * 10 // n)), (n, 10))
    mdp = MDP.from_arrays([P], (k == 0).astype(float))
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=groups, discount=0.9)
    assert problem.xi[0] == pytest.approx(1 / n)
    tracemalloc.start()
    try:
        points = [problem.fixed_point(method) for method in ("td", "setd", "best")]
        assert all(0 < point.rmse < 1 for point in points)
        theta = mean_dynamics(problem, GTD2()).fixed_point()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert theta == pytest.approx(points[0].theta, rel=1e-6, abs=1e-9)
    assert peak < 8_000 * n  # bytes: 100 numbers a feature and state would be as much


def test_what_nobody_can_change_is_shared_and_all_else_is_copied():
    fixed = wide()
    assert problem(fixed).inputs.features is fixed
    for x in (fixed.copy(), 2 * fixed, fixed.tocsc(), fixed.tocoo(copy=True)):
        kept = problem(x).inputs.features
        before = kept.toarray()
        x.data[:] = 7
        assert np.array_equal(kept.toarray(), before)
        with pytest.raises(ValueError, match="read-only"):
            kept.data[0] = 0
    odd = fixed.copy()
    odd.data[::3] = 0  # kept zeros
    for part in (odd.data, odd.indices, odd.indptr):
        part.flags.writeable = False
    assert problem(odd).inputs.features.nnz == np.count_nonzero(odd.toarray())
    lent = fixed.copy()
    lent = sparse.csr_array((lent.data[:], lent.indices[:], lent.indptr[:]), lent.shape)
    for part in (lent.data, lent.indices, lent.indptr):
        part.flags.writeable = False  # the views alone
    assert problem(lent).inputs.features is not lent


def test_tiles_whose_ones_are_one_number_are_the_matrix_that_they_stand_for():
    phi = wide()
    plain = sparse.csr_array(phi.toarray())
    x, y = rng.random(D), rng.random(N)
    for f in (
        lambda a: a @ x, lambda a: a.T @ y, lambda a: (a @ a.T).toarray(), lambda a: a[3:9].toarray(),
        lambda a: a.multiply(a).sum(axis=1), lambda a: abs(a).max(axis=0).toarray(), lambda a: (0.5 * a).toarray(),
        lambda a: a.tocsc().toarray(), lambda a: a.astype(np.float32).toarray(), lambda a: a.copy().toarray(),
        lambda a: (a + a).toarray(), lambda a: pickle.loads(pickle.dumps(a)).toarray(),
        lambda a: sparse.vstack([a, a]).toarray(), lambda a: a.T.tocsr().toarray(),
    ):  # fmt: skip
        assert np.array_equal(f(phi), f(plain))
    changed = phi.copy()
    changed *= 3
    assert np.array_equal(changed.toarray(), 3 * plain.toarray())
