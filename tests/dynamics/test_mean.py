"""A and b from the rule equal an independent closed form, exactly, on random problems."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import (
    InputError,
    KindError,
    SignUndecidedError,
    SingularError,
    StationaryError,
    UndefinedError,
)
from obliquetd.learners import (
    ETD,
    GTD2,
    SETD,
    TD,
    TDC,
    DoubleSampledResidualGradient,
    ResidualGradient,
)
from tests.strategies import problems

R = sp.Rational
HALF = R(1, 2)


def sampled(traces=(0, HALF, 1)):
    """Problems with stationary weights, and a trace parameter."""
    return st.tuples(problems(closed=True, most_states=5), st.sampled_from(traces))


def eye(problem):
    return sp.eye(len(problem.states))


def P_gamma(problem):
    return eye(problem) - problem.L_pi


def lambda_matrices(problem, lam):
    """(I - lam P_gamma)^-1 L and (I - lam P_gamma)^-1 r: the lambda-weighted operator."""
    back = (eye(problem) - lam * P_gamma(problem)).inv()
    return back * problem.L_pi, back * problem.r_pi


@given(sampled())
def test_td(case):
    """TD(lambda): Phi' Xi (I - lam P_gamma)^-1 (I - P_gamma) Phi."""
    problem, lam = case
    L, r = lambda_matrices(problem, lam)
    dyn = mean_dynamics(problem, TD(lam=lam))
    assert problem.Phi.T * problem.Xi * L * problem.Phi == dyn.A
    assert dyn.b == problem.Phi.T * problem.Xi * r
    if lam == 0:
        assert problem.Phi.T * problem.Xi * problem.L_pi * problem.Phi == dyn.A


@given(sampled())
def test_etd(case):
    """ETD(lambda): Phi' M (I - P^lambda) Phi, diag(M) = (I - P^lambda')^-1 xi.

    I - P^lambda = (I - lam P_gamma)^-1 (I - P_gamma) (Sutton, Mahmood and White 2016).
    """
    problem, lam = case
    L, r = lambda_matrices(problem, lam)
    M = sp.diag(*(L.T.inv() * problem.xi))
    dyn = mean_dynamics(problem, ETD(lam=lam))
    assert problem.Phi.T * M * L * problem.Phi == dyn.A
    assert dyn.b == problem.Phi.T * M * r
    if lam == 0:
        assert dyn.fixed_point() == problem.fixed_point("etd").theta or not dyn.A.det()


def discount_of(problem, row):
    """That of one transition; a move into a terminal state has none."""
    return 0 if row.next_state in problem.mdp.terminal else problem.discount * row.discount


def sampled_omega(problem, row):
    i, j = problem.mdp.index[row.state], problem.mdp.index[row.next_state]
    phi, nxt = problem.Phi[i, :], problem.Phi[j, :]
    delta = phi - discount_of(problem, row) * nxt
    size = delta.dot(delta)
    return i, j, phi, delta, sp.Max(0, delta.dot(phi) / size) if size else sp.Integer(0)


@given(sampled())
def test_setd(case):
    """SETD: the double sum over transitions, with sum over k of (lam P_gamma)^k behind it.

    E[e_t/rho_t ...]: zeta(s') = sum xi pi p lam g omega phi + ...; A = sum of zeta-weighted rows.
    """
    problem, lam = case
    n, d = problem.Phi.shape
    start, A0, b0 = sp.zeros(n, d), sp.zeros(d, d), sp.zeros(d, 1)
    for row in problem.mdp.transitions:
        i, j, phi, delta, omega = sampled_omega(problem, row)
        weight = problem.xi[i] * problem.target[row.state].get(row.action, 0) * row.probability
        A0 += weight * omega * phi.T * delta
        b0 += weight * omega * row.reward * phi.T
        start[j, :] += lam * discount_of(problem, row) * weight * omega * phi
    # what arrives decayed: Z = start + lam P_gamma' Z, then meets the one-step error of its state
    Z = (eye(problem) - lam * P_gamma(problem)).T.inv() * start
    dyn = mean_dynamics(problem, SETD(lam=lam))
    assert A0 + Z.T * problem.L_pi * problem.Phi == dyn.A
    assert dyn.b == b0 + Z.T * problem.r_pi


