"""The documentation site: no public name without an entry, examples that run, links that lead somewhere.

The built site is seen in a real browser with no network. ``OBLIQUETD_SITE`` names a site that is built already.
"""

import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import obliquetd as otd
from tests.browser import LIGHTNESS

ROOT = Path(__file__).parents[2]
SITE = ROOT / "tutorials" / "site"
PAGES = sorted((SITE / "pages").rglob("*.md"))
ENTRY = re.compile(r"^ *\.\. (?:auto(?:class|exception|function|method|property)|py:data):: (\S+)$(?:\n *:module: (\S+)$)?", re.MULTILINE)  # fmt: skip


@pytest.fixture(scope="module")
def makers():
    """The modules that make pages; they import each other by name."""
    names = ("blocks", "public", "reference_pages", "family_pages", "claims_pages", "readme_pages")
    sys.path.insert(0, str(SITE))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(SITE))
        for name in names:
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def entries(makers):
    """Every entry of the reference, by its name, in the order of the pages."""
    text = "\n".join(makers["reference_pages"].pages().values())
    return [f"{module}.{name}" if module else name for name, module in ENTRY.findall(text)]


def thing_named(name):
    """What a full name means: a module's attribute, or a member of a class."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            thing = inspect.getattr_static(thing, part) if inspect.isclass(thing) else getattr(thing, part)  # fmt: skip
        return thing
    raise AssertionError(name)


def test_every_public_name_has_one_entry(entries):
    assert len(entries) == len(set(entries))
    told = {id(thing_named(name)) for name in entries}
    rooms = [m for m in otd.ROOMS if m != "cli"]
    for module in (otd, *(importlib.import_module(f"obliquetd.{room}") for room in rooms)):
        for name in module.__all__:
            thing = getattr(module, name)
            if not inspect.ismodule(thing):
                assert id(thing) in told, f"{module.__name__}.{name} has no entry in the reference"


def test_every_member_of_a_class_has_an_entry(entries):
    known = set(entries)
    kinds = {name: thing for name in entries if inspect.isclass(thing := thing_named(name))}
    for name, kind in kinds.items():
        family = [other for other, base in kinds.items() if issubclass(kind, base)]
        for key, member in vars(kind).items():
            is_property = isinstance(member, property | cached_property)
            if not key.startswith("_") and (is_property or inspect.isfunction(member)):
                at = (
                    family if not member.__doc__ else [name]
                )  # an override may have none of its own
                assert any(f"{other}.{key}" in known for other in at), f"{name}.{key}"
    for name in ("obliquetd.PolicyEvaluation.fixed_point", "obliquetd.problem.FixedPoint.theta",
                 "obliquetd.dynamics.MeanDynamics.certificate", "obliquetd.learners.Learner.bound"):  # fmt: skip
        assert name in known


def test_what_is_returned_has_an_entry(makers, entries):
    """Who holds a result wants to read what it can do."""
    named = {"Comparison", "Bounds", "Span", "SearchResult", "StationaryMoments", "Sensitivity"}
    assert named <= {name.rpartition(".")[2] for name in entries}
    found = makers["public"].returned(otd.compare)
    assert [kind.__name__ for kind in found] == ["Comparison"]


def test_the_reference_lists_each_room(makers):
    made = makers["reference_pages"].pages()
    assert {f"reference/{room}.rst" for room in otd.ROOMS if room != "cli"} | {"reference/index.rst"} == set(made)  # fmt: skip
    assert "obliquetd.problem.analysis" not in made["reference/index.rst"]


def example_pages():
    """The written pages; those that compile or draw take seconds."""
    for page in PAGES:
        marks = pytest.mark.slow if re.search(r"simulate\(|plotting", page.read_text()) else ()
        yield pytest.param(page, id=str(page.relative_to(SITE / "pages")), marks=marks)


@pytest.mark.parametrize("page", [*example_pages()])
def test_the_examples_run(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    done = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert done.failed == 0
    assert page.read_text().startswith("# ")


def test_the_learners_and_the_commands_are_all_there(makers):
    made = makers["family_pages"].pages()
    for kind in otd.learners.LEARNERS.values():
        assert f"`~obliquetd.{kind.name}` `{kind.key}`" in made["learners.md"]
    from obliquetd.cli.application import COMMANDS

    commands = re.findall(r"^## obliquetd (\w+)$", made["reference/commands.md"], re.MULTILINE)
    assert commands == list(COMMANDS)
    assert "[bold]" not in made["reference/commands.md"]
    assert "`--json`" in made["reference/commands.md"]


def test_claims_stand_with_their_verdicts(makers):
    results = otd.verify(["two-state-X-star", "table-1-etd", "closeness-means-stability"])
    folklore = otd.verify(["target-network-stabilises", "gtd2-slower-than-td"], pack="folklore")
    for folder, judged in {"claims": results, "folklore": folklore}.items():
        made = makers["claims_pages"].pages_of(judged, folder)
        for result in judged:
            (page,) = (p for p in made.values() if f"({result.id})=" in p)
            assert f'<div class="claim {result.verdict}">' in page
            assert f"\u00a0{result.verdict} | [" in made[f"{folder}/index.md"]
            assert f"(#{result.id})" in made[f"{folder}/index.md"]
        assert "Right is:" in "".join(made.values())
        assert "application/json;base64" in "".join(made.values())
        as_met = "false as printed" if folder == "claims" else "false as said"
        assert as_met in made[f"{folder}/index.md"]
    assert "Human-level control" in made["folklore/index.md"]  # the bibliography


def test_no_two_packs_have_a_claim_of_one_name(makers):
    """A page links to a claim by its name alone."""
    names = [
        c.id
        for pack in makers["claims_pages"].PACKS.values()
        for c in otd.claims.pack_of(pack).registry
    ]
    assert len(names) == len(set(names))


def test_sections_of_the_readme_are_found(makers):
    made = makers["readme_pages"].pages()
    assert "`otd.mean_dynamics(problem, learner)`" in made["questions.md"]
    assert not any("<!-- made" in text for text in made.values())


def test_formulas_of_docstrings_become_blocks(makers):
    found = makers["blocks"].with_formulas
    assert found("A matrix\n\n    A = X' L\n\nand text.") == ["A matrix", "", "::", "", "    A = X' L", "", "and text."]  # fmt: skip
    plain = "x : int\n    One.\n\n    Two.\n\n* a list\n  goes on\n\n>>> 1\n1"
    assert found(plain) == plain.splitlines()


# The built site


def built_with(folder, environment):
    """Build into a folder, in a process of its own."""
    command = [sys.executable, str(SITE / "build.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    if "OBLIQUETD_SITE" in os.environ:
        return Path(os.environ["OBLIQUETD_SITE"]).resolve()
    pytest.importorskip("myst_nb")
    folder = tmp_path_factory.mktemp("site") / "html"
    done = built_with(folder, {**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Links(HTMLParser):
    """The ids of a page and what it links to or loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag != "a":
            self.loaded += [given[name] for name in ("href", "src") if given.get(name)]


