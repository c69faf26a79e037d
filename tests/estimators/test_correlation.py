"""The correlation time of a series and what batches miss of it, against processes whose numbers are known."""

import numpy as np
import pytest
from scipy.signal import lfilter

from obliquetd.errors import InputError
from obliquetd.estimators.correlation import batches_of


def autoregression(steps, rho, seed):
    """x_t = rho x_(t-1) + noise, from its stationary distribution on."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=steps)
    noise[0] /= np.sqrt(1 - rho**2)
    return lfilter([1], [1, -rho], noise)


def times(steps, rho, runs=60):
    return [
        batches_of(autoregression(steps, rho, seed)[:, None], "x").correlation_time
        for seed in range(runs)
    ]


@pytest.mark.parametrize("rho", [0, 0.5, 0.8, 0.95])
def test_the_time_is_that_of_an_autoregression(rho):
    """tau = (1 + rho) / (1 - rho), and the mean subtracted does not pull it down."""
    tau = (1 + rho) / (1 - rho)
    steps = int(60 * max(tau, 5))
    found = times(steps, rho)
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(tau, abs=4 * error + 0.12 * tau)


def test_independent_and_alternating_rows_have_the_time_one():
    assert max(times(2000, 0, 20)) < 1.4
    assert times(2000, -0.9, 5) == [1] * 5
    assert batches_of(np.ones((200, 1)), "x").correlation_time == 1
    assert batches_of(np.full((200, 1), 0.1) + 1e-17, "x").widening == 1
    assert batches_of(np.zeros((200, 1)), "x").correlation_time == 1


def test_the_slowest_series_decides():
    slow, fast = autoregression(3000, 0.9, 1), autoregression(3000, 0, 2)
    both = batches_of(np.column_stack([fast, slow]), "x")
    assert both.correlation_time == batches_of(slow[:, None], "x").correlation_time > 10


def test_long_series_are_summed_first():
    """Eight times as many rows as bins: the time is counted in rows, to the width of a bin."""
    x = autoregression(32768, 0.95, 3)
    assert batches_of(x[:, None], "x").correlation_time == pytest.approx(39, rel=0.3)
    assert batches_of(autoregression(32768, 0, 3)[:, None], "x").correlation_time < 1.4 * 8


@pytest.mark.parametrize("rho", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("times_as_long", [2, 4])
def test_batches_see_as_much_of_the_variance_as_the_widening_says(rho, times_as_long):
    """E of the batches' variance over that of the mean, from the covariance matrix of the series itself."""
    tau = (1 + rho) / (1 - rho)
    length, count = int(times_as_long * tau), 10
    k = np.arange(length * count)
    covariance = rho ** abs(k[:, None] - k).astype(float)
    means = covariance.reshape(count, length, count, length).mean(axis=(1, 3))
    seen = (np.trace(means) - means.sum() / count) / (count - 1) / count
    share = 1 - (tau - 1 / tau) / (2 * length)
    assert share == pytest.approx(seen / means.mean(), abs=0.04)


def test_batches_are_as_long_as_the_correlation_asks():
    found = batches_of(autoregression(2000, 0.9, 0)[:, None], "x")
    count = len(found.starts)
    assert 4 <= count <= 2000 / (4 * found.correlation_time) < 20
    share = 1 - (found.correlation_time - 1 / found.correlation_time) * count / 4000
    assert found.widening == pytest.approx(share**-0.5)
    assert len(batches_of(autoregression(2000, 0, 0)[:, None], "x").starts) == 20


@pytest.mark.parametrize(("steps", "rho"), [(100, 0.98), (150, 0.99), (400, 0.999)])
def test_what_is_too_slow_is_refused_with_the_rows_that_it_needs(steps, rho):
    with pytest.raises(InputError, match=rf"has {steps} rows, and they depend on each other over"):
        batches_of(autoregression(steps, rho, 0)[:, None], "x")
    batches_of(autoregression(200 * steps, rho, 0)[:, None], "x")
