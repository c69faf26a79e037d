"""The two-state example of Sutton, Mahmood and White (2016), Section IV of the paper."""

from __future__ import annotations

from typing import Any

from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["two_state"]


def two_state(discount: Any = "9/10", reward: Any = 0) -> PolicyEvaluation:
    """Two states, actions left and right that lead to the state of that name.

    The single feature is 1 in the left state and 2 in the right one; the behaviour
    takes both actions with probability 1/2, the target always goes right.

    Parameters
    ----------
    discount : number or symbol
        The paper's is 9/10.
    reward : number or symbol
        Of every transition into the right state; the paper gives none.

    Examples
    --------
    >>> problem = two_state()
    >>> problem.f.T, list(problem.Omega_S.diagonal())
    (Matrix([[1/2, 19/2]]), [0, 10])
    """
    mdp = MDP.from_transitions(
        [
            ("left", "left", "left", 1, 0),
            ("left", "right", "right", 1, reward),
            ("right", "left", "left", 1, 0),
            ("right", "right", "right", 1, reward),
        ]
    )
    return PolicyEvaluation(
        mdp,
        target=Policy.deterministic({"left": "right", "right": "right"}),
        behavior=Policy.uniform(mdp),
        features={"left": [1], "right": [2]},
        discount=discount,
    )
