"""References by whatever name: a docstring's ``:func:`mean_dynamics``` leads to ``obliquetd.mean_dynamics``.

An extension of Sphinx. Docstrings name a thing as their module does; the site tells of it under
the shortest name that imports it, and of what is not public not at all. The name is looked up as Python
would, and the entry of that very object is the target; what has no entry stays code without a link
where it is a name inside the package, and is a broken reference, so an error, where it is none.
"""

from __future__ import annotations

import contextlib
import importlib
from functools import cache
from typing import Any

from docutils import nodes
from public import classes, members, modules, public


@cache
def entries() -> dict[int, str]:
    """The documented name of each object."""
    return {id(item.thing): item.name for item in public().values()}


@cache
def by_last_name() -> dict[str, list[str]]:
    """The documented names that end with a word, members too."""
    found: dict[str, list[str]] = {}
    for item in public().values():
        found.setdefault(item.name.rpartition(".")[2], []).append(item.name)
        if isinstance(item.thing, type):
            for member in members(item.thing):
                found.setdefault(member, []).append(f"{item.name}.{member}")
    return found


def found_object(target: str, module: str, around: str) -> Any:
    """What a name means in a module, inside a class or at the top; None where it means nothing."""
    start = importlib.import_module(module) if module else None
    for prefix in (around, ""):
        steps = [*prefix.split("."), *target.split(".")] if prefix else target.split(".")
        if start is not None:
            with contextlib.suppress(AttributeError):
                return walked(start, steps)
    steps = target.split(".")
    for cut in range(len(steps), 0, -1):
        with contextlib.suppress(ImportError, AttributeError):
            return walked(importlib.import_module(".".join(steps[:cut])), steps[cut:])
    return None


def walked(start: Any, steps: list[str]) -> Any:
    """The attribute of an attribute."""
    for step in steps:
        start = getattr(start, step)
    return start


def documented(target: str, module: str, around: str) -> str | None:
    """The documented name that a reference means; "" for a thing without an entry, None for no thing."""
    target = target.lstrip("~.").removesuffix("()")
    thing = found_object(target, module, around)
    if thing is not None and id(thing) in entries():
        return entries()[id(thing)]
    owner, _, name = target.rpartition(".")
    if owner:
        kind = documented(owner, module, around)
        if kind:
            return f"{kind}.{name}"
    known = by_last_name().get(name, [])
    here = [n for n in known if n.startswith(f"{around}.") or n == f"{module}.{name}"]
    if len(here or known) == 1 and not owner:
        return (here or known)[0]
    anywhere = any(hasattr(m, name) for m in modules()) or name in classes()
    return "" if thing is not None or anywhere else None


def resolve(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """The link for a reference that Sphinx does not find by itself."""
    if node.get("refdomain") != "py":
        return None
    target, module = node["reftarget"], node.get("py:module") or ""
    if node["reftype"] == "mod" or target in {m.__name__ for m in modules()}:
        room = target.lstrip(".").split(".")
        if room[0] != "obliquetd":
            return contnode if target.startswith(".") else None
        page = "commands" if room[1:2] == ["cli"] else room[1] if room[1:] else "index"
        return page_link(app, node, contnode, f"reference/{page}")
    name = documented(target, module, node.get("py:class") or "")
    if name is None:
        return None
    if not name:
        return contnode
    domain = env.get_domain("py")
    found = domain.objects.get(name)
    if found is None:
        return None if name in public() else contnode
    return page_link(app, node, contnode, found.docname, found.node_id)


def page_link(app: Any, node: Any, contnode: Any, page: str, anchor: str = "") -> nodes.reference:
    """A link to a page of the site."""
    from sphinx.util.nodes import make_refnode

    return make_refnode(app.builder, node["refdoc"], page, anchor, contnode)


def setup(app: Any) -> dict[str, Any]:
    """Join in where references are resolved."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
