"""Reports: nothing loaded, everything labelled, nothing injected; and seen in a real browser."""

import base64
import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation, check_certificate, save_model
from obliquetd.display import html_text
from obliquetd.domains import two_state
from obliquetd.errors import ObliqueTDError
from obliquetd.formats import model_from_dict
from obliquetd.learners import ETD, SETD, TD
from obliquetd.report import model_page, verdicts, write_page
from obliquetd.report.analysis import analyze
from obliquetd.report.drawing import MAKERS
from obliquetd.report.formulas import shown
from obliquetd.report.mathml import mathml
from obliquetd.report.model import report_on
from obliquetd.report.page import page_of
from tests.browser import LIGHTNESS
from tests.cli.test_names import is_tame
from tests.report.conftest import ESCAPES, MODELS

SLOW = dict.fromkeys(("two symbols", "boyan", "floats"), pytest.mark.slow)
"""Models whose report takes some seconds and has no part that those of the others lack."""


HELD = ("data:application/json;base64,", "data:text/plain;charset=utf-8;base64,")
"""Links that hold what they lead to: models, certificates and proofs."""


class Checker(HTMLParser):
    """Collects what an accessible, self-contained page must and must not have."""

    VOID = ("meta", "link", "br", "hr", "img", "input")

    def __init__(self):
        super().__init__()
        self.stack, self.headings, self.ids, self.links = [], [], [], []
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.add(tag)
        if tag not in self.VOID:
            self.stack.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))
        if "id" in given:
            self.ids.append(given["id"])
        for name in ("href", "src", "xlink:href"):
            if name in given:
                self.links.append(given[name])
        if tag == "svg":
            assert given["role"] == "img"
            assert len(given["aria-label"]) > 20
        if tag == "math":
            assert given["alttext"]
        if tag == "th":
            assert given["scope"] == "col"

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag


@pytest.mark.parametrize(
    "name", [*(pytest.param(x, marks=SLOW.get(x, ())) for x in MODELS), "claims"]
)
def test_a_page_is_whole_accessible_and_alone(pages, name):
    checker = Checker()
    checker.feed(pages[name])
    assert not checker.stack
    assert checker.headings[0] == 1
    assert checker.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(checker.headings, checker.headings[1:], strict=False))
    assert len(checker.ids) == len(set(checker.ids))
    assert "script" not in checker.tags
    for link in checker.links:
        assert link.startswith(("#", *HELD))
        if link.startswith("#"):
            assert link[1:] in checker.ids
    assert not re.search(r"(src|href)=\"(https?:)?//", pages[name])
    assert "@import" not in pages[name]


@pytest.mark.filterwarnings("ignore:the font of the pictures")
def test_labels_are_text_not_markup(pages):
    page = pages["hostile"]
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert html_text(ESCAPES) in page
    assert is_tame(page)
    assert sum(word in page for word in ("A graph of 2 states", "Eigenvalues of A")) == 2


def downloads(page):
    found = re.findall(r'download="([^"]+)" href="data:application/json;base64,([^"]+)"', page)
    return {name: json.loads(base64.b64decode(data)) for name, data in found}


def test_certificates_and_the_model_can_be_downloaded(pages):
    files = downloads(pages["baird"])
    assert model_from_dict(files["model.json"]).v_pi == MODELS["baird"].v_pi
    certificates = {k: v for k, v in files.items() if k.endswith("-certificate.json")}
    assert {"TD-certificate.json", "SETD-certificate.json", "ETD-certificate.json"} <= set(
        certificates
    )
    for certificate in certificates.values():
        assert check_certificate(certificate)
    assert certificates["TD-certificate.json"]["claim"] == "unstable"


def test_counterexamples_can_be_downloaded(pages, judged):
    files = downloads(pages["claims"])
    refuted = [r.id for r in judged if r.verdict == "refuted" and r.outcome.counterexample]
    assert {f"{name}.json" for name in refuted} <= set(files)
    for data in files.values():
        model_from_dict(data)


def test_a_claim_shows_whose_it_is_and_what_it_assumes(pages, judged):
    page = pages["claims"]
    assert page.count("the paper says it") == sum(r.origin == "paper" for r in judged)
    assert page.count("we ask it") == sum(r.origin == "ours" for r in judged)
    assert page.count("<li><strong>") == sum(len(r.assumptions) for r in judged)


