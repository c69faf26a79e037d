"""Table I: its rows, and the sentences about it, under each of the paper's definitions of Omega_E.

A printed number is confirmed where the computed one rounds to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import C_NONSINGULAR, COVERAGE, VALUES_EXIST
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.claims.two_state import DEFINITIONS, ONE_EXAMPLE, TABLE_1, emphasis_by
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.errors import ObliqueTDError
from obliquetd.problem import PolicyEvaluation

__all__ = ["rounds_to"]

COLUMNS = ("criterion", "distance")
"""The columns of Table I."""


def rounds_to(value: Any, printed: str) -> bool:
    """Whether an exact value, rounded to the printed decimals, is the printed number."""
    digits = len(printed.partition(".")[2])
    gap = sp.Abs(value - sp.Rational(printed))
    return bool(gap <= sp.Rational(1, 2 * 10**digits))


def _point(problem: PolicyEvaluation, method: str, definition: str = "limit") -> Any:
    """The fixed point of a row of the table, ETD's by one of its definitions."""
    if method == "etd" and definition != "limit":
        return problem.fixed_point(Omega=emphasis_by(problem, definition))
    return problem.fixed_point(method)


def _row(problem: PolicyEvaluation, method: str, definition: str = "limit") -> dict[str, Any]:
    point = _point(problem, method, definition)
    return {"criterion": point.criterion, "distance": point.distance}


def _fits(row: Mapping[str, Any], printed: tuple[str, str]) -> bool:
    return all(rounds_to(v, p) for v, p in zip(row.values(), printed, strict=True))


