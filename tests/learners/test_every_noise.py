"""Every listed learner's noise at its fixed point: the limit of Cov / alpha, and floats against rationals."""

import numpy as np
import pytest

from obliquetd import efficiency, mean_dynamics
from obliquetd.domains import random_problem
from obliquetd.learners import LEARNERS


@pytest.mark.parametrize("key", LEARNERS)
def test_every_learner_has_its_noise(key):
    """A S A' = Sigma for the averaged S, or the reason why it is infinite or A unstable; floats agree."""
    exact = random_problem(3, 1, seed=8, discount="1/3")
    a, b = (efficiency(p, LEARNERS[key]()) for p in (exact, exact.replace(arithmetic="float")))
    assert a.is_finite == b.is_finite
    if not a.is_finite:
        assert a.reason
        return
    sigma = np.array(a.noise_covariance, dtype=float)
    assert np.asarray(b.noise_covariance) == pytest.approx(sigma, rel=1e-7, abs=1e-9)
    assert (np.linalg.eigvalsh(sigma) >= -1e-9 * np.abs(sigma).max()).all()
    dynamics = mean_dynamics(exact, LEARNERS[key]())
    if dynamics.is_stable():
        A = dynamics.A
        assert A * a.averaged * A.T == a.noise_covariance
