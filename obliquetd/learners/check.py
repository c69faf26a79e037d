"""The guard: whether a rule is what the package takes it for, decided on small rationals.

The mean dynamics E[x_{t+1} - x_t] = alpha (b - A x) + O(alpha^2) is what
:mod:`obliquetd.dynamics.mean` computes where, for each transition,

1. at alpha = 0 the weights stay, and the memory's map is affine, free of the weights, and
   emptied by discount 0;
2. the slope U in alpha is affine in the weights and affine in the memory, on the affine
   hull of the memories that the map reaches from the empty one, and the reward enters it
   by a term of its own, free of the weights;

and a simulation is one of the same rule where

3. the rule keeps to its declared arrays, and compiles to what it evaluates to.

Entries of the memory that are 0 at alpha = 0 are held at 0: they may depend on the weights
(true-online's last move). Affinity is tested at points far outside the unit box as well,
where a clip would show. The test is of finitely many points: it refuses, and a rule that it
lets through is affine at all of them.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import QQ

from obliquetd.algebra import public_number
from obliquetd.errors import LearnerError
from obliquetd.learners.base import Learner, each, parameters
from obliquetd.learners.candidates import number_for
from obliquetd.learners.compiled import compiled_rule, float_numbers
from obliquetd.learners.dual import Dual, slope_of, value_of
from obliquetd.learners.evaluate import PlainRule, as_array
from obliquetd.learners.functions import is_shipped, kept
from obliquetd.learners.probes import PROBED, affine_where_probed
from obliquetd.learners.state import views
from obliquetd.learners.words import Transition

__all__ = [
    "Checked",
    "carries",
    "check",
    "is_shipped",
    "require_averageable",
    "require_runnable",
]

SIZES = (1, 3)
"""Numbers of features that a rule is tried on."""
STATES, STEPS = 4, 5
FACTORS = (QQ(2, 7), -(QQ(10) ** 9), QQ(10) ** 13)
"""Where on the line through two points affinity is tested; a clip shows at the far ones."""
NUMBERS = tuple(
    x for x in Transition._fields if x not in ("s", "n", "twin") and "features" not in x
)
"""The fields of a transition that are numbers, and no arrays or places in them."""
CLOSE = 1e-7
"""The relative distance of a compiled value from the exact one that is rounding."""


@dataclass(frozen=True)
class Checked:
    """What :func:`check` found of a learner's rule.

    Attributes
    ----------
    learner : Learner
    runs : str
        Why the rule cannot be simulated; empty where it can.
    averages : str
        Why A and b do not mean its mean dynamics; empty where they do.
    """

    learner: Learner
    runs: str
    averages: str

    @property
    def ok(self) -> bool:
        """Whether it can be simulated and averaged."""
        return not (self.runs or self.averages)


def qq(value: Fraction) -> Any:
    """A rational of the exact arithmetic."""
    return QQ(value.numerator, value.denominator)


def check(learner: Learner, *, compiled: bool = True) -> Checked:
    """Try a learner's rule on small rationals; see the module's preface.

    Parameters
    ----------
    learner : Learner
    compiled : bool
        Whether to compile the rule as well, and to compare.

    Examples
    --------
    >>> from obliquetd.learners import TD
    >>> check(TD(lam="1/2")).ok
    True
    """
    if isinstance(learner, type) or not isinstance(learner, Learner):
        raise LearnerError(f"{learner!r} is no learner; expected one such as TD(0.1)")
    return Checked(learner, *_check(learner, compiled))


@kept
def _check(learner: Learner, compiled: bool) -> tuple[str, str]:
    """Why its rule cannot be simulated, and why not averaged."""
    try:
        for d in SIZES:
            trial = Trial(learner, d)
            trial.keeps_to_its_arrays()
            if compiled:
                trial.compiles_to_itself()
    except (RefusalError, LearnerError) as refusal:
        return str(refusal), str(refusal)
    try:
        for d in SIZES:
            trial = Trial(learner, d)
            trial.rests_at_alpha_0()
            trial.has_an_affine_memory()
            trial.has_an_affine_slope()
            if not affine_where_probed(trial):
                raise RefusalError(PROBED)
    except RefusalError as refusal:
        return "", str(refusal)
    return "", ""


def require_runnable(learner: Learner) -> None:
    """LearnerError where a rule cannot be simulated.

    The package's own rules are held to it by a test; a rule of the user's is tried once.
    """
    if not is_shipped(learner.rule) and (reason := check(learner).runs):
        raise LearnerError(f"{learner.name} cannot be simulated: {reason}")


def require_averageable(learner: Learner) -> None:
    """LearnerError where A and b do not mean a rule's mean dynamics."""
    if reason := check(learner, compiled=False).averages:
        raise LearnerError(f"{learner.name} has no mean dynamics of the form b - A x: {reason}")