@pytest.mark.slow
def test_what_is_left_out_is_said(pages):
    gaps = " ".join(pages.report("symbols").gaps)
    assert "learning curves need numbers" in gaps
    floats = pages.report("floats")
    gaps = " ".join(floats.gaps)
    assert "QuadMesh" in floats.pictures["graph"].svg  # the matrix of 800 moves
    assert "regions: not computed" in gaps
    loop = MDP.from_transitions([("s", "a", "s", 1, 1), ("t", "a", "t", 1, 0)])
    page = model_page(PolicyEvaluation(loop, target=Policy.uniform(loop), discount="1/2"))
    assert "recurrent classes" in page


def test_where_a_model_comes_from_stands_under_the_title(pages):
    found = dataclasses.replace(pages.report("two"), remarks=["out of a <log>"])
    assert "out of a &lt;log&gt;" in page_of(found)


def test_numbers_of_the_page_are_those_of_the_problem(pages):
    values = r"v_\pi = \begin{array}{r|c} \text{left} & 10 \\ \text{right} & 10 \end{array}"
    assert mathml(values, block=True) in pages["two"]
    assert "TD: [0, 5/6); SETD: [0, 1); ETD: [0, 1)" in pages["two"]
    assert pages.report("two").comparison[1][3][:2] == ["setd", shown(sp.Rational(1, 4))]


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ObliqueTDError, match="cannot write"):
        write_page("x", tmp_path / "file" / "r.html")
    with pytest.raises(ObliqueTDError, match="is a folder"):
        write_page("x", tmp_path)


# A real browser


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1200, "light")])
def test_in_a_browser(browser, pages, tmp_path, width, scheme):
    """It renders, formulas are seen, nothing is said on the console, and it fits a phone."""
    for name, text in pages.items():
        path = Path(write_page(text, tmp_path / f"{name}.html"))
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        said, asked = [], []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(path.as_uri())
        assert said == []
        assert [url for url in asked if not url.startswith("file:")] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = page.locator("math").evaluate_all(
            "all => all.map(m => m.getBoundingClientRect()).map(b => [b.width, b.height])"
        )
        assert boxes
        assert all(w > 3 and h > 5 for w, h in boxes)
        pictures = page.locator("figure svg").evaluate_all(
            "all => all.map(m => m.getBoundingClientRect()).map(b => [b.width, b.height])"
        )
        assert all(w > 200 and h > 40 for w, h in pictures)
        ink, paper = page.locator("body").evaluate(LIGHTNESS)
        assert (ink > paper + 120) if scheme == "dark" else (paper > ink + 120)
        page.close()


@pytest.mark.slow
def test_the_command_makes_the_same_page_every_time(pages, tmp_path):
    from tests.test_cli import run

    save_model(MODELS["two"].replace(discount="1/2"), tmp_path / "m.json")
    done = run("report", tmp_path / "m.json", "-o", tmp_path / "r.html", "--discount", "9/10")
    assert "r.html" in done.stdout.replace("\n", "")
    page = (tmp_path / "r.html").read_text()
    same = page.replace(">m.json", ">two &lt;b&gt;") == pages["two"]
    assert same  # and no diff of 10,000 lines
    assert run("report", tmp_path / "none.json", expect=2).stderr.startswith("error:")
    assert "folder" in run("report", tmp_path / "m.json", "-o", tmp_path, expect=2).stderr
    run("verify", "lemma-1", "--html", tmp_path / "c.html", "--brief")
    assert "Lemma 1" in (tmp_path / "c.html").read_text()


def test_a_model_without_rewards_begins_away_from_its_solution(pages):
    """From weights of 0 nothing would move, and every learner would end at 0."""
    about = pages.report("baird").pictures["curves"].about
    assert "the runs begin with the weights (1, 1, 1, 1, 1, 1, 10, 1)" in about
    assert "step size that is stable in mean square: TD none, TD is unstable" in about
    ends = dict(
        re.findall(
            r"(TD|SETD|ETD) ([0-9.e+-]+|inf)[,.](?= |$)",
            about.partition("It ends at")[2].partition("Every")[0],
        )
    )
    assert set(ends) == {"TD", "SETD", "ETD"}
    assert all(float(value) > 0 for value in ends.values())
    paid = pages.report("two").pictures["curves"].about
    assert "the runs begin" not in paid
    silent = curves(two_state()).about
    assert "the runs begin with weights of 1" in silent
    assert "root mean square of 20 runs" in paid


def curves(problem):
    """The picture of the learning curves alone, or why there is none."""
    return MAKERS["curves"](analyze(problem), ())


