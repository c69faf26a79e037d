"""The noise of a learner, against stationary moments, batch means, closed forms and itself in floats."""

import math

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd import PolicyEvaluation, efficiency, mean_dynamics, stationary_moments
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.errors import (
    InputError,
    KindError,
    MathematicalError,
    SignUndecidedError,
)
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC, ResidualGradient

R = sp.Rational
ALPHA = sp.Symbol("alpha")
TRACED = [TD(lam="1/2"), SETD(lam="1/2"), ETD(), ETD(lam="1/2"), TDC(lam="1/3"), GTD2(lam=1)]


def at_zero(matrix):
    """The limit of a rational function of alpha, divided by alpha."""
    return matrix.applyfunc(lambda x: sp.cancel(x / ALPHA).subs(ALPHA, 0))


def small(seed, n=2, discount="3/5"):
    return random_problem(n, 1, seed=seed, discount=discount)


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("kind", [TD, SETD, TDC, ResidualGradient])
@pytest.mark.parametrize("seed", [1, 5])
def test_the_covariance_of_small_constant_step_sizes(kind, sampling, seed):
    """The stationary covariance as a function of alpha, over alpha, at 0: a route with no Poisson equation."""
    problem = small(seed)
    found = efficiency(problem, kind(), sampling=sampling)
    if not mean_dynamics(problem, kind()).is_stable():
        pytest.skip("no stationary covariance")
    exact = stationary_moments(problem, kind(ALPHA), sampling=sampling)
    assert found.of_theta(found.constant_step) == at_zero(exact.covariance[0])
    if sampling == "iid":
        assert exact.bias[0] == sp.zeros(1, 1)


@pytest.mark.parametrize(
    "learner", [TD(), SETD(), GTD2(), ResidualGradient()], ids=lambda x: x.name
)
def test_independent_transitions_have_the_covariance_of_one_update(learner):
    """Sigma = sum of xi mu p U U' with U written out from the table, where all transitions are independent."""
    problem = random_problem(3, 2, seed=4)
    found = efficiency(problem, learner, sampling="iid")
    theta = mean_dynamics(problem, learner, sampling="iid").fixed_point()
    Phi, total = problem.Phi, sp.zeros(2, 2)
    for row in problem.mdp.transitions:
        s, t = (problem.mdp.index[x] for x in (row.state, row.next_state))
        mu, pi = (p[row.state].get(row.action, 0) for p in (problem.behavior, problem.target))
        g, rho = problem.discount * row.discount, R(pi) / R(mu)
        delta = row.reward + ((g * Phi[t, :] - Phi[s, :]) * theta)[0]
        phi, down = Phi[s, :].T, (Phi[s, :] - g * Phi[t, :]).T
        omega = max(0, (down.T * phi)[0] / (down.T * down)[0]) if any(down) else 0
        update = {
            "TD": rho * delta * phi,
            "SETD": rho * omega * delta * phi,
            "GTD2": rho * delta * phi,
            "ResidualGradient": rho * delta * down,
        }[learner.name]
        total += problem.xi[s] * mu * row.probability * update * update.T
    sigma = found.noise_covariance
    assert (sigma[2:, 2:] if learner.name == "GTD2" else sigma) == total


def batch_means(problem, learner, steps, width, seed):
    """Averages of the update at the fixed point over stretches of a trajectory, by running the rule."""
    from obliquetd.dynamics.at_weights import moments_at
    from obliquetd.dynamics.limit import limit_of

    dynamics = mean_dynamics(problem, learner)
    x0 = dynamics._weights_of([0] * problem.Phi.shape[1])
    at = moments_at(dynamics.expectation, limit_of(dynamics.expectation, x0, "x"))
    size = dynamics.expectation.rule.memory_size
    by_state = {}
    for z in at.outcomes:
        c, M = np.zeros(size), np.zeros((size, size))
        for i, v in z.start.items():
            c[i] = float(v)
        for place, v in z.carry.items():
            M[place] = float(v)
        n = np.array([float(v) for v in z.constant])
        G = np.zeros((len(n), size))
        for j, column in z.slopes.items():
            G[:, j] = [float(v) for v in column]
        by_state.setdefault(z.s, []).append((float(z.chance), z.t, c, M, n, G))
    rng = np.random.default_rng(seed)
    picks = {s: np.cumsum([o[0] for o in found]) for s, found in by_state.items()}
    s, h, out = min(by_state), np.zeros(size), []
    for u in rng.random(steps):
        k = min(int(np.searchsorted(picks[s], u)), len(by_state[s]) - 1)
        _, t, c, M, n, G = by_state[s][k]
        out.append(n + G @ h)
        s, h = t, c + M @ h
    return np.array(out).reshape(-1, width, len(out[0])).sum(axis=1) / math.sqrt(width)


