"""LSPE and FPKF: their regressions, written out, and where they lead."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import FPKF, LSPE, LSTD, LoggedData, replay
from obliquetd.domains import two_state
from obliquetd.errors import KindError, MathematicalError, SignUndecidedError, SingularError
from tests.estimators.logs import (
    LAM,
    PLACE,
    R,
    decay,
    error_parts,
    every_transition,
    logs,
    problems,
    rows_of,
)

RIDGE = st.sampled_from([0, R(1, 3)])
FEW = settings(max_examples=15)


def metric(rows, k, ridge):
    return ridge * sp.eye(2) + sum((row[0] * row[0].T for row in rows[: k + 1]), sp.zeros(2, 2))


def lspe_by_hand(log, alpha, lam, place, ridge, theta):
    rows, path = rows_of(log), []
    for t in range(len(rows)):
        A, b = sp.zeros(2, 2), sp.zeros(2, 1)
        for k in range(t + 1):
            scale, y, Delta = error_parts(rows[k], place)
            for j in range(k + 1):
                z = decay(rows, lam, j, k) * rows[j][0] * scale
                A, b = A + z * Delta.T, b + z * y
        C = metric(rows, t, ridge)
        if C.det() != 0:
            theta = theta + alpha * C.inv() * (b - A * theta)
            path.append((t + 1, theta))
    return path


def fpkf_by_hand(log, lam, place, ridge, theta0):
    """theta_i is the regression on targets y_ij, each with the weights of its own time."""
    rows, path, before = rows_of(log), [], [theta0]
    for i in range(len(rows)):
        right = ridge * theta0
        for j in range(i + 1):
            old = before[j]
            target = (rows[j][0].T * old)[0]
            for k in range(j, i + 1):
                scale, y, Delta = error_parts(rows[k], place)
                target += decay(rows, lam, j, k) * scale * (y - (Delta.T * old)[0])
            right += rows[j][0] * target
        C = metric(rows, i, ridge)
        if C.det() != 0:
            before.append(C.inv() * right)
            path.append((i + 1, before[-1]))
        else:
            before.append(before[-1])
    return path


@FEW
@given(logs(most=5), LAM, PLACE, RIDGE)
def test_each_goes_row_by_row_as_defined(log, lam, place, ridge):
    theta0 = sp.Matrix([1, -2])
    lspe, fpkf = LSPE("3/2", lam, rho=place, ridge=ridge), FPKF(lam, rho=place, ridge=ridge)
    expected = lspe_by_hand(log, R(3, 2), lam, place, ridge, theta0)
    if not expected:
        for estimator in (lspe, fpkf):
            with pytest.raises(SingularError, match="ridge"):
                replay(log, estimator)
        return
    found = replay(log, lspe, theta0=theta0)
    assert found.path == expected
    assert found.theta == expected[-1][1]
    assert replay(log, fpkf, theta0=theta0).path == fpkf_by_hand(log, lam, place, ridge, theta0)


@FEW
@given(problems(), LAM, st.sampled_from(["1/3", "1", "5/2"]))
def test_the_limit_is_that_of_td_where_the_eigenvalues_say_so(problem, lam, alpha):
    dyn = otd.mean_dynamics(problem, otd.TD(lam=lam))
    assume(dyn.A.det() != 0)
    C = problem.Phi.T * problem.Xi * problem.Phi
    mu = np.linalg.eigvals(np.array(C.inv() * dyn.A, dtype=float))
    modulus, least = np.abs(1 - float(sp.Rational(alpha)) * mu).max(), mu.real.min()
    assume(min(abs(modulus - 1), abs(least)) > 1e-9)
    fixed = problem.fixed_point(LSTD(lam)).theta
    for converges, estimator in ((modulus < 1, LSPE(alpha, lam)), (least > 0, FPKF(lam))):
        floats = problem.replace(arithmetic="float")
        if converges:
            assert problem.fixed_point(estimator).theta == fixed
            found = floats.fixed_point(estimator).theta
            assert np.allclose(found, np.array(fixed, dtype=float).ravel(), rtol=1e-6)
        else:
            for each in (problem, floats):
                with pytest.raises(MathematicalError, match="does not converge"):
                    each.fixed_point(estimator)


@FEW
@given(problems(on_policy=True, endings=("never",)), LAM)
def test_on_policy_projected_value_iteration_converges(problem, lam):
    """Pi T^lambda contracts (Tsitsiklis and Van Roy 1997, Lemma 4), so LSPE with alpha 1 does."""
    assert problem.fixed_point(LSPE(1, lam)).theta == problem.fixed_point(LSTD(lam)).theta
    assert problem.fixed_point(FPKF(lam)).theta == problem.fixed_point(LSTD(lam)).theta


def test_off_policy_both_may_diverge_and_lstd_does_not():
    """The two-state example at discount 9/10: C = 5/2 and A = -1/5, so 1 - alpha C^-1 A = 1 + 2 alpha / 25."""
    problem = two_state(reward=1)
    for estimator in (LSPE(), LSPE("1/100"), FPKF()):
        with pytest.raises(MathematicalError, match="LSTD finds the same"):
            problem.fixed_point(estimator)
    assert problem.fixed_point(LSTD()).theta == problem.fixed_point("td").theta
    log, chances = every_transition(problem)
    assert replay(log, LSTD(), weights=chances).theta == problem.fixed_point("td").theta


def test_a_step_that_is_too_large_is_told_a_smaller_one_that_converges():
    problem = otd.PolicyEvaluation.from_chain([[0, 1], [1, 0]], [1, 0], discount="1/2")
    with pytest.raises(MathematicalError, match=r"LSPE\(alpha=0.67\)") as told:
        problem.fixed_point(LSPE(2))
    assert "modulus 2" in str(told.value)
    assert problem.fixed_point(LSPE("0.67")).theta == problem.v_pi
    with pytest.raises(MathematicalError):
        problem.fixed_point(LSPE("4/3"))
    with pytest.raises(SignUndecidedError, match="exact"):
        problem.replace(arithmetic="float").fixed_point(LSPE("4/3"))


def test_a_symbol_leaves_a_condition():
    """|1 - alpha (5 - 6 gamma) / 5| < 1 where 0 < alpha (5 - 6 gamma) < 10."""
    problem = two_state(discount="gamma", reward=1)
    for estimator, boundary in ((LSPE(), R(5, 6)), (FPKF(), R(5, 6))):
        with pytest.raises(SignUndecidedError) as told:
            problem.fixed_point(estimator)
        for value in (boundary - R(1, 50), boundary + R(1, 50)):
            holds = all(c.subs("gamma", value) > 0 for c in told.value.expression)
            assert holds == (value < boundary)
    with pytest.raises(SignUndecidedError) as told:
        two_state(discount="1/2").fixed_point(LSPE("a"))
    assert [all(c.subs("a", a) > 0 for c in told.value.expression) for a in (4, 6)] == [True, False]
    with pytest.raises(KindError):
        two_state(discount=0.5).fixed_point(LSPE("a"))


def test_long_logs_lead_to_the_limit():
    chain = [[0, 1], [1, 0]]
    problem = otd.PolicyEvaluation.from_chain(chain, [1, 0], discount="1/2", features=[[1], [2]])
    T = 3000
    phi = [[1.0], [2.0]] * (T // 2)
    log = LoggedData(phi, phi[1:] + phi[:1], [1.0, 0.0] * (T // 2), 0.5)
    for estimator, within in ((LSPE(1, "1/2"), 1e-2), (FPKF("1/2"), 1e-2)):
        goal = float(problem.fixed_point(estimator).theta[0])
        found = replay(log, estimator, theta0=[3])
        assert abs(found.theta[0] - goal) < within
        assert abs(found.path[20][1][0] - goal) > abs(found.theta[0] - goal)


def test_states_without_weight_that_matter_are_an_error():
    chain = [[0, 1], [1, 0]]
    problem = otd.PolicyEvaluation.from_chain(chain, [1, 0], discount="1/2", xi=[1, 0])
    with pytest.raises(SingularError, match="Leave xi out"):
        problem.fixed_point(LSPE())
    free = otd.PolicyEvaluation.from_chain(chain, [1, 0], discount="1/2")
    assert free.fixed_point(LSPE()).theta == free.v_pi
