"""The rows of a log as arrays of native scalars, rationals exact.

Importance ratios may stand in two places, which agree in the mean, since E[rho | s] = 1, and not on
a log:

========  ======================================  ===================================
place     a row's error                           as in
========  ======================================  ===================================
error     rho (r + g phi'. theta - phi . theta)   the learners of this package
target    rho (r + g phi'. theta) - phi . theta   Yu 2010; Geist and Scherrer 2014
========  ======================================  ===================================

Either way it reads scale (y - Delta . theta), and the part that a row has in A theta = b is that times
the vector before it, left_t: a trace, features, another error's slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra import Arithmetic, Matrix, choose_arithmetic, parse_number
from obliquetd.algebra.numbers import Kind
from obliquetd.errors import FeatureError, InputError
from obliquetd.experiments import LoggedData
from obliquetd.experiments.columns import read_column

__all__ = ["PLACES", "Errors", "Rows", "arithmetic_for", "read_rows"]

PLACES = ("error", "target")


class Errors(NamedTuple):
    """The errors of the rows: scale (y - Delta . theta), with (T,), (T,) and (T, d) native scalars.

    With ``own`` the error that weight j is moved by is scale (y - Delta . theta - theta_j), as in an average.
    """

    scale: Any
    y: Any
    Delta: Any
    own: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """A log in one arithmetic.

    Attributes
    ----------
    phi, phi_next : array (T, d)
    reward, discount, rho, weight : array (T,)
    first : array (T,) of bool
        Where traces start afresh.
    pi, mu : array (T,) or None
        The probabilities of the actions taken, where they are known.
    twin : Rows or None
        Second transitions out of the same states.
    """

    arithmetic: Arithmetic
    phi: Any
    phi_next: Any
    reward: Any
    discount: Any
    rho: Any
    weight: Any
    first: Any
    pi: Any
    mu: Any
    twin: Rows | None = None

    def __len__(self) -> int:
        return len(self.reward)

    @property
    def d(self) -> int:
        """The number of features."""
        return int(self.phi.shape[1])

    def errors(self, place: str) -> Errors:
        """The errors of the rows with the ratios in their place."""
        rho = self.rho
        if place == "error":
            return Errors(rho, self.reward, self.phi - self.discount[:, None] * self.phi_next)
        ahead = (rho * self.discount)[:, None] * self.phi_next
        return Errors(self.weight * 0 + self.arithmetic.one, rho * self.reward, self.phi - ahead)

    def matrix(self, array: Any) -> Matrix:
        """An array with two axes as a matrix, one with a single axis as a column."""
        if array.ndim == 1:
            array = array[:, None]
        return self.arithmetic.matrix(
            array if self.arithmetic.kind == "float" else array.tolist(), array.shape
        )

    def sums(self, left: Any, right: Errors) -> tuple[Matrix, Matrix]:
        """A and b: the sums of left_t (scale_t w_t) Delta_t' and of left_t (scale_t w_t) y_t."""
        weighted = self.matrix(left * (right.scale * self.weight)[:, None]).T
        A, b = weighted @ self.matrix(right.Delta), weighted @ self.matrix(right.y)
        if right.own:
            mass = weighted @ self.matrix(self.weight * 0 + self.arithmetic.one)
            A = A + self.matrix(self.identity(self.arithmetic.one)).scale_rows(mass)
        return A, b

    def identity(self, factor: Any) -> Any:
        """factor I as an array (d, d)."""
        one = self.phi[:1, :1] * 0
        out = np.broadcast_to(one, (self.d, self.d)).copy()
        out[np.diag_indices(self.d)] = factor
        return out


def arithmetic_for(data: LoggedData, symbols: set[Any], wanted: str | None) -> Arithmetic:
    """The arithmetic of a replay: of the log's numbers and an estimator's symbols, or as wanted.

    Raises
    ------
    KindError
        Where floats meet symbols without a word, or what is wanted cannot be.
    """
    kinds: dict[str, set[Kind]] = {"the log": {"exact" if data.is_exact else "float"}}
    if symbols:
        kinds["the estimator"] = {"symbolic"}
    return choose_arithmetic(kinds, symbols, wanted)


def read_rows(data: LoggedData, arithmetic: Arithmetic, weights: Any, twin: Any) -> Rows:
    """A log's rows as native scalars.

    Raises
    ------
    FeatureError, InputError, NumberError, KindError
        For weights that are not one nonnegative number a row, and a twin of other rows.
    """
    steps = data.length
    column = read_column(1 if weights is None else weights, "weights", steps)
    column.check(column.floats >= 0, "a weight of 0 or more", lambda k: f"weights[{k}]")
    if not (column.floats > 0).any():
        raise InputError("all weights are 0; a row that is to count needs a positive weight")
    second = None
    if twin is not None:
        second = _rows(_read_log(twin, "twin"), arithmetic, read_column(1, "weights", twin.length))
        _check_twin(data, twin)
    return _rows(data, arithmetic, column, second)


def _read_log(value: Any, name: str) -> LoggedData:
    if not isinstance(value, LoggedData):
        raise InputError(
            f"{name} is {type(value).__name__}; expected LoggedData, as LoggedData(phi, phi_next, reward, "
            "discount) or LoggedData.from_log(log, features, discount=) makes it"
        )
    return value


def _check_twin(data: LoggedData, twin: LoggedData) -> None:
    steps = data.length
    ours, theirs = data.outcomes.features[:steps], twin.outcomes.features[: twin.length]
    if ours.shape != theirs.shape:
        raise FeatureError(
            f"the twin has {twin.length} rows of {twin.width} features, the log {steps} of {data.width}; "
            "a twin holds a second transition out of the state of each row"
        )
    apart = np.flatnonzero((ours != theirs).any(axis=1))
    if apart.size:
        k = int(apart[0])
        raise InputError(
            f"phi[{k}] of the twin is {theirs[k].tolist()} and that of the log {ours[k].tolist()}; a twin "
            "holds a second transition out of the state of each row"
        )


def _rows(data: LoggedData, arithmetic: Arithmetic, weights: Any, twin: Rows | None = None) -> Rows:
    steps, seen, known = data.length, data.outcomes, data.knows_policies
    if arithmetic.kind == "float":
        return Rows(
            arithmetic, seen.features[:steps], seen.features[steps:], seen.reward, seen.discount,
            seen.rho, weights.floats, data.first, seen.pi if known else None,
            seen.mu if known else None, twin,
        )  # fmt: skip
    numbers = data.numbers

    def natives(values: Any) -> Any:
        if values is None:
            return None
        wide = isinstance(values[0], list | tuple)
        out = np.empty((steps, data.width) if wide else steps, dtype=object)
        for i, x in enumerate(values):
            out[i] = [_scalar(arithmetic, y) for y in x] if wide else _scalar(arithmetic, x)
        return out

    phi, phi_next, reward, discount, rho, pi, mu = map(natives, numbers)
    weight = natives(weights.numbers())
    return Rows(arithmetic, phi, phi_next, reward, discount, rho, weight, data.first, pi, mu, twin)


def _scalar(arithmetic: Arithmetic, value: Any) -> Any:
    return arithmetic.scalar(parse_number(value))
