"""The expected update as a function of one symbol: a sum of small rational functions, never put together.

Each outcome's update is found once, by the rule that runs, on rational functions of the symbol
(:mod:`obliquetd.algebra.quotients`). Where the rule asks for a sign that changes at a rational, the outcome
has one formula on each side. A(gamma) is the sum of them; in balls, or exactly at a rational, it is
evaluated outcome by outcome, with no common denominator.

The formulas are on a constant space W that holds the span U(gamma) of all updates for every gamma. Since A
maps into U, every eigenvalue of A on W other than 0 is one of A on U, and the others are 0: A is stable on U
where it is on W, and unstable where it is on W.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from obliquetd.algebra.cells import CellArithmetic, SampledSigns
from obliquetd.algebra.enclosures import rational
from obliquetd.algebra.functions import FunctionMatrix, constant_span, value_at
from obliquetd.algebra.quotients import Quotient, QuotientArithmetic, Sample, real_places
from obliquetd.algebra.ranges import InOneSymbol, OnRange
from obliquetd.dynamics.carried_symbol import carried_in_one_symbol
from obliquetd.dynamics.formulas import Formulas
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.range_sums import RangeSums
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.learners import Learner
from obliquetd.learners.functions import is_shipped
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators

__all__ = ["in_one_symbol"]


@dataclass(frozen=True)
class _Piece:
    """One outcome on a range where no sign changes: its constant and slopes."""

    low: Any
    high: Any
    constant: list[Any]
    slopes: list[list[Any]]
    carries: bool

    @classmethod
    def of(cls, rule: RuleOnNumbers, outcome: Any, low: Any, high: Any) -> _Piece:
        """The formulas at the sample of the rule's arithmetic."""
        nothing, resting = rule.nothing, [rule.zero] * rule.size
        handed = rule.run(outcome, resting, nothing, rewarded=False)[1]
        constant, slopes = rule.constant(outcome, nothing), rule.slopes(outcome, nothing)
        return cls(low, high, constant, slopes, any(handed))

    @property
    def vectors(self) -> list[list[Any]]:
        return [self.constant, *self.slopes]

    def at(self, point: Any) -> list[list[Any]] | None:
        try:
            return [[value_at(x, point) for x in v] for v in self.vectors]
        except ZeroDivisionError:
            return None


def in_one_symbol(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    sampling: str | None,
    low: sp.Rational,
    high: sp.Rational,
) -> InOneSymbol | None:
    """A on W between two rationals; None where it is not of the form that is evaluated here.

    That is: for a memory that is carried along, several closed classes, weights or a span U that have
    the symbol in a way that no constant W of the same dimension holds, and signs that change at an
    irrational.
    """
    if problem.native.places.late:
        return None
    start, end = (rational(sp.QQ.from_sympy(x)) for x in (low, high))
    sample = Sample((start + end) / 2)
    arithmetic = QuotientArithmetic(symbol, sample)
    ops = problem.native.over(arithmetic)
    dyn = MeanDynamics(problem, learner, sampling)
    xi = _weights(dyn, ops, symbol, (low + high) / 2)
    if xi is None:
        return None
    rule = RuleOnNumbers(ops, dyn.learner)
    carried = dyn.sampling == "trajectory"
    at_rest = _at_rest(
        problem, dyn.learner, symbol, rule, xi, sample, (start, end), carried=carried
    )
    if at_rest is None and carried and dyn.learner.has_memory:
        return carried_in_one_symbol(problem, learner, symbol, sampling, low, high)
    return at_rest


def _at_rest(
    problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol, rule: RuleOnNumbers, xi: list[Any],
    sample: Sample, ends: tuple[Any, Any], *, carried: bool,
) -> InOneSymbol | None:  # fmt: skip
    """The family where no memory is carried along; else None."""
    start, end = ends
    try:
        formulas = Formulas(rule, [bool(x) for x in xi], sample, start, end)
        family = RangeSums(formulas, xi).family(carried=carried)
        if family is None or _in_the_discount_alone(problem, learner, symbol, xi):
            return family
        return replace(family, regular=frozenset())
    except Exception:  # a user's rule may raise anything; the route by outcomes knows what it means
        sample.at, sample.asked = (start + end) / 2, []
    return _by_outcomes(rule, xi, sample, start, end, carried=carried)


