"""Each sentence by another route: floats and numpy, from the model file or drawn, and simulation.

A false sentence fails on its counterexample again, computed from the model's transitions alone; a true one
holds on problems that this file draws.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.signal import lfilter

import obliquetd as otd
from obliquetd.domains import two_state
from obliquetd.folklore import PACK
from tests.folklore import plain
from tests.folklore.plain import C, L, best, error, fixed, in_span, key, radius, slowest, squared, v
from tests.folklore.test_folklore import EXPECTED

FALSE = [name for name, verdict in EXPECTED.items() if verdict in ("refuted", "corrected")]
TRUE = [name for name in EXPECTED if name not in FALSE]

# --- what is false: p is the counterexample, seen what the package observed on it


def realizable(p, seen):
    return in_span(p.Phi, v(p)) and slowest(key(p)) < 0


def complete(p, seen):
    return in_span(p.Phi, np.column_stack([p.r, p.G @ p.Phi])) and slowest(key(p)) < 0


def another_basis(p, seen):
    B = np.array(seen["B"].tolist(), dtype=float)
    return abs(np.linalg.det(B)) > 0.1 and slowest(key(p)) > 0 > slowest(B.T @ key(p) @ B)


def more_features(p, seen):
    fewer = p._replace(Phi=p.Phi[:, :-1])
    return error(p, fixed(p)) > error(fewer, fixed(fewer))


def more_steps(p, seen):
    powers = [
        slowest(p.Phi.T @ np.diag(p.xi) @ (p.Phi - np.linalg.matrix_power(p.G, n) @ p.Phi))
        for n in range(1, 6)
    ]
    return powers[seen["n"] - 1] > 0 > powers[seen["n"]]


def averager(p, seen):
    return p.Phi.min() >= 0 and p.Phi.sum(axis=1).max() <= 1 and slowest(key(p)) < 0


def small_beta(p, seen):
    f = np.linalg.solve(np.eye(len(p.P)) - 0.1 * p.P.T, p.xi)
    return slowest(key(p, weights=f)) < 0


def one_sample(p, seen):
    M = sum(
        p.xi[s] * c * rho * np.outer(p.Phi[s] - g * p.Phi[t], p.Phi[s] - g * p.Phi[t])
        for s, t, c, rho, _, g in p.rows
    )
    b = sum(p.xi[s] * c * rho * x * (p.Phi[s] - g * p.Phi[t]) for s, t, c, rho, x, g in p.rows)
    found = np.linalg.solve(M, b)
    assert np.allclose(found, np.array(seen["fixed point"], dtype=float).ravel())
    return not np.allclose(found, plain.residual(p), rtol=1e-3)


def v_trace(p, seen):
    """E[min(1, rho) delta | s] = 0 for each s: then the traces carry nothing."""
    M, b = np.zeros_like(p.P), np.zeros(len(p.P))
    for s, t, chance, rho, reward, g in p.rows:
        M[s, s] += chance * min(1, rho)
        M[s, t] -= chance * min(1, rho) * g
        b[s] += chance * min(1, rho) * reward
    found = np.linalg.solve(M, b)
    assert np.allclose(found, np.array(seen["V-trace"], dtype=float).ravel())
    return not np.allclose(found, v(p), rtol=1e-2)


def never_stable(p, seen):
    return all(radius(plain.copied(p, k, 0.1)) > 1 for k in range(1, 100))


def copied_more_rarely(p, seen):
    alpha = float(seen["alpha"])
    often, rarely = (int(seen[x].split()[-1]) for x in ("converges", "diverges"))
    return often < rarely and radius(plain.copied(p, often, alpha)) < 1 < radius(
        plain.copied(p, rarely, alpha)
    )


def two_starts(p, seen):
    """t times the mean of the average's error counts in the squared error, from either start."""
    A, alpha, theta, t = key(p), 0.02, fixed(p), 4000
    cross, told = 2 * (p.Phi @ theta - v(p)) @ np.diag(p.xi) @ p.Phi, []
    for start in (0.0, 1.0):
        off, total = np.full(len(theta), start) - theta, 0
        for _ in range(t):
            total, off = total + off, off - alpha * A @ off
        told.append(cross @ total)
    assert np.allclose(told, [float(x) for x in seen.values()], rtol=1e-6)
    return abs(told[0] - told[1]) > 0.1