@kept
def carries(learner: Learner) -> bool:
    """Whether a transition ever depends on what the one before it handed on.

    A memory that is empty at alpha = 0 and changes no step at another alpha (true-online's
    last move, without a trace) counts for nothing.
    """
    trial = Trial(learner, SIZES[-1])
    if any(any(m) for m in trial.memories()):
        return True
    alpha, x = QQ(1, 7), trial.weights()
    for _ in range(STEPS):
        x, handed, _ = trial.run(trial.transition(), x, trial.empty, alpha)
        t = trial.transition()
        if trial.run(t, x, handed, alpha)[0] != trial.run(t, x, trial.empty, alpha)[0]:
            return True
    return False


class RefusalError(LearnerError):
    """The reason why a rule is refused."""


class Trial:
    """One learner on random rational transitions with d features."""

    def __init__(self, learner: Learner, d: int) -> None:
        self.learner, self.d = learner, d
        self.random = random.Random(d)
        self.values = {
            k: each(functools.partial(self._value, k), _on_states(v))
            for k, v in learner.tried.items()
        }
        self.rule = PlainRule(learner, d, qq, self.values)
        self.features = as_array(
            [[self.some() for _ in range(d)] for _ in range(STATES)], (STATES, d)
        )
        self.features.flags.writeable = False
        self.features_next = self.features[::-1]
        self.empty = [QQ(0)] * self.rule.memory_size

    def some(self) -> Any:
        """A random rational, not zero."""
        return QQ(
            self.random.choice([-1, 1]) * self.random.randint(1, 7), self.random.randint(1, 5)
        )

    def _value(self, name: str, value: Any) -> Any:
        """A number of the learner's; a symbol in it becomes a random one of its domain."""
        public = public_number(value)
        if isinstance(public, float):
            return qq(Fraction(repr(public)))
        setting = next((p for p in parameters(type(self.learner)) if p.name == name), None)
        return number_for(public, setting, name, self.random)

    def transition(self, *, ends: bool | None = None, reward: Any = None) -> Transition:
        """A random transition, now and then on-policy, undiscounted or the last of an episode."""
        draw = self.random
        going = draw.choice([QQ(1), QQ(1, 2), QQ(7, 8)])
        own = QQ(0) if ends or (ends is None and draw.random() < 1 / 4) else going
        g = own * QQ(draw.randint(1, 9), 9)
        pi, mu = QQ(draw.randint(0, 4), 4), QQ(draw.choice([1, 4, 8, 12, 16]), 16)
        return Transition(
            self.features, draw.randrange(STATES), draw.randrange(STATES),
            self.some() if reward is None else reward, g, own, pi, mu, pi / mu,
            draw.randrange(STATES), QQ(draw.randint(0, 9), 9), QQ(draw.randint(0, 8), 4),
            self.features_next, QQ(draw.choice([1, 2]), 2),
        )  # fmt: skip

    def weights(self) -> list[Any]:
        return [self.some() for _ in range(self.rule.size)]

    def run(self, t: Transition, x: list[Any], m: list[Any], alpha: Any) -> Any:
        """The rule, or a refusal that quotes what it raised."""
        try:
            x, m, delta = self.rule.run(t, x, m, alpha)
        except LearnerError:
            raise
        except Exception as error:  # a user's rule may raise anything
            hint = {
                IndexError: "; it reads or writes beyond the arrays that it declares",
                ValueError: "; it may change its weights and memory only, and only in place",
                AttributeError: "; it may use declared arrays, declared numbers and the fields of "
                "a Transition",
            }.get(type(error), "")
            raise RefusalError(
                f"with {self.d} features its rule raises {type(error).__name__} ({error}){hint}"
            ) from None
        numbers = [*map(value_of, x), *map(value_of, m), value_of(delta)]
        for value in [*numbers, *map(slope_of, x)]:
            if isinstance(value, float):
                raise RefusalError(
                    "given rationals it computes in floats; write numbers that are no whole numbers "
                    "as fractions in the text (1/3), or read them as p.name"
                )
            if not isinstance(value, int | QQ.dtype):
                raise RefusalError(
                    f"it leaves {value!r} where a number is expected; it has to return delta"
                )
        return x, m, delta

    def slope(self, t: Transition, x: list[Any], m: list[Any]) -> tuple[list[Any], list[Any]]:
        """U, and the memory handed on at alpha = 0."""
        after, handed, _ = self.run(t, x, m, Dual(QQ(0), QQ(1)))
        return [QQ(1) * slope_of(v) for v in after], [QQ(1) * value_of(v) for v in handed]

    def memories(self) -> Iterator[list[Any]]:
        """Memories that are reached from the empty one."""
        for _ in range(2):
            m = self.empty
            for _ in range(STEPS):
                m = self.slope(self.transition(ends=False), self.weights(), m)[1]
                yield m

    def keeps_to_its_arrays(self) -> None:
        """Two runs of the same are the same, and nothing is raised."""
        m = self.empty
        for _ in range(STEPS):
            t, x, alpha = self.transition(), self.weights(), QQ(1, 10)
            once, again = self.run(t, x, m, alpha), self.run(t, x, m, alpha)
            if once != again:
                raise RefusalError(
                    "two runs on the same numbers differ: it keeps something of its own"
                )
            m = once[1]

    def compiles_to_itself(self) -> None:
        """The compiled rule, floats in and out, along one run of the exact one."""
        numbers = float_numbers(self.learner, {k: each(float, v) for k, v in self.values.items()})
        shown, expected = (
            np.array([[float(v) for v in row] for row in part])
            for part in (self.features, self.features_next)
        )
        x, m = self.weights(), self.empty
        fx, fm = (np.array([float(v) for v in part]) for part in (x, m))
        state = (
            views(self.learner.weights, self.d, numbers, fx),
            views(self.learner.memory, self.d, numbers, fm),
        )
        for _ in range(STEPS):
            t = self.transition()
            x, m, delta = self.run(t, x, m, QQ(1, 10))
            numbers_of = {k: float(getattr(t, k)) for k in NUMBERS}
            floats = t._replace(features=shown, features_next=expected, **numbers_of)
            try:
                found = compiled_rule(self.learner.rule)(*state, floats, 0.1, numbers)
            except Exception as error:
                first = str(error).strip().splitlines()[0] if str(error) else ""
                raise RefusalError(
                    f"its rule cannot be compiled: {type(error).__name__}: {first}"
                ) from None
            exact = np.array([float(v) for v in [*x, *m, delta]])
            floating = np.array([*fx, *fm, found], dtype=float)
            if not np.allclose(floating, exact, rtol=CLOSE, atol=CLOSE * (1 + np.abs(exact).max())):
                raise RefusalError(
                    "compiled, its rule gives other numbers than it evaluates to: "
                    f"{floating.tolist()} and {exact.tolist()}"
                )

    def rests_at_alpha_0(self) -> None:
        m = self.empty
        for _ in range(STEPS):
            t, x = self.transition(), self.weights()
            after, handed, _ = self.run(t, x, m, Dual(QQ(0), QQ(1)))
            if [value_of(v) for v in after] != x:
                raise RefusalError("it moves the weights where alpha is 0")
            other = self.slope(t, self.weights(), m)[1]
            m = [QQ(1) * value_of(v) for v in handed]
            if other != m:
                raise RefusalError("the memory that it hands on depends on the weights")
            if any(self.slope(self.transition(ends=True), x, m)[1]):
                raise RefusalError(
                    "a discount of 0 does not empty its memory: an episode would leak into the next"
                )

    def has_an_affine_memory(self) -> None:
        reached = list(self.memories())
        for a, b in itertools.pairwise(reached):
            t, x = self.transition(), self.weights()
            ends = [self.slope(t, x, h)[1] for h in (a, b)]
            for c in FACTORS:
                if self.slope(t, x, _on_line(a, b, c))[1] != _on_line(ends[0], ends[1], c):
                    raise RefusalError(
                        "the memory that it hands on is not affine in the memory it got"
                    )

    def has_an_affine_slope(self) -> None:
        reached = [self.empty, *self.memories()]
        for a, b in itertools.pairwise(reached):
            t, x, y = self.transition(), self.weights(), self.weights()
            for c in FACTORS:
                if self.slope(t, _on_line(x, y, c), a)[0] != _on_line(
                    self.slope(t, x, a)[0], self.slope(t, y, a)[0], c
                ):
                    raise RefusalError("its update is not affine in the weights")
                if self.slope(t, x, _on_line(a, b, c))[0] != _on_line(
                    self.slope(t, x, a)[0], self.slope(t, x, b)[0], c
                ):
                    raise RefusalError("its update is not affine in the memory")
                paid = t._replace(reward=c)
                moved = [self.slope(u, v, a)[0] for u in (t, paid) for v in (x, y)]
                if less(moved[0], moved[1]) != less(moved[2], moved[3]):
                    raise RefusalError("the reward changes how its update depends on the weights")


def _on_states(value: Any) -> Any:
    """A number, or the numbers of some states as those of the states of a trial."""
    if not isinstance(value, tuple):
        return value
    return tuple(itertools.islice(itertools.cycle(value), STATES))


def less(a: list[Any], b: list[Any]) -> list[Any]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _on_line(a: list[Any], b: list[Any], c: Any) -> list[Any]:
    """a + c (b - a)."""
    return [x + c * (y - x) for x, y in zip(a, b, strict=True)]
