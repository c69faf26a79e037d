"""Rational functions around points near by, against their exact values."""

import flint
import numpy as np
import pytest

from obliquetd.algebra.centred import CentredFunctions
from obliquetd.algebra.functions import FunctionMatrix


def high_degree(rng, degree, size=2):
    """(x - 2)^degree times small polynomials over (x - 3)^degree: near 1 the powers of x cancel."""
    far = flint.fmpq_poly([-2, 1]) ** degree
    entries = [
        far * flint.fmpq_poly([int(c) for c in rng.integers(-5, 6, size=3)]) for _ in range(size**2)
    ]
    N = [flint.fmpq_mat(size, size, [p[k] for p in entries]) for k in range(degree + 3)]
    return flint.fmpq_poly([-3, 1]) ** degree, N


def rational(x):
    return flint.fmpq(*float(x).as_integer_ratio())


@pytest.mark.parametrize(("low", "high"), [((0, 1), (1, 1)), ((3, 4), (1, 1)), ((-1, 1), (1, 3)), ((101, 1), (102, 1))])  # fmt: skip
@pytest.mark.parametrize("degree", [0, 3, 40])
def test_balls_hold_exact_values_and_differences(low, high, degree):
    rng = np.random.default_rng(degree)
    low, high = flint.fmpq(*low), flint.fmpq(*high)
    D, N = high_degree(rng, degree)
    functions = CentredFunctions(D, N, 2, low, high)
    middle = rng.uniform(float(low), float(high), size=(3, 4))
    radius = np.full((3, 4), float(high - low) / 100)
    three = functions.in_floats(middle, radius)
    for at in np.ndindex(middle.shape):
        x = rational(middle[at])
        exact = functions.at(x)
        around = functions.over(flint.arb(middle[at], radius[at]))
        for i, j in np.ndindex(2, 2):
            gap = abs(exact[i, j] - rational(three[0].middle[at][i, j]))
            assert gap <= rational(three[0].radius[at][i, j])
            assert around[i, j].contains(flint.arb(exact[i, j]))
            # f(x + h) - f(x) - h f'(x) is within h^2 / 2 of the second derivative's ball
            h = rational(radius[at] / 2)
            slope, bend = (
                flint.arb(float(t.middle[at][i, j]), float(t.radius[at][i, j])) for t in three[1:]
            )
            beyond = functions.at(x + h)[i, j]
            assert (exact[i, j] + h * slope + h * h / 2 * bend).contains(flint.arb(beyond))


def test_terms_that_cancel_leave_digits_near_by():
    """Of degree 100 the powers of x lose all digits at 0.9, and those of x less a point near by lose few."""
    D, N = high_degree(np.random.default_rng(1), 100)
    at = np.array([0.9]), np.array([1e-3])
    plain = FunctionMatrix({"D": (D, N)}, 2).in_floats(*at)
    functions = CentredFunctions(D, N, 2, flint.fmpq(1, 2), flint.fmpq(1))
    value = functions.in_floats(*at)[0]
    assert (value.radius < 1e-8 * np.abs(value.middle)).all()
    assert plain is None or not (plain[0].radius < np.abs(plain[0].middle)).any()
