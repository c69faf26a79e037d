"""The values of a formula over arrays of points, each with a bound on its rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

__all__ = ["holds_at", "values_at"]

Array = npt.NDArray[Any]
EPS = float(np.finfo(float).eps)
WORST = 1e-2
"""The part of a value, or of the usual size of all, that may be rounding."""
ARCS: Mapping[Any, Callable[[Array], Array]] = {sp.acos: np.arccos, sp.asin: np.arcsin}


def values_at(formula: Any, at: Mapping[sp.Symbol, Array]) -> npt.NDArray[np.float64]:
    """The real values of a formula; 0 where it is near 0 and only rounding is left, nan where there is none.

    A sum may be far smaller than its terms, and its sign is then that of their rounding: each part is
    kept with a bound on its error.

    Parameters
    ----------
    formula : sympy expression
    at : mapping of symbol to array
        All of one shape.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> values_at(sp.sqrt(x) / (1 - x), {x: np.array([0.25, 4.0, 1.0, -1.0])})
    array([ 0.66666667, -0.66666667,         nan,         nan])
    >>> values_at(sp.expand((x - 1) ** 9), {x: np.array([1.0001, 3.0])})
    array([  0., 512.])
    """
    shape = np.broadcast_shapes(*(np.shape(x) for x in at.values()))
    known = {symbol: (np.asarray(x, dtype=complex), 0.0) for symbol, x in at.items()}
    with np.errstate(all="ignore"):
        found, error = (np.broadcast_to(x, shape) for x in _evaluated(formula, known))
    size = np.abs(found)
    real = np.isfinite(size) & (np.abs(found.imag) <= 1e-9 * (1 + np.abs(found.real)))
    told = real & (error <= WORST * size)
    usual = float(np.median(size[told])) if told.any() else 0.0
    nought = real & ~told & (error <= WORST * usual)
    return np.where(told, found.real, np.where(nought, 0.0, np.nan))


def holds_at(condition: Any, at: Mapping[sp.Symbol, Array]) -> npt.NDArray[np.bool_]:
    """Whether a condition holds at each point.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> holds_at((x > 0) & (x**2 < 2), {x: np.array([-1.0, 1.0, 2.0])})
    array([False,  True, False])
    """
    shape = np.broadcast_shapes(*(np.shape(x) for x in at.values()))
    known = {symbol: (np.asarray(x, dtype=complex), 0.0) for symbol, x in at.items()}
    return np.broadcast_to(_holds(condition, known), shape)


def _evaluated(formula: Any, known: dict[Any, Any]) -> tuple[Any, Any]:
    """The values and bounds on their errors; a part that occurs twice is evaluated once."""
    found = known.get(formula)
    if found is not None:
        return found  # type: ignore[no-any-return]
    if formula.is_Rational:
        out: tuple[Any, Any] = _rational(formula)
    elif formula.is_Add:
        out = _sum([_evaluated(x, known) for x in formula.args])
    elif formula.is_Mul:
        out = _product([_evaluated(x, known) for x in formula.args])
    elif formula.is_Pow and formula.exp.is_Rational:
        out = _power(*_evaluated(formula.base, known), formula.exp)
    elif formula.func in ARCS:
        out = _arc(ARCS[formula.func], *_evaluated(formula.args[0], known))
    elif isinstance(formula, sp.Piecewise):
        out = _by_case(formula, known)
    elif formula.is_number:
        value = complex(formula)
        out = value, EPS * abs(value)
    else:
        parts = [_evaluated(x, known) for x in formula.args]
        names = [sp.Dummy() for _ in parts]
        value = sp.lambdify(names, formula.func(*names), "numpy")(*(v for v, _ in parts))
        out = value, sum(e for _, e in parts) + EPS * np.abs(value)
    known[formula] = out
    return out


def _rational(number: Any) -> tuple[complex, float]:
    try:
        value = int(number.p) / int(number.q)
    except OverflowError:
        value = np.inf
    return complex(value), EPS * abs(value)


def _sum(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    error = sum(e for _, e in parts) + EPS * sum(np.abs(v) for v, _ in parts)
    return sum(v for v, _ in parts), error


def _product(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    value, error = parts[0]
    for v, e in parts[1:]:
        error = np.abs(value) * (e + EPS * np.abs(v)) + error * np.abs(v)
        value = value * v
    return value, error


def _power(base: Any, error: Any, exponent: Any) -> tuple[Any, Any]:
    """The slope of a power times the error of its base, which counts as no smaller than its error."""
    power = int(exponent) if exponent.is_Integer else float(exponent)
    value = np.asarray(base) ** power
    largest = np.maximum(np.abs(base), error)
    steep = abs(float(exponent)) * error * np.where(largest > 0, largest, 1.0) ** (float(power) - 1)
    return value, steep + EPS * np.abs(value)


def _arc(function: Callable[[Array], Array], x: Any, error: Any) -> tuple[Any, Any]:
    """The slope of an inverse sine or cosine is infinite at 1; over an error it is its root."""
    value = function(np.asarray(x))
    slope = np.sqrt(np.maximum(np.abs(1 - x * x), np.maximum(error, EPS)))
    return value, error / slope + EPS * np.abs(value)


def _by_case(formula: Any, known: dict[Any, Any]) -> tuple[Any, Any]:
    """Of each case where its condition holds; nan where none does."""
    value: Any = complex(np.nan)
    error: Any = 0.0
    for part, condition in formula.args[::-1]:
        holds = _holds(condition, known)
        v, e = _evaluated(part, known)
        value, error = np.where(holds, v, value), np.where(holds, e, error)
    return value, error


def _holds(condition: Any, known: dict[Any, Any]) -> Any:
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, sp.Not | sp.And | sp.Or):
        parts = [_holds(x, known) for x in condition.args]
        if isinstance(condition, sp.Not):
            return np.logical_not(parts[0])
        join = np.logical_and if isinstance(condition, sp.And) else np.logical_or
        return join.reduce(np.broadcast_arrays(*parts))
    left, right = (np.real(_evaluated(x, known)[0]) for x in condition.args)
    names = sp.symbols("a b")
    return sp.lambdify(names, condition.func(*names), "numpy")(left, right)