@pytest.mark.slow
def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) > 50
    for path, page in pages.items():
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme == "data" or (parts.scheme == "https" and link in page.links):
                continue
            assert not parts.scheme, f"{path.name} loads {link}"
            assert not parts.netloc, f"{path.name} loads {link}"
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name} -> {link}"
            if parts.fragment and target in pages and parts.fragment != "top":
                assert unquote(parts.fragment) in pages[target].ids, f"{path.name} -> {link}"


@pytest.mark.slow
def test_every_entry_is_in_the_built_pages(site, entries):
    known = set().union(*(Links(p.read_text()).ids for p in (site / "reference").glob("*.html")))
    assert set(entries) <= known


@pytest.mark.slow
@pytest.mark.parametrize("text", ["{py:func}`obliquetd.nowhere`", "[there](nowhere.md)", "{doc}`nowhere`"])  # fmt: skip
def test_a_broken_reference_fails_the_build(tmp_path, text):
    pytest.importorskip("myst_nb")
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text(f"# A page\n\nSee {text}.\n")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-c", str(SITE), str(source), str(tmp_path / "out")]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode != 0
    assert "nowhere" in done.stderr


KINDS = ("index", "start", "learners", "tutorials/03_off_policy_divergence", "howto/03_is_it_stable", "reference/index",
         "reference/dynamics", "reference/commands", "claims/index", "claims/section-IV", "about/developers", "cite")  # fmt: skip
"""One page of each kind."""
FORMULAS = ("start", "tutorials/03_off_policy_divergence", "claims/section-IV")


def opened(browser, width, scheme="light"):
    """A page in a browser without a network; what it says on its console, and what it asks for."""
    context = browser.new_context(
        viewport={"width": width, "height": 850}, color_scheme=scheme, offline=True
    )
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    return page, said, asked


def boxes(page, what):
    return page.locator(what).evaluate_all(
        "all => all.map(m => m.getBoundingClientRect()).map(b => [b.width, b.height])"
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_in_a_browser(browser, site, width, scheme):
    """They fit, formulas and pictures are seen, and nothing is asked of a network."""
    page, said, asked = opened(browser, width, scheme)
    for kind in KINDS:
        page.goto((site / f"{kind}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, kind
        formulas = boxes(page, "article math")
        assert bool(formulas) or kind not in FORMULAS, kind
        assert all(w > 3 and h > 5 for w, h in formulas), kind
        seen = page.locator("article img").evaluate_all(
            "all => all.map(i => [i.complete && i.naturalWidth, i.getBoundingClientRect().width, i.alt])"
        )
        assert bool(seen) == kind.startswith("tutorials/0")
        assert all(n > 200 and 200 < w <= width and alt for n, w, alt in seen), kind
        ink, paper = page.locator("body").evaluate(LIGHTNESS)
        assert (ink > paper + 120) if scheme == "dark" else (paper > ink + 120), kind
    assert said == []
    assert [url for url in asked if not url.startswith("file:")] == []
    page.context.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_search_finds_names_words_and_claims(browser, site, width):
    """A name is found as an entry, and its link shows it; words are found in claims and tutorials."""
    page, said, asked = opened(browser, width)
    for words, wanted in (
        ("step_size_limit", "reference/dynamics.html#obliquetd.step_size_limit"),
        ("emphasis", "tutorials/"),
        ("follow-on trace", "claims/section-"),
    ):
        page.goto((site / "index.html").as_uri())
        if width < 1000:
            page.locator("label[for=__navigation]:visible").first.click()
        page.locator("input[name=q]:visible").fill(words)
        page.keyboard.press("Enter")
        page.wait_for_selector("#search-results .search-summary:has-text('found')")
        links = page.locator("#search-results ul.search a").evaluate_all("all => all.map(a => a.href)")  # fmt: skip
        assert any(wanted in link for link in links), (words, links)
        if "#" in wanted:
            page.locator(f"#search-results a[href*='{wanted.split('#')[1]}']").first.click()
            page.wait_for_selector(f"dt[id='{wanted.split('#')[1]}']")
    assert said == []
    assert [url for url in asked if not url.startswith("file:")] == []
    page.context.close()


def test_the_readme_and_ci_build_it():
    command = "python tutorials/site/build.py"
    assert command in (ROOT / "README.md").read_text()
    assert command in (ROOT / ".ci" / "run").read_text()
