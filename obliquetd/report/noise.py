"""How noisy the learners of an analysis are, as a table: what is finite, bias, rate, crossovers.

Where a number does not exist its cell says in a word why, and :attr:`NoiseRow.problems` in a sentence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import sympy as sp

from obliquetd.algebra import Arithmetic, FieldArithmetic
from obliquetd.algebra.sign_cases import SignCase, sign_cases
from obliquetd.dynamics import Efficiency
from obliquetd.dynamics.efficiency import efficiency_of
from obliquetd.dynamics.rule import operators_for
from obliquetd.errors import (
    InputError,
    KindError,
    NoSolutionError,
    NotUniqueError,
    ObliqueTDError,
    SignUndecidedError,
    SingularError,
    UnstableError,
)
from obliquetd.estimators import LSETD, LSTD, crossover
from obliquetd.estimators.lstd import LeastSquares
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.compare import ROUNDED
from obliquetd.report.plain import condition_text, plain_cell

__all__ = ["COLUMNS", "LEGEND", "Noise", "NoiseRow", "measure_noise", "too_large"]

LARGEST = {"exact": 1_500, "symbolic": 60, "float": 600}
"""Transitions times features up to which the noise is computed unasked: a second or two for all."""
MOST_CASES = 6
"""Cases of one learner up to which each has a row."""
ESTIMATORS = (LSTD(), LSETD())
"""Whose crossovers are shown; they differ in the emphasis of a state."""

COLUMNS = {
    "squared_bias": "bias^2",
    "variance": "t variance, averaged",
    "constant_step_variance": "variance / alpha",
}
"""The numbers of a row, with their headings; each is an attribute of an Efficiency."""

LEGEND = (
    "bias^2: |Phi theta* - v|^2, which no number of steps removes. t variance: what t E|Phi (theta - theta*)|^2 tends "
    "to, for the average of a learner's weights and for the weights of a least-squares estimator. variance / alpha: "
    "what a small constant step size alpha leaves for ever, divided by alpha. All norms have the weights xi, and the "
    "data come from one trajectory."
)
"""What the columns mean."""

CASES = "A row holds where it says, and nothing is claimed where one case ends and another begins, unless it is in one."
"""What is added where a learner has cases."""

WORDS: tuple[tuple[type[ObliqueTDError], str], ...] = (
    (NoSolutionError, "no fixed point"),
    (NotUniqueError, "many fixed points"),
    (SingularError, "A is singular"),
    (KindError, "no step size"),
    (InputError, "no trajectory has xi"),
)
"""Why a number does not exist, in a word or two; the message says it in full."""


@dataclass(frozen=True)
class NoiseRow:
    """The noise of one learner or estimator.

    Attributes
    ----------
    name : str
    finite : bool or None
        Whether the long-run covariance at the fixed point is finite; None where that is not known.
    reason : str
        Why it is infinite, or not known.
    numbers : dict of str to number
        Keyed like :data:`COLUMNS`.
    words, problems : dict of str to str
        For each number that does not exist, why: short, and in a sentence.
    rounding : float
        Of floats: what the squared bias may be by rounding alone where it is 0.
    where : sympy Boolean
        With symbols: the case in which all of it holds; true where there is one case.
    """

    name: str
    finite: bool | None
    reason: str
    numbers: dict[str, Any]
    words: dict[str, str]
    problems: dict[str, str]
    rounding: float = 0.0
    where: Any = sp.true

    @property
    def label(self) -> str:
        """Its name, and the case in words."""
        if self.where == sp.true:
            return self.name
        return f"{self.name} where {condition_text(self.where)}"

    def is_rounding(self, key: str) -> bool:
        """Whether a number is a float that rounding does not tell from 0."""
        value = self.numbers.get(key)
        return key == "squared_bias" and isinstance(value, float) and 0 < value <= self.rounding

    @property
    def depends(self) -> str:
        """Why the first number that depends on symbols does."""
        words = (key for key, word in self.words.items() if word.startswith(DEPENDS))
        return next((self.problems[key] for key in words), "")

    @property
    def told(self) -> str:
        """``"finite"``, ``"infinite"``, or why that is not known."""
        if self.finite is None:
            return self.words["finite"]
        return "finite" if self.finite else "infinite"


@dataclass(frozen=True, eq=False)
class Noise:
    """What :func:`measure_noise` found.

    Attributes
    ----------
    rows : tuple of NoiseRow
        The learners, then the least-squares estimators.
    crossovers : tuple of Crossover
        After how many samples the less biased of two estimators is the better one.
    """

    rows: tuple[NoiseRow, ...]
    crossovers: tuple[Any, ...]

    def cells(self, width: int = 10) -> list[list[str]]:
        """The table as text, a heading first."""
        out = [["learner", "noise", *COLUMNS.values()]]
        for row in self.rows:
            out.append([row.label, row.told])
            out[-1] += [
                ROUNDED
                if row.is_rounding(k)
                else plain_cell(row.numbers[k], width)
                if k in row.numbers
                else row.words[k]
                for k in COLUMNS
            ]
        return out

    @property
    def notes(self) -> dict[str, str]:
        """Why noise is infinite or not known, or on what its numbers depend, by learner."""
        return {row.label: why for row in self.rows if (why := row.reason or row.depends)}

    def to_dict(self, number: Callable[[Any], Any]) -> dict[str, Any]:
        """Strict JSON data, its numbers written by the given function."""
        return {
            "learners": [
                {
                    "learner": row.name,
                    **({} if row.where == sp.true else {"where": str(row.where)}),
                    "finite": row.finite,
                    "reason": row.reason,
                    **{k: number(row.numbers.get(k)) for k in COLUMNS},
                    "problems": row.problems,
                }
                for row in self.rows
            ],
            "crossovers": [
                {"less_biased": c.less_biased, "other": c.other, "steps": number(c.steps), "told": str(c)}
                for c in self.crossovers
            ],
        }  # fmt: skip


def too_large(problem: PolicyEvaluation) -> str:
    """Why the noise is not computed unasked; empty where it is."""
    rows, d = len(problem.mdp.table), problem.native.Phi.shape[1]
    if rows * d <= LARGEST[problem.arithmetic]:
        return ""
    return (
        f"left out: {rows} transitions with {d} features take a while in {problem.arithmetic} arithmetic; "
        "obliquetd analyze --noise, or otd.efficiency(problem, learner), computes it"
    )


def measure_noise(problem: PolicyEvaluation, learners: Mapping[str, Learner]) -> Noise:
    """The noise of learners by name, and of LSTD and LS-ETD.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, TD
    >>> found = measure_noise(two_state(reward=1), {"TD": TD(), "ETD": ETD()})
    >>> [(row.name, row.told, row.words.get("variance")) for row in found.rows[:2]]
    [('TD', 'finite', 'unstable'), ('ETD', 'infinite', 'infinite noise')]
    """
    given = [*learners.items(), *((x.label, x) for x in ESTIMATORS)]
    rows = [row for name, x in given for row in _rows(problem, name, x)]
    pairs = itertools.combinations(ESTIMATORS, 2)
    found = [_crossover(problem, *pair) for pair in pairs if problem.arithmetic != "symbolic"]
    return Noise(tuple(rows), tuple(c for c in found if c is not None))


def _crossover(problem: PolicyEvaluation, a: LeastSquares, b: LeastSquares) -> Any:
    try:
        return crossover(problem, a, b)
    except ObliqueTDError:  # the rows say why
        return None


def _rows(problem: PolicyEvaluation, name: str, given: Any) -> list[NoiseRow]:
    """The row of a learner, or with symbols one for each case of the signs on which it depends."""
    known = operators_for(problem, given) if isinstance(given, Learner) else problem.native
    if known.arithmetic.kind != "symbolic":
        return [_row(problem, name, given)]
    try:
        cases = sign_cases(
            cast(FieldArithmetic, known.arithmetic),
            lambda field: _row(problem, name, given, field),
        )
    except ObliqueTDError:
        cases = []
    if 0 < len(cases) <= MOST_CASES:
        return _joined(cases)
    return [_row(problem, name, given)]


def _joined(cases: Sequence[SignCase[NoiseRow]]) -> list[NoiseRow]:
    """A row for each case, and one for all that say the same."""
    if len(cases) == 1:
        return [cases[0].value]
    found: list[NoiseRow] = []
    for case in cases:
        row = replace(case.value, where=case.condition)
        alike = [k for k, other in enumerate(found) if replace(other, where=row.where) == row]
        if alike:
            row = replace(row, where=sp.Or(found[alike[0]].where, row.where))
            found[alike[0]] = row
        else:
            found.append(row)
    return found


def _row(
    problem: PolicyEvaluation, name: str, given: Any, arithmetic: Arithmetic | None = None
) -> NoiseRow:
    """The row, in an arithmetic that knows the signs of a case; a sign that it does not know is an error then."""
    words: dict[str, str] = {}
    problems: dict[str, str] = {}

    def attempt(key: str, obtain: Callable[[], Any]) -> Any:
        try:
            return obtain()
        except ObliqueTDError as error:
            if isinstance(error, SignUndecidedError) and error.factor is not None and arithmetic:
                raise
            words[key] = _word(error)
            problems[key] = str(error)
            return None

    found: Efficiency | None = attempt(
        "finite", lambda: efficiency_of(given, problem, None, None, arithmetic)
    )
    if found is None:
        words.update(dict.fromkeys(COLUMNS, "-"))
        return NoiseRow(name, None, problems["finite"], {}, words, problems)
    finite: bool | None = attempt("finite", lambda: found.is_finite)
    numbers = {}
    for key in COLUMNS:
        value = attempt(key, lambda key=key: getattr(found, key))  # type: ignore[misc]
        if value is not None:
            numbers[key] = value
        elif finite is False and words[key] == "undefined":
            words[key] = "infinite noise"
    reason = found.reason if finite is False else problems.get("finite", "")
    bound = _attempt_bound(problem, found)
    return NoiseRow(name, finite, reason, numbers, words, problems, bound**2)


def _attempt_bound(problem: PolicyEvaluation, found: Efficiency) -> float:
    """What the root of the squared bias may be by rounding alone; 0 where that is not known."""
    if problem.arithmetic != "float":
        return 0.0
    try:
        return found.rounding
    except ObliqueTDError:
        return 0.0


DEPENDS = "depends on "


def _word(error: ObliqueTDError) -> str:
    if isinstance(error, SignUndecidedError):
        told = error.expression if isinstance(error.expression, tuple) else (error.expression,)
        symbols = {str(s) for x in told for s in getattr(x, "free_symbols", ())}
        return DEPENDS + (", ".join(sorted(symbols)) or "a symbol")
    if isinstance(error, UnstableError):
        return error.verdict
    return next((word for kind, word in WORDS if isinstance(error, kind)), "undefined")