@pytest.mark.slow
@pytest.mark.parametrize("learner", TRACED, ids=repr)
def test_traces_agree_with_batch_means(learner):
    """60,000 steps in batches of 200: every variance within five standard errors, and the bias of a batch."""
    problem = random_problem(3, 2, seed=3, discount="1/2")
    sigma = np.array(efficiency(problem, learner).noise_covariance, dtype=float)
    batches = batch_means(problem, learner, 60_000, 200, seed=11)
    squares = batches**2
    error = squares.std(axis=0, ddof=1) / math.sqrt(len(squares))
    gap = np.abs(squares.mean(axis=0) - np.diag(sigma))
    assert (gap <= 5 * error + 0.02 * np.diag(sigma)).all()


def test_the_batches_would_notice():
    """With the cross terms between steps left out, the covariance is another one."""
    problem = random_problem(3, 2, seed=3, discount="1/2")
    along, single = (
        efficiency(problem, TD(), sampling=s).noise_covariance for s in ("trajectory", "iid")
    )
    assert along != single


@pytest.mark.parametrize("learner", [*TRACED[:5], TD(), SETD()], ids=repr)
def test_floats_agree_with_rationals(learner):
    exact = random_problem(3, 2, seed=3, discount="1/2")
    floats = PolicyEvaluation(
        exact.mdp, target=exact.target, behavior=exact.behavior,
        features=np.array(exact.Phi, dtype=float), discount=0.5,
    )  # fmt: skip
    a, b = efficiency(exact, learner), efficiency(floats, learner)
    for name in ("noise_covariance", "averaged", "constant_step"):
        x = np.array(getattr(a, name), dtype=float)
        assert np.asarray(getattr(b, name)) == pytest.approx(x, rel=1e-8, abs=1e-10)
    assert b.distance(100) == pytest.approx(float(a.distance(100)), rel=1e-8)


def test_symbols_agree_with_rationals():
    """A symbol that decides no sign: the discount without a trace, the reward with one."""
    formula = efficiency(random_problem(2, 1, seed=1, discount="g"), TD()).noise_covariance
    value = efficiency(random_problem(2, 1, seed=1, discount="2/3"), TD()).noise_covariance
    assert formula.subs("g", R(2, 3)) == value
    formula = efficiency(two_state("1/2", reward="r"), TD(lam="1/2")).averaged
    value = efficiency(two_state("1/2", reward=3), TD(lam="1/2")).averaged
    assert formula.subs("r", 3) == value


@pytest.mark.parametrize(
    ("learner", "finite", "infinite"),
    [(ETD(), "7/10", "71/100"), (ETD(lam="1/2"), "7/10", "71/100")],
    ids=repr,
)
def test_where_the_noise_of_two_states_ends(learner, finite, infinite):
    """The follow-on is multiplied by 2 gamma with chance 1/2: 2 gamma^2 < 1 is needed."""
    assert efficiency(two_state(finite, reward=1), learner).is_finite
    found = efficiency(two_state(infinite, reward=1), learner)
    assert not found.is_finite
    assert "the memory F" in found.reason
    with pytest.raises(MathematicalError, match="infinite noise"):
        _ = found.noise_covariance


def test_a_trace_is_multiplied_by_gamma_lambda():
    """2 (gamma lam)^2 < 1: TD(1) ends where ETD does, TD(lam) later."""
    for lam, gamma, finite in (
        (1, "7/10", True),
        (1, "71/100", False),
        ("1/2", "9/10", True),
        ("4/5", "9/10", False),
    ):
        assert efficiency(two_state(gamma, reward=1), TD(lam=lam)).is_finite == finite


def test_a_memory_that_is_not_seen_may_grow():
    """Without rewards every TD error is 0 at the fixed point: there is no noise, whatever the follow-on does."""
    found = efficiency(two_state("9/10"), ETD())
    assert found.is_finite
    assert found.reason == ""
    assert found.noise_covariance == sp.zeros(1, 1)


def test_two_states_at_nine_tenths():
    """SETD is exact there and has no noise; TD is unstable, and its noise finite."""
    problem = two_state(reward=1)
    assert efficiency(problem, SETD()).averaged == sp.zeros(1, 1)
    found = efficiency(problem, TD())
    assert found.noise_covariance == sp.Matrix([[50]])
    for ask in (
        lambda: found.averaged, lambda: found.constant_step, lambda: found.schedule(1),
        lambda: found.distance(9),
    ):  # fmt: skip
        with pytest.raises(MathematicalError, match=r"TD is unstable here.*otd.LSTD"):
            ask()


