"""The lines of the table of speeds where a fixed point is a formula, and one of features that stay sparse."""

from __future__ import annotations

import numpy as np

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import random_problem
from tests.benchmarks import sketches
from tests.benchmarks.lines import again, chain, raw, tiled
from tests.benchmarks.table import line


@line("theta(gamma) of ETD, d = 3", "values at n d + 1 discounts, interpolated", (10, 20, 40), 2)
def theta_of_etd(n):
    problem = random_problem(n, 3, seed=1, discount="gamma")
    at = random_problem(n, 3, seed=1, discount=1).native
    peer = sketches.emphatic_point_by_values(*map(raw, (at.P_pi, at.r_pi, at.xi, at.Phi)))
    return lambda: again(problem).fixed_point("etd").theta, peer


@line("theta(gamma) of SETD in all its ranges, d = 3", "theta at one discount", (10, 20, 40), None)
def theta_of_setd(n):
    problem = random_problem(n, 3, seed=1, discount="gamma")
    one = random_problem(n, 3, seed=1, discount="9/10")
    return (
        lambda: again(problem).fixed_point("setd").theta,
        lambda: again(one).fixed_point("setd").theta,
    )


@line("theta of TD in two symbols, d = 3", "theta in gamma alone", (4, 6, 12), None)
def theta_in_two(n):
    """The discount, and how far the behaviour is mixed with the uniform policy."""
    one = random_problem(n, 3, seed=1, discount="gamma")
    mixed = Policy.uniform(one.mdp).mix(one.behavior, "epsilon")
    two = one.replace(behavior=mixed)
    return lambda: again(two).fixed_point("td").theta, lambda: again(one).fixed_point("td").theta


@line(
    "construction with 8 of 9,800 tiles active, 2,000 states",
    "a copy of the dense features",
    (2000,),
    None,
)
def tiled_construction(states):
    active = tiled(1)[0][:states]
    mdp = MDP.from_arrays([chain(states)[0]], np.zeros(states))
    target = Policy.uniform(mdp)

    def ours():
        return PolicyEvaluation(mdp, target=target, features=active, discount=0.9)

    return ours, lambda: active.toarray()
