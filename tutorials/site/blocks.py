"""Formulas of docstrings as literal blocks: text in, text out."""

from __future__ import annotations

import re

STRUCTURE = re.compile(r"\s*(\.\.|[*-] |\d+\. |>>>|:|=+ )")
"""What begins a list, a directive, an example, a field or a table, and so is no formula."""


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
        if (
            not inside
            and made
            and not made[-1].strip()
            and depth > before
            and not STRUCTURE.match(line)
        ):
            said = next((m for m in reversed(made) if m.strip()), "")
            if not said.rstrip().endswith("::") and not STRUCTURE.match(said):
                made += [" " * before + "::", ""]
            inside = depth
        if not inside:
            before = depth
        made.append(line)
    return made
