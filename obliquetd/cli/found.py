"""A problem that a search found, in lines: its moves, A, and the eigenvalue that makes it unstable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obliquetd.algebra import cell_text, number_text
from obliquetd.cli.terminal import escape, out
from obliquetd.dynamics import mean_dynamics
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["found_lines", "show_found"]


def show_found(problem: PolicyEvaluation, learner: Learner) -> None:
    """Print what :func:`found_lines` tells."""
    for line in found_lines(problem, learner):
        out.print(escape(line), soft_wrap=True)


def found_lines(problem: PolicyEvaluation, learner: Learner) -> list[str]:
    """For each state its features and where target and behaviour lead; then A and its worst eigenvalue.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import TD
    >>> for line in found_lines(two_state(), TD()):
    ...     print(line)
      state left: phi = 1
        target to right with probability 1
        behaviour to left with probability 1/2, right with probability 1/2
      state right: phi = 2
        target to right with probability 1
        behaviour to left with probability 1/2, right with probability 1/2
      A of TD: -1/5
      det A = -1/5; the eigenvalue with the smallest real part is -0.2
    """
    states = problem.states
    lines = []
    chains = {"target": problem.P_pi.tolist()}
    if not problem.on_policy:
        chains["behaviour"] = problem.P_b.tolist()
    for i, (s, phi) in enumerate(zip(states, problem.Phi.tolist(), strict=True)):
        vector = ", ".join(map(number_text, phi))
        lines.append(f"  state {s}: phi = {vector if len(phi) == 1 else f'({vector})'}")
        lines += [f"    {name} to {_moves(states, rows[i])}" for name, rows in chains.items()]
    dynamics = mean_dynamics(problem, learner)
    A = dynamics.A
    rows = ["  ".join(cell_text(x) for x in row) for row in A.tolist()]
    first = f"  A of {learner.name}: "
    lines += [(" " * len(first) if k else first) + row for k, row in enumerate(rows)]
    worst = min(dynamics.spectrum(), key=lambda z: complex(z).real)
    determinant = f"det A = {cell_text(A.det())}; " if hasattr(A, "det") else ""
    lines.append(f"  {determinant}the eigenvalue with the smallest real part is {_complex(worst)}")
    return lines


def _moves(states: Sequence[Any], row: Sequence[Any]) -> str:
    return ", ".join(
        f"{t} with probability {number_text(p)}" for t, p in zip(states, row, strict=True) if p
    )


def _complex(value: Any) -> str:
    """An eigenvalue to six digits."""
    z = complex(value)
    if abs(z.imag) <= 1e-12 * (1 + abs(z)):
        return f"{z.real:.6g}"
    return f"{z.real:.6g} {'+' if z.imag > 0 else '-'} {abs(z.imag):.6g}i"
