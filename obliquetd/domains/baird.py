"""Baird's star (1995), in the variant with a shared weight."""

from __future__ import annotations

from typing import Any

from sympy import Rational

from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["baird_star"]


def baird_star(discount: Any = "99/100", corners: int = 6) -> PolicyEvaluation:
    """A star of corners around a center, on which off-policy TD diverges.

    ``solid`` leads to the center, ``dashed`` to a corner at random. Corner i has
    feature 2 on component i and 1 on the shared last component; the center has 1 on
    its own component and 2 on the shared one. So there are corners + 2 features on
    corners + 1 states. The behaviour visits all states equally often; the target
    always takes ``solid``. Rewards are zero.

    Parameters
    ----------
    discount : number or symbol
    corners : int
        6 in the original.

    Raises
    ------
    InputError
        For fewer than one corner.

    Notes
    -----
    Baird, L. (1995), Residual algorithms, with the 7 states, 8 features and discount
    of Dann, Neumann and Peters (2014) and Sutton and Barto (2018), Section 11.2.

    Examples
    --------
    >>> problem = baird_star()
    >>> problem.Phi.shape, problem.Phi.rank(), set(problem.xi)
    ((7, 8), 7, {1/7})
    """
    if not isinstance(corners, int) or corners < 1:
        raise InputError(f"corners is {corners!r}; expected an integer of at least 1")
    outer = [f"corner {i}" for i in range(1, corners + 1)]
    states = [*outer, "center"]
    rows: list[tuple[Any, ...]] = []
    for s in states:
        rows += [(s, "dashed", c, Rational(1, corners), 0) for c in outer]
        rows.append((s, "solid", "center", 1, 0))
    mdp = MDP.from_transitions(rows, states=states)
    width = corners + 2
    features = {s: [0] * width for s in states}
    for i, s in enumerate(outer):
        features[s][i], features[s][-1] = 2, 1
    features["center"][corners], features["center"][-1] = 1, 2
    visits = Rational(1, corners + 1)
    return PolicyEvaluation(
        mdp,
        target=Policy.deterministic(dict.fromkeys(states, "solid")),
        behavior=Policy({s: {"dashed": 1 - visits, "solid": visits} for s in states}),
        features=features,
        discount=discount,
    )