@given(sampled(), st.sampled_from([R(1, 3), 2]), st.sampled_from(["plain", "weighted"]))
def test_gradient_learners(case, mu, secondary):
    """GTD2: [[0, -A'], [mu A, mu C]]; TDC: [[A, B], [mu A, mu C]], B = C - A' (the same for every lam)."""
    problem, lam = case
    L, r = lambda_matrices(problem, lam)
    A, b, C = (
        problem.Phi.T * problem.Xi * L * problem.Phi,
        problem.Phi.T * problem.Xi * r,
        problem.C,
    )
    zero = sp.zeros(*C.shape)
    gtd2 = mean_dynamics(problem, GTD2(mu=mu, lam=lam, secondary=secondary))
    tdc = mean_dynamics(problem, TDC(mu=mu, lam=lam, secondary=secondary))
    lower = (mu * A).row_join(mu * C)
    assert zero.row_join(-A.T).col_join(lower) == gtd2.A
    assert gtd2.b == sp.zeros(len(b), 1).col_join(mu * b)
    assert A.row_join(C - A.T).col_join(lower) == tdc.A
    assert tdc.b == b.col_join(mu * b)


@given(sampled(traces=(0,)))
def test_residual_gradient(case):
    """Double sampling: Lambda' Xi (r - Lambda theta). Naive: E[rho (phi - g phi')(phi - g phi')']."""
    problem, _ = case
    double = mean_dynamics(problem, DoubleSampledResidualGradient())
    assert problem.Lambda.T * problem.Xi * problem.Lambda == double.A
    assert double.b == problem.Lambda.T * problem.Xi * problem.r_pi
    A = sp.zeros(*double.A.shape)
    for row in problem.mdp.transitions:
        i, _, _, delta, _ = sampled_omega(problem, row)
        weight = problem.xi[i] * problem.target[row.state].get(row.action, 0) * row.probability
        A += weight * delta.T * delta
    assert mean_dynamics(problem, ResidualGradient()).A == A


def test_rho_on_the_outside_changes_no_mean():
    """E[rho | s] = 1 and phi is a function of s, so E[rho phi phi'] = C: the two secondary updates
    of public codes have one expected update, and differ in their noise alone."""
    problem = random_problem(3, 2, seed=5)
    plain, weighted = (
        mean_dynamics(problem, TDC(mu=2, secondary=s)).A for s in ("plain", "weighted")
    )
    assert plain == weighted
    second = {"plain": sp.zeros(2, 2), "weighted": sp.zeros(2, 2)}
    for row in problem.mdp.transitions:
        i = problem.mdp.index[row.state]
        rho = problem.target[row.state].get(row.action, 0) / problem.behavior[row.state][row.action]
        weight = problem.xi[i] * problem.behavior[row.state][row.action] * row.probability
        square = problem.Phi[i, :].T * problem.Phi[i, :] * problem.Phi[i, :].dot(problem.Phi[i, :])
        second["plain"] += weight * square
        second["weighted"] += weight * rho**2 * square
    assert second["plain"] != second["weighted"]


@pytest.mark.parametrize("seed", range(6))
def test_setd_is_omega_s_where_target_transitions_are_deterministic(seed):
    problem = random_problem(4, 2, seed=seed, deterministic=True)
    dyn = mean_dynamics(problem, SETD())
    assert problem.Phi.T * problem.Xi * problem.Omega_S * problem.L_pi * problem.Phi == dyn.A
    if dyn.A.det():
        assert dyn.fixed_point() == problem.fixed_point("setd").theta


def test_setd_evaluates_a_tilted_kernel_where_they_are_stochastic():
    """A = Phi' Xi diag(m) (I - gamma K) Phi with K proportional to P_pi omega, not Omega_S."""
    problem = random_problem(3, 2, seed=3)
    dyn = mean_dynamics(problem, SETD())
    by_state = problem.Phi.T * problem.Xi * problem.Omega_S * problem.L_pi * problem.Phi
    assert by_state != dyn.A
    K, m = dyn.tilted_kernel, dyn.tilted_weights
    assert problem.P_pi != K
    assert all(sum(K[i, :]) == 1 for i in range(3))
    tilted = sp.eye(3) - problem.discount * K
    assert problem.Phi.T * problem.Xi * sp.diag(*m) * tilted * problem.Phi == dyn.A
    straight = random_problem(3, 2, seed=3, deterministic=True, on_policy=True)
    assert mean_dynamics(straight, SETD()).tilted_kernel == straight.P_pi


def test_reductions_between_learners():
    """lambda = 1 ETD has emphasis 1, as TD; with discount 0 every emphasis of SETD is 1."""
    problem = random_problem(3, 2, seed=1)
    assert mean_dynamics(problem, ETD(lam=1)).A == mean_dynamics(problem, TD(lam=1)).A
    ends = random_problem(3, 2, seed=1, discount=0)
    assert mean_dynamics(ends, SETD()).A == mean_dynamics(ends, TD()).A == ends.C


