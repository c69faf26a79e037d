"""Random rational problems, for tests and for the claims."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["random_mdp", "random_problem"]


def random_mdp(
    states: int,
    actions: int,
    seed: int | np.random.Generator,
    *,
    deterministic: bool = False,
    restarts: bool = False,
    largest: int = 4,
) -> MDP:
    """A random rational MDP whose chain is irreducible under every full policy.

    Action 0 can always step from state i to i + 1 (mod n).

    Parameters
    ----------
    states, actions : int
    seed : int or numpy.random.Generator
    deterministic : bool
        One next state for each state and action.
    restarts : bool
        Steps from the last state to the first have discount 0.
    largest : int
        Weights of transitions and sizes of rewards are integers up to this.
    """
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for s in range(states):
        for a in range(actions):
            ring = (s + 1) % states
            if deterministic:
                weights = np.zeros(states, dtype=int)
                weights[ring if a == 0 else int(rng.integers(states))] = 1
            else:
                weights = rng.integers(0, largest + 1, size=states) * (rng.random(states) < 0.7)
                if a == 0 or not weights.any():
                    weights[ring] += 1
            total = int(weights.sum())
            for t in np.flatnonzero(weights).tolist():
                ends = restarts and s == states - 1 and t == 0
                reward = int(rng.integers(-largest, largest + 1))
                rows.append((s, a, t, Fraction(int(weights[t]), total), reward, int(not ends)))
    return MDP.from_transitions(rows, states=range(states), actions=range(actions))


def random_problem(
    states: int,
    features: int,
    seed: int,
    *,
    actions: int = 2,
    on_policy: bool = False,
    deterministic: bool = False,
    restarts: bool = False,
    discount: Any = "9/10",
) -> PolicyEvaluation:
    """A random rational problem with linearly independent features.

    Target and behaviour take every action with positive probability, except that
    with ``deterministic`` the target takes one action a state (the ring's, on-policy).

    Raises
    ------
    InputError
        For more features than states.

    Examples
    --------
    >>> random_problem(3, 2, seed=0)
    PolicyEvaluation(3 states, 2 features, off-policy, discount 9/10, exact)
    """
    if features > states:
        raise InputError(f"{features} independent features need {features} states; got {states}")
    rng = np.random.default_rng(seed)
    mdp = random_mdp(states, actions, rng, deterministic=deterministic, restarts=restarts)
    if deterministic:
        choice = {s: 0 if on_policy else int(rng.integers(actions)) for s in mdp.states}
        target = Policy.deterministic(choice)
    else:
        target = Policy.random(mdp, rng)
    behavior = Policy.random(mdp, rng)
    while True:
        matrix = rng.integers(-4, 5, size=(states, features))
        if np.linalg.matrix_rank(matrix) == features:
            break
    return PolicyEvaluation(
        mdp,
        target=target,
        behavior=target if on_policy else behavior,
        features=matrix.tolist(),
        discount=discount,
    )
