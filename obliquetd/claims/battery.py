"""The problems that claims are tested on, and the one way to decide an identity.

The battery has one problem of two states with every number a free symbol
(discount, transition probabilities, weights, feature, rewards), and random rational
ones of two to four states: off- and on-policy, deterministic, with restarts.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from obliquetd.algebra import Matrix, parse_number
from obliquetd.claims.assumptions import VALUES_EXIST, Assumption
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, told
from obliquetd.claims.setting import Setting
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.errors import InputError, SingularError
from obliquetd.learners import Learner
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Given, Theory, Word, identity, inverse_of, letter

__all__ = [
    "battery",
    "decide_identity",
    "letters",
    "matrix_of",
    "off_policy_battery",
    "problem_values",
    "symbolic_two_state",
]


@cache
def symbolic_two_state() -> PolicyEvaluation:
    """Two states, one feature, all numbers free: gamma, p, q, w, b, r0, r1 (and feature 1, b)."""
    mdp = MDP.from_transitions(
        [(0, "a", 0, "1-p", "r0"), (0, "a", 1, "p", "r0"), (1, "a", 0, "q", "r1"), (1, "a", 1, "1-q", "r1")]
    )  # fmt: skip
    return PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        features=[[1], ["b"]],
        discount="gamma",
        xi=["w", "1-w"],
    )


@cache
def off_policy_battery() -> tuple[PolicyEvaluation, ...]:
    """Rational problems with distinct target and behaviour, the paper's own first."""
    return (
        two_state(reward=1),
        random_problem(2, 1, seed=1),
        random_problem(3, 2, seed=2, deterministic=True),
        random_problem(3, 2, seed=3, restarts=True),
        random_problem(4, 2, seed=4, actions=3),
    )


@cache
def battery() -> tuple[PolicyEvaluation, ...]:
    """The symbolic problem and rational ones of two to four states."""
    return (
        *off_policy_battery(),
        random_problem(3, 1, seed=5, on_policy=True),
        random_problem(4, 3, seed=6),
        symbolic_two_state(),
    )


class letters:  # noqa: N801 - a namespace of the paper's letters
    """The paper's matrices as letters: n states, d features, one column ``1``."""

    Phi = letter("Phi", "n d")
    X = letter("X", "n d")
    Xi = letter("Xi", "n n", symmetric=True)
    L = letter("L", "n n")
    P = letter("P", "n n")  # gamma P_pi, every transition times its discount
    V = letter("V", "n 1")
    r = letter("r", "n 1")
    Id = identity()


def problem_values(problem: PolicyEvaluation) -> dict[str, Matrix]:
    """A number for each of :class:`letters`, V where there is one.

    X is drawn anew for every feature matrix, and has no other relation to the rest.
    """
    ops = problem.native
    n, d = ops.Phi.shape
    seed = zlib.crc32(repr(problem.Phi.tolist()).encode())
    draw = np.random.default_rng(seed).integers(-2, 3, size=(n, d)) + np.eye(n, d, dtype=int)
    scalar = ops.arithmetic.scalar
    X = ops.arithmetic.matrix([[scalar(parse_number(int(x))) for x in row] for row in draw], (n, d))
    values = {
        "Phi": ops.Phi,
        "X": X,
        "Xi": ops.arithmetic.identity(n).scale_rows(ops.xi),
        "L": ops.L_pi,
        "P": ops.P_gamma,
        "r": ops.r_pi,
    }
    if ops.L_pi.rank() == n:
        values["V"] = ops.v_pi
    return values


def add_inverses(values: dict[str, Matrix], inverses: Mapping[str, Word]) -> None:
    """Values for letters that are inverses of words."""
    any_square = values["L"]
    for name, word in inverses.items():
        matrix = word.evaluate(values, any_square)
        values[name] = matrix.solve(matrix.arithmetic.identity(matrix.shape[0]), str(word))


Equation = tuple[str, Word, Word]
Extra = Callable[[PolicyEvaluation, dict[str, Matrix]], None]


