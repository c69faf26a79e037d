"""Exact stability, regions and moments, beside the floating-point answer to the same question."""

import numpy as np
import pytest

from obliquetd.domains import baird_star, random_problem
from obliquetd.dynamics import exact_moments, mean_dynamics, stability_region
from obliquetd.learners import SETD, TD


@pytest.mark.benchmark(group="dynamics")
@pytest.mark.parametrize("d", [10, 20, 40])
def test_exact_verdict(against, d):
    dyn = mean_dynamics(random_problem(d, d, seed=1), TD())
    A = np.array(dyn.A, dtype=float)

    def ours():
        vars(dyn).pop("stability", None)
        return dyn.stability

    against(
        f"exact verdict, d = {d}, against numpy eigenvalues",
        ours,
        lambda: np.linalg.eigvals(A),
        "seconds",
        rounds=1,
    )


@pytest.mark.benchmark(group="dynamics")
@pytest.mark.parametrize(("n", "d"), [(6, 3), (12, 6)])
def test_region_in_the_discount(against, n, d):
    problem = random_problem(n, d, seed=1, discount="gamma")
    grid = [random_problem(n, d, seed=1, discount=f"{k}/10") for k in (1, 5, 9)]

    def peer():
        return [mean_dynamics(p, TD()).is_stable() for p in grid]

    against(
        f"region, n = {n}, d = {d}, against three exact points",
        lambda: stability_region(problem, TD(), "gamma"),
        peer,
        "seconds",
        rounds=1,
    )


@pytest.mark.benchmark(group="dynamics")
def test_moments_of_bairds_star(against):
    problem = baird_star(discount=0.99)
    start = [1] * 6 + [10, 1]
    exact = baird_star()
    against(
        "4000 float moments of Baird's star, against 1 exact step",
        lambda: exact_moments(problem, SETD(0.006), 4000, start),
        lambda: exact_moments(exact, SETD("6/1000"), 1, start),
        "under a second",
        rounds=2,
    )
