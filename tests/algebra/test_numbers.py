import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import (
    exact_distribution,
    kind_of,
    number_text,
    parse_expression,
    parse_number,
    public_number,
    serial_number,
    simplest_fraction,
)
from obliquetd.errors import NumberError

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_simplest_fraction_rounds_back(x):
    assert float(simplest_fraction(x)) == x


@given(st.integers(-60, 60), st.integers(1, 60))
def test_simplest_fraction_recovers_small_fractions(p, q):
    assert simplest_fraction(p / q) == Fraction(p, q)


@given(st.floats(0.001, 1000))
def test_no_fraction_of_smaller_denominator_rounds_to_it(x):
    found = simplest_fraction(x)
    for q in range(1, min(found.denominator, 200)):
        assert float(Fraction(round(Fraction(x) * q), q)) != x


def test_slack_reads_computed_thirds():
    computed = (1 - 1 / 3) / 2
    assert computed != 1 / 3
    assert simplest_fraction(computed) != Fraction(1, 3)
    read = exact_distribution([1 / 3, computed, computed])
    assert [public_number(x) for x in read] == [sp.Rational(1, 3)] * 3


def test_exact_distribution_does_not_repair_a_real_defect():
    assert sum(public_number(x) for x in exact_distribution([0.5, 0.499])) == sp.Rational(999, 1000)


@pytest.mark.parametrize(
    ("given_", "kind", "public"),
    [
        (3, "exact", 3),
        (Fraction(1, 3), "exact", sp.Rational(1, 3)),
        (Decimal("0.1"), "exact", sp.Rational(1, 10)),
        ("0.1", "exact", sp.Rational(1, 10)),
        ("-1/3", "exact", sp.Rational(-1, 3)),
        ("-1e-3", "exact", sp.Rational(-1, 1000)),
        ("1e2", "exact", 100),
        (sp.Rational(2, 7), "exact", sp.Rational(2, 7)),
        (np.int64(4), "exact", 4),
        (0.1, "float", 0.1),
        (np.float64(0.25), "float", 0.25),
        (sp.Float(0.5), "float", 0.5),
        ("gamma*p", "symbolic", sp.Symbol("gamma") * sp.Symbol("p")),
        (sp.Symbol("x") / 2, "symbolic", sp.Symbol("x") / 2),
    ],
)
def test_each_input_keeps_its_kind(given_, kind, public):
    parsed = parse_number(given_)
    assert kind_of(parsed) == kind
    assert public_number(parsed) == public


@pytest.mark.parametrize(
    "bad",
    [
        "1/0", "0**-1", "", " ", "nan", "Inf", "x y", "1 +", "f(x)", "1.2.3", "2**x", "a = b", "10**10**10",
        "(((", "1e999999999", "__import__('os')", "x**1000", math.nan, math.inf, True, None, [1],
        sp.oo, sp.nan, sp.sqrt(2), sp.pi, 1j, Decimal("NaN"), sp.sin(sp.Symbol("x")),
        0.5 * sp.Symbol("x"),
    ],
)  # fmt: skip
def test_bad_numbers_are_refused_by_name(bad):
    with pytest.raises(NumberError, match="the reward"):
        parse_number(bad, "the reward")


@pytest.mark.parametrize(
    "name",
    [
        "gamma",
        "beta",
        "lambda",
        "S",
        "N",
        "E",
        "I",
        "Q",
        "O",
        "C",
        "zeta",
        "pi",
        "γ",
        "oo",
        "Lambda",
        "x_1",
    ],
)
def test_every_name_is_a_plain_symbol(name):
    value = parse_expression(f"2*{name} + 1")
    assert value == 2 * sp.Symbol(name) + 1


def test_division_by_something_that_vanishes_identically():
    with pytest.raises(NumberError, match="divides by zero"):
        parse_expression("1/(x - x)")


def test_integers_beyond_cpythons_limit_are_read_and_written():
    huge = 2**20000
    text = serial_number(sp.Rational(1, huge))
    assert len(text) == len("1/") + 6021
    assert public_number(parse_number(text)) == sp.Rational(1, huge)
    assert "6021 digits" in number_text(sp.Rational(huge - 1, huge))


@given(st.fractions())
def test_serial_form_is_exact(x):
    assert public_number(parse_number(serial_number(parse_number(x)))) == x
