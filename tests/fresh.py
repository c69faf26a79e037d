"""Every call that the documentation shows, with what has to be said before it and nothing else.

A page is README, one of the site's, or a docstring. Of each of its statements, what it reads is traced back through the
page's earlier assignments, imports and definitions; :mod:`tests.zygote` says these alone in a process that knows
nothing, and then the statement. So a call fails that works only because another one before it loaded a module,
filled a table, or was kept.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import obliquetd

ROOT = Path(__file__).parents[1]
PACKAGE = Path(obliquetd.__file__).parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "tutorials" / "site" / "pages").rglob("*.md")))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
"""As pyproject.toml has them."""
CHANGING = {"add", "append", "extend", "update", "write_text"}
"""Methods that change what they are called on, and show something all the same."""


class Statement:
    """One statement of a page: the names that it reads, binds and changes.

    A text in quotes counts as a name too: it may be that of a file. A statement that shows nothing, or that throws away what
    it makes, is there for its effect, so that it may change all that it reads.
    """

    def __init__(self, source: str, example: doctest.Example | None = None) -> None:
        self.source, self.example = source, example
        tree = ast.parse(source)
        self.is_import = all(isinstance(x, ast.Import | ast.ImportFrom) for x in tree.body)
        self.binds, self.reads, self.changes = set(), set(), set()
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()):
                    self.binds.add(name)
                case ast.Name(id=name):
                    self.reads.add(name)
                case ast.Constant(value=str(text)):
                    self.reads.add(text)
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    self.binds |= {(a.asname or a.name).split(".")[0] for a in aliases}
                case (
                    ast.FunctionDef(name=name, decorator_list=over)
                    | ast.ClassDef(name=name, decorator_list=over)
                ):
                    self.binds.add(name)  # and @pack.claim(...) adds to the pack
                    self.changes |= {x for d in over if isinstance(d, ast.Call) for x in names(d)}
                case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                    self.changes |= names(node.value)
                case ast.AugAssign(target=target):
                    self.reads |= names(target)
                case ast.Call(func=ast.Attribute(value=of, attr=method)) if method in CHANGING:
                    self.changes |= names(of)
        shows = example is not None and (example.want or example.exc_msg)
        if (all(isinstance(x, ast.Expr) for x in tree.body) and not shows) or self.binds == {"_"}:
            self.changes |= self.reads


def names(node: ast.AST) -> set[str]:
    """The names in an expression."""
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}


def needed(page: list[Statement], at: int) -> list[Statement]:
    """The earlier statements that one depends on, in their order.

    These are the last that bound what it reads, with what changed that since, and what these depend on.
    """
    found: set[int] = set()
    waiting = [(name, at) for name in page[at].reads]
    while waiting:
        name, before = waiting.pop()
        for k in range(before - 1, -1, -1):
            if name in page[k].binds | page[k].changes and k not in found:
                found.add(k)
                waiting += [(x, k) for x in page[k].reads]
            if name in page[k].binds:
                break
    return [page[k] for k in sorted(found)]


@dataclass(frozen=True)
class Call:
    """One statement, the texts that are said before it, and what is shown below it; None of a part of an example."""

    name: str
    before: tuple[str, ...]
    source: str
    example: doctest.Example | None = None

    def failure(self, shown: str, error: str) -> str:
        """What an answer is that is not the one shown; empty where it is."""
        if self.example is None:
            return error
        flags, checker = FLAGS, doctest.OutputChecker()
        for flag, on in self.example.options.items():
            flags = flags | flag if on else flags & ~flag
        want, told = self.example.want, self.example.exc_msg
        if (
            error
            and told
            and checker.check_output(told, error.strip().rpartition("\n")[2] + "\n", flags)
        ):
            return ""
        if error or told or not checker.check_output(want, shown, flags):
            return error or f"expected\n{told or want}got\n{shown}"
        return ""


def calls_of(name: str, text: str, module: str = "") -> Iterator[Call]:
    """The calls in the examples of a text. A docstring takes the names of its module for granted.

    Of an example that is a tuple, each part but the first, before which there is nothing, is a call by itself too.
    """
    page = [Statement(x.source, x) for x in doctest.DocTestParser().get_examples(text)]
    for k, statement in enumerate(page):
        if statement.is_import or statement.example.options.get(doctest.SKIP):
            continue
        chosen = needed(page, k)
        granted = _granted([*chosen, statement], module) if module else []
        imports = [s.source for s in chosen if s.is_import]
        before = (*imports, *granted, *(s.source for s in chosen if not s.is_import))
        yield Call(f"{name}:{k}", before, statement.source, statement.example)
        match ast.parse(statement.source).body:
            case [ast.Expr(value=ast.Tuple(elts=parts))]:
                for i, part in enumerate(parts[1:], 1):
                    yield Call(f"{name}:{k}[{i}]", before, ast.unparse(part))


def _granted(page: list[Statement], module: str) -> list[str]:
    """How a user gets what an example takes for granted: by the public door, where there is one."""
    known = set(vars(builtins)).union(*(s.binds for s in page))
    room = importlib.import_module(".".join(module.split(".")[:2]))
    there = vars(importlib.import_module(module))
    lines = []
    for name in sorted({x for s in page for x in names(ast.parse(s.source))} - known):
        if name in there:
            public = name in obliquetd.__all__, name in getattr(room, "__all__", ())
            home = "obliquetd" if public[0] else room.__name__ if public[1] else module
            lines.append(f"from {home} import {name}\n")
    return lines


def of_page(path: Path) -> list[Call]:
    """The calls of README or of a page of the site."""
    return list(calls_of(path.name, path.read_text()))


def of_room(room: str) -> list[Call]:
    """The calls in the docstrings of a part of the package, or of a file beside the parts."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] == room:
            module = ".".join(("obliquetd", *parts)).removesuffix(".__init__")
            for name, text in _docstrings(ast.parse(path.read_text()), module):
                found += calls_of(name, text, module)
    return found


def _docstrings(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
        if text := ast.get_docstring(node):
            yield name, text
        for child in node.body:
            yield from _docstrings(child, f"{name}.{getattr(child, 'name', '')}")
