"""The cases of a computation whose signs depend on symbols, each with what holds in it.

With one symbol its ranges are cut where a sign changes, exactly (:mod:`obliquetd.algebra.cells`). With
several, each polynomial whose sign is asked for and not known makes two cases, and so on in each: they are
sets of inequalities. One that the range of a symbol rules out is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sympy as sp

from obliquetd.algebra.cells import CellArithmetic, SampledSigns, sign_cells
from obliquetd.algebra.field import FieldArithmetic
from obliquetd.algebra.intervals import SignRange
from obliquetd.algebra.polynomial_ring import factors_of
from obliquetd.algebra.signs import EVERYWHERE, KnownSigns, normal
from obliquetd.errors import InputError, SignUndecidedError

__all__ = ["SignCase", "sign_cases"]

Value = TypeVar("Value")
MOST_CASES = 64
"""Cases that are told apart."""


@dataclass(frozen=True, eq=False)
class SignCase(Generic[Value]):
    """Where no sign changes, and what was computed there.

    Attributes
    ----------
    condition : sympy Boolean
        Where it holds: the range of the one symbol, or polynomials with their signs.
    value : object
    """

    condition: Any
    value: Value


def sign_cases(
    arithmetic: FieldArithmetic, compute: Callable[[FieldArithmetic], Value]
) -> list[SignCase[Value]]:
    """What is computed in each case, in an arithmetic that knows the signs there.

    Raises
    ------
    SignUndecidedError
        For more than 64 cases, and for a sign that no polynomial decides.
    InputError
        Where a symbol has no range at all.

    Examples
    --------
    >>> x, y = sp.symbols("x y")
    >>> def absolute(field):
    ...     value = field.scalar(x - y)
    ...     return field.public(value if field.sign(value) > 0 else -value)
    >>> [(case.condition, case.value) for case in sign_cases(FieldArithmetic([x, y]), absolute)]
    [(x - y < 0, -x + y), (x - y > 0, x - y)]
    """
    for symbol in arithmetic.symbols:
        if not arithmetic.known.ranges.get(symbol, EVERYWHERE):
            raise InputError(
                f"there is no range of {symbol} in which every formula of the model and the learner "
                f"lies where it has to, but single values at most; problem.valid_range('{symbol}') has "
                "those of the model, and problem.subs puts one of them in"
            )
    if len(arithmetic.symbols) == 1:
        return _along_one(arithmetic, compute)
    done: list[SignCase[Value]] = []
    waiting: list[tuple[KnownSigns, list[Any]]] = [(arithmetic.known, [])]
    while waiting:
        known, conditions = waiting.pop()
        try:
            own = known is arithmetic.known
            value = compute(arithmetic if own else FieldArithmetic(arithmetic.symbols, known))
        except SignUndecidedError as error:
            if error.factor is None or len(done) + len(waiting) > MOST_CASES:
                raise
            above, below = (known.assuming(error.factor, sign) for sign in (1, -1))
            waiting += [
                (branch, [*conditions, side])
                for branch, side in (
                    (above, _side(error.factor, 1)),
                    (below, _side(error.factor, -1)),
                )
                if not branch.is_empty
            ]
            continue
        done.append(SignCase(sp.And(*conditions), value))
    return done


def _side(polynomial: Any, sign: int) -> Any:
    """polynomial > 0 or < 0; where it is affine in one symbol, on which side of its root that lies."""
    symbols = list(polynomial.free_symbols)
    if len(symbols) == 1 and sp.degree(polynomial, symbols[0]) == 1:
        slope, shift = sp.Poly(polynomial, symbols[0]).all_coeffs()
        root = -shift / slope
        return symbols[0] > root if (slope > 0) == (sign > 0) else symbols[0] < root
    return polynomial > 0 if sign > 0 else polynomial < 0


def _along_one(
    arithmetic: FieldArithmetic, compute: Callable[[FieldArithmetic], Value]
) -> list[SignCase[Value]]:
    (symbol,), known = arithmetic.symbols, arithmetic.known
    out = []
    for whole in known.ranges.get(symbol, EVERYWHERE):
        cells = sign_cells(whole.low, whole.high, symbol, _asking(arithmetic, compute))
        for k, cell in enumerate(cells):
            here = SignRange(
                cell.left,
                cell.right,
                whole.has_low and k == 0,
                whole.has_high and k == len(cells) - 1,
            )
            signs = KnownSigns({symbol: (here,)}, {**known.given, **cell.value})
            value = compute(FieldArithmetic([symbol], signs))
            out.append(SignCase(here.as_set.as_relational(symbol), value))
    return out


def _asking(
    arithmetic: FieldArithmetic, compute: Callable[[FieldArithmetic], Any]
) -> Callable[[SampledSigns], dict[Any, int]]:
    """The irreducible polynomials whose signs a computation asks for, with those signs."""
    domain = arithmetic.domain

    def asked(signs: SampledSigns) -> dict[Any, int]:
        compute(CellArithmetic(signs))
        out = {}
        for formula in signs.asked:
            fraction = domain.from_sympy(formula)
            for part in (fraction.numer, fraction.denom):
                for factor, _ in factors_of(part)[1]:
                    plain = normal(factor)[1]
                    out[plain] = int(sp.sign(plain.subs(signs.symbol, signs.sample)))
        return out

    return asked
