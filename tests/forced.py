"""The ways that the code declares (:mod:`obliquetd.algebra.ways`), forced one by one.

They are read from the syntax of the package: module-level numbers annotated ``Way[int]`` or ``Way[float]``, and functions
whose result is ``Way[bool]`` or ``Way[... | None]``. A forced number still knows what it was, and notes when it made a
comparison come out otherwise; a forced function notes when it withheld an answer. So it is known of each way whether
it was taken where it is not by itself.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import operator
import pkgutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import obliquetd

PACKAGE = Path(obliquetd.__file__).parent
ROOMS = ("algebra", "mdp", "learners", "problem", "dynamics", "search", "atlas")
HUGE = 10**15


@dataclass(frozen=True)
class Declared:
    """A way: where it is said, and what it is made to be where it is forced."""

    module: str
    name: str
    number: bool
    result: str = ""

    @property
    def key(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def values(self) -> tuple[Any, ...]:
        """What it can be forced to."""
        return (0, HUGE) if self.number else (False if self.result == "bool" else None,)


def modules():
    """The name and the tree of each module of the rooms."""
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            dotted = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            yield dotted.removesuffix(".__init__"), ast.parse(path.read_text())


def _result(annotation: Any) -> str | None:
    """What stands in ``Way[...]``."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Way":
        return ast.unparse(annotation.slice)
    return None


def _functions(body: Any, prefix: str = ""):
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node


def declared(trees: Any) -> list[Declared]:
    """All ways of some modules."""
    found = []
    for module, tree in trees:
        found += [
            Declared(module, node.target.id, number=True)
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and _result(node.annotation)
        ]
        for name, node in _functions(tree.body):
            if (result := _result(node.returns)) is not None:
                found.append(Declared(module, name, number=False, result=result))
    return found


def other_numbers(trees: Any):
    """Every module-level number with a name in capitals that is not declared a way: module and name."""
    for module, tree in trees:
        for node in tree.body:
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.AnnAssign) and not _result(node.annotation):
                targets, value = [node.target], node.value
            else:
                continue
            for target in targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = value.elts if isinstance(value, ast.Tuple) and len(names) > 1 else [value]
                for at, x in zip(names, values, strict=False):
                    if isinstance(at, ast.Name) and at.id.strip("_").isupper() and _is_number(x):
                        yield module, at.id


def _is_number(node: Any) -> bool:
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
    except Exception:
        return False
    return isinstance(value, int | float) and not isinstance(value, bool)


def chooses_by_exception(trees: Any):
    """Functions that catch any exception, or that a rule has no form: they may choose a way by it."""
    for module, tree in trees:
        for name, node in _functions(tree.body):
            for handler in (x for x in ast.walk(node) if isinstance(x, ast.ExceptHandler)):
                caught = (
                    set()
                    if handler.type is None
                    else set(ast.unparse(handler.type).strip("()").split(", "))
                )
                if not handler.type or caught & {"Exception", "BaseException", "NoFormError"}:
                    raises = isinstance(handler.body[-1], ast.Raise)
                    if not raises:
                        yield f"{module}.{name}"


# --- forcing ----------------------------------------------------------------------------------


@dataclass
class Seen:
    """Whether a way that is forced, or watched, made a difference."""

    changed: bool = False
    asked: bool = False


def _noting(base: type) -> type:
    """Numbers that are forced: they count as what they are, and note where the usual one would count otherwise."""

    class Forced(base):  # type: ignore[misc, valid-type]
        __array_ufunc__ = None

        def __new__(cls, value: Any, usual: Any, seen: Seen) -> Any:
            made = base.__new__(cls, value)
            made.usual, made.seen = usual, seen
            return made

        def __reduce__(self) -> Any:  # what goes to another process is the number alone
            return base, (base(self),)

    def compared(op: Any) -> Any:
        def method(self: Any, other: Any) -> Any:
            here, there = op(base(self), other), op(self.usual, other)
            self.seen.asked = True
            self.seen.changed |= bool(_any(here != there))
            return here

        return method

    def computed(op: Any, *, reflected: bool) -> Any:
        def method(self: Any, other: Any) -> Any:
            first, second = (
                (other, x) if reflected else (x, other) for x in (base(self), self.usual)
            )
            here, there = op(*first), op(*second)
            self.seen.asked = True
            if isinstance(here, int | float):
                return forced_number(here, there, self.seen)
            return here

        return method

    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Forced, f"__{name}__", compared(getattr(operator, name)))
    Forced.__hash__ = base.__hash__
    for name in ("add", "sub", "mul", "truediv", "floordiv", "pow"):
        for reflected in (False, True):
            op = computed(getattr(operator, name), reflected=reflected)
            setattr(Forced, f"__{'r' if reflected else ''}{name}__", op)
    Forced.__neg__ = lambda self: forced_number(-base(self), -self.usual, self.seen)
    return Forced


