"""The dense random MDP of 400 states and 10 actions, off-policy."""

from __future__ import annotations

import numpy as np

from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["dense_random_mdp"]

FLOOR = 1e-5
"""Added to each draw before a row is normalised, so that every move is possible."""


def dense_random_mdp(
    states: int = 400,
    actions: int = 10,
    features: int = 201,
    seed: int = 0,
    discount: float = 0.95,
) -> PolicyEvaluation:
    """A random MDP where every state leads to every other, with random policies and features.

    ``P(s'|s, a)`` is proportional to u + 1e-5 with u from U[0, 1], and so are both policies.
    Rewards are U[0, 1] for each action and next state. Features are U[0, 1] but for the last
    one, the constant 1.

    Parameters
    ----------
    states, actions, features : int
    seed : int
    discount : float

    Raises
    ------
    InputError
        For a size below 1.

    Notes
    -----
    Dann, C., Neumann, G. and Peters, J. (2014), Policy evaluation with temporal
    differences, JMLR 15, Section 3 (there 400 states, 10 actions and 201 features).

    Examples
    --------
    >>> dense_random_mdp(states=20, actions=2, features=5)
    PolicyEvaluation(20 states, 5 features, off-policy, discount 0.95, float)
    """
    for name, value in (("states", states), ("actions", actions), ("features", features)):
        if not isinstance(value, int) or value < 1:
            raise InputError(f"{name} is {value!r}; expected a positive integer")
    rng = np.random.default_rng(seed)

    def distributions(*shape: int) -> np.ndarray:
        weights = rng.random(shape) + FLOOR
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    P = distributions(actions, states, states)
    reward = np.broadcast_to(rng.random((actions, 1, states)), P.shape)
    mdp = MDP.from_arrays(P, reward)

    def policy() -> Policy:
        chances = distributions(states, actions)
        return Policy({s: dict(enumerate(row.tolist())) for s, row in enumerate(chances)})

    target, behavior = policy(), policy()
    Phi = np.hstack([rng.random((states, features - 1)), np.ones((states, 1))])
    return PolicyEvaluation(mdp, target=target, behavior=behavior, features=Phi, discount=discount)
