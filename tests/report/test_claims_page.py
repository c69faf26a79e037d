"""The page on claims: the paper annotated, typeset, with what is false first."""

import re
from unittest import mock

import pytest
import sympy as sp

from obliquetd.claims import Counterexample, Outcome, Registry, Verdict, claim, verify
from obliquetd.claims.claim import told
from obliquetd.claims.places import SECTIONS, section_of
from obliquetd.domains import two_state
from obliquetd.report import claims_page, prose, write_page
from obliquetd.report.claims import FALSE, MARKS, paper_sections
from obliquetd.report.prose import latex_of_text, typeset
from tests.report.test_page import Checker


def latex(text):
    """The LaTeX of each formula of a sentence, without spaces."""
    with mock.patch.object(prose, "mathml", wraps=prose.mathml) as seen:
        typeset(text)
    return ["".join(call.args[0].split()) for call in seen.call_args_list]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("with X'L Phi there", [r"X^{\top} L \Phi"]),
        ("L^-1' of it", [r"L^{-\top}"]),
        ("along (I - gamma P)^-1 xi", [r"(I - \gamma P )^{-1} \xi"]),
        ("X*'Phi = 0, and more", [r"X^{*\top} \Phi = 0"]),
        ("at s' it is", [r"s^{\prime}"]),
        ("the norm ||v||_F^2 <= 9/10", [r"\Vert v \Vert _{F}^{2}\le \frac{9}{10}"]),
        ("E[rho | s] = 1/2", [r"E [\rho \mid s ] = \frac{1}{2}"]),
        ("f = [1/2; 19/2].", [r"f = \begin{bmatrix} \frac{1}{2} \\ \frac{19}{2} \end{bmatrix}"]),
        ("the number [-1/5]", [r"-\frac{1}{5}"]),
        ("stable for l in [0, 1/2] or so", ["l", r"[0,\ \frac{1}{2}]"]),
        ("distance = sqrt(82)/2", [r"\frac{\sqrt{82}}{2}"]),
        ("below Interval.Lopen(5/6, 1)", [r"(\frac{5}{6},\ 1]"]),
        ("X_TD and h_{t+1}", [r"X_{\text{TD}}", "h_{t +1}"]),
        ("Phi'XiLPhi non-singular", [r"\Phi^{\top}\Xi L \Phi"]),
        ("w*Cw > 0", ["w^{*} C w > 0"]),
        ("A of TD is stable", ["A"]),
        ("A step of a learner costs 12 units (2x1, 3x2) in Table I, one-step", []),
        ("SETD's rule and Lagrange's identity, 400-state", []),
    ],
)
def test_a_sentence_is_typeset(text, formulas):
    assert latex(text) == ["".join(x.split()) for x in formulas]


def test_what_is_no_formula_is_the_text_that_it_was():
    assert str(typeset("No <script> & no \x00\x07.")) == "No &lt;script&gt; &amp; no \\x00\\x07."
    assert "2\u00d71" in typeset("(2x1)")
    assert typeset("PolicyEvaluation(2 states, 1 features, off-policy, discount 9/10, exact)") == (
        "a problem (2 states, 1 feature, off-policy, discount 9/10)"
    )
    assert '<a href="#omega-positive">' in typeset("see omega-positive", {"omega-positive"})
    assert "<a" not in typeset("see omega-positive")
    assert latex_of_text("") == ""


@pytest.mark.parametrize(
    "text",
    [
        "(((",
        "]] |",
        "' '' ^ _",
        "1/0",
        "1/000000000000000",
        "[1, 2; 3]",
        "sqrt(",
        "x_{",
        "\\frac{",
        "$x$",
        "a" * 500,
    ],
)
def test_any_text_goes_through(text):
    checker = Checker()
    checker.feed(str(typeset(text)))
    assert not checker.stack


def test_long_numbers_are_decimals_with_the_exact_one_at_hand():
    shown = typeset("A = [314230306835756967173/143620797422316921200, 1/2]")
    assert "2.18792" in shown
    assert 'title="exactly [314230306835756967173/143620797422316921200, 1/2]"' in shown


@pytest.fixture(scope="module")
def page(judged):
    return claims_page(judged)


def test_one_square_a_claim_along_the_paper(page, judged):
    squares = re.findall(
        r'<li><a class="(\w+)" href="#([^"]+)" title="[^"]+" aria-label="[^"]+"><span>(.)</span>',
        page,
    )
    assert sorted(name for _, name, _ in squares) == sorted(r.id for r in judged)
    verdicts = {r.id: r.verdict for r in judged}
    assert all(
        verdicts[name] == kind and mark == MARKS[Verdict(kind)] for kind, name, mark in squares
    )
    assert page.index("squares") < page.index("<article")
    numbers = [s.number for s in paper_sections(judged)]
    assert numbers == [n for n in SECTIONS if n in numbers]
    assert "" not in numbers  # every claim of ours and of the paper has a section
    assert len(set(MARKS.values())) >= 4


