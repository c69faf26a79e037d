import numpy as np
import pytest
from matplotlib.figure import Figure

from obliquetd.domains import two_state
from obliquetd.errors import InputError
from obliquetd.experiments import grid, simulate, sweep
from obliquetd.learners import SETD, TD
from obliquetd.plotting import COLORS, learning_curves, sensitivity


@pytest.fixture(scope="module")
def found():
    return simulate(two_state(reward=1), [TD(0.9), SETD(0.01)], 2000, runs=6, seed=0)


def test_means_and_bands_are_drawn(found):
    ax = learning_curves(found, window=(0, 100))
    line = next(line for line in ax.get_lines() if line.get_label() == "SETD")
    assert np.array_equal(line.get_ydata(), found["SETD"].rmse[:, :101].mean(axis=0))
    assert ax.get_xlim() == (0, 100)
    assert len(ax.collections) == 2


def test_divergence_is_drawn_and_counted():
    lost = simulate(two_state(reward=1), [TD(5.0), SETD(0.01)], 2000, runs=6, seed=0)
    ax = learning_curves(lost)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["TD (6 of 6 runs diverged)", "SETD"]
    crosses = [line for line in ax.get_lines() if line.get_marker() == "X"]
    assert len(crosses) == 1
    first = min(t for t in lost["TD"].diverged_at)
    assert crosses[0].get_xdata()[0] <= first
    assert ax.get_yscale() == "log"
    early = learning_curves(lost, window=(0, first // 2))
    assert not [line for line in early.get_lines() if line.get_marker() == "X"]
    assert "TD (6 of 6 runs diverged)" in early.get_legend_handles_labels()[1]


def test_an_exact_line_and_given_axes(found):
    ax = Figure().subplots()
    line = np.linspace(10, 1, 2001)
    assert learning_curves(found, "rmse", ax, exact={"SETD": line}, log=False) is ax
    assert "SETD, exact" in ax.get_legend_handles_labels()[1]
    assert ax.get_yscale() == "linear"


def test_beside_an_exact_mean_square_the_runs_have_theirs(found):
    """A mean of roots under the root of a mean would be two quantities drawn as one."""
    ax = learning_curves(found, exact={"SETD": np.ones(2001)}, window=(0, 100))
    for name in ("SETD", "TD"):  # in one picture all curves are the same quantity
        line = next(line for line in ax.get_lines() if line.get_label() == name)
        squares = found[name].rmse[:, :101] ** 2
        assert np.allclose(line.get_ydata(), np.sqrt(squares.mean(axis=0)))
    assert ax.get_ylabel() == "RMSE, root mean square"
    assert learning_curves(found).get_ylabel() == "RMSE"


def test_bad_requests(found):
    with pytest.raises(InputError, match="'rmse' or 'rmspbe'"):
        learning_curves(found, "mse")
    with pytest.raises(InputError, match="window 3000 to 4000"):
        learning_curves(found, window=(3000, 4000))


def test_sensitivity_marks_what_is_off_the_scale():
    found = sweep(two_state(reward=1), grid([TD, SETD], [0.001, 0.01, 9.0]), 1000, 4, workers=1)
    ax = sensitivity(found, marked={"SETD": 0.01})
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert lines["SETD"].get_color() == COLORS["SETD"]
    assert lines["SETD"].get_xdata().tolist() == [0.001, 0.01]
    assert sum(line.get_marker() == "X" for line in ax.get_lines()) == 2
    assert ax.get_xscale() == "log"


def test_nothing_global_is_touched(found):
    import matplotlib
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams)
    learning_curves(found)
    assert dict(matplotlib.rcParams) == before
    assert not plt.get_fignums()


def test_a_line_of_zeros_is_named_and_not_drawn():
    """Without rewards, from weights of 0: it would look like a perfect learner."""
    problem = two_state()
    ax = learning_curves(simulate(problem, {"TD": TD(0.01)}, steps=50, runs=2))
    assert ax.get_legend_handles_labels()[1] == ["TD (0 at every step, not drawn)"]
    assert all(len(line.get_xdata()) == 0 for line in ax.get_lines())
    moved = learning_curves(simulate(problem, {"TD": TD(0.01)}, steps=50, runs=2, theta0=[1]))
    assert moved.get_legend_handles_labels()[1] == ["TD"]
    assert len(moved.get_lines()[0].get_xdata()) > 1
