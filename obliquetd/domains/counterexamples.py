"""Two states on which off-policy TD goes wrong: "w to 2w", and Kolter's example."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from obliquetd.algebra import parse_number, public_number
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["kolter", "w_to_2w"]


def w_to_2w(discount: Any = "99/100", epsilon: Any = 0) -> PolicyEvaluation:
    """Two states of estimated values w and 2w, weighted alike, as in a sweep.

    The first leads to the second, which stays with probability 1 - epsilon and else
    ends (a move back to the first, of discount 0). Rewards are zero.

    Parameters
    ----------
    discount, epsilon : number or symbol

    Notes
    -----
    Tsitsiklis, J. and Van Roy, B. (1996), Feature-based methods for large scale dynamic
    programming, Machine Learning 22; Sutton and Barto (2018), Example 11.1. A sweep of
    least squares multiplies w by (6 - 4 epsilon) gamma / 5.

    Examples
    --------
    >>> from obliquetd.dynamics import mean_dynamics, stability_region
    >>> from obliquetd.learners import TD
    >>> mean_dynamics(w_to_2w("gamma", "epsilon"), TD()).A
    Matrix([[(4*epsilon*gamma - 6*gamma + 5)/2]])
    >>> stability_region(w_to_2w("gamma"), TD(), "gamma")
    Interval.Ropen(0, 5/6)
    """
    end = public_number(parse_number(epsilon, "epsilon"))
    rows: list[tuple[Any, ...]] = [("w", "go", "2w", 1, 0), ("2w", "go", "2w", 1 - end, 0)]
    if end != 0:
        rows.append(("2w", "go", "w", end, 0, 0))
    mdp = MDP.from_transitions([row for row in rows if row[3] != 0])
    half = Rational(1, 2)
    return PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        features={"w": [1], "2w": [2]},
        discount=discount,
        xi={"w": half, "2w": half},
    )


def kolter(p: Any = "1/2", discount: Any = "99/100", epsilon: Any = "1/1000") -> PolicyEvaluation:
    """Two states whose TD fixed point is arbitrarily bad at one weighting of them.

    Both states lead to either with probability 1/2. The values are (1, 21/20), which the
    feature (1, 21/20 + epsilon) all but matches; the state weights are (p, 1 - p). A has a
    root in p, near 0.715, next to which the error of TD has no bound.

    Parameters
    ----------
    p : number or symbol
        The free parameter: the weight of the first state.
    discount, epsilon : number or symbol

    Notes
    -----
    Kolter, J. Z. (2011), The fixed points of off-policy TD, NIPS 24.

    Examples
    --------
    >>> problem = kolter("p", epsilon=0)
    >>> problem.v_pi.T
    Matrix([[1, 21/20]])
    >>> from sympy import solve
    >>> from obliquetd.dynamics import mean_dynamics
    >>> from obliquetd.learners import TD
    >>> solve(mean_dynamics(problem, TD()).A[0])
    [2961/4141]
    """
    g, e, w = (
        public_number(parse_number(x, name))
        for x, name in ((discount, "discount"), (epsilon, "epsilon"), (p, "p"))
    )
    half, values = Rational(1, 2), Matrix([1, Rational(21, 20)])
    rewards = values - g * Matrix([[half, half], [half, half]]) * values
    mdp = MDP.from_transitions(
        [(s, "go", t, half, rewards[s - 1].expand()) for s in (1, 2) for t in (1, 2)]
    )
    return PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        features={1: [1], 2: [values[1] + e]},
        discount=discount,
        xi={1: w, 2: 1 - w},
    )
