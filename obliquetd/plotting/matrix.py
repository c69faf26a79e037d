"""The matrix of moves, for models of which lines would be no picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.mdp import MDP
from obliquetd.plotting.outcomes import as_float
from obliquetd.plotting.routes import text_size
from obliquetd.plotting.style import HEAT, fresh_axes
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_matrix"]

MOST_NAMES = 30
"""States whose names fit the axes."""
LEVELS = 32
MOST_CELLS = 80
"""Rows and columns of the picture; of more states, several share one."""


def draw_matrix(mdp: MDP, problem: PolicyEvaluation | None, ax: Axes | None) -> Axes:
    """The chance of each move, as shades; under the target, or where there is none any action alike."""
    from matplotlib.colors import ListedColormap, to_rgba

    moves, known = _moves(mdp, problem)
    n = len(mdp.states)
    size = min(n, MOST_CELLS)
    share = np.arange(n) * size // n
    shades = np.zeros((size, size))
    np.add.at(shades, (share[moves[:, 0].astype(int)], share[moves[:, 1].astype(int)]), moves[:, 2])
    shades /= np.bincount(share, minlength=size)[:, None]
    ax = fresh_axes(ax, figsize=(7.0, 6.0))
    edges = np.arange(size + 1) - 0.5
    colors = ListedColormap([to_rgba(HEAT, k / LEVELS) for k in range(LEVELS + 1)])
    mesh = ax.pcolormesh(  # and no image, so that a page needs nothing but lines and fills
        edges, edges, shades, cmap=colors, vmin=0, vmax=max(shades.max(), 1e-12), antialiased=False
    )
    ax.set_aspect("equal")
    ax.invert_yaxis()
    bar = ax.figure.colorbar(mesh, ax=ax, fraction=0.045, pad=0.03)
    bar.set_label("chance of the move" if known else "moves (their chances are formulas)")
    ax.set_xlabel("next state")
    ax.set_ylabel("state")
    names = [mathtext(s) for s in mdp.states]
    if n <= MOST_NAMES and max(text_size(x, 9)[0] for x in names) < 90:
        ax.set_xticks(range(n), names, rotation=90, fontsize=9)
        ax.set_yticks(range(n), names, fontsize=9)
        ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="#DDDDDD", linewidth=0.6)
        ax.tick_params(which="minor", length=0)
    else:
        count = f"{n} states" if size == n else f"{n} states, {-(-n // size)} in a row"
        ticks = np.unique(np.linspace(0, size - 1, 5).astype(int))
        first = [names[int(np.flatnonzero(share == k)[0])][:14] for k in ticks]
        ax.set_xticks(ticks, first, fontsize=9)
        ax.set_yticks(ticks, first, fontsize=9)
        ax.set_ylabel(f"state ({count})")
    who = "under the target" if problem else "with every action alike"
    ax.set_title(f"Moves {who}", fontsize=11)
    return ax


def _moves(mdp: MDP, problem: PolicyEvaluation | None) -> tuple[Any, bool]:
    """State, next state and chance; and whether all chances are numbers."""
    table = mdp.table
    policy = np.zeros((len(mdp.states), len(mdp.actions)))
    order = {a: k for k, a in enumerate(mdp.actions)}
    for s, (state, offered) in enumerate(mdp.offered.items()):
        given = (
            problem.target[state] if problem else dict.fromkeys(offered, 1 / max(1, len(offered)))
        )
        for a, chance in given.items():
            policy[s, order[a]] = _known(chance)
    chances = np.array([_known(p) for p in table.probability.tolist()])
    amounts = (
        np.nan_to_num(chances, nan=1.0) * np.nan_to_num(policy, nan=1.0)[table.state, table.action]
    )
    known = not (np.isnan(chances).any() or np.isnan(policy).any())
    return np.column_stack([table.state, table.next_state, amounts]), known


def _known(value: Any) -> float:
    found = as_float(value)
    return np.nan if found is None else found
