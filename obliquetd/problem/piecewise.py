"""A fixed point that is another formula on each part of the range of its symbols.

SETD's omega(s) = max(Lambda_s . phi_s / ||Lambda_s||^2, 0) switches where Lambda_s . phi_s changes its sign.
On each part no sign changes and there is one :class:`~obliquetd.problem.fixed_point.FixedPoint`; where two
parts meet, Lambda_s . phi_s is zero, and where Lambda_s is zero too, omega is not defined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import sympy as sp

from obliquetd.algebra.sign_cases import SignCase
from obliquetd.display import Equations, Names

__all__ = ["PiecewiseFixedPoint"]


class PiecewiseFixedPoint(Equations):
    """Some fixed points, each on a part of the range of the symbols; made by ``problem.fixed_point("setd")``.

    Numbers and entries of vectors and matrices are ``sympy.Piecewise``, with no value where parts meet.

    Attributes
    ----------
    name : str
    cases : tuple of SignCase
        With ``condition``, a sympy Boolean, and ``value``, the FixedPoint there.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> point = two_state("gamma", reward=1).fixed_point("setd")
    >>> for case in point.cases:
    ...     print(case.condition, case.value.theta[0])
    (0 <= gamma) & (gamma < 1/2) -(5*gamma - 3)/(5*(gamma - 1)*(2*gamma - 1))
    (1/2 < gamma) & (gamma < 1) -1/(2*(gamma - 1))
    >>> point.rmse.subs("gamma", "9/10")
    5*sqrt(2)/2
    """

    def __init__(self, name: str, cases: Sequence[SignCase[Any]]) -> None:
        self.name, self.cases = name, tuple(cases)
        self.native = self.cases[0].value.native

    def _joined(self, of: Callable[[Any], Any]) -> Any:
        found = [(of(case.value), case.condition) for case in self.cases]
        first = found[0][0]
        if not isinstance(first, sp.MatrixBase):
            return _pieces(found)
        return sp.ImmutableDenseMatrix(
            *first.shape, lambda i, j: _pieces([(value[i, j], where) for value, where in found])
        )

    @property
    def theta(self) -> Any:
        """Coefficients, d of them."""
        return self._joined(lambda point: point.theta)

    @property
    def v_hat(self) -> Any:
        """Phi theta, a value for each state."""
        return self._joined(lambda point: point.v_hat)

    @property
    def values(self) -> dict[Hashable, Any]:
        """v_hat by state label."""
        return dict(zip(self.native.labels, self.v_hat, strict=True))

    @property
    def undetermined(self) -> tuple[Hashable, ...]:
        """States whose value the equation leaves open in some case."""
        return tuple(dict.fromkeys(s for case in self.cases for s in case.value.undetermined))

    @property
    def is_unique(self) -> bool:
        """Whether there are no other weights that solve the equation, in any case."""
        return all(case.value.is_unique for case in self.cases)

    @property
    def X(self) -> Any:
        """The matrix X, shape (n, d)."""
        return self._joined(lambda point: point.X)

    @property
    def projection(self) -> Any:
        """Pi_Phi^X, shape (n, n)."""
        return self._joined(lambda point: point.projection)

    @property
    def rmse(self) -> Any:
        """||v_hat - v_pi||_Xi."""
        return self._joined(lambda point: point.rmse)

    @property
    def rmspbe(self) -> Any:
        """||v_hat - Pi T v_hat||_Xi."""
        return self._joined(lambda point: point.rmspbe)

    @property
    def rmsbe(self) -> Any:
        """||v_hat - T v_hat||_Xi."""
        return self._joined(lambda point: point.rmsbe)

    @property
    def mstde(self) -> Any:
        """The mean squared TD error."""
        return self._joined(lambda point: point.mstde)

    @property
    def neu(self) -> Any:
        """||Phi' Xi (T v_hat - v_hat)||."""
        return self._joined(lambda point: point.neu)

    @property
    def distance(self) -> Any:
        """||X - X*||_F."""
        return self._joined(lambda point: point.distance)

    @property
    def criterion(self) -> Any:
        """||Lambda' X - C||_F^2."""
        return self._joined(lambda point: point.criterion)

    @property
    def angle(self) -> Any:
        """The largest principal angle between span(X) and span(X*), in radians."""
        return self._joined(lambda point: point.angle)

    @property
    def worst_case(self) -> Any:
        """sup over rewards of ||v_hat - v||_Xi / ||best - v||_Xi."""
        return self._joined(lambda point: point.worst_case)

    @property
    def bias(self) -> Any:
        """||v_hat - v_pi||_Xi^2."""
        return self._joined(lambda point: point.bias)

    def equations(self) -> list[tuple[str, Callable[[], Any]]]:
        return [
            (r"\theta", lambda: self.theta), (r"\hat v", lambda: self.v_hat),
            (r"\mathrm{RMSE}", lambda: self.rmse), (r"\mathrm{RMSPBE}", lambda: self.rmspbe),
        ]  # fmt: skip

    def names(self) -> Mapping[str, Names]:
        found: Mapping[str, Names] = self.cases[0].value.names()
        return found

    def __repr__(self) -> str:
        parts = "; ".join(f"where {case.condition}: {case.value!r}" for case in self.cases)
        return f"PiecewiseFixedPoint({self.name!r}, {parts})"


def _pieces(found: list[tuple[Any, Any]]) -> Any:
    values = {value for value, _ in found}
    return values.pop() if len(values) == 1 else sp.Piecewise(*found, evaluate=False)
