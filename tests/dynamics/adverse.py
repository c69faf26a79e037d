"""Problems that floats find hard, each as the floats that a user writes and as the rationals that these are."""

import os
import random
import warnings
from fractions import Fraction

import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd.errors import ObliqueTDError, PrecisionWarning

WITHIN = 1e-6
"""How far an answer in floats may be from the exact one, relative to its largest entry, in units."""
NOTHING = 1e-12
"""The part of a radian below which an angle is none."""


def pair(rows, features, discount):
    """The same problem in floats and exactly; rows of (state, next state, probability, reward), dyadic."""
    told = []
    for number in (float, Fraction):
        mdp = otd.MDP.from_transitions([(s, "go", t, number(p), number(r)) for s, t, p, r in rows])
        told.append(
            otd.PolicyEvaluation(
                mdp,
                target=otd.Policy.deterministic(dict.fromkeys(mdp.states, "go")),
                features={s: [number(x) for x in features[s]] for s in mdp.states},
                discount=number(discount),
            )
        )
    return told


def two_states(stay, leave, features, rewards, discount):
    """0 stays with a chance and leaves else, and 1 the other way round; rewards in the order 00, 01, 10, 11."""
    a, b = Fraction(stay), Fraction(leave)
    rows = [
        (0, 0, a, rewards[0]), (0, 1, 1 - a, rewards[1]),
        (1, 0, b, rewards[2]), (1, 1, 1 - b, rewards[3]),
    ]  # fmt: skip
    return pair([row for row in rows if row[2]], features, discount)


def draw(seed, *, adverse=True):
    """A random problem of two to four states, with one or several of what cancels, or with none."""
    rng = random.Random(seed)
    n = rng.choice((2, 2, 3, 4))
    d = rng.randint(1, min(n, 3))
    ways = (
        rng.sample(("rare", "discount", "sizes", "dependent"), rng.randint(1, 2)) if adverse else ()
    )
    rows = []
    for s in range(n):
        chances = [Fraction(1, 8)] * n
        for _ in range(8 - n):
            chances[rng.randrange(n)] += Fraction(1, 8)
        if "rare" in ways and rng.random() < 0.7:
            e = Fraction(1, 2 ** rng.randint(12, 50))
            chances = [e * p for p in chances]
            chances[s] += 1 - sum(chances)
        rows += [(s, t, p, rng.choice((0, 0, 1, 2, -1))) for t, p in enumerate(chances)]
    features = [[Fraction(rng.randint(-3, 3)) for _ in range(d)] for _ in range(n)]
    if "dependent" in ways:
        off = Fraction(1, 2 ** rng.randint(8, 45))
        features = [
            [features[0][j] + off * x for j, x in enumerate(row)] if rng.random() < 0.7 else row
            for row in features
        ]
    if "sizes" in ways:
        units = [Fraction(2) ** rng.randint(-50, 50) for _ in range(d)]
        features = [[x * u for x, u in zip(row, units, strict=True)] for row in features]
    features = [[Fraction(float(x)) for x in row] for row in features]
    discount = Fraction(rng.choice((1, 3, 7, 15)), 16)
    if "discount" in ways:
        discount = 1 - Fraction(1, 2 ** rng.randint(8, 52))
    return pair(rows, features, discount)


def seeds(count, of=""):
    """So many seeds, from ``OBLIQUETD_SEED`` or the commit where one of them is told, else the first ones."""
    told = (
        os.environ.get("OBLIQUETD_SEED")
        or os.environ.get("GITHUB_SHA")
        or os.environ.get("CI_COMMIT_SHA")
    )
    if not told:
        return list(range(count))
    fresh = random.Random(f"{told} {of}")
    return [fresh.randrange(10**9) for _ in range(count)]


def numbers(answer):
    """An answer as an array of floats, of the last entry of a list."""
    if isinstance(answer, list):
        answer = answer[-1]
    listed = answer.tolist() if hasattr(answer, "tolist") else [answer]
    return np.array([float(sp.N(x, 30)) for x in np.ravel(np.array(listed, dtype=object))])


def units(exact, kind, size):
    """What weights ("weights"), updates of them ("updates") or values ("values") are measured in."""
    reward = max((abs(float(r)) for r in exact.native.reward), default=0.0) or 1.0
    if kind == "values":
        return np.array([reward])
    features = np.abs(np.array(exact.Phi.tolist(), dtype=float)).max(axis=0)
    features = np.resize(np.where(features > 0, features, 1.0), size)
    return reward * (features if kind == "updates" else 1 / features)


def verdict(floats, exact, ask, kind=None):
    """ "right", "refused", "warned" or what is wrong with the answer in floats to a question."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = numbers(ask(floats))
        except ObliqueTDError:
            return "refused"
    if told:
        odd = [str(each.message) for each in told if each.category is not PrecisionWarning]
        return f"warns of something else: {odd[0]}" if odd else "warned"
    right = numbers(ask(exact))
    if kind == "angle":
        close = np.abs(found - right) <= np.maximum(WITHIN * right, NOTHING)
    else:
        if kind is not None:
            side = units(exact, kind, round(len(right) ** 0.5))
            scale = np.outer(side, side).ravel()
            found, right = found / scale, right / scale
        close = np.abs(found - right) <= WITHIN * np.abs(right).max(initial=0.0)
    return "right" if close.all() else f"{found} in place of {right}"
