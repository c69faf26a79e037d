"""Fitted iterations against loops by hand, numpy's eigenvalues, and certificates that are re-checked."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import (
    FQI,
    PFQI,
    PolicyEvaluation,
    check_certificate,
    iteration,
    least_updates,
    mean_dynamics,
)
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.errors import (
    InputError,
    KindError,
    MathematicalError,
    NoSolutionError,
    NotUniqueError,
    SignUndecidedError,
)
from obliquetd.learners import TD
from tests.strategies import problems

R = sp.Rational
evaluations = problems(most_states=4)


def some_weights(problem):
    return sp.Matrix([1, -2, 0, 3, 1][: problem.Phi.cols])


def by_hand(problem, alpha, updates, theta):
    """Gradient steps on sum of xi (r + (P Phi theta_0) - Phi x)^2 / 2, one after the other."""
    Phi, D = problem.Phi, sp.diag(*problem.xi)
    target = problem.r_pi + (sp.eye(Phi.rows) - problem.L_pi) * Phi * theta
    x = theta
    for _ in range(updates):
        x = x + alpha * Phi.T * D * (target - Phi * x)
    return x


@given(evaluations, st.integers(1, 9))
@settings(max_examples=15)
def test_a_step_is_that_of_the_loop(problem, updates):
    theta = some_weights(problem)
    found = iteration(problem, PFQI("1/7", updates)).step(theta)
    assert found == by_hand(problem, R(1, 7), updates, theta)


@given(evaluations.filter(lambda p: p.C.det() != 0))
@settings(max_examples=15)
def test_fqi_is_a_regression_and_the_limit_of_many_steps(problem):
    theta = some_weights(problem)
    found = iteration(problem, FQI()).step(theta)
    target = problem.r_pi + (sp.eye(len(problem.xi)) - problem.L_pi) * problem.Phi * theta
    D = sp.diag(*problem.xi)
    assert problem.Phi.T * D * (problem.Phi * found - target) == sp.zeros(*theta.shape)


@given(st.integers(0, 200), st.sampled_from([1, 2, 5, 40]))
@settings(max_examples=25)
def test_convergence_against_eigenvalues(seed, updates):
    """In exact numbers, in floats, and by the moduli of numpy's eigenvalues; certified where it converges."""
    problem = random_problem(3, 2, seed=seed)
    for fitting in (FQI(), PFQI("1/2", updates)):
        it = iteration(problem, fitting)
        largest = max(abs(np.linalg.eigvals(np.array(it.factor, dtype=float))))
        assert it.is_convergent() == (largest < 1)
        assert iteration(problem.replace(arithmetic="float"), fitting).is_convergent() == (
            largest < 1
        )
        assert it.fixed_point() == mean_dynamics(problem, TD()).fixed_point()
        if largest < 1:
            proof = it.certificate()
            assert check_certificate(proof)
            assert not check_certificate({**proof, "K": [["-1", "0"], ["0", "-1"]]})
            assert check_certificate(proof, problem)
            assert check_certificate(proof, problem, fitting)
            assert not check_certificate(proof, problem, PFQI("1/3", updates))
            assert not check_certificate(proof, problem, TD())
            assert not check_certificate(proof, problem.replace(discount="1/17"))
        else:
            with pytest.raises(MathematicalError, match="does not converge"):
                it.certificate()


def test_a_proof_on_a_part_of_the_weights_is_none_of_the_iteration():
    """F has an eigenvalue inside the unit circle and one outside: the inside one alone proves nothing."""
    cycle = PolicyEvaluation.from_chain([[0, 1], [1, 0]], [1, 0], discount="1/2")
    found = iteration(cycle, PFQI(3))
    F = sp.Matrix(found.factor)
    assert set(F.eigenvals()) == {R(1, 4), R(-5, 4)}
    z, v = R(1, 4), sp.Matrix([1, 1])
    assert F * v == z * v
    forged = {
        "claim": "convergent", "A": [[str(x) for x in row] for row in F.tolist()],
        "basis": [[str(x)] for x in v], "quotient": [[str(z)]], "K": [["1"]],
    }  # fmt: skip
    assert check_certificate(forged)
    assert not check_certificate(forged, cycle, PFQI(3))


def test_a_convergent_matrix_makes_no_learner_stable():
    """A = 3/2 of TD: its powers grow; and where they fall, that says nothing of theta' = b - A theta."""
    problem = two_state("4/5", reward=1)
    A = mean_dynamics(problem, TD()).A[0]
    forged = {
        "claim": "convergent",
        "A": [[str(A)]],
        "basis": [["1"]],
        "quotient": [[str(A)]],
        "K": [["1"]],
    }
    assert abs(A) < 1
    assert check_certificate(forged)
    assert not check_certificate(forged, problem, TD())


