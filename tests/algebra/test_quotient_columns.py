"""Columns of functions against the functions themselves, one by one."""

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra.quotient_columns import QuotientColumn, no_root_inside, signs_of, values_of
from obliquetd.algebra.quotients import ONE, Quotient, Sample, parts_of, real_places

SAMPLE = Sample(flint.fmpq(1, 3))
coefficients = st.lists(st.integers(-3, 3), min_size=1, max_size=3)


@st.composite
def functions(draw):
    above = flint.fmpq_poly(draw(coefficients))
    below = flint.fmpq_poly(draw(coefficients))
    number = flint.fmpq(draw(st.integers(-3, 3)), 2)
    if not below or draw(st.booleans()):
        return number if draw(st.booleans()) else Quotient(above, ONE, SAMPLE)
    return Quotient(above, ONE, SAMPLE) / Quotient(below, ONE, SAMPLE)


def alike(found, wanted):
    return all(not (x - y) for x, y in zip(found.tolist(), wanted, strict=True))


@given(st.lists(st.tuples(functions(), functions()), min_size=1, max_size=4))
def test_columns_calculate_as_their_entries_do(pairs):
    first, second = ([*x] for x in zip(*pairs, strict=True))
    a, b = (QuotientColumn.of(x, SAMPLE) for x in (first, second))
    assert alike(a, first)
    assert alike(a + b, [x + y for x, y in pairs])
    assert alike(a - b, [x - y for x, y in pairs])
    assert alike(a * b, [x * y for x, y in pairs])
    assert alike(a[np.arange(len(a))[::-1]], first[::-1])
    assert a.zeros().tolist() == [not x for x in first]
    if all(second):
        quotients = [x / y for x, y in pairs]
        assert alike(a / b, quotients)
        assert alike((a / b).without_factors(), quotients)
    else:
        with pytest.raises(ZeroDivisionError):
            a / b


@given(
    st.lists(coefficients, min_size=1, max_size=4),
    st.lists(st.integers(-6, 6), min_size=8, max_size=8),
)
def test_roots_inside_are_never_passed_over(listed, places):
    polynomials = [flint.fmpq_poly(c) for c in listed]
    count = 1 + max(0, *(p.degree() for p in polynomials))
    part = []
    for k in range(count):
        column = np.empty(len(polynomials), dtype=object)
        column[:] = [p[k] for p in polynomials]
        part.append(column)
    lows, highs = (np.empty(len(polynomials), dtype=object) for _ in range(2))
    for k in range(len(polynomials)):
        a, b = sorted(places[2 * k : 2 * k + 2])
        lows[k], highs[k] = flint.fmpq(a, 2), flint.fmpq(b + 1, 2)
    for k, sure in enumerate(no_root_inside(part, lows, highs)):
        if sure and polynomials[k].degree() > 0:
            assert real_places(polynomials[k], lows[k], highs[k]) == []
    values = values_of(part, lows)
    assert [v == p(x) for v, p, x in zip(values, polynomials, lows, strict=True)]


def test_common_factors_without_real_zeros_may_stay():
    x = Quotient(flint.fmpq_poly([0, 1]), ONE, SAMPLE)
    column = QuotientColumn.of([x, x], SAMPLE) * QuotientColumn.of(
        [1 / (1 + x * x), 1 / (1 - x * x)], SAMPLE
    )
    above, below = parts_of(column.without_factors().tolist()[1])
    assert (str(above), below.degree()) in {("x", 2), ("-x", 2)}


def test_signs_beyond_the_range_of_floats():
    tiny, huge = flint.fmpq(1, 10) ** 400, flint.fmpq(10) ** 400
    column = np.array([tiny, -tiny, 0 * tiny])
    assert signs_of(column).tolist() == [1, -1, 0]
    assert signs_of(np.array([huge, -huge])).tolist() == [1, -1]