def test_what_is_false_comes_first_and_is_marked(page, judged):
    start = page.index('id="wrong"')
    listed = re.findall(r'href="#([^"]+)"', page[start : page.index("<main>")])
    false = {r.id: r for r in judged if r.verdict in FALSE}
    assert set(listed) == set(false)
    of_paper = [false[name].origin == "paper" for name in listed]
    assert of_paper == sorted(of_paper, reverse=True)
    assert page.count('<div class="pair">') == len(false)


def test_nothing_is_left_in_plain_mathematics(page):
    """No LaTeX, no Greek spelled out, no power or norm in text: all of that is MathML."""
    seen = re.sub(r'(alttext|title|aria-label|href)="[^"]*"', "", page)
    assert "\\" not in seen[seen.index("<body>") :].replace("\\x", "")
    body = re.sub(r"<math.*?</math>|<code>.*?</code>|<style>.*?</style>", "", seen, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", "", body)
    assert not re.findall(
        r"(?<![\w-])(?:Phi|Xi|Omega|theta|omega|gamma|lambda|xi|phi|sqrt)(?![\w-])", text
    )
    assert not re.findall(r"\|\||\^|\*\*|PolicyEvaluation\(|Interval\.", text)


def test_nothing_is_said_twice(page, judged):
    """What was observed on a counterexample stands once, as formulas; the hypotheses stand once."""
    for result in judged:
        example = result.outcome.counterexample
        if example is not None and len(phrase := told(example.observed)) > 40:
            assert page.count(phrase) == 0
    assert "The counterexample meets every hypothesis: C non-singular" not in page
    sections = [c for s in paper_sections(judged) for c in s.claims]
    for one in sections:
        assert "assuming" not in one.formula


def test_what_the_evidence_tells_is_not_listed_again():
    """By its name, or as a decimal of it; a value that is only supposed there, or short, or another, is listed."""
    mine = Registry()
    seen = {"long": sp.Rational(205292, 10000), "near": sp.Rational(20530, 1000), "x": sp.Integer(0),
            "lambda": "2/5", "trace": sp.Integer(5), "rows": 4}  # fmt: skip

    @claim("mine", where="a note", title="it is", statement="x < y", registry=mine)
    def check():
        example = Counterexample.find([two_state()], lambda _: seen)
        said = "at lambda = 2/5: TD 20.529 over t, where x = 0 nothing moves, as trace 50 says of 4 rows"
        return Outcome(Verdict.REFUTED, said, counterexample=example)

    ((one,),) = (section.claims for section in paper_sections(verify(registry=mine)))
    assert [str(s.name) for s in one.observed if "math" not in s.name] == ["near", "trace", "rows"]
    assert len(one.observed) == 4  # and x


def test_claims_of_ones_own_have_a_page():
    mine = Registry()

    @claim("mine", where="a note", title="x < y & z", statement="x < y", registry=mine)
    def check():
        example = Counterexample.find([two_state()], lambda p: {"length": p.v_pi[0]})
        return Outcome(Verdict.REFUTED, "seen: length = 0", counterexample=example)

    page = claims_page(verify(registry=mine))
    checker = Checker()
    checker.feed(page)
    assert not checker.stack
    assert "1 claim of ours" in page
    assert "Contents" not in page
    assert 'id="mine"' in page


def test_places():
    assert section_of("Section V, last paragraph") == "V"
    assert section_of("Sections I and IV (who is stable)") == "I"
    assert section_of("Lemma 4, Eq. (10)") == "III-C"
    assert section_of("Section IX") == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_filter_and_the_print(browser, page, tmp_path):
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    opened.goto(write_page(page, tmp_path / "claims.html").as_uri())
    count = lambda: opened.locator("article.claim:visible").count()  # noqa: E731
    whole = count()
    proved = opened.locator("article.claim.proved").count()
    opened.uncheck("#show-proved")
    assert count() == whole - proved > 0
    opened.check("#show-proved")
    opened.uncheck("#show-ours")
    assert count() == opened.locator("article.claim.paper").count()
    columns = opened.locator(".pair").first.evaluate(
        "e => getComputedStyle(e).gridTemplateColumns.split(' ').length"
    )
    assert columns == 1
    opened.set_viewport_size({"width": 1280, "height": 800})
    columns = opened.locator(".pair").first.evaluate(
        "e => getComputedStyle(e).gridTemplateColumns.split(' ').length"
    )
    assert columns == 2
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 700, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 700
    assert not opened.locator("label.show").first.is_visible()
    opened.close()
