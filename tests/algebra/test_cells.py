"""Cells on which no sign changes, against signs at many points."""

import itertools

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra.cells import (
    CellArithmetic,
    SampledSigns,
    break_points,
    rational_between,
    sign_cells,
)

x = sp.Symbol("x")
FORMULAS = (
    x - sp.Rational(1, 3),
    x**2 - 2,
    (x - 1) / (2 * x - 1),
    1 / x,
    (x - 2) ** 2,
    x**3 - x + 5,
)


def signs_of(formulas):
    return lambda signs: tuple(signs.of(f) for f in formulas)


@pytest.mark.parametrize("ends", [(0, 1), (-3, 3), (-sp.oo, sp.oo), (sp.Rational(1, 3), sp.oo)])
def test_every_sign_is_that_of_its_cell(ends):
    cells = sign_cells(*ends, x, signs_of(FORMULAS))
    assert [cells[0].left, cells[-1].right] == [*ends]
    assert all(a.right == b.left for a, b in itertools.pairwise(cells))
    for cell in cells:
        inner = rational_between(cell.left, cell.right)
        for point in (
            inner,
            rational_between(cell.left, inner),
            rational_between(inner, cell.right),
        ):
            assert cell.value == tuple(sp.sign(f.subs(x, point)) for f in FORMULAS)


def test_a_sample_on_a_pole_or_a_root_is_split():
    cells = sign_cells(0, 1, x, signs_of([1 / (2 * x - 1), 2 * x - 1]))
    assert [(c.left, c.right, c.value) for c in cells] == [
        (0, sp.Rational(1, 2), (-1, -1)),
        (sp.Rational(1, 2), 1, (1, 1)),
    ]


def test_what_is_asked_on_one_cell_alone_splits_that_cell():
    def compute(signs):
        return signs.of(x - 1) > 0 and signs.of(x - 2) > 0

    assert [c.value for c in sign_cells(0, 3, x, compute)] == [False, False, True]


def test_break_points_are_exact_and_in_order():
    found = break_points(-2, 2, FORMULAS[:-1], x)
    assert found == [-2, -sp.sqrt(2), 0, sp.Rational(1, 3), sp.Rational(1, 2), 1, sp.sqrt(2), 2]


def test_arithmetic_of_a_cell_remembers_what_was_asked():
    arithmetic = CellArithmetic(SampledSigns(x, sp.Rational(1, 4)))
    assert arithmetic.sign(arithmetic.scalar(2 * x - 1)) == -1
    assert arithmetic.sign(arithmetic.one) == 1
    assert arithmetic.signs.asked == {2 * x - 1}


@given(st.fractions(-5, 5, max_denominator=50), st.fractions(-5, 5, max_denominator=50))
def test_a_rational_lies_between(a, b):
    left, right = sorted((sp.Rational(a), sp.Rational(b) + sp.sqrt(2) / 10**6))
    assert left < rational_between(left, right) < right
