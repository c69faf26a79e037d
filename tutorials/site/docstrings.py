"""Docstrings in numpydoc as reStructuredText, with links to the package's classes in their types.

An extension of Sphinx. The converter is that of ``sphinx.ext.napoleon``; the extension itself would read a
property's docstring as ``type: description`` and leave its sections as they are.
"""

from __future__ import annotations

import re
from typing import Any

from public import classes
from references import by_last_name
from sphinx.ext.napoleon import Config, NumpyDocstring

SETTINGS = Config(
    napoleon_use_param=False,
    napoleon_use_rtype=False,
    napoleon_custom_sections=[("Attributes", "params_style")],
)
"""Types are English sentences, so no part of one is a reference unless ``linked`` makes it one."""
TYPES = re.compile(r"\(\*(?P<parameter>[^*\n]+)\*\)|(?<=:returns: )\*(?P<returned>[^*\n]+)\*")
"""Where the converter writes the type of a parameter, or of what comes back."""
STRUCTURE = re.compile(r"\s*(\.\.|[*-] |\d+\. |>>>|:|=+ )")
"""What begins a list, a directive, an example, a field or a table, and so is no formula."""


def convert(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Rewrite one docstring in place."""
    kind = "method" if what in ("property", "attribute") else what
    text = NumpyDocstring(with_formulas("\n".join(lines)), SETTINGS, app, kind, name, obj, options).lines()
    lines[:] = [TYPES.sub(linked, line) for line in text]


def with_formulas(text: str) -> list[str]:
    """The lines of a docstring in which each indented formula is a literal block.

    A formula stands on lines of its own, indented; without a mark, reStructuredText would run
    its lines together as a quotation.
    """
    made: list[str] = []
    before = inside = 0
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        if not line.strip():
            made.append(line)
            continue
        if inside and depth < inside:
            inside = 0
        if not inside and made and not made[-1].strip() and depth > before and not STRUCTURE.match(line):
            said = next((m for m in reversed(made) if m.strip()), "")
            if not said.rstrip().endswith("::") and not STRUCTURE.match(said):
                made += [" " * before + "::", ""]
            inside = depth
        if not inside:
            before = depth
        made.append(line)
    return made


def linked(match: re.Match[str]) -> str:
    """A type in which each class that has one entry is a link."""
    parts = []
    for word in re.split(r"(\b[A-Z]\w+\b)", match["parameter"] or match["returned"]):
        names = [n for n in by_last_name().get(word, []) if word in classes()]
        if len(names) == 1:
            parts.append(f":py:obj:`{word} <{names[0]}>`")
        elif word.strip():
            before, after = (
                r"\ " if word[0] != " " and parts else "",
                r"\ " if word[-1] != " " else "",
            )
            parts.append(
                f"{before or ' ' * (word[0] == ' ')}*{word.strip()}*{after or ' '}"
            )  # fmt: skip
    told = "".join(parts).strip().removeprefix("\\ ").removesuffix("\\")
    return f"({told})" if match["parameter"] else told


def setup(app: Any) -> dict[str, Any]:
    """Join in where docstrings are read."""
    app.connect("autodoc-process-docstring", convert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
