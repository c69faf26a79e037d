"""Certificates of convergence: rational matrices K with K - F'KF positive definite (Stein)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from obliquetd.algebra import FieldMatrix
from obliquetd.dynamics.certificate import (
    DENOMINATORS,
    LARGEST_EXACT,
    as_floats,
    as_text,
    rounded,
)
from obliquetd.dynamics.check import check_certificate
from obliquetd.dynamics.lyapunov import solve_stein
from obliquetd.errors import MathematicalError

__all__ = ["stein_certificate"]


def stein_certificate(F: FieldMatrix) -> dict[str, Any]:
    """A certificate that F^k tends to 0; see :mod:`obliquetd.dynamics.check` for its form.

    Raises
    ------
    MathematicalError
        Where none is found.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> half = EXACT.identity(1).scaled(EXACT.one / 2)
    >>> check_certificate(stein_certificate(half))
    True
    """
    identity = as_text(F.arithmetic.identity(F.shape[0]))
    base = {"claim": "convergent", "A": as_text(F), "basis": identity, "quotient": as_text(F)}
    for K in _candidates(F):
        if check_certificate({**base, "K": K}):
            return {**base, "K": K}
    raise MathematicalError(
        "the iteration converges, but no certificate was found for it: no matrix K with denominators up "
        f"to {DENOMINATORS[-1]:.0e} proves it, and K is solved for exactly up to size {LARGEST_EXACT}"
    )


def _candidates(F: FieldMatrix) -> Iterator[list[list[str]]]:
    """K with K - F'KF = I: rounded ones, the exact one last."""
    from scipy.linalg import solve_discrete_lyapunov

    m = F.shape[0]
    try:
        K = solve_discrete_lyapunov(as_floats(F).T, np.eye(m))
    except (np.linalg.LinAlgError, ValueError):
        K = np.full((m, m), np.nan)
    yield from rounded(K)
    if m <= LARGEST_EXACT:
        yield as_text(solve_stein(F))