def test_rewards_that_are_never_seen_are_none():
    """A reward of an action that the behaviour never takes moves nothing; features of 0 have no curve."""
    rows = [("s", "go", "s", 1, 0), ("s", "never", "s", 1, 5)]
    mdp = MDP.from_transitions(rows)
    given = PolicyEvaluation(mdp, target=Policy({"s": {"go": 1}}), discount="1/2", features=[[1]])
    assert "the runs begin with weights of 1" in curves(given).about
    assert curves(given.replace(features=[[0]])).startswith("every value and every error is 0")


def test_the_verdicts_come_first_and_in_words(pages):
    page = pages["two"]
    top = page[: page.index("<nav")]
    assert re.findall(r'<li>([\w-]+) <span class="verdict \w+">(\w+)</span>', top)[:3] == [
        ("TD", "unstable"), ("SETD", "stable"), ("ETD", "stable"),
    ]  # fmt: skip
    assert "TD: the expected update is unstable" in top
    assert "mean square: none, TD is unstable" in page
    top = pages["symbols"].partition("<nav")[0]
    told = dict(re.findall(r'<li>([\w-]+) <span class="verdict \w+">([^<]+)</span>', top))
    assert (told["TD"], told["ETD"]) == ("stable in part", "stable")
    assert told["GTD2"] == "stable in part"  # where TD's A is singular, so is GTD2's


def lake(size, arithmetic="exact"):
    """A walk at random on a square, one feature a state, whose last corner pays and leads back."""
    cells = [(i, j) for i in range(size) for j in range(size)]
    rows = []
    for i, j in cells[:-1]:
        for action, (a, b) in enumerate([(0, 1), (1, 0), (0, -1), (-1, 0)]):
            to = (min(max(i + a, 0), size - 1), min(max(j + b, 0), size - 1))
            rows.append(((i, j), action, to, 1, int(to == cells[-1])))
    rows += [(cells[-1], action, cells[0], 1, 0) for action in range(4)]
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10", arithmetic=arithmetic)


def test_a_grid_with_a_feature_a_state_has_verdicts():
    """Exact ones, which agree with those in floats; the page opens with them."""
    learners = {x.label: x for x in (TD(), SETD(), ETD())}
    exact, floats = (analyze(lake(7, kind), (), learners).learners for kind in ("exact", "float"))
    assert [row.verdict for row in exact] == [row.verdict for row in floats] == ["stable"] * 3
    assert all(row.stability.symmetric_part == "positive definite" for row in exact)
    assert analyze(lake(7).replace(features=dense(49, 40)), (), learners).learners == ()


def dense(n, d):
    """Features without a zero, whose exact sums take long."""
    return [[1 + (i * j + i) % 7 for j in range(d)] for i in range(n)]


def test_a_verdict_that_is_left_out_says_why(monkeypatch):
    """In the place of the verdict: of one learner with many weights, or of all on a large model."""
    monkeypatch.setattr("obliquetd.report.model.MAKERS", {})
    monkeypatch.setitem(verdicts.LARGEST_VERDICT, "exact", 4)
    report = report_on(lake(2))
    found = {x.name: x for x in report.learners}
    assert (found["TD"].verdict, found["GTD2"].verdict) == ("stable", "left out")
    assert any("8 weights in exact arithmetic" in told for told in found["GTD2"].told)
    monkeypatch.setitem(verdicts.LARGEST_SWEEP, "exact", 1)
    report = report_on(lake(2))
    page = page_of(report)
    head = page[: page.index("<nav")]
    assert report.learners == []
    assert head.count('<span class="verdict undecided">left out</span>') == len(found)
    assert "takes long" in head


def test_a_heat_map_has_a_clear_ground():
    """White is nowhere in it but as the page's own colour, and its heat is see-through."""
    svg = MAKERS["graph"](SimpleNamespace(problem=lake(3)), ()).svg
    assert 'class="themed"' in svg
    assert not re.search(r"#(?:ffffff|fff|000000|111111)\b", svg)
    assert len(set(re.findall(r"fill: #2171b5; (?:fill-)?opacity: ([\d.]+)", svg))) > 3


def test_a_singular_learner_keeps_its_matrix(monkeypatch):
    """At 5/6 TD has no fixed point, and GTD2 and TDC have many: A and b are there all the same."""
    monkeypatch.setattr("obliquetd.report.model.MAKERS", {})  # no pictures
    sections = {s.name: s for s in report_on(two_state("5/6", reward=1)).learners}
    for name in ("TD", "GTD2", "TDC"):
        assert sections[name].equations[0].startswith("<math")
        assert ">A<" in sections[name].equations[0]
        assert "A is singular" in sections[name].problem
    assert not sections["SETD"].problem


