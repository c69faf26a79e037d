"""Confidence intervals for the weights that an estimator makes of a log.

The weights solve A theta = b with sums A and b over the rows. The rows are put together in K blocks whose
parts (A_k, b_k) of the sums are nearly independent, and the error is

    theta - theta* = A^-1 sum over k of (b_k - A_k theta*),

theta* being what infinite data leads to. The blocks are

bootstrap over episodes   the episodes, which are independent where each begins anew;
batch means               rows of one trajectory that follow each other, in batches that are long beside the
                          time over which the rows depend on each other (Conway 1963). That time is measured, and
                          the standard error widened by what is left between the batches:
                          :mod:`obliquetd.estimators.correlation` has the equations.

Either way the interval is [theta - q_high s, theta - q_low s], the bootstrap-t (Efron and Tibshirani 1993, Section
12.5; Hall 1992, The bootstrap and Edgeworth expansion, Section 3.6: its coverage is off by O(1 / K) on each side, where
quantiles of theta alone are off by O(K^-1/2)), with

standard error   s^2 = (K - 1) / K sum over k of (theta_(k) - mean)^2, theta_(k) being the weights without block k: the
                 jackknife, which sees what a block that decides much hides from the residuals (Efron and
                 Tibshirani 1993, Chapter 11).
quantiles        Those of t* = (theta* - theta) / s*, where theta* solves the equation with the blocks weighed by
                 W_k, independent draws of the Beta(1/2, 3/2) distribution over their mean, and s* is the sandwich
                 A*^-1 (sum of W_k u_k u_k') A*^-T with u_k = b_k - A_k theta* (Huber 1967), times K / (K - 1). Mean,
                 variance and skewness of W / E W are 1, as those of the counts in draws with replacement, and no
                 draw loses a block altogether (Owen 2025, Better bootstrap t confidence intervals for the mean).
                 Neither quantile is nearer to 0 than Student's with K - 1 degrees of freedom: few blocks seldom
                 show the tail that decides the short side.

All suppose that the importance ratios and traces have a finite variance. How often the intervals held the truth, log by
log, stands in the page on learning from a log, with the command that counts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.display import HtmlTable
from obliquetd.errors import InputError, SingularError
from obliquetd.estimators.base import Estimator
from obliquetd.estimators.correlation import FEWEST_ROWS, batches_of
from obliquetd.estimators.rows import Errors, Rows

__all__ = ["BATCH_MEANS", "BOOTSTRAP", "Confidence", "confidence_of"]

BOOTSTRAP, BATCH_MEANS = "bootstrap over episodes", "batch means"
FEWEST_EPISODES = 30
"""Episodes from which on they are the blocks, unless a method is named or each has one row."""
CHUNK = 1_000_000
"""Numbers in the largest array of the draws that are made at once."""
DETERMINED = 1e-10
"""Without a block a log determines nothing where the reciprocal condition of A^-1 (A - A_k) is below."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Confidence(HtmlTable):
    """Intervals for the weights, each by itself, with how they were made.

    Attributes
    ----------
    label : str
        The estimator's.
    level : float
    method : {"bootstrap over episodes", "batch means"}
    blocks : int
        How many episodes, or batches.
    theta, lower, upper, standard_error : array (d,)
    correlation_time : float
        Of batch means: the rows over which the rows depend on each other, 1 where they do not; NaN of episodes.
    """

    label: str
    level: float
    method: str
    blocks: int
    theta: Floats
    lower: Floats
    upper: Floats
    standard_error: Floats
    correlation_time: float = float("nan")

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [
            [str(j), *(f"{x:.4g}" for x in row)]
            for j, row in enumerate(
                zip(self.theta, self.lower, self.upper, self.standard_error, strict=True)
            )
        ]
        noun = "episodes"
        if self.method == BATCH_MEANS:
            noun = f"batches, correlation time {self.correlation_time:.3g} rows"
        caption = (
            f"{self.label}: {100 * self.level:g} % intervals, {self.method}, {self.blocks} {noun}"
        )
        return caption, ["weight", "estimate", "lower", "upper", "standard error"], rows

    def __str__(self) -> str:
        caption, heading, rows = self._table()
        widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
        lines = [
            "  ".join(x.rjust(w) for x, w in zip(r, widths, strict=True)) for r in (heading, *rows)
        ]
        return "\n".join([caption, *lines])

    __repr__ = __str__


