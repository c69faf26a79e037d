"""Tutorials are found by listing, run from a clean kernel, and agree with their notebooks."""

import importlib.util
import re
import time
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from tests.turn import part

FOLDER = Path(__file__).parents[2] / "tutorials"
SPEC = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
build = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(build)
SCRIPTS = build.scripts()


def texts(notebook):
    """What each cell printed or showed as text; of pictures, only that they are there."""
    out = []
    for cell in notebook.cells:
        shown = []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                shown.append("a picture")
            else:
                shown.append(output.get("text") or data.get("text/plain", output.output_type))
        out.append(re.sub(r"0x[0-9a-f]+|/tmp/\S+", "...", "\n".join(shown)))
    return out


def test_each_has_a_number_of_its_own():
    numbers = [s.name[:2] for s in SCRIPTS]
    assert numbers == [f"{k:02d}" for k in range(1, len(numbers) + 1)]
    assert len(numbers) >= 11
    assert {p.stem for p in FOLDER.glob("*.ipynb")} == {s.stem for s in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_the_notebook_is_that_of_the_script(script):
    """The same cells in the same order, every one executed; build.py makes it anew."""
    stored = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(stored)
    fresh = build.notebook(script)
    assert [(c.cell_type, c.source) for c in stored.cells] == [
        (c.cell_type, c.source) for c in fresh.cells
    ]
    code = [c for c in stored.cells if c.cell_type == "code"]
    assert [c.execution_count for c in code] == list(range(1, len(code) + 1))
    assert not any(o.output_type == "error" for c in code for o in c.outputs)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_it_asserts_what_it_says_and_shows_something(script):
    text = script.read_text()
    assert text.startswith("# %% [markdown]\n# # ")
    assert text.count("\nassert ") + text.count("\n    assert ") >= 3
    lesson, marked, solutions = text.partition("\n# ## Exercises\n")
    assert len(lesson.split()) < 2200  # fifteen minutes
    assert marked
    assert "\n# ## Solutions\n" in solutions
    questions, _, answers = solutions.partition("\n# ## Solutions\n")
    numbers = re.findall(r"^# (\d)\. ", questions, re.MULTILINE)
    assert len(numbers) >= 2
    assert re.findall(r"^# \*(\d)\.\* ", answers, re.MULTILINE) == numbers
    assert "http" not in text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_it_begins_with_what_a_newcomer_needs(script):
    """How to run it, what to read before it, and what a learner is before it is called by its letters."""
    first = build.notebook(script).cells[0].source
    assert first.startswith(
        "# "
    )  # jupytext takes a title of one word and a question mark for a command
    assert "pip install -e '.[tutorials]'" in first
    assert "*Read " in first or "the first tutorial" in first
    text = script.read_text()
    for short, long in (("ETD", "emphatic"), ("SETD", "stable and efficient")):
        named = re.search(rf"\b{short}\b", text)
        if named and (heading := re.match(r"# %% \[markdown\]\n# # .*\n", text)):
            named = re.search(rf"\b{short}\b", text[heading.end() :])
            before = text[heading.end() :][: named.start() + 300] if named else long
            assert long in re.sub(r"[\n#* ]+", " ", before.lower()), (
                f"{short} is named and not introduced"
            )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_a_cell_shows_what_it_asserts(script):
    stored = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    for cell in stored.cells:
        if re.search(r"^\s*assert ", cell.source, re.MULTILINE):
            assert cell.outputs, f"nothing is shown of: {cell.source[:200]}"


def shown(script):
    """The outputs of the stored notebook, as data by type."""
    stored = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    for cell in stored.cells:
        for output in cell.get("outputs", []):
            yield output.get("data", {"text/plain": output.get("text", "")})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_it_is_good_to_look_at(script):
    """A picture, no object in place of what it says, no private name, no pile of matrices."""
    outputs = list(shown(script))
    assert any("image/png" in data for data in outputs)
    for data in outputs:
        text = data.get("text/plain", "")
        assert not re.search(r"<[\w.]+[ :]", text) or "image/png" in data, text
        if not {"text/html", "text/latex", "image/png"} & set(data):
            assert not re.search(r"Matrix\(|\b[A-Z]\w+\(\w+=|\*\*", text), text
        assert data.get("text/latex", "").count("begin{bmatrix}") <= 3
        for table in re.findall(r"<t[dh](?: [^>]*)?>", data.get("text/html", "")):
            assert "text-align: left" in table
    source = script.read_text()
    assert not re.search(r"[.\s]_[a-z]", source)
    for module, names in re.findall(
        r"^from (obliquetd[\w.]*) import \(?([^)\n]+)", source, re.MULTILINE
    ):
        assert module.count(".") <= 1, f"{module} is inside the house; export {names}"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("script", part(SCRIPTS, 2), ids=lambda s: s.stem)
def test_it_runs_from_a_clean_kernel_and_says_the_same(script):
    start = time.monotonic()
    fresh = build.execute(script)
    assert time.monotonic() - start < 120
    stored = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    assert texts(fresh) == texts(stored)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cell_that_raises_fails(tmp_path):
    script = tmp_path / "09_broken.py"
    script.write_text("# %%\nassert 1 == 2\n")
    with pytest.raises(CellExecutionError, match="AssertionError"):
        build.execute(script)
