"""The pages of the reference: one for each room, with an entry for each public name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property

from blocks import with_formulas
from public import Public, bases, constant_told, members, public, rooms

SUBJECTS = {
    "Begin here": ("mdp", "problem", "features", "domains"),
    "Learners, and what they do": ("learners", "dynamics", "estimators", "experiments"),
    "Files, pictures and pages": (
        "formats",
        "plotting",
        "report",
        "exploration",
        "frames",
        "display",
    ),
    "Claims, counterexamples and the paper": (
        "claims",
        "folklore",
        "words",
        "kernel",
        "search",
        "atlas",
        "reproduction",
    ),
    "Below all of it": ("errors", "algebra", "processes", "progress"),
}
"""The rooms as a reader looks for them; one that is left out fails the build."""
PREFACES = {
    "formats": ("model", "arrays", "graphml", "prism", "drn", "log"),
    "learners": ("state", "forms", "wholes"),
    "reproduction": ("readings",),
}
"""Modules whose prefaces a reader needs: what a file holds, how a rule is written, how words are read."""


def pages() -> dict[str, str]:
    """The text of each page by its path below the site's root."""
    made = {"reference/index.rst": index()}
    for room in rooms():
        made[f"reference/{room}.rst"] = page(room)
    return made


def headline(text: str, mark: str) -> list[str]:
    """A heading of reStructuredText."""
    return [text, mark * len(text), ""]


def index() -> str:
    """The rooms by subject, and the names of the package itself."""
    listed = [room for names in SUBJECTS.values() for room in names]
    if sorted(listed) != sorted(rooms()):
        raise SystemExit(
            f"SUBJECTS lists {sorted(set(listed) ^ set(rooms()))} wrongly, or leaves them out"
        )
    lines = headline("Reference", "=")
    lines += [
        "Every public name, from its docstring. Most programs need ``import obliquetd as otd`` and the names below;",
        "the rooms of the package have the rest. The command line has :doc:`a page of its own <commands>`.", "",
    ]  # fmt: skip
    for subject, names in SUBJECTS.items():
        lines += headline(subject, "-")
        lines += [".. list-table::", "   :widths: 25 75", ""]
        for room in names:
            first = summary(importlib.import_module(f"obliquetd.{room}"))
            lines += [f"   * - :doc:`{room} <{room}>`", f"     - {first}"]
        lines.append("")
    lines += headline("The names of the package itself", "-")
    lines += table([p for p in everything() if p.name.count(".") == 1])
    lines += [".. toctree::", "   :hidden:", "", "   commands"]
    lines += [f"   {room}" for room in listed]
    return "\n".join(lines) + "\n"


def everything() -> list[Public]:
    """All public names, in the order of their last parts."""
    return sorted(public().values(), key=lambda p: p.name.rpartition(".")[2].lower())


def summary(module: object) -> str:
    """The first sentence of a module's preface."""
    return " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())


def table(items: list[Public]) -> list[str]:
    """Names with links, and what each is in a sentence."""
    lines = [".. list-table::", "   :widths: 35 65", ""]
    for item in items:
        lines += [f"   * - :py:obj:`~{item.name}`", f"     - {plain(item.summary)}"]
    return [*lines, ""]


def plain(text: str) -> str:
    """A summary as it may stand in a cell: the reference roles in it are resolved there as well."""
    return text or "\\ "


def page(room: str) -> str:
    """One room: its preface, a table of its names, an entry for each."""
    module = importlib.import_module(f"obliquetd.{room}")
    items = [p for p in everything() if p.room == room]
    lines = headline(f"obliquetd.{room}", "=")
    lines += [f".. py:module:: obliquetd.{room}", "", *with_formulas(inspect.getdoc(module) or ""), ""]  # fmt: skip
    for title, mine in (
        ("Names", [p for p in items if not p.returned]),
        ("What they return", [p for p in items if p.returned]),
    ):
        if mine:
            lines += headline(title, "-") + table(mine)
            for item in mine:
                lines += entry(item)
    for name in PREFACES.get(room, ()):
        inner = importlib.import_module(f"obliquetd.{room}.{name}")
        lines += headline(f"obliquetd.{room}.{name}", "-")
        lines += [*with_formulas(inspect.getdoc(inner) or ""), ""]
    return "\n".join(lines) + "\n"


def entry(item: Public) -> Iterator[str]:
    """The directive that makes one entry of a docstring, or of the text below a constant."""
    if item.kind == "data":
        module, _, name = item.name.rpartition(".")
        yield f".. py:data:: {name}"
        yield f"   :module: {module}"
        yield ""
        yield from (f"   {line}" for line in constant_told(item).splitlines())
        yield ""
        return
    yield f".. {item.kind}:: {item.name}"
    if inspect.isclass(item.thing):
        yield ""
        told = ", ".join(f":py:class:`{b.__name__} <{name_of(b)}>`" for b in bases(item.thing))
        if told:
            yield f"   It has all that belongs to {told}."
            yield ""
        for name in members(item.thing):
            member = inspect.getattr_static(item.thing, name)
            is_property = isinstance(member, property | cached_property)
            yield f"   .. {'autoproperty' if is_property else 'automethod'}:: {item.name}.{name}"
            yield ""
    yield ""


def name_of(kind: type) -> str:
    """The documented name of a class."""
    return next(p.name for p in public().values() if p.thing is kind)