def test_noise_bias_rate_and_crossover(pages):
    report = pages.report("two")
    heading, rows = report.noise
    words = ("learner", "noise", "bias", "averaged", "variance")
    assert all(word in name for word, name in zip(words, heading, strict=True))
    columns = ("long-run noise", "squared bias", "t variance, averaged", "variance / alpha")
    cells = {row[0]: dict(zip(columns, row[1:], strict=True)) for row in rows}
    assert cells["ETD"]["long-run noise"] == "infinite"
    assert cells["ETD"]["t variance, averaged"] == "infinite noise"
    assert cells["TD"]["long-run noise"] == "finite"
    assert cells["TD"]["t variance, averaged"] == "unstable"
    assert cells["LSTD"]["variance / alpha"] == "no step size"
    assert "3125" in cells["LSTD"]["t variance, averaged"]
    assert any("second moment of the memory F" in note for note in report.noise_notes)
    assert 'id="noise"' in pages["two"]


@pytest.mark.slow
def test_a_crossover_is_shown_and_noise_that_takes_long_is_left_out(pages):
    assert "is better than" in pages["boyan"]
    assert 'id="noise"' not in pages["floats"]  # 1200 transitions: said, not waited for
    assert "obliquetd analyze --noise" in pages["floats"]


PAPER = 688
"""Pixels between the margins of an A4 page."""
OUTSIDE = """width => [...document.querySelectorAll('td, th, svg, math, summary, tr')]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > width + 1)
  .map(e => e.tagName + ' ' + e.textContent.slice(0, 40))"""


@pytest.mark.slow
def test_on_paper_every_row_and_column_is_on_the_page(browser, pages, tmp_path):
    for name in ("two", "symbols", "baird", "boyan", "two symbols"):
        path = Path(write_page(pages[name], tmp_path / "p.html"))
        page = browser.new_page(viewport={"width": PAPER, "height": 900})
        page.goto(path.as_uri())
        page.emulate_media(media="print")
        assert page.evaluate(OUTSIDE, PAPER) == [], name
        scrolls = page.locator(".scroll").evaluate_all(
            "all => all.map(e => getComputedStyle(e).overflowX)"
        )
        assert set(scrolls) <= {"visible"}
        assert page.locator("h2").first.evaluate("e => getComputedStyle(e).breakAfter") == "avoid"
        leaves = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
        assert leaves < 20
        page.close()


@pytest.mark.slow
def test_two_symbols_fill_no_more_than_some_screens(browser, pages, tmp_path):
    path = Path(write_page(pages["two symbols"], tmp_path / "p.html"))
    for width in (390, 1280):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollHeight") < 12_000
        tall = page.locator("td").evaluate_all(
            "all => Math.max(...all.map(e => e.getBoundingClientRect().height))"
        )
        assert tall < 200
        small = page.locator("svg.sketch text").evaluate_all(
            "all => Math.min(...all.map(e => e.getBoundingClientRect().height).filter(h => h > 0))"
        )
        assert small >= 8
        hints = page.locator(".hint").evaluate_all(
            "all => all.filter(e => e.checkVisibility()).length"
        )
        assert bool(hints) == (width < 640)
        page.close()


LETTERS = """() => [...document.querySelectorAll('figure svg')].map(svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const sizes = [...svg.querySelectorAll('g[id*="text_"] g[transform*="scale"]')]
    .map(g => 100 * scale * parseFloat(g.getAttribute('transform').match(/scale\\(([\\d.]+)/)[1]));
  return Math.min(...sizes); })"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_letters_of_every_picture_can_be_read(browser, pages, tmp_path, width):
    """At least 8 pixels high, on a phone as well; and no more than twice those of the page."""
    for name in MODELS:
        path = Path(write_page(pages[name], tmp_path / "p.html"))
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        heights = page.evaluate(LETTERS)
        assert heights, name
        assert all(8 <= height <= 32 for height in heights), (name, heights)
        page.close()


@pytest.mark.parametrize(
    "problem",
    [otd.domains.kolter(p="p"), pytest.param(otd.domains.w_to_2w(), marks=pytest.mark.slow)],
    ids=["kolter", "w to 2w"],
)
@pytest.mark.parametrize("learner", [otd.ETD(lam="1/2"), otd.TrueOnlineSETD(lam="1/2")], ids=str)
def test_a_learner_that_cannot_be_judged_leaves_the_rest_of_the_page(problem, learner):
    plain, page = (model_page(problem, learners=own) for own in ((), [learner]))
    for heading in re.findall(r"<h2[^>]*>.*?</h2>", plain):
        assert heading in page
    assert learner.name in page
