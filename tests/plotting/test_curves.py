import colorsys

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from obliquetd.domains import random_walk, two_state
from obliquetd.errors import InputError
from obliquetd.experiments import grid, simulate, sweep
from obliquetd.learners import ETD, SETD, TD
from obliquetd.plotting import COLORS, learning_curves, sensitivity
from obliquetd.plotting.curves import few_runs


@pytest.fixture(scope="module")
def found():
    return simulate(two_state(reward=1), [TD(0.9), SETD(0.01)], 2000, runs=6, seed=0)


def test_medians_means_and_bands_are_drawn(found):
    ax = learning_curves(found, window=(0, 100))
    line, thin = (line for line in ax.get_lines() if line.get_color() == COLORS["SETD"])
    runs = found["SETD"].rmse[:, :101]
    assert line.get_label() == "SETD"
    assert np.array_equal(line.get_ydata(), np.median(runs, axis=0))
    assert np.array_equal(thin.get_ydata(), runs.mean(axis=0))
    assert thin.get_linewidth() < line.get_linewidth() / 2
    assert ax.get_legend().get_title().get_text() == "median (thin: mean) of 6 runs, band with 80 %"
    assert ax.get_xlim() == (0, 100)
    assert len(ax.collections) == 2
    one = learning_curves(found, runs=1)
    assert one.get_legend().get_title().get_text() == ""
    assert len(one.get_lines()) == 2


def test_a_mean_that_few_runs_carry_is_said():
    parts = np.ones((20, 4))
    parts[3, 1], parts[4:6, 2], parts[:, 3] = 100, 100, 0
    assert few_runs(parts).tolist() == [10, 1, 2, 0]
    problem = two_state(reward=1)
    found = simulate(problem, {"a": TD(0.01), "b": SETD(0.01)}, 40, 20)

    def rings(**more):
        ax = learning_curves(found, **more)
        assert not ax.texts  # a curve would strike them through
        return [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]

    assert not rings()
    found["a"].rmse[7, 30] = 1e4
    (ring,) = rings()
    assert ring.get_label() == "a: 1 of 20 runs makes\nhalf of the mean here"
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (30, found["a"].mean()[30])
    (ring,) = rings(exact={"a": np.ones(41)})
    assert ring.get_label() == "a: 1 of 20 runs makes\nhalf of the mean square here"
    found["a"].rmse[8:12, 30] = 1e4  # more than a tenth are no exception
    assert not rings()


@pytest.mark.parametrize("size", [(6.4, 5.0), (5.2, 4.2)])
def test_the_legend_covers_no_curve(size):
    found = simulate(two_state(reward=1), [TD(0.02), ETD(0.01), SETD(0.01)], 800, runs=20, seed=0)
    ax = learning_curves(found)
    ax.figure.set_size_inches(size)
    FigureCanvasAgg(ax.figure).draw()
    legend, curves = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.y0 >= curves.y1
    assert 0 <= legend.x0 < legend.x1 <= ax.figure.bbox.x1
    assert legend.y1 <= ax.figure.bbox.y1


def test_learners_are_called_by_what_differs_and_families_share_a_hue():
    learners = [TD(0.01), TD(0.01, lam="1/2"), SETD(0.02), TD(0.02), TD(0.02, lam="1/2")]
    ax = learning_curves(simulate(two_state(reward=1), learners, 50, 3))
    handles, names = ax.get_legend_handles_labels()
    assert names == [
        "TD, α 0.01",
        "TD, α 0.01, λ 1/2",
        "SETD",
        "TD, α 0.02",
        "TD, α 0.02, λ 1/2",
    ]
    family = [h for h, name in zip(handles, names, strict=True) if name.startswith("TD")]
    assert {h.get_marker() for h in family} == {TD.mark}
    assert len({(h.get_color(), str(h._dash_pattern)) for h in family}) == 4
    hues = [colorsys.rgb_to_hsv(*to_rgb(h.get_color()))[0] for h in family]
    assert np.ptp(hues) < 0.02
    first = [h.get_markevery()[0] for h in handles]
    assert len(set(first)) == len(first)  # marks of curves that coincide stand apart
    own = learning_curves(simulate(two_state(reward=1), {"one": TD(0.1), "two": TD(0.2)}, 50, 2))
    assert own.get_legend_handles_labels()[1] == ["one", "two"]


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


def test_table_and_figure_name_the_same_best_step_size():
    found = sweep(random_walk(5), grid([TD], [0.01, 0.1, 0.3]), 1000, 6, workers=1)
    assert found.best("TD").name != found.best("TD", criterion="end").name  # so that it matters
    for asked in ({}, {"criterion": "end"}):
        ax = sensitivity(found, **asked)
        x, y = ax.get_lines()[0].get_data()
        best = found.best("TD", **asked)
        assert (x[y.argmin()], y.min()) == (best.learner.alpha, best.value)
        assert min(s.value for s in found.sensitivity("TD", **asked)) == best.value


def test_a_best_at_the_edge_of_its_grid_is_said():
    def told(alphas, **settings):
        found = sweep(two_state(reward=1), grid([SETD], alphas, **settings), 300, 3, workers=1)
        ax = sensitivity(found, criterion="whole")
        rings = [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]
        label = ax.get_legend_handles_labels()[1][0]
        assert len(rings) == ("edge" in label)
        return label

    assert told([1e-5, 1e-4, 1e-3]) == "SETD (best at the edge of its grid: α 0.001)"
    assert told([1e-3, 1e-2, 9.0]) == "SETD"
    assert told([1e-3, 1e-2, 9.0], lam=[0, 0.1, 0.2]).startswith("SETD")


def test_no_text_is_too_small_to_read(found):
    """In pixels of a page, 96 to an inch."""
    ax = learning_curves(found, exact={"SETD": np.ones(2001)})
    sizes = [t.get_fontsize() * 96 / 72 for t in ax.figure.findobj(Text) if t.get_text()]
    assert sizes
    assert min(sizes) >= 8


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