def test_iid_sampling_gives_traces_nothing_to_carry():
    problem = random_problem(3, 2, seed=2)
    iid = mean_dynamics(problem, TD(lam=HALF), sampling="iid")
    assert iid.A == mean_dynamics(problem, TD()).A


def test_symbols_in_the_discount_and_in_the_learner():
    gamma, lam, mu = sp.symbols("gamma lam mu")
    problem = two_state(discount=gamma)
    assert (
        sp.simplify(
            mean_dynamics(problem, TD(lam="lam")).A[0]
            - (5 - gamma * (6 - lam)) / (2 * (1 - gamma * lam))
        )
        == 0
    )
    joint = mean_dynamics(two_state(), TDC(mu="mu")).A
    assert joint[1, 1] == R(5, 2) * mu
    with pytest.raises(SignUndecidedError, match="gamma"):
        _ = mean_dynamics(problem, SETD()).A
    assert mean_dynamics(two_state(), SETD(lam="lam")).A.free_symbols == {lam}


def test_bairds_star_modulo_the_kernel_of_phi():
    problem = baird_star()
    td = mean_dynamics(problem, TD())
    assert td.A * problem.Phi.nullspace()[0] == sp.zeros(8, 1)
    assert td.spectrum().real.min() == pytest.approx(-0.239250464202)
    assert td.v_hat == sp.zeros(7, 1)
    null = problem.Phi.nullspace()[0]
    for learner in (TD(), ETD(), SETD(), GTD2(mu=1), TDC(mu=16)):
        assert (null.T * mean_dynamics(problem, learner).fixed_point())[0] == 0


@settings(max_examples=15)
@given(sampled(traces=(0, HALF)))
def test_floats_agree_with_rationals(case):
    exact, lam = case
    floats = exact.replace(features=np.array(exact.Phi, dtype=float))
    for learner in (TD(lam=lam), SETD(lam=lam), ETD(lam=lam), TDC(mu=2, lam=lam)):
        a, b = mean_dynamics(exact, learner), mean_dynamics(floats, learner)
        assert np.allclose(b.A, np.array(a.A, dtype=float), rtol=1e-9, atol=1e-9)
        assert np.allclose(b.b, np.array(a.b, dtype=float).ravel(), rtol=1e-9, atol=1e-9)


@given(sampled(traces=(0, HALF)))
def test_fixed_points_of_gradient_learners_are_tds(case):
    problem, lam = case
    td = mean_dynamics(problem, TD(lam=lam))
    assume(td.A.det() != 0)
    for learner in (GTD2(mu=2, lam=lam), TDC(mu=2, lam=lam)):
        assert mean_dynamics(problem, learner).fixed_point() == td.fixed_point()


def test_bad_input():
    problem = two_state()
    with pytest.raises(InputError, match="sampling"):
        mean_dynamics(problem, TD(), sampling="sometimes")
    with pytest.raises(InputError, match="no learner"):
        mean_dynamics(problem, "td")
    weighted = PolicyEvaluation(
        problem.mdp,
        target=problem.target,
        behavior=problem.behavior,
        features=problem.Phi,
        discount="1/2",
        xi=["1/3", "2/3"],
    )
    with pytest.raises(InputError, match="not stationary"):
        _ = mean_dynamics(weighted, TD(lam=HALF)).A
    assert mean_dynamics(weighted, TD()).A is not None
    with pytest.raises(InputError, match="SETD's"):
        _ = mean_dynamics(problem, TD()).tilted_kernel
    with pytest.raises(UndefinedError, match="'left'"):
        _ = mean_dynamics(problem, SETD()).tilted_kernel
    with pytest.raises(KindError, match="substitute"):
        mean_dynamics(two_state(discount="g"), TD()).spectrum()
    with pytest.raises(KindError, match="floats"):
        mean_dynamics(two_state(discount=0.9), TD(lam="l"))
    with pytest.raises(InputError, match="theta has 3 entries"):
        mean_dynamics(problem, TD()).expected_update([1, 2, 3])
    loop = MDP.from_transitions([("s", "a", "s", 1, 1)])
    with pytest.raises(SingularError, match="no stationary mean"):
        _ = mean_dynamics(
            PolicyEvaluation(loop, target=Policy.uniform(loop), discount=1), TD(lam=1)
        ).A
    split = MDP.from_transitions([("s", "a", "s", 1, 1), ("t", "a", "t", 1, 1)])
    with pytest.raises(StationaryError):
        _ = mean_dynamics(
            PolicyEvaluation(split, target=Policy.uniform(split), discount="1/2"), TD()
        ).A
