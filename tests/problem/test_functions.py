"""Whole problems with symbols, over FLINT's polynomials and over sympy's fractions as before."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd.algebra import EXACT
from obliquetd.domains import random_problem
from obliquetd.errors import ObliqueTDError
from obliquetd.problem.projection import solve_projected
from obliquetd.problem.weightings import WEIGHTINGS, projection_weights
from tests.algebra.old_routes import FieldOfFractions
from tests.character import ROLES
from tests.strategies import problems

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


one_symbol = problems(role=ROLES, most_states=4, most_actions=2)
"""States that are absorbing or never entered, and a symbol wherever a number stands."""


@settings(max_examples=15)
@given(st.one_of(one_symbol, one_symbol.map(lambda p: p.replace(discount="gamma"))))
def test_answers_are_those_of_sympys_fractions(problem):
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
