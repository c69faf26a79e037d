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
