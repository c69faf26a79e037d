"""What every learner is: step sizes, a trace parameter, and one rule.

A rule is a plain function of one transition that updates arrays in place:

``rule(code, theta, w, memory, features, s, n, reward, g, rho, twin, g_twin, rho_twin, alpha, beta, lam)``

=================  ====================================================================
theta, w           the weights, and the secondary weights of gradient learners
memory             what the past hands to this transition, already decayed by the
                   discount of the transition that arrived here: d entries of the trace
                   (g lam e), then for ETD the follow-on trace (g rho F)
features, s, n     the feature matrix, and the rows phi and phi' of the two states
g                  the discount of this transition
rho                the importance ratio pi/mu of its action
twin, g_twin, ...  a second, independent transition from the same state, to row twin
alpha, beta        the two step sizes, beta = alpha mu
=================  ====================================================================

It returns the TD error. It uses nothing but ``+ - * /`` and comparison with 0, so that the same text runs on
floats, compiled, and on rationals and rational functions, as it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from obliquetd.algebra import parse_number, public_number, quoted
from obliquetd.errors import InputError, NumberError

__all__ = ["Learner", "RobbinsMonro", "StepSize", "require_learner", "require_learners"]

StepSize = Any
"""A positive number, or a callable of the step 0, 1, 2, ..."""


@dataclass(frozen=True)
class RobbinsMonro:
    """The schedule c (t + 1)^-p.

    Its sum diverges and the sum of its squares converges for 1/2 < p <= 1 (Robbins and
    Monro 1951).

    Examples
    --------
    >>> RobbinsMonro(0.5, 1)(3)
    0.125
    """

    c: float
    p: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.c) and self.c > 0 and 0 <= self.p <= 1):
            raise InputError(f"RobbinsMonro({self.c}, {self.p}); expected c > 0 and 0 <= p <= 1")

    def __call__(self, t: int) -> float:
        return float(self.c * (t + 1.0) ** -self.p)


class Learner(ABC):
    """Step sizes and a trace parameter; abstract. Each learner is a frozen dataclass.

    Attributes
    ----------
    alpha : number, callable or None
        The step size. None where only the expected update matters.
    lam : number or symbol
        The trace parameter, in [0, 1].
    """

    alpha: StepSize
    lam: Any

    name: ClassVar[str]
    two_timescale: ClassVar[bool] = False
    double_sampling: ClassVar[bool] = False
    follow_on: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_step_size(self.alpha, "alpha")
        lam = parse_number(self.lam, "lam")
        if not isinstance(lam, sp.Basic) and not 0 <= lam <= 1:
            raise InputError(f"lam is {quoted(lam)}; expected a number in [0, 1]")

    @property
    @abstractmethod
    def code(self) -> int:
        """The number by which the rule knows this learner."""

    @property
    @abstractmethod
    def rule(self) -> Callable[..., Any]:
        """The update rule, a plain function."""

    @property
    def ratio(self) -> Any:
        """mu = beta / alpha, the ratio of the two step sizes; 0 where there is one only."""
        return 0

    @property
    def has_memory(self) -> bool:
        """Whether anything is carried from one transition to the next."""
        return self.follow_on or parse_number(self.lam) != 0

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of lam and of the ratio."""
        numbers = (public_number(parse_number(x)) for x in (self.lam, self.ratio))
        return {s for x in numbers if isinstance(x, sp.Basic) for s in x.free_symbols}

    def step_size(self, t: int) -> float:
        """Alpha at step t, a positive float.

        Raises
        ------
        InputError
            Where there is none, or a schedule gives something that is no step size.
        """
        if self.alpha is None:
            raise InputError(f"{self.name} has no step size; give one, as in {self.name}(0.1)")
        value = self.alpha(t) if callable(self.alpha) else public_number(parse_number(self.alpha))
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not (math.isfinite(number) and number > 0):
            raise InputError(
                f"the step size of {self.name} at step {t} is {value}; expected a positive number"
            )
        return number


def check_step_size(value: StepSize, name: str) -> None:
    """A positive number, a symbol, a callable, or None."""
    if value is None or callable(value):
        return
    number = parse_number(value, name)
    if not isinstance(number, sp.Basic) and not number > 0:
        raise NumberError(f"{name} is {quoted(number)}; expected a positive step size")


def require_learner(value: Any) -> Learner:
    """The value itself, where it is a learner.

    Raises
    ------
    InputError
        For anything else; a class of learners is told how to make one.
    """
    if isinstance(value, Learner):
        return value
    if isinstance(value, type) and issubclass(value, Learner):
        name = value.__name__
        raise InputError(
            f"the class {name} came where a learner is expected; make one, as in {name}() or "
            f"{name}(0.1)"
        )
    raise InputError(f"{value!r} is no learner; expected one such as TD(0.1)")


def require_learners(values: Any) -> tuple[Learner, ...]:
    """One learner, or an iterable of them; errors as for :func:`require_learner`."""
    if not isinstance(values, Iterable) or isinstance(values, str | type):
        return (require_learner(values),)
    return tuple(require_learner(value) for value in values)
