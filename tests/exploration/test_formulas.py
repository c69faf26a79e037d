"""What the page is made of: the formulas at places of the sliders are the problem's own numbers."""

import random
from fractions import Fraction

import pytest
import sympy as sp

from obliquetd import explore
from obliquetd.domains import baird_star, boyan_chain, two_state
from obliquetd.dynamics import mean_dynamics, stability_region
from obliquetd.errors import InputError, KindError
from obliquetd.exploration.formulas import zeros_among
from obliquetd.exploration.stills import _decimal, _told, frame_paths, frame_places, write_frames
from obliquetd.learners import ETD, SETD, TD
from tests.exploration.conftest import MAKERS, QUICK, exact_values, exploration


def value_of(data, number, values):
    """A polynomial of the page at rational values, by fractions and no homogenised integers."""
    _, coefficients, exponents = data["table"]["polynomials"][number]
    total = Fraction(0)
    for c, powers in zip(coefficients, exponents, strict=True):
        term = Fraction(c)
        for x, k in zip(values, powers, strict=True):
            term *= x**k
        total += term
    return total


def evaluated(data, formula, values):
    above, below = data["table"]["formulas"][formula]
    return value_of(data, above, values) / value_of(data, below, values)


def piece_of(data, learner, at, values):
    """The formulas of a learner at a place, as the page picks them."""
    if len(values) > 1:
        for signs, _, piece in learner["cells"]:
            if all((evaluated(data, f, values) > 0) == (s > 0) for f, s in signs):
                return piece
        return None
    special = data["special"].get(str(at[0]))
    if special:
        return special[learner["name"]]
    return next(piece for first, last, piece in learner["cells"] if first <= at[0] <= last)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow)
        for n in MAKERS
        if n != "beyond"
    ],
)
def test_formulas_are_the_problems_numbers(name):
    found = exploration(name)
    data = found.to_data()
    numbers = random.Random(name)
    for _ in range(6):
        at = [numbers.randrange(len(s.places)) for s in found.sliders]
        values = [Fraction(str(s.places[i])) for s, i in zip(found.sliders, at, strict=True)]
        if any(value_of(data, p, values) == 0 for p, _ in data["guards"]):
            continue
        expected, _ = exact_values(found, at)
        for learner in data["learners"]:
            piece, row = piece_of(data, learner, at, values), expected[learner["name"]]
            if row["theta"] is None:
                assert piece["theta"] is None
                continue
            assert [evaluated(data, f, values) for f in piece["theta"]] == [
                Fraction(str(x)) for x in row["theta"]
            ]
            assert evaluated(data, piece["error"], values) == Fraction(str(row["error"] ** 2))
            assert evaluated(data, piece["projected"], values) == Fraction(
                str(row["projected"] ** 2)
            )
            p = [Fraction(str(x)) for x in row["p"]]
            assert [evaluated(data, f, values) for f in piece["p"]] == p


def test_where_a_formula_is_not_enough_the_problem_is_solved_anew():
    found = exploration("two")
    places = found.sliders[0].places
    data = found.to_data()
    at = {sp.Rational(x): i for i, x in enumerate(places)}
    assert {0, at[sp.Rational(1, 2)], at[sp.Rational(5, 6)], len(places) - 1} == set(
        map(int, data["special"])
    )
    td = data["special"][str(at[sp.Rational(5, 6)])]["TD"]
    assert td["theta"] is None
    assert td["verdict"] == "marginal"
    assert "b lies outside its range" in td["why"]
    setd = data["special"][str(at[sp.Rational(1, 2)])][
        "SETD"
    ]  # a pole of both neighbours' formulas
    there = mean_dynamics(two_state("1/2", reward=1), SETD())
    assert evaluated(data, setd["theta"][0], [Fraction(1, 2)]) == Fraction(
        str(there.fixed_point()[0])
    )


