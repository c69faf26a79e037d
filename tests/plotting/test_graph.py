"""The picture of a model by its structure: what is found, what is merged, and nothing covered."""

import itertools
import re
from importlib.resources import files

import gymnasium
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from obliquetd import MDP, Policy, PolicyEvaluation, domains
from obliquetd.errors import InputError
from obliquetd.plotting import mdp_graph
from obliquetd.plotting.fitting import fitting
from obliquetd.plotting.graph import ACTIONS
from obliquetd.plotting.grid_facts import facts_of
from obliquetd.plotting.gridworld import ARROW, GOAL, INK, LEAP, WALL
from obliquetd.plotting.labels import box_of
from obliquetd.plotting.layout import cells_of, chain_order, layouts
from obliquetd.plotting.outcomes import merged
from obliquetd.plotting.routes import Curve, Node, text_size
from obliquetd.plotting.scene import NAME
from tests.turn import part, quick_ones

REPORT = (960, 640)
"""Pixels that a picture of a report has on a desk: the width of the page, 80 percent of its height."""
DOMAINS = {
    "two states": domains.two_state(reward=1),
    "star": domains.baird_star(),
    "small star": domains.baird_star(corners=4),
    "boyan": domains.boyan_chain(),
    "boyan 13": domains.boyan_chain(discount=1, states=13),
    "walk": domains.random_walk(),
    "long walk": domains.random_walk(19),
    "corrupted": domains.corrupted_chain(),
    "collision": domains.collision(),
    "kolter": domains.kolter(),
    "w to 2w": domains.w_to_2w("gamma", "epsilon"),
    "rooms": domains.four_rooms(),
}
RANDOM = [domains.random_mdp(2 + k % 3, 1 + k % 2, seed=k) for k in range(14)] + [
    domains.random_problem(2 + k % 3, 2, seed=k) for k in range(6)
]


def texts(ax):
    legend = ax.get_legend()
    return [t for t in [*ax.texts, *(legend.get_texts() if legend else [])] if t.get_text()]


def gid(ax, name):
    return [t for t in ax.texts if t.get_gid() == name]


def assert_readable(ax):
    """No text over another or outside, none below 8 pixels in a report, no figure of 32 inches."""
    FigureCanvasAgg(ax.figure).draw()
    if gid(ax, "outcome"):  # places and letters have one scale
        (left, _), (right, _) = ax.transData.transform([[0, 0], [1, 0]])
        point = 72 * (right - left) / ax.figure.dpi
        assert point == pytest.approx(gid(ax, "state")[0].get_fontsize() / NAME, rel=0.02)
    boxes = [(t.get_text(), t.get_window_extent()) for t in texts(ax)]
    for (a, x), (b, y) in itertools.combinations(boxes, 2):
        apart = x.x1 <= y.x0 + 1 or y.x1 <= x.x0 + 1 or x.y1 <= y.y0 + 1 or y.y1 <= x.y0 + 1
        assert apart, f"{a!r} covers {b!r}"
    figure = ax.figure.bbox
    for text, box in boxes:
        assert figure.x0 - 1 <= box.x0, text
        assert box.x1 <= figure.x1 + 1, text
        assert figure.y0 - 1 <= box.y0, text
        assert box.y1 <= figure.y1 + 1, text
    size = 72 * ax.figure.get_size_inches()
    assert (size < 72 * 16).all()
    assert min(t.get_fontsize() for t in texts(ax)) * min(np.array(REPORT) / size) >= 8


@pytest.mark.parametrize(
    "name",
    quick_ones(DOMAINS, slice(None, None, 3)),
)
def test_domains_are_readable(name):
    assert_readable(mdp_graph(DOMAINS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(RANDOM)))
def test_random_models_are_readable(seed):
    ax = mdp_graph(RANDOM[seed])
    assert_readable(ax)
    mdp = getattr(RANDOM[seed], "mdp", RANDOM[seed])
    assert len(gid(ax, "outcome")) == len(merged(mdp, None))


