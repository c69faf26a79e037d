import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, features
from obliquetd.errors import FeatureError

mdp = MDP.from_transitions([(k, 0, (k + 1) % 4, 1, k) for k in range(4)])


def matrix(phi, **kwargs):
    return PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=phi, discount="1/2", **kwargs
    ).Phi


def test_tabular_is_the_default():
    assert matrix(features.tabular(mdp)) == matrix(None) == sp.eye(4)


def test_makers():
    assert matrix(features.constant(mdp)) == sp.ones(4, 1)
    groups = {0: "even", 1: "odd", 2: "even", 3: "odd"}
    assert matrix(features.aggregation(mdp, groups)) == sp.Matrix([[1, 0], [0, 1], [1, 0], [0, 1]])
    assert list(matrix(features.polynomial(mdp, 2))[3, :]) == [1, 3, 9]
    half = features.polynomial(mdp, 1, lambda s: sp.Rational(s, 2))
    assert matrix(half)[3, 1] == sp.Rational(3, 2)
    assert features.random(mdp, 3, 5) == features.random(mdp, 3, 5)
    assert matrix(features.random(mdp, 3, 5)).shape == (4, 3)
    with pytest.raises(FeatureError, match="state 3"):
        features.aggregation(mdp, {0: 0, 1: 0, 2: 0})


def test_fourier_basis_is_orthogonal_on_its_grid():
    """cos(pi c x) at the mid-points of a uniform grid is the discrete cosine basis."""
    phi = np.array(list(features.fourier(mdp, 3, lambda s: ((s + 0.5) / 4,)).values()))
    gram = phi.T @ phi
    assert np.allclose(gram, np.diag(np.diag(gram)))
    two = features.fourier(mdp, 1, lambda s: (s % 2, s // 2))
    assert [len(v) for v in two.values()] == [4] * 4
    assert matrix(features.fourier(mdp, 2)).dtype == float


def test_matrices_of_every_make_are_read():
    expected = matrix([[1, 2], [3, 4], [5, 6], [7, 8]])
    assert matrix(sp.Matrix([[1, 2], [3, 4], [5, 6], [7, 8]])) == expected
    assert matrix(np.arange(1, 9).reshape(4, 2)) == expected
    assert matrix([1, 2, 3, 4]) == sp.Matrix([1, 2, 3, 4])
    assert matrix({s: sp.Matrix([s, 1]) for s in mdp.states})[3, 0] == 3


def test_tile_coding_has_one_active_tile_of_each_tiling():
    points = np.random.default_rng(0).random((50, 2))
    active = features.tile_coding(points, bins=4, tilings=8)
    assert active.shape == (50, 8 * 25)
    blocks = active.toarray().reshape(50, 8, 25)
    assert (blocks.sum(axis=2) == 1).all()
    assert set(np.unique(blocks)) == {0, 1}


def test_points_share_as_many_tiles_as_they_are_close():
    """On a line with m tilings of width 1/b, points k/(m b) apart share m - k of them."""
    tilings, bins = 8, 3
    step = 1 / (tilings * bins)
    points = 1e-9 + step * np.arange(tilings * bins)[:, None]
    active = features.tile_coding(points, bins, tilings)
    shared = (active @ active.T).toarray()
    apart = np.abs(np.subtract.outer(np.arange(24), np.arange(24)))
    assert (shared == np.maximum(tilings - apart, 0)).all()


def test_the_corners_of_the_box_have_tiles():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    active = features.tile_coding(corners, bins=3, tilings=4)
    assert (np.diff(active.indptr) == 4).all()
    assert active.indices.max() < active.shape[1]


@pytest.mark.parametrize(
    ("points", "counts", "message"),
    [
        ([[0.5, 1.5]], (2, 2), r"coordinate 1 of point 0 is 1\.5"),
        ([[float("nan")]], (2, 2), "coordinate 0 of point 0 is nan"),
        ([0.5], (2, 2), "a row of k coordinates"),
        ([[0.5]], (0, 2), "bins is 0"),
        ([[0.5]], (2, True), "tilings is True"),
    ],
)
def test_points_without_tiles_are_refused(points, counts, message):
    with pytest.raises(FeatureError, match=message):
        features.tile_coding(np.array(points), *counts)