def test_break_points_are_places_and_regions_are_exact():
    found = exploration("two")
    region = stability_region(two_state("gamma", reward=1), TD(), "gamma")
    assert found.regions["TD"].found == region
    slider = found.sliders[0]
    data = found.to_data()["learners"][0]["region"]
    at = slider.places.index(sp.Rational(5, 6))
    assert data["breaks"] == [[at, "5/6"]]
    assert data["stable"] == [[0, at - 1]]
    assert data["told"] == "[0, 5/6)"
    assert "5/6, where TD changes" in found.html


def test_sliders():
    assert [str(s.symbol) for s in exploration("reward").sliders] == [
        "gamma",
        "r",
    ]  # the discount first
    renamed = two_state("z", reward="a")
    assert [str(s.symbol) for s in explore(renamed, learners=TD()).sliders] == ["z", "a"]
    slider = exploration("two").sliders[0]
    assert slider.places[slider.start] == sp.Rational(9, 10)  # the model's own discount
    assert slider.places[-1] < 1
    wide = explore(two_state("gamma", reward="r"), learners=TD(), ranges={"r": (-3, 5)}).sliders[1]
    assert (wide.places[0], wide.places[-1]) == (-3, 5)
    assert slider.index_of(sp.Rational(1, 2000)) == 0.5


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"ranges": {"q": (0, 1)}}, "q, which is no symbol here; the symbols are gamma"),
        ({"ranges": {"gamma": (1, 0)}}, "the smaller first"),
        ({"ranges": {"gamma": "x"}}, "expected a pair"),
    ],
)
def test_ranges_that_are_none(fields, told):
    with pytest.raises(InputError, match=told):
        explore(two_state(), **fields)


def test_floats_and_large_models_are_refused():
    with pytest.raises(KindError, match="exact"):
        explore(two_state(0.9))
    with pytest.raises(InputError, match="too many for formulas"):
        explore(boyan_chain().replace(features=None))


def test_zeros_among_places():
    places = [sp.Rational(k, 7) for k in range(-7, 8)]
    x = sp.Symbol("x")
    polynomial = sp.Poly((7 * x - 3) ** 2 * (x + 1) * (x**2 + 1), x)
    terms = tuple(sorted((m, int(c)) for m, c in polynomial.terms()))
    assert list(zeros_among(terms, places)) == [0, 10]
    assert list(zeros_among((), places)) == list(range(15))


def test_stills(tmp_path):
    found = exploration("two")
    places = frame_places(found.sliders[0], [sp.Rational(5, 6)], 8)
    assert len(places) == 8
    assert sp.Rational(5, 6) in places
    assert places == sorted(places)
    written = write_frames(found, tmp_path / "e.html", 1)
    assert written == frame_paths(tmp_path / "e.html", 1)
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in written)
    assert [_decimal(sp.Rational(x)) for x in ("3", "1/2", "5/6", "999/1000", "1/1024")] == [
        "", " = 0.5", " ≈ 0.833", " = 0.999", " ≈ 0.000977"
    ]  # fmt: skip
    assert _told(mean_dynamics(two_state("5/6", reward=1), TD())) == "eigenvalue 0\nno fixed point"
    assert _told(mean_dynamics(two_state("5/6"), TD())).endswith("many fixed points")
    assert _told(mean_dynamics(two_state("1/2", reward=1), TD())).endswith("θ = 3/2")
    with pytest.raises(InputError, match="frames is 0"):
        frame_paths("e.html", 0)


def test_a_model_without_rewards_says_so():
    found = explore(two_state(), learners=TD())
    assert any("expected reward is zero" in note for note in found.notes)


@pytest.mark.slow
def test_a_larger_model_has_curves_and_its_exact_region():
    found = explore(baird_star(), learners=[TD(), ETD()])
    assert found.shape == "curves"
    region = stability_region(baird_star().replace(discount="gamma"), TD(), "gamma")
    assert found.regions["TD"].found == region


def test_a_notebook_shows_it_in_a_frame():
    shown = exploration("two")._repr_html_()
    assert shown.startswith('<iframe title="two &lt;b&gt;states')
    assert '"' not in shown.partition('srcdoc="')[2].partition('" width')[0]
