"""Which names are public, and where the site tells of each: without Sphinx, so that tests can ask.

A name is public where ``obliquetd.__all__`` or the ``__all__`` of a room (``obliquetd.dynamics``) has
it, and so is the class of anything that a public function or property returns: who holds a
``Stability`` wants to read what it can do. Each is told of once, on the page of its room, under
the shortest name that imports it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import obliquetd

HIDDEN = ("cli",)
"""Parts whose public face is not Python: the command line has a page of its own."""


class Public(NamedTuple):
    """One public thing: the name to import it by, the room whose page tells of it, and itself."""

    name: str
    room: str
    thing: Any
    returned: bool
    """Whether it is known only as what others return."""

    @property
    def kind(self) -> str:
        """The directive of Sphinx that tells of it."""
        if inspect.isclass(self.thing):
            return "autoexception" if issubclass(self.thing, BaseException) else "autoclass"
        if inspect.ismodule(self.thing):
            return "automodule"
        return "autofunction" if inspect.isroutine(self.thing) else "data"

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring, on one line; of a constant, its own."""
        text = inspect.getdoc(self.thing) if self.kind != "data" else constant_told(self)
        return " ".join((text or "").strip().split("\n\n")[0].split())


def rooms() -> list[str]:
    """The parts of the package, in the order of their names."""
    return [room for room in obliquetd.ROOMS if room not in HIDDEN]


@cache
def modules() -> tuple[Any, ...]:
    """Every module of the package."""
    found = pkgutil.walk_packages(obliquetd.__path__, "obliquetd.")
    return tuple(importlib.import_module(m.name) for m in found if "__main__" not in m.name)


def room_of(thing: Any) -> str:
    """The room that a class or function stands in; "" for what is not ours."""
    parts = (getattr(thing, "__module__", None) or "").split(".")
    return parts[1] if parts[0] == "obliquetd" and len(parts) > 1 else ""


def _room_with(name: str) -> str:
    """The room that a thing made by the package itself is about: the one that has the same name."""
    return next(r for r in rooms() if name in getattr(_room(r), "__all__", []))


def _room(name: str) -> Any:
    return importlib.import_module(f"obliquetd.{name}")


@cache
def public() -> dict[str, Public]:
    """All of them by name."""
    found: dict[str, Public] = {}
    for name in obliquetd.__all__:
        thing = getattr(obliquetd, name)
        if not inspect.ismodule(thing):
            room = room_of(thing) or _room_with(name)
            found[f"obliquetd.{name}"] = Public(f"obliquetd.{name}", room, thing, False)
    taken = {id(p.thing) for p in found.values()}
    for room in rooms():
        module = _room(room)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if id(thing) in taken and (inspect.isclass(thing) or inspect.isroutine(thing)):
                continue
            found[f"{module.__name__}.{name}"] = Public(
                f"{module.__name__}.{name}", room, thing, False
            )
            taken.add(id(thing))
    waiting = list(found.values())
    while waiting:
        for kind in returned(waiting.pop().thing):
            if id(kind) not in taken:
                name = f"{kind.__module__}.{kind.__qualname__}"
                found[name] = Public(name, room_of(kind), kind, True)
                taken.add(id(kind))
                waiting.append(found[name])
    return found


@cache
def classes() -> dict[str, list[type]]:
    """The classes that modules of the package offer, by their own names."""
    found: dict[str, list[type]] = {}
    for module in modules():
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if inspect.isclass(thing) and thing.__module__ == module.__name__:
                found.setdefault(name, []).append(thing)
    return found


def returned(thing: Any) -> Iterator[type]:
    """The classes of the package that a function returns, or the members of a class."""
    if inspect.isclass(thing):
        for member in members(thing):
            yield from returned(inspect.getattr_static(thing, member))
        for kind in getattr(thing, "__annotations__", {}).values():
            yield from _named(str(kind), inspect.getmodule(thing))
        return
    if isinstance(thing, property | cached_property):
        thing = thing.fget if isinstance(thing, property) else thing.func
    thing = getattr(thing, "__func__", thing)
    told = getattr(thing, "__annotations__", {}).get("return")
    if told is not None:
        yield from _named(str(told), inspect.getmodule(thing))


def _named(annotation: str, module: Any) -> Iterator[type]:
    for word in re.findall(r"[A-Z]\w+", annotation):
        known = classes().get(word, [])
        own = getattr(module, word, None)
        if own in known:
            yield own
        elif len(known) == 1:
            yield known[0]


def members(kind: type) -> list[str]:
    """The public members of a class that no documented base tells of, in the order of the source."""
    told = {
        name for base in kind.__mro__[1:] if _is_told_elsewhere(base) for name in dir(base)
    }  # fmt: skip
    found = []
    order = dict.fromkeys(name for owner in kind.__mro__ for name in vars(owner))
    for name in order:
        member = inspect.getattr_static(kind, name)
        own = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
        if name.startswith("_") or (name in told and name not in vars(kind)):
            continue
        if not (getattr(own, "__module__", "") or "").startswith("obliquetd"):
            continue
        if isinstance(member, property | cached_property | classmethod | staticmethod) or (
            inspect.isfunction(member)
        ):
            if name in told and not getattr(own, "__doc__", None):
                continue
            if getattr(own, "__doc__", None):
                found.append(name)
    return found


@cache
def _is_told_elsewhere(base: type) -> bool:
    """Whether a base class has an entry of its own: those that a room or the package names do."""
    names = [obliquetd, *map(_room, rooms())]
    return any(getattr(m, n) is base for m in names for n in getattr(m, "__all__", []))


def bases(kind: type) -> list[type]:
    """The classes with entries of their own that a class gets more members from."""
    return [base for base in kind.__mro__[1:] if _is_told_elsewhere(base)]


@cache
def constants(path: str) -> dict[str, str]:
    """The text below each constant of a module."""
    body = ast.parse(Path(path).read_text()).body
    found = {}
    for line, after in pairwise(body):
        targets = [line.target] if isinstance(line, ast.AnnAssign) else getattr(line, "targets", [])
        text = after.value if isinstance(after, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            found.update(
                {t.id: inspect.cleandoc(text.value) for t in targets if isinstance(t, ast.Name)}
            )
    return found


def constant_told(item: Public) -> str:
    """The text below a constant, in the module that makes it."""
    name = item.name.rpartition(".")[2]
    for module in modules():
        if getattr(module, name, None) is item.thing and name in constants(module.__file__ or ""):
            return constants(module.__file__ or "")[name]
    raise SystemExit(f"{item.name} is public and has no text below it that says what it is")
