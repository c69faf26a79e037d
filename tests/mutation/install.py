"""Put a mutant into a running process.

The mutated code is given to the function objects that exist already, so that whoever imported one of
them runs the mutant; nothing is imported again.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any

from tests.mutation.mutate import Mutant


def install(mutant: Mutant) -> None:
    """Put a mutant into this process, for good; compiled and cached answers are forgotten."""
    module = sys.modules[mutant.module]
    mutant.place.put(mutant.value)
    fresh = types.ModuleType(mutant.module)
    fresh.__dict__.update(__file__=module.__file__, __package__=module.__package__)
    code = compile(ast.fix_missing_locations(mutant.tree), str(module.__file__), "exec")
    sys.modules[mutant.module] = fresh  # dataclasses look their module up
    try:
        exec(code, fresh.__dict__)
    finally:
        sys.modules[mutant.module] = module
    theirs = dict(_functions(fresh))
    for name, function in _functions(module):
        if name in theirs:
            function.__code__ = theirs[name].__code__
            function.__defaults__ = theirs[name].__defaults__
            function.__kwdefaults__ = theirs[name].__kwdefaults__
    if not mutant.scope:
        _set_constants(module, fresh)
    _forget(mutant.module.split(".")[0])


def _functions(module: types.ModuleType) -> Iterator[tuple[str, types.FunctionType]]:
    """Every function that a module defines, of its classes too, without what wraps it."""
    owners = [module.__dict__]
    owners += [v.__dict__ for v in module.__dict__.values() if _is_class_of(v, module)]
    for owner in owners:
        for value in list(owner.values()):
            parts = [
                value,
                *(getattr(value, a, None) for a in ("fget", "func", "__func__", "__wrapped__")),
            ]
            for part in parts:
                if isinstance(part, types.FunctionType) and part.__module__ == module.__name__:
                    yield part.__qualname__, part


def _is_class_of(value: Any, module: types.ModuleType) -> bool:
    return inspect.isclass(value) and value.__module__ == module.__name__


def _set_constants(module: types.ModuleType, fresh: types.ModuleType) -> None:
    """Names of the module whose value changed, here and wherever they were imported."""
    for name, value in vars(fresh).items():
        old = vars(module).get(name)
        if not name.startswith("__") and isinstance(value, int | float | tuple) and value != old:
            for other in list(sys.modules.values()):
                if name in getattr(other, "__dict__", {}) and vars(other)[name] is old:
                    vars(other)[name] = value


def _forget(package: str) -> None:
    """Empty every functools cache of the package: a rule rebuilt before hides its mutant."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == package:
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()
