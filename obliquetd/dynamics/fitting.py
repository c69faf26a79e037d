"""How an iteration is fitted to a target that is held: theta' = theta + M (b - A theta).

A and b are those of TD(0), and C = Phi'Xi Phi:

* FQI regresses on the targets of the weights before, theta' = C^-1 (b + (C - A) theta), so M = C^-1
  (Gordon 1995; Ernst, Geurts and Wehenkel 2005);
* PFQI, partially fitted, takes k gradient steps of size alpha towards them instead, so that
  M = alpha sum over j < k of (I - alpha C)^j (Che et al. 2024). One step is TD.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import sympy as sp

from obliquetd.algebra import Matrix, public_number, serial_number
from obliquetd.errors import InputError, NotUniqueError
from obliquetd.learners.base import Parameter
from obliquetd.mdp.substitution import substitute

__all__ = ["FQI", "MOST_UPDATES", "PFQI", "STEP", "Fitting", "fitting_from_dict", "fitting_to_dict"]

MOST_UPDATES = 2**12
"""Inner updates of one step: an exact M has some digits for each."""


STEP = Parameter("alpha", "1/10", sp.Interval.open(0, sp.oo), "a positive number")


@dataclass(frozen=True)
class Fitting(ABC):
    """Settings of an iteration; abstract."""

    name: ClassVar[str] = ""

    @abstractmethod
    def multiplier(self, C: Matrix) -> Matrix:
        """M, from C = Phi'Xi Phi."""

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of the settings."""
        return set()

    @property
    def step(self) -> Any:
        """The step size, public; 1 where there is none."""
        return sp.Integer(1)

    def at(self, values: dict[sp.Symbol, Any]) -> Fitting:  # noqa: ARG002
        """The same with numbers in place of symbols."""
        return self

    def critical(self, C: Matrix) -> list[Any]:  # noqa: ARG002
        """What must not be 0, public, for M to exist."""
        return []


@final
@dataclass(frozen=True)
class FQI(Fitting):
    """Fitted Q-iteration for policy evaluation: a whole regression on each target.

    Examples
    --------
    >>> from obliquetd import iteration
    >>> from obliquetd.domains import two_state
    >>> iteration(two_state("gamma"), FQI()).factor
    Matrix([[6*gamma/5]])
    """

    name: ClassVar[str] = "FQI"

    def multiplier(self, C: Matrix) -> Matrix:
        null = C.null_space()
        if null.shape[1]:
            raise NotUniqueError(
                "Phi'Xi Phi is singular, so that a regression has many solutions; use independent "
                "features, or otd.PFQI, whose gradient steps are always defined",
                null.public(),
            )
        return C.solve(C.arithmetic.identity(C.shape[0]), "Phi' Xi Phi")

    def critical(self, C: Matrix) -> list[Any]:
        """The determinant of C."""
        return [C.arithmetic.public(C.det())]


@final
@dataclass(frozen=True)
class PFQI(Fitting):
    """Partially fitted Q-iteration: each iteration takes some gradient steps towards a target that is held.

    Parameters
    ----------
    alpha : number or symbol
        The step size.
    updates : int
        Steps for each target; 1 is the expected update of TD.
    """

    alpha: Any = "1/10"
    updates: int = 1

    name: ClassVar[str] = "PFQI"

    def __post_init__(self) -> None:
        self._step()
        if type(self.updates) is not int or not 1 <= self.updates <= MOST_UPDATES:
            raise InputError(
                f"updates is {self.updates!r}; expected an integer from 1 to {MOST_UPDATES}"
            )

    def _step(self) -> Any:
        return STEP.read(self.alpha)

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of the step size."""
        return set(sp.sympify(self.step).free_symbols)

    @property
    def step(self) -> Any:
        """The step size, public."""
        return public_number(self._step())

    def at(self, values: dict[sp.Symbol, Any]) -> PFQI:
        """The same with numbers in place of symbols."""
        return replace(self, alpha=public_number(substitute(self._step(), values)))

    def multiplier(self, C: Matrix) -> Matrix:
        """M = alpha S, with S the sum of (I - alpha C)^j over j below ``updates``.

        Half a sum gives the whole: S_2k = S_k + (I - alpha C)^k S_k.
        """
        alpha = C.arithmetic.scalar(self._step())
        identity = C.arithmetic.identity(C.shape[0])
        step = identity - C.scaled(alpha)
        total, power = identity, step
        for bit in bin(self.updates)[3:]:
            total, power = total + power @ total, power @ power
            if bit == "1":
                total, power = total + power, power @ step
        return total.scaled(alpha)


def fitting_to_dict(fitting: Fitting) -> dict[str, Any]:
    """An iteration's name and settings, numbers as text, ready for JSON.

    Examples
    --------
    >>> fitting_to_dict(PFQI("1/2", 3))
    {'name': 'PFQI', 'settings': {'alpha': '1/2', 'updates': 3}}
    """
    settings = (
        {"alpha": serial_number(fitting.step), "updates": fitting.updates}
        if isinstance(fitting, PFQI)
        else {}
    )
    return {"name": fitting.name, "settings": settings}


def fitting_from_dict(data: Any) -> Fitting:
    """The iteration that such data tells of.

    Raises
    ------
    InputError
        Where the data is not of that form.

    Examples
    --------
    >>> fitting_from_dict({"name": "FQI", "settings": {}})
    FQI()
    """
    kinds: dict[str, tuple[type[Fitting], set[str]]] = {
        "FQI": (FQI, set()),
        "PFQI": (PFQI, {"alpha", "updates"}),
    }
    name = data.get("name") if isinstance(data, Mapping) else None
    if not isinstance(name, str) or name not in kinds:
        raise InputError(
            f"the iteration is {str(data)[:60]}; expected an object whose name is FQI or PFQI"
        )
    kind, settings = kinds[name]
    given = data.get("settings", {})
    if not isinstance(given, Mapping) or set(given) != settings:
        raise InputError(
            f"the settings of {name} are {str(given)[:60]}; expected {', '.join(sorted(settings)) or 'none'}"
        )
    return kind(**given)
