"""Stills of an exploration, for slides: the picture at one place, with eigenvalues and verdicts beside it.

Drawn from the problem with a number in place of the symbol, not from the page's formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from obliquetd.algebra import EXACT, cell_text
from obliquetd.display import mathtext
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.dynamics.values import put_in
from obliquetd.errors import InputError, NoSolutionError, NotUniqueError, ObliqueTDError
from obliquetd.exploration.quantities import quantities_of
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from obliquetd.exploration.page import Exploration
    from obliquetd.exploration.sliders import Slider

__all__ = ["frame_places", "write_frames"]

HALF = 1.75
"""Half the width of the plane, in lengths of v."""
LINES = 5
"""Eigenvalues that are written for a learner."""


def frame_places(slider: Slider, breaks: Sequence[Any], count: int) -> list[Any]:
    """So many values of a symbol, evenly spread, with the nearest moved to each rational break point.

    Examples
    --------
    >>> import sympy as sp
    >>> from obliquetd.exploration.sliders import Slider
    >>> unit = sp.Interval(0, 1)
    >>> slider = Slider(sp.Symbol("g"), [sp.Rational(k, 8) for k in range(9)], 0, unit, unit)
    >>> frame_places(slider, [sp.Rational(3, 7)], 5)
    [0, 1/4, 3/7, 3/4, 1]
    """
    last = len(slider.places) - 1
    at = np.linspace(0, last, count) if count > 1 else np.array([float(slider.start)])
    out = [slider.places[round(float(x))] for x in at]
    for value in (x for x in breaks if x.is_Rational):
        free = [k for k, x in enumerate(out) if x not in breaks]
        if free:
            out[min(free, key=lambda k: abs(out[k] - value))] = value
    return sorted(out)


def write_frames(exploration: Exploration, path: str | Path, count: int) -> list[Path]:
    """Write stills beside a page: ``page-1.png``, ``page-2.png``, and so on.

    Parameters
    ----------
    exploration : Exploration
    path : str or Path
        Of the page.
    count : int
        How many; the first slider moves, and others stay where they start.

    Raises
    ------
    InputError
        For a count that is no positive whole number.
    """
    from obliquetd.experiments.store import write_atomically
    from obliquetd.plotting.style import drawn

    slider = exploration.sliders[0]
    breaks = [x for region in exploration.regions.values() if region for x in region.breaks]
    out = []
    targets = frame_paths(path, count)
    for target, value in zip(targets, frame_places(slider, breaks, count), strict=True):
        image = drawn(_frame(exploration, value), "png")
        write_atomically(target, lambda file, image=image: file.write(image))  # type: ignore[misc]
        out.append(target)
    return out


def frame_paths(path: str | Path, count: int) -> list[Path]:
    """Where the stills of a page go.

    Examples
    --------
    >>> [p.name for p in frame_paths("explore.html", 2)]
    ['explore-1.png', 'explore-2.png']
    """
    if not isinstance(count, int) or count < 1:
        raise InputError(f"frames is {count!r}; expected how many stills to write, such as 8")
    page, width = Path(path), len(str(count))
    return [page.with_name(f"{page.stem}-{k:0{width}}.png") for k in range(1, count + 1)]


def _frame(exploration: Exploration, value: Any) -> Axes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.625), layout="constrained")
    ax: Axes
    ax, beside = figure.subplots(1, 2, width_ratios=(1.25, 1))
    beside.set_axis_off()
    ax.set_axis_off()
    slider = exploration.sliders[0]
    others = {s.symbol: s.places[s.start] for s in exploration.sliders[1:]}
    told = [
        f"{sp.pretty(s, use_unicode=True)} = {cell_text(x)}{_decimal(x)}"
        for s, x in {slider.symbol: value, **others}.items()
    ]
    figure.suptitle(mathtext(", ".join(told)), fontsize=20)
    found: dict[str, MeanDynamics] = {}
    lines: list[tuple[str, str, str]] = []
    for name in exploration.pieces.learners:
        learner = exploration.learners[name]
        try:
            there, changed = _numbers(
                exploration.problem, learner, {slider.symbol: value, **others}
            )
            found[name] = mean_dynamics(there, changed)
            lines.append((name, found[name].stability.verdict, _told(found[name])))
        except ObliqueTDError as error:
            lines.append((name, "", str(error)))
    _write(beside, lines, exploration.learners)
    if found:
        ax.set_axis_on()
        draw = {"plane": _plane, "field": _field, "curves": _spectrum}[exploration.shape]
        draw(found, exploration.learners, ax)
    return ax


def _decimal(x: Any) -> str:
    """The decimal of a fraction, behind the sign that says whether it is all of it."""
    if x.q == 1:
        return ""
    text = f"{float(x):.3g}"
    return f" {'=' if Fraction(text) == Fraction(int(x.p), int(x.q)) else '≈'} {text}"


def _numbers(
    problem: PolicyEvaluation, learner: Learner, values: Mapping[Any, Any]
) -> tuple[PolicyEvaluation, Learner]:
    """Problem and learner with numbers in place of all symbols."""
    inside = {s: x for s, x in values.items() if s in problem.symbols}
    there = problem.subs(inside) if inside else problem
    for symbol, value in values.items():
        if symbol not in problem.symbols:
            there, learner = put_in(there, learner, symbol, value)
        else:
            _, learner = put_in(there, learner, symbol, value)
    return there, learner


def _told(dynamics: MeanDynamics) -> str:
    """Eigenvalues and the fixed point in a few lines."""
    p = dynamics.expectation.charpoly() if dynamics.expectation.span.dimension else []
    if len(p) == 2:
        out = [f"eigenvalue {cell_text(dynamics.public(-p[1]))}"]
    else:
        values = [f"{z.real:.4g}" + (f" ± {abs(z.imag):.4g} i" if abs(z.imag) > 1e-12 else "")
                  for z in dynamics.spectrum() if z.imag >= -1e-12]  # fmt: skip
        out = [f"eigenvalues ≈ {', '.join(values[:LINES])}{', ...' if len(values) > LINES else ''}"]
    try:
        theta = dynamics.fixed_point()
        shown = ", ".join(cell_text(x) for x in list(theta)[:3])
        out.append(f"θ = {shown}{', ...' if len(theta) > 3 else ''}")
    except NoSolutionError:
        out.append("no fixed point")
    except NotUniqueError:
        out.append("many fixed points")
    except ObliqueTDError as error:
        out.append(str(error))
    return "\n".join(out)


INK = {"stable": "#0a6b3d", "unstable": "#a3231f", "marginal": "#80560a"}


def _write(
    ax: Axes, lines: Sequence[tuple[str, str, str]], learners: Mapping[str, Learner]
) -> None:
    import textwrap

    top = 0.97
    for name, verdict, text in lines:
        ax.text(
            0,
            top,
            mathtext(name),
            color=learners[name].color,
            fontsize=17,
            weight="bold",
            va="top",
            transform=ax.transAxes,
        )
        ax.text(
            0.45,
            top,
            verdict,
            color=INK.get(verdict, "#444444"),
            fontsize=17,
            va="top",
            transform=ax.transAxes,
        )
        rows = [row for line in text.split("\n") for row in textwrap.wrap(line, 44)][:5]
        ax.text(0, top - 0.085, mathtext_lines(rows), fontsize=12, va="top", transform=ax.transAxes)
        top -= 0.15 + 0.055 * max(len(rows), 2)


def mathtext_lines(rows: Sequence[str]) -> str:
    """Lines of text as matplotlib writes them, word for word."""
    return "\n".join(row.replace("$", r"\$") for row in rows)


def _plane(found: Mapping[str, MeanDynamics], learners: Mapping[str, Learner], ax: Axes) -> None:
    """v on the unit circle, the span, and the line along which each learner projects."""
    any_one = next(iter(found.values())).problem
    weight = np.sqrt(np.array(any_one.xi, dtype=float).ravel())
    v = weight * np.array(any_one.v_pi, dtype=float).ravel()
    size = float(np.hypot(*v)) or 1.0
    phi = weight * np.array(any_one.Phi, dtype=float).ravel()
    ax.set_aspect("equal")
    ax.set_xlim(-HALF, HALF)
    ax.set_ylim(-HALF, HALF)
    angle = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(angle), np.sin(angle), color="#d9dce1", linewidth=1)
    ax.axline((0, 0), tuple(phi / np.hypot(*phi)), color="#5b6068", linewidth=2.5)
    for name, dynamics in found.items():
        color = learners[name].color
        q = quantities_of(dynamics.problem, dynamics.learner, EXACT)
        z = [float(dynamics.public(x)) for x in q.normal or ()]
        along = np.array([-z[1], z[0]]) * weight if any(z) else None
        hat = None
        if q.theta is not None:
            hat = phi * float(dynamics.public(q.theta[0]))
            along = hat - v if along is None else along
        if along is not None and np.any(along):
            ax.axline(
                tuple(v / size),
                tuple((v / size) + along / np.hypot(*along)),
                color=color,
                linewidth=1.5,
                linestyle="--",
            )
        if hat is not None:
            ax.plot(*np.array([v, hat]).T / size, color=color, linewidth=2.5)
            ax.plot(*(hat / size), "o", color=color, markersize=10, label=mathtext(name))
    ax.plot(*(v / size), "*", color="black", markersize=16)
    names = [mathtext(s) for s in any_one.states]
    ax.set_xlabel(f"state {names[0]}, in lengths of v")
    ax.set_ylabel(f"state {names[1]}")
    ax.grid(True, alpha=0.2)


def _field(found: Mapping[str, MeanDynamics], learners: Mapping[str, Learner], ax: Axes) -> None:
    from obliquetd.plotting import vector_field

    two = [name for name, dynamics in found.items() if len(dynamics.A) == 4]
    if not two:
        _spectrum(found, learners, ax)
        return
    vector_field(found[two[0]], ax)
    ax.set_title(f"the mean update of {mathtext(two[0])}", color=learners[two[0]].color)


def _spectrum(found: Mapping[str, MeanDynamics], learners: Mapping[str, Learner], ax: Axes) -> None:  # noqa: ARG001
    from obliquetd.plotting import eigenvalues

    eigenvalues(dict(found), ax)
