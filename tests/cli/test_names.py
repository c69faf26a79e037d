"""Names are shown and never obeyed: one hostile name after another, through every surface."""

import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.display import html_text, latex_comment, latex_label, latex_of, mathtext, visible
from obliquetd.domains import two_state
from obliquetd.experiments import simulate
from obliquetd.learners import TD
from obliquetd.plotting import learning_curves, mdp_graph, projections
from obliquetd.plotting.style import drawn
from obliquetd.report import model_page
from obliquetd.report.formulas import typeset as value
from tests.test_cli import run, strict

OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
HOSTILE = (
    r"$\frac{$", "\ud800", "\x1b[31mred\x1b[0m", "_", "a\nb", "\x9b2J", "\u202egnp.exe", "$$", r"\$",
    "%\\input{x}", "[bold]b[/bold]", ":smile:", "--></svg><script>", "\x00", "\ufffe", " ", "x" * 300,
    "\u200b", "\ufeff\xad", "\u2800\u3000", "a\u200b",
)  # fmt: skip
names = st.text(
    st.one_of(st.sampled_from("$\\_{}^%&#~<>\"'[]:\x1b\x9b\n\r\t\x00\x7f\ud800\udfff\u202e\u2028\ufffe\u200b\xad\ufeff"),
              st.characters(max_codepoint=0x17F)),
    max_size=12,
)  # fmt: skip
hostile = pytest.mark.parametrize("name", HOSTILE, ids=ascii)


def problem_named(name):
    mdp = MDP.from_transitions(
        [(name, name, "t", 1, 1), (name, "_b", "t", 1, 1), ("t", "a", name, 1, 0)]
    )
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", features=[[1], [2]])


def is_tame(text):
    """Nothing in it is obeyed by a terminal, and every encoding of Unicode can write it."""
    text.encode()
    return not OBEYED.search(text)


@given(names)
@example(r"$\frac{$")
@example("\x1b]0;title\x07")
def test_each_target_has_its_own_safe_text(name):
    assert is_tame(visible(name))
    assert "\n" not in visible(name)
    assert is_tame(html_text(name))
    assert not set('<>"') & set(html_text(name))
    assert "\n" not in latex_comment(name)
    assert is_tame(latex_label(name))
    plain = re.sub(
        r"\\(textbackslash|textasciitilde|textasciicircum)\{\}|\\[{}&%$#_]", "", latex_label(name)
    )
    assert not set("\\{}&%$#_^~") & set(plain)


@pytest.mark.slow
@given(names)
@settings(max_examples=25)
@example("_")
@example("$a$ $b")
@pytest.mark.filterwarnings("ignore:the font of the pictures")
def test_a_picture_writes_a_name_word_for_word(name):
    ax = Figure().subplots()
    ax.plot([1], [1], label=mathtext(name) or "none")
    ax.set_xlabel(rf"$\xi$ in {mathtext(name)}")
    assert ax.get_legend_handles_labels()[1] == [mathtext(name) or "none"]
    ax.legend()
    assert ElementTree.fromstring(drawn(ax, "svg")) is not None


class Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, _):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


@given(names)
def test_a_notebook_shows_a_name_and_no_more(name):
    problem = problem_named("x" + name)
    for text in (problem.mdp._repr_html_(), problem.target._repr_html_()):
        assert is_tame(text)
        page = Text()
        page.feed(text)
        assert page.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
        assert visible("x" + name) in page.text
    assert is_tame(problem.to_latex().replace("\n", ""))


@pytest.mark.slow
@given(names)
@settings(max_examples=8)
@example("\x1b]0;title\x07\n\u202e")
def test_the_terminal_never_gets_a_control_character(tmp_path_factory, name):
    through_the_terminal(tmp_path_factory, name)


@pytest.mark.slow
@given(names)
@settings(max_examples=60)
def test_the_terminal_never_gets_a_control_character_of_many(tmp_path_factory, name):
    through_the_terminal(tmp_path_factory, name)


def through_the_terminal(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("named")
    save_model(problem_named("x" + name), folder / "m.json")
    done = run("analyze", folder / "m.json", "--learner", "td")
    assert is_tame(done.stdout)
    found = run("analyze", folder / "m.json", "--learner", "td", "--json")
    assert is_tame(found.stdout)
    assert strict(found.stdout)["states"][0] == "x" + name
    for bad in (
        run("analyze", folder / "m.json", "--learner", name + "?", expect=2),
        run("analyze", folder / "m.json", "--set", f"{name}\x1b", expect=2),
        run("analyze", folder / "m.json", "--discount", f"\x1b{name}", expect=2),
    ):
        assert is_tame(bad.stderr)
        assert bad.stderr.count("\n") == 1


@pytest.mark.slow
@hostile
def test_errors_about_files_and_labels(name, tmp_path):
    data = {"transitions": [[name, "a", "t", "1/3", 0], ["t", "a", name, 1, 0]]}
    (tmp_path / "m.json").write_text(json.dumps(data))
    done = run("analyze", tmp_path / "m.json", expect=2)
    assert is_tame(done.stderr)
    assert "sum to 1/3" in done.stderr
    missing = run("analyze", tmp_path / f"{name.replace(chr(0), '')}.json"[:200], expect=2)
    assert is_tame(missing.stderr)
    assert missing.stderr.count("\n") == 1
    title = run("table1", "--discount", name, expect=2)
    assert is_tame(title.stderr)


@hostile
def test_every_format_gives_a_name_back(name, tmp_path):
    problem = problem_named(name)
    for ending in (".json", ".npz", ".graphml"):
        save_model(problem, tmp_path / f"m{ending}")
        assert load_model(tmp_path / f"m{ending}").mdp == problem.mdp


@pytest.mark.slow
@hostile
@pytest.mark.filterwarnings("ignore:the font of the pictures")
def test_pictures_of_a_model(name):
    problem = problem_named(name)
    for ax in (mdp_graph(problem), projections(problem)):
        ElementTree.fromstring(drawn(ax, "svg"))
    found = simulate(problem, {name: TD(0.1)}, 20, 2)
    ax = learning_curves(found, exact={name: found[name].mean()})
    assert len(ax.get_legend_handles_labels()[1]) == 2
    ax.figure.savefig(io.BytesIO())


@pytest.mark.slow
@pytest.mark.parametrize("name", [r"$\frac{$", "\x1b\ud800<b>"], ids=ascii)
@pytest.mark.filterwarnings("ignore:the font of the pictures")
def test_a_report(name):
    page = model_page(problem_named(name), name)
    assert is_tame(page)
    assert html_text(name) in page
    assert "<b>" not in page
    assert sum(word in page for word in ("A graph of 2 states", "Eigenvalues of A")) == 2


@hostile
def test_names_of_symbols(name):
    if not name.strip():
        return
    symbol = sp.Symbol(name)
    problem = two_state(reward=symbol)
    text = problem.to_latex()
    assert is_tame(text)
    assert re.sub(r"\\\\|\\[{}]", "", text).count("{") == re.sub(r"\\\\|\\[{}]", "", text).count(
        "}"
    )
    assert is_tame(value(symbol))
    assert latex_of(sp.Symbol("gamma_1")) == r"\gamma_{1}"