def matrix_of(problem: PolicyEvaluation, rows: Sequence[Sequence[object]]) -> Matrix:
    """Rows of numbers in the arithmetic of a problem, as the values of letters are.

    Examples
    --------
    >>> matrix_of(symbolic_two_state(), [[1, "1/2"]]).shape
    (1, 2)
    """
    arithmetic = problem.native.arithmetic
    numbers = [[arithmetic.scalar(parse_number(x)) for x in row] for row in rows]
    return arithmetic.matrix(numbers, (len(rows), len(rows[0])))


def decide_identity(
    equations: Sequence[Equation],
    *,
    inverses: Mapping[str, Word] | None = None,
    rules: Iterable[tuple[Word, Word]] = (),
    extra: Extra | None = None,
    problems: Iterable[PolicyEvaluation] | None = None,
    premise: str = "",
    assumptions: tuple[Assumption, ...] = (),
    implied: Mapping[str, str] | None = None,
) -> Outcome:
    """Test matrix identities on the battery, then prove them by rewriting.

    Parameters
    ----------
    equations : sequence of (name, left, right)
    inverses : mapping of letter name to the word it inverts
        That each exists is an assumption of the statement. A problem on which one does not
        exist does not meet the premise and is passed over.
    rules : iterable of (Word, Word)
        Further assumed equations; true of the values that ``extra`` supplies, which is
        tested, and printed with the evidence.
    extra : callable, optional
        Adds values of further letters for a problem.
    problems : iterable of PolicyEvaluation, optional
        The battery unless given.
    premise : str
        What is assumed, in words.
    assumptions, implied : optional
        Further assumptions on the problem; why some follow from the others, by name. Where V is
        written, that the values exist is assumed without being asked for.

    Returns
    -------
    Outcome
        Refuted at the first problem where the sides differ; proved where the rules
        reduce every equation; else verified. Its setting holds the assumptions.

    Raises
    ------
    InputError
        For no equation, no problem, or a rule that is false of the values.
    """
    inverses, rules = dict(inverses or {}), tuple(rules)
    given = tuple(battery() if problems is None else problems)
    if not given or not equations:
        missing = "problems" if equations else "equations"
        raise InputError(f"the list of {missing} is empty, so there is nothing to decide")
    statement = _Statement(tuple(equations), inverses, rules, extra)
    values_exist = () if statement.values_exist_if_written() else (VALUES_EXIST,)
    setting = Setting(
        (*(statement.has_inverse(name) for name in inverses), *values_exist, *assumptions),
        fails=lambda problem, _learner: statement.gap(problem),
        implied=implied or {},
    )
    meet = [p for p in given if not setting.unmet(p)]
    if not meet:
        return Outcome(Verdict.OPEN, "no problem of the battery meets the premise")
    found = Counterexample.find(meet, statement.gap)
    if found is not None:
        evidence = f"the two sides differ on {found.problem()!r}: {told(found.observed)}"
        return Outcome(Verdict.REFUTED, evidence, counterexample=found, setting=setting)
    exist = [Given(*r, inverse=n) for n, w in inverses.items() for r in inverse_of(n, w)[1]]
    theory = Theory([*exist, *rules])
    derivations = tuple((name, theory.derive(left, right)) for name, left, right in equations)
    proved = all(derivation.proved for _, derivation in derivations)
    names = "; ".join(f"{left} = {right}" for _, left, right in equations)
    assumed = "; ".join(f"{left} = {right}" for left, right in rules)
    evidence = (
        (f"{premise}. " if premise else "")
        + f"{'Rewriting proves' if proved else 'Exact on'} {names}{statement.letters_told()}"
        + (f", from {assumed} (tested on the same problems)" if assumed and proved else "")
        + f"{'; also exact' if proved else ''} on {_sizes(meet)}"
    )
    return Outcome(
        Verdict.PROVED if proved else Verdict.VERIFIED,
        evidence,
        setting=setting,
        derivations=derivations if proved else (),
    )


