"""Docstrings in numpydoc as reStructuredText, with links to the package's classes in their types.

An extension of Sphinx. The converter is that of ``sphinx.ext.napoleon``; the extension itself would read a
property's docstring as ``type: description`` and leave its sections as they are.
"""

from __future__ import annotations

import re
from typing import Any

from blocks import with_formulas
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


def convert(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite one docstring in place."""
    kind = "method" if what in ("property", "attribute") else what
    text = NumpyDocstring(
        with_formulas("\n".join(lines)), SETTINGS, app, kind, name, obj, options
    ).lines()
    lines[:] = [TYPES.sub(linked, line) for line in text]


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
