"""A whole experiment, time per step and learner: sampling, update, both errors at every step."""

import numpy as np
import pytest

from obliquetd.domains import baird_star, dense_random_mdp
from obliquetd.experiments import simulate
from obliquetd.learners import GTD2, SETD, TDC


def in_numpy(problem, settings, steps, seed, theta0=None):
    """The same experiment as a person writes it in plain numpy; one run of every learner."""
    P_b, Phi, g = np.asarray(dense(problem.P_b)), np.asarray(problem.Phi, dtype=float), 0.99
    mdp, n = problem.mdp, len(problem.states)
    actions = mdp.actions
    b = np.array([[float(problem.behavior[s].get(a, 0)) for a in actions] for s in mdp.states])
    pi = np.array([[float(problem.target[s].get(a, 0)) for a in actions] for s in mdp.states])
    P, R = np.zeros((len(actions), n, n)), np.zeros((len(actions), n, n))
    table = mdp.table
    for s, a, t, p, r, _ in mdp.transitions if n < 50 else ():
        i, k, j = mdp.index[s], actions.index(a), mdp.index[t]
        P[k, i, j], R[k, i, j] = float(p), float(r)
    if n >= 50:
        P[table.action, table.state, table.next_state] = table.probability
        R[table.action, table.state, table.next_state] = table.reward
        g = 0.95
    cumulative, choices = P.cumsum(axis=2), b.cumsum(axis=1)
    xi, v = (
        np.asarray(problem.xi, dtype=float).ravel(),
        np.asarray(problem.v_pi, dtype=float).ravel(),
    )
    L, r = (
        np.asarray(dense(problem.L_pi), dtype=float),
        np.asarray(problem.r_pi, dtype=float).ravel(),
    )
    Pi = Phi @ np.linalg.pinv(Phi.T * xi @ Phi) @ Phi.T * xi
    assert P_b.shape == (n, n)

    def run():
        out = {}
        for name, (alpha, mu) in settings.items():
            rng = np.random.default_rng(seed)
            d = Phi.shape[1]
            theta = np.zeros(d) if theta0 is None else np.array(theta0, dtype=float)
            w, errors = np.zeros(d), np.empty((steps, 2))
            s = rng.choice(n, p=xi)
            for t in range(steps):
                a = min(np.searchsorted(choices[s], rng.random(), side="right"), len(actions) - 1)
                j = min(np.searchsorted(cumulative[a, s], rng.random(), side="right"), n - 1)
                phi, nxt, rho = Phi[s], Phi[j], pi[s, a] / b[s, a]
                delta = R[a, s, j] + g * nxt @ theta - phi @ theta
                if name == "SETD":
                    gap = phi - g * nxt
                    norm = gap @ gap
                    omega = max(gap @ phi / norm, 0) if norm > 0 else 0
                    theta = theta + alpha * rho * omega * delta * phi
                elif name == "GTD2":
                    theta = theta + alpha * rho * (phi - g * nxt) * (phi @ w)
                    w = w + alpha * mu * (rho * delta - phi @ w) * phi
                else:
                    theta = theta + alpha * rho * (delta * phi - g * nxt * (phi @ w))
                    w = w + alpha * mu * (rho * delta - phi @ w) * phi
                fit = Phi @ theta
                gap = fit - v
                residual = Pi @ (r - L @ fit)
                errors[t] = np.sqrt(xi @ gap**2), np.sqrt(xi @ residual**2)
                s = j
            out[name] = errors
        return out

    return run


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


CASES = {
    "Baird's star": (
        lambda: baird_star(discount=0.99), {"SETD": (0.006, 0), "GTD2": (0.005, 1), "TDC": (0.006, 16)},
        4000, 20, [1, 1, 1, 1, 1, 1, 10, 1], "at most 0.02",
    ),
    "the random MDP": (
        dense_random_mdp, {"SETD": (0.0008, 0), "GTD2": (0.002, 1), "TDC": (0.002, 0.05)},
        2000, 4, None, "at most 0.2",
    ),
}  # fmt: skip


@pytest.mark.benchmark(group="experiments")
@pytest.mark.parametrize("name", CASES)
def test_a_whole_experiment_against_plain_numpy(against, name):
    """Both run one thread's worth: the peer one run, ours so many runs on one worker."""
    make, settings, steps, runs, theta0, wanted = CASES[name]
    problem = make()
    learners = {
        key: SETD(alpha) if key == "SETD" else {"GTD2": GTD2, "TDC": TDC}[key](alpha, mu)
        for key, (alpha, mu) in settings.items()
    }
    peer = in_numpy(problem, settings, steps, 0, theta0)

    def ours():
        return simulate(problem, learners, steps, runs, 0, theta0=theta0, workers=1)

    found, theirs = ours(), peer()
    for key, curve in found.curves.items():  # the same errors at first, and of the same size later
        assert np.isclose(curve.rmse[0, 0], theirs[key][0, 0], rtol=0.2)
        assert 0.1 < curve.rmse[:, 1:].mean() / theirs[key][:, 0].mean() < 10
    against(
        f"{name}: {runs} runs against one in plain numpy", ours, peer, f"{wanted} a run", rounds=3
    )
