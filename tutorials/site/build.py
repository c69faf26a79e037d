"""Build the documentation site: ``python tutorials/site/build.py [FOLDER]``, by default into build/site.

The pages of ``pages/``, the executed notebooks and the pages that are made from the package are laid
beside each other in FOLDER-source; Sphinx makes static HTML of them, and every warning is an error.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

MAKERS = ("reference_pages", "family_pages", "claims_pages", "readme_pages")
"""The modules beside this one that make pages."""


def lay_out(source: Path) -> None:
    """Everything that Sphinx reads, in one folder."""
    from importlib import import_module

    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(HERE / "pages", source)
    for notebook in sorted((ROOT / "tutorials").glob("[0-9]*.ipynb")):
        shutil.copy(notebook, source / "tutorials" / notebook.name)
    for page in source.rglob(
        "*.md"
    ):  # doctest wants an empty line at the end of a block, a reader does not
        page.write_text(page.read_text().replace("\n\n```\n", "\n```\n"))
    cite = source / "cite.md"
    year = re.search(r"Copyright \(c\) (\d+)", (ROOT / "LICENSE").read_text())[1]  # type: ignore[index]
    text = cite.read_text().replace("VERSION", version("obliquetd")).replace("YEAR", year)
    cite.write_text(text)
    for maker in MAKERS:
        for name, text in import_module(maker).pages().items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)


def main(folder: str = "build/site") -> int:
    """Lay out the sources and build; the exit status of Sphinx."""
    from sphinx.cmd.build import main as sphinx_build

    target = Path(folder).resolve()
    source = target.with_name(f"{target.name}-source")
    lay_out(source)
    shutil.rmtree(target, ignore_errors=True)
    doctrees = target.with_name(f"{target.name}-doctrees")
    return sphinx_build(
        ["-W", "--keep-going", "-n", "-q", "-E", "-j", "auto", "-c", str(HERE), "-d", str(doctrees), str(source), str(target)]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
