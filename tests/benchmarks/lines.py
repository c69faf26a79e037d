"""The lines of the table of speeds, by what they measure."""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import flint
import numpy as np
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
import sympy as sp
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from obliquetd import MDP, Policy, PolicyEvaluation, features
from obliquetd.domains import random_problem
from obliquetd.dynamics import mean_dynamics, stability_region, step_size_limit
from obliquetd.learners import ETD, SETD, TD
from tests.benchmarks import sketches
from tests.benchmarks.table import line

G = 0.9


def dense_rational(n, d):
    """Dense chain of two actions, integer features, discount 9/10, off-policy."""
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 20, size=(2, n, n))
    P = [[[Fraction(int(x), int(r.sum())) for x in r] for r in layer] for layer in weights]
    mdp = MDP.from_arrays(P, rng.integers(-5, 6, size=n).tolist())
    return PolicyEvaluation(
        mdp,
        target=Policy.random(mdp, 1),
        behavior=Policy.uniform(mdp),
        features=rng.integers(-4, 5, size=(n, d)).tolist(),
        discount="9/10",
    )


def again(problem, **changes):
    """The same problem with nothing computed."""
    return problem.replace(**changes)


def raw(matrix):
    return flint.fmpq_mat(*matrix.shape, [x for r in matrix.rows() for x in r])


def chain(n, successors=5, seed=0):
    rng = np.random.default_rng(seed)
    to = rng.integers(n, size=(n, successors))
    to[:, 0] = (np.arange(n) + 1) % n
    p = rng.random((n, successors))
    p /= p.sum(axis=1, keepdims=True)
    P = sparse.csr_array((p.ravel(), (np.repeat(np.arange(n), successors), to.ravel())), (n, n))
    P.sum_duplicates()
    return P, rng.normal(size=n)


def sparse_problem(n, d=0, discount=0.99, learner_features=None):
    P, r = chain(n)
    mdp = MDP.from_arrays([P], r)
    phi = np.random.default_rng(1).normal(size=(n, d)) if d else learner_features
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=phi, discount=discount)


# --- mean dynamics ------------------------------------------------------------------------


def computed(problem, learner):
    dyn = mean_dynamics(problem, learner)
    return dyn.A, dyn.b


def exact_line(learner, peer):
    """A, b of a learner in rationals; with its emphasis where it has one."""

    @line(f"A, b of {learner.name}, exact, d = 16", peer, (10, 20, 40, 80), 2)
    def exact(n):
        problem = dense_rational(n, 16)
        emphatic = isinstance(learner, ETD)
        peer = sketches.exact_sums(problem.native, problem.native.xi, emphatic=emphatic)
        return lambda: computed(problem, learner), peer


exact_line(TD(), "the sums of TD alone in FLINT")
exact_line(ETD(), "f and the sums of ETD alone in FLINT")


def float_problem(n, d):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(n), size=(2, n))
    mdp = MDP.from_arrays(P, rng.normal(size=n))
    return PolicyEvaluation(
        mdp,
        target=Policy.random(mdp, 1),
        behavior=Policy.uniform(mdp),
        features=rng.normal(size=(n, d)),
        discount=G,
    )


@line(
    "A, b of TD in floats, d = 16", "the sums of TD alone in numpy, no bounds",
    (25, 50, 100, 200), None,
)  # fmt: skip
def float_td(n):
    problem = float_problem(n, 16)
    Phi, xi = np.array(problem.Phi, dtype=float), np.array(problem.xi, dtype=float).ravel()
    peer = sketches.float_sums(problem.native, Phi, xi)

    return lambda: computed(problem, TD()), peer


def first_float_line(name, learner):
    @line(name, "the sums of TD alone in numpy, no bounds", (100, 200), None)
    def first(n):
        """With nothing kept of what the outcomes add up to, but with xi."""
        problem = float_problem(n, 16)
        Phi, xi = np.array(problem.Phi, dtype=float), np.array(problem.xi, dtype=float).ravel()

        def ours():
            known = vars(problem.native)
            for name in [k for k in known if k.startswith("_")]:
                del known[name]
            return computed(problem, learner)

        return ours, sketches.float_sums(problem.native, Phi, xi)


