"""A large random chain as a whole: its numbers against a smaller one's routes, and its memory."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sparse

from obliquetd import PolicyEvaluation
from tests.turn import part

CHAIN = r"""
import re, resource, sys
import numpy as np, scipy.sparse as sparse
from obliquetd import PolicyEvaluation, mean_dynamics
from obliquetd.learners import ETD, GTD2, SETD, TD
n, d = int(sys.argv[1]), 32
rng = np.random.default_rng(0)
following = rng.integers(n, size=(n, 5))
following[:, 0] = (np.arange(n) + 1) % n
weights = rng.random((n, 5))
weights /= weights.sum(axis=1, keepdims=True)
P = sparse.csr_array((weights.ravel(), (np.repeat(np.arange(n), 5), following.ravel())), (n, n))
P.sum_duplicates()
problem = PolicyEvaluation.from_chain(P, rng.random(n), discount=0.9999, features=rng.random((n, d)))
v, xi = problem.v_pi, problem.xi
assert np.abs(v - 0.9999 * (P @ v) - problem.r_pi).max() < 1e-11 * np.abs(v).max()
assert np.abs(P.T @ xi - xi).max() < 1e-14 * xi.max()
points = {name: problem.fixed_point(name) for name in ("td", "setd", "etd")}
assert all(0 < point.rmse < 1e6 for point in points.values())
A = problem.Phi.T @ (xi[:, None] * (problem.Phi - 0.9999 * (P @ problem.Phi)))
for learner in (TD(), SETD(), ETD(), TD(lam=0.5), GTD2())[: int(sys.argv[2])]:
    dynamics = mean_dynamics(problem, learner)
    theta, size = dynamics.fixed_point(), np.abs(dynamics.A).max()
    if len(dynamics.b) == d:
        gap = np.abs(dynamics.A @ theta - dynamics.b).max()
        assert gap < 1e-9 * size * np.abs(theta).max()
    if learner == TD():
        assert np.abs(dynamics.A - A).max() < 1e-10 * size
    if learner in (TD(), ETD()):
        assert np.abs(theta - points[learner.key].theta).max() < 1e-6 * np.abs(theta).max()
# ru_maxrss would begin at what the process had that started this one
status = open("/proc/self/status").read() if sys.platform == "linux" else ""
peak = re.search(r"VmHWM:\s+(\d+)", status)
print(int(peak[1]) / 2**10 if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "learners", "mebibytes"), part([(10_000, 5, 230), (200_000, 5, 1_040)], 2)
)
def test_a_large_chain_keeps_within_its_memory(n, learners, mebibytes):
    """A tenth over what was measured; nothing of size n by n, and few of n by d."""
    done = subprocess.run(
        [sys.executable, "-c", CHAIN, str(n), str(learners)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < mebibytes


def test_transient_states_several_classes_and_weights_of_zero_in_a_large_chain():
    """Two closed parts of far moves, and states before them that lead into both."""
    n, before = 2_100, 100
    rng = np.random.default_rng(1)
    size = 2 * n + before
    rows = np.repeat(np.arange(size), 4)
    low = np.select([rows < n, rows < 2 * n], [0, n], 0)
    high = np.select([rows < n, rows < 2 * n], [n, 2 * n], 2 * n)
    following = rng.integers(low, high)
    ring = np.r_[np.roll(np.arange(n), -1), n + np.roll(np.arange(n), -1)]
    P = sparse.coo_array((rng.random(4 * size), (rows, following)), (size, size)).tocsr()
    P += sparse.coo_array((np.ones(2 * n), (np.arange(2 * n), ring)), (size, size))
    P = sparse.csr_array(sparse.diags_array(1 / P.sum(axis=1)) @ P)
    problem = PolicyEvaluation.from_chain(P, rng.random(size), discount=0.99)
    assert [len(c.states) for c in problem.chain.recurrent] == [n, n]
    assert len(problem.chain.transient) == before
    exact = np.zeros(size)
    for _ in range(4_000):
        exact = problem.r_pi + 0.99 * (P @ exact)
    assert problem.v_pi == pytest.approx(exact, rel=1e-12)
    first, second = problem.chain.stationary_by_class
    assert (first[n:] == 0).all()
    assert (second[:n] == 0).all()
    held = problem.replace(xi=first)
    assert np.abs(P.T @ first - first).max() < 1e-15
    assert held.native.unvisited == tuple(range(n, size))
    assert held.rmse(np.zeros(size)) == pytest.approx(np.sqrt(first @ exact**2), rel=1e-12)
