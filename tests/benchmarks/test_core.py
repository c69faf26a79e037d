"""Speed of the exact core; run with ``pytest tests/benchmarks --benchmark-only``."""

import subprocess
import sys
from fractions import Fraction

import flint
import numpy as np
import pytest

from obliquetd import MDP, Policy, PolicyEvaluation, verify
from obliquetd.domains import random_problem


def dense_rational(n, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 20, size=(2, n, n))
    P = [[[Fraction(int(w), int(row.sum())) for w in row] for row in layer] for layer in weights]
    return MDP.from_arrays(P, rng.integers(-5, 6, size=n).tolist())


@pytest.fixture(scope="module")
def dense():
    mdp = dense_rational(200)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10")


def fresh(problem):
    """The problem with its transition matrices assembled and nothing solved."""
    new = PolicyEvaluation(problem.mdp, target=problem.target, discount="9/10")
    _ = new.native.L_pi, new.native.P_b, new.native.r_pi
    return new


def raw(matrix):
    return flint.fmpq_mat(*matrix.shape, [x for row in matrix.rows() for x in row])


def raw_systems(ops):
    """L v = r, and the stationary system without its last state, as FLINT matrices."""
    most = range(ops.n - 1)
    inner = raw((ops.arithmetic.identity(ops.n) - ops.P_b).submatrix(most, most).T)
    right = raw(ops.P_b.submatrix([ops.n - 1], most).T)
    return raw(ops.L_pi), raw(ops.r_pi), inner, right


@pytest.mark.benchmark(group="exact core")
def test_values_and_weights_of_200_dense_states(against, dense):
    L, r, inner, right = raw_systems(dense.native)
    problems = [fresh(dense) for _ in range(8)]

    def ours():
        problem = problems.pop()
        return problem.native.v_pi, problem.native.xi

    def peer():
        return L.solve(r), inner.solve(right)

    against("v_pi and xi, 200 dense rational states, against FLINT", ours, peer, "at most 3")


@pytest.mark.benchmark(group="exact core")
def test_the_same_from_the_table_and_to_public_numbers(against, dense):
    L, r, inner, right = raw_systems(dense.native)

    def ours():
        problem = PolicyEvaluation(dense.mdp, target=dense.target, discount="9/10")
        return problem.v_pi, problem.xi

    def peer():
        return L.solve(r), inner.solve(right)

    against("the same, with assembly and public numbers", ours, peer, "shown only")


@pytest.mark.benchmark(group="symbolic")
@pytest.mark.parametrize("n", [10, 20])
def test_values_in_a_symbolic_discount(against, n):
    problem = random_problem(n, 2, seed=1, discount="gamma")
    L, r = problem.native.L_pi, problem.native.r_pi
    ring = L._m.domain.get_ring()
    left, right = L._m.convert_to(ring), r._m.convert_to(ring)
    against(
        f"v_pi(gamma), {n} states, against DomainMatrix.solve_den",
        lambda: L.solve(r),
        lambda: left.solve_den(right),
        "below 1",
        rounds=2,
    )


@pytest.mark.benchmark(group="start")
def test_import(against):
    def run(code):
        subprocess.run([sys.executable, "-c", code], check=True)

    against(
        "import obliquetd, against sympy, numpy, networkx",
        lambda: run("import obliquetd"),
        lambda: run("import sympy, numpy, networkx"),
        "at most 1.5",
        rounds=7,
    )


@pytest.mark.benchmark(group="start")
def test_verify(against):
    import time

    against(
        "verify(), against half a minute", verify, lambda: time.sleep(0.03), "below 1000", rounds=2
    )