def no_bias(p, seen):
    """The mean of independent steps, by listing every sample."""
    theta = np.zeros(p.Phi.shape[1])
    for _ in range(3000):
        steps = [
            p.xi[s] * c * (x + g * p.Phi[t] @ theta - p.Phi[s] @ theta) * p.Phi[s]
            for s, t, c, _, x, g in p.rows
        ]
        theta = theta + 0.05 * sum(steps)
    return np.allclose(theta, fixed(p), rtol=1e-6)


def noisier(p, seen):
    """Batch means of the noise at the fixed point along a trajectory of two million steps."""
    rng, steps = np.random.default_rng(0), 2_000_000
    draws, path, s = rng.random(steps), np.empty(steps + 1, dtype=int), 0
    ends = p.P.cumsum(axis=1)[:, 0]
    for t, u in enumerate(draws):
        path[t] = s
        s = int(u > ends[s])
    path[-1] = s
    rewards = np.zeros_like(p.P)
    for s, t, _, _, x, _ in p.rows:
        rewards[s, t] = x
    phi, out = p.Phi[path, 0], []
    for lam in (0.0, 0.5):
        theta = fixed(p, lam)[0]
        delta = rewards[path[:-1], path[1:]] + p.gamma * phi[1:] * theta - phi[:-1] * theta
        noise = delta * lfilter([1.0], [1.0, -p.gamma * lam], phi[:-1])
        means = noise.reshape(2000, -1).mean(axis=1)
        out.append(C(p)[0, 0] * means.var() * (steps // 2000) / key(p, lam)[0, 0] ** 2)
    exact = [float(x) for x in seen.values()]
    assert np.allclose(out, exact, rtol=0.12), (out, exact)
    return out[1] < 0.9 * out[0]


FAILS = {
    "td-bound-off-policy": lambda p, seen: slowest(key(p)) > 0 and error(p, fixed(p)) > 1e12 * squared(p, best(p) - v(p)),
    "td-no-worse-than-zero": lambda p, seen: slowest(key(p)) > 0 and error(p, fixed(p)) > squared(p, v(p)),
    "regularised-td-no-worse-than-zero": lambda p, seen: slowest(key(p)) > -0.25
    and error(p, fixed(p, eta=0.25)) > squared(p, v(p)),
    "realizable-td-converges": realizable,
    "complete-span-td-stable": complete,
    "basis-does-not-matter-to-stability": another_basis,
    "more-features-never-hurt": more_features,
    "on-policy-actions-suffice": lambda p, seen: np.allclose(p.P, p.Pb) and slowest(key(p)) < 0,
    "td-small-discount-stable": lambda p, seen: p.gamma < 0.5 and slowest(key(p)) < 0,
    "more-steps-never-destabilise": more_steps,
    "larger-lambda-better": lambda p, seen: error(p, fixed(p, 0.5)) > error(p, fixed(p)) * (1 + 1e-6) + 1e-12,
    "averagers-features-td-stable": averager,
    "td-is-gradient-descent": lambda p, seen: not np.allclose(key(p), key(p).T, rtol=1e-2),
    "etd-finite-variance": lambda p, seen: radius(plain.follow_on_squares(p)) > 1,
    "etd-beta-small-stable": small_beta,
    "gtd2-slower-than-td": lambda p, seen: slowest(plain.gtd2(key(p), C(p), 361 / 25)) > slowest(key(p)) + 1,
    "one-sample-residual-gradient": one_sample,
    "td-no-worse-than-residual": lambda p, seen: error(p, fixed(p)) > error(p, plain.residual(p)) * (1 + 1e-6) + 1e-12,
    "v-trace-fixed-point": v_trace,
    "fqi-diverges-where-td-does": lambda p, seen: slowest(key(p)) < 0
    and radius(np.eye(len(C(p))) - np.linalg.solve(C(p), key(p))) < 1,
    "td-diverges-where-fqi-does": lambda p, seen: slowest(key(p)) > 0
    and radius(np.eye(len(C(p))) - np.linalg.solve(C(p), key(p))) > 1,
    "target-network-stabilises": never_stable,
    "copying-more-rarely-is-safer": copied_more_rarely,
    "averaged-td-mse-is-lstds": two_starts,
    "constant-step-bias-iid": no_bias,
    "larger-lambda-noisier": noisier,
    "importance-weighted-trace-finite": lambda p, seen: radius(plain.follow_on_squares(p)) > 1,
}  # fmt: skip
CUT = {
    "retrace-stable": lambda pi, mu: min(1, pi / mu),
    "tree-backup-stable": lambda pi, mu: pi,
}
SLOW = {"larger-lambda-noisier", "v-trace-fixed-point"}


def marked(names):
    return [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in names]


@pytest.mark.parametrize("name", marked(FAILS))
def test_a_false_sentence_fails_on_its_counterexample_in_plain_arrays(name):
    example = PACK.registry[name].check().counterexample
    p = plain.of_model(example.model)
    assert FAILS[name](p, example.observed)


COMPARED = {
    "basis-does-not-matter-to-stability", "more-steps-never-destabilise", "gtd2-slower-than-td", "one-sample-residual-gradient",
    "v-trace-fixed-point", "copying-more-rarely-is-safer", "averaged-td-mse-is-lstds", "constant-step-bias-iid",
    "larger-lambda-noisier",
}  # fmt: skip
"""Those that are compared with a number that was observed, or are no statement on a single problem."""


@pytest.mark.parametrize("name", sorted(set(FAILS) - COMPARED))
def test_none_fails_on_a_table_on_policy(name):
    """A control: what fails on a counterexample does not fail on every problem."""
    chain = otd.PolicyEvaluation.from_chain(
        [["1/2", "1/2"], ["1/4", "3/4"]], [1, -2], discount="3/4"
    )
    assert not FAILS[name](plain.of_model(otd.formats.model_to_dict(chain)), {})


@pytest.mark.parametrize("name", CUT)
def test_cut_traces_on_their_counterexample_by_hand(name):
    """z_j = xi_j phi_j + gamma c_j sum of z_i K_b(i, j) over the pairs, and A = sum of z (phi - gamma K phi)'."""
    example = PACK.registry[name].check().counterexample
    model = example.model
    pi, mu = ({(s, a): plain.number(x) for s, a, x in model[of]} for of in ("target", "behavior"))
    pairs = [(s, a) for s in model["states"] for a in model["actions"]]
    gamma, n = plain.number(model["discount"]), len(pairs)
    K, Kb = np.zeros((n, n)), np.zeros((n, n))
    for s, a, t, p, _, own in model["transitions"]:
        assert own == "1"
        for b in model["actions"]:
            i, j = pairs.index((s, a)), pairs.index((t, b))
            K[i, j] += plain.number(p) * pi[t, b]
            Kb[i, j] += plain.number(p) * mu[t, b]
    xi, phi = plain.stationary(Kb), np.array([plain.number(x) for (x,) in model["features"]])
    cut = np.array([CUT[name](pi[x], mu[x]) for x in pairs])
    z = np.linalg.solve(np.eye(n) - gamma * cut[:, None] * Kb.T, xi * phi)
    A = z @ (phi - gamma * K @ phi)
    assert A < 0
    assert np.isclose(A, float(example.observed["A"][0]))


# --- what is true: rng draws a problem


def bounded(factor):
    def holds(rng):
        p, lam = plain.drawn(rng, on_policy=True), rng.random()
        kappa = p.gamma * (1 - lam) / (1 - p.gamma * lam)
        return error(p, fixed(p, lam)) <= factor(kappa) * squared(p, best(p) - v(p)) * (1 + 1e-9)

    return holds


def oblique(p):
    """I - Pi_X for TD, and its norm in that of xi."""
    X = L(p).T @ np.diag(p.xi) @ p.Phi
    Q = np.eye(len(p.P)) - p.Phi @ np.linalg.solve(X.T @ p.Phi, X.T)
    root = np.sqrt(p.xi)
    return Q, np.linalg.norm(root[:, None] * Q / root, 2)


def attained(rng, missing=1):
    n = int(rng.integers(missing + 1, 7))
    p = plain.drawn(rng, n=n, d=n - missing)
    _, norm = oblique(p)
    return np.isclose(np.sqrt(error(p, fixed(p)) / squared(p, best(p) - v(p))), norm, rtol=1e-5)


def oblique_holds(rng):
    p = plain.drawn(rng)
    Q, norm = oblique(p)
    left = v(p) - p.Phi @ fixed(p)
    return np.allclose(left, Q @ (v(p) - best(p)), rtol=1e-5, atol=1e-7) and (
        squared(p, left) <= norm**2 * squared(p, v(p) - best(p)) * (1 + 1e-6)
    )


def projected(p, X):
    return np.linalg.solve(X.T @ L(p) @ p.Phi, X.T @ p.r)


def exact(p, rng):
    X = rng.normal(size=p.Phi.shape)
    return np.allclose(p.Phi @ projected(p, X), v(p), rtol=1e-5, atol=1e-6)


def realizable_exact(rng):
    p = plain.drawn(rng, n=4, d=2)
    return exact(p._replace(r=L(p) @ p.Phi @ rng.normal(size=2)), rng)


def lumped(rng):
    """Two classes of states, with rewards and ways out of a class alike; the features span their functions."""
    between, inside = rng.dirichlet(np.ones(2), size=2), rng.random((4, 2))
    share = np.concatenate([inside, 1 - inside], axis=1)[
        :, [0, 2, 1, 3]
    ]  # of each state in its class, from each state
    P = np.repeat(np.repeat(between, 2, axis=0), 2, axis=1) * share
    classes = np.repeat(np.eye(2), 2, axis=0)
    p = plain.drawn(rng, n=4, d=2)
    return p._replace(
        P=P,
        Pb=P,
        G=p.gamma * P,
        r=classes @ rng.normal(size=2),
        Phi=classes @ rng.normal(size=(2, 2)),
    )


def invariant_orthonormal(rng):
    p = lumped(rng)
    p = p._replace(Phi=p.Phi @ np.linalg.inv(np.linalg.cholesky(C(p)).T))
    return np.allclose(C(p), np.eye(2)) and slowest(key(p)) > 0


def same_values(rng):
    p = plain.drawn(rng)
    other = p._replace(Phi=p.Phi @ (np.eye(p.Phi.shape[1]) * 3 + rng.random((p.Phi.shape[1],) * 2)))
    return np.allclose(p.Phi @ fixed(p), other.Phi @ fixed(other), rtol=1e-5, atol=1e-6)


def enough_steps(rng, most=8):
    p, n = plain.drawn(rng), int(rng.integers(1, most))
    gamma = 0.999 * min(0.999, p.xi.min() ** (1 / (2 * n)))
    A = p.Phi.T @ np.diag(p.xi) @ (p.Phi - gamma**n * np.linalg.matrix_power(p.P, n) @ p.Phi)
    return slowest(A) > 0


def td_1(rng):
    p = plain.drawn(rng)
    return np.allclose(key(p, 1.0), C(p)) and np.allclose(p.Phi @ fixed(p, 1.0), best(p))


def aggregated(rng):
    n, d = 6, int(rng.integers(1, 5))
    Phi = np.eye(d)[[*range(d), *rng.integers(0, d, size=n - d)]]
    return slowest(key(plain.drawn(rng, n=n, d=d, Phi=Phi))) > 0


def reversible(rng):
    W = rng.random((5, 5)) ** 3
    W = W + W.T
    p = plain.drawn(rng, n=5)
    P = W / W.sum(axis=1, keepdims=True)
    p = p._replace(P=P, G=p.gamma * P, xi=plain.stationary(P))
    return np.allclose(key(p), key(p).T)


def emphatic(rng):
    p, lam = plain.drawn(rng), rng.random()
    one, interest = np.eye(len(p.P)), rng.random(len(p.P)) + 0.01
    P_lam = one - np.linalg.solve(one - lam * p.G, L(p))
    m = np.linalg.solve(one - P_lam.T, p.xi * interest)
    return slowest(p.Phi.T @ np.diag(m) @ (one - P_lam) @ p.Phi) > 0


def with_second_weights(make, bound):
    def holds(rng):
        p = plain.drawn(rng)
        A = key(p)
        mu = bound(A, C(p)) + 10 ** rng.uniform(-2, 1)
        return slowest(make(A, C(p), mu)) > -1e-12

    return holds


def tdc_bound(A, C):
    return max(0, -np.linalg.eigvals(np.linalg.solve(C, (A + A.T) / 2)).real.min()) * 1.001


def one_fixed_point(rng):
    p = plain.drawn(rng)
    A, b, d, mu = key(p), p.Phi.T @ (p.xi * p.r), p.Phi.shape[1], rng.random()
    points = [np.linalg.solve(make(A, C(p), mu), np.concatenate([top, mu * b]))
              for make, top in ((plain.gtd2, 0 * b), (plain.tdc, b))]  # fmt: skip
    return all(np.allclose(x, [*fixed(p), *np.zeros(d)], rtol=1e-4, atol=1e-4) for x in points)


def hybrid(rng):
    """HTD's rule on a trajectory, with rho = 1: its weights are TD's, whatever its second weights are."""
    p, lam = plain.drawn(rng, on_policy=True), rng.random()
    theta, other, w = (
        np.zeros(p.Phi.shape[1]),
        np.zeros(p.Phi.shape[1]),
        rng.normal(size=p.Phi.shape[1]),
    )
    e = e_mu = np.zeros_like(w)
    for s, t in rng.integers(0, len(p.P), size=(30, 2)):
        phi, ahead = p.Phi[s], p.Phi[t]
        e, e_mu = 1.0 * (p.gamma * lam * e + phi), p.gamma * lam * e_mu + phi
        delta = p.r[s] + p.gamma * ahead @ theta - phi @ theta
        theta = theta + 0.1 * (delta * e + (phi - p.gamma * ahead) * ((e - e_mu) @ w))
        other = other + 0.1 * (p.r[s] + p.gamma * ahead @ other - phi @ other) * e
        w = w + 0.1 * (delta * e - (phi - p.gamma * ahead) * (e_mu @ w))
    return np.allclose(theta, other, rtol=1e-9)


def two_samples(rng):
    p = plain.drawn(rng)
    M = L(p) @ p.Phi
    A = M.T @ np.diag(p.xi) @ M
    found = np.linalg.solve(A, M.T @ (p.xi * p.r))
    return slowest(A) > 0 and np.allclose(found, plain.residual(p), rtol=1e-4, atol=1e-5)


def bellman_bound(rng):
    p = plain.drawn(rng, on_policy=True)
    guess = rng.normal(size=len(p.P))
    return squared(p, guess - v(p)) * (1 - p.gamma) ** 2 <= squared(p, p.r - L(p) @ guess) * (
        1 + 1e-9
    )


def fitted(p):
    return radius(np.eye(p.Phi.shape[1]) - np.linalg.solve(C(p), key(p)))


def held_target(rng):
    p = plain.drawn(rng, n=4, d=2)
    if fitted(p) >= 0.99:
        return None
    alpha = rng.uniform(0.5, 1.9) / np.linalg.eigvalsh(C(p)).max()
    rest = np.log(1e-9) / np.log(np.abs(1 - alpha * np.linalg.eigvalsh(C(p))).max())
    return radius(plain.copied(p, int(rest) + 1, alpha)) < 1 if rest < 3000 else None


def averages(rng):
    p = plain.drawn(rng, n=5)
    Phi = rng.random((5, 3)) * (rng.random((5, 3)) < 0.6) + 0.01
    Phi /= Phi.sum(axis=1, keepdims=True) * rng.uniform(1, 2)
    sweep = (Phi.T * p.xi) @ p.G @ Phi / (Phi.T @ p.xi)[:, None]
    return np.abs(sweep).sum(axis=1).max() <= p.gamma + 1e-12


def true_online(rng):
    """Both rules along one path: what they add to the weights differs by the order of alpha squared."""
    p, lam = plain.drawn(rng, on_policy=True, gamma=0.8), 0.5
    path, gaps = rng.integers(0, len(p.P), size=12), []
    for alpha in (1e-3, 1e-4):
        plain_theta, theta, e, dutch, old = *(np.zeros(p.Phi.shape[1]) for _ in range(4)), 0.0
        for s, t in pairwise(path):
            phi, ahead = p.Phi[s], p.Phi[t]
            e = p.gamma * lam * e + phi
            plain_theta = (
                plain_theta
                + alpha * (p.r[s] + p.gamma * ahead @ plain_theta - phi @ plain_theta) * e
            )
            now, after = theta @ phi, theta @ ahead
            dutch = p.gamma * lam * dutch + phi - alpha * p.gamma * lam * (dutch @ phi) * phi
            delta = p.r[s] + p.gamma * after - now
            theta = theta + alpha * (delta + now - old) * dutch - alpha * (now - old) * phi
            old = after
        gaps.append(np.abs(theta - plain_theta).max())
    return gaps[1] < 0.02 * gaps[0]


def bounded_traces(rng):
    p, e, top = plain.drawn(rng), 0.0, 0.0
    for s in rng.integers(0, len(p.P), size=200):
        e = p.gamma * rng.random() * e + p.Phi[s]
        top = max(top, np.linalg.norm(e))
    return top <= np.linalg.norm(p.Phi, axis=1).max() / (1 - p.gamma)


HOLDS = {
    "td-bound-on-policy": bounded(lambda kappa: 1 / (1 - kappa) ** 2),
    "td-bound-pythagoras": bounded(lambda kappa: 1 / (1 - kappa**2)),
    "oblique-bound": oblique_holds,
    "oblique-bound-attained": attained,
    "realizable-exact": realizable_exact,
    "complete-span-exact": lambda rng: exact(lumped(rng), rng),
    "invariant-orthonormal-td-stable": invariant_orthonormal,
    "basis-does-not-matter-to-values": same_values,
    "on-policy-td-stable": lambda rng: slowest(key(plain.drawn(rng, on_policy=True))) > 0,
    "td-some-discount-stable": lambda rng: enough_steps(rng, most=2),
    "n-steps-stabilise": enough_steps,
    "td-1-best-and-stable": td_1,
    "aggregation-stable": aggregated,
    "td-gradient-reversible": reversible,
    "etd-stable": emphatic,
    "gtd2-stable": with_second_weights(plain.gtd2, lambda A, C: 0.0),
    "tdc-needs-mu-large": with_second_weights(plain.tdc, tdc_bound),
    "htd-is-td-on-policy": hybrid,
    "gradient-td-same-fixed-point": one_fixed_point,
    "double-sampled-residual-gradient": two_samples,
    "bellman-error-bounds-error": bellman_bound,
    "fqi-on-policy": lambda rng: fitted(plain.drawn(rng, on_policy=True)) < 1,
    "target-network-when": held_target,
    "averagers-never-diverge": averages,
    "true-online-same-mean": true_online,
    "cut-traces-finite": bounded_traces,
}
SIMULATED = {
    "lstd-is-td-fixed-point",
    "averaged-td-as-efficient-as-lstd",
    "constant-step-bias-trajectory",
}


def test_every_sentence_has_another_route():
    assert set(FAILS) | set(CUT) == set(FALSE)
    assert set(HOLDS) | SIMULATED == set(TRUE)


@pytest.mark.parametrize("name", HOLDS)
def test_a_true_sentence_holds_on_what_this_file_draws(name):
    rng = np.random.default_rng(7)
    found = [HOLDS[name](rng) for _ in range(200)]
    held = [x for x in found if x is not None]
    assert len(held) >= 60
    assert all(held)


def test_the_drawn_problems_can_refute():
    """Without its hypothesis each of these fails on some of them."""
    rng = np.random.default_rng(1)
    drawn = [plain.drawn(rng) for _ in range(400)]
    assert min(slowest(key(p)) for p in drawn) < 0
    assert max(fitted(p) for p in drawn) > 1
    assert any(error(p, fixed(p)) > squared(p, best(p) - v(p)) / (1 - p.gamma) ** 2 for p in drawn)
    assert not all(attained(rng, missing=2) for _ in range(20))
    assert slowest(plain.tdc(key(plain.of_model(MODEL)), C(plain.of_model(MODEL)), 0.01)) < 0


MODEL = otd.formats.model_to_dict(two_state())


def trajectory(p, steps, runs, rng):
    """States along many paths at once, (steps + 1, runs)."""
    ends, out = p.P.cumsum(axis=1), np.empty((steps + 1, runs), dtype=int)
    out[0] = rng.choice(len(p.xi), size=runs, p=p.xi)
    for t in range(steps):
        out[t + 1] = (rng.random(runs)[:, None] > ends[out[t]]).sum(axis=1)
    return out


@pytest.mark.slow
def test_lstd_and_averaged_td_by_simulation():
    """LSTD tends to TD's fixed point, and both have the limit covariance A^-1 S A^-T of the package."""
    rng = np.random.default_rng(3)
    problem = otd.PolicyEvaluation.from_chain(
        [["1/2", "1/2", 0], ["1/4", "1/4", "1/2"], ["1/3", "1/3", "1/3"]], [1, -1, 2], discount="1/2",
        features=[[1], [2], [-1]],
    )  # fmt: skip
    p = plain.of_model(otd.formats.model_to_dict(problem))
    path = trajectory(p, 3000, 1500, rng)
    phi = p.Phi[path, 0]
    A_hat = (phi[:-1] * (phi[:-1] - p.gamma * phi[1:])).mean(axis=0)
    lstd = (phi[:-1] * p.r[path[:-1]]).mean(axis=0) / A_hat
    assert abs(lstd.mean() - fixed(p)[0]) < 0.01
    theta, total = np.zeros(1500), np.zeros(1500)
    for t in range(3000):
        theta = (
            theta
            + 0.5
            / (t + 10) ** 0.6
            * (p.r[path[t]] + p.gamma * phi[t + 1] * theta - phi[t] * theta)
            * phi[t]
        )
        total += theta
    exact = float(otd.efficiency(problem, otd.TD()).averaged[0])
    assert np.isclose(3000 * lstd.var(), exact, rtol=0.12)
    assert np.isclose(3000 * (total / 3000).var(), exact, rtol=0.2)


def test_a_constant_step_leaves_a_bias_along_a_trajectory():
    """The means of the weights in each state follow a linear recursion; half the step has half the bias."""
    problem = otd.PolicyEvaluation.from_chain(
        [["3/4", "1/4"], ["1/8", "7/8"]], [1, -2], discount="9/10", features=[[1], [3]]
    )
    p = plain.of_model(otd.formats.model_to_dict(problem))
    bias = []
    for alpha in (1e-3, 5e-4, 2.5e-4):
        M, c = np.zeros((2, 2)), np.zeros(2)
        for s, t, chance, _, reward, g in p.rows:
            phi, ahead = p.Phi[s, 0], p.Phi[t, 0]
            M[t, s] += chance * (1 - alpha * phi * (phi - g * ahead))
            c[t] += p.xi[s] * chance * alpha * reward * phi
        bias.append(np.linalg.solve(np.eye(2) - M, c).sum() - fixed(p)[0])
    assert np.isclose(bias[0] / bias[1], 2, rtol=0.05)
    assert np.isclose(bias[1] / bias[2], 2, rtol=0.02)
    exact = otd.dynamics.stationary_moments(problem, otd.TD("1/1000")).bias[0][0]
    assert np.isclose(bias[0], float(exact))
