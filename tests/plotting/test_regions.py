"""Regions as they are drawn: exact ends, and fills that agree with the exact verdict everywhere."""

import itertools
import random

import matplotlib.colors
import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, PolicyEvaluation
from obliquetd.domains import random_problem, two_state, w_to_2w
from obliquetd.dynamics import mean_dynamics
from obliquetd.dynamics.plane import plane_of
from obliquetd.dynamics.regions import stability_map
from obliquetd.learners import ETD, GTD2, SETD, TD
from obliquetd.plotting import stability_regions, stability_regions_2d
from tests.turn import quick_ones

UNIT = ((0, 1), (0, 1))


def folded():
    """Off-policy, with a target that turns from one action to the other: the boundary folds in p."""
    mdp = MDP.from_transitions(
        [(s, a, t, "1/2", 0) for s in (0, 1, 2) for a, to in (("l", (0, 1)), ("r", (1, 2))) for t in to]
    )  # fmt: skip
    p = sp.Symbol("p")
    target = {s: {"l": 1 - 4 * p * (1 - p), "r": 4 * p * (1 - p)} for s in (0, 1, 2)}
    behavior = {s: {"l": "9/10", "r": "1/10"} for s in (0, 1, 2)}
    return PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=[[1], [2], [3]], discount="gamma"
    )


