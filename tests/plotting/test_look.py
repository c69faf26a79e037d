"""What every picture has in common: nothing cut off by a plain savefig, nothing too small, fills told apart."""

import itertools
import re
from importlib.resources import files

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from obliquetd.domains import (
    baird_star,
    four_rooms,
    kolter,
    random_mdp,
    random_problem,
    two_state,
    w_to_2w,
)
from obliquetd.dynamics import mean_dynamics
from obliquetd.experiments import grid, simulate, sweep
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC, ResidualGradient
from obliquetd.plotting import (
    COLORS,
    eigenvalues,
    learning_curves,
    mdp_graph,
    projections,
    sensitivity,
    stability_regions,
    stability_regions_2d,
    vector_field,
)
from obliquetd.plotting.graph import ACTIONS
from obliquetd.report.pictures import LEAST_SHRINK, WIDTH, themed


def rows(problem, *learners):
    return eigenvalues({x.name: mean_dynamics(problem, x) for x in learners})


def field(**more):
    return vector_field(mean_dynamics(random_problem(3, 2, seed=4), TD()), **more)


def tried():
    return sweep(two_state(reward=1), grid([TD, SETD], [1e-3, 1e-2, 9.0]), 300, 3, workers=1)


def ran():
    return simulate(two_state(reward=1), [TD(5.0), ETD(0.05), SETD(0.01)], 500, runs=20, seed=1)


PICTURES = {
    "eigenvalues of one": lambda: rows(baird_star(), TD()),
    "eigenvalues": lambda: rows(baird_star(), TD(), ETD(), SETD()),
    "eigenvalues of six": lambda: rows(
        baird_star(), TD(), SETD(), ETD(), GTD2(mu=1), TDC(mu=1), ResidualGradient()
    ),
    "complex eigenvalues": lambda: rows(random_problem(4, 3, seed=2), TD(), GTD2(mu=1)),
    "field": lambda: field(starts=[(3, -3), (-2, 2), (2.9, -3)], alpha=0.02, steps=20),
    "plane": lambda: projections(two_state(reward=1)),
    "nearly one line": lambda: projections(kolter()),
    "space": lambda: projections(random_problem(3, 2, seed=4)),
    "line in space": lambda: projections(random_problem(3, 1, seed=4)),
    "bars": lambda: stability_regions(two_state("gamma"), [TD(), TD(lam="1/2"), SETD()], "gamma"),
    "regions": lambda: stability_regions_2d(two_state("gamma"), TD(lam="l"), ("gamma", "l")),
    "small corner": lambda: stability_regions_2d(w_to_2w("gamma", "epsilon"), TD(), ("gamma", "epsilon")),
    "curves": lambda: learning_curves(ran()),
    "step sizes": lambda: sensitivity(tried(), marked={"SETD": 0.01}),
    "matrix": lambda: mdp_graph(random_mdp(31, 1, 0)),
    "rooms": lambda: mdp_graph(four_rooms()),
}  # fmt: skip


LONGER = (
    "complex eigenvalues",
    "nearly one line",
    "line in space",
    "small corner",
    "matrix",
    "rooms",
)


def texts(ax, monkeypatch):
    """The words that are drawn, with their boxes, the size of their letters, and whether they are level."""
    found = []
    draw = Text.draw

    def spied(self, renderer, *args, **kwargs):
        if self.get_text() and self.get_visible():
            level = self.get_rotation() % 90 == 0
            found.append(
                (self.get_text(), self.get_window_extent(renderer), self.get_fontsize(), level)
            )
        return draw(self, renderer, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(Text, "draw", spied)
        FigureCanvasAgg(ax.figure).draw()
    assert found
    return found


def assert_tidy(ax, monkeypatch):
    """No word is cut off, over another, or below 8 pixels where a page shows the picture."""
    found = texts(ax, monkeypatch)
    whole = ax.figure.bbox
    for text, box, *_ in found:
        assert whole.x0 - 1 <= box.x0, text
        assert box.x1 <= whole.x1 + 1, text
        assert whole.y0 - 1 <= box.y0, text
        assert box.y1 <= whole.y1 + 1, text
    level = [(text, box) for text, box, _, level in found if level]  # boxes of others are too large
    for (a, x), (b, y) in itertools.combinations(level, 2):
        apart = x.x1 <= y.x0 + 1 or y.x1 <= x.x0 + 1 or x.y1 <= y.y0 + 1 or y.y1 <= x.y0 + 1
        assert apart, f"{a!r} covers {b!r}"
    shrunk = min(1.0, 960 / (96 * ax.figure.get_size_inches()[0]))
    assert shrunk * min(size for _, _, size, _ in found) * 96 / 72 >= 8


@pytest.mark.parametrize("name", [n for n in PICTURES if n not in LONGER])
def test_a_plain_savefig_is_tidy(name, monkeypatch):
    assert_tidy(PICTURES[name](), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONGER)
def test_a_plain_savefig_of_more_is_tidy(name, monkeypatch):
    assert_tidy(PICTURES[name](), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in PICTURES if n not in ("matrix", "rooms")])
