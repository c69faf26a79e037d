"""Models whose pages are made once for all tests of them."""

import functools

import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import two_state
from obliquetd.exploration import explore
from obliquetd.learners import ETD, SETD, TD
from tests.report.conftest import two_symbols


def one_chance():
    """Two features on three states, whose one symbol is a chance."""
    return two_symbols().subs({"gamma": "9/10"})


def four_features():
    """A chain of five states: a learner has four eigenvalues."""
    rows = []
    for s in range(5):
        rows += [(s, "up", min(s + 1, 4), 1, s), (s, "down", max(s - 1, 0), 1, 1)]
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(
        mdp, target=Policy({s: {"up": "2/3", "down": "1/3"} for s in range(5)}), behavior=Policy.uniform(mdp),
        features=[[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 0], [1, 1, 0, 0], [0, 1, 3, 1]],
        discount="4/5",
    )  # fmt: skip


MAKERS = {
    "two": lambda: explore(two_state(reward=1), title="two <b>states</b>"),
    "chance": lambda: explore(one_chance()),
    "plane": lambda: explore(
        two_state("gamma", reward=1), learners=[TD(lam="l"), SETD(), ETD(lam="l")]
    ),
    "reward": lambda: explore(two_state("gamma", reward="r"), ranges={"r": (-1, 2)}),
    "beyond": lambda: explore(one_chance(), learners=TD(), ranges={"p": (0, 2)}),
    "four": lambda: explore(four_features(), learners=[TD(), ETD()]),
}

QUICK = ("two",)


@functools.cache
def exploration(name):
    return MAKERS[name]()


def exact_values(found, places):
    """Everything that a page shows at a place, from the problem with numbers in place of the symbols."""
    from obliquetd.dynamics import mean_dynamics
    from obliquetd.dynamics.values import put_in
    from obliquetd.errors import ObliqueTDError

    out = {}
    values = {s.symbol: s.places[i] for s, i in zip(found.sliders, places, strict=True)}
    inside = {s: x for s, x in values.items() if s in found.problem.symbols}
    there = found.problem.subs(inside)
    for name in found.pieces.learners:
        learner = found.learners[name]
        for symbol, value in values.items():
            _, learner = put_in(there, learner, symbol, value)
        dynamics = mean_dynamics(there, learner)
        row = {"verdict": dynamics.stability.verdict, "p": dynamics.expectation.charpoly()}
        try:
            v_hat = dynamics.v_hat
            row |= {
                "theta": [sp.sympify(x) for x in dynamics.fixed_point()],
                "error": there.rmse(v_hat),
                "projected": there.rmspbe(v_hat),
            }
        except ObliqueTDError:
            row["theta"] = None
        out[name] = row
    return out, there
