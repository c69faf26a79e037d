"""Assumptions of claims, as predicates on a problem and a learner.

Each has a short name, a sentence, and a test. What a claim assumes is a tuple of these
(:class:`obliquetd.claims.setting.Setting`): it is printed with the claim, every
counterexample is run through it, and each member is dropped in turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import sympy as sp

from obliquetd.dynamics import MeanDynamics, mean_dynamics
from obliquetd.errors import InputError, ObliqueTDError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators

__all__ = [
    "A_NONSINGULAR",
    "COVERAGE",
    "C_NONSINGULAR",
    "DETERMINISTIC",
    "DISCOUNT",
    "FULL_RANK",
    "FULL_ROW_RANK",
    "LAMBDA_0",
    "NONZERO_FEATURES",
    "ONE_CLASS",
    "ONE_DISCOUNT",
    "ONE_FEATURE",
    "ON_POLICY",
    "POSITIVE_WEIGHTS",
    "STATIONARY",
    "TABULAR",
    "TWO_STATES",
    "VALUES_EXIST",
    "X_STAR_CROSSES",
    "Assumption",
    "dynamics",
]


@dataclass(frozen=True)
class Assumption:
    """One hypothesis of a statement.

    Attributes
    ----------
    name : str
        As in "full rank".
    statement : str
        The same as a clause.
    test : callable
        Whether a problem and a learner (or None) meet it.
    always : str
        Why it cannot be dropped, where no problem or learner without it exists.
    """

    name: str
    statement: str
    test: Callable[[PolicyEvaluation, Learner | None], bool] = field(repr=False)
    always: str = ""

    @property
    def latex(self) -> str:
        r"""The name as LaTeX.

        Examples
        --------
        >>> FULL_RANK.latex, POSITIVE_WEIGHTS.latex, VALUES_EXIST.latex
        ('\\text{full rank}', '\\xi > 0', 'L_\\pi\\text{ non-singular}')
        """
        signs = "".join(map(_latex_of, TOKENS.findall(self.name))).replace(r"}\text{", "")
        return re.sub(r"(\\(?:top|Phi|Xi|phi|xi|pi))(?=[A-Za-z])", r"\1 ", signs)

    def holds(self, problem: PolicyEvaluation, learner: Learner | None = None) -> bool:
        """Whether it is met; where what it speaks of does not exist, it is not."""
        return _holds(self, problem, learner)


SIGNS = {
    "Delta phi": r"\Delta\phi", "Phi": r"\Phi", "phi": r"\phi", "Xi": r"\Xi", "xi": r"\xi", "L_pi": r"L_\pi",
    "lambda": r"\lambda", "mu": r"\mu", "^-1": "^{-1}", "'": r"^\top", "*'": r"^{*\top}", "!=": r"\neq",
}  # fmt: skip
TOKENS = re.compile(
    r"Delta phi|Phi|phi|Xi|xi\b|L_pi|lambda|mu\b|\^-1|\*'|'|!=| ?[a-z][a-z-]+ ?|\s|."
)


def _latex_of(token: str) -> str:
    """A token of an assumption's name: a sign, a word, or itself."""
    return SIGNS.get(token) or (rf"\text{{{token}}}" if len(token.strip()) > 1 else token)


@cache
def _holds(assumption: Assumption, problem: PolicyEvaluation, learner: Learner | None) -> bool:
    try:
        return bool(assumption.test(problem, learner))
    except ObliqueTDError:
        return False


@lru_cache(maxsize=4096)
def dynamics(problem: PolicyEvaluation, learner: Learner | None) -> MeanDynamics:
    """The mean dynamics of the learner that a statement speaks of."""
    if learner is None:
        raise InputError("this assumption is one on a learner, and the statement names none")
    return mean_dynamics(problem, learner)


def _of(test: Callable[[Operators], Any]) -> Callable[[PolicyEvaluation, Learner | None], bool]:
    """A test on the matrices of the problem alone."""
    return lambda problem, _learner: bool(test(problem.native))


def _nonsingular(ops: Operators, matrix: Any) -> bool:
    return bool(matrix.det() != ops.arithmetic.zero)


