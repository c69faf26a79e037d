"""The rules at speed: the very functions of the learner files, compiled by numba.

numba compiles a function together with the functions that it calls, which have to be
compiled as well; :mod:`obliquetd.learners.functions` finds them. The compiled code of the
package's own rules is cached between processes; its name carries a digest of the rule and
its helpers, so that an edit to any of them is never answered from a stale cache.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.learners.functions import digest, is_shipped, kept, rebuilt
from obliquetd.learners.words import Transition

__all__ = [
    "compiled_driver",
    "compiled_picks",
    "compiled_rule",
    "compiled_walk",
    "drive",
    "driver_digest",
    "float_numbers",
    "pick_row",
    "picks",
    "walk",
]

SUMS = {"contract", "reassoc", "nsz"}
"""What the compiler may do: reorder sums, so that inner products run on vector registers."""

rule: Any = None
"""What :func:`drive` calls; :func:`compiled_driver` puts a compiled rule in its place."""


def pick_row(cumulative: Any, guide: Any, first: int, last: int, u: float) -> int:
    """The outcome in rows first, ..., last - 1 whose share of [0, 1) holds u.

    ``guide[first + j]`` is about where j / (last - first) falls, so that the walk from there is
    one row long on average, whatever the shares (Chen and Asau 1974).
    """
    row: int = guide[first + min(int(u * (last - first)), last - first - 1)]
    while row > first and u < cumulative[row - 1]:
        row -= 1
    while row < last - 1 and u >= cumulative[row]:
        row += 1
    return row


def walk(
    cumulative: Any, guide: Any, offsets: Any, next_state: Any, starts: Any, starts_guide: Any,
    begin: Any, uniform: Any, rows: Any, fresh: Any,
) -> None:  # fmt: skip
    """Fill ``rows`` with outcomes of a chain, and ``fresh`` with where an episode begins.

    If step t begins an episode, the state is the one whose share of [0, 1), up to ``starts``, holds
    ``begin[t]``: step 0 does, and every step whose predecessor arrived in a state without outcomes.
    """
    state = 0
    for t in range(len(rows)):
        fresh[t] = t == 0 or offsets[state] == offsets[state + 1]
        if fresh[t]:
            state = pick_row(starts, starts_guide, 0, len(starts_guide), begin[t])
        rows[t] = pick_row(cumulative, guide, offsets[state], offsets[state + 1], uniform[t])
        state = next_state[rows[t]]


def picks(
    cumulative: Any, guide: Any, offsets: Any, states: Any, uniform: Any, rows: Any
) -> None:  # fmt: skip
    """Fill ``rows`` with an outcome of each of the states, whose share holds its number."""
    for t in range(len(rows)):
        s = states[t]
        rows[t] = pick_row(cumulative, guide, offsets[s], offsets[s + 1], uniform[t])


def drive(
    theta: Any, weights: Any, x: Any, memory: Any, m: Any, p: Any, features: Any,
    features_next: Any, state: Any, next_state: Any, reward: Any, discount: Any, own: Any, pi: Any,
    mu: Any, rho: Any, rho_expected: Any, rows: Any, twins: Any, fresh: Any, alphas: Any, every: int,
    limit: float, record: Any,
) -> int:  # fmt: skip
    """Run one learner over the outcomes ``rows``; record theta each ``every`` steps and at the end.

    ``x`` and ``m`` are views of the flat ``weights`` and ``memory``, ``theta`` the first array of
    ``x``. Returns the number of steps after which the sizes of the weights first add up to more
    than ``limit`` or are no longer numbers, where the run ends; or -1.
    """
    place, left = 0, every  # counted down: a division at each step would be felt
    for t in range(len(rows)):
        i, k = rows[t], twins[t]
        if fresh[t]:
            memory[:] = 0.0
        transition = Transition(
            features, state[i], next_state[i], reward[i], discount[i], own[i], pi[i], mu[i],
            rho[i], next_state[k], discount[k], rho[k], features_next, rho_expected[i],
        )  # fmt: skip
        rule(x, m, transition, alphas[t], p)
        size = 0.0
        for j in range(len(weights)):
            size += abs(weights[j])
        if not size <= limit:  # so that a nan ends the run too
            return t + 1
        left -= 1
        if left == 0:
            place, left = place + 1, every
            record[place] = theta
    record[len(record) - 1] = theta
    return -1


def float_numbers(learner: Any, values: Mapping[str, Any]) -> Any:
    """A learner's numbers for compiled code: floats, and arrays of what depends on the state."""
    found = {k: np.array(v) if isinstance(v, tuple) else v for k, v in values.items()}
    return learner.numbers(**found)


def as_float(value: Any) -> Any:
    """A rational in a rule's text or closure as the float that compiled code computes with."""
    return float(value) if isinstance(value, Fraction | sp.Rational) else value


@cache
def driver_digest() -> str:
    """A digest of this file, whose functions are compiled around every rule."""
    return hashlib.sha256(inspect.getsource(sys.modules[__name__]).encode()).hexdigest()[:8]


def _jit(
    function: Any,
    *,
    inline: bool = False,
    cached: bool = False,
    checked: bool = False,
    counted: bool = True,
) -> Any:
    import numba

    options: dict[str, Any] = {"error_model": "numpy", "fastmath": SUMS, "nogil": True}
    if inline:
        options["inline"] = "always"  # a call would pass every array's header at each step
    if checked:
        options["boundscheck"] = True
    if not counted:  # who refers to an array, which took most of a step on slots
        options["_nrt"] = False
    return numba.njit(cache=cached, **options)(function)


def _with_helpers(function: Any, checked: bool, outermost: Callable[[Any], Any]) -> Any:
    helper = functools.partial(_jit, inline=True, checked=checked)
    return rebuilt(function, as_float, helper, outermost)


@kept
def compiled_rule(function: Any) -> Any:
    """A rule and its helpers, compiled alone; an index outside an array is an IndexError."""
    return _with_helpers(function, True, functools.partial(_jit, checked=True))


@kept
def compiled_driver(function: Any, loop: Any = drive) -> Any:
    """:func:`drive`, or another loop that calls ``rule``, around a rule, compiled."""
    named = _own(loop, f"{loop.__name__}_{function.__name__}_{digest(function)}")
    named.__globals__["rule"] = _with_helpers(function, False, functools.partial(_jit, inline=True))
    # Another process finds cached code by names that it can import: the package's own.
    return _jit(
        named, cached=is_shipped(function), counted=loop is drive or not is_shipped(function)
    )


@cache
def compiled_walk() -> Any:
    """:func:`walk`, compiled."""
    return _jit(_own(walk, "walk"), cached=True)


@cache
def compiled_picks() -> Any:
    """:func:`picks`, compiled."""
    return _jit(_own(picks, "picks"), cached=True)


def _own(function: Any, name: str) -> Any:
    """A function of the package whose helpers are compiled, once for all that call them."""
    twin = _twin(function, f"{name}_{digest(function)}")
    for used in function.__code__.co_names:
        if isinstance(helper := function.__globals__.get(used), types.FunctionType):
            twin.__globals__[used] = _compiled_helper(helper)
    return twin


@cache
def _compiled_helper(function: Any) -> Any:
    return _jit(_own(function, function.__name__), cached=True, inline=True)


def _twin(function: Any, name: str) -> Any:
    """The same function with globals of its own, and a name that changes with this file."""
    twin = types.FunctionType(function.__code__, dict(function.__globals__), function.__name__)
    twin.__module__, twin.__qualname__ = function.__module__, f"{name}_{driver_digest()}"
    return twin
