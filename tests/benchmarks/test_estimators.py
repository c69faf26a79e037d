"""LSTD on a log against plain numpy, a row at a time as papers write it, and against products by hand."""

import numpy as np
import pytest

from obliquetd import LSTD, LoggedData, replay


def data(steps, d, seed=0):
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(steps + 1, d))
    return phi[:-1], phi[1:], rng.normal(size=steps), rng.random(steps) * 2


def lstd_in_numpy(phi, after, reward, rho, g, lam):
    d = phi.shape[1]
    A, b, z = np.zeros((d, d)), np.zeros(d), np.zeros(d)
    decay = 0.0
    for t in range(len(reward)):
        z = decay * z + phi[t]
        e = rho[t] * z
        A += np.outer(e, phi[t] - g * after[t])
        b += e * reward[t]
        decay = g * lam * rho[t]
    return np.linalg.solve(A, b)


def recursive_in_numpy(phi, after, reward, rho, g, lam, ridge):
    d = phi.shape[1]
    M, b, z = np.eye(d) / ridge, np.zeros(d), np.zeros(d)
    decay = 0.0
    for t in range(len(reward)):
        z = decay * z + phi[t]
        e, gap = rho[t] * z, phi[t] - g * after[t]
        Me = M @ e
        M = M - np.outer(Me, gap @ M) / (1 + gap @ Me)
        b = b + e * reward[t]
        decay = g * lam * rho[t]
    return M @ b


@pytest.mark.benchmark(group="estimators")
@pytest.mark.parametrize("lam", [0, 0.5])
@pytest.mark.parametrize(
    ("d", "steps", "wanted"), [(8, 20_000, "below 1"), (64, 5_000, "at most 2")]
)
def test_batch(against, d, steps, wanted, lam):
    phi, after, reward, rho = data(steps, d)
    log = LoggedData(phi, after, reward, 0.9, rho=rho)

    def ours():
        return replay(log, LSTD(lam)).theta

    def peer():
        return lstd_in_numpy(phi, after, reward, rho, 0.9, lam)

    assert np.allclose(ours(), peer(), rtol=1e-6)
    against(f"LSTD({lam}), d = {d}, against plain numpy", ours, peer, wanted, rounds=3)


@pytest.mark.benchmark(group="estimators")
def test_recursive(against):
    phi, after, reward, rho = data(5_000, 8)
    log = LoggedData(phi, after, reward, 0.9, rho=rho)

    def ours():
        return replay(log, LSTD(0.5, recursive=True, ridge=1)).theta

    def peer():
        return recursive_in_numpy(phi, after, reward, rho, 0.9, 0.5, 1.0)

    assert np.allclose(ours(), peer(), rtol=1e-5)
    against("recursive LSTD, d = 8, against plain numpy", ours, peer, "at most 2", rounds=3)