first_float_line("the same, the first on a problem", TD())
first_float_line("the same of TD(1/2)", TD(lam=0.5))
first_float_line("the same of ETD", ETD())
first_float_line("the same of SETD", SETD())


@line("A, b of TD with a symbol, d = 4", "theta by values at d + 1 discounts", (20, 50, 100), None)
def symbolic_td(n):
    problem = random_problem(n, 4, seed=1, discount="gamma")
    _ = problem.native.xi
    at = random_problem(n, 4, seed=1, discount=1).native
    peer = sketches.fixed_point_by_values(*map(raw, (at.P_pi, at.r_pi, at.xi, at.Phi)))

    def ours():
        found = mean_dynamics(problem, TD()).expectation
        return found.A, found.b

    return ours, peer


@line(
    "A, b of TD(1/2) in floats, 5 successors, d = 10", "scipy solve", (300, 1000, 3000, 10_000), 4
)
def float_trace(n):
    problem = sparse_problem(n, 10)
    P, r = chain(n)
    xi = np.array(problem.xi, dtype=float).ravel()
    Phi = np.array(problem.Phi, dtype=float)

    def peer():
        e = linalg.splu(sparse.csc_array(sparse.eye_array(n) - 0.99 * 0.5 * P.T)).solve(
            xi[:, None] * Phi
        )
        return e.T @ (Phi - 0.99 * (P @ Phi)), e.T @ r

    return lambda: computed(problem, TD(lam=0.5)), peer


# --- stability ----------------------------------------------------------------------------