def _any(x: Any) -> bool:
    return bool(x.any()) if hasattr(x, "any") else bool(x)


_INT, _FLOAT = _noting(int), _noting(float)


def forced_number(value: Any, usual: Any, seen: Seen) -> Any:
    """A number in place of the usual one."""
    kind = float if isinstance(usual, float) or isinstance(value, float) else int
    return (_FLOAT if kind is float else _INT)(kind(value), usual, seen)


def forced_function(usual: Any, value: Any, seen: Seen) -> Any:
    """A function that withholds its answer."""

    @functools.wraps(usual)
    def instead(*args: Any, **kwargs: Any) -> Any:
        if not seen.changed:
            seen.asked = True
            with contextlib.suppress(Exception):
                found = usual(*args, **kwargs)
                seen.changed |= bool(found) if value is False else found is not None
        return value

    return instead


@functools.cache
def _loaded() -> list[Any]:
    """Every module of the rooms, loaded."""
    for room in ROOMS:
        folder = f"obliquetd.{room}"
        importlib.import_module(folder)
        for found in pkgutil.walk_packages([str(PACKAGE / room)], f"{folder}."):
            importlib.import_module(found.name)
    inside = tuple(f"obliquetd.{room}" for room in ROOMS)
    return [m for name, m in list(sys.modules.items()) if name.startswith(inside)]


@functools.cache
def _readers(way: Declared) -> list[tuple[Any, str]]:
    """Where the way stands under a name: its own module, and those that import it."""
    home = f"obliquetd.{way.module}"
    owner: Any = sys.modules[home] if _loaded() else None
    *classes, name = way.name.split(".")
    for each in classes:
        owner = getattr(owner, each)
    places = [(owner, name)]
    value = getattr(owner, name)
    for module in _loaded():
        for key, found in vars(module).items():
            if module is owner or classes:
                continue
            if found is value and (
                not way.number or (module.__name__, key) in _imports(home, name)
            ):
                places.append((module, key))
    return places


def _imports(home: str, name: str) -> set[tuple[str, str]]:
    return _imported().get((home, name), set())


@functools.cache
def _imported() -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Of each name of a module, the modules that import it, and as what."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for module in _loaded():
        for node in ast.walk(_tree(module.__file__)):
            if isinstance(node, ast.ImportFrom):
                for a in node.names:
                    reader = module.__name__, a.asname or a.name
                    found.setdefault((node.module or "", a.name), set()).add(reader)
    return found


@functools.cache
def _tree(path: str) -> Any:
    return ast.parse(Path(path).read_text())


@contextlib.contextmanager
def forced(way: Declared, value: Any, seen: Seen | None = None):
    """The package with one way forced, and nothing remembered of before, nor afterwards."""
    seen = seen or Seen()
    places = _readers(way)
    usual = getattr(*places[0])
    new = forced_number(value, usual, seen) if way.number else forced_function(usual, value, seen)
    forget()
    for owner, name in places:
        setattr(owner, name, new)
    try:
        yield seen
    finally:
        for owner, name in places:
            setattr(owner, name, usual)
        forget()


@contextlib.contextmanager
def watched(ways: list[Declared]):
    """The package as it is, where each number that chooses a way notes that it is asked: by way, what was seen."""
    with contextlib.ExitStack() as stack:
        found = {}
        for way in ways:
            found[way] = Seen()
            if way.number:
                usual = getattr(*_readers(way)[0])
                stack.enter_context(forced(way, usual, found[way]))
            else:
                _watch(way, found[way], stack)
        yield found


def _watch(way: Declared, seen: Seen, stack: Any) -> None:
    places = _readers(way)
    usual = getattr(*places[0])

    @functools.wraps(usual)
    def noting(*args: Any, **kwargs: Any) -> Any:
        seen.asked = True
        return usual(*args, **kwargs)

    for owner, name in places:
        setattr(owner, name, noting)
        stack.callback(setattr, owner, name, usual)


@functools.cache
def _caches() -> list[Any]:
    """All that the rooms remember from one question to the next; compiled code, which answers nothing, stays."""
    kept: list[Any] = []
    for module in _loaded():
        if module.__name__.endswith(".compiled"):
            continue
        kept += [
            value.cache_clear
            for name, value in vars(module).items()
            if hasattr(value, "cache_clear") and name != "_compiled"
        ]
        kept += [getattr(module, name).clear for name in _registries(_tree(module.__file__))]
    return kept


def _registries(tree: Any) -> Any:
    """Module-level collections that begin empty."""
    for node in tree.body:
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and node.value is not None
            and ast.unparse(node.value) in ("set()", "dict()", "{}", "[]", "Counter()")
        ):
            yield (node.target if isinstance(node, ast.AnnAssign) else node.targets[0]).id


def forget() -> None:
    """Clear what is remembered from one question to the next."""
    for clear in _caches():
        clear()
