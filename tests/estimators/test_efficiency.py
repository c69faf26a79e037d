"""The noise and bias of LSTD against runs of LSTD, and when the less biased estimator is the better one."""

import math

import numpy as np
import pytest
import sympy as sp

from obliquetd import LSETD, LSPE, LSTD, compare, crossover, efficiency
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.errors import InputError, KindError, MathematicalError, NotUniqueError
from obliquetd.learners import ETD, TD

STEPS, RUNS = 400, 4000


def runs_of_lstd(problem, lam, seed, sampling):
    """theta of LSTD(lam) after 400 steps from a stationary start, in 4,000 runs at once."""
    rng = np.random.default_rng(seed)
    rows = [
        (
            problem.mdp.index[r.state], problem.mdp.index[r.next_state],
            float(problem.behavior[r.state].get(r.action, 0) * r.probability),
            float(problem.target[r.state].get(r.action, 0) / problem.behavior[r.state][r.action]),
            float(r.reward), float(problem.discount * r.discount),
        )
        for r in problem.mdp.transitions
    ]  # fmt: skip
    columns = [np.array(c) for c in zip(*rows, strict=True)]
    n, Phi = len(problem.states), np.array(problem.Phi, dtype=float)
    xi = np.array(problem.xi, dtype=float).ravel()
    at = [np.flatnonzero(columns[0] == s) for s in range(n)]
    chance = [np.cumsum(columns[2][k]) for k in at]
    d = Phi.shape[1]
    state = rng.choice(n, size=RUNS, p=xi)
    e, A, b = np.zeros((RUNS, d)), np.zeros((RUNS, d, d)), np.zeros((RUNS, d))
    for _ in range(STEPS):
        if sampling == "iid":
            state, e = rng.choice(n, size=RUNS, p=xi), 0 * e
        u, row = rng.random(RUNS), np.empty(RUNS, dtype=int)
        for s in range(n):
            here = state == s
            place = np.searchsorted(chance[s], u[here])
            row[here] = at[s][np.minimum(place, len(at[s]) - 1)]
        _, after, _, rho, reward, g = (c[row] for c in columns)
        e = rho[:, None] * (e + Phi[state])
        A += e[:, :, None] * (Phi[state] - g[:, None] * Phi[after])[:, None, :]
        b += e * reward[:, None]
        e, state = (g * lam)[:, None] * e, after
    return np.linalg.solve(A, b[:, :, None])[:, :, 0]


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("lam", [0, sp.Rational(1, 2)])
def test_against_runs(lam, sampling):
    """Covariance, bias and mean squared error after 400 steps, where the bias of the features is large."""
    problem = random_problem(3, 1, seed=8, discount="1/2")
    found = efficiency(problem, LSTD(lam=lam), sampling=sampling)
    lam_of_runs = 0 if sampling == "iid" else float(lam)
    theta = runs_of_lstd(problem, lam_of_runs, 5, sampling)
    star = float(problem.fixed_point(TD(lam=lam_of_runs and lam)).theta[0])
    off = theta[:, 0] - star
    squares = STEPS * (off - off.mean()) ** 2
    error = squares.std() / math.sqrt(RUNS)
    averaged = float(found.averaged[0])
    assert abs(squares.mean() - averaged) < 5 * error + 0.1 * averaged
    spread = off.std() / math.sqrt(RUNS)
    beta = float(found.bias_rate[0])
    assert abs(off.mean() - beta / STEPS) < 5 * spread + 0.1 * abs(beta) / STEPS
    xi, v = (np.array(x, dtype=float).ravel() for x in (problem.xi, problem.v_pi))
    Phi = np.array(problem.Phi, dtype=float)
    mse = ((theta @ Phi.T - v) ** 2) @ xi
    gap = abs(mse.mean() - float(found.mse(STEPS)))
    assert gap < 5 * mse.std() / math.sqrt(RUNS) + 0.1 * abs(float(found.rate)) / STEPS
    assert abs(beta) / STEPS > 0 or sampling == "iid"


def test_the_bias_is_seen_by_the_mse():
    """The cross term 2 (Phi x - v)'Xi Phi beta is a large part of the rate there, so that it is tested."""
    found = efficiency(random_problem(3, 1, seed=8, discount="1/2"), LSTD())
    assert abs(found.rate - found.variance) > found.variance / 10