def assert_beside_own_edges(ax):
    """Each label is nearer to a line of its own outcome than to any other, in the pixels that are drawn."""
    FigureCanvasAgg(ax.figure).draw()
    lines = {}
    for patch in ax.patches:
        if patch.get_label().startswith("_edge"):
            path = patch.get_path().transformed(patch.get_transform())
            points = np.vstack([step(np.linspace(0, 1, 300)) for step, _ in path.iter_bezier()])
            lines.setdefault(patch.get_label(), []).append(points)
    for text in gid(ax, "outcome"):
        box = text.get_window_extent()
        off = {}
        for name, parts in lines.items():
            x, y = np.vstack(parts).T
            away = np.hypot(np.clip(x, box.x0, box.x1) - x, np.clip(y, box.y0, box.y1) - y)
            off[name] = away.min()
        own = off.pop(text.get_label())
        assert 0 < own < 36, text.get_text()
        assert own < min(off.values(), default=np.inf), text.get_text()


@pytest.mark.parametrize("name", [n for n in DOMAINS if n != "rooms"])
def test_labels_are_nearest_to_their_own_edges(name):
    assert_beside_own_edges(mdp_graph(DOMAINS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(RANDOM)))
def test_labels_of_random_models_are_nearest_to_their_own_edges(seed):
    assert_beside_own_edges(mdp_graph(RANDOM[seed]))


