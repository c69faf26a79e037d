"""Named columns and what they add up to, against the columns themselves and against rationals."""

from fractions import Fraction
from functools import reduce
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.dynamics import monomials, products
from obliquetd.dynamics.monomials import Monomial, Named
from obliquetd.dynamics.rounded_columns import RoundedColumn, datum
from tests.dynamics.test_products import EVERY, pairs, states


def moving(seed, **given):
    """Every outcome leads to another state; some discounts are 0."""
    rows = [
        (s, a, (s + 1 + k) % 3, 0.5, 0.3 * k - s, 0.0 if (s, k) == (2, 1) else 1.0)
        for s in range(3)
        for a in range(2)
        for k in range(2)
    ]
    mdp = otd.MDP.from_transitions(rows)
    features = np.random.default_rng(seed).normal(size=(3, 2))
    target = otd.Policy({s: {0: 0.3, 1: 0.7} for s in range(3)})
    behavior = otd.Policy({s: {0: 0.5, 1: 0.5} for s in range(3)})
    return otd.PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=features, discount=0.9, **given
    )


def staying(seed, **given):
    """No outcome leads anywhere, and what is known has few digits."""
    rows = [(s, a, s, 1.0, float(s - a)) for s in range(3) for a in range(2)]
    features = np.random.default_rng(seed).integers(-2, 3, size=(3, 2)).astype(float)
    target = otd.Policy({s: {0: 0.25, 1: 0.75} for s in range(3)})
    behavior = otd.Policy({s: {0: 0.5, 1: 0.5} for s in range(3)})
    return otd.PolicyEvaluation(
        otd.MDP.from_transitions(rows), target=target, behavior=behavior, features=features,
        discount=0.5, xi=[0.5, 0.25, 0.25], **given,
    )  # fmt: skip


MAKERS = {
    "states": lambda seed: states(seed, arithmetic="float"),
    "pairs": lambda seed: pairs(seed, arithmetic="float"),
    "moving": moving,
    "staying": staying,
}


def of(problem, learner):
    found = otd.mean_dynamics(problem, learner).expectation
    assert found.sums is not None
    return found.A, found.b, found.sums.products.named


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_named_columns_add_up_to_what_the_columns_do(name, monkeypatch):
    """For learner after learner on one problem, so that what one left is what the next takes."""
    shared, kept = MAKERS[name](5), 0
    some = EVERY[sorted(MAKERS).index(name) :: 2 * len(MAKERS)]
    for learner in (otd.TD(), otd.TD(lam="1/2"), *some, otd.GTD2(), otd.ETD()):
        A, b, named = of(shared, learner)
        kept = max(kept, len(named._sums))
        with monkeypatch.context() as patch:
            patch.setattr(products, "MOST_KEPT", 0)
            plain = of(MAKERS[name](5), learner)
        assert plain[2] is None
        for mine, theirs in zip((A, b), plain[:2], strict=True):
            gap = np.abs(mine.dense() - theirs.dense())
            assert (gap <= mine.dense_error() + theirs.dense_error()).all(), learner.label
            assert mine.dense_error().max() < 1e-11
    assert kept


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_what_is_kept_depends_on_nobody_who_asked_before(name):
    first, last = MAKERS[name](7), MAKERS[name](7)
    listed = EVERY[::9]
    one = [of(first, learner)[:2] for learner in listed]
    other = [of(last, learner)[:2] for learner in reversed(listed)][::-1]
    again = [of(first, learner)[:2] for learner in listed]
    for found in (other, again):
        for mine, theirs in zip(one, found, strict=True):
            for a, b in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(a.dense(), b.dense())
                np.testing.assert_array_equal(a.dense_error(), b.dense_error())


def test_other_weights_of_the_states_are_other_sums():
    """A trajectory stays in one of two closed classes, whose weights share the outcomes."""
    rows = [(0, 0, 1, 1, 1), (1, 0, 0, 1, 0), (2, 0, 3, 1, 2), (3, 0, 2, 1, -1)]
    given = {
        "target": otd.Policy({s: {0: 1} for s in range(4)}),
        "features": [[1, 2], [0, 1], [3, 1], [1, -1]],
        "discount": "9/10",
        "xi": ["1/8", "1/8", "3/8", "3/8"],
    }
    exact = otd.PolicyEvaluation(otd.MDP.from_transitions(rows), **given)
    floats = otd.PolicyEvaluation(exact.mdp, arithmetic="float", **given)
    for learner in (otd.TD(), otd.GTD2()):
        mine, theirs = (otd.mean_dynamics(p, learner) for p in (floats, exact))
        assert len(mine.classes) == 2
        for a, b in zip(mine.classes, theirs.classes, strict=True):
            np.testing.assert_allclose(a.A, np.array(b.A.tolist(), dtype=float), rtol=1e-13)
            np.testing.assert_allclose(a.b, np.array(b.b.tolist(), dtype=float).ravel(), rtol=1e-13)


