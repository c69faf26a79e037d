"""Confidence intervals for the weights that an estimator makes of a log.

The weights solve A theta = b with sums A and b over the rows. The rows are put together in blocks whose
parts (A_k, b_k) of the sums are nearly independent, and the error is

    theta - theta* = A^-1 sum over k of (b_k - A_k theta*),

theta* being what infinite data leads to. Two ways, each named in the answer:

bootstrap over episodes   The blocks are the episodes, which are independent where each begins anew. As many
                          of them are drawn again and again, with replacement, and the equation is solved each
                          time; the interval is between quantiles of the solutions (Efron 1979).
batch means               The blocks are consecutive rows of one trajectory, all of about one length; their
                          sums u_k = b_k - A_k theta are nearly independent where a block is much longer than the
                          chain's memory. The covariance of theta is A^-1 (the sum of u_k u_k') A^-T times
                          K / (K - 1), and quantiles are Student's with K - 1 degrees of freedom (Conway 1963;
                          the sandwich, Huber 1967).

Both suppose that the importance ratios and traces have a finite variance.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.display import HtmlTable
from obliquetd.errors import InputError, SingularError
from obliquetd.estimators.base import Estimator
from obliquetd.estimators.rows import Rows

__all__ = ["BATCH_MEANS", "BOOTSTRAP", "Confidence", "confidence_of"]

BOOTSTRAP, BATCH_MEANS = "bootstrap over episodes", "batch means"
FEWEST_EPISODES = 30
"""Episodes from which on they are drawn again, unless a method is named."""
MOST_BATCHES, SHORTEST = 30, 10
"""Of batch means: how many there are at most, and the rows that each has at least."""
FEWEST_BATCHES = 5
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
    """

    label: str
    level: float
    method: str
    blocks: int
    theta: Floats
    lower: Floats
    upper: Floats
    standard_error: Floats

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [
            [str(j), *(f"{x:.4g}" for x in row)]
            for j, row in enumerate(
                zip(self.theta, self.lower, self.upper, self.standard_error, strict=True)
            )
        ]
        noun = "episodes" if self.method == BOOTSTRAP else "batches"
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
    episodes = np.cumsum(np.concatenate([[1], rows.first[1:]])) - 1
    count = int(episodes[-1]) + 1
    if method is None:
        method = BOOTSTRAP if count >= FEWEST_EPISODES else BATCH_MEANS
    if method == BOOTSTRAP:
        if count < FEWEST_EPISODES:
            raise InputError(
                f"the log has {count} episodes; a bootstrap over them needs at least {FEWEST_EPISODES}. Take "
                "method='batch means', for one long trajectory"
            )
        blocks = episodes
    elif method == BATCH_MEANS:
        blocks = _batches(len(rows))
    else:
        raise InputError(f"method is {method!r}; expected {BOOTSTRAP!r} or {BATCH_MEANS!r}")
    parts = _parts(estimator, rows, blocks)
    ridge = float(rows.arithmetic.scalar(estimator.read("ridge")))
    whole = _System(*parts, ridge, np.asarray(theta0, dtype=float))
    theta = whole.solve(np.ones(whole.count))
    if method == BOOTSTRAP:
        low, high, spread = _bootstrap(whole, level, resamples, np.random.default_rng(seed))
    else:
        low, high, spread = _batch_means(whole, theta, level)
    return Confidence(estimator.label, float(level), method, whole.count, theta, low, high, spread)


def _batches(steps: int) -> Any:
    """The number of the batch of each row."""
    count = min(MOST_BATCHES, steps // SHORTEST)
    if count < FEWEST_BATCHES:
        raise InputError(
            f"the log has {steps} rows; batch means need at least {FEWEST_BATCHES * SHORTEST}, and thousands "
            "where rows depend on each other for long"
        )
    return np.arange(steps) * count // steps


def _parts(estimator: Estimator, rows: Rows, blocks: Any) -> tuple[Floats, Floats]:
    """A_k and b_k of each block: the sums are linear in the weights of the rows."""
    A, b = [], []
    for k in range(int(blocks[-1]) + 1):
        inside = np.where(blocks == k, rows.weight, 0.0)
        left, right = estimator.sums(dataclasses.replace(rows, weight=inside))
        A.append(np.asarray(left.public(), dtype=float))
        b.append(np.asarray(right.public_vector(), dtype=float))
    return np.array(A), np.array(b)


class _System:
    """The equation with each block as often as wanted, and a ridge."""

    def __init__(self, A: Floats, b: Floats, ridge: float, theta0: Floats) -> None:
        self.A, self.b, self.ridge, self.theta0 = A, b, ridge, theta0
        self.count, self.d = b.shape

    def matrix(self, times: Floats) -> Floats:
        """The sum of A_k, as often as each counts, with the ridge."""
        found: Floats = np.tensordot(times, self.A, 1) + self.ridge * np.eye(self.d)
        return found

    def solve(self, times: Floats) -> Floats:
        """The weights; LinAlgError where the blocks do not determine them."""
        right = times @ self.b + self.ridge * self.theta0
        return np.asarray(np.linalg.solve(self.matrix(times), right), dtype=np.float64)


def _bootstrap(
    system: _System, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    K = system.count
    drawn = rng.multinomial(K, np.full(K, 1 / K), size=resamples).astype(float)
    found = []
    for times in drawn:
        try:
            found.append(system.solve(times))
        except np.linalg.LinAlgError:
            raise SingularError(
                "some draws of episodes do not determine the weights; the log has too few episodes with one of "
                "the features. Take method='batch means', or a positive ridge"
            ) from None
    thetas = np.array(found)
    tail = (1 - level) / 2
    low, high = np.quantile(thetas, [tail, 1 - tail], axis=0)
    return low, high, thetas.std(axis=0, ddof=1)


def _batch_means(system: _System, theta: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    from scipy.stats import t

    K = system.count
    u = system.b - system.A @ theta
    u = u - u.mean(axis=0)
    half = np.linalg.solve(system.matrix(np.ones(K)), u.T)
    spread = np.sqrt((half**2).sum(axis=1) * K / (K - 1))
    far = float(t.ppf((1 + level) / 2, K - 1)) * spread
    return theta - far, theta + far, spread
