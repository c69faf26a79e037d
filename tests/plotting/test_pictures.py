"""Pictures by their structure: every label there, every point where the mathematics puts it."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Text

from obliquetd import MDP, PolicyEvaluation
from obliquetd.domains import (
    baird_star,
    boyan_chain,
    random_mdp,
    random_problem,
    two_state,
)
from obliquetd.dynamics import mean_dynamics, stationary_moments
from obliquetd.errors import InputError, KindError
from obliquetd.experiments import simulate
from obliquetd.learners import ETD, GTD2, SETD, TD
from obliquetd.plotting import (
    COLORS,
    eigenvalues,
    mdp_graph,
    projections,
    stability_regions,
    stability_regions_2d,
    vector_field,
)
from obliquetd.plotting.spectrum import _tallest

TWO = MDP.from_transitions(
    [(1, "a", 1, "1/2", 0), (1, "b", 1, "1/3", 0), (1, "a", 2, "1/2", 0), (1, "b", 2, "2/3", 0),
     (2, "a", 1, 1, 0), (2, "b", 2, 1, 0)]
)  # fmt: skip


def outcomes(ax):
    return [t for t in ax.texts if t.get_gid() == "outcome"]


def test_parallel_opposite_and_looping_edges_all_keep_their_labels():
    """Case C27: two loops on one state, two parallel edges, one back, one loop on the other."""
    ax = mdp_graph(TWO)
    labels = outcomes(ax)
    assert sorted(t.get_text() for t in labels) == [
        "a: 1",
        "a: 1/2",
        "a: 1/2",
        "b: 1",
        "b: 1/3",
        "b: 2/3",
    ]
    places = [t.get_position() for t in labels]
    assert (
        min(np.hypot(*np.subtract(p, q)) for i, p in enumerate(places) for q in places[:i]) > 0.15
    )
    assert sum(isinstance(p, FancyArrowPatch) for p in ax.patches) == 6


def covered(ax):
    """How many pairs of edge labels share more than a tenth of the smaller one."""
    FigureCanvasAgg(ax.figure).draw()
    boxes = [t.get_window_extent() for t in outcomes(ax)]
    count = 0
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            width = min(a.x1, b.x1) - max(a.x0, b.x0)
            height = min(a.y1, b.y1) - max(a.y0, b.y0)
            small = min(a.width * a.height, b.width * b.height)
            count += width > 0 and height > 0 and width * height > 0.1 * small
    return count


@pytest.mark.parametrize(
    "model", [TWO, two_state(reward=1), boyan_chain(), random_problem(4, 2, seed=1)]
)
def test_labels_do_not_cover_each_other(model):
    assert covered(mdp_graph(model)) == 0


def test_policies_rewards_and_ends_are_written():
    ax = mdp_graph(two_state(reward=3))
    texts = [t.get_text() for t in outcomes(ax)]
    assert "right: 1, r = 3\nπ 1, μ 1/2" in texts
    dashed = [p for p in ax.patches if isinstance(p, FancyArrowPatch) and p.get_linestyle() != "-"]
    assert len(dashed) == 2
    assert "not taken by the target" in [t.get_text() for t in ax.get_legend().get_texts()]
    chain = mdp_graph(boyan_chain())
    assert "go: 1, ends" in [t.get_text() for t in outcomes(chain)]
    assert {t.get_text() for t in chain.texts if t.get_gid() == "state"} == set(map(str, range(14)))


def test_terminal_and_single_states_and_large_ones():
    ended = MDP.from_transitions([("s", "a", "end", 1, 0)])
    assert len(outcomes(mdp_graph(ended))) == 1
    assert len(outcomes(mdp_graph(MDP.from_transitions([(0, "a", 0, 1, 0)])))) == 1
    star = {t.get_text() for t in outcomes(mdp_graph(baird_star()))}
    assert star == {
        "solid: 1\nfrom every state\nπ 1, μ 1/7",
        "dashed: 1/6 to each corner\nfrom every state\nπ 0, μ 6/7",
    }
    assert (
        len(mdp_graph(random_mdp(31, 1, 0)).collections) == 1
    )  # 528 moves are no picture of lines


def markers(ax):
    return {
        line.get_label(): [d[0] for d in line.get_data()]
        for line in ax.get_lines()
        if len(line.get_xdata()) == 1
    }


def test_projections_are_where_they_should_be():
    problem = two_state(reward=1, discount="1/2")
    ax = projections(problem, ["best", "td", "etd"])
    root = np.sqrt(np.array(problem.xi, dtype=float).ravel())
    points = markers(ax)
    for method, name in (("best", "orthogonal"), ("td", "TD"), ("etd", "ETD")):
        v_hat = np.array(problem.fixed_point(method).v_hat, dtype=float).ravel()
        assert np.allclose(points[name], root * v_hat)
    v = np.array(points["v"])
    assert np.allclose(v, root * np.array(problem.v_pi, dtype=float).ravel())
    phi = root * np.array(problem.Phi, dtype=float).ravel()
    assert abs((v - points["orthogonal"]) @ phi) < 1e-12  # perpendicular to the eye as well
    for name in ("TD", "ETD"):
        assert abs(np.cross([*points[name], 0], [*phi, 0])[2]) < 1e-12  # on the line


def test_three_states_are_drawn_in_space():
    ax = projections(random_problem(3, 2, seed=4))
    assert ax.name == "3d"
    assert {"v", "orthogonal", "TD", "SETD", "ETD"} <= set(ax.get_legend_handles_labels()[1])
    given = Figure().add_subplot(projection="3d")
    assert projections(random_problem(3, 1, seed=4), ax=given) is given
    with pytest.raises(InputError, match="three-dimensional"):
        projections(random_problem(3, 1, seed=4), ax=Figure().subplots())


def test_arrows_the_right_angle_and_the_frame():
    """The triangle fills the axes: the origin is far from it here, and is left out."""
    problem = two_state(reward=1, discount="1/2")
    ax = projections(problem, ["best", "td", "etd"])
    points = markers(ax)
    arrows = {tuple(np.round(text.xy, 9)) for text in ax.texts if text.arrow_patch}
    assert arrows == {tuple(np.round(points[n], 9)) for n in ("orthogonal", "TD", "ETD")}
    (corner,) = (
        np.column_stack(x.get_data()) for x in ax.get_lines() if x.get_gid() == "right angle"
    )
    foot = np.array(points["orthogonal"])
    sides = corner[0] - foot, corner[2] - foot
    assert abs(sides[0] @ sides[1]) < 1e-12
    assert np.allclose(corner[1], foot + sides[0] + sides[1])
    assert np.linalg.norm(sides[0]) == pytest.approx(np.linalg.norm(sides[1]))
    assert ax.get_xlim()[0] > 0
    assert ax.get_legend_handles_labels()[1][-1] == r"$T\hat v$, from which $X$ projects"
    inside = np.array([points[n] for n in ("v", "orthogonal", "TD", "ETD")])
    assert np.ptp(inside, axis=0).max() > 0.4 * np.ptp(ax.get_xlim())


@pytest.mark.parametrize("rank", [1, 2])
def test_space_is_seen_from_the_normal(rank):
    problem = random_problem(3, rank, seed=4)
    ax = projections(problem)
    root = np.sqrt(np.array(problem.xi, dtype=float).ravel())
    spanning = root[:, None] * np.array(problem.Phi, dtype=float)
    if rank == 1:
        spanning = np.column_stack([spanning, root * np.array(problem.v_pi, dtype=float).ravel()])
    normal = np.cross(*spanning.T)
    elev, azim = np.radians([ax.elev, ax.azim])
    eye = [np.cos(elev) * np.cos(azim), np.cos(elev) * np.sin(azim), np.sin(elev)]
    assert abs(normal @ eye) / np.linalg.norm(normal) == pytest.approx(np.cos(np.radians(30)))
    drops = [line.get_data_3d() for line in ax.get_lines() if line.get_gid() == "drop line"]
    assert len(drops) == (3 if rank == 2 else 0)
    for drop in drops:
        top, foot = np.array(drop).T
        assert abs((top - foot) @ spanning).max() < 1e-9
        assert abs(foot @ normal) < 1e-9


def test_a_method_without_a_fixed_point_is_named():
    ax = projections(two_state(discount="5/6", reward=1), ["best", "td"])
    assert ax.get_title() == "no fixed point: TD"  # as the legend would call it


@pytest.mark.parametrize(
    ("problem", "error", "words"),
    [
        (baird_star(), InputError, "7 states"),
        (two_state("gamma"), KindError, "subs"),
        (random_problem(2, 2, seed=0), InputError, "span everything"),
    ],
)
def test_geometry_refuses(problem, error, words):
    with pytest.raises(error, match=words):
        projections(problem)


def test_eigenvalues_and_their_half_plane():
    problem = baird_star()
    named = {L.name: mean_dynamics(problem, L) for L in (TD(), ETD(), SETD())}
    ax = eigenvalues(named)
    hollow = [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]
    lines = {line.get_label(): line for line in ax.get_lines()}
    for row, (name, dyn) in enumerate(named.items()):
        (still,) = (line for line in hollow if line.get_ydata()[0] == row)
        found = [*lines[name].get_xdata(), *still.get_xdata()]
        assert np.allclose(np.sort(found), np.sort(dyn.spectrum().real), atol=1e-6)
        assert still.get_xdata().tolist() == [0] * dyn.stability.kernel_dimension
        assert lines[name].get_color() == COLORS[name]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["TD", "ETD", "SETD"]
    assert ax.get_xlim()[0] < min(lines["TD"].get_xdata()) < 0 < ax.get_xlim()[1]
    assert ax.get_title("left").split("\n") == [
        "hatched: unstable · hollow: no update moves there", "height in a row: imaginary part",
    ]  # fmt: skip


def test_a_pair_is_told_from_a_real_one_whatever_other_rows_hold():
    """Imaginary parts fill each row's own height; what rounding makes of a real one stays on the line."""
    named = {L.name: mean_dynamics(baird_star(), L) for L in (TD(), SETD(), GTD2(mu=1))}
    values = {name: dyn.spectrum().imag for name, dyn in named.items()}
    assert 0 < max(values["SETD"]) < 0.3 * max(values["GTD2"])
    ax = eigenvalues(named)
    lines = {line.get_label(): line for line in ax.get_lines()}
    away = [np.abs(lines[name].get_ydata() - row).max() for row, name in enumerate(named)]
    assert np.allclose(away, [0, 0.3, 0.3])
    assert ax.get_title("left").endswith("imaginary part, each row on its own scale")
    assert _tallest([(1 + 1e-5j, 1), (1 - 1e-5j, 1)]) == pytest.approx(0.02)
    assert _tallest([(1 + 0.1j, 1), (1 - 0.1j, 1)]) == 0.1
    assert _tallest([(1 + 0j, 2)]) == _tallest([]) == 0


