"""LSTD and LS-ETD: the definition as double sums, the learners' own rules, and the fixed points."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import LSETD, LSTD, LoggedData, replay
from obliquetd.algebra import EXACT, parse_number
from obliquetd.domains import two_state
from obliquetd.errors import MathematicalError, SingularError
from obliquetd.formats import read_log
from obliquetd.learners import ETD, TD, Transition
from obliquetd.learners.evaluate import PlainRule
from tests.estimators.logs import (
    HALF,
    LAM,
    PLACE,
    R,
    column,
    decay,
    error_parts,
    every_transition,
    logs,
    problems,
    rows_of,
)

FEW = settings(max_examples=15)


@FEW
@given(problems(), PLACE)
def test_all_transitions_weighted_by_xi_give_the_fixed_point_of_td(problem, place):
    L = problem.Phi.T * problem.Xi * problem.L_pi * problem.Phi
    assume(L.det() != 0)
    log, chances = every_transition(problem)
    found = replay(log, LSTD(rho=place), weights=chances)
    assert found.A == L
    assert found.theta == problem.fixed_point("td").theta == problem.fixed_point(LSTD()).theta
    recursive = replay(log, LSTD(rho=place, recursive=True), weights=chances)
    assert recursive.theta == found.theta


@FEW
@given(problems(), LAM)
def test_the_limit_is_that_of_the_closed_form(problem, lam):
    """X = (I - lam P_gamma')^-1 Xi Phi for LSTD; diag(m) Phi under it for LS-ETD."""
    n = len(problem.states)
    P = sp.eye(n) - problem.L_pi
    back = (sp.eye(n) - lam * P).inv()
    f = problem.L_pi.T.LUsolve(problem.xi)
    m = sp.diag(*(lam * problem.xi + (1 - lam) * f))
    for estimator, start in ((LSTD(lam), problem.Xi), (LSETD(lam), m)):
        X = (problem.Phi.T * start * back).T
        A = X.T * problem.L_pi * problem.Phi
        if A.det() == 0:
            with pytest.raises(SingularError):
                problem.fixed_point(estimator)
        else:
            assert problem.fixed_point(estimator).theta == problem.fixed_point(X=X).theta
    if lam == 0 and (problem.Phi.T * m * problem.L_pi * problem.Phi).det() != 0:
        assert problem.fixed_point(LSETD()).theta == problem.fixed_point("etd").theta


def double_sums(log, lam, place, emphasis=None):
    """A = sum_k sum_{j <= k} decay(j, k) m_j phi_j scale_k Delta_k', and b."""
    rows = rows_of(log)
    d = len(rows[0][0])
    A, b = sp.zeros(d, d), sp.zeros(d, 1)
    for k, row in enumerate(rows):
        scale, y, Delta = error_parts(row, place)
        for j in range(k + 1):
            m = 1 if emphasis is None else emphasis(rows, lam, j)
            z = decay(rows, lam, j, k) * m * rows[j][0]
            A, b = A + z * scale * Delta.T, b + z * scale * y
    return A, b


def emphasis(rows, lam, j):
    """lam i + (1 - lam) F_j with F_j the sum over i <= j of the undiminished decays, i = 3."""
    return lam * 3 + (1 - lam) * 3 * sum(decay(rows, 1, i, j) for i in range(j + 1))


@FEW
@given(logs(), LAM, PLACE)
def test_a_log_is_summed_as_defined(log, lam, place):
    ridge = R(1, 7)
    for estimator, weighting in (
        (LSTD(lam, rho=place, ridge=ridge), None),
        (LSETD(lam, rho=place, ridge=ridge, interest=3), emphasis),
    ):
        A, b = double_sums(log, lam, place, weighting)
        A, b = A + ridge * sp.eye(2), b + ridge * sp.Matrix([1, -2])
        if A.det() != 0:
            found = replay(log, estimator, theta0=[1, -2])
            assert (found.A, found.b) == (A, b)
            assert A * found.theta == b


def summed_updates(log, learner, theta):
    """The sum of what the learner's own rule adds to weights that are held at theta."""
    n, d = log.numbers, log.width
    values = {k: EXACT.scalar(v) for k, v in learner.values.items()}
    rule = PlainRule(learner, d, lambda q: EXACT.scalar(q), values)
    features = np.empty((2 * log.length, d), dtype=object)
    for i, row in enumerate([*n.phi, *n.phi_next]):
        features[i] = row
    x, one = [EXACT.scalar(parse_number(v)) for v in theta], EXACT.one
    total, memory = sp.zeros(d, 1), None
    for t in range(log.length):
        if log.first[t]:
            memory = [EXACT.zero] * rule.memory_size
        g, rho = n.discount[t], n.rho[t]
        row = Transition(features, t, log.length + t, n.reward[t], g, one, one, one, rho, t, g, rho)
        after, memory, _ = rule.run(row, x, memory, one)
        total += column([a - b for a, b in zip(after, x, strict=True)])
    return total


@FEW
@given(logs(), LAM)
def test_the_sums_are_those_of_the_learners_own_rule(log, lam):
    theta = [R(2, 3), R(-1)]
    for estimator, learner in ((LSTD(lam), TD(lam=lam)), (LSETD(lam), ETD(lam=lam))):
        try:
            found = replay(log, estimator)
        except SingularError:
            continue
        assert found.b - found.A * sp.Matrix(theta) == summed_updates(log, learner, theta)


@FEW
@given(logs(), LAM, PLACE, st.sampled_from([0, R(1, 3)]))
def test_recursive_is_batch_after_every_row(log, lam, place, ridge):
    batch, step = (
        LSTD(lam, rho=place, ridge=ridge),
        LSTD(lam, rho=place, ridge=ridge, recursive=True),
    )
    try:
        found = replay(log, batch, theta0=[1, 2])
    except SingularError:
        with pytest.raises(SingularError):
            replay(log, step, theta0=[1, 2])
        return
    recursive = replay(log, step, theta0=[1, 2])
    assert recursive.theta == found.theta
    for t, theta in recursive.path:
        head = LoggedData(*(getattr(log.numbers, k)[:t] for k in ("phi", "phi_next", "reward", "discount")),
                          rho=log.numbers.rho[:t], first=log.first[:t])  # fmt: skip
        assert replay(head, batch, theta0=[1, 2]).theta == theta


def test_a_recursion_passes_a_singular_sum():
    """A is 1, then 1 + (1 - 2) = 0, then 1."""
    log = LoggedData([[1], [1], [1]], [[0], [2], [0]], [1, 0, 3], [1, 1, 1], first=[True] * 3)
    found = replay(log, LSTD(recursive=True))
    assert [t for t, _ in found.path] == [1, 3]
    assert found.theta == replay(log, LSTD()).theta == sp.Matrix([4])
    floats = replay(log, LSTD(recursive=True), arithmetic="float")
    assert floats.theta.tolist() == [4.0]
    assert [t for t, _ in floats.path] == [1, 3]


def test_a_recursion_passes_a_sum_that_is_singular_but_for_rounding():
    """A is 0.3, then 0.3 - 0.3 up to rounding, then 1: its inverse on the way would cost all digits."""
    log = LoggedData(
        [[1.0], [2.0], [1.0]], [[0.7], [2.15], [0.0]], [1.0, 0.0, 3.0], 1.0, first=[True] * 3
    )
    found = replay(log, LSTD(recursive=True))
    assert [t for t, _ in found.path] == [1, 3]
    assert np.allclose(found.theta, [4.0], rtol=1e-12)


def test_exact_symbolic_and_float_agree():
    phi = [["1/2", 1], [1, "1/3"], [0, 1], [2, 1]]
    log = LoggedData(phi[:3], phi[1:], [1, "1/2", -1], "9/10", rho=[2, "1/2", 1])
    for kind in (LSTD, LSETD):
        exact = replay(log, kind("1/3"))
        symbolic = replay(log, kind("lam"))
        assert (exact.arithmetic, symbolic.arithmetic) == ("exact", "symbolic")
        assert symbolic.theta.subs("lam", R(1, 3)).applyfunc(sp.simplify) == exact.theta
        assert replay(log, kind("lam", recursive=True)).theta == symbolic.theta
        floats = replay(log, kind("1/3"), arithmetic="float").theta
        assert np.allclose(floats, np.array(exact.theta, dtype=float).ravel(), rtol=1e-12)
        decimals = LoggedData([[float(sp.Rational(x)) for x in row] for row in phi[:3]],
                              [[float(sp.Rational(x)) for x in row] for row in phi[1:]],
                              [1, 0.5, -1], 0.9, rho=[2, 0.5, 1])  # fmt: skip
        assert replay(decimals, kind(0.5)).arithmetic == "float"
    written = LoggedData([[0.1], [0.3]], [[0.3], [0.1]], [0.2, 1], 0.9)
    found = replay(written, LSTD(), arithmetic="exact")
    assert found.theta[0] == (R(1, 10) * R(1, 5) + R(3, 10)) / (
        R(1, 10) * (R(1, 10) - R(27, 100)) + R(3, 10) * (R(3, 10) - R(9, 100))
    )


def test_a_log_of_rationals_gives_an_exact_answer(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text(
        "state,action,next_state,reward,done,target,behavior\n"
        "a,x,b,1/3,0,1,1/2\nb,x,a,0,0,1/3,1/2\na,y,b,1,1,0,1/2\n"
    )
    log = LoggedData.from_log(read_log(file), {"a": [1], "b": ["1/2"]}, discount="9/10")
    found = replay(log, LSTD(), arithmetic="exact")
    A = 2 * (1 - R(9, 20)) + R(2, 3) * HALF * (HALF - R(9, 10))
    assert found.theta == sp.Matrix([2 * R(1, 3) / A])


def test_a_long_log_leads_to_the_limit():
    """The sums over T of a cycle of two states are A and b of the mean dynamics, but for the first laps."""
    problem = otd.PolicyEvaluation.from_chain(
        [[0, 1], [1, 0]], [1, 0], discount="1/2", features=[[1], [2]]
    )
    T = 4000
    phi = [[1.0], [2.0]] * (T // 2)
    log = LoggedData(phi, phi[1:] + phi[:1], [1.0, 0.0] * (T // 2), 0.5)
    for estimator, learner in ((LSTD("1/2"), TD(lam="1/2")), (LSETD("1/2"), ETD(lam="1/2"))):
        found = replay(log, estimator)
        limit = otd.mean_dynamics(problem, learner)
        assert abs(found.A[0, 0] / T - float(limit.A[0])) < 20 / T
        assert abs(found.theta[0] - float(problem.fixed_point(estimator).theta[0])) < 20 / T


def test_the_limit_needs_no_stability():
    problem = two_state(reward=1)
    assert otd.mean_dynamics(problem, TD()).stability.verdict == "unstable"
    assert problem.fixed_point(LSTD()).theta == problem.fixed_point("td").theta
    assert otd.compare(problem, [LSTD("1/2")])


def test_a_limit_with_several_closed_classes_says_so():
    problem = otd.PolicyEvaluation.from_chain(
        [[1, 0], [0, 1]], [1, 0], discount="1/2", features=[[1], [1]], xi=["1/2", "1/2"]
    )
    with pytest.raises(MathematicalError, match="closed classes"):
        problem.fixed_point(LSTD("1/2"))
