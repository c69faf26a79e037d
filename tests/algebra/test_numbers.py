import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import (
    EXACT,
    cell_text,
    exact_distribution,
    exactify,
    kind_of,
    number_text,
    parse_expression,
    parse_number,
    public_number,
    serial_number,
    shortened,
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


@given(st.floats(0.001, 1000))
def test_a_float_is_read_as_what_prints_it(x):
    assert public_number(exactify(x)) == sp.Rational(repr(x))


@pytest.mark.parametrize(
    ("row", "right"),
    [
        ([0.999999999999, 1e-12], ["0.999999999999", "1e-12"]),
        ([0.99999999, 1e-8], ["0.99999999", "1e-8"]),
        ([1 / 3] * 3, ["1/3"] * 3),
        ([1 / 7] * 7, ["1/7"] * 7),
        ([0.6666666666666667, 0.3333333333333333], ["2/3", "1/3"]),
        ([0.1] * 10, ["1/10"] * 10),
        ([0.123456789, 0.876543211], ["0.123456789", "0.876543211"]),
        ([0.5, "1/4", 0.25], ["1/2", "1/4", "1/4"]),
    ],
)
def test_rows_of_probabilities_are_read_as_they_were_meant(row, right):
    read = exact_distribution([parse_number(x) for x in row])
    assert [public_number(x) for x in read] == [sp.Rational(x) for x in right]


@given(st.lists(st.floats(1e-9, 1), min_size=2, max_size=8))
def test_every_normalised_row_has_an_exact_reading_within_rounding(weights):
    row = [w / sum(weights) for w in weights]
    read = [public_number(x) for x in exact_distribution(row)]
    assert sum(read) == 1
    assert [float(x) for x in read] == pytest.approx(row, rel=1e-13)


@pytest.mark.parametrize(
    "text",
    [
        "1e0000000000000999999999", "1e99999999", "1e-99999999", "1/(((x+1)**64)**64+1)",
        "+".join(f"1/(x{i}+1)" for i in range(12)), "(((2**999)**999)**999)", "(x+y+z+1)**40",
        "+".join(f"x{i}" for i in range(10_000)), "((x**64)**64)**64", "*".join(["1e5000"] * 10_000),
        "(" * 3000 + "x" + ")" * 3000, "*".join(f"(x{i}+y{i})" for i in range(12)),
    ],
)  # fmt: skip
def test_text_of_an_unreasonable_result_is_refused_at_once(text):
    with pytest.raises(NumberError, match="cannot read"):
        parse_expression(text)
    with pytest.raises(NumberError):
        parse_number(Decimal("1e99999999"))


def test_long_texts_of_a_reasonable_result_are_read():
    assert parse_expression("+".join(f"1/(x{i}+1)" for i in range(6))).free_symbols
    assert parse_expression("(x+y+z+1)**12") == (sum(sp.symbols("x y z")) + 1) ** 12
    assert parse_expression("2**100000") == 2**100000
    assert parse_expression("+".join(f"{i}*x**{i}" for i in range(300))).subs({"x": 1}) == 44850
    assert parse_expression("1**99999999999 + (-1)**99999999999") == 0


@pytest.mark.parametrize("bits", [2000, 8000, 20000, 60000])
def test_numbers_of_any_length_are_shown_in_short_and_kept_exactly(bits):
    tiny = sp.Rational(1, 2**bits)
    matrix = EXACT.matrix([[EXACT.scalar(parse_number(tiny))], [EXACT.one]], (2, 1)).public()
    assert matrix == sp.Matrix([tiny, 1])
    assert isinstance(matrix, sp.ImmutableDenseMatrix)
    for text in (str(matrix), repr(matrix), sp.latex(matrix), sp.pretty(matrix), str(2 * matrix)):
        assert text
        if bits > 15000:
            assert len(text) < 200
    exponent = str(-int(bits * math.log10(2)) - 1)
    assert exponent in number_text(tiny)
    assert exponent in str(shortened(tiny + sp.Symbol("x")))
    half = math.floor((math.log10(3) - bits * math.log10(2)) / 2)
    assert f"e{half}" in cell_text(sp.sqrt(3 * tiny))
    assert public_number(parse_number(serial_number(tiny))) == tiny


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1e0000000000000999999999", "the exponent 999999999 is beyond 5000"),
        ("1e-000000000000006000", "the exponent -6000 is beyond -5000"),
        ("2E+00005001", "the exponent 5001 is beyond 5000"),
        ("1e" + "7" * 50, "the exponent 777777777777... of 50 digits is beyond 5000"),
    ],
)
def test_an_exponent_too_large_is_told_by_its_digits(text, words):
    with pytest.raises(NumberError, match=words):
        parse_number(text)
    assert parse_number("1e" + "0" * 20 + "3") == 1000
