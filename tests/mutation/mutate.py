"""Mutants of a module: its text with one small fault each.

A mutant replaces one node of the syntax tree: a comparison, an operator, a constant, a condition, a
statement.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Add,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Add,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}
SCOPES = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Place:
    """A field of a node, or one item of it where the field is a list."""

    node: Any
    field: str
    index: int | None

    def put(self, value: Any) -> Any:
        """Replace what stands there; returns what stood there."""
        kept = getattr(self.node, self.field)
        if self.index is None:
            setattr(self.node, self.field, value)
            return kept
        old, kept[self.index] = kept[self.index], value
        return old


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes
    ----------
    name : str
        The function and the faulty line, ``#2`` and so on where it is not the first of that text:
        no line number, so that a listed mutant keeps its name when lines move.
    scope : str
        The qualified name of the function that it is in; empty at the top of the module.
    """

    module: str
    name: str
    line: int
    scope: str
    place: Place
    value: Any
    tree: ast.Module


def mutants(module: str, path: Path) -> list[Mutant]:
    """Every mutant of a module, in the order of its text."""
    tree = ast.parse(path.read_text())
    seen: Counter[str] = Counter()
    out = []
    for place, value, scope, statement in list(_walk(tree, "", tree)):
        old = place.put(value)
        said = _first_line(value if isinstance(value, ast.stmt) else statement)
        if isinstance(value, ast.Pass):
            said = f"without: {_first_line(old)}"
        place.put(old)
        name = f"{scope or 'module'}: {said}"
        seen[name] += 1
        if seen[name] > 1:
            name += f" #{seen[name]}"
        out.append(Mutant(module, name, statement.lineno, scope, place, value, tree))
    return out


def edited(module: str, path: Path, old: str, new: str) -> Mutant:
    """A mutant that is written by hand: one piece of text in place of another.

    Raises
    ------
    ValueError
        Where the text does not stand in the module, or more than once.
    """
    text = path.read_text()
    if text.count(old) != 1:
        raise ValueError(f"{module} has {text.count(old)} times the text {old!r}; expected once")
    tree = ast.parse(text.replace(old, new))
    line = text[: text.index(old)].count("\n") + 1
    return Mutant(
        module,
        f"{new.strip()} for {old.strip()}",
        line,
        "",
        Place(tree, "type_ignores", None),
        [],
        tree,
    )


def _first_line(node: ast.AST) -> str:
    """A statement without its body."""
    text = ast.unparse(ast.fix_missing_locations(node))
    if isinstance(node, ast.Try):
        return " ".join(line for line in text.splitlines() if line.startswith("except"))
    if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.FunctionDef):
        return next(line for line in text.splitlines() if not line.startswith("@"))
    return text


def _walk(node: Any, scope: str, statement: Any) -> Iterator[tuple[Place, Any, str, Any]]:
    """Every place with what may be put there, the scope, and the statement around it."""
    if isinstance(node, SCOPES):
        scope = f"{scope}.{node.name}".removeprefix(".")
        if isinstance(
            node, ast.ClassDef
        ):  # what it declares is baked into it; its functions are not
            for function in node.body:
                if isinstance(function, ast.FunctionDef):
                    yield from _walk(function, scope, function)
            return
        if getattr(node.returns, "id", "") == "bool":
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and not isinstance(inner.value, ast.Constant):
                    inner.is_bool = True  # type: ignore[attr-defined]
    if isinstance(node, ast.stmt):
        statement = node
    for field, value in ast.iter_fields(node):
        if _is_skipped(node, field, scope):
            continue
        items = value if isinstance(value, list) else [value]
        for k, item in enumerate(items):
            if not isinstance(item, ast.AST):
                continue
            place = Place(node, field, k if isinstance(value, list) else None)
            for other in _replacements(item, node, field):
                around = item if isinstance(item, ast.stmt) else statement
                yield place, other, scope, around
            if getattr(item, "is_bool", False):
                for answer in (True, False):
                    yield place, ast.Return(ast.Constant(answer)), scope, item
            yield from _walk(item, scope, statement)


def _is_skipped(node: Any, field: str, scope: str) -> bool:
    """Types, decorators, what an error says, and what a class declares."""
    if field in ("annotation", "returns", "decorator_list", "bases", "exc", "type_params"):
        return True
    if isinstance(node, ast.AnnAssign | ast.Assign | ast.Expr) and not scope:
        return not isinstance(
            getattr(node, "value", None), ast.Constant | ast.BinOp | ast.Tuple
        ) or (isinstance(node, ast.Expr))
    return isinstance(node, ast.Assert | ast.JoinedStr | ast.ImportFrom)


def _replacements(item: Any, parent: Any, field: str) -> Iterator[Any]:
    if isinstance(item, ast.Compare):
        for k, op in enumerate(item.ops):
            for other in COMPARISONS[type(op)]:
                ops = [other() if i == k else o for i, o in enumerate(item.ops)]
                yield ast.Compare(item.left, ops, item.comparators)
    elif isinstance(item, ast.BinOp):
        for other in OPERATORS.get(type(item.op), ()):
            yield ast.BinOp(item.left, other(), item.right)
    elif isinstance(item, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(item.op, ast.And) else ast.And(), item.values)
        yield from (
            item.values
            if len(item.values) == 2
            else (
                ast.BoolOp(item.op, item.values[:k] + item.values[k + 1 :])
                for k in range(len(item.values))
            )
        )
    elif isinstance(item, ast.UnaryOp):
        yield item.operand
    elif isinstance(item, ast.Constant):
        yield from _constants(item.value, parent)
    elif isinstance(item, ast.Name) and item.id in NAMES:
        yield ast.Name(NAMES[item.id], ast.Load())
    elif isinstance(parent, ast.ExceptHandler) and isinstance(item, ast.Tuple):
        for k in range(len(item.elts)):
            yield ast.Tuple(item.elts[:k] + item.elts[k + 1 :], ast.Load())
    elif isinstance(item, ast.Slice):
        yield from _slices(item)
    elif isinstance(item, ast.AugAssign):
        for other in OPERATORS.get(type(item.op), ()):
            yield ast.AugAssign(item.target, other(), item.value)
        yield ast.Pass()
    elif _is_deleted(item):
        yield ast.Pass()
    if field in ("test", "ifs"):
        if not isinstance(parent, ast.While):
            yield ast.Constant(True)
        yield ast.Constant(False)


def _constants(value: Any, parent: Any) -> Iterator[ast.Constant]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, str) and isinstance(parent, ast.Compare | ast.Return | ast.IfExp):
        yield ast.Constant("another text")


def _slices(item: ast.Slice) -> Iterator[ast.Slice]:
    for field in ("lower", "upper", "step"):
        if getattr(item, field) is not None:
            parts = {f: getattr(item, f) for f in ("lower", "upper", "step")}
            yield ast.Slice(**{**parts, field: None})


def _is_deleted(item: Any) -> bool:
    """Statements whose loss leaves text that still runs."""
    if isinstance(item, ast.Raise | ast.Continue | ast.Break):
        return True
    if isinstance(item, ast.Expr):
        return isinstance(item.value, ast.Call)
    if isinstance(item, ast.Assign):
        targets = [n for t in item.targets for n in ast.walk(t)]
        if any(isinstance(n, ast.Subscript | ast.Attribute) for n in targets):
            return True
        names = {n.id for n in targets if isinstance(n, ast.Name)}
        return bool(names & {n.id for n in ast.walk(item.value) if isinstance(n, ast.Name)})
    return False
