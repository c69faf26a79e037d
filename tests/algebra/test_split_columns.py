"""Columns split into integers and formulas, against sympy's fractions added one after the other."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation, mean_dynamics
from obliquetd.algebra import FieldArithmetic, FieldMatrix, split_columns
from obliquetd.algebra.split_columns import SplitColumn
from obliquetd.learners import ETD, GTD2, TD

SYMBOLS = sp.symbols("x y")
FIELDS = {n: FieldArithmetic(SYMBOLS[:n]) for n in (1, 2)}
numbers = st.builds(sp.Rational, st.integers(-6, 6), st.integers(1, 9))


@st.composite
def columns(draw, dimension, length):
    """Numbers beside few formulas, some of them 0, some with a denominator; the same object at times."""
    field, (x, *more) = FIELDS[dimension], SYMBOLS[:dimension]
    formulas = [sp.Integer(1), x, 1 - x, 1 / (2 + x), x**3, *(y * x - 2 for y in more)]
    known = [
        field.scalar(sp.sympify(draw(numbers) * draw(st.sampled_from(formulas))))
        for _ in range(draw(st.integers(1, 4)))
    ]
    out = np.empty(length, dtype=object)
    out[:] = [draw(st.sampled_from(known)) for _ in range(length)]
    return out


@settings(max_examples=40)
@given(st.data(), st.sampled_from([1, 2]), st.integers(1, 6))
def test_a_split_column_computes_what_its_numbers_do(data, dimension, length):
    field = FIELDS[dimension]
    a, b = (data.draw(columns(dimension, length)) for _ in range(2))
    u, v = (SplitColumn.of(field, c) for c in (a, b))
    assert u.tolist() == a.tolist() == list(u) == [u[k] for k in range(length)]
    for mine, theirs in (
        (u * v, a * b), (u + v, a + b), (u - v, a - b), (-u, -a), (u * b, a * b), (b - u, b - a),
        (a[:1] * v, a[:1] * b), (u[:1] * v, a[:1] * b), (u[:1] + v[:1], a[:1] + b[:1]),
    ):  # fmt: skip
        assert mine.tolist() == theirs.tolist()
    assert u.is_constant == all(x == a[0] for x in a)
    if b.all():
        assert (u / v).tolist() == (a / v).tolist() == [x / y for x, y in zip(a, b, strict=True)]
    at = np.array(data.draw(st.lists(st.integers(0, length - 1), max_size=8)), dtype=np.intp)
    assert (u * v)[at].tolist() == (a * b)[at].tolist()


@settings(max_examples=40)
@given(st.data(), st.sampled_from([1, 2]), st.integers(0, 9), st.sampled_from([0, 8]))
def test_what_stands_at_a_place_is_added_up(data, dimension, length, few):
    """By powers and by polynomials; several columns a part, several parts, one number for all outcomes."""
    field, shape = FIELDS[dimension], (2, 3)
    expected = [[field.zero] * shape[1] for _ in range(shape[0])]
    parts = []
    for _ in range(data.draw(st.integers(1, 2))):
        i, j = (
            np.array([data.draw(st.integers(0, k - 1)) for _ in range(length)], dtype=np.intp)
            for k in shape
        )
        factors = [data.draw(columns(dimension, length)) for _ in range(2)]
        if length:
            factors.append(SplitColumn.of(field, data.draw(columns(dimension, 1))))
        parts.append((i, j, factors))
        for k in range(length):
            value = field.one
            for f in factors:
                value = value * f[min(k, len(f) - 1)]
            expected[i[k]][j[k]] += value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_columns, "FEW", few)
        found = field.assemble_sums(shape, parts)
    assert isinstance(found, FieldMatrix)
    assert found.rows() == expected
    i, j = np.nonzero(np.array([[bool(x) for x in row] for row in expected]))
    assert [x.tolist() for x in found.support()] == [i.tolist(), j.tolist()]
    assert field.assemble_sums(shape, parts).submatrix([1], [2, 0]).rows() == [
        [expected[1][2], expected[1][0]]
    ]


def mixed_up():
    """Discounts by transition, a terminal and a transient state, features of long denominators, a row of zeros."""
    gamma, eps = sp.symbols("gamma epsilon")
    rows = [
        (0, "a", 1, "1/3", 1, 1), (0, "a", 2, "2/3", "1/7", "1/2"), (0, "b", 0, 1, -2, 1),
        (1, "a", 0, "10/11", 3, 1), (1, "a", 3, "1/11", 0, "3/4"), (1, "b", 1, 1, "5/9", 0),
        (2, "a", 1, 1, 4, 1), (2, "b", 3, "1/2", 1, 1), (2, "b", 0, "1/2", 0, "9/10"),
        (4, "a", 0, 1, 1, 1), (4, "b", 1, 1, 0, 1),
    ]  # fmt: skip
    mdp = MDP.from_transitions(rows)
    policy = Policy({s: {"a": "1/4", "b": "3/4"} for s in (0, 1, 2, 4)})
    features = [[1, "3/1000003"], ["1/7919", 2], [0, 0], ["-2/3", 1], [5, 1]]
    problem = PolicyEvaluation(
        mdp, target=policy, behavior=Policy.uniform(mdp), features=features, discount=gamma,
        start={0: "1/2", 4: "1/2"},
    )  # fmt: skip
    mixed = problem.replace(behavior=Policy.uniform(mdp).mix(policy, eps))
    values = {gamma: sp.Rational(5, 7), eps: sp.Rational(2, 9)}
    return [(problem, {gamma: values[gamma]}), (mixed, values)]


@pytest.mark.parametrize(("problem", "values"), mixed_up(), ids=["discount", "discount and mixing"])
def test_a_problem_in_symbols_is_at_numbers_the_problem_of_the_numbers(problem, values):
    at = problem.subs(values)
    for name in ("P_pi", "P_b", "r_pi", "L_pi", "Lambda", "xi", "v_pi", "C"):
        assert getattr(problem, name).subs(values) == getattr(at, name)
    for learner in (TD(), TD(lam="1/2"), ETD(lam="1/3"), GTD2()):
        mine, other = mean_dynamics(problem, learner), mean_dynamics(at, learner)
        assert (mine.A.subs(values), mine.b.subs(values)) == (other.A, other.b)
    mine, other = problem.fixed_point("td"), at.fixed_point("td")
    assert (mine.theta.subs(values), mine.v_hat.subs(values)) == (other.theta, other.v_hat)