def _each(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Rows under each definition, as a phrase."""
    return "; ".join(f"{told(row)} where {DEFINITIONS[d]}" for d, row in rows.items())


def _table_row(method: str, printed: tuple[str, str], definition: str) -> Outcome:
    problem = two_state()
    names = list(DEFINITIONS) if method == "etd" and definition == "each" else [definition]
    names = ["limit"] if method != "etd" else names

    def violation(candidate: PolicyEvaluation) -> Observed | None:
        rows = [_row(candidate, method, d) for d in names]
        wrong = [row for row in rows if not _fits(row, printed)]
        return {"printed": " and ".join(printed), **wrong[-1]} if wrong else None

    found = Counterexample.find([problem], violation)
    actual = _row(problem, method, names[-1])
    if found is None:
        return Outcome(Verdict.VERIFIED, told(actual), actual)
    if method != "etd":
        return Outcome(
            Verdict.CORRECTED, told(found.observed), actual, found, f"The row is {told(actual)}."
        )
    rows = {d: _row(problem, "etd", d) for d in DEFINITIONS}
    fitting = [DEFINITIONS[d] for d, row in rows.items() if _fits(row, printed)]
    numbers = dict(rows["limit"]) | {f"{k} with diag(f)": v for k, v in rows["example"].items()}
    numbers |= {f"{k} with f = diag(X_E)": v for k, v in rows["X_E"].items()}
    return Outcome(
        Verdict.CORRECTED,
        f"printed {printed[0]} and {printed[1]}: right where {' or '.join(fitting) or 'nothing holds'}, and not "
        "under the paper's two other definitions",
        numbers,
        found,
        f"The paper is inconsistent: {_each(rows)}.",
    )


def _printed_row(method: str, criterion: str, distance: str, weights: str) -> None:
    """Register the claim that one row of Table I is right."""

    @claim(
        f"table-1-{method}",
        where="Table I",
        origin="paper",
        title=f"{method.upper()}: criterion {criterion}, distance {distance}",
        statement=rf"\|\Lambda^\top\Xi{weights}\Phi - C\|_F^2 = {criterion},\ "
        rf"\|\Xi{weights}\Phi - X^*\|_2 = {distance}",
        scope=ONE_EXAMPLE,
    )
    def check(
        printed: tuple[str, str] = (criterion, distance), definition: str = "each"
    ) -> Outcome:
        return _table_row(method, printed, definition)


for _method, _weights in (("setd", r"\Omega_S"), ("etd", r"\Omega_E"), ("td", "")):
    _printed_row(_method, *TABLE_1[_method], _weights)


def _quantities(
    problem: PolicyEvaluation, quantity: str, pair: tuple[str, str], definition: str
) -> dict[str, Any]:
    return {m.upper(): getattr(_point(problem, m, definition), quantity) for m in pair}


def _better(quantity: str, pair: tuple[str, str], definitions: Iterable[str]) -> Outcome:
    """Whether the first method of the pair is strictly closer by one yardstick, under each definition."""
    names = tuple(definitions)

    def holds_in(row: dict[str, Any]) -> bool:
        first, second = row.values()
        return bool(first < second)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        seen = {d: _quantities(problem, quantity, pair, d) for d in names}
        wrong = [row for row in seen.values() if not holds_in(row)]
        return wrong[-1] if wrong else None

    problem = two_state()
    rows = {d: _quantities(problem, quantity, pair, d) for d in names}
    holds = [d for d, row in rows.items() if holds_in(row)]
    found = Counterexample.find([problem], violation)
    evidence = f"{quantity}: {_each(rows)}"
    numbers = dict(rows[names[-1]])
    if found is None:
        return Outcome(Verdict.VERIFIED, evidence, numbers)
    if not holds:
        return Outcome(Verdict.REFUTED, f"{evidence}: under none", numbers, found)
    fails = [DEFINITIONS[d] for d in names if d not in holds]
    right = " and ".join(DEFINITIONS[d] for d in holds)
    return Outcome(
        Verdict.CORRECTED, evidence, numbers, found,
        f"The paper is inconsistent: it holds where {right}; it fails where {' and '.join(fails)}.",
    )  # fmt: skip


def _sentence(quantity: str, title: str, statement: str, origin: Any) -> None:
    """Register one reading of the sentence under Table I."""

    @claim(
        f"setd-better-by-{quantity}",
        where="Section IV, after Eq. (22) ('SETD performs better than ETD in X* estimation')",
        origin=origin,
        title=f"SETD estimates X* better than ETD: by the {title}",
        statement=statement,
        scope=ONE_EXAMPLE,
    )
    def check(
        pair: tuple[str, str] = ("setd", "etd"), definitions: Iterable[str] = tuple(DEFINITIONS)
    ) -> Outcome:
        return _better(quantity, pair, definitions)


_sentence(
    "criterion",
    "criterion",
    r"\|\Lambda^\top X_S - C\|_F^2 < \|\Lambda^\top X_E - C\|_F^2",
    "paper",
)
_sentence("distance", "distance", r"\|X_S - X^*\|_2 < \|X_E - X^*\|_2", "paper")
_sentence(
    "angle",
    "angle between the spans, which no scaling of X changes",
    r"\angle(X_S, X^*) < \angle(X_E, X^*)",
    "ours",
)


def _exceeds(
    problem: PolicyEvaluation, columns: Iterable[str], definitions: Iterable[str]
) -> Observed | None:
    """Each of the columns in which SETD or ETD is further from X* than TD, with the numbers."""
    bound = _row(problem, "td")
    seen: dict[str, Any] = {}
    for d, m in product(definitions, ("setd", "etd")):
        try:
            row = _row(problem, m, d)
        except ObliqueTDError:
            continue
        for column in columns:
            name = f"{column} of TD"
            if name not in seen and bool(row[column] > bound[column]):
                seen |= {f"{column} of {m.upper()}": row[column], name: bound[column]}
    return seen or None


def _exceeds_all(problem: PolicyEvaluation, columns: tuple[str, ...]) -> Observed | None:
    """The same where TD is no bound in *any* of the columns, so that each half is refuted."""
    seen = _exceeds(problem, columns, ("limit",)) or {}
    return seen if all(f"{column} of TD" in seen for column in columns) else None


@claim(
    "td-upper-bound",
    where="Section IV, before Table I ('the solution to TD is the upper bound')",
    origin="paper",
    title="In Table I, TD's criterion and distance bound those of SETD and ETD",
    statement=r"\|\Lambda^\top X - C\|_F^2 \le \|\Lambda^\top X_{TD} - C\|_F^2,\ "
    r"\|X - X^*\|_2 \le \|X_{TD} - X^*\|_2\quad(X = X_S, X_E)",
    scope=ONE_EXAMPLE,
)
def td_upper_bound(discount: str = "9/10") -> Outcome:
    """Both columns, ETD under each of the paper's definitions."""
    found = Counterexample.find(
        [two_state(discount=discount)], lambda p: _exceeds(p, COLUMNS, DEFINITIONS)
    )
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.VERIFIED,
        f"in both columns, under each definition of Omega_E: TD has {told(_row(two_state(), 'td'))}",
    )


@claim(
    "td-upper-bound-general",
    where="Section IV, before Table I (asked of other problems)",
    title="On every problem TD's criterion and distance bound those of SETD and ETD",
    statement=r"\forall\ \text{problems}:\ \|\Lambda^\top X - C\|_F^2 \le \|\Lambda^\top X_{TD} - C\|_F^2,\ "
    r"\|X - X^*\|_2 \le \|X_{TD} - X^*\|_2\quad(X = X_S, X_E)",
    setting=Setting((C_NONSINGULAR, VALUES_EXIST, COVERAGE)),
)
def td_upper_bound_general(problems: str = "random", columns: tuple[str, ...] = COLUMNS) -> Outcome:
    """It is a property of the example, in each of the ``columns``: one problem refutes them all."""
    tried = (
        [two_state()]
        if problems == "two-state"
        else [random_problem(2, 1, seed=k) for k in range(40)]
    )
    found = Counterexample.find(tried, lambda p: _exceeds_all(p, columns)) or Counterexample.find(
        tried, lambda p: _exceeds(p, columns, ("limit",))
    )
    if found is None:
        return Outcome(Verdict.VERIFIED, f"it holds on {len(tried)} problems")
    return refuted(found, f"on {found.problem()!r}: {told(found.observed)}")
