"""Formulas as text, read back, and verdicts over symbols against numbers."""

import re

import pytest
import sympy as sp

from obliquetd import ETD, GTD2, SETD, TD, Policy, mean_dynamics
from obliquetd.claims.places import place_in_paper
from obliquetd.domains import two_state
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.report.over_symbols import over_symbols
from obliquetd.report.plain import formula_text

g, p = sp.symbols("gamma p")
FORMULAS = [
    -(p + 1) / (p**2 + 4 * p - 7), (2 + g) / (2 * (1 - g)), g**2 * p / 3, -3 * g / 2, sp.sqrt(p) * (1 - g),
    (1 - g) ** 2 / (p * (g - 2) ** 3), 1 / p, -1 / (2 * g**2 - 1), g - p - 1, 2 * sp.sqrt((g + 3) / 5) / 7, g ** 10,
    sp.acos(g / 2) + 1, -(g - p) * (p + g), 5 * (g - 1) / (p - 1), sp.Rational(2, 3) * (g + 1), g / (3 * p) - p / (g + 1),
]  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_text_means_what_the_formula_means(formula):
    text = formula_text(formula)
    assert "*" not in text
    python = text.replace("^", "**").replace("arccos", "acos")
    python = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", python)
    assert sp.simplify(sp.sympify(python, locals={"gamma": g}) - formula) == 0


def test_verdicts_over_a_plane_are_those_of_numbers():
    rows = {s: {"left": "1 - p", "right": "p"} for s in ("left", "right")}
    problem = two_state("gamma").replace(behavior=Policy(rows))
    told = {
        x.label: over_symbols(problem, x, dynamics_cases(problem, x))
        for x in (TD(), SETD(), ETD(), GTD2())
    }
    assert {k: v.verdict for k, v in told.items()} == {
        "TD": "stable in part", "SETD": "stable in part", "ETD": "stable", "GTD2": "stable in part",
    }  # fmt: skip
    assert "nothing is claimed where" in told["SETD"].where
    assert "2 gamma p + 2 gamma - 3 p - 1 = 0" in told["GTD2"].where
    assert told["ETD"].where == "for gamma in [0, 1), p in (0, 1)"
    for a, b in ((sp.Rational(1, 9), sp.Rational(8, 9)), (sp.Rational(9, 10), sp.Rational(1, 10))):
        there = problem.subs({"gamma": a, "p": b})
        assert all(mean_dynamics(there, x).is_stable() for x in (SETD(), ETD(), GTD2()))
    assert not mean_dynamics(there, TD()).is_stable()
    curve = problem.subs({"gamma": "4/5", "p": "3/7"})
    assert not mean_dynamics(curve, GTD2()).is_stable()  # A is singular on the curve of TD's sign


def test_claims_are_in_the_order_of_the_paper():
    places = ["Section III-C, before Eq. (8)", "Section III-C, after Eq. (8) ('x')", "Section III-C, Eq. (9)",
              "Lemma 3", "Lemma 4, Eq. (10)", "Section III-C, Eqs. (11) to (14)", "Section III-C, before Eq. (15)",
              "Section III-C, Algorithm 1 with Phi = I"]  # fmt: skip
    found = [place_in_paper(place) for place in places]
    assert found == sorted(found)
    assert len(set(found)) == len(found)