def test_multiplicities_are_exact_and_a_crowd_at_0_is_enlarged():
    """A float splits an eigenvalue that occurs five times; two that differ by 1/1000 are two."""
    star = baird_star()
    for problem in (star, star.replace(arithmetic="float")):
        ax = eigenvalues(mean_dynamics(problem, TD()))
        assert [t.get_text() for t in ax.texts if "×" in t.get_text()] == ["×5"]
    loop = MDP.from_transitions([(s, "a", s, 1, 0) for s in range(4)])
    features = {0: [1, 0, 0, 0], 1: [0, 1, 0, 0], 2: [0, 0, 1, 0], 3: [0, 0, 0, 1]}
    xi = ["1/4", "251/1000", "499/1000", 0]
    problem = PolicyEvaluation(
        loop, target={s: {"a": 1} for s in range(4)}, features=features, discount=0, xi=xi
    )
    ax = eigenvalues(mean_dynamics(problem, TD()))
    assert not [t for t in ax.texts if "×" in t.get_text()]
    marks = [line for line in ax.get_lines() if line.get_marker() == TD.mark]
    solid, hollow = (line for line in marks if line.get_color() != "white")
    assert np.allclose(solid.get_xdata(), [0.25, 0.251, 0.499])
    assert hollow.get_xdata().tolist() == [0]
    assert len(ax.figure.axes) == 1
    (_, near) = eigenvalues(mean_dynamics(star, TD())).figure.axes
    assert near.get_xlabel() == "near 0"
    (shown,) = (line.get_xdata() for line in near.get_lines() if line.get_label() == "TD")
    assert any(near.get_xlim()[0] < x < 0 for x in shown)


