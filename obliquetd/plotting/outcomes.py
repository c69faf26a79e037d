"""What a picture of an MDP has to show: its outcomes, identical ones as one.

Two outcomes are identical where a reader would read the same on both: they leave the same state by
the same action, with the same chance, reward and discount. Three or more of them are one stroke
("1/6 each"), and one stroke serves every state from which the same ones begin. A state whose
actions all do the same has one stroke for any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import number_text
from obliquetd.display import mathtext
from obliquetd.errors import ObliqueTDError
from obliquetd.mdp import MDP
from obliquetd.problem import PolicyEvaluation

__all__ = ["Stroke", "as_float", "merged", "number"]

FEWEST = 3
"""Identical outcomes that are drawn as one."""


@dataclass(frozen=True)
class Stroke:
    """An outcome, or several identical ones; states and actions by their positions.

    ``action`` is None for any of them; ``chance`` is what the target gives the action, None where
    there is no policy or it is a formula. ``head`` is action and probability, ``tail`` the rest.
    """

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    action: int | None
    head: str
    tail: str
    policies: str
    chance: float | None
    quiet: bool = False
    """Whether it goes without a label where there would be too many."""

    @property
    def is_merged(self) -> bool:
        """Whether it stands for several outcomes."""
        return len(self.targets) > 1

    @property
    def called(self) -> str:
        """The name of the action."""
        return self.head.rpartition(": ")[0]

    @property
    def likelihood(self) -> str:
        """Its probability, as it is written."""
        return self.head.rpartition(": ")[2]

    @property
    def taken(self) -> bool:
        """Whether the target may take it."""
        return self.chance is None or self.chance > 0

    @property
    def text(self) -> str:
        """What stands beside it."""
        return self.told(" each" if self.is_merged else "")

    def told(self, whither: str = "", whence: str = "") -> str:
        """The same with words on where it leads, and a line on where it begins."""
        return "\n".join(x for x in (self.head + whither + self.tail, whence, self.policies) if x)


def number(value: Any) -> str:
    """A number as pictures write it."""
    return mathtext(number_text(value, 3))


def as_float(value: Any) -> float | None:
    """A number as a float; None for a formula."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError, ObliqueTDError):
        return None


def merged(mdp: MDP, problem: PolicyEvaluation | None) -> list[Stroke]:
    """The strokes of a picture, in the order of the table.

    Examples
    --------
    >>> from obliquetd.domains import baird_star
    >>> problem = baird_star()
    >>> first = merged(problem.mdp, problem)[0]
    >>> first.text.splitlines(), len(first.sources), len(first.targets)
    (['dashed: 1/6 each', 'π 0, μ 6/7'], 7, 6)
    """
    index, order = mdp.index, {a: k for k, a in enumerate(mdp.actions)}
    pairs: dict[tuple[int, int], list[tuple[int, tuple[str, str]]]] = {}
    for row in mdp.transitions:
        outcome = index[row.next_state], (number(row.probability), _rest(row))
        pairs.setdefault((index[row.state], order[row.action]), []).append(outcome)
    together: dict[tuple[Any, ...], list[int]] = {}
    for s, state in enumerate(mdp.states):
        offered = [order[a] for a in mdp.offered[state]]
        alike = len(offered) > 1 and all(pairs[s, a] == pairs[s, offered[0]] for a in offered)
        for a in offered[: 1 if alike else None]:
            action = None if alike else a
            name = "any action" if alike else mathtext(mdp.actions[a])
            policies, chance = ("", 1.0 if problem else None) if alike else _policies(problem, s, a)
            by_text: dict[tuple[str, str], list[int]] = {}
            for t, told in pairs[s, a]:
                by_text.setdefault(told, []).append(t)
            for (chance_told, tail), targets in by_text.items():
                many = len(set(targets)) == len(targets) >= FEWEST
                for group in [tuple(targets)] if many else [(t,) for t in targets]:
                    own = () if many else (s,)
                    key = (own, group, action, f"{name}: {chance_told}", tail, policies, chance)
                    together.setdefault(key, []).append(s)
    return [Stroke(tuple(sources), *key[1:]) for key, sources in together.items()]


def _rest(row: Any) -> str:
    text = f", r = {number(row.reward)}" if row.reward != 0 else ""
    if row.discount != 1:
        text += ", ends" if row.discount == 0 else f", γ = {number(row.discount)}"
    return text


def _policies(problem: PolicyEvaluation | None, s: int, a: int) -> tuple[str, float | None]:
    if problem is None:
        return "", None
    state, action = problem.mdp.states[s], problem.mdp.actions[a]
    pi = problem.target[state].get(action, 0)
    if len(problem.mdp.offered[state]) == 1:
        return "", as_float(pi)
    text = f"π {number(pi)}"
    if not problem.on_policy:
        text += f", μ {number(problem.behavior[state].get(action, 0))}"
    return text, as_float(pi)
