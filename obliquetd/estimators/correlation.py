"""Over how many rows of a trajectory the rows depend on each other, and the batches that this asks for.

The correlation time of a stationary series x_t with autocorrelations rho_k is

    tau = sum over all k of rho_k = 1 + 2 (rho_1 + rho_2 + ...),

1 where the rows are independent: the mean of T rows is as noisy as that of T / tau independent ones. Its
estimate stops at the first lag M with M >= 5 tau(M), beyond which there is noise alone (Sokal 1997, Monte Carlo
methods in statistical mechanics, Section 3). Since the mean is taken from the same T rows, each sample
autocovariance is too small by about the variance of the mean, tau / T times that of a row, so that the 2 M + 1
of them lose the share (2 M + 1) / T of tau, which is put back.

Batches of length L that stand for independent rows give the variance of a mean too small: between batches
stays correlation. To the first order in 1 / L the share of it that they see is, for correlations that fall off
geometrically,

    1 - (sum over all k of |k| rho_k) / (tau L) = 1 - (tau - 1 / tau) / (2 L)

(the bias is of Song and Schmeiser 1995, Optimal mean-squared-error batch sizes), and errors are divided by its
root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.errors import InputError

__all__ = ["FEWEST_ROWS", "Batches", "batches_of"]

Floats = npt.NDArray[np.float64]

WINDOW = 5
"""Sokal's: how many correlation times the autocorrelations are summed up to."""
LONGEST_WINDOW = 0.9
"""The share of a log that the window may be: more of it leaves nothing to divide the estimate by."""
MOST_BINS = 4096
"""Longer logs are first summed in as many bins: batches are twenty at most, two hundred bins each."""
FEWEST_ROWS = 100
"""Correlation is not measured in fewer."""
ENOUGH = 20
"""The correlation times of a log that nine logs of ten are not refused with; shorter ones often measure too short a time."""
CONSTANT = 1e-12
"""A series that moves less beside its values does not move but by rounding."""
LENGTH, SHORTEST = 4, 10
"""A batch has at least four correlation times where the log has room, and ten rows."""
FEWEST, MOST = 4, 20
"""How many batches there are. Beyond twenty Student's quantile hardly falls (Schmeiser 1982), and the bias grows."""


class Batches(NamedTuple):
    """Where each batch begins, the correlation time in rows, and what standard errors are multiplied by."""

    starts: npt.NDArray[np.intp]
    correlation_time: float
    widening: float


def batches_of(series: Floats, label: str) -> Batches:
    """The batches of a log for the mean of some series (T, k), of which the slowest one decides.

    Raises
    ------
    InputError
        Where there are too few rows for their correlation.
    """
    steps = len(series)
    more = "Log more rows, or 30 episodes or more"
    if steps < FEWEST_ROWS:
        raise InputError(
            f"the log has {steps} rows, too few to measure how they depend on each other: an interval for "
            f"{label} needs at least {FEWEST_ROWS} rows of one trajectory. {more}"
        )
    width = -(-steps // MOST_BINS)
    bins = np.add.reduceat(series, np.arange(0, steps - steps % width, width), axis=0)
    tau = width * max(_time(bins[:, j]) for j in range(bins.shape[1]))
    if steps < FEWEST * tau:
        told, least = f"about {tau:.0f} rows", f"{FEWEST * tau:.0f}"
        if not np.isfinite(tau):
            tau = steps  # which it is about where the window is as long as it may be
            told, least = "more rows than a log of this length can tell", f"more than {steps}"
        raise InputError(
            f"the log has {steps} rows, and they depend on each other over {told}: an interval for {label} needs at least "
            f"{FEWEST} batches as long as that, {least} rows. {more}: about {ENOUGH * tau:.0f} rows are usually enough"
        )
    length = max(SHORTEST, int(np.ceil(LENGTH * tau)))
    count = min(MOST, max(FEWEST, steps // length))
    seen = 1 - (tau - 1 / tau) / 2 * count / steps
    return Batches(np.arange(count) * steps // count, float(tau), float(seen**-0.5))


def _time(x: Floats) -> float:
    """The correlation time of a series, at least 1; infinity where its window is as long as the log."""
    T = len(x)
    gap = x - x.mean()
    if np.abs(gap).max() <= CONSTANT * np.abs(x).max():
        return 1.0
    spectrum = np.abs(np.fft.rfft(gap, 2 * T)) ** 2
    covariance = np.fft.irfft(spectrum)[:T]
    times = 2 * np.cumsum(covariance / covariance[0]) - 1
    # there is such a lag: deviations from a mean sum to 0, so the last of the times is 0
    lag = int(np.argmax(np.arange(T) >= WINDOW * times))
    lost = (2 * lag + 1) / T
    return max(1.0, float(times[lag]) / (1 - lost)) if lost <= LONGEST_WINDOW else np.inf