@pytest.mark.slow
def test_paths_say_whether_they_arrived_and_samples_how_far_off_they_stay():
    problem = random_problem(3, 2, seed=4)
    dyn = mean_dynamics(problem, TD())

    def notes(ax):
        return [t.get_text() for t in ax.texts if t.get_text()]

    assert notes(vector_field(dyn, starts=[(3, -3)], alpha=0.05, steps=3000)) == []
    early = vector_field(dyn, starts=[(3, -3), (-2, 2)], alpha=0.02, steps=20)
    assert notes(early) == ["each after 20 steps"]  # they end side by side
    apart = vector_field(dyn, starts=[(30, -3), (-20, 2)], alpha=0.02, steps=2)
    assert notes(apart) == ["after 2 steps"] * 2
    assert sum(t.arrow_patch is not None for t in early.texts) == 2
    crowd = vector_field(
        dyn, starts=[(3, -3), (3.1, -3), (3, -2.8), (2.8, -3)], alpha=0.02, steps=20
    )
    assert notes(crowd) == ["each after 20 steps"]
    heads = np.array([t.xy for t in crowd.texts if t.arrow_patch is not None])
    gaps = np.linalg.norm(heads[:, None] - heads, axis=2)[np.triu_indices(len(heads), 1)]
    assert gaps.min() > 0.05 * np.ptp(crowd.get_xlim())
    samples = simulate(problem, [TD(0.02)], 50, 2, theta0=[3, -3], keep_path=True)["TD"]
    ax = vector_field(dyn, runs=samples)
    (diamond,) = (line for line in ax.get_lines() if line.get_marker() == "D")
    held = stationary_moments(problem, TD("1/50")).mean[0]
    assert np.allclose(np.ravel(diamond.get_data()), np.array(held, dtype=float).ravel())
    off = np.linalg.norm(np.ravel(diamond.get_data()) - np.array(dyn.fixed_point(), float).ravel())
    assert diamond.get_label().endswith(f"α 0.02: {off:.2g} off the fixed point")
    one = simulate(two_state(), [GTD2(0.1, 1)], 50, 2, keep_path=True)["GTD2"]
    with pytest.raises(InputError, match="1 weights"):
        vector_field(mean_dynamics(two_state(), GTD2(mu=1)), runs=one)


