"""A number, or a formula, in place of a symbol of a problem and a learner."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import sympy as sp

from obliquetd.algebra import parse_number, public_number
from obliquetd.errors import (
    CoverageError,
    DiscountError,
    MathematicalError,
    NumberError,
    ProbabilityError,
)
from obliquetd.learners import Learner, parameters
from obliquetd.mdp.substitution import substitute
from obliquetd.problem import PolicyEvaluation

__all__ = ["NO_PROBLEM", "put_in"]

NO_PROBLEM = (ProbabilityError, DiscountError, CoverageError, NumberError, MathematicalError)
"""What says that there is no problem, or no expected update, at a value of the symbol."""


def put_in(
    problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol, value: Any
) -> tuple[PolicyEvaluation, Learner]:
    """The problem and the learner with a rational, or a formula, in place of the symbol."""
    values = {symbol: value}
    fields = {
        p.name: _at(getattr(learner, p.name), values)
        for p in parameters(type(learner))
        if _has(getattr(learner, p.name), symbol)
    }
    there = problem.subs(values) if symbol in problem.symbols else problem
    return there, dataclasses.replace(learner, **fields)  # type: ignore[type-var]


def _has(setting: Any, symbol: sp.Symbol) -> bool:
    """Whether a learner's setting is a formula in the symbol."""
    if callable(setting):
        return False
    if isinstance(setting, Mapping):
        return any(_has(x, symbol) for x in setting.values())
    try:
        return bool(sp.sympify(public_number(parse_number(setting))).has(symbol))
    except NumberError:  # a word to choose from
        return False


def _at(setting: Any, values: dict[Any, Any]) -> Any:
    """A learner's setting with values put in for symbols."""
    if isinstance(setting, Mapping):
        return {s: _at(x, values) for s, x in setting.items()}
    return public_number(substitute(parse_number(setting), values))
