"""Steps whose cost is the number of active features, and not of all of them.

With tile coding, 8 of 10,000 features are not 0. A rule is a loop over all of them; but most
rules leave a feature alone that is 0 before and after the transition and in the memory: they are
*local* (:func:`is_local` tries it, on rationals). Such a rule is run, unchanged, on *slots*: short
arrays that hold the features that are active now, and those that the memory still holds. A
feature that becomes active takes a free slot, and its weights with it; slots are freed, all at
once, when none is left. A trace never ends by itself, but its entries decay alike: one that is far
below the largest stays so, and its slot is freed too. :mod:`obliquetd.experiments.running` holds
the slots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sympy import QQ

from obliquetd.algebra.storage import compact, is_compact
from obliquetd.errors import LearnerError
from obliquetd.learners.base import Learner
from obliquetd.learners.check import STATES, STEPS, Trial, qq
from obliquetd.learners.evaluate import PlainRule, as_array
from obliquetd.learners.functions import kept
from obliquetd.learners.state import shapes
from obliquetd.learners.words import Transition

__all__ = ["ENDED", "FULL", "Rows", "drive_active", "is_local"]

WIDE = 5
"""Features of the trial that :func:`is_local` makes, of which three are always 0."""
ACTIVE = (1, 3)
OTHER_STATES = (3, 0, 2, 1)
"""The states of that trial under other numbers."""

FORGOTTEN = 2.0**-100
"""The part of a trace's largest entry below which an entry moves no weight by as much as it rounds."""

ENDED, FULL = 1, 2
"""How a stretch of steps can stop early: weights beyond the limit; no slot free."""

rule: Any = None
"""What :func:`drive_active` calls; :func:`~obliquetd.learners.compiled.compiled_driver` sets it."""


class Rows(NamedTuple):
    """A sparse matrix, row by row: those of row i are ``first[i]``, ..., ``first[i + 1] - 1``.

    ``value`` holds one number where all are the same, and ``step`` is then 0, else 1.
    """

    first: Any
    column: Any
    value: Any
    step: int

    @classmethod
    def of(cls, matrix: Any) -> Rows:
        """A matrix of scipy.sparse in CSR form; one that is compact is not copied."""
        if not is_compact(matrix):
            matrix = matrix.astype(float)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()  # a slot is free where nothing in it is other than 0
            matrix = compact(matrix)
        alike = matrix.data.strides == (0,)
        value = matrix.data[:1].copy() if alike else matrix.data.view()
        value.flags.writeable = False  # as the others are, or it would be compiled twice
        return cls(matrix.indptr, matrix.indices, value, int(not alike))


@kept
def is_local(learner: Learner) -> bool:
    """Whether a rule leaves features alone that are 0 everywhere but in the weights.

    It is tried on random transitions, with and without three such features and with the states
    numbered in two ways, in rationals: the weights and memories that follow must be the same.

    Examples
    --------
    >>> from obliquetd.learners import GTD, TD
    >>> is_local(TD(lam="1/2")), is_local(GTD())  # GTD's second weights all decay
    (True, False)
    """
    try:
        trial = Trial(learner, len(ACTIVE))
    except LearnerError:
        return False
    if any(isinstance(v, tuple) for v in trial.values.values()):
        return False  # a number for each state, which has to know which state it is
    kinds = [_kinds(part, trial) for part in (learner.weights, learner.memory)]
    if any(kind not in ("vector", "number") for part in kinds for kind in part):
        return False
    wide = PlainRule(learner, WIDE, qq, trial.values)
    memory = trial.empty
    for _ in range(2 * STEPS):
        t, x, alpha = trial.transition(), trial.weights(), QQ(1, 7)
        idle = [trial.some() for _ in range(wide.size)]
        after, handed, _ = trial.run(t, x, memory, alpha)
        found, kept, _ = wide.run(
            _widened(t), _spread(x, kinds[0], idle), _spread(memory, kinds[1], None), alpha
        )
        if found != _spread(after, kinds[0], idle) or kept != _spread(handed, kinds[1], None):
            return False
        memory = handed
    return True