def _deterministic(ops: Operators) -> bool:
    """One successor and one discount for each state under the target."""
    reached: dict[int, set[Any]] = {}
    for s, t, p, pi, g in zip(
        ops.state.tolist(), ops.next_state.tolist(), ops.probability, ops.pi, ops.row_discount,
        strict=True,
    ):  # fmt: skip
        if pi and p:
            reached.setdefault(s, set()).add((t, str(g)))
    return all(len(ends) == 1 for ends in reached.values())


def _discounts(ops: Operators) -> bool:
    one = ops.arithmetic.one
    taken = [g for g, pi in zip(ops.row_discount, ops.pi, strict=True) if pi]
    return all(0 <= ops.arithmetic.public(g) < ops.arithmetic.public(one) for g in taken)


FULL_RANK = Assumption(
    "full rank", "the columns of Phi are independent", _of(lambda o: o.Phi.rank() == o.Phi.shape[1])
)
FULL_ROW_RANK = Assumption(
    "rank(Phi) = |S|", "the rows of Phi are independent", _of(lambda o: o.Phi.rank() == o.n)
)
POSITIVE_WEIGHTS = Assumption(
    "xi > 0", "every state has a positive weight", _of(lambda o: all(x > 0 for x in o.xi.entries()))
)
STATIONARY = Assumption(
    "xi stationary",
    "xi is the stationary distribution of the behaviour chain",
    _of(lambda o: (o.P_b.T @ o.xi - o.xi).is_zero()),
)
ONE_CLASS = Assumption(
    "one class",
    "the behaviour chain has a single closed class",
    _of(lambda o: len(o.chain.recurrent) == 1),
)
COVERAGE = Assumption(
    "coverage",
    "the behaviour takes every action that the target takes",
    lambda _problem, _learner: True,
    always="a problem without it is refused (CoverageError), since the ratio rho is not defined there",
)
DISCOUNT = Assumption("discount < 1", "every transition has a discount in [0, 1)", _of(_discounts))
VALUES_EXIST = Assumption(
    "L_pi non-singular", "the values exist", _of(lambda o: _nonsingular(o, o.L_pi))
)
ONE_DISCOUNT = Assumption(
    "one discount",
    "every transition has the same discount",
    _of(lambda o: (o.P_gamma - o.P_pi.scaled(o.discount)).is_zero()),
)
ON_POLICY = Assumption(
    "on-policy",
    "target and behaviour have one chain",
    _of(
        lambda o: (
            (o.P_b - o.P_pi).is_zero() and all(a == b for a, b in zip(o.pi, o.mu, strict=True))
        )
    ),
)
DETERMINISTIC = Assumption(
    "deterministic", "the target's transitions are deterministic", _of(_deterministic)
)
ONE_FEATURE = Assumption("one feature", "d = 1", _of(lambda o: o.Phi.shape[1] == 1))
TWO_STATES = Assumption("two states", "there are two states at most", _of(lambda o: o.n <= 2))
TABULAR = Assumption(
    "tabular",
    "Phi is the identity",
    _of(lambda o: o.Phi.shape[1] == o.n and (o.Phi - o.arithmetic.identity(o.n)).is_zero()),
)
C_NONSINGULAR = Assumption(
    "C non-singular", "Phi'Xi Phi is non-singular", _of(lambda o: _nonsingular(o, o.C))
)
X_STAR_CROSSES = Assumption(
    "X*'Phi non-singular",
    "the projection along X* exists",
    _of(lambda o: _nonsingular(o, o.X_star.T @ o.Phi)),
)
NONZERO_FEATURES = Assumption(
    "phi != 0", "no feature vector is zero", _of(lambda o: all(o.Phi.row_dots(o.Phi).entries()))
)
LAMBDA_0 = Assumption(
    "lambda = 0",
    "the learner has no eligibility trace",
    lambda _problem, learner: learner is not None and not learner.values.get("lam"),
)


def _primary_block(problem: PolicyEvaluation, learner: Learner | None) -> sp.Matrix:
    """A = E[e Delta phi'], for gradient learners the block that couples theta to w over mu."""
    found = dynamics(problem, learner)
    if learner is None or learner.size(1) == 1:
        return found.A
    d = problem.Phi.shape[1]
    return found.A[d:, :d]


A_NONSINGULAR = Assumption(
    "A non-singular",
    "A = E[e_t Delta phi_t'] is non-singular",
    lambda problem, learner: _primary_block(problem, learner).det() != 0,
)