CASES = {
    "two states": (two_state("gamma"), lambda v: TD(lam=v.get("l", "l")), ("gamma", "l"), UNIT),
    "turned": (two_state("gamma"), lambda v: TD(lam=v.get("l", "l")), ("l", "gamma"), UNIT),
    "w to 2w": (w_to_2w("gamma", "epsilon"), lambda _: TD(), ("gamma", "epsilon"), (("3/4", 1), (0, "1/3"))),
    "folded": (folded(), lambda _: TD(), ("p", "gamma"), UNIT),
    "folded, turned": (folded(), lambda _: TD(), ("gamma", "p"), UNIT),
    "upright": (two_state("gamma"), lambda v: GTD2(mu=v.get("mu", "mu")), ("gamma", "mu"), ((0, 1), (1, 2))),
    "stable": (
        random_problem(3, 2, seed=4).replace(discount="gamma"), lambda v: TD(lam=v.get("l", "l")), ("gamma", "l"), UNIT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", quick_ones(CASES, slice(2)))
def test_what_is_filled_agrees_with_the_exact_verdict(case):
    """Numbers put in before anything is averaged: another way than the polynomials."""
    problem, learner, symbols, ranges = CASES[case]
    ax = stability_regions_2d(problem, learner({}), symbols, ranges)
    parts = [(patch.get_gid(), patch.get_path()) for patch in ax.patches]
    rng = random.Random(3)
    seen = set()
    for _ in range(15):
        shares = [sp.Rational(rng.randint(1, 996), 997) for _ in symbols]
        ends = [tuple(map(sp.nsimplify, side)) for side in ranges]
        at = {
            s: a + (b - a) * share for s, (a, b), share in zip(symbols, ends, shares, strict=True)
        }
        there = problem.subs({k: v for k, v in at.items() if k in map(str, problem.symbols)})
        verdict = mean_dynamics(there, learner(at)).is_stable()
        point = [float(at[s]) for s in symbols]
        filled = [gid for gid, part in parts if part.contains_point(point)]
        assert filled == ["stable" if verdict else "unstable"], at
        seen.add(verdict)
    assert seen == ({True} if case in ("upright", "stable") else {True, False})


def test_the_boundary_is_exact():
    """(6 - 4 epsilon) gamma = 5 in the corner."""
    ax = stability_regions_2d(w_to_2w("gamma", "epsilon"), TD(), ("gamma", "epsilon"))
    (line,) = ax.get_lines()
    gamma, epsilon = map(np.array, line.get_data())
    assert np.allclose((6 - 4 * epsilon) * gamma, 5, atol=1e-4)
    assert gamma.min() == pytest.approx(5 / 6)
    assert gamma.max() == 1


@pytest.mark.parametrize(
    ("problem", "learner", "symbols"),
    [
        (w_to_2w("gamma", "epsilon"), SETD(), ("gamma", "epsilon")),
        (two_state("gamma"), GTD2(mu="mu"), ("gamma", "mu")),
    ],
    ids=["middle", "right"],
)
def test_no_word_lies_on_a_dashed_line(problem, learner, symbols):
    ax = stability_regions_2d(problem, learner, symbols)
    ax.figure.draw_without_rendering()
    (word,) = ax.texts
    lines = [line for line in ax.get_lines() if line.get_gid() == "dashed"]
    assert lines
    box = word.get_bbox_patch().get_window_extent()
    for line in lines:
        assert not line.get_path().transformed(ax.transData).intersects_bbox(box)
    assert word.get_rotation() == 0  # there is room enough to lie


@pytest.mark.parametrize("width", [sp.Rational(1, 1000), sp.Rational(1, 10**20)])
def test_no_cell_is_too_thin_to_be_found(width):
    """An ellipse that no grid meets, and one that no float does."""
    x, y = sp.symbols("x y")
    thin = (y - sp.Rational(1, 2)) ** 2 - (width - x) * x
    found = stability_map(two_state("x"), TD(lam="y"), ("x", "y"), UNIT, resolution=1)
    changed = type(found)((thin,), [], [], [], (x, y), lambda u, v: thin.subs({x: u, y: v}) > 0)
    plane = plane_of(changed, UNIT)
    assert [s.stable for s in plane.strips] == [(True, False, True), (True,)]
    assert plane.strips[0].right == width
    places, edges = plane.traced(plane.strips[0], 9)
    assert edges.shape == (len(places), 4)
    if len(places) > 1:
        assert np.ptp(places) == pytest.approx(float(width))
    expected = np.sqrt(np.maximum((float(width) - places) * places, 0))
    assert np.allclose(edges[:, 1:3] - 0.5, np.column_stack([-expected, expected]), atol=1e-4)


@pytest.mark.slow
def test_a_plane_says_what_it_shows():
    ax = stability_regions_2d(two_state("gamma"), TD(lam="lam"), ("gamma", "lam"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\gamma$", r"$\lambda$")
    assert ax.get_title() == "TD\nboundary: $\\gamma \\lambda - 6 \\gamma + 5 = 0$"
    assert sorted(t.get_text() for t in ax.texts) == ["stable", "unstable"]
    everywhere = stability_regions_2d(two_state("gamma"), ETD(lam="lam"), ("gamma", "lam"))
    assert everywhere.get_title() == "ETD: stable everywhere"
    assert [t.get_text() for t in everywhere.texts] == ["stable"]
    line = stability_regions_2d(two_state("gamma"), GTD2(mu="mu"), ("gamma", "mu"))
    assert (
        line.get_title()
        == "GTD2: stable everywhere off the dashed line\ndashed: $6 \\gamma - 5 = 0$"
    )
    never = stability_regions_2d(
        two_state("gamma"), TD(lam="l"), ("gamma", "l"), (("97/100", 1), (0, "1/5"))
    )
    assert never.get_title() == "TD: unstable everywhere"
    cases = stability_regions_2d(w_to_2w("gamma", "epsilon"), SETD(), ("gamma", "epsilon"))
    assert cases.get_title() == (
        "SETD: stable everywhere off the dashed line\ndashed: $2 \\gamma - 1 = 0$"
    )
    for discount, epsilon in itertools.product(("1/10", "2/5", "7/10", "9/10"), ("1/10", "9/10")):
        assert mean_dynamics(w_to_2w(discount, epsilon), SETD()).is_stable()


@pytest.mark.slow
def test_where_there_is_no_model_there_is_no_verdict():
    """Discounts above 1, a lambda above 1, probabilities 2 p above 1: none of them is stable or unstable."""
    ax = stability_regions_2d(
        two_state("gamma"), TD(lam="l"), ("gamma", "l"), ((0, 2), (-1, "3/2"))
    )
    parts = [(patch.get_gid(), patch.get_path()) for patch in ax.patches]

    def told(*point):
        return [gid for gid, path in parts if path.contains_point(point)]

    assert told(0.5, 0.5) == ["stable"]
    assert told(0.95, 0.1) == ["unstable"]
    for point in ((1.1, 0.5), (0.5, 1.1), (0.5, -0.1), (1.5, 1.2)):
        assert told(*point) == ["no model"]
    assert {t.get_text() for t in ax.texts} >= {"stable", "no model"}
    assert {line.get_gid() for line in ax.get_lines()} == {"boundary", "limit"}
    p = sp.Symbol("p")
    rows = [(s, "a", t, chance, 0) for s in (0, 1) for t, chance in ((0, 1 - 2 * p), (1, 2 * p))]
    chain = PolicyEvaluation(
        MDP.from_transitions(rows),
        target={s: {"a": 1} for s in (0, 1)},
        features=[[1], [2]],
        discount="gamma",
    )
    ax = stability_regions_2d(chain, TD(), ("p", "gamma"), (("-1/2", 1), ("-1/2", 1)))
    parts = [(patch.get_gid(), patch.get_path()) for patch in ax.patches]
    assert told(0.3, 0.5) == ["stable"]
    for point in ((0.6, 0.5), (-0.1, 0.5), (0.3, -0.1)):
        assert told(*point) == ["no model"]
    assert ax.get_title().startswith("TD: stable everywhere")


def luminance(color):
    """Of a colour as it is printed in grey (WCAG 2)."""
    parts = np.array(matplotlib.colors.to_rgb(color))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_neighbouring_fills_differ_in_grey_and_in_kind():
    ax = stability_regions_2d(two_state("gamma"), TD(lam="l"), ("gamma", "l"))
    fills = {patch.get_gid(): patch for patch in ax.patches}
    dark, light = sorted(luminance(p.get_facecolor()) for p in fills.values())
    assert (light + 0.05) / (dark + 0.05) >= 3
    assert fills["unstable"].get_hatch()
    assert not fills["stable"].get_hatch()


def test_regions_have_exact_ends():
    ax = stability_regions(two_state("gamma"), [TD(), TD(lam="1/2"), ETD(), SETD()], "gamma")
    assert [t.get_text() for t in ax.texts] == ["[0, 5/6)", "[0, 10/11)", "[0, 1)", "[0, 1)"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["TD", "TD, λ 1/2", "ETD", "SETD"]
    assert ax.get_xlabel() == r"stable for $\gamma$"
    widths = [bar.get_width() for bar in ax.patches]
    assert np.allclose(widths, [5 / 6, 10 / 11, 1, 1])
    opened = [line.get_markerfacecolor() for line in ax.get_lines() if line.get_xdata()[0] == 5 / 6]
    assert opened == ["white"]


def test_the_word_of_a_part_without_edges_stands_in_its_middle():
    ax = stability_regions_2d(two_state("gamma"), ETD(lam="l"), ("gamma", "l"))
    (word,) = ax.texts
    assert word.get_text() == "stable"
    assert word.get_position() == pytest.approx((0.5, 0.5), abs=0.02)