def _kinds(state: type, trial: Trial) -> list[str]:
    """Of each declared array: "vector", "number", or something else."""
    known: dict[tuple[int, ...], str] = {(trial.d,): "vector", (1,): "number"}
    return [known.get(s, "other") for s in shapes(state, trial.d, trial.rule.numbers).values()]


def _spread(flat: list[Any], kinds: list[str], idle: list[Any] | None) -> list[Any]:
    """The same state with WIDE features, those that are added taken from ``idle``, or 0."""
    out: list[Any] = []
    given = iter(flat)
    for kind in kinds:
        if kind == "number":
            out.append(next(given))
            continue
        rest = [QQ(0)] * WIDE if idle is None else idle[len(out) : len(out) + WIDE]
        for i, j in enumerate(range(WIDE)):
            out.append(next(given) if j in ACTIVE else rest[i])
    return out


def _widened(t: Transition) -> Transition:
    """A transition with WIDE features, of states with other numbers."""

    def features(matrix: Any) -> Any:
        rows = [[QQ(0)] * WIDE for _ in range(STATES)]
        for s in range(STATES):
            for i, j in enumerate(ACTIVE):
                rows[OTHER_STATES[s]][j] = matrix[s, i]
        return as_array(rows, (STATES, WIDE))

    return t._replace(
        features=features(t.features),
        features_next=features(t.features_next),
        s=OTHER_STATES[t.s],
        n=OTHER_STATES[t.n],
        twin=OTHER_STATES[t.twin],
    )


def arrive(
    lines: Any, of: Any, first: Any, columns: Any, values: Any, step: int, full: Any, weights: Any, memory: Any,
    own_x: Any, own_m: Any, where: Any, which: Any, features: Any, taken: Any, idle: Any, free: int,
    last: int, held: Any, outside: Any,
) -> tuple[int, int]:  # fmt: skip
    """Write rows of features into the slots of lines, and keep which these are; -1 is no row.

    ``idle`` lists the free slots, of which those from ``free`` up to ``last`` are left: what is left is returned.
    Nothing is where there are too few, and ``last`` is then -1.
    """
    size = outside[0]
    for k in range(len(of)):
        if of[k] < 0:
            continue
        line, begin = lines[k], first[of[k]]
        for q in range(begin, first[of[k] + 1]):
            column = columns[q]
            slot = where[column]
            if slot < 0:
                if free == last:
                    free, (last, size) = 0, sweep(
                        full, weights, memory, own_x, own_m, where, which, features, idle, held, size
                    )  # fmt: skip
                    if 4 * last < len(which):  # or a sweep would follow on the next
                        outside[0] = size
                        return free, -1
                slot = idle[free]
                free += 1
                where[column], which[slot] = slot, column
                for a in range(len(own_x)):
                    weights[own_x[a] + slot] = full[a, column]
                    size -= abs(full[a, column])
            features[line, slot] = values[q * step]
            taken[line, q - begin] = slot
    outside[0] = size
    return free, last


def sweep(
    full: Any, weights: Any, memory: Any, own_x: Any, own_m: Any, where: Any, which: Any,
    features: Any, idle: Any, held: Any, outside: float,
) -> tuple[int, float]:  # fmt: skip
    """Free every slot with neither a feature nor a memory, and list them; return how many.

    What a memory holds of a feature is dropped below FORGOTTEN of its largest entry. Returned too is the sum of the
    sizes of weights without a slot.
    """
    slots, count = len(which), 0
    held[:] = 0.0
    for part in range(len(own_m)):
        total = 0.0
        for b in range(slots):
            total += abs(memory[own_m[part] + b])
        if total == 0:  # as after each step without a trace
            continue
        largest = 0.0
        for b in range(slots):
            largest = max(largest, abs(memory[own_m[part] + b]))
        for b in range(slots):
            if abs(memory[own_m[part] + b]) <= FORGOTTEN * largest:
                memory[own_m[part] + b] = 0.0
        for b in range(slots):
            held[b] += abs(memory[own_m[part] + b])
    for line in range(len(features)):
        for b in range(slots):
            held[b] += abs(features[line, b])
    for b in range(slots):
        idle[count] = b  # overwritten by the next, unless it counts
        count += held[b] == 0
    for j in range(count):
        b = idle[j]
        for a in range(len(own_x)):
            full[a, which[b]] = weights[own_x[a] + b]
            outside += abs(weights[own_x[a] + b])
            weights[own_x[a] + b] = 0.0
        where[which[b]] = -1
        which[b] = -1
    return count, outside


