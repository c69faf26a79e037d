"""Chains of the field: Boyan's, random walks, the corrupted chain, the collision task."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Rational

from obliquetd import features as bases
from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["boyan_chain", "collision", "corrupted_chain", "random_walk"]


def boyan_chain(discount: Any = "95/100", states: int = 14, features: int = 4) -> PolicyEvaluation:
    """A chain of steps of length one or two towards the end, with interpolated features.

    States are numbered by their distance from the end. From s >= 2 the chain moves to
    s - 1 or s - 2, each with probability 1/2 and reward -3; from 1 to 0 with reward -2.
    State 0 restarts at the far end, with reward and discount 0. Its features are hat
    functions on evenly spaced knots from the far end (first feature) to 0 (last).

    Parameters
    ----------
    discount : number or symbol
    states : int
        State 0 included; 14 in the paper, 13 in the original, at least 3.
    features : int
        From 2 to the number of states.

    Raises
    ------
    InputError
        For a size that makes no chain.

    Notes
    -----
    Boyan, J. (2002), Technical update: least-squares temporal difference learning,
    Machine Learning 49. Discount, 14 states and rewards as in Dann, Neumann and Peters
    (2014), who let the chain rest in state 0 until step 20 of an episode; here it
    restarts at once.

    Examples
    --------
    >>> problem = boyan_chain(discount=1, states=13)
    >>> problem.v_pi[12], problem.v_pi[0], problem.fixed_point("td").theta.T
    (0, -24, Matrix([[-24, -16, -8, 0]]))
    """
    _at_least("states", states, 3)
    _at_least("features", features, 2)
    if features > states:
        raise InputError(f"{features} features for {states} states; expected at most one a state")
    rows: list[tuple[Any, ...]] = []
    for s in range(states - 1, 1, -1):
        rows += [(s, "go", s - 1, Rational(1, 2), -3), (s, "go", s - 2, Rational(1, 2), -3)]
    rows += [(1, "go", 0, 1, -2), (0, "go", states - 1, 1, 0, 0)]
    mdp = MDP.from_transitions(rows, states=range(states - 1, -1, -1))
    far = states - 1
    gap = Fraction(far, features - 1)
    hats = {
        s: [max(Fraction(0), 1 - abs(far - s - j * gap) / gap) for j in range(features)]
        for s in range(far, -1, -1)
    }
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=hats, discount=discount)


def random_walk(
    states: int = 5, features: str = "tabular", discount: Any = 1, *, normalized: bool = True
) -> PolicyEvaluation:
    """Steps left or right with equal chance, from the middle until either end is left.

    Leaving on the right pays 1; leaving on the left pays 0, or -1 with more than five
    states. Both restart in the middle.

    Parameters
    ----------
    states : int
        5 and 19 are the usual ones; odd.
    features : {"tabular", "inverted", "dependent"}
        ``inverted``: 1/2 everywhere but in the state's own place. ``dependent``: with
        m = (states + 1)/2 features, the i-th state has the first i, up to all m in the
        middle, and then loses the first one by one.
    discount : number or symbol
    normalized : bool
        Scale each row of ``dependent`` to length 1, as published, which makes floats;
        with False its entries are 0 and 1, exact.

    Raises
    ------
    InputError
        For an even number of states, or features that are not known.

    Notes
    -----
    Five states and the three kinds of features: Sutton, R. et al. (2009), Fast
    gradient-descent methods, ICML. Nineteen states: Sutton and Barto (2018), Example 7.1.

    Examples
    --------
    >>> random_walk().v_pi.T
    Matrix([[1/6, 1/3, 1/2, 2/3, 5/6]])
    >>> random_walk(features="dependent", normalized=False).Phi.rank()
    3
    """
    _at_least("states", states, 3)
    if states % 2 == 0:
        raise InputError(f"states is {states}; expected an odd number, so that there is a middle")
    middle, loss = (states + 1) // 2, 0 if states <= 5 else -1
    rows: list[tuple[Any, ...]] = []
    for s in range(1, states + 1):
        half = Rational(1, 2)
        rows.append((s, "go", s - 1, half, 0) if s > 1 else (s, "go", middle, half, loss, 0))
        rows.append((s, "go", s + 1, half, 0) if s < states else (s, "go", middle, half, 1, 0))
    mdp = MDP.from_transitions(rows, states=range(1, states + 1))
    if features == "tabular":
        phi = bases.tabular(mdp)
    elif features == "inverted":
        phi = {
            s: [Rational(int(s != t), 2) if s != t else 0 for t in mdp.states] for s in mdp.states
        }
    elif features == "dependent":
        phi = {
            s: [int(s - middle < j + 1 <= s) for j in range(middle)] for s in range(1, states + 1)
        }
        if normalized:
            phi = {s: [x / math.sqrt(sum(row)) for x in row] for s, row in phi.items()}
    else:
        raise InputError(f"features is {features!r}; expected 'tabular', 'inverted' or 'dependent'")
    floats = features == "dependent" and normalized
    return PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        features=phi,
        discount=float(discount) if floats and isinstance(discount, int) else discount,
        arithmetic="float" if floats else None,
    )


def corrupted_chain(
    discount: float = 0.9, states: int = 20, rbfs: int = 5, noise: int = 10, seed: int = 0
) -> PolicyEvaluation:
    """A chain with pay at both ends, and features of which most are noise.

    ``left`` and ``right`` move that way with probability 9/10 and the other way with
    1/10 (at an end, in place of leaving, the chain stays). Every step from an end state
    pays 1. The target walks to the nearer end; the behaviour is uniform. Features: radial
    basis functions that sum to one, ``noise`` draws from N(0, 1) a state, and the constant 1.

    Parameters
    ----------
    discount : number
    states, rbfs, noise : int
    seed : int
        Of the noise. It is drawn once for each state, so that features are a function of
        the state.

    Notes
    -----
    Kolter, J. Z. and Ng, A. (2009), Regularization and feature selection in least-squares
    temporal difference learning, ICML.

    Examples
    --------
    >>> corrupted_chain(noise=3).Phi.shape
    (20, 9)
    """
    _at_least("states", states, 2)
    _at_least("rbfs", rbfs, 2)
    _at_least("noise", noise, 0)
    rows: list[tuple[Any, ...]] = []
    last = states - 1
    for s in range(states):
        pay = int(s in (0, last))
        for action, step in (("left", -1), ("right", 1)):
            for move, chance in ((step, "9/10"), (-step, "1/10")):
                rows.append((s, action, min(max(s + move, 0), last), chance, pay))
    mdp = MDP.from_transitions(rows)
    centers, width = np.linspace(0, last, rbfs), last / (rbfs - 1)
    bumps = np.exp(-((np.arange(states)[:, None] - centers) ** 2) / (2 * width**2))
    Phi = np.hstack(
        [
            bumps / bumps.sum(axis=1, keepdims=True),
            np.random.default_rng(seed).normal(size=(states, noise)),
            np.ones((states, 1)),
        ]
    )
    return PolicyEvaluation(
        mdp,
        target=Policy.deterministic(
            {s: "left" if 2 * s < last else "right" for s in range(states)}
        ),
        behavior=Policy.uniform(mdp),
        features=Phi,
        discount=discount,
        arithmetic="float",
    )


def collision(discount: Any = "9/10", seed: int = 0) -> PolicyEvaluation:
    """Eight states in a row, a wall to hit at the end, and a behaviour that turns away.

    ``forward`` goes on, and from the last state hits the wall, which pays 1; ``retreat``
    leaves with nothing. Both ways out restart in one of the first four states. In those
    the behaviour always goes forward, in the last four it retreats half of the time; the
    target always goes forward. Three of the six features are one in each state, drawn at
    random.

    Parameters
    ----------
    discount : number or symbol
    seed : int
        Of the features.

    Notes
    -----
    Ghiassian, S. and Sutton, R. (2021), An empirical comparison of off-policy prediction
    learning algorithms on the collision task.

    Examples
    --------
    >>> problem = collision()
    >>> problem.values[8], problem.values[7], problem.behavior[8]["forward"]
    (1, 9/10, 1/2)
    """
    rows: list[tuple[Any, ...]] = []
    for s in range(1, 9):
        starts = [(t, Rational(1, 4)) for t in range(1, 5)]
        if s < 8:
            rows.append((s, "forward", s + 1, 1, 0))
        else:
            rows += [(s, "forward", t, p, 1, 0) for t, p in starts]
        if s > 4:
            rows += [(s, "retreat", t, p, 0, 0) for t, p in starts]
    mdp = MDP.from_transitions(rows, states=range(1, 9))
    rng = np.random.default_rng(seed)
    half = Rational(1, 2)
    return PolicyEvaluation(
        mdp,
        target=Policy.deterministic(dict.fromkeys(mdp.states, "forward")),
        behavior=Policy(
            {
                s: {"forward": 1} if s < 5 else {"forward": half, "retreat": half}
                for s in range(1, 9)
            }
        ),
        features={s: rng.permutation([1, 1, 1, 0, 0, 0]).tolist() for s in mdp.states},
        discount=discount,
    )


def _at_least(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}; expected an integer of at least {least}")
