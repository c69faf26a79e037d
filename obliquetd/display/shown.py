"""What objects show of themselves in notebooks and papers: equations, and tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from obliquetd.algebra import number_text
from obliquetd.display.latex import Names, latex_of
from obliquetd.display.text import html_text, latex_comment
from obliquetd.errors import ObliqueTDError

__all__ = ["Equations", "HtmlTable", "html_table"]

MOST_ROWS = 40
"""Rows of a table in a notebook."""
LEFT = ' style="text-align: left"'
"""Notebooks set cells flush right, where sentences cannot be read."""


class Equations(ABC):
    """Something that is a few quantities with letters; abstract."""

    @abstractmethod
    def equations(self) -> Iterable[tuple[str, Callable[[], Any]]]:
        """Letters in LaTeX, and how to obtain what they stand for."""

    def names(self) -> Mapping[str, Names]:
        """The names of the rows and columns of those quantities that have them, by letter."""
        return {}

    def remarks(self) -> list[str]:
        """Sentences that a reader of the matrices needs, such as what their rows stand for."""
        return []

    def to_latex(self, digits: int | None = None) -> str:
        r"""The quantities as an ``aligned`` block, to be pasted between ``\[`` and ``\]``.

        One that does not exist, or fits no page, is a comment line that says why.

        Parameters
        ----------
        digits : int, optional
            Print numbers as decimals with so many digits; exactly where it is not given.
        """
        lines, remarks = [], [latex_comment(text) for text in self.remarks()]
        names = self.names()
        for letter, obtain in self.equations():
            try:
                value = latex_of(obtain(), digits=digits, names=names.get(letter))
                lines.append(f"{letter} &= {value}")
            except ObliqueTDError as error:
                remarks.append(latex_comment(f"{letter}: {error}"))
        body = " \\\\\n".join(lines)
        block = f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}" if lines else ""
        return "\n".join([*remarks, block] if block else remarks)

    def _repr_latex_(self) -> str | None:
        text = "\n".join(x for x in self.to_latex().split("\n") if not x.startswith("%"))
        return f"$$\n{text}\n$$" if text else None


class HtmlTable(ABC):
    """Something that is a table; abstract."""

    @abstractmethod
    def _table(self) -> tuple[str, Sequence[Any], Iterable[Sequence[Any]]]:
        """A caption, a heading, and rows of text or numbers."""

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def html_table(caption: str, heading: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """An accessible HTML table; everything is escaped, long tables say how much is left out.

    Examples
    --------
    >>> table = html_table("two", ["a", "b"], [[1, "<x>"]])
    >>> table.count("<td"), "&lt;x&gt;</td>" in table, table.startswith("<table><caption>two</caption>")
    (2, True, True)
    """

    def cell(value: Any) -> str:
        return html_text(value if isinstance(value, str) else number_text(value))

    listed = list(rows)
    head = "".join(f'<th scope="col"{LEFT}>{cell(str(x))}</th>' for x in heading)
    body = "".join(
        "<tr>" + "".join(f"<td{LEFT}>{cell(x)}</td>" for x in row) + "</tr>"
        for row in listed[:MOST_ROWS]
    )
    if len(listed) > MOST_ROWS:
        body += f'<tr><td colspan="{len(heading)}">... {len(listed) - MOST_ROWS} more</td></tr>'
    told = f"<caption>{cell(caption)}</caption>" if caption else ""
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
