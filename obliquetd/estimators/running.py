"""The inverse of a growing sum of rank-one terms, kept up by the formula of Sherman and Morrison.

(S + u v')^-1 = S^-1 - S^-1 u v' S^-1 / (1 + v' S^-1 u)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquetd.errors import SingularError
from obliquetd.estimators.rows import Rows

__all__ = ["RunningInverse"]

WORST = 1e12
"""Floats: how many times its rounding S^-1 may magnify; from here on S is taken for singular."""
CANCELLED = 1e-8
"""Floats: a denominator that is this small beside its terms has lost half its digits."""


class RunningInverse:
    """S, and its inverse as long as it has one.

    Where S is singular the inverse is ``None``, and it is sought anew with the next term. While a row
    or column of S has never been touched, that is spared.

    Parameters
    ----------
    rows : Rows
        For their arithmetic and their number of features.
    ridge : scalar
        S begins as ridge I.
    """

    def __init__(self, rows: Rows, ridge: Any) -> None:
        self._rows, self._floats = rows, rows.arithmetic.kind == "float"
        self.sum = rows.identity(ridge)
        self._size = self.sum  # of the terms: floats are rounded in proportion to it
        self.inverse: Any = rows.identity(rows.arithmetic.one / ridge) if ridge else None
        self._untouched = rows.identity(ridge) == 0

    def add(self, u: Any, v: Any) -> None:
        """S + u v'."""
        term = np.outer(u, v)
        self.sum = self.sum + term
        if self._floats:
            self._size = self._size + abs(term)
        if self.inverse is None:
            self._untouched = self._untouched & np.equal(term, 0)
            self._renew()
            return
        right, left = self.inverse @ u, v @ self.inverse
        product = v @ right
        below = self._rows.arithmetic.one + product
        if not below or (self._floats and abs(below) <= CANCELLED * (1 + abs(product))):
            self._renew()
        else:
            self.inverse = self.inverse - np.outer(
                right, left * (self._rows.arithmetic.one / below)
            )

    def _renew(self) -> None:
        """The inverse of S, computed afresh; None where S is singular."""
        silent = self._untouched.all(axis=0).any() or self._untouched.all(axis=1).any()
        self.inverse = None if silent else self._fresh()

    def _fresh(self) -> Any:
        if self._floats:
            return self._fresh_floats()
        try:
            found = self._rows.matrix(self.sum).solve(self._rows.matrix(self._one()), "the sum")
        except SingularError:
            return None
        out = np.empty(self.sum.shape, dtype=object)
        for i, row in enumerate(found.rows()):
            out[i] = row
        return out

    def _fresh_floats(self) -> Any:
        """None unless |S^-1| E has a radius below 1 for E the rounding of the terms (Rump 1999)."""
        try:
            found = np.linalg.inv(self.sum)
        except np.linalg.LinAlgError:
            return None
        growth = abs(found) @ self._size
        return found if np.isfinite(growth).all() and _radius(growth) < WORST else None

    def _one(self) -> Any:
        return self._rows.identity(self._rows.arithmetic.one)


def _radius(matrix: Any) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())
