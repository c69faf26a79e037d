"""Formulas of a report: the usual form, folded where long, and nothing raw left on a page."""

import re

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.domains import two_state
from obliquetd.report.formulas import equation, prose, shown, typeset
from obliquetd.report.mathml import lines_of, mathml, spoken
from obliquetd.report.model import report_on
from obliquetd.report.policies import summary
from obliquetd.report.sketch import ranges_of, sketch
from obliquetd.report.usual import usual_latex
from tests.report.conftest import two_symbols

gamma, p = sp.symbols("gamma p")


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        (-(p + 1) / (p**2 + 4 * p - 7), r"\frac{p + 1}{7 - 4 p - p^{2}}"),
        (-(gamma + 2) / (2 * (gamma - 1)), r"\frac{\gamma + 2}{2 \left(1 - \gamma\right)}"),
        (-(gamma - 1) / (gamma - 2), r"- \frac{1 - \gamma}{2 - \gamma}"),
        (-gamma * (gamma - 1) ** 2, r"- \gamma \left(1 - \gamma\right)^{2}"),
        (-1 / (gamma - 1) ** 3, r"\frac{1}{\left(1 - \gamma\right)^{3}}"),
        (sp.Rational(-3, 4) * gamma, r"- \frac{3 \gamma}{4}"),
        (gamma**2 - gamma, r"\gamma^{2} - \gamma"),
    ],
)
def test_the_usual_form(value, latex):
    assert usual_latex(sp.factor(value)) == latex or usual_latex(value) == latex


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(-2, 2)),
        min_size=1,
        max_size=4,
    ),
    st.integers(-6, 6).filter(bool),
)
def test_the_usual_form_changes_no_value(factors, scale):
    """Read back by sympy's own parser of LaTeX, it is the same function."""
    value = sp.Rational(scale, 4) * sp.prod((a + b * p + p**2) ** power for a, b, power in factors)
    value = sp.factor(value)
    text = usual_latex(value)
    read = re.sub(r"\\left|\\right", "", text)
    inner = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
    while "frac" in read:
        read = re.sub(r"\\frac" + inner + inner, r"((\1)/(\2))", read)
    read = re.sub(r"\^\{(-?\d+)\}", r"**\1", read)
    read = re.sub(r"(?<=[\dp)]) *(?=[p(])", "*", read)
    assert sp.cancel(sp.sympify(read, locals={"p": p}) - value) == 0


def visible_text(page):
    """What a reader sees of a page: no tags, no styles, no data."""
    body = re.sub(
        r"<style>.*?</style>|<title>.*?</title>|<code>.*?</code>", "", page, flags=re.DOTALL
    )
    return re.sub(r"<[^>]*>", " ", body)


@pytest.mark.slow  # the pages of all models
def test_nothing_raw_is_left(pages):
    for name in ("two", "symbols", "two symbols", "baird"):
        page = pages[name]
        text = visible_text(page)
        for raw in ("\\", "**", "*gamma", "sqrt(", "acos("):
            assert raw not in text, (name, raw, text[max(0, text.index(raw) - 80) :][:160])
        assert not re.findall(r'(?:alttext|aria-label)="[^"]*\\', page), name


@pytest.mark.slow  # the pages of all models
def test_long_formulas_are_folded_beside_their_plots(pages):
    page = pages["two symbols"]
    cells = re.findall(r"<td>(.*?)</td>", page, flags=re.DOTALL)
    for cell in cells:
        open_part = re.sub(r"<details>.*?</details>", "", cell, flags=re.DOTALL)
        assert len(visible_text(re.sub(r"<svg.*?</svg>", "", open_part, flags=re.DOTALL))) < 200
    assert page.count('class="sketch"') > 20
    assert "over gamma from 0 to 1 and p from 0 to 1" in page
    assert "<h2" in page
    assert len(page) < 2_000_000


def test_a_folded_formula_is_itself_on_demand():
    long = sp.expand((1 + gamma) ** 12 / 7)
    text = shown(long, {gamma: (0.0, 1.0)})
    assert "a formula of" in text
    assert mathml(usual_latex(long), block=True) in text
    assert text.index("<svg") < text.index("<details>")
    assert "<details" not in shown(1 + gamma)


def test_long_numbers_are_decimals_and_exact_on_demand():
    third = sp.Rational(10**30, 3**40 + 1)
    assert "<details" in shown(third)
    assert mathml(usual_latex(third)) in shown(third)
    assert "≈\N{NO-BREAK SPACE}8.22526·10<sup>10</sup>" in shown(third)
    assert "<details" not in shown(sp.Rational(9, 10))
    assert shown(sp.sqrt(82) / 2).endswith("≈\N{NO-BREAK SPACE}4.52769")
    huge = sp.Rational(3) ** 3000 / 7
    assert "digits" in shown(huge)
    assert len(shown(huge)) < 200