def test_labels_without_room_are_letters_and_the_legend_explains_them():
    problem = domains.boyan_chain()
    ax = mdp_graph(problem)
    drawn = [t.get_text() for t in gid(ax, "outcome")]
    assert sorted(set(drawn)) == ["a", "b", "go: 1, ends"]
    assert (drawn.count("a"), drawn.count("b")) == (24, 1)
    told = [t.get_text() for t in ax.get_legend().get_texts()]
    assert {"a = go: 1/2, r = -3", "b = go: 1, r = -2"} <= set(told)
    said = {x.text for x in merged(problem.mdp, problem)}
    assert {x.partition(" = ")[2] for x in told if " = " in x} <= said
    # a letter is no name of the model's own
    named = problem.mdp.transitions
    rows = [("a" if r.state == 13 else str(r.state), "b", "a" if r.next_state == 13 else str(r.next_state),
             r.probability, r.reward, r.discount) for r in named]  # fmt: skip
    ax = mdp_graph(MDP.from_transitions(rows))
    assert {t.get_text() for t in gid(ax, "outcome")} == {"c", "d", "b: 1, ends"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", part(range(20), 3))
def test_larger_random_models_are_readable(seed):
    assert_readable(mdp_graph(domains.random_mdp(5 + seed % 4, 1 + seed % 3, seed=seed)))
    assert_readable(
        mdp_graph(domains.random_mdp(9 + 4 * seed, 1 + seed % 2, seed, deterministic=True))
    )


@pytest.mark.parametrize(
    "model", [domains.two_state(reward=1), domains.kolter(), domains.random_mdp(4, 2, 7)]
)
def test_labels_are_beside_lines_and_outside_nodes(model):
    """No point of any curve, loops included, is in the box of a label; nor is a node."""
    problem = model if isinstance(model, PolicyEvaluation) else None
    mdp = problem.mdp if problem else model
    strokes = merged(mdp, problem)
    scene = fitting(layouts(mdp, strokes), strokes, list(map(str, mdp.states)), None)
    assert len(scene.labels) == len(strokes)
    lines = np.vstack([curve.at(np.linspace(0, 1, 400)) for curve in scene.curves])
    for label in scene.labels:
        left, bottom, right, top = box_of(label.place, text_size(label.text, 9.0))
        inside = (lines > [left, bottom]).all(axis=1) & (lines < [right, top]).all(axis=1)
        assert not inside.any(), label.text
        corners = np.array(list(itertools.product((left, right), (bottom, top))))
        assert not any(node.holds(corners).any() for node in scene.nodes), label.text


def test_names_fit_their_nodes():
    model = MDP.from_transitions([("a rather long name", "go", "b", 1, 0), ("b", "go", "b", 1, 0)])
    ax = mdp_graph(model)
    FigureCanvasAgg(ax.figure).draw()
    shapes = [p.get_window_extent() for p in ax.patches if not isinstance(p, FancyArrowPatch)]
    for text in gid(ax, "state"):
        name = text.get_window_extent()
        assert any(
            s.x0 < name.x0 and name.x1 < s.x1 and s.y0 < name.y0 and name.y1 < s.y1 for s in shapes
        )


def kind(mdp, problem=None):
    return next(layouts(mdp, merged(mdp, problem))).kind


def test_chains_are_lines():
    for problem in (
        domains.two_state(),
        domains.boyan_chain(),
        domains.random_walk(19),
        domains.corrupted_chain(),
        domains.collision(),
    ):
        strokes = merged(problem.mdp, problem)
        order = chain_order(problem.mdp, strokes)
        assert order == sorted(order)
        assert kind(problem.mdp, problem) == "line"
        assert len(set(next(layouts(problem.mdp, strokes)).states[:, 1])) == 1  # in one row
    shuffled = [(s, "go", t, "1/2", 0) for s, t in zip("cadb", "adbe", strict=True)]
    rows = shuffled + [(s, "go", s, "1/2", 0) for s in "cadb"] + [("e", "go", "e", 1, 0)]
    mdp = MDP.from_transitions(rows, states="abcde")
    assert "".join(mdp.states[k] for k in chain_order(mdp, merged(mdp, None))) in ("cadbe", "ebdac")
    assert kind(domains.random_mdp(5, 2, 1)) not in ("line", "star")


@pytest.mark.parametrize("corners", [3, 5, 6])
def test_a_star_has_its_centre_in_the_centre(corners):
    problem = domains.baird_star(corners=corners)
    layout = next(layouts(problem.mdp, merged(problem.mdp, problem)))
    assert layout.kind == "star"
    outer = [p for k, p in enumerate(layout.states) if problem.mdp.states[k] != "center"]
    assert np.allclose(layout.states[problem.mdp.index["center"]], 0)
    assert np.ptp(np.linalg.norm(outer, axis=1)) < 1e-12
    assert np.allclose(np.sum(outer, axis=0), 0)


def test_identical_outcomes_are_one():
    """A die, the restarts of the collision task, and a state whose actions all do the same."""
    die = MDP.from_transitions([("table", "throw", k, "1/6", 0) for k in range(1, 7)])
    (throw,) = merged(die, None)
    assert throw.text == "throw: 1/6 each"
    assert throw.targets == tuple(die.index[k] for k in range(1, 7))
    assert len(gid(mdp_graph(die), "outcome")) == 1
    back = [s for s in merged(domains.collision().mdp, domains.collision()) if s.is_merged]
    assert [(s.text, len(s.sources)) for s in back] == [
        ("retreat: 1/4 each, ends\nπ 0, μ 1/2", 4),
        ("forward: 1/4 each, r = 1, ends\nπ 1, μ 1/2", 1),
    ]
    end = MDP.from_transitions(
        [("a", x, "b", 1, int(x)) for x in "12"] + [("b", x, "b", 1, 0) for x in "12"]
    )
    assert [s.text for s in merged(end, None)] == ["1: 1, r = 1", "2: 1, r = 2", "any action: 1"]
    paid = [("table", "throw", k, "1/6", k) for k in range(1, 7)]
    assert len(merged(MDP.from_transitions(paid), None)) == 6  # they pay differently


def test_every_outcome_is_in_one_stroke():
    for model in [*RANDOM[:6], domains.baird_star().mdp, domains.collision().mdp]:
        mdp = getattr(model, "mdp", model)
        drawn = sum(
            len(s.sources) * len(s.targets) for s in merged(mdp, None) if s.action is not None
        )
        alike = [s for s in merged(mdp, None) if s.action is None]
        assert drawn + sum(len(mdp.offered[mdp.states[s.sources[0]]]) for s in alike) == len(
            mdp.table
        )


def test_the_legend_draws_what_the_picture_draws():
    """Baird's action called dashed is dashed in both; widths follow the policy."""
    ax = mdp_graph(domains.baird_star())
    lines = {
        t.get_text(): h
        for t, h in zip(ax.get_legend().get_texts(), ax.get_legend().get_lines(), strict=True)
    }
    arrows = [p for p in ax.patches if isinstance(p, FancyArrowPatch)]
    for name, color in zip(("dashed", "solid"), ACTIONS, strict=False):
        own = [p for p in arrows if np.allclose(p.get_edgecolor()[:3], to_rgb(color))]
        assert own
        assert {p.get_linestyle() == "-" for p in own} == {lines[name].get_linestyle() == "-"}
        assert max(p.get_linewidth() for p in own) == pytest.approx(lines[name].get_linewidth())
    problem = domains.random_problem(3, 2, seed=4)
    ax = mdp_graph(problem)
    assert "wider: taken more often by the target" in [
        t.get_text() for t in ax.get_legend().get_texts()
    ]
    widths = {round(p.get_linewidth(), 9) for p in ax.patches if isinstance(p, FancyArrowPatch)}
    assert widths == {
        round(0.9 + 1.5 * float(p), 9) for row in problem.target.values() for p in row.values()
    }


def lake(name, policy=Policy.uniform):
    mdp = MDP.from_gymnasium(gymnasium.make(name))
    return PolicyEvaluation(mdp, target=policy(mdp), discount=0.99)


def cells(ax):
    """The text of each cell's mark and the colour below it, by the name of the state."""
    squares = [
        p
        for p in ax.patches
        if isinstance(p, Rectangle) and p.get_facecolor()[3] and p.get_zorder() == 1.5
    ]
    out = {}
    for name, square in zip([t.get_text() for t in gid(ax, "state")], squares, strict=True):
        x, y = square.get_xy()
        inside = [
            t.get_text() for t in gid(ax, "told")
            if x < t.get_position()[0] < x + square.get_width() and y < t.get_position()[1] < y + square.get_height()
        ]  # fmt: skip
        out[int(name)] = (inside[0].split("\n") if inside else [], square.get_facecolor())
    return out


@pytest.mark.parametrize(("name", "size"), [("FrozenLake-v1", 4), ("FrozenLake8x8-v1", 8)])
def test_holes_and_goal_of_frozen_lake_are_found_again(name, size):
    plan = "".join(row.decode() for row in gymnasium.make(name).unwrapped.desc.ravel())
    problem = lake(name)
    assert cells_of(problem.mdp) == {s: divmod(s, size) for s in range(size * size)}
    ax = mdp_graph(problem)
    assert_readable(ax)
    for s, (told, color) in cells(ax).items():
        expected = {"H": ["ends", "r = 0"], "G": ["ends", "r = 1"]}.get(plan[s], [])
        assert told == expected, s
        assert np.allclose(color[:3], to_rgb(LEAP)) == (plan[s] == "H")
        assert np.allclose(color[:3], to_rgb(GOAL)) == (plan[s] == "G")
    values = [t.get_text() for t in gid(ax, "value")]
    assert len(values) == sum(mark in "SF" for mark in plan)
    v = np.array(problem.v_pi, dtype=float).ravel()
    assert float(values[0]) == pytest.approx(v[0], rel=0.01)
    facts = facts_of(problem.mdp, cells_of(problem.mdp))
    assert facts.directions == {0: (0, -1), 1: (1, 0), 2: (0, 1), 3: (-1, 0)}


def test_the_cliff():
    mdp = MDP.from_gymnasium(gymnasium.make("CliffWalking-v1"))
    ways = {s: 0 if s == 36 else 2 if s % 12 == 11 else 1 for s in mdp.states}
    ax = mdp_graph(
        PolicyEvaluation(
            mdp, target=Policy.deterministic(ways), discount=0.9, behavior=Policy.uniform(mdp)
        )
    )
    assert_readable(ax)
    found = cells(ax)
    assert all(found[s][0] == ["to 36", "r = -100"] for s in range(37, 47))
    assert found[47][0] == ["ends", "r = -1"]
    assert not any(found[s][0] for s in range(37))
    arrows = [p for p in ax.patches if isinstance(p, FancyArrowPatch)]
    assert len(arrows) == 37
    assert "r = -1 a step" in [t.get_text() for t in ax.get_legend().get_texts()]


def test_rooms_have_walls_and_a_goal():
    problem = domains.four_rooms()
    ax = mdp_graph(problem)
    walls = [p for p in ax.patches if getattr(p, "get_hatch", lambda: None)()]
    assert len(walls) == 121 - 104
    assert [t.get_text() for t in gid(ax, "told")] == ["ends\nr = 1"]
    assert len(gid(ax, "value")) == 104
    by_names = MDP.from_transitions(
        [(f"r{i}c{j}", a, f"r{min(max(i + di, 0), 2)}c{min(max(j + dj, 0), 3)}", 1, 0)
         for i in range(3) for j in range(4)
         for a, di, dj in (("n", -1, 0), ("s", 1, 0), ("e", 0, 1), ("w", 0, -1))]
    )  # fmt: skip
    assert cells_of(by_names)["r2c3"] == (2, 3)
    pairs = PolicyEvaluation.of_actions(by_names, target=Policy.uniform(by_names), discount="1/2")
    assert {t.get_text() for t in gid(mdp_graph(pairs), "value")} == {"0"}


@pytest.mark.parametrize(
    "model",
    [
        domains.boyan_chain().mdp,
        domains.random_walk().mdp,
        domains.random_mdp(4, 2, 1),
        domains.random_mdp(12, 2, 0),
    ],
)
def test_numbers_alone_make_no_grid(model):
    strokes = merged(model, None)
    assert cells_of(model) is None or chain_order(model, strokes) is not None


def test_large_models_are_a_matrix():
    problem = domains.dense_random_mdp(40, 2, 3)
    ax = mdp_graph(problem)
    assert np.allclose(
        ax.collections[0].get_array(),
        np.array(problem.P_pi.todense() if hasattr(problem.P_pi, "todense") else problem.P_pi),
    )
    far = MDP.from_transitions([(s, "a", (7 * s) % 500, 1, 0) for s in range(500)])
    shades = mdp_graph(far).collections[0].get_array()
    assert shades.shape == (80, 80)
    assert np.allclose(shades.sum(axis=1), 1)
    hundred = MDP.from_transitions([(s, "go", (s + 1) % 100, 1, 0) for s in range(100)])
    ax = mdp_graph(hundred)
    assert not ax.collections
    assert_readable(ax)


def test_places_and_axes_of_the_readers_own():
    problem = domains.two_state(reward=1)
    ax = mdp_graph(problem, positions={"left": (0, 0), "right": (0, 5)})
    at = {t.get_text(): t.get_position() for t in gid(ax, "state")}
    assert at["left"][0] == at["right"][0]
    with pytest.raises(InputError, match="no place for state 'right'"):
        mdp_graph(problem, positions={"left": (0, 0)})
    small = Figure(figsize=(2.5, 1.5)).subplots()
    FigureCanvasAgg(mdp_graph(problem, small).figure).draw()
    boxes = [t.get_window_extent() for t in gid(small, "outcome")]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert not gid(mdp_graph(problem, labels=False), "outcome")
    assert gid(mdp_graph(domains.random_mdp(5, 2, 14), labels=True), "outcome")


def lightness(color):
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(color)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def on_ground(color, ground):
    """A colour as it looks on a ground, as far as it is see-through."""
    *own, opacity = to_rgba(color)
    return tuple(opacity * a + (1 - opacity) * b for a, b in zip(own, to_rgb(ground), strict=True))


def contrast(a, b):
    high, low = sorted((lightness(a), lightness(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_read_and_told_apart_in_grey():
    assert all(contrast(color, "white") >= 4.5 for color in ACTIONS)
    assert contrast("white", LEAP) >= 4.5
    assert contrast("white", GOAL) >= 4.5
    ax = mdp_graph(lake("FrozenLake-v1"))
    free = [color for told, color in cells(ax).values() if not told]
    light = [on_ground(color, "white") for color in free]
    assert len(set(light)) > 5
    assert all(contrast(color, dark) >= 3 for color in light for dark in (LEAP, GOAL, WALL, ARROW))
    assert all(contrast(color, INK) >= 4.5 for color in light)


def test_a_heat_map_can_be_read_on_a_dark_page():
    """Its see-through cells on the dark ground, beside the colours of the page's style for dark."""
    text = (files("obliquetd.report") / "templates" / "base.html.j2").read_text()
    _, dark, *_ = text.split(":root {")[1:]
    page = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", dark))
    ax = mdp_graph(lake("FrozenLake-v1"))
    for told, color in cells(ax).values():
        if not told:
            cell = on_ground(color, page["paper"])
            assert contrast(cell, page["ink"]) >= 4.5
            assert contrast(cell, page["arrow"]) >= 3
            assert contrast(cell, page["wall"]) >= 3


def test_a_part_of_a_curve_is_on_the_curve():
    curve = Curve(np.array([[0.0, 0], [3, 8], [9, -2], [12, 1]]), 0)
    part = curve.between(0.2, 0.7)
    assert np.allclose(part.at([0, 0.5, 1]), curve.at([0.2, 0.45, 0.7]))
    node = Node(np.array([0.0, 0]), 20.0)
    assert node.reach(0) == pytest.approx(20, abs=0.4)
    assert node.reach(np.pi / 2) == pytest.approx(11, abs=0.4)


@pytest.mark.slow
def test_a_legend_says_what_found_no_place():
    legend = {
        t.get_text() for t in mdp_graph(domains.baird_star(corners=20)).get_legend().get_texts()
    }
    assert "solid: 1, from every state, π 1, μ 1/21" in legend
    assert any(text.startswith("dashed: 1/20") for text in legend)


def ring_of(n, reward):
    """n states in turn, each with two actions: on or far on, in halves; what ``reward`` says is paid."""
    rows = []
    for s in range(n):
        for action, far in (("walk", 1), ("leap", 2)):
            rows.append((f"s{s}", action, f"s{(s + far) % n}", "1/2", reward(s, action)))
            rows.append((f"s{s}", action, f"s{s}", "1/2", 0))
    return MDP.from_transitions(rows)


def told_in_legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_many_edges_say_what_pays_and_the_legend_the_rest():
    """Of more than 40 outcomes those with a reward have labels, and the legend says what the others lack."""
    ax = mdp_graph(ring_of(11, lambda s, action: 7 if (s, action) == (4, "walk") else 0))
    assert [text.get_text() for text in gid(ax, "outcome")] == ["walk: 1/2, r = 7"]
    assert_readable(ax)
    told = told_in_legend(ax)
    assert told[:2] == ["walk: 1/2", "leap: 1/2"]
    assert "edges without a label: no reward, no discount of their own" in told


@pytest.mark.parametrize("reward", [lambda *_: 0, lambda s, _: 1 + s])
def test_where_no_label_is_better_than_others_the_legend_has_the_chances(reward):
    ax = mdp_graph(ring_of(21, reward))
    assert not gid(ax, "outcome")
    told = told_in_legend(ax)
    assert told[:2] == ["walk: 1/2", "leap: 1/2"]
    assert "84 outcomes; the table of transitions" in told


def test_a_legend_is_seen_on_a_phone():
    """No wider than a phone shows at 8 pixels a letter, and at the left of a wide picture."""
    for model in (DOMAINS["two states"], DOMAINS["star"], DOMAINS["boyan"]):
        ax = mdp_graph(model)
        figure = ax.figure
        figure.canvas.draw()
        box = ax.get_legend().get_window_extent()
        points = 72 / figure.dpi
        assert box.x1 * points * 8 / 9 <= 358, model
