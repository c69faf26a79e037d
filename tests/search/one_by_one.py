"""The walks of a search one candidate at a time, with numpy's own bounded integers: what the blocks are held against."""

import numpy as np

from obliquetd.algebra.rounding import SAME, UNSTABLE
from obliquetd.search.walk import End


def draw(family, rng):
    """A random genome."""
    return tuple(int(rng.integers(low, high + 1)) for low, high in family.genes)


def change(family, genome, rng):
    """A neighbour: one or two integers drawn anew."""
    new = list(genome)
    for _ in range(int(rng.integers(1, 3))):
        k = int(rng.integers(len(new)))
        low, high = family.genes[k]
        new[k] = int(rng.integers(low, high + 1))
    return tuple(new)


def walk(quest, number, changes, judge, confirmed):
    """One walk, in the order in which it is told.

    ``judge`` gives the score of a genome, None of no problem, or raises; ``confirmed`` the exact verdict.
    """
    rng = np.random.default_rng([quest.seed, number])
    errors, seen = [], False

    def judged(genome):
        nonlocal seen
        try:
            found = judge(genome)
        except ArithmeticError as error:
            errors.append(str(error))
            found = None
        seen = seen or found is not None
        return np.inf if found is None else found

    genome = draw(quest.family, rng)
    best = judged(genome)
    for tried in range(1, changes + 1):
        if best < -UNSTABLE and confirmed(genome):
            return End(genome, tried, len(errors))
        neighbour = change(quest.family, genome, rng)
        value = judged(neighbour) if tried < changes else np.inf
        if value < best - SAME or (best < -UNSTABLE and value < -UNSTABLE and rng.random() < 0.5):
            genome, best = neighbour, value
    return End(None, changes, len(errors), errors[0] if errors and not seen else "")