def test_what_a_page_makes_narrower_is_tidy(name, monkeypatch):
    ax = PICTURES[name]()
    width, height = ax.figure.get_size_inches()
    ax.figure.set_size_inches(WIDTH, height * max(WIDTH / width, LEAST_SHRINK))
    assert_tidy(ax, monkeypatch)


def luminance(color):
    """Of a colour as it is printed in grey (WCAG 2)."""
    parts = np.array(matplotlib.colors.to_rgb(color))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def on_ground(color, ground):
    """A colour as it looks on a ground, as far as it is see-through."""
    *own, opacity = matplotlib.colors.to_rgba(color)
    under = matplotlib.colors.to_rgb(ground)
    return tuple(opacity * a + (1 - opacity) * b for a, b in zip(own, under, strict=True))


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_the_unstable_half_is_told_from_the_stable_one_in_grey():
    ax = rows(baird_star(), TD(), ETD())
    fills = [p for axes in ax.figure.axes for p in axes.patches if p.get_hatch()]
    assert len(fills) == 2  # the picture, and what is near 0
    for fill in fills:
        assert contrast(fill.get_facecolor(), "white") >= 3
    marks = [line for line in ax.get_lines() if line.get_label() in ("TD", "ETD")]
    for mark in marks:  # a mark on the fill stands on white
        ground = [
            line for line in ax.get_lines()
            if line.get_color() == "white" and np.array_equal(line.get_xdata(), mark.get_xdata())
        ]  # fmt: skip
        assert ground
        assert ground[0].get_markersize() > mark.get_markersize()
        assert ground[0].get_zorder() < mark.get_zorder()


def test_cells_of_a_grid_are_told_from_walls_in_grey():
    ax = mdp_graph(four_rooms())
    walls = {p.get_facecolor() for p in ax.patches if p.get_hatch()}
    filled = [p.get_facecolor() for p in ax.patches if not p.get_hatch()]
    cells = {on_ground(color, "white") for color in filled if color[3]}
    boxes = [c for c in cells if luminance(c) > 0.15]  # without the brown of arrows
    assert len(boxes) > 5
    assert min(contrast(wall, cell) for wall in walls for cell in boxes) >= 3


def mixed(color, strength):
    return [1 - strength * (1 - x) for x in matplotlib.colors.to_rgb(color)]


def test_coloured_words_and_lines_are_seen_on_light_and_dark_pages():
    """WCAG 2: words need a contrast of 4.5, lines and marks of 3; on paper a few light hues have a mark each."""
    page = files("obliquetd.report").joinpath("templates/base.html.j2").read_text(encoding="utf-8")
    strengths = [int(x) / 100 for x in re.findall(r"--strength: (\d+)%", page)]
    papers = re.findall(r"--paper: (#\w+)", page)
    assert len(strengths) == len(papers) == 3  # light, dark and printed
    assert "color-mix(in srgb, #0072b2 var(--strength), white)" in themed("<svg >#0072b2</svg>")
    for strength, paper in zip(strengths, papers, strict=True):
        assert min(contrast(mixed(x, strength), paper) for x in ACTIONS) >= 4.5
    dark = strengths[1], papers[1]
    assert min(contrast(mixed(x, dark[0]), dark[1]) for x in COLORS.values()) >= 3