def test_an_unstable_learner_has_an_efficient_estimator():
    """On two states at 9/10 TD diverges; LSTD has t Cov = Sigma / A^2 = 50 / (1/5)^2."""
    problem = two_state(reward=1)
    found = efficiency(problem, LSTD())
    assert found.averaged == sp.Matrix([[1250]])
    with pytest.raises(KindError, match="has no step size"):
        _ = found.constant_step
    with pytest.raises(KindError, match="has no step size"):
        found.schedule(1)
    with pytest.raises(MathematicalError, match="LS-ETD has infinite noise"):
        _ = efficiency(problem, LSETD()).averaged
    assert efficiency(two_state("7/10", reward=1), LSETD()).is_finite


def test_floats_agree_with_rationals():
    exact = random_problem(3, 2, seed=3, discount="1/2")
    for estimator in (LSTD(), LSTD(lam="1/2"), LSETD()):
        a, b = (efficiency(p, estimator) for p in (exact, exact.replace(arithmetic="float")))
        assert np.ravel(b.bias_rate) == pytest.approx([float(x) for x in a.bias_rate], rel=1e-8)
        assert b.mse(50) == pytest.approx(float(a.mse(50)), rel=1e-8)


def test_where_the_values_are_spanned_bias_does_not_count():
    """With a table v_hat = v: the mean squared error is trace(C averaged) / t, of LSTD and of TD."""
    problem = random_problem(2, 1, seed=1, discount="1/2").replace(features=None)
    a, b = efficiency(problem, LSTD()), efficiency(problem, TD())
    assert a.squared_bias == b.squared_bias == 0
    assert a.mse(10) == b.mse(10) == b.distance(10)
    assert a.rate == b.rate == b.variance


def test_a_learner_has_a_mean_squared_error_of_order_1_over_t_only_there():
    problem = random_problem(3, 1, seed=8, discount="1/2")
    with pytest.raises(MathematicalError, match=r"depends on where it starts.*otd.LSTD"):
        efficiency(problem, TD()).mse(10)


def test_a_crossover_is_where_the_two_errors_meet():
    """On either side of it, by the two curves; exactly at it they are equal."""
    problem = random_problem(3, 1, seed=8, discount="9/10")
    found = crossover(problem, LSTD(), LSTD(lam="1/2"))
    curves = {
        e.name: e for e in (efficiency(problem, LSTD()), efficiency(problem, LSTD(lam="1/2")))
    }
    good, bad = curves[found.less_biased], curves[found.other]
    assert good.squared_bias < bad.squared_bias
    t = found.steps
    if t > 0:
        assert good.squared_bias + good.rate / t == bad.squared_bias + bad.rate / t
        before, after = max(1, math.floor(t) - 1), math.ceil(t) + 1
        assert good.mse(after) < bad.mse(after)
        assert good.mse(before) >= bad.mse(before)
    else:
        assert good.rate <= bad.rate
    assert found.less_biased in str(found)
    floats = crossover(problem.replace(arithmetic="float"), LSTD(), LSTD(lam="1/2"))
    assert float(floats.steps) == pytest.approx(float(t), rel=1e-7)
    assert crossover(problem, LSTD(), LSTD()).steps == sp.oo


def test_noise_in_a_comparison():
    problem = random_problem(3, 1, seed=8, discount="1/2")
    table = compare(problem, [TD(), LSTD(), "td", ETD()], quantities=["bias", "variance", "rate"])
    a, b = efficiency(problem, TD()), efficiency(problem, LSTD())
    assert table["TD"].quantities["variance"] == a.variance == b.variance
    assert table["LSTD"].quantities["rate"] == b.rate
    assert table["LSTD"].quantities["bias"] == b.squared_bias
    assert "depends on where it starts" in table["TD"].problems["rate"]
    assert "makes no steps" in table["td"].problems["variance"]
    assert "bias^2" in str(table)
    with pytest.raises(InputError, match="quantities has 'noise'"):
        compare(problem, ["td"], quantities=["noise"])
    with pytest.raises(InputError, match="quantities has 'bias'"):
        compare(problem, ["td"], quantities="bias")


def test_bad_input():
    problem = random_problem(3, 1, seed=8)
    with pytest.raises(KindError, match="ridge"):
        efficiency(problem, LSTD(ridge=1))
    with pytest.raises(KindError, match="rho='error'"):
        efficiency(problem, LSTD(rho="target"))
    with pytest.raises(InputError, match="no learner"):
        efficiency(problem, LSPE())
    with pytest.raises(InputError, match="no least-squares estimator"):
        crossover(problem, LSTD(), TD())
    with pytest.raises(KindError, match="needs numbers"):
        crossover(random_problem(3, 1, seed=8, discount="g"), LSTD(), LSTD(lam="1/2"))
    with pytest.raises(NotUniqueError, match="features that depend"):
        efficiency(baird_star(), LSTD())
