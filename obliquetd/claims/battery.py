"""The problems that claims are tested on, and the one way to decide an identity.

The battery has one problem of two states with every number a free symbol
(discount, transition probabilities, weights, feature, rewards), and random rational
ones of two to four states: off- and on-policy, deterministic, with restarts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from obliquetd.algebra import Matrix, parse_number
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, told
from obliquetd.claims.words import Theory, Word, identity, inverse_of, letter
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.errors import SingularError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "battery",
    "decide_identity",
    "letters",
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
    """A number for each of :class:`letters`; X is a fixed matrix with no relation to the rest."""
    ops = problem._ops
    n, d = ops.Phi.shape
    draw = np.random.default_rng(100 * n + d).integers(-3, 4, size=(n, d)) + np.eye(n, d, dtype=int)
    scalar = ops.arithmetic.scalar
    X = ops.arithmetic.matrix([[scalar(parse_number(int(x))) for x in row] for row in draw], (n, d))
    return {
        "Phi": ops.Phi,
        "X": X,
        "Xi": ops.arithmetic.identity(n).scale_rows(ops.xi),
        "L": ops.L_pi,
        "P": ops.P_gamma,
        "V": ops.v_pi,
        "r": ops.r_pi,
    }


def add_inverses(values: dict[str, Matrix], inverses: Mapping[str, Word]) -> None:
    """Values for letters that are inverses of words."""
    any_square = values["L"]
    for name, word in inverses.items():
        matrix = word.evaluate(values, any_square)
        values[name] = matrix.solve(matrix.arithmetic.identity(matrix.shape[0]), name)


Equation = tuple[str, Word, Word]


def decide_identity(
    equations: Sequence[Equation],
    *,
    inverses: Mapping[str, Word] | None = None,
    rules: Iterable[tuple[Word, Word]] = (),
    extra: Callable[[PolicyEvaluation, dict[str, Matrix]], None] | None = None,
    problems: Iterable[PolicyEvaluation] | None = None,
    premise: str = "",
) -> Outcome:
    """Test matrix identities on the battery, then prove them by rewriting.

    Parameters
    ----------
    equations : sequence of (name, left, right)
    inverses : mapping of letter name to the word it inverts
        A problem on which one does not exist does not meet the premise and is passed over.
    rules : iterable of (Word, Word)
        Further assumed equations; true of the values that ``extra`` supplies.
    extra : callable, optional
        Adds values of further letters for a problem.
    problems : iterable of PolicyEvaluation, optional
        The battery unless given.
    premise : str
        What is assumed, in words.

    Returns
    -------
    Outcome
        Refuted at the first problem where the sides differ; proved where the rules
        reduce every equation; else verified.
    """
    inverses = inverses or {}
    tested: list[PolicyEvaluation] = []

    def violation(problem: PolicyEvaluation) -> Observed | None:
        values = problem_values(problem)
        try:
            if extra is not None:
                extra(problem, values)
            add_inverses(values, inverses)
        except SingularError:
            return None
        tested.append(problem)
        one = problem._ops.arithmetic.identity(problem._ops.n)
        for name, left, right in equations:
            a = left.evaluate(values, one)
            b = right.evaluate(values, one) if right.terms else a - a
            if not (a - b).is_zero():
                return {f"left side of {name}": a.public(), "right side": b.public()}
        return None

    found = Counterexample.find(problems or battery(), violation)
    names = "; ".join(f"{left} = {right}" for _, left, right in equations)
    if found is not None:
        return Outcome(
            Verdict.REFUTED,
            f"the two sides differ on {found.problem()!r}: {told(found.observed)}",
            counterexample=found,
        )
    if not tested:
        return Outcome(Verdict.OPEN, "no problem of the battery meets the premise")
    theory = Theory([*(r for n, w in inverses.items() for r in inverse_of(n, w)[1]), *rules])
    proved = all(theory.proves(left, right) for _, left, right in equations)
    evidence = (f"{premise}. " if premise else "") + (
        f"{'Rewriting proves' if proved else 'Exact on'} {names}"
        f"{'; also exact' if proved else ''} on {_sizes(tested)}"
    )
    return Outcome(Verdict.PROVED if proved else Verdict.VERIFIED, evidence)


def _sizes(problems: Sequence[PolicyEvaluation]) -> str:
    rational = [p for p in problems if not p.symbols]
    sizes = sorted({f"{p._ops.n}x{p._ops.Phi.shape[1]}" for p in rational})
    symbolic = sorted({str(s) for p in problems for s in p.symbols})
    parts = [f"{len(rational)} rational problems ({', '.join(sizes)})"] if rational else []
    if symbolic:
        parts.append(f"2 states with {', '.join(symbolic)} free")
    return " and ".join(parts)
