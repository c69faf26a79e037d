"""The smallest real part of an eigenvalue of many matrices, against LAPACK."""

from types import SimpleNamespace

import numpy as np
import pytest

from obliquetd.dynamics.block_margins import margins


def means(A):
    """Expected updates whose updates span everything, in no doubt."""
    size = A.shape[1]
    return SimpleNamespace(
        A=A,
        in_doubt=np.zeros(len(A), dtype=bool),
        gram=lambda which: np.broadcast_to(np.eye(size), (len(which), size, size)),
        least_rank=lambda which: 0,
    )


def by_lapack(A):
    return np.linalg.eigvals(A).real.min(axis=1) / np.linalg.norm(A, axis=(1, 2))


def drawn(size, count=3000):
    """Gaussian ones, of all sizes, some shifted so that they are near the axis, and whole ones with repetitions."""
    rng = np.random.default_rng(size)
    A = rng.normal(size=(count, size, size))
    shift = np.linalg.eigvals(A).real.min(axis=1) * rng.choice([0, 1, 1 + 1e-5, 3], size=count)
    A -= shift[:, None, None] * np.eye(size)
    A[: count // 4] = rng.integers(-2, 3, size=(count // 4, size, size))
    A = A[np.abs(A).max(axis=(1, 2)) > 0]
    return A * 10.0 ** rng.integers(-9, 9, size=len(A))[:, None, None]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_each_size_has_the_eigenvalues_of_lapack(size):
    A = drawn(size)
    found, doubt = margins(means(A))
    assert not doubt.any()
    simple = np.abs(np.linalg.det(A / np.linalg.norm(A, axis=(1, 2))[:, None, None])) > 1e-6
    np.testing.assert_allclose(found[simple], by_lapack(A[simple]), atol=1e-5)
    assert np.median(np.abs(found - by_lapack(A))) < 1e-13


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_what_is_left_out_is_never_below_what_was_asked(size):
    """A number of each block, often its own smallest real part, a little more, or a little less."""
    A = drawn(size)
    rng = np.random.default_rng(7)
    true = by_lapack(A)
    below = true + rng.choice([-1, 1], size=len(A)) * 10.0 ** rng.uniform(-6, 0.5, size=len(A))
    below[::17] = np.inf
    found, _ = margins(means(A), below)
    whole, _ = margins(means(A))
    out = np.isinf(found)
    assert (whole[out] >= below[out] - 1e-7).all()
    assert (found[~out] == whole[~out]).all()
    if size in (3, 4):
        assert out.sum() > 0.5 * (below < true).sum()  # most that need no eigenvalues are told


def test_zero_cannot_be_unstable():
    A = np.zeros((3, 2, 2))
    A[1] = [[1, 2], [3, 4]]
    found, doubt = margins(means(A))
    assert np.isinf(found[[0, 2]]).all()
    assert found[1] == pytest.approx((5 - np.sqrt(33)) / 2 / np.sqrt(30))
    assert not doubt.any()


@pytest.mark.parametrize("size", [2, 3])
def test_squares_beyond_floats_are_in_doubt(size):
    A = np.array([np.eye(size), 1e200 * np.eye(size)])
    found, doubt = margins(means(A))
    assert doubt.tolist() == [False, True]
    assert found[0] == pytest.approx(size**-0.5)


@pytest.mark.parametrize(
    ("A", "gram", "wanted"),
    [
        (
            [[2, 2], [2, 2]],
            [[1, 1], [1, 1]],
            4 / 4,
        ),  # on (1, 1) it is 4, and 0 is of the complement
        ([[2, 2], [2, 2]], [[1, 0], [0, 1]], 0.0),  # where all is moved, 0 counts
        ([[-1, 0], [0, 0]], [[3, 0], [0, 0]], -1.0),
        ([[0, 1], [0, 0]], [[1, 0], [0, 0]], 0.0),
    ],
)
def test_a_singular_matrix_of_two_rows_is_judged_on_its_span(A, gram, wanted):
    made = means(np.array([A], dtype=float))
    made.gram = lambda which: np.array([gram], dtype=float)
    found, doubt = margins(made)
    assert found[0] == pytest.approx(wanted, abs=1e-12)
    assert not doubt[0]
    wide = np.zeros((1, 3, 3))  # the same among three weights, by the general way
    wide[0, :2, :2] = A
    made = means(wide)
    span = np.zeros((1, 3, 3))
    span[0, :2, :2] = gram
    made.gram = lambda which: span
    assert margins(made)[0][0] == pytest.approx(wanted, abs=1e-12)


def test_a_span_that_rounding_hides_is_in_doubt():
    made = means(np.array([[[1.0, 0.0], [0.0, 0.0]]]))
    made.gram = lambda which: np.array([[[1.0, 0.0], [0.0, 1e-12]]])
    assert margins(made)[1][0]
    made.gram = lambda which: np.zeros((1, 2, 2))
    assert margins(made)[1][0]
    made.gram = lambda which: np.array([[[1.0, 0.0], [0.0, 0.0]]])
    assert not margins(made)[1][0]
    made.least_rank = lambda which: np.array([2])  # memories may reach more
    assert margins(made)[1][0]
