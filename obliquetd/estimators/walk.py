"""A learner's own rule along a log, on numbers of any kind."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Arithmetic, parse_number, public_number
from obliquetd.dynamics.scalars import lifted, unsigned
from obliquetd.estimators.base import Fitted, Vector
from obliquetd.estimators.rows import Rows
from obliquetd.learners import Learner, Transition
from obliquetd.learners.base import each, require_bound
from obliquetd.learners.evaluate import PlainRule

__all__ = ["step_symbols", "walked"]


def step_symbols(learner: Learner) -> set[sp.Symbol]:
    """The free symbols of a step size."""
    if learner.alpha is None or callable(learner.alpha):
        return set()
    found = public_number(parse_number(learner.alpha))
    return set(found.free_symbols) if isinstance(found, sp.Basic) else set()


@cache
def _reader(arithmetic: Arithmetic) -> Callable[[Any], Any]:
    """From a parsed number, or a fraction in a rule's text, to what the rule runs on."""
    signs = arithmetic.kind == "symbolic"

    def read(value: Any) -> Any:
        value = parse_number(value) if isinstance(value, Fraction) else value
        scalar = arithmetic.scalar(value)
        return lifted(scalar, arithmetic) if signs else scalar

    return read


def walked(learner: Learner, rows: Rows, theta0: Vector) -> Fitted:
    """The weights theta after each row, from theta0 and secondary weights 0."""
    arithmetic, d, steps = rows.arithmetic, rows.d, len(rows)
    read = _reader(arithmetic)
    values = {k: each(read, v) for k, v in require_bound(learner).values.items()}
    rule = PlainRule(learner, d, read, values)

    def signed(values: Any) -> Any:
        if arithmetic.kind != "symbolic":
            return values
        out = np.empty(values.shape, dtype=object)
        for place in np.ndindex(*values.shape):
            out[place] = lifted(values[place], arithmetic)
        return out

    features = signed(np.concatenate([rows.phi, rows.phi_next]))
    reward, g, rho = signed(rows.reward), signed(rows.discount), signed(rows.rho)
    pi, mu = (rho if x is None else signed(x) for x in (rows.pi, rows.mu))
    zero, one = read(parse_number(0)), read(parse_number(1))
    x = [*signed(theta0).tolist(), *[zero] * (rule.size - d)]
    memory, path = [zero] * rule.memory_size, []
    for t in range(steps):
        if rows.first[t]:
            memory = [zero] * rule.memory_size
        own = one if rows.discount[t] else zero  # a log does not tell it from gamma
        row = Transition(
            features, t, steps + t, reward[t], g[t], own, pi[t], mu[t], rho[t], t, g[t], rho[t],
            features, rho[t],
        )  # fmt: skip
        x, memory, _ = rule.run(row, x, memory, read(_step_size(learner, t)))
        path.append((t + 1, np.array([_plain(v, arithmetic) for v in x[:d]], dtype=rows.phi.dtype)))
    return Fitted(rows.matrix(path[-1][1]), None, None, path)


def _step_size(learner: Learner, t: int) -> Any:
    """Alpha at step t as a parsed number; InputError where there is none."""
    if not step_symbols(learner):
        learner.step_size(t)  # says what is wrong
    return parse_number(learner.alpha(t) if callable(learner.alpha) else learner.alpha, "alpha")


def _plain(value: Any, arithmetic: Arithmetic) -> Any:
    return unsigned(value, arithmetic) if arithmetic.kind == "symbolic" else value