def leave(line: int, row: int, first: Any, features: Any, taken: Any) -> None:
    """Empty the line that :func:`arrive` wrote."""
    for j in range(first[row + 1] - first[row]):
        features[line, taken[line, j]] = 0.0


def gather(record: Any, full: Any, weights: Any, start: int, which: Any) -> None:
    """Theta, of features with and without a slot."""
    for j in range(len(record)):
        record[j] = full[0, j]
    for b in range(len(which)):
        if which[b] >= 0:
            record[which[b]] = weights[start + b]


def drive_active(
    full: Any, weights: Any, x: Any, memory: Any, m: Any, p: Any, own_x: Any, own_m: Any,
    where: Any, which: Any, features: Any, first: Any, columns: Any, values: Any, step: int, offset: int, twin: bool,
    state: Any, next_state: Any, reward: Any, discount: Any, own: Any, pi: Any, mu: Any, rho: Any,
    rho_expected: Any, rows: Any, twins: Any, fresh: Any, alphas: Any, every: int, limit: float,
    record: Any, at: Any, outside: Any, lines: Any, of: Any, taken: Any, idle: Any, room: Any,
) -> int:  # fmt: skip
    """Run one learner over the outcomes ``rows`` on slots; see the module's preface.

    ``full`` (k, d) holds the weights of features without a slot, theta's first; ``where`` each
    feature's slot or -1, ``which`` each slot's feature or -1. ``own_x`` and ``own_m`` say where the
    vectors begin in ``weights`` and ``memory``. The lines of ``features`` (4, slots) are those of
    the state that is left, of the one that is reached, of the twin, and what the target expects,
    whose rows begin at ``offset`` where they are others. ``at`` holds the next step, the last record, and the steps until the next,
    ``outside`` the sum of the sizes of weights without a slot. Returns 0, ENDED or FULL.
    """
    slots, free, last = len(which), 0, 0
    for b in range(slots):
        if which[b] < 0:
            idle[last] = b
            last += 1
    expected = features[2:] if offset else features
    held = -1
    for t in range(at[0], len(rows)):
        i, k = rows[t], twins[t]
        s, n, second = state[i], next_state[i], next_state[k]
        if fresh[t]:
            memory[:] = 0.0
        if s == held:  # the state that was reached is left: its line is as it has to be
            lines[0], lines[1] = lines[1], lines[0]
            of[0] = -1
        else:
            if held >= 0:
                leave(lines[1], held, first, features, taken)
            of[0] = s
        of[1] = n
        if twin:
            of[2] = second
        if offset:
            of[3] = offset + n
        free, last = arrive(
            lines, of, first, columns, values, step, full, weights, memory, own_x, own_m, where, which, features, taken,
            idle, free, last, room, outside,
        )  # fmt: skip
        if last < 0:
            features[:] = 0.0
            at[0] = t
            return FULL
        transition = Transition(
            features, lines[0], lines[1], reward[i], discount[i], own[i], pi[i], mu[i], rho[i], 2, discount[k],
            rho[k], expected, rho_expected[i],
        )  # fmt: skip
        rule(x, m, transition, alphas[t], p)
        leave(lines[0], s, first, features, taken)
        held = n
        if twin:
            leave(2, second, first, features, taken)
        if offset:  # which counts on the lines of states being in their places
            leave(3, offset + n, first, features, taken)
            leave(1, n, first, features, taken)
            held = -1
        size = outside[0]
        for j in range(len(weights)):
            size += abs(weights[j])
        if not size <= limit:
            at[0] = t + 1
            return ENDED
        at[2] -= 1
        if at[2] == 0:
            at[1], at[2] = at[1] + 1, every
            gather(record[at[1]], full, weights, own_x[0], which)
    features[:] = 0.0
    at[0] = len(rows)
    gather(record[len(record) - 1], full, weights, own_x[0], which)
    return 0