def _weights(
    dyn: MeanDynamics, ops: Operators, symbol: sp.Symbol, at: sp.Rational
) -> list[Any] | None:
    """xi in the arithmetic of the operators; None for several classes, or where a sign of it depends on the symbol."""
    chances = itertools.chain(ops.mu.tolist(), ops.probability.tolist())
    if ops.inputs.xi is None and Quotient not in set(map(type, chances)):
        return [rational(x) for x in ops.xi.entries()]  # of rationals, with no function on the way
    if len(dyn.classes) > 1:
        return None
    found = [dyn.public(x) for x in dyn.operators.xi.entries()]
    if any(x.has(symbol) for x in found):
        signs = SampledSigns(symbol, at)
        weights = dyn.problem.native.over(CellArithmetic(signs)).xi
        if signs.asked:
            return None
        found = [weights.arithmetic.public(x) for x in weights.entries()]
    return [ops.arithmetic.scalar(x) for x in found]


def _in_the_discount_alone(
    problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol, xi: list[Any]
) -> bool:
    """Whether the ends of a range are problems like those beside them, with one of the package's own rules.

    A chance may be 0 at an end, and a rule of the user's own may divide by what is.
    """
    elsewhere = problem.mdp.symbols | problem.target.symbols | problem.behavior.symbols
    return (
        problem.discount == symbol
        and symbol not in elsewhere | learner.symbols
        and not any(isinstance(x, Quotient) for x in xi)
        and is_shipped(learner.rule)
    )


def _by_outcomes(
    rule: RuleOnNumbers,
    xi: list[Any],
    sample: Sample,
    start: Any,
    end: Any,
    *,
    carried: bool,
) -> InOneSymbol | None:
    """The same with the rule run on each outcome by itself."""
    samples = [each for each in rule.samples if xi[each.state]]
    if sample.asked:
        return None
    found = _all_pieces(rule, samples, sample, start, end)
    if found is None:
        return None
    pieces, jumps = found
    if carried and any(p.carries for _, own in pieces for p in own):
        return None
    basis = constant_span(
        [v for _, own in pieces for p in own for v in p.vectors], rule.size, sample.at
    )
    if basis is None:
        return None
    weighted = [(-1 * xi[outcome.state] * outcome.chance, own) for outcome, own in pieces]
    cuts = sorted({start, end, *(p.low for _, own in pieces for p in own)})
    always = FunctionMatrix.of_sum(
        [(w, own[0].slopes) for w, own in weighted if not own[1:]], basis
    )
    ranges = []
    for low_end, high_end in itertools.pairwise(cuts):
        here = [(w, _there(own, low_end)) for w, own in weighted]
        changing = [
            (w, piece.slopes) for w, piece in here if (piece.low, piece.high) != (start, end)
        ]
        updates = [[v[i] for i in basis.pivots] for _, piece in here for v in piece.vectors]
        parts = [always, FunctionMatrix.of_sum(changing, basis)]
        ranges.append(OnRange(low_end, high_end, len(basis.pivots), parts, updates))
    return InOneSymbol(ranges, sorted(set(jumps)))


def _there(pieces: list[_Piece], point: Any) -> _Piece:
    """The piece that begins at or before a point and ends after it."""
    return next(piece for piece in pieces if piece.low <= point < piece.high)


def _all_pieces(
    rule: RuleOnNumbers, samples: list[Any], sample: Sample, low: Any, high: Any
) -> tuple[list[tuple[Any, list[_Piece]]], list[Any]] | None:
    """Each outcome with its formulas, and where one of them jumps."""
    pieces, jumps = [], []
    for outcome in samples:
        mine = _pieces(rule, outcome, sample, low, high)
        if mine is None:
            return None
        pieces.append((outcome, mine))
        for left, right in itertools.pairwise(mine):
            at = left.high
            sample.at = at
            known = [each.at(at) for each in (left, right, _Piece.of(rule, outcome, at, at))]
            if None in known or known[0] != known[1] or known[0] != known[2]:
                jumps.append(at)
    sample.at = (low + high) / 2
    return pieces, jumps


def _pieces(
    rule: RuleOnNumbers, outcome: Any, sample: Sample, low: Any, high: Any
) -> list[_Piece] | None:
    """The formulas of one outcome from left to right; None where a sign changes at an irrational."""
    waiting, done = [(low, high)], []
    while waiting:
        a, b = waiting.pop()
        sample.at, sample.asked = (a + b) / 2, []
        piece = _Piece.of(rule, outcome, a, b)
        inner = set()
        for asked in sample.asked:
            places = real_places(asked, a, b)
            if places is None:
                return None
            inner |= set(places)
        if inner:
            waiting += reversed(list(itertools.pairwise([a, *sorted(inner), b])))
        else:
            done.append(piece)
    sample.asked = []
    return done
