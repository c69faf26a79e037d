"""Proofs in floats for stacks of matrices: they hold in the corners, and say nothing where that is not so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.float_proofs import proved_by, sides_between


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(-8, 0), st.floats(-3, 0))
def test_proofs_hold_between_and_in_the_corners(size, seed, exponent, apart):
    rng = np.random.default_rng(seed)
    first = rng.standard_normal((6, size, size)) + rng.uniform(-1, 2, (6, 1, 1)) * np.eye(size)
    second = first + rng.standard_normal((6, size, size)) * 10**apart
    radius = np.abs(rng.standard_normal((6, size, size))) * 10**exponent
    sides = sides_between(FloatBalls(first, radius), FloatBalls(second, radius))
    for k, side in enumerate(sides):
        for _ in range(20):
            share = rng.uniform()
            corner = radius[k] * rng.choice([-1, 1], (size, size))
            A = first[k] * share + second[k] * (1 - share) + corner
            least = np.linalg.eigvals(A).real.min()
            assert side is None or abs(least) < 1e-9 or np.sign(least) == side


def test_each_matrix_is_judged_by_itself():
    """One that is unbounded, or has dependent eigenvectors, or is open, spoils none beside it."""
    good, jordan = np.diag([1.0, 2.0]), np.array([[1.0, 1.0], [0.0, 1.0]])
    A = np.array([good, np.full((2, 2), np.nan), -good, jordan, np.diag([0.0, 1.0]), good])
    radius = np.full((6, 2, 2), 1e-9)
    radius[5] = np.inf
    assert sides_between(FloatBalls(A, radius)) == [1, None, -1, 1, None, None]


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1.0, 1e150])
def test_the_scale_does_not_matter(scale):
    A = np.array([[[1.0, 0.5], [0.0, 2.0]], [[-1.0, 0.5], [0.0, 2.0]]]) * scale
    assert sides_between(FloatBalls(A, np.abs(A) * 1e-12)) == [1, -1]


def test_a_radius_that_reaches_the_axis_is_no_proof():
    """S = A'K + KA is 2a, and the radius takes a down to 0 and no further."""
    one = np.ones((1, 1, 1))
    assert proved_by(one, [(one, one * 0.99)]) == [1]
    assert proved_by(one, [(one, one)]) == [None]
    assert proved_by(one * np.nan, [(one, one / 2)]) == [None]


def test_a_form_that_only_rounding_makes_positive_is_no_proof():
    """It is, by the last bit of an entry, which the factorisation may have made."""
    S = np.array([[[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]])
    assert proved_by(np.eye(2)[None], [(S / 2, np.zeros_like(S))]) == [None]
