"""The rules at speed: the very functions of the learner files, compiled by numba.

numba compiles a function together with the global functions that it calls, which have
to be compiled as well. So each plain function is rebuilt around a dictionary of globals
in which its helpers are their compiled twins; the text that runs is the text in the
file. Compiled code is cached between processes; its name carries a digest of all rule
files, so that an edit to any of them is never answered from a stale cache.
"""

from __future__ import annotations

import hashlib
import importlib
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["compiled_driver", "compiled_walk", "drive", "pick_row", "walk"]

RULES = {
    "emphatic_step": ("obliquetd.learners.emphatic", ("omega", "emphasis")),
    "gradient_step": ("obliquetd.learners.gradient", ()),
    "residual_step": ("obliquetd.learners.residual", ()),
}
"""Each rule's module and its helpers, in the order in which they call each other."""

SUMS = {"contract", "reassoc", "nsz"}
"""What the compiler may do: reorder sums, so that inner products run on vector registers."""

step: Any = None
"""What :func:`drive` calls; :func:`compiled_driver` puts a compiled rule in its place."""


def pick_row(cumulative: Any, first: int, last: int, u: float) -> int:
    """The outcome in rows first, ..., last - 1 whose share of [0, 1) holds u."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high) // 2
        if u < cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def walk(
    cumulative: Any, offsets: Any, next_state: Any, starts: Any, uniform: Any, rows: Any, fresh: Any
) -> None:
    """Fill ``rows`` with outcomes of a chain, and ``fresh`` with where an episode begins.

    ``starts[t]`` is the state to begin from if step t begins an episode: step 0 does,
    and every step whose predecessor arrived in a state without outcomes.
    """
    state = starts[0]
    for t in range(len(rows)):
        fresh[t] = t == 0 or offsets[state] == offsets[state + 1]
        if fresh[t]:
            state = starts[t]
        rows[t] = pick_row(cumulative, offsets[state], offsets[state + 1], uniform[t])
        state = next_state[rows[t]]


def drive(
    code: int, theta: Any, w: Any, memory: Any, features: Any, state: Any, next_state: Any,
    reward: Any, discount: Any, rho: Any, rows: Any, twins: Any, fresh: Any, alphas: Any,
    ratio: float, lam: float, every: int, limit: float, record: Any,
) -> int:  # fmt: skip
    """Run one learner over the outcomes ``rows``; record theta each ``every`` steps and at the end.

    Returns the number of steps after which the sizes of the weights (of theta and w) first add up
    to more than ``limit`` or are no longer numbers, where the run ends; or -1.
    """
    for t in range(len(rows)):
        i, k = rows[t], twins[t]
        if fresh[t]:
            memory[:] = 0.0
        step(
            code, theta, w, memory, features, state[i], next_state[i], reward[i], discount[i],
            rho[i], next_state[k], discount[k], rho[k], alphas[t], alphas[t] * ratio, lam,
        )  # fmt: skip
        size = 0.0
        for j in range(len(theta)):
            size += abs(theta[j]) + abs(w[j])
        if not size <= limit:  # so that a nan ends the run too
            return t + 1
        if (t + 1) % every == 0:
            record[(t + 1) // every] = theta
    record[len(record) - 1] = theta
    return -1


def rules_digest() -> str:
    files = [Path(__file__)]
    files += [Path(str(importlib.import_module(m).__file__)) for m, _ in RULES.values()]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]


def _compiled(function: Any, suffix: str, inline: bool = False, **helpers: Any) -> Any:
    import numba

    known = {k: v for k, v in function.__globals__.items() if k.isupper()}
    rebuilt = types.FunctionType(function.__code__, {**known, **helpers}, function.__name__)
    rebuilt.__qualname__ = f"{function.__name__}_{suffix}_{rules_digest()}"
    rebuilt.__module__ = function.__module__
    options = {"error_model": "numpy", "fastmath": SUMS, "nogil": True}
    if inline:  # a call would pass four array headers at every step
        return numba.njit(inline="always", **options)(rebuilt)
    return numba.njit(cache=True, **options)(rebuilt)


@cache
def compiled_rule(name: str, inline: bool = False) -> Any:
    """A rule, compiled with its helpers; ``inline`` for use inside another compiled function."""
    module_name, helper_names = RULES[name]
    module = importlib.import_module(module_name)
    helpers: dict[str, Any] = {}
    for helper in helper_names:
        helpers[helper] = _compiled(getattr(module, helper), "float", inline, **helpers)
    return _compiled(getattr(module, name), "float", inline, **helpers)


@cache
def compiled_driver(rule: Callable[..., Any]) -> Any:
    """:func:`drive` around a rule of the learner files, compiled."""
    return _compiled(drive, rule.__name__, step=compiled_rule(rule.__name__, inline=True))


@cache
def compiled_walk() -> tuple[Any, Any]:
    """:func:`walk` and :func:`pick_row`, compiled."""
    pick = _compiled(pick_row, "float")
    return _compiled(walk, "float", pick_row=pick), pick