@dataclass(frozen=True)
class _Statement:
    """Equations between words, and the values they are tested on."""

    equations: tuple[Equation, ...]
    inverses: Mapping[str, Word]
    rules: tuple[tuple[Word, Word], ...]
    extra: Extra | None

    def values_exist_if_written(self) -> bool:
        """Whether V is not written, or an inverse of L is assumed anyhow: V needs no word of its own."""
        return not self._writes_V() or letters.L in self.inverses.values()

    def _writes_V(self) -> bool:
        equations = [*((left, right) for _, left, right in self.equations), *self.rules]
        return any(letters.V.letters() <= w.letters() for sides in equations for w in sides)

    def has_inverse(self, name: str) -> Assumption:
        """The assumption that a word has an inverse.

        Where a letter of the word is itself an inverse that does not exist, that letter's own
        assumption says so.
        """
        word = self.inverses[name]

        def test(problem: PolicyEvaluation, _learner: Learner | None) -> bool:
            values = problem_values(problem)
            if self.extra is not None:
                self.extra(problem, values)
            for other, inverted in self.inverses.items():
                if other != name:
                    with suppress(SingularError, KeyError):
                        add_inverses(values, {other: inverted})
            if not word.letters() <= set(values):
                return True
            return bool(word.evaluate(values, values["L"]).det() != problem.native.arithmetic.zero)

        short = str(word).replace(" ", "")
        return Assumption(f"{short} non-singular", f"{word} has an inverse", test)

    def letters_told(self) -> str:
        """What the letters stand for that are inverses and are written, as ``, with H = (X' L Phi)^-1``."""
        sides = [*(pair[1:] for pair in self.equations), *self.rules]
        written = frozenset[str]().union(*(w.letters() for pair in sides for w in pair))
        named = {n: _inverted(w) for n, w in self.inverses.items() if n in written}
        told = [f"{name} = {word}" for name, word in named.items() if name != word]
        return f", with {' and '.join(told)}" if told else ""

    def gap(self, problem: PolicyEvaluation) -> Observed | None:
        """The first equation that fails on a problem; InputError for a rule that does."""
        values = problem_values(problem)
        if self._writes_V() and "V" not in values:
            raise SingularError("V_pi does not exist, since L_pi is singular")
        if self.extra is not None:
            self.extra(problem, values)
        add_inverses(values, self.inverses)
        one = problem.native.arithmetic.identity(problem.native.n)
        for left, right in self.rules:
            if _sides(left, right, values, one) is not None:
                raise InputError(f"the rule {left} = {right} is false on {problem!r}")
        for name, left, right in self.equations:
            sides = _sides(left, right, values, one)
            if sides is not None:
                return {f"left side of {name}": sides[0].public(), "right side": sides[1].public()}
        return None


def _sides(
    left: Word, right: Word, values: Mapping[str, Matrix], one: Matrix
) -> tuple[Matrix, Matrix] | None:
    """Both sides where they differ; a multiple of the identity takes the size of the other side."""
    a = left.evaluate(values, one)
    size = a.arithmetic.identity(a.shape[0])
    b = right.evaluate(values, size) if right.terms else a - a
    if a.shape != b.shape:
        raise InputError(
            f"{left} is {a.shape[0]} by {a.shape[1]} and {right} is {b.shape[0]} by {b.shape[1]}; the "
            "two sides of an equation need one shape. Transpose one, or mend the word"
        )
    return None if (a - b).is_zero() else (a, b)


def _inverted(word: Word) -> str:
    text = str(word)
    return f"{text}^-1" if len(word.letters()) == 1 and " " not in text else f"({text})^-1"


def _sizes(problems: Sequence[PolicyEvaluation]) -> str:
    rational = [p for p in problems if not p.symbols]
    sizes = sorted({f"{p.native.n}x{p.native.Phi.shape[1]}" for p in rational})
    symbolic = sorted({str(s) for p in problems for s in p.symbols})
    parts = [f"{len(rational)} rational problems ({', '.join(sizes)})"] if rational else []
    if symbolic:
        parts.append(f"2 states with {', '.join(symbolic)} free")
    return " and ".join(parts)