def test_the_field_points_to_the_fixed_point():
    problem = random_problem(3, 2, seed=4)
    dyn = mean_dynamics(problem, TD())
    found = simulate(problem, [TD(0.02)], 50, 2, theta0=[3, -3], keep_path=True)["TD"]
    ax = vector_field(dyn, starts=[(3, -3), (-2, 2)], alpha=0.05, steps=3000, runs=found)
    fixed = np.array(dyn.fixed_point(), dtype=float).ravel()
    star = next(line for line in ax.get_lines() if line.get_marker() == "*")
    assert np.allclose(np.ravel(star.get_data()), fixed)
    paths = [line for line in ax.get_lines() if len(line.get_xdata()) == 3001]
    assert len(paths) == 2
    for path in paths:
        assert np.allclose([path.get_xdata()[-1], path.get_ydata()[-1]], fixed, atol=1e-2)
    with pytest.raises(InputError, match="1 weights"):
        vector_field(mean_dynamics(two_state(), TD()))
    gradient = vector_field(mean_dynamics(two_state(reward=1), GTD2(mu=1)))
    assert (gradient.get_xlabel(), gradient.get_ylabel()) == (r"$\theta$", "$w$")
    star = next(line for line in gradient.get_lines() if line.get_marker() == "*")
    assert np.allclose(np.ravel(star.get_data()), [-7.5, 0])


def test_no_star_where_there_is_no_fixed_point():
    """Two copies of one feature: A is singular, so no one point is fixed."""
    walk = two_state(reward=1)
    twice = PolicyEvaluation(
        walk.mdp,
        target=walk.target,
        behavior=walk.behavior,
        features=[[1, 1], [2, 2]],
        discount="1/2",
    )
    ax = vector_field(mean_dynamics(twice, TD()))
    assert not [line for line in ax.get_lines() if line.get_marker() == "*"]


def test_given_axes_are_used_and_nothing_global_is_set():
    before = dict(matplotlib.rcParams)
    ax = Figure().subplots()
    assert mdp_graph(TWO, ax) is ax
    assert eigenvalues(mean_dynamics(two_state(), TD()), Figure().subplots()).figure
    assert dict(matplotlib.rcParams) == before
    assert not plt.get_fignums()


def test_no_text_of_any_picture_is_too_small():
    """In pixels of a page, 96 to an inch."""
    problem = random_problem(3, 2, seed=4)
    dynamics = {"TD": mean_dynamics(problem, TD()), "ETD": mean_dynamics(problem, ETD())}
    pictures = [
        eigenvalues(dynamics),
        vector_field(dynamics["TD"], starts=[(3, -3)], steps=5),
        projections(problem),
        stability_regions(two_state("gamma"), [TD(), SETD()], "gamma"),
        stability_regions_2d(two_state("gamma"), TD(lam="l"), ("gamma", "l")),
    ]
    for ax in pictures:
        sizes = [t.get_fontsize() * 96 / 72 for t in ax.figure.findobj(Text) if t.get_text()]
        assert len(sizes) > 3
        assert min(sizes) >= 8