def confidence_of(
    estimator: Estimator,
    rows: Rows,
    theta0: Any,
    level: float,
    method: str | None,
    resamples: int,
    seed: int,
) -> Confidence:
    """The intervals of an estimator on rows of floats.

    Raises
    ------
    InputError
        For an estimator that has no sums, a level that is none, or a log that has too few rows.
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"level is {level!r}; expected a number between 0 and 1, such as 0.95")
    if type(resamples) is not int or resamples < 100:
        raise InputError(f"resamples is {resamples!r}; expected an integer of at least 100")
    if type(seed) is not int or seed < 0:
        raise InputError(f"seed is {seed!r}; expected an integer of at least 0")
    begins = np.flatnonzero(np.concatenate([[True], rows.first[1:]]))
    if method is None:
        # with discount 0 each row of a trajectory looks like an episode of its own
        alone = len(begins) == len(rows)
        if alone and FEWEST_EPISODES <= len(rows) < FEWEST_ROWS:
            raise InputError(
                f"the log has {len(rows)} rows, each an episode of its own or with discount 0: rows of one trajectory need "
                f"to be {FEWEST_ROWS} or more. Where they are independent, take method={BOOTSTRAP!r}"
            )
        several = len(begins) >= FEWEST_EPISODES and not alone
        method = BOOTSTRAP if several else BATCH_MEANS
    if method not in (BOOTSTRAP, BATCH_MEANS):
        raise InputError(f"method is {method!r}; expected {BOOTSTRAP!r} or {BATCH_MEANS!r}")
    if method == BOOTSTRAP and len(begins) < FEWEST_EPISODES:
        raise InputError(
            f"the log has {len(begins)} episodes; a bootstrap over them needs at least {FEWEST_EPISODES}. Log more of "
            f"them, or take method={BATCH_MEANS!r}, which needs {FEWEST_ROWS} rows or more"
        )
    updates = [(left * (e.scale * rows.weight)[:, None], e) for left, e in estimator.updates(rows)]
    ridge = float(rows.arithmetic.scalar(estimator.read("ridge")))
    first = np.asarray(theta0, dtype=float)
    time, widening = float("nan"), 1.0
    if method == BATCH_MEANS:
        whole = _System(*_parts(updates, np.zeros(1, dtype=np.intp)), ridge, first)
        each = np.sum([_by_row(left, e, whole.theta) for left, e in updates], axis=0)
        moved = np.linalg.solve(whole.total, each.T).T
        series = np.hstack([moved, *(left for left, _ in updates)])
        begins, time, widening = batches_of(series, estimator.label)
    system = _System(*_parts(updates, begins), ridge, first)
    spread = widening * _jackknife(system, estimator.label, method)
    low, high = _quantiles(system, level, resamples, np.random.default_rng(seed))
    theta = system.theta
    return Confidence(
        estimator.label, float(level), method, system.count, theta,
        theta - high * spread, theta - low * spread, spread, time,
    )  # fmt: skip


def _by_row(left: Floats, errors: Errors, theta: Floats) -> Floats:
    """What each row adds to b - A theta, (T, d)."""
    found: Floats = left * (errors.y - errors.Delta @ theta)[:, None]
    return found - left * theta if errors.own else found


def _parts(updates: list[tuple[Floats, Errors]], begins: Any) -> tuple[Floats, Floats]:
    """A_k and b_k of the blocks of rows that begin there."""
    steps, d = updates[0][0].shape
    A, b = np.zeros((len(begins), d, d)), np.zeros((len(begins), d))
    ends = [*begins[1:].tolist(), steps]
    for left, errors in updates:
        for k, (i, j) in enumerate(zip(begins.tolist(), ends, strict=True)):
            A[k] += left[i:j].T @ errors.Delta[i:j]
            b[k] += left[i:j].T @ errors.y[i:j]
            if errors.own:
                A[k] += np.diag(left[i:j].sum(axis=0))
    return A, b


class _System:
    """The equation in blocks, with a ridge, and its solution."""

    def __init__(self, A: Floats, b: Floats, ridge: float, theta0: Floats) -> None:
        self.A, self.b = A, b
        self.count, self.d = b.shape
        self.ridge, self.right = ridge * np.eye(self.d), ridge * theta0
        self.total = A.sum(axis=0) + self.ridge
        self.theta: Floats = np.linalg.solve(self.total, b.sum(axis=0) + self.right)

    def residuals(self, thetas: Floats) -> Floats:
        """b_k - A_k theta for each theta (C, d): (C, d, K)."""
        flat = (self.A.reshape(-1, self.d) @ thetas.T).reshape(self.count, self.d, -1)
        return np.asarray(self.b.T - flat.transpose(2, 1, 0))


def _jackknife(system: _System, label: str, method: str) -> Floats:
    """The standard errors, from the weights without one block.

    theta_(k) - theta = -(A - A_k)^-1 u_k, with the ridge in A, and A - A_k = A (I - A^-1 A_k), whose last factor has
    no units.
    """
    K, d = system.count, system.d
    u = system.residuals(system.theta[None])[0].T
    change = np.empty((K, d))
    for part in np.array_split(np.arange(K), min(K, -(-K * d * d // CHUNK))):
        factor = np.eye(d) - np.linalg.solve(system.total, system.A[part])
        lost = np.linalg.cond(factor) > 1 / DETERMINED
        if lost.any():
            name = "episode" if method == BOOTSTRAP else "batch"
            raise SingularError(
                f"without {name} {part[int(np.argmax(lost))]} of {K} the log does not determine the weights of {label}: "
                "an interval needs each feature in several of them. Log more, leave out the feature, or give the "
                "estimator a positive ridge"
            )
        moved = np.linalg.solve(system.total, u[part].T).T
        change[part] = np.linalg.solve(factor, moved[..., None])[..., 0]
    gap = change - change.mean(axis=0)
    return np.asarray(np.sqrt((K - 1) / K * (gap**2).sum(axis=0)))


def _quantiles(
    system: _System, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The lower and upper quantile of t*, none nearer to 0 than Student's."""
    from scipy.stats import t

    K, d = system.count, system.d
    found = []
    pieces = min(resamples, -(-resamples * K * d // CHUNK))
    for part in np.array_split(np.arange(resamples), pieces):
        times = rng.beta(0.5, 1.5, size=(len(part), K))
        times /= times.mean(axis=1, keepdims=True)
        total: Floats = np.tensordot(times, system.A, 1) + system.ridge
        right = (times @ system.b + system.right)[..., None]
        thetas = np.asarray(np.linalg.solve(total, right)[..., 0], dtype=np.float64)
        moved = np.linalg.solve(total, system.residuals(thetas))
        moved = moved - (moved @ times[..., None]) / K
        spread = np.sqrt((moved**2 @ times[..., None])[..., 0] * K / (K - 1))
        # blocks that all agree have no spread, and then thetas do not move either
        still = np.zeros_like(spread)
        found.append(np.divide(thetas - system.theta, spread, out=still, where=spread > 0))
    tail = (1 - level) / 2
    low, high = np.quantile(np.concatenate(found), [tail, 1 - tail], axis=0)
    far = float(t.ppf(1 - tail, K - 1))
    return np.minimum(low, -far), np.maximum(high, far)
