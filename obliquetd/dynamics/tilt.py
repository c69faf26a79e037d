"""The kernel that SETD's expected update evaluates: P_pi, tilted by omega."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquetd.algebra import Matrix
from obliquetd.dynamics.scalars import plain, signed_array, unsigned
from obliquetd.errors import UndefinedError
from obliquetd.learners.emphatic import omega
from obliquetd.operators import Operators

__all__ = ["tilted_kernel", "tilted_mass"]


def tilted_mass(ops: Operators, features: Any) -> tuple[Matrix, Matrix]:
    """The matrix of sums of pi(a|s) p omega(s, a, s'), and its row sums m."""
    zero = ops.arithmetic.zero
    discounts = signed_array(ops.row_discount, ops.arithmetic)
    weights = [
        (
            pi * p * plain([[unsigned(omega(features, s, t, g), ops.arithmetic)]])[0][0]
            if pi
            else zero
        )
        for pi, p, s, t, g in zip(
            ops.pi,
            ops.probability,
            ops.state.tolist(),
            ops.next_state.tolist(),
            discounts,
            strict=True,
        )
    ]
    values = np.array(weights, dtype=float if ops.arithmetic.kind == "float" else object)
    return ops._square(values), ops.by_state(values)


def tilted_kernel(ops: Operators, features: Any) -> Matrix:
    """The mass with each row divided by its sum.

    Raises
    ------
    UndefinedError
        Where all weights of a state are 0.
    """
    mass, total = tilted_mass(ops, features)
    entries = total.entries()
    empty = [i for i, m in enumerate(entries) if not m]
    if empty:
        raise UndefinedError(
            f"omega is 0 on every transition from {ops.names(empty)[:8]}: SETD never updates from "
            "there, and the tilted kernel has no such row",
            ops.names(empty),
        )
    one = ops.arithmetic.one
    return mass.scale_rows(ops.arithmetic.column([one / m for m in entries]))
