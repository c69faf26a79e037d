"""Plain fractions and decimals are read without the parser of formulas, to the same numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import numbers, parse_number
from obliquetd.algebra.expressions import parse_expression
from obliquetd.errors import NumberError

DIGITS = st.text("0123456789", min_size=1, max_size=45)
TEXTS = st.one_of(
    st.builds("{}{}/{}".format, st.sampled_from(["", "-"]), DIGITS, DIGITS),
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "-", "+"]),
        DIGITS,
        st.one_of(st.just(""), st.just("."), DIGITS.map(".{}".format)),
        st.one_of(st.just(""), st.integers(-400, 400).map("e{}".format), st.just("E+07")),
    ),
    st.text("0123456789./-+eE ", max_size=8),
)


@given(TEXTS)
def test_both_ways_read_one_number(text):
    try:
        wanted = numbers._from_expression(parse_expression(text), "it")
    except NumberError:
        with pytest.raises(NumberError):
            parse_number(text)
    else:
        assert parse_number(text) == wanted


@pytest.mark.parametrize("text", ["1/2", "-3/7", "0.125", "-0.5", "12", "1e-3", "2.5E+10", "5."])
def test_plain_text_never_meets_the_parser(monkeypatch, text):
    wanted = parse_number(f"({text})")
    monkeypatch.setattr(numbers, "parse_expression", None)
    assert parse_number(text) == wanted


@pytest.mark.parametrize(
    "text", ["1/0", "-1/00", "1/-2/0", "1e9999", "0x10", "1_000", "1.2.3", "٣/0"]
)
def test_what_is_no_number_is_refused_as_before(text):
    with pytest.raises(NumberError):
        parse_number(text)