def region_line(learner):
    name = f"region of {learner.name}, d = n / 2"

    @line(name, f"intervals of floats for {learner.name} alone, to 10^-6", (4, 6, 12), 2)
    def region(n):
        problem = random_problem(n, n // 2, seed=1, discount="gamma")
        at = random_problem(n, n // 2, seed=1, discount=1).native
        peer = sketches.region_by_boxes(at, setd=isinstance(learner, SETD))
        return lambda: stability_region(again(problem), learner, "gamma"), peer


region_line(TD())
region_line(SETD())


@line("exact A and verdict of TD, d = n", "numpy eigenvalues of A in floats", (10, 20, 40), None)
def verdict(d):
    problem = random_problem(d, d, seed=1)
    A = np.array(mean_dynamics(problem, TD()).A, dtype=float)
    return lambda: mean_dynamics(problem, TD()).stability, lambda: np.linalg.eigvals(A)


@line(
    "exact A and certificate of TD, d = n", "scipy's Lyapunov solver in floats", (5, 10, 20), None
)
def certificate(d):
    problem = random_problem(d, d, seed=1)
    A = np.array(mean_dynamics(problem, TD()).A, dtype=float)

    def ours():
        return mean_dynamics(problem, TD()).certificate()

    return ours, lambda: scipy.linalg.solve_continuous_lyapunov(A.T, np.eye(d))


@line("step_size_limit of TD in floats, d = 6", "one dense spectral radius", (6, 10, 14), None)
def limit(n):
    exact = random_problem(n, 6, seed=1)
    problem = PolicyEvaluation(
        exact.mdp,
        target=exact.target,
        behavior=exact.behavior,
        features=np.array(exact.Phi, dtype=float),
        discount=G,
        arithmetic="float",
    )
    size = n * 21
    T = np.random.default_rng(0).normal(size=(size, size))
    return lambda: step_size_limit(again(problem), TD()), lambda: np.linalg.eigvals(T)


@line(
    "a candidate of a search for SETD that finds none, by walks",
    "SETD's walks in numpy",
    (12, 50, 400),
    parts=lambda walks: 150 * walks,
)
def search_in_vain(walks):
    from obliquetd import find_unstable

    def ours():
        found = find_unstable(SETD(), 3, 2, discount="1/10", walks=walks, workers=1)
        assert found.tried == 150 * walks
        return found

    return ours, sketches.setd_walks(3, walks, discount=0.1)


@line(
    "search for SETD, found and shrunk",
    "SETD's walks in numpy, shrunk, A in fractions",
    (3, 4),
    None,
)
def search(n):
    from obliquetd import find_unstable
    from obliquetd.search.families import FAMILIES
    from obliquetd.search.walk import Quest
    from obliquetd.search.walk import walks as walk_on

    def ours():
        return find_unstable(SETD(), n, 2, walks=12, seed=0, workers=1)

    end = walk_on(Quest(FAMILIES["off-policy"](n, 2, "9/10"), SETD(), (), 0), range(12))[-1]
    walked = sketches.setd_walks(n, 12, discount=G, changes=end.tried)
    shrunk = sketches.setd_shrunk(n, end.genome, discount=Fraction(9, 10))
    small, det, trace = shrunk()
    assert min(det, trace) < 0
    assert [abs(x) for x in small[n:]] == [abs(x) for x in ours().problem.Phi]
    return ours, lambda: (walked(), shrunk())


# --- chains and values --------------------------------------------------------------------


@line(
    "xi of a random chain, 5 successors",
    "power steps in scipy",
    (1000, 3000, 10_000, 100_000),
    None,
)
def sparse_xi(n):
    P, _ = chain(n)
    problem = sparse_problem(n)
    T = sparse.csr_array(P.T)

    def peer():
        x = np.full(n, 1 / n)
        for _ in range(300):
            y = T @ x
            y /= y.sum()
            if np.abs(y - x).max() < 1e-14 * y.max():
                break
            x = y
        return x

    return lambda: again(problem).native.xi, peer


@line("xi of a dense chain in floats", "QuantEcon, gth_solve", (50, 100, 200, 400), None)
def dense_xi(n):
    problem = float_problem(n, 2)
    peer = None
    if importlib.util.find_spec("quantecon") is not None:
        from quantecon.markov import gth_solve

        P = np.array(problem.P_b, dtype=float)
        peer = functools.partial(gth_solve, P)
    return lambda: again(problem).native.xi, peer


@line("v_pi of it at discount 0.99", "scipy's GMRES", (1000, 10_000, 100_000), 4)
def sparse_v(n):
    P, r = chain(n)
    problem = sparse_problem(n)
    L = sparse.csr_array(sparse.eye_array(n) - 0.99 * P)
    return (
        lambda: again(problem).native.v_pi,
        lambda: linalg.gmres(L, r, rtol=1e-14, restart=40, maxiter=20),
    )


@line(
    "all of it at lambda 0, d = 32: xi, v_pi, A, b, fixed points, RMSE",
    "scipy, the same without bounds",
    (10_000, 100_000, 1_000_000),
    None,
    patience=600,
)
def whole(n):
    """From the arrays on, of TD, SETD and ETD; in a minute and 4 GiB at a million states."""
    P, r = chain(n)
    phi = np.random.default_rng(1).normal(size=(n, 32))

    def ours():
        mdp = MDP.from_arrays([P], r)
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=phi, discount=0.99)
        found = [problem.xi, problem.v_pi]
        found += [problem.fixed_point(name).rmse for name in ("td", "setd", "etd")]
        for learner in (TD(), SETD(), ETD()):
            dynamics = mean_dynamics(problem, learner)
            found += [dynamics.A, dynamics.b, dynamics.fixed_point()]
        return found

    def peer():
        x, T = np.full(n, 1 / n), sparse.csr_array(P.T)
        for _ in range(60):
            x = T @ x
        L = sparse.csr_array(sparse.eye_array(n) - 0.99 * P)
        v, _ = linalg.gmres(L, r, rtol=1e-14, restart=40, maxiter=20)
        f, _ = linalg.gmres(sparse.csr_array(L.T), x, rtol=1e-14, restart=40, maxiter=20)
        Lambda = L @ phi
        omega = np.maximum((Lambda * phi).sum(axis=1) / (Lambda**2).sum(axis=1), 0)
        for w in (x, omega * x, f):
            X = w[:, None] * phi
            theta = np.linalg.solve(X.T @ Lambda, X.T @ r)
            np.sqrt(x @ (phi @ theta - v) ** 2)

    return ours, peer


@line("construction from arrays, d = 32", "copies of the arrays", (1000, 10_000, 100_000), None)
def construction(n):
    P, r = chain(n)
    phi = np.random.default_rng(1).normal(size=(n, 32))

    def ours():
        mdp = MDP.from_arrays([P], r)
        return PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=phi, discount=G)

    return ours, lambda: (P.copy(), r.copy(), phi.copy())


