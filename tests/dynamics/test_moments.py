"""Exact moments against the mean dynamics, against floats, against simulation; limits on both sides."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import baird_star, boyan_chain, random_problem, two_state
from obliquetd.dynamics import (
    efficiency,
    exact_moments,
    mean_dynamics,
    stationary_moments,
    step_size_limit,
)
from obliquetd.errors import InputError, KindError, MathematicalError
from obliquetd.experiments import simulate
from obliquetd.learners import (
    ETD,
    GTD2,
    GTD2MP,
    SETD,
    TD,
    TDC,
    TDCMP,
    Learner,
    ResidualGradient,
    RobbinsMonro,
    ThetaW,
    phi,
    td_error,
)

R = sp.Rational
LEARNERS = [TD("1/20"), SETD("1/20"), GTD2("1/20", 2), TDC("1/20", 2), ResidualGradient("1/20")]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda x: x.name)
def test_independent_samples_have_the_mean_of_the_mean_dynamics(learner):
    """E[x_{t+1}] = E[x_t] + alpha (b - A E[x_t]): a second route, with w beside theta."""
    problem = random_problem(3, 2, seed=4)
    dyn = mean_dynamics(problem, learner)
    x = sp.zeros(dyn.A.rows, 1)
    x[0] = 1
    found = exact_moments(problem, learner, 4, [1, 0], sampling="iid")
    for t in range(5):
        assert found.mean[t] == x[:2, :]
        x = x + R(1, 20) * (dyn.b - dyn.A * x)


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("rows", [("1/4", "1/2"), ("1/10", "9/10"), ("1", "1/3")])
def test_a_trajectory_starts_with_the_weights_of_its_states(rows, floats):
    """Table, reward 1 on leaving state 0: theta_1 = (alpha, 0) with chance xi_0, else 0."""
    p, q = map(R, rows)
    mdp = MDP.from_transitions(
        [(0, "a", 0, 1 - p, 1), (0, "a", 1, p, 1), (1, "a", 0, q, 0), (1, "a", 1, 1 - q, 0)]
    )
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), discount=0.9 if floats else "9/10"
    )  # fmt: skip
    seen, alpha = q / (p + q), R(1, 20)
    found = exact_moments(problem, TD(alpha), 1)
    expected = [alpha * seen, 0]
    assert np.array(found.mean[1], dtype=float).ravel() == pytest.approx(np.array(expected, float))
    if not floats:
        assert list(found.mean[1]) == expected
        assert found.second[1][0, 0] == alpha**2 * seen


def test_a_step_by_hand():
    """SETD on two states, alpha = 1/100: only right to right moves theta, by rho omega delta phi.

    Chance 1/4, rho = 2, omega = 10, phi = 2, delta = 1 at theta = 0: theta_1 = 4/10 or 0.
    """
    found = exact_moments(two_state(reward=1), SETD("1/100"), 1)
    assert found.mean[1] == sp.Matrix([[R(1, 10)]])
    assert found.second[1] == sp.Matrix([[R(4, 100)]])
    assert found.covariance[1] == sp.Matrix([[R(3, 100)]])
    # ||Phi theta - v||_Xi^2 = C theta^2 - 2 * 15 theta + 100 with C = 5/2
    assert found.expected_mse == [100, R(5, 2) * R(4, 100) - 30 * R(1, 10) + 100]


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda x: x.name)
def test_floats_agree_with_rationals(learner, sampling):
    exact = random_problem(3, 2, seed=2)
    floats = PolicyEvaluation(
        exact.mdp, target=exact.target, behavior=exact.behavior,
        features=np.array(exact.Phi, dtype=float), discount=0.9,
    )  # fmt: skip
    a, b = (exact_moments(p, learner, 5, [1, -1], sampling=sampling) for p in (exact, floats))
    for t in range(6):
        assert b.mean[t] == pytest.approx(np.array(a.mean[t], dtype=float).ravel())
        assert np.allclose(b.second[t], np.array(a.second[t], dtype=float))
        assert np.allclose(b.covariance[t], np.array(a.covariance[t], dtype=float), atol=1e-9)
        assert b.expected_mse[t] == pytest.approx(float(a.expected_mse[t]))


def simulated(problem, learner, steps, runs, sampling, theta0):
    curve = simulate(
        problem, {"x": learner}, steps, runs, seed=7, stream=sampling, theta0=theta0, every=steps
    )["x"]
    return curve.theta, curve.rmse[:, -1] ** 2


def check_against_simulation(problem, learner, steps, runs, sampling, theta0):
    """Means of theta, theta^2 and the squared error within 4.5 standard errors."""
    exact = exact_moments(problem, learner, steps, theta0, sampling=sampling)
    theta, error = simulated(problem, learner, steps, runs, sampling, theta0)
    mean = np.array(exact.mean[-1], dtype=float).ravel()
    second = np.diag(np.array(exact.second[-1], dtype=float))
    for sample, expected in (
        (theta, mean),
        (theta**2, second),
        (error[:, None], [float(exact.expected_mse[-1])]),
    ):
        spread = sample.std(axis=0, ddof=1) / math.sqrt(runs) + 1e-12
        assert (np.abs(sample.mean(axis=0) - expected) < 4.5 * spread).all()


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("learner", LEARNERS[:4], ids=lambda x: x.name)
def test_moments_agree_with_simulation(learner, sampling):
    check_against_simulation(two_state(reward=1), learner, 6, 800, sampling, [1])


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("make", [TD, SETD, GTD2, TDC])
def test_moments_agree_with_many_runs(make, sampling):
    check_against_simulation(two_state(reward=1), make("1/20"), 8, 10_000, sampling, [1])
    check_against_simulation(baird_star(), make("1/100"), 12, 10_000, sampling, [1] * 6 + [10, 1])


@pytest.mark.parametrize("sense", ["mean", "mean square"])
@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize(
    "learner", [SETD(), GTD2(mu=1), TDC(mu=1), ResidualGradient()], ids=lambda x: x.name
)
def test_moments_die_out_below_the_limit_and_grow_above_it(learner, sampling, sense):
    """The root of a determinant against the iteration that it speaks of, on both sides of it."""
    problem = two_state()
    limit = step_size_limit(problem, learner, sampling=sampling, sense=sense)
    floats = two_state(discount=0.9)
    assert float(limit) == pytest.approx(
        step_size_limit(floats, learner, sampling=sampling, sense=sense), rel=1e-6
    )

    def size(alpha, steps=400):
        common = {"sampling": sampling}
        fields = {"mu": learner.mu} if "mu" in learner.values else {}
        found = exact_moments(floats, type(learner)(alpha, **fields), steps, [1.0], **common)
        value = found.second[-1] if sense == "mean square" else found.mean[-1]
        return float(np.abs(value).max())

    below, above = 0.9 * float(limit), 1.1 * float(limit)
    assert size(below) < 0.99 * size(below, 200) or size(below) < 1e-9
    assert not size(above) < 1.01 * size(above, 200)


def test_limits_by_hand():
    """One feature, i.i.d.: E[(1 - alpha a)^2] < 1 if and only if alpha < 2 E[a]/E[a^2].

    SETD: a = rho omega phi Delta phi = 2 * 10 * 2 * 1/5 = 8 with chance 1/4, so 4/16 = 1/4;
    in the mean |1 - alpha E[a]| < 1 gives alpha < 2/2 = 1.
    """
    problem = two_state()
    assert step_size_limit(problem, SETD(), sampling="iid") == R(1, 4)
    assert step_size_limit(problem, SETD(), sampling="iid", sense="mean") == 1
    assert step_size_limit(problem, TD()) == 0
    assert step_size_limit(two_state(discount=0.9), TD()) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.2, 0.3])
def test_both_sides_of_the_limit_by_simulation(alpha):
    """SETD on two states, limit 1/4: after 6 steps E[theta^2] has shrunk, or grown, as computed."""
    problem = two_state(discount=0.9)
    check_against_simulation(problem, SETD(alpha), 6, 8_000, "iid", [1.0])
    second = exact_moments(problem, SETD(alpha), 6, [1.0], sampling="iid").second
    assert (second[-1] < second[0]) == (alpha < 0.25)


def test_bairds_star_is_judged_modulo_the_kernel():
    problem = baird_star(discount=0.99)
    limit = step_size_limit(problem, SETD())
    assert 0.028 < limit < 0.03
    below = exact_moments(problem, SETD(0.9 * limit), 3000, [1] * 6 + [10, 1]).expected_mse
    above = exact_moments(problem, SETD(1.1 * limit), 3000, [1] * 6 + [10, 1]).expected_mse
    assert below[-1] < 0.5 * below[1500] < 0.25 * below[0]
    assert above[-1] > 2 * above[1500]


def test_bad_input():
    problem = two_state()
    with pytest.raises(InputError, match="carries a trace"):
        exact_moments(problem, TD("1/10", lam="1/2"), 3)
    with pytest.raises(InputError, match="carries a trace"):
        step_size_limit(problem, ETD())
    with pytest.raises(InputError, match="constant step size"):
        exact_moments(problem, TD(), 3)
    with pytest.raises(InputError, match="constant step size"):
        exact_moments(problem, TD(RobbinsMonro(1, 1)), 3)
    with pytest.raises(InputError, match="steps is -1"):
        exact_moments(problem, TD("1/10"), -1)
    with pytest.raises(InputError, match="theta0 has 2"):
        exact_moments(problem, TD("1/10"), 1, [1, 2])
    with pytest.raises(InputError, match="sampling"):
        exact_moments(problem, TD("1/10"), 1, sampling="odd")
    with pytest.raises(InputError, match="sense"):
        step_size_limit(problem, TD(), sense="odd")
    with pytest.raises(KindError, match="substitute"):
        exact_moments(two_state(discount="g"), TD("1/10"), 1)


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize(
    "make", [SETD, ResidualGradient, pytest.param(TDC, marks=pytest.mark.slow)]
)
def test_the_stationary_moments_are_where_the_iteration_ends(make, sampling):
    exact = two_state(reward=1)
    floats = two_state(discount=0.9, reward=1.0)
    alpha = R(1, 25)
    steps = 60_000 if make is TDC else 5_000  # the weights w forget slowly
    end = exact_moments(floats, make(float(alpha)), steps, [1.0], sampling=sampling)
    found = stationary_moments(exact, make(alpha), sampling=sampling)
    assert np.array(found.mean[0], dtype=float).ravel() == pytest.approx(end.mean[-1], rel=1e-6)
    assert np.array(found.second[0], dtype=float) == pytest.approx(end.second[-1], rel=1e-6)
    assert float(found.expected_mse[0]) == pytest.approx(end.expected_mse[-1], rel=1e-6)
    assert stationary_moments(floats, make(float(alpha)), sampling=sampling).covariance[
        0
    ] == pytest.approx(np.array(found.covariance[0], dtype=float), rel=1e-6, abs=1e-9)


def test_stationary_moments_modulo_the_kernel_and_beyond_the_limit():
    star = stationary_moments(baird_star(discount=0.99), SETD(0.006))
    assert star.expected_mse[0] == pytest.approx(
        0, abs=1e-12
    )  # rewards are zero: no noise at v = 0
    with pytest.raises(MathematicalError, match="limit in mean square is 1/4"):
        stationary_moments(two_state(), SETD("1/4"))
    with pytest.raises(MathematicalError, match="is 0"):
        stationary_moments(two_state(), TD("1/1000"))


def twice(x, m, t, alpha, p):
    """Two steps of TD on one transition: of degree 2 in alpha."""
    for _ in range(2):
        delta = td_error(x.theta, t)
        for i in range(len(x.theta)):
            x.theta[i] += alpha * t.rho * delta * phi(t, i)
    return delta


def normalised(x, m, t, alpha, p):
    """A step that is rational in alpha, so that it has no degree."""
    delta = td_error(x.theta, t)
    size = 0 * t.g
    for i in range(len(x.theta)):
        size += phi(t, i) * phi(t, i)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * phi(t, i) / (1 + alpha * size)
    return delta


@dataclass(frozen=True)
class Twice(Learner):
    alpha: Any = None
    rule = staticmethod(twice)


@dataclass(frozen=True)
class Normalised(Learner):
    alpha: Any = None
    rule = staticmethod(normalised)


def sideways(x, m, t, alpha, p):
    """Its slope moves theta alone, and what is of second order in alpha moves w."""
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * phi(t, i)
        x.w[i] += alpha * alpha * (delta * phi(t, i) - x.w[i])
    return delta


@dataclass(frozen=True)
class Sideways(Learner):
    alpha: Any = None
    weights, rule = ThetaW, staticmethod(sideways)


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize(
    "make",
    [
        GTD2MP,
        pytest.param(TDCMP, marks=pytest.mark.slow),
        Twice,
        pytest.param(Normalised, marks=pytest.mark.slow),
    ],
    ids=lambda x: x.__name__,
)
def test_a_rule_that_is_not_linear_in_its_step_size_ends_where_its_moments_do(make, sampling):
    """The moments of one more step, from the rule at that very step size, are the stationary ones."""
    problem, alpha = random_problem(3, 1, seed=3), R(1, 20)
    found = stationary_moments(problem, make(alpha), sampling=sampling)
    floats = problem.replace(arithmetic="float")
    end = exact_moments(floats, make(float(alpha)), 1_500, sampling=sampling)
    for exact, float_ in ((found.mean[0], end.mean[-1]), (found.second[0], end.second[-1])):
        assert np.array(exact, dtype=float).ravel() == pytest.approx(float_.ravel(), rel=1e-6)
    in_floats = stationary_moments(floats, make(float(alpha)), sampling=sampling)
    assert in_floats.second[0] == pytest.approx(end.second[-1], rel=1e-6)
    formula = stationary_moments(problem, make("a"), sampling=sampling)
    assert formula.covariance[0].subs("a", alpha) == found.covariance[0]


@pytest.mark.parametrize("floats", [False, True])
def test_beyond_the_limit_a_step_size_may_have_stationary_moments_again(floats):
    """Two states in turn, features 1 and 3, discount 0: theta -> (1 - a)(1 - 9 a) theta + c.

    At a = 1 it is 1 after the first state, and 1 - 9 + 3 = -5 after the second.
    """
    problem = PolicyEvaluation.from_chain(
        [[0, 1], [1, 0]], [1, 1], features=[[1], [3]], discount=0.0 if floats else 0
    )
    limit = step_size_limit(problem, TD())
    assert float(limit) == pytest.approx((10 - math.sqrt(28)) / 18)
    found = stationary_moments(problem, TD(1.0 if floats else 1))
    assert [float(found.mean[0][0]), float(found.second[0][0, 0])] == pytest.approx([-2, 13])
    with pytest.raises(MathematicalError, match=r"limit in mean square is 0\.2615"):
        stationary_moments(problem, TD(0.5 if floats else "1/2"))


def test_a_step_outside_the_span_of_the_slopes_is_refused():
    with pytest.raises(MathematicalError, match="leaves the span of its slopes"):
        stationary_moments(random_problem(3, 2, seed=3), Sideways("1/40"))


@pytest.mark.slow
@pytest.mark.parametrize("learner", [TD("1/20"), GTD2("1/20", 2)], ids=lambda x: x.name)
def test_the_expected_projected_error_is_that_of_many_runs(learner):
    """At step 0 the error of theta_0 itself; later the mean over 6000 runs, within 5 errors."""
    problem = random_problem(3, 2, seed=4)
    start = [1, -2]
    found = exact_moments(problem, learner, 3, start)
    assert found.expected_mspbe[0] == problem.rmspbe(problem.Phi * sp.Matrix(start)) ** 2
    runs = simulate(problem, [learner], 3, 6000, seed=5, theta0=start)[learner.name]
    for exact, sample in (
        (found.expected_mspbe, runs.rmspbe**2),
        (found.expected_mse, runs.rmse**2),
    ):
        error = sample.std(axis=0, ddof=1)[1:] / math.sqrt(len(sample))
        gap = sample.mean(axis=0)[1:] - np.array([float(x) for x in exact[1:]])
        assert (np.abs(gap) < 5 * error + 1e-9).all()  # GTD2 does not move in its first step


def boyan_in_floats():
    return boyan_chain().replace(arithmetic="float")


@pytest.mark.parametrize("kind", [TD, SETD, pytest.param(TDC, marks=pytest.mark.slow)])
@pytest.mark.parametrize("alpha", [1e-4, 1e-7])
def test_a_small_step_size_leaves_the_covariance_its_digits(kind, alpha):
    """Cov / alpha has a limit; as E[x x'] - E[x] E[x]' it had lost its sign at 1e-6."""
    problem = boyan_in_floats()
    limit = efficiency(problem, kind()).constant_step[:4, :4]
    found = stationary_moments(problem, kind(alpha)).covariance[0] / alpha
    assert np.allclose(found, limit, rtol=1e3 * alpha + 1e-6, atol=1e-6 * np.abs(limit).max())


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("learner", [TD, GTD2, TDC, GTD2MP])
def test_moments_of_small_steps_in_floats_are_those_in_rationals(learner, sampling):
    problem = random_problem(3, 2, seed=5, discount="9/10")
    start = ["1/3", "-7"]
    exact = exact_moments(problem, learner("1/10000000000"), 6, start, sampling=sampling)
    floats = exact_moments(
        problem.replace(arithmetic="float"), learner(1e-10), 6, [1 / 3, -7.0], sampling=sampling
    )
    for a, b in zip(exact.covariance, floats.covariance, strict=True):
        wanted = np.array(a, dtype=float)
        assert np.allclose(b, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())
    for name in ("expected_mse", "expected_mspbe"):
        wanted = [float(x) for x in getattr(exact, name)]
        assert np.allclose(getattr(floats, name), wanted, rtol=1e-9), name


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("make", [TDC, GTD2, TD], ids=lambda x: x.name)
def test_a_covariance_far_below_the_squares_of_means_keeps_its_digits(make, sampling):
    """Rewards of 10^4 at the discount 999/1000 put the means near 10^7, and the deviations near 10^3."""
    P = sp.Matrix([
        [0, "1/2", 0, "1/2"], [0, "1/1003", "1001/1003", "1/1003"],
        [0, "3/1006", "1/503", "1001/1006"], ["1/335", "1/1005", "200/201", "1/1005"],
    ]).applyfunc(sp.Rational)  # fmt: skip
    Phi, r = sp.Matrix([[-1, -1], [-3, -3], [2, 3], [1, 2]]), [0, 10000, -3, -10000]
    exact = PolicyEvaluation.from_chain(P, r, discount="999/1000", features=Phi)
    floats = PolicyEvaluation.from_chain(
        np.array(P, dtype=float),
        np.array(r, dtype=float),
        discount=0.999,
        features=np.array(Phi, dtype=float),
    )
    wanted, found = (
        stationary_moments(p, make("1/50"), sampling=sampling).covariance[0]
        for p in (exact, floats)
    )
    np.testing.assert_allclose(found, np.array(wanted, dtype=float), rtol=1e-8)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)