def test_the_exact_solution_solves_the_equation_of_stein():
    from obliquetd.algebra import EXACT
    from obliquetd.dynamics.lyapunov import solve_stein

    half = EXACT.one / 2
    F = EXACT.matrix([[half, EXACT.one], [EXACT.zero, -half / 3]], (2, 2))
    K, rows = solve_stein(F).public(), F.public()
    assert K - rows.T * K * rows == sp.eye(2)


def test_two_states():
    """C = 5/2 and A = 5/2 - 3 gamma: F = 6 gamma / 5, and from 5/6 on FQI diverges, as TD does."""
    assert iteration(two_state("gamma"), FQI()).factor == sp.Matrix([[6 * sp.Symbol("gamma") / 5]])
    assert [iteration(two_state(g), FQI()).is_convergent() for g in ("4/5", "9/10")] == [
        True,
        False,
    ]
    one = iteration(two_state("gamma"), PFQI("alpha", 1)).factor[0]
    gamma, alpha = sp.symbols("gamma alpha")
    assert sp.expand(one - (1 - alpha * (R(5, 2) - 3 * gamma))) == 0
    with pytest.raises(SignUndecidedError, match="converges where"):
        iteration(two_state("gamma"), FQI()).is_convergent()


def test_where_A_is_singular_there_are_many_or_none():
    """At 5/6 A = 0: with b = 0 every theta stays; with a reward none does."""
    many = iteration(two_state("5/6"), FQI())
    assert many.is_convergent()
    assert many.fixed_point([7]) == sp.Matrix([7])
    with pytest.raises(NotUniqueError, match="give theta0"):
        many.fixed_point()
    none = iteration(two_state("5/6", reward=1), FQI())
    assert not none.is_convergent()
    with pytest.raises(NoSolutionError, match="no fixed point"):
        none.fixed_point()
    for it in (many, none):
        with pytest.raises(MathematicalError, match="many fixed points or none"):
            it.certificate()


def test_redundant_features():
    star = baird_star(discount="9/10")
    with pytest.raises(NotUniqueError, match="independent features"):
        _ = iteration(star, FQI()).factor
    it = iteration(two_state("4/5", reward=1).replace(features=[[1, 1], [2, 2]]), PFQI("1/10", 3))
    assert it.is_convergent()
    end = sp.Matrix([3, 0])
    for _ in range(3000):
        end = sp.Matrix(np.array(it.step(end), dtype=float))
    expected = np.array(it.fixed_point([3, 0]), dtype=float)
    assert np.array(end, dtype=float) == pytest.approx(expected, rel=1e-6)


def test_an_eigenvalue_of_minus_one_does_not_converge():
    """C = 5/2, A = 1/10 at 4/5: alpha = 20 gives F = -1 exactly, a smaller one less."""
    assert iteration(two_state("4/5"), PFQI(20)).factor == sp.Matrix([[-1]])
    assert not iteration(two_state("4/5"), PFQI(20)).is_convergent()
    assert iteration(two_state("4/5"), PFQI("199/10")).is_convergent()


def test_the_least_number_of_updates():
    """With alpha = 24 one step is too far, F = -7/5; many steps of 24 C = 60 explode, too."""
    assert least_updates(two_state("4/5"), 24, 8) is None
    assert least_updates(two_state("4/5"), "1/10") == 1
    assert iteration(random_problem(3, 2, seed=4), PFQI("1/10", 2)).multiplier.shape == (2, 2)


def test_bad_input():
    problem = two_state("4/5")
    for call, words in (
        (lambda: PFQI(0), "alpha is 0"),
        (lambda: PFQI("1/10", 0), "updates is 0"),
        (lambda: PFQI("1/10", 2.0), "updates is 2.0"),
        (lambda: iteration(problem, TD()), "is no iteration"),
        (lambda: iteration(problem, FQI), "is no iteration"),
        (lambda: iteration(problem, FQI()).step([1, 2]), "2 entries"),
        (lambda: least_updates(problem, "1/10", 0), "most is 0"),
    ):
        with pytest.raises(InputError, match=words):
            call()
    with pytest.raises(KindError, match="the problem is in floats"):
        iteration(two_state(0.8), PFQI("a"))
    with pytest.raises(KindError, match="rationals"):
        iteration(two_state(0.8), FQI()).certificate()
    with pytest.raises(SignUndecidedError, match="too close to call"):
        iteration(two_state(0.8), PFQI(20)).is_convergent()