@line("classes of the chain", "scipy.sparse.csgraph", (1000, 10_000, 100_000), None)
def classes(n):
    P, _ = chain(n)
    problem = sparse_problem(n)

    def ours():
        return again(problem).chain.classes

    return ours, lambda: sparse.csgraph.connected_components(P, connection="strong")


@line("exact xi of a dense chain", "python-flint, integers by rows", (50, 100, 200, 500), 2)
def exact_xi(n):
    problem = dense_rational(n, 2)
    solve = scaled(problem.native.P_b)

    def ours():
        new = again(problem)
        _ = new.native.P_b
        return new.native.xi

    return ours, solve


def scaled(P):
    """Solve (I - P') x = 0 with x_i = D_i y_i, so that the matrix holds each row's small integers."""
    rows, n = P.rows(), P.shape[0]
    m = [[int(i == j) - rows[i][j] for j in range(n - 1)] for i in range(n - 1)]
    D = [math.lcm(*(int(x.denominator) for x in r if x)) for r in m]
    flat = [
        int(m[i][j].numerator) * (D[i] // int(m[i][j].denominator))
        for j in range(n - 1)
        for i in range(n - 1)
    ]
    W = flint.fmpz_mat(n - 1, n - 1, flat)
    right = [rows[n - 1][j] for j in range(n - 1)]
    den = math.lcm(*(int(x.denominator) for x in right))
    b = flint.fmpz_mat(n - 1, 1, [int(x.numerator) * (den // int(x.denominator)) for x in right])
    return lambda: W.solve(b)


@line("exact X* of a dense chain, d = 4", "python-flint, rationals", (50, 100, 200), 1)
def exact_x_star(n):
    problem = dense_rational(n, 4)
    L, Z = raw(problem.native.L_pi.T), raw(problem.native.Xi_Phi)

    def ours():
        vars(problem.native).pop("X_star", None)
        return problem.native.X_star

    return ours, lambda: L.solve(Z)


@line("v_pi(gamma), dense chain", "sympy DomainMatrix", (10, 20, 40, 100), 0.5)
def symbolic_v(n):
    gamma = sp.Symbol("gamma")
    problem = random_problem(n, 2, seed=1, discount=gamma)
    left, right = (
        DomainMatrix.from_Matrix(M).convert_to(QQ[gamma]) for M in (problem.L_pi, problem.r_pi)
    )

    def ours():
        new = again(problem)
        return new.native.v_pi

    return ours, (lambda: left.solve_den(right)) if n <= 20 else None


@line("v_pi(gamma), dense chain, against Storm", "stormpy, parametric", (5, 10, 20), None)
def symbolic_storm(n):
    problem = random_problem(n, 2, seed=1, discount="gamma")
    peer = None
    if importlib.util.find_spec("stormpy") is not None:
        peer = _storm(problem)
    return lambda: again(problem).native.v_pi, peer


def _storm(problem):
    """The value of the first state: the reward until an end that each step reaches with chance 1 - gamma."""
    import stormpy

    P, r, n = problem.P_pi, problem.r_pi, len(problem.states)
    lines = ["@type: DTMC", "@parameters", "gamma", "@reward_models", "earned"]
    lines += ["@nr_states", str(n + 1), "@nr_choices", str(n + 1), "@model"]
    for i in range(n):
        lines += [f"state {i} [{r[i]}]" + " init" * (i == 0), "\taction 0 [0]"]
        lines += [f"\t\t{j} : ({P[i, j]})*gamma" for j in range(n) if P[i, j]]
        lines += [f"\t\t{n} : 1-gamma"]
    lines += [f"state {n} [0] done", "\taction 0 [0]", f"\t\t{n} : 1"]
    path = Path(tempfile.mkdtemp()) / "model.drn"
    path.write_text("\n".join(lines) + "\n")
    model = stormpy.build_model_from_drn[stormpy.RationalFunction](str(path))
    formula = stormpy.parse_properties('R=? [F "done"]')[0]

    def peer():
        found = stormpy.model_checking(model, formula, only_initial_states=True)
        return found.get_value(0)

    return peer


@line("theta(gamma) of TD", "values at d + 1 discounts, interpolated", (6, 10, 20), 2)
def symbolic_theta(n):
    problem = random_problem(n, 3, seed=1, discount="gamma")
    at = random_problem(n, 3, seed=1, discount=1).native
    peer = sketches.fixed_point_by_values(*map(raw, (at.P_pi, at.r_pi, at.xi, at.Phi)))
    _ = problem.native.xi, problem.native.r_pi, problem.native.P_pi

    def ours():
        for name in ("P_gamma", "L_pi", "Lambda", "Xi_Phi"):
            vars(problem.native).pop(name, None)
        return problem.fixed_point("td")

    return ours, peer


# --- learners and files -------------------------------------------------------------------


def tiled(steps):
    rng = np.random.default_rng(0)
    points = rng.random((2000, 2))
    active = features.tile_coding(points, bins=34, tilings=8)
    order = rng.integers(2000, size=steps + 1)
    return active, order, rng.normal(size=steps)


@line(
    "a step of TD, 8 of 9,800 tiles active (2,000 states)",
    "a compiled loop for TD(0) alone",
    (100_000,),
    None,
    parts=lambda steps: steps,
)
def sparse_step(steps):
    import numba

    from obliquetd.experiments.running import steps_of
    from obliquetd.experiments.streams import Drawn, Outcomes

    active, order, reward = tiled(steps)
    ones = np.ones(steps)
    outcomes = Outcomes(
        active, order[:-1].copy(), order[1:].copy(), reward, ones * G, ones, ones, ones, ones, active, ones
    )  # fmt: skip
    rows = np.arange(steps)
    drawn = Drawn(outcomes, rows, rows, np.zeros(steps, dtype=bool))
    alphas, record = np.full(steps, 0.01), np.zeros((2, active.shape[1]))
    learner = TD(0.01)
    numbers = learner.numbers(lam=0.0)
    first = np.zeros(active.shape[1])

    def ours():
        return steps_of(learner, numbers, outcomes, first).advance(
            drawn, alphas, steps, 1e300, record
        )

    tiles_of = active.indices.reshape(-1, 8).astype(np.int64)

    @numba.njit(fastmath=True)
    def by_hand(theta, tiles_of, order, reward, alpha, g):
        for t in range(len(reward)):
            s, n = order[t], order[t + 1]
            delta = reward[t]
            for k in range(8):
                delta += g * theta[tiles_of[n, k]] - theta[tiles_of[s, k]]
            for k in range(8):
                theta[tiles_of[s, k]] += alpha * delta

    return ours, lambda: by_hand(np.zeros(active.shape[1]), tiles_of, order, reward, 0.01, G)


@line("simulate, d = 201, errors at each step", "BLAS products of the weights", (2_000, 20_000), 2)
def recorded(steps):
    from obliquetd import simulate

    problem = float_problem(201, 201)
    theta = np.random.default_rng(0).normal(size=(steps, 201))
    maps = np.random.default_rng(1).normal(size=(2, 201, 201))
    block = 1304

    def peer():
        for start in range(0, steps, block):
            for M in maps:
                gap = theta[start : start + block] @ M.T
                np.einsum("kr,kr->k", gap, gap)

    return lambda: simulate(problem, TD(0.001), steps, every=1, workers=1), peer


@line("a model from a JSON file, 20,000 transitions", "json.load alone", (20_000,), None)
def from_file(rows):
    import obliquetd as otd

    n = int((rows / 2) ** 0.5)
    path = Path(tempfile.mkdtemp()) / "model.json"
    otd.save_model(dense_rational(n, 2), path)
    return lambda: otd.load_model(path), lambda: json.loads(path.read_text())


def _run(*command):
    return lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True)


def _children(function):
    """The CPU time of child processes is not this one's; spin for as long as they took."""
    import resource
    import time

    def ours():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        function()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        end = time.process_time() + took
        while time.process_time() < end:
            pass

    return ours


@line("obliquetd --help", "python, importing sympy", (1,), 1)
def start(_):
    return _children(_run("-m", "obliquetd", "--help")), _children(_run("-c", "import sympy"))


@line("obliquetd table1", "python, importing sympy", (1,), None)
def table_one(_):
    return _children(_run("-m", "obliquetd", "table1")), _children(_run("-c", "import sympy"))