def test_a_schedule_solves_its_equation_and_may_be_too_small():
    """(cA - I/2) S + S (cA - I/2)' = c^2 Sigma; and c = 1/(2 min eigenvalue) is where it ends."""
    problem = random_problem(3, 2, seed=3, discount="1/2")
    found, A = efficiency(problem, TD()), mean_dynamics(problem, TD()).A
    S, M = found.schedule(20), 20 * A - sp.eye(2) / 2
    assert 400 * found.noise_covariance == M * S + S * M.T
    B = found.constant_step
    assert found.noise_covariance == A * B + B * A.T
    assert A * found.averaged * A.T == found.noise_covariance
    with pytest.raises(MathematicalError, match="Use a larger c"):
        found.schedule("1/1000")
    least = min(complex(x).real for x in A.eigenvals())
    found.schedule(R(1.01 / (2 * least)).limit_denominator(1000))
    difference = found.schedule(20) - found.averaged  # the instance-optimal bound
    assert all(x >= 0 for x in difference.eigenvals() if x.is_real)


def test_weights_are_proportions_of_independent_transitions():
    """xi = (1, 2, 3) and (1/6, 1/3, 1/2) draw the same transitions; errors count 6 times as much."""
    problem = random_problem(3, 2, seed=3, discount="1/2")
    one, six = (
        efficiency(problem.replace(xi=xi), ResidualGradient(), sampling="iid")
        for xi in (["1/6", "1/3", "1/2"], [1, 2, 3])
    )
    assert one.averaged == six.averaged
    assert one.constant_step == six.constant_step
    assert 6 * one.distance(5) == six.distance(5)


def test_what_never_moves_has_no_noise():
    problem = baird_star(discount="9/10")
    found = efficiency(problem, SETD())
    assert found.noise_covariance == sp.zeros(8, 8)
    assert found.averaged == sp.zeros(8, 8)


def test_signs_that_depend_on_a_symbol():
    with pytest.raises(SignUndecidedError):
        _ = efficiency(two_state("gamma", reward=1), ETD()).is_finite


def test_bad_input():
    problem = two_state(reward=1)
    with pytest.raises(InputError, match="sampling is 'odd'"):
        efficiency(problem, TD(), sampling="odd")
    with pytest.raises(InputError, match="the class TD"):
        efficiency(problem, TD)
    with pytest.raises(InputError, match="not stationary"):
        efficiency(problem.replace(xi=["1/4", "3/4"]), TD(), sampling="trajectory")
    with pytest.raises(InputError, match="t is 0"):
        efficiency(problem, SETD()).distance(0)
    with pytest.raises(KindError, match="a symbol"):
        _ = stationary_moments(problem, SETD("1/10")).slope
    with pytest.raises(KindError, match="the problem is float"):
        stationary_moments(two_state(0.9, reward=1.0), SETD("a"))
    chain = otd.MDP.from_transitions([("a", 0, "a", 1, 1), ("b", 0, "b", 1, 0)])
    both = PolicyEvaluation(
        chain, target=otd.Policy.uniform(chain), discount="1/2", xi=["1/2", "1/2"]
    )
    with pytest.raises(MathematicalError, match="2 closed classes"):
        efficiency(both, TD())


def test_richardson_romberg_leaves_the_square_of_the_step_size():
    problem = small(1, n=3)
    found = stationary_moments(problem, TD(ALPHA))
    left = found.extrapolated_bias[0]
    assert found.slope[0] != 0
    assert sp.cancel(left / ALPHA).subs(ALPHA, 0) == 0
    assert sp.cancel(left / ALPHA**2).subs(ALPHA, 0) != 0
    numeric = stationary_moments(problem, TD("1/50"))
    assert numeric.bias[0] == found.bias[0].subs(ALPHA, R(1, 50))


@pytest.mark.parametrize("learner", [*TRACED, TD(), SETD()], ids=repr)
@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
def test_units_in_which_numbers_are_whole_change_nothing(learner, sampling, monkeypatch):
    """Common denominators are taken out of x*, xi and the moments before the products, and put back."""
    from obliquetd.algebra.field_matrix import FieldMatrix
    from obliquetd.algebra.matrix import Matrix

    if sampling == "iid" and learner.has_memory:
        pytest.skip("a memory is carried along a trajectory")
    problem = random_problem(4, 2, seed=5, discount="1/2")
    found = efficiency(problem, learner, sampling=sampling)
    assert found._moments.scale != found._arithmetic.one
    monkeypatch.setattr(FieldMatrix, "denominator", Matrix.denominator)  # the former route
    former = efficiency(problem, learner, sampling=sampling)
    assert former._moments.scale == former._arithmetic.one
    assert found.noise_covariance == former.noise_covariance
    assert found.averaged == former.averaged
