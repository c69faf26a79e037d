"""Traces and emphases along a log.

    z_t = g_{t-1} lambda rho_{t-1} z_{t-1} + m_t phi_t          (Geist and Scherrer 2014, Eq. 17; m = 1)
    F_t = i + g_{t-1} rho_{t-1} F_{t-1},   m_t = lambda i + (1 - lambda) F_t      (Yu 2015; m of ETD)

g_{t-1} is the discount of the transition that arrived in s_t. Where an episode begins, z and F do
too. rho_t z_t is the trace e_t of :mod:`obliquetd.learners.emphatic`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquetd.estimators.rows import Rows

__all__ = ["decays", "emphasis_of", "traces"]


def decays(rows: Rows) -> Any:
    """g_{t-1} rho_{t-1}, and 0 where an episode begins: (T,)."""
    out = np.concatenate([rows.rho[:1] * 0, (rows.discount * rows.rho)[:-1]])
    out[rows.first] = rows.arithmetic.zero
    return out


def traces(rows: Rows, lam: Any, emphasis: Any = None) -> Any:
    """z_t for each row, (T, d)."""
    start = rows.phi if emphasis is None else emphasis[:, None] * rows.phi
    if not lam:
        return start
    out = start.copy()
    carried = decays(rows) * lam
    for t in np.flatnonzero(carried != 0).tolist():
        out[t] += out[t - 1] * carried[t]
    return out


def emphasis_of(rows: Rows, lam: Any, interest: Any) -> Any:
    """m_t of ETD(lambda) for each row, (T,)."""
    F = rows.weight * 0 + interest
    carried = decays(rows)
    for t in np.flatnonzero(carried != 0).tolist():
        F[t] = interest + carried[t] * F[t - 1]
    return F * (rows.arithmetic.one - lam) + lam * interest