def test_vectors_are_short():
    assert equation("b", sp.zeros(9, 1)) == mathml("b = 0", block=True)
    assert equation(r"\Phi", sp.eye(40)) == mathml(r"\Phi = I_{40}", block=True)
    assert "<details" in equation("v", sp.Matrix(range(50)))
    assert 'class="line"' in equation("v", sp.Matrix(range(9)))
    named = equation("X^*", sp.Matrix([[1, sp.expand((gamma - 2) ** 15)], [gamma, 2]]))
    assert "1 long entry" in named
    assert "x_12" in spoken(r"x_{12}")


def test_policies_in_a_sentence(monkeypatch):
    monkeypatch.setattr("obliquetd.report.model.MAKERS", {})  # no pictures
    problem = two_state()
    assert str(summary(problem.target, problem.mdp)) == "right in every state"
    assert summary(problem.behavior, problem.mdp).startswith("uniform: each action")
    mixed = otd.Policy({"left": {"left": "1/3", "right": "2/3"}, "right": {"left": 1}})
    assert summary(mixed, problem.mdp) is None
    assert isinstance(report_on(problem.replace(target=mixed)).policies["target"], tuple)


@pytest.mark.slow  # the pages of all models
def test_no_heading_is_empty(pages):
    for name, page in pages.items():
        for section in re.findall(r"<section.*?</section>", page, flags=re.DOTALL):
            assert len(visible_text(section).split()) > 6, name
        for link in re.findall(r'<a href="#([\w-]+)"', page):
            assert f'id="{link}"' in page


def test_a_plot_over_a_range_of_a_problem():
    problem = two_symbols()
    assert ranges_of(problem) == {gamma: (0.0, 1.0), p: (0.0, 1.0)}
    curve = sketch(1 / (1 - gamma), ranges_of(problem))
    assert 'class="curve"' in curve
    assert "nan" not in curve
    both = sketch(gamma - p / 2, {})
    assert 'class="above"' in both
    assert 'class="below"' in both
    assert 'class="parted"' in both
    assert "no real value" in sketch(sp.sqrt(-1 - gamma), {})
    three = sketch(gamma + p + sp.Symbol("r"), {})
    assert "r = 0.5" in three


def test_prose_has_no_raw_powers():
    told = prose("1 - 4*p**2 > 0")
    assert told.startswith("<math")
    assert "<msup><mi>p</mi><mrow><mn>2</mn></mrow></msup>" in told
    assert "*" not in told
    assert "<b>" not in prose("x**(2) <b>")


@pytest.mark.slow  # the pages of all models
def test_pictures_follow_the_page(pages):
    for page in (pages["two"], pages["baird"]):
        for svg in re.findall(r"<figure.*?</figure>", page, flags=re.DOTALL):
            assert 'fill="currentColor"' in svg
            assert "#000000" not in svg
            assert "#ffffff" not in svg


def test_a_root_of_a_polynomial_is_told_by_its_equation():
    x = sp.Symbol("x")
    root = sp.Poly(1024 * x**5 - 3 * x**3 + 17 * x - 4, x).real_roots()[0]
    text = usual_latex(2 * root + 1)
    assert (
        text
        == r"2 x + 1\ \text{where}\ x \approx 0.211482\ \text{and}\ 1024 x^{5} - 3 x^{3} + 17 x - 4 = 0"
    )
    assert "CRootOf" not in shown(root)
    assert "RootOf" not in typeset(sp.Matrix([root, 1]))


def test_every_kind_of_matrix_is_drawn_by_both_style_sheets():
    """Browsers draw no brackets, braces and lines of their own; a class without a rule shows none."""
    from pathlib import Path

    import obliquetd
    from obliquetd.report import mathml as module

    root = Path(obliquetd.__file__).parents[1]
    made = set(re.findall(r'mtable class="(\w+)', Path(module.__file__).read_text()))
    assert made == {"brackets", "cases", "named"}
    for place in (
        "obliquetd/report/templates/base.html.j2",
        "tutorials/site/_static/site.css",
    ):
        text = (root / place).read_text()
        assert all(f"mtable.{kind}" in text for kind in made), place


def test_lines_of_aligned_blocks():
    """As problems and fixed points show themselves in notebooks: no sign of alignment is left, and no matrix is cut."""
    for shown_by in (two_state("gamma", reward=1), two_state().fixed_point("setd")):
        text = "\n".join(x for x in shown_by.to_latex().split("\n") if not x.startswith("%"))
        lines = lines_of(text)
        assert len(lines) == len(shown_by.equations())
        for line, (letter, _) in zip(lines, shown_by.equations(), strict=True):
            assert line.startswith(f"{letter} = ")
            assert line.count(r"\begin{") == line.count(r"\end{")
            assert "<mi>&</mi>" not in mathml(line)
    assert lines_of(r"\begin{aligned} a &= \text{x \& y} \end{aligned}") == [r"a = \text{x \& y}"]
