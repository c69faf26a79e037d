"""A rule as a function of Python: its helpers, its constants, and the fields that it reads.

The same text runs in two ways: compiled by numba, where each helper has to be a compiled
function too, and as it is on rationals, where each float in the text has to be one. Both
are the rule rebuilt around other globals, closures and constants (:func:`rebuilt`); the
helpers are found in the code, so nothing is registered.
"""

from __future__ import annotations

import dis
import hashlib
import types
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from obliquetd.algebra.ways import Way
from obliquetd.errors import LearnerError

__all__ = ["digest", "functions_of", "is_shipped", "kept", "reads", "rebuilt"]

Leaf = Callable[[Any], Any]
Make = TypeVar("Make", bound=Callable[..., Any])


def rebuilt(
    function: Any, leaf: Leaf, wrap: Callable[[Any], Any], outermost: Callable[[Any], Any]
) -> Any:
    """A function with every constant passed through ``leaf`` and every helper rebuilt and wrapped.

    Parameters
    ----------
    function : function
    leaf : callable
        Of each number that the function finds in its text, its closure and its globals.
    wrap, outermost : callable
        Of each rebuilt helper, and of the function itself.
    """
    return outermost(_rebuild(function, leaf, wrap, ()))


def _rebuild(function: Any, leaf: Leaf, wrap: Callable[[Any], Any], above: tuple[Any, ...]) -> Any:
    if function in above:
        raise LearnerError(
            f"{function.__name__} calls itself; a rule and its helpers are loops and calls without "
            "recursion"
        )
    above = (*above, function)

    def translated(value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return wrap(_rebuild(value, leaf, wrap, above))
        return leaf(value)

    known = dict(function.__globals__)
    for name, value in _globals_of(function):
        known[name] = _module(value, function, translated) if isinstance(
            value, types.ModuleType
        ) else translated(value)  # fmt: skip
    cells = tuple(types.CellType(translated(c.cell_contents)) for c in function.__closure__ or ())
    code = function.__code__
    code = code.replace(co_consts=tuple(map(leaf, code.co_consts)))
    out = types.FunctionType(
        code, known, function.__name__, function.__defaults__, cells if cells else None
    )
    out.__module__, out.__qualname__ = function.__module__, function.__qualname__
    return out


def _module(module: types.ModuleType, function: Any, translated: Callable[[Any], Any]) -> Any:
    """A module with the functions that are used of it rebuilt: ``words.omega(t)``."""
    used = {
        name: getattr(module, name)
        for name in _names(function.__code__)
        if isinstance(getattr(module, name, None), types.FunctionType)
    }
    if not used or _is_numerical(module):
        return module
    twin = types.ModuleType(module.__name__)
    twin.__dict__.update({**module.__dict__, **{k: translated(v) for k, v in used.items()}})
    return twin


def _is_numerical(module: types.ModuleType) -> bool:
    """Whether a module is one whose functions the compiler knows."""
    return module.__name__.split(".")[0] in ("numpy", "math")


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


@lru_cache(1024)
def _loaded(code: types.CodeType) -> tuple[str, ...]:
    """The names of the globals that a code loads, each once."""
    found = [
        str(instruction.argval)
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _loaded(constant)
    return tuple(dict.fromkeys(found))


def _globals_of(function: Any) -> Iterator[tuple[str, Any]]:
    """The globals that a function loads, of those that exist; ``p.kappa`` loads no global kappa."""
    for name in _loaded(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def functions_of(function: Any) -> list[Any]:
    """The function and all of its helpers, each once."""
    found: dict[Any, None] = {}

    def visit(f: Any) -> None:
        if f in found:
            return
        found[f] = None
        values = [v for _, v in _globals_of(f)] + [c.cell_contents for c in f.__closure__ or ()]
        for value in values:
            if isinstance(value, types.FunctionType):
                visit(value)
            elif isinstance(value, types.ModuleType) and not _is_numerical(value):
                for name in _names(f.__code__):
                    if isinstance(part := getattr(value, name, None), types.FunctionType):
                        visit(part)

    visit(function)
    return list(found)


class _Itself:
    """A value as a part of a key, equal to the same object alone: an array has no hash, and 1 is not 1.0."""

    def __init__(self, value: Any) -> None:
        self.value = value  # held, so that no other object gets its place

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _outside(rule: Any) -> tuple[_Itself, ...]:
    """What a rule finds outside of itself now: its helpers and its constants.

    The package's own functions stay what they are; what they are handed in a closure may not.
    """
    if not isinstance(rule, types.FunctionType) or (_is_own(rule) and rule.__closure__ is None):
        return ()
    found = functions_of(rule)
    return (
        *map(_Itself, found),
        *(_Itself(v) for f in found if not _is_own(f) for v in _values(f)),
    )


def _values(function: Any) -> Iterator[Any]:
    """The globals and the closure of a function; of a module what the function takes of it."""
    for _, value in _globals_of(function):
        if not isinstance(value, types.ModuleType):
            yield value
        elif not _is_numerical(value):
            names = _names(function.__code__)
            yield from (getattr(value, name) for name in names if hasattr(value, name))
    yield from (cell.cell_contents for cell in function.__closure__ or ())


def kept(make: Make) -> Make:
    """What is made of a rule, the first argument, or of a learner, kept while the rule finds the same outside of itself.

    Where a helper is defined anew, or a constant set anew, as in a notebook, the same function is another rule.
    """
    made = lru_cache(1024)(lambda _outside, *given, **named: make(*given, **named))

    @wraps(make)
    def ask(*given: Any, **named: Any) -> Any:
        rules = (given[0], *(x.rule for x in given if hasattr(x, "rule")))
        return made(tuple(map(_outside, rules)), *given, **named)

    ask.cache_clear = made.cache_clear  # type: ignore[attr-defined]
    return cast(Make, ask)


def _is_own(function: Any) -> bool:
    return bool(function.__module__.startswith("obliquetd."))


@kept
def is_shipped(function: Any) -> Way[bool]:
    """Whether a rule and all of its helpers are the package's own."""
    return all(map(_is_own, functions_of(function)))


@kept
def reads(function: Any) -> frozenset[str]:
    """The names that the rule or a helper takes of a transition.

    A rule is ``rule(x, m, t, alpha, p)``: what it takes of x, m and p does not count. In a
    helper every name that is taken of one of its arguments counts.
    """
    out: set[str] = set()
    for i, f in enumerate(functions_of(function)):
        arguments = f.__code__.co_varnames[: f.__code__.co_argcount]
        counted = arguments[2:3] if i == 0 else arguments
        out |= {name for owner, name in _attributes(f.__code__) if owner in counted}
    return frozenset(out)


def _attributes(code: types.CodeType) -> Iterator[tuple[str, str]]:
    """Every ``owner.name`` where owner is a local variable."""
    before: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_ATTR":
            owner = before[-1] if isinstance(before, tuple) else before
            if isinstance(owner, str):
                yield owner, str(instruction.argval)
        before = instruction.argval if instruction.opname.startswith("LOAD_FAST") else None


@kept
def digest(function: Any) -> str:
    """A digest of a rule and its helpers: text, constants and closures."""
    parts = hashlib.sha256()
    for f in functions_of(function):
        parts.update(_code_text(f.__code__).encode())
        values = [v for _, v in _globals_of(f)] + [c.cell_contents for c in f.__closure__ or ()]
        parts.update(repr([v for v in values if isinstance(v, int | float | str)]).encode())
        parts.update(repr([str(v) for v in values if _is_number(v)]).encode())
    return parts.hexdigest()[:16]


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, type)


def _code_text(code: types.CodeType) -> str:
    constants = [
        _code_text(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts
    ]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
