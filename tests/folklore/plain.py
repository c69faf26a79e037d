"""Problems as plain arrays of floats: from a model file, or drawn. Nothing of the package computes here."""

from collections import namedtuple

import numpy as np

Plain = namedtuple("Plain", "P Pb G xi r Phi gamma rows")
"""Chains of the target and the behaviour, P with the discounts, weights, rewards, features, the discount, and the rows
(state, next state, chance under the behaviour, ratio, reward, discount)."""


def number(text):
    """A rational in a model file."""
    top, _, bottom = str(text).partition("/")
    return float(top) / float(bottom or 1)


def stationary(P):
    n = len(P)
    return np.linalg.lstsq(np.vstack([np.eye(n) - P.T, np.ones(n)]), np.eye(n + 1)[n], rcond=None)[
        0
    ]


def of_model(model):
    """The arrays of a model, from its transitions and its policies."""
    states, gamma = model["states"], number(model["discount"])
    assert model.get("over", "states") == "states"
    at, n = states.index, len(states)
    pi = {(s, a): number(x) for s, a, x in model["target"]}
    mu = {(s, a): number(x) for s, a, x in model.get("behavior", model["target"])}
    P, Pb, G, r, rows = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros(n), []
    for s, a, t, p, reward, own in model["transitions"]:
        i, j, p, reward, g = at(s), at(t), number(p), number(reward), gamma * number(own)
        chance, weight = mu.get((s, a), 0) * p, pi.get((s, a), 0) * p
        P[i, j] += weight
        Pb[i, j] += chance
        G[i, j] += weight * g
        r[i] += weight * reward
        if chance:
            rows.append((i, j, chance, weight / chance, reward, g))
    xi = np.array([number(x) for x in model["xi"]]) if "xi" in model else stationary(Pb)
    Phi = (
        np.array([[number(x) for x in row] for row in model["features"]])
        if "features" in model
        else np.eye(n)
    )
    return Plain(P, Pb, G, xi / xi.sum(), r, Phi, gamma, rows)


def drawn(rng, on_policy=False, n=None, d=None, gamma=None, Phi=None):
    """A random problem: dense chains, one discount, any weights off-policy and the stationary ones on-policy."""
    n = n or int(rng.integers(2, 7))
    d = d or int(rng.integers(1, n))
    gamma = rng.uniform(0.1, 0.99) if gamma is None else gamma
    P = rng.dirichlet(np.full(n, 0.3), size=n)
    xi = stationary(P) if on_policy else rng.dirichlet(np.ones(n))
    Phi = rng.normal(size=(n, d)) if Phi is None else Phi
    return Plain(P, P, gamma * P, xi, rng.normal(size=n), Phi, gamma, [])


def L(p):
    return np.eye(len(p.P)) - p.G


def v(p):
    return np.linalg.solve(L(p), p.r)


def squared(p, u):
    return p.xi @ u**2


def C(p):
    return p.Phi.T @ np.diag(p.xi) @ p.Phi


def key(p, lam=0.0, weights=None):
    """A = Phi'D (I - lam G)^-1 (I - G) Phi, D of the weights xi unless given."""
    D = np.diag(p.xi if weights is None else weights)
    return p.Phi.T @ D @ np.linalg.solve(np.eye(len(p.P)) - lam * p.G, L(p) @ p.Phi)


def fixed(p, lam=0.0, eta=0.0):
    b = p.Phi.T @ np.diag(p.xi) @ np.linalg.solve(np.eye(len(p.P)) - lam * p.G, p.r)
    return np.linalg.solve(key(p, lam) + eta * np.eye(p.Phi.shape[1]), b)


def best(p):
    return p.Phi @ np.linalg.solve(C(p), p.Phi.T @ (p.xi * v(p)))


def residual(p):
    """The minimiser of the Bellman error, by least squares."""
    root = np.sqrt(p.xi)
    return np.linalg.lstsq(root[:, None] * (L(p) @ p.Phi), root * p.r, rcond=None)[0]


def error(p, theta):
    return squared(p, p.Phi @ theta - v(p))


def slowest(A):
    """The least real part of an eigenvalue."""
    return np.linalg.eigvals(np.atleast_2d(A)).real.min()


def radius(M):
    return np.abs(np.linalg.eigvals(np.atleast_2d(M))).max()


def in_span(Phi, columns):
    out = columns - Phi @ np.linalg.lstsq(Phi, columns, rcond=None)[0]
    return np.abs(out).max() < 1e-9


def follow_on_squares(p, lam=1.0):
    """The matrix that carries the second moment of a trace that is multiplied by the discount, lam and the ratio."""
    M = np.zeros_like(p.P)
    for s, t, chance, rho, _, g in p.rows:
        M[s, t] += chance * (g * lam * rho) ** 2
    return M


def gtd2(A, C, mu):
    return np.block([[np.zeros_like(A), -A.T], [mu * A, mu * C]])


def tdc(A, C, mu):
    return np.block([[A, C - A.T], [mu * A, mu * C]])


def copied(p, k, alpha):
    """What k inner updates towards a target that is held make of the weights' error."""
    A, d = key(p), p.Phi.shape[1]
    inner, M = np.eye(d) - alpha * C(p), np.eye(d)
    for _ in range(k):
        M = inner @ M + alpha * (C(p) - A)
    return M
