"""What is asked of the package about a case, each answer beside the oracle's.

A refusal of what the oracle answers is as wrong as a wrong number. Over a symbol a rule that compares numbers (SETD's
max(., 0), the cut traces' min(1, .)) may have no one formula: that refusal is counted by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd.errors import (
    MathematicalError,
    ObliqueTDError,
    SignUndecidedError,
    UndefinedError,
)
from tests.character import SYMBOL
from tests.oracle.answers import Truth
from tests.oracle.cases import Case
from tests.oracle.none import Endless, Infinite, Many, TooLarge
from tests.oracle.settings import RULES

TOLERANCE = 1e-6
SMALL = 3
"""States up to which the noise is asked for over a symbol."""
Answer = Callable[[], Any]


def fraction(x: Any) -> Fraction | None:
    """A public number; None where it is none."""
    x = sp.sympify(x)
    return Fraction(int(x.p), int(x.q)) if x.is_Rational else None


def listed(M: Any) -> list[Any]:
    return list(M) if isinstance(M, sp.MatrixBase) else np.ravel(np.asarray(M)).tolist()


def close(got: Any, right: list[Fraction]) -> bool:
    """Floats against fractions, by the largest of them."""
    exact = [float(x) for x in right]
    size = max([1.0, *map(abs, exact)])
    return all(abs(g - x) <= TOLERANCE * size for g, x in zip(listed(got), exact, strict=True))


def flat(A: Any) -> list[Any]:
    return [x for row in A for x in row]


def exists(make: Answer) -> bool:
    """Whether the oracle has an answer."""
    try:
        make()
    except (Endless, Many, Infinite):
        return False
    return True


def same_span(found: Any, truth: Any) -> bool:
    columns = [[fraction(x) for x in found[:, j]] for j in range(found.cols)]
    return len(columns) == len(truth) and not any(any(truth.rest(c)) for c in columns)


def same_numbers(found: Any, right: list[Fraction]) -> bool:
    return list(map(fraction, listed(found))) == right


def judged(truth: Truth, exact: bool) -> str | None:
    """The verdict; None for floats where an eigenvalue is on or next to the axis."""
    if not exact and truth.Q:
        real = np.linalg.eigvals(np.array([[float(x) for x in row] for row in truth.Q])).real
        if min(abs(real)) < 1e-4 * max(abs(real)):
            return None
    return truth.verdict


class Asked:
    """The questions about a problem and a learner; each answer, or error, is kept."""

    def __init__(self, case: Case, numbers: Callable[[Any], Any] = lambda x: x) -> None:
        self.problem, self.learner = case.plain.problem(numbers), case.learner(numbers)
        self.sampling = None if case.plain.xi is None else "iid"
        self.kept: dict[str, Any] = {}

    def __call__(self, what: str) -> Any:
        if what not in self.kept:
            try:
                self.kept[what] = getattr(self, f"_{what}")()
            except Exception as error:
                self.kept[what] = error
        found = self.kept[what]
        if isinstance(found, Exception):
            raise found
        return found

    @cached_property
    def dynamics(self) -> Any:
        return otd.mean_dynamics(self.problem, self.learner, sampling=self.sampling)

    def _A(self) -> Any:
        return self.dynamics.A

    def _b(self) -> Any:
        return self.dynamics.b

    def _span(self) -> Any:
        return self.dynamics.span

    def _theta(self) -> Any:
        return self.dynamics.fixed_point()

    def _verdict(self) -> str:
        return str(self.dynamics.stability.verdict)

    def _noise(self) -> Any:
        found = otd.efficiency(self.problem, self.learner, sampling=self.sampling)
        return found.noise_covariance

    def _region(self) -> sp.Set:
        return otd.stability_region(self.problem, self.learner, SYMBOL, sampling=self.sampling)

    def at(self, what: str, value: sp.Rational) -> list[Any]:
        """A formula put at a number."""
        found = listed(self(what))
        symbols = {s for x in found for s in sp.sympify(x).free_symbols}
        assert {s.name for s in symbols} <= {SYMBOL}
        return [sp.sympify(x).subs(dict.fromkeys(symbols, value)) for x in found]


class Held:
    """The package held against the oracle: what was asked, and what came out wrong."""

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self.tried: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.undecided: Counter[str] = Counter()
        self.say = say

    def fault(self, what: str, where: str, *more: Any) -> None:
        self.wrong[what] += 1
        self.say(f"WRONG {what} | {where} | {' '.join(map(str, more))[:300]}")

    @property
    def refused(self) -> int:
        return sum(n for what, n in self.wrong.items() if what.endswith("refused"))

    def told(self) -> str:
        """The figure."""
        wrong, tried = sum(self.wrong.values()) - self.refused, sum(self.tried.values())
        kinds = ", ".join(f"{k} {n}" for k, n in sorted(self.tried.items()))
        return (
            f"{wrong} wrong of {tried}, refused {self.refused}"
            f" (undecided over a symbol {sum(self.undecided.values())}; {kinds})"
        )

    def hold(
        self,
        what: str,
        where: str,
        got: Answer,
        right: Answer,
        same: Any,
        *,
        may_refuse: bool = False,
    ) -> None:
        """One answer; where ``right`` says that there is none, the package has to say so, too."""
        try:
            expected = right()
        except TooLarge:
            return
        except (Endless, Many, Infinite) as none:
            expected = none
        none = isinstance(expected, Exception)
        self.tried[what] += 1
        try:
            found = got()
        except ObliqueTDError as error:
            if may_refuse and isinstance(error, SignUndecidedError | UndefinedError):
                self.tried[what] -= 1
                self.undecided[what] += 1
            elif not (none and isinstance(error, MathematicalError)):
                self.fault(f"{what} refused", where, type(error).__name__, error)
            return
        except Exception as error:
            self.fault(f"{what} failed", where, type(error).__name__, error)
            return
        if none or not same(found, expected):
            shown = [list(map(str, x))[:6] if isinstance(x, list) else x for x in (found, expected)]
            self.fault(what, where, "got", shown[0], "right", repr(shown[1]))

    def numbers(self, case: Case, numbers: Callable[[Any], Any] = lambda x: x) -> None:
        """All answers on a problem of numbers, exact or (``numbers=float``) in floats."""
        truth, ask = case.truth(), Asked(case, numbers)
        exact = numbers is not float
        kind, same = ("exact", same_numbers) if exact else ("float", close)

        def hold(what: str, right: Answer, same: Any = same) -> None:
            self.hold(f"{kind} {what}", case.where, lambda: ask(what), right, same)

        hold("A", lambda: flat(truth.mean[0]))
        hold("b", lambda: truth.mean[1])
        if not exists(lambda: truth.mean):
            return
        if exact:
            hold("span", lambda: truth.span, same_span)
        hold("theta", lambda: truth.theta)
        hold("verdict", lambda: judged(truth, exact), lambda g, r: r is None or g == r)
        if exists(lambda: truth.theta):
            hold("noise", lambda: flat(truth.noise))

    def symbol(self, case: Case) -> None:
        """All answers in the symbol, put at numbers."""
        ask = Asked(case)
        for value in case.points:
            self._at(case, ask, value)

    def _at(self, case: Case, ask: Asked, value: Fraction) -> None:
        truth, where = case.at(value).truth(), f"{case.where} at {value}"
        number = sp.Rational(value.numerator, value.denominator)
        compares = RULES[case.key].compares

        def hold(what: str, right: Answer) -> None:
            self.hold(
                f"symbolic {what}", where, lambda: ask.at(what, number), right, same_numbers,
                # whether noise is finite may depend on the symbol, for any rule
                may_refuse=compares or what == "noise",
            )  # fmt: skip

        hold("A", lambda: flat(truth.mean[0]))
        hold("b", lambda: truth.mean[1])
        if not exists(lambda: truth.mean):
            return
        self.hold(
            "symbolic region", where, lambda: ask("region"), lambda: truth.verdict == "stable",
            lambda found, right: bool(found.contains(number)) == right, may_refuse=compares,
        )  # fmt: skip
        dimension = None
        self.tried["symbolic span"] += 1
        try:
            dimension = ask("span").shape[1]
        except Exception as error:
            if not (compares and isinstance(error, SignUndecidedError | UndefinedError)):
                self.fault("symbolic span failed", where, type(error).__name__, error)
            return
        if dimension < len(truth.span):
            self.fault("symbolic span", where, "got dimension", dimension, "right", len(truth.span))
        # where the span is smaller than for most values, a limit of fixed points need not be the fixed point
        if dimension == len(truth.span) and exists(lambda: truth.theta):
            hold("theta", lambda: truth.theta)
            if case.plain.n <= SMALL:
                hold("noise", lambda: flat(truth.noise))