def test_few_weights_are_kept_and_no_sum_without_end(monkeypatch):
    monkeypatch.setattr(monomials, "MOST_KEPT", 256)
    problem = moving(1)
    _, _, named = of(problem, otd.TD())
    rows = np.arange(named.count) % 3
    for k in range(100):
        column = RoundedColumn(np.full(named.count, 1.0 + k) + rows, None, 0.0)
        weight = named.weighed(column, "all")
        if isinstance(weight, Monomial):
            named.total(weight, k, lambda _, c: otd.mean_dynamics(problem, otd.TD()).expectation.A)
    assert len(named._weights) <= 8
    assert len(named._sums) <= 64


numbers = st.floats(-4, 4).map(lambda x: round(x, 3))
columns = st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=3, max_size=3)


@settings(max_examples=60, deadline=None)
@given(columns, numbers, numbers, st.lists(st.integers(0, 2), min_size=1, max_size=4))
def test_monomials_are_the_columns_that_they_name(drawn, first, second, taken):
    table = Named({"s": np.arange(4), "n": np.arange(4)})
    plain = [datum(x) for x in drawn]
    named = [table.named(str(k), c) for k, c in enumerate(plain)]
    one, two = datum([first]), datum([second])
    for mine, theirs in (
        (reduce(mul, [named[k] for k in taken]) * one, reduce(mul, [plain[k] for k in taken]) * one),
        (one * named[0] - two * named[0], one * plain[0] - two * plain[0]),
        (named[0] * named[1] + named[1] * named[0] * two,
         plain[0] * plain[1] + plain[1] * plain[0] * two),
        (named[0] + named[1], plain[0] + plain[1]),
        (-named[2] * one + named[1], -plain[2] * one + plain[1]),
    ):  # fmt: skip
        gap = np.abs(mine.value - theirs.value)
        assert (gap <= mine.error + theirs.error).all()
        nothing = not (theirs.value.any() or theirs.error.any())
        if isinstance(mine, Monomial) and nothing:
            assert mine.is_zero() or mine.error.any()


def test_their_bounds_hold_the_exact_numbers():
    draw = np.random.default_rng(0)
    for _ in range(50):
        a, b = draw.normal(size=(2, 5)).round(3)
        x, y = draw.normal(size=2).round(3)
        table = Named({"s": np.arange(5), "n": np.arange(5)})
        A, B = table.named("a", datum(a)), table.named("b", datum(b))
        mine = A * B * datum([x]) - A * B * datum([y])
        assert isinstance(mine, Monomial)
        exact = [
            Fraction(str(u)) * Fraction(str(v)) * (Fraction(str(x)) - Fraction(str(y)))
            for u, v in zip(a.tolist(), b.tolist(), strict=True)
        ]
        for value, error, true in zip(mine.value, mine.error, exact, strict=True):
            assert abs(Fraction(float(value)) - true) <= Fraction(float(error))


def test_a_product_of_columns_that_are_nowhere_both_is_0():
    table = Named({"s": np.arange(4), "n": np.arange(4)})
    a, b, c = (table.named(k, datum(v)) for k, v in
               (("a", [0.0, 0, 1, 2]), ("b", [1.0, 2, 0, 0]), ("c", [1.0, 2, 3, 4])))  # fmt: skip
    assert (a * b).is_zero()
    assert not (a * c).is_zero()
    assert not a.is_zero()
    assert (a * datum([0.0])).is_zero()
    assert (a - a).is_zero()
    tiny = datum([1e-200])
    assert not (c * tiny * tiny).value.any()
    assert (c * tiny * tiny).error.all()  # below the range of floats, and not 0
    rounded = a - a * datum([0.1]) * datum([10.0])
    assert not rounded.value.any()
    assert rounded.error.any()
