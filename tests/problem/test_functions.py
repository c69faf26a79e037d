"""Whole problems with symbols, over FLINT's polynomials and over sympy's fractions as before."""

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.algebra import EXACT
from obliquetd.domains import random_problem
from obliquetd.errors import ObliqueTDError
from obliquetd.problem.projection import solve_projected
from obliquetd.problem.weightings import WEIGHTINGS, projection_weights
from tests.algebra.old_routes import FieldOfFractions

MATRICES = ("P_pi", "P_b", "P_gamma", "r_pi", "xi", "Lambda", "C", "v_pi", "f", "X_star")


def answers(ops):
    """Every matrix and fixed point, or the kind of error that it is."""
    out = {}
    for name in MATRICES:
        try:
            out[name] = getattr(ops, name).rows()
        except ObliqueTDError as error:
            out[name] = type(error), str(error)
    for name, weighting in WEIGHTINGS.items():
        try:
            found = solve_projected(ops, weighting(ops), name)
            out[name] = found.theta.rows(), found.free_states, found.null_space.rows()
        except ObliqueTDError as error:
            out[name] = type(error), str(error)
    return out


def check(problem):
    new = problem.native
    assert answers(new) == answers(
        new.over(FieldOfFractions(new.arithmetic.symbols, new.arithmetic.known))
    )


chance = st.sampled_from(["p", "1/3", "p/2", "1"])


@st.composite
def problems(draw):
    """A few states, some of them absorbing or never entered, symbols wherever a number stands."""
    n = draw(st.integers(2, 4))
    rows = []
    for s in range(n):
        end = s == n - 1 and draw(st.booleans())
        for a in range(1 if end else 2):
            first = sp.sympify(draw(chance))
            for target, weight in (
                (s if end else (s + 1) % n, first),
                (s if end else draw(st.integers(0, n - 2)), 1 - first),
            ):
                if weight != 0:
                    reward = 0 if end else draw(st.sampled_from([0, 1, "-1/2", "c"]))
                    rows.append(
                        (s, a, target, weight, reward, draw(st.sampled_from([1, 1, "1/2"])))
                    )
    mdp = MDP.from_transitions(rows, states=range(n))
    target = Policy(
        {
            s: dict.fromkeys(mdp_actions(rows, s), Fraction(1, len(mdp_actions(rows, s))))
            for s in range(n)
        }
    )
    features = draw(
        st.lists(st.lists(st.integers(-1, 2), min_size=2, max_size=2), min_size=n, max_size=n)
    )
    xi = draw(st.sampled_from([None, [1] * n, [0, *[1] * (n - 1)]]))
    return PolicyEvaluation(
        mdp, target=target, features=features, discount=draw(st.sampled_from(["gamma", 1, "1/2"])), xi=xi,
        arithmetic="symbolic",
    )  # fmt: skip


def mdp_actions(rows, state):
    return sorted({a for s, a, *_ in rows if s == state})


@settings(max_examples=15)
@given(problems())
def test_answers_are_those_of_sympys_fractions(problem):
    if problem.symbols:
        check(problem)


@pytest.mark.parametrize("xi", [None, [0, 1, 1, 2]])
def test_emphasis_on_each_cell(xi):
    """SETD where signs change in between, with a state of no weight too."""
    problem = random_problem(4, 2, seed=3, discount="gamma").replace(xi=xi)
    new = problem.native
    old = new.over(FieldOfFractions(new.arithmetic.symbols, new.arithmetic.known))
    gamma = problem.symbols[0]
    for cell in problem.omega_cells():

        def sign(ops, sample=cell.sample):
            return lambda dot: int(sp.sign(ops.arithmetic.public(dot).subs(gamma, sample)))

        both = [projection_weights(ops, sign(ops)) for ops in (new, old)]
        assert both[0].rows() == both[1].rows()
        thetas = [
            solve_projected(ops, ops.Xi_Phi.scale_rows(w), "setd").theta.rows()
            for ops, w in zip((new, old), both, strict=True)
        ]
        assert thetas[0] == thetas[1]


@pytest.mark.parametrize("name", ["v_pi", "f", "X_star"])
@pytest.mark.parametrize("size", [13, 20])
def test_a_formula_has_the_exact_values(name, size):
    """By primes, against the exact route at a number."""
    formula = getattr(random_problem(size, 2, seed=size, discount="gamma").native, name)
    exact = getattr(random_problem(size, 2, seed=size, discount="7/11").native, name)
    at = sp.Rational(7, 11)
    public = formula.arithmetic.public
    for row, other in zip(formula.rows()[:3], exact.rows()[:3], strict=True):
        for value, number in zip(row, other, strict=True):
            assert public(value).subs("gamma", at) == EXACT.public(number)
