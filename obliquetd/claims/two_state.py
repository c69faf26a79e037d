"""Section IV: every matrix of the two-state example, and Table I.

What is printed is data (:data:`PRINTED`); what is right is computed. A printed number is
confirmed where the computed one rounds to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, told
from obliquetd.claims.registry import claim
from obliquetd.compare import compare
from obliquetd.domains.two_state import two_state
from obliquetd.problem import PolicyEvaluation

__all__ = ["PRINTED", "TABLE_1", "printed_convention"]

PRINTED: dict[str, list[list[str]]] = {
    "P_pi": [["0", "1"], ["0", "1"]],
    "L_pi": [["1", "-0.9"], ["0", "0.1"]],
    "X_star": [["0.5"], ["14.5"]],
    "f": [["0.5"], ["9.5"]],
    "Omega_E": [["0.5", "0"], ["0", "0.95"]],
    "X_E": [["0.25"], ["9.5"]],
    "Omega_S": [["0", "0"], ["0", "10"]],
    "X_S": [["0"], ["10"]],
    "X_TD": [["0.5"], ["1"]],
}
"""The matrices of the example as the paper prints them."""

TABLE_1: dict[str, tuple[str, str]] = {
    "setd": ("0.25", "4.5277"),
    "etd": ("0.64", "5.0062"),
    "td": ("7.29", "13.5"),
}
"""Table I as printed: criterion and distance."""


def _matrix(rows: list[list[str]]) -> sp.ImmutableDenseMatrix:
    return sp.ImmutableDenseMatrix([[sp.Rational(x) for x in row] for row in rows])


def printed_convention(problem: PolicyEvaluation) -> sp.ImmutableDenseMatrix:
    """Omega_E as Table I uses it: diag(f), without the division by xi."""
    return sp.ImmutableDenseMatrix(sp.diag(*problem.f))


def _computed(problem: PolicyEvaluation) -> dict[str, Any]:
    return {
        "P_pi": problem.P_pi,
        "L_pi": problem.L_pi,
        "X_star": problem.X_star,
        "f": problem.f,
        "Omega_E": problem.Omega_E,
        "X_E": problem.Xi * problem.Omega_E * problem.Phi,
        "Omega_S": problem.Omega_S,
        "X_S": problem.Xi * problem.Omega_S * problem.Phi,
        "X_TD": problem.Xi * problem.Phi,
    }


def _compare(name: str, printed: list[list[str]], correction: str = "") -> Outcome:
    """Printed against computed; corrected where they differ."""
    claimed = _matrix(printed)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        actual = _computed(problem)[name]
        return None if actual == claimed else {"printed": claimed, "computed": actual}

    actual = _computed(two_state())[name]
    found = Counterexample.find([two_state()], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"computed: {told({name: actual})}", {name: actual})
    return Outcome(
        Verdict.CORRECTED,
        told(found.observed),
        {name: actual},
        found,
        _correction(correction) or told({name: actual}),
    )


def _correction(template: str) -> str:
    """Fill a correction with computed matrices."""
    problem = two_state()
    convention = printed_convention(problem)
    found = {**_computed(problem), "diag_f": convention}
    found["Xi_f_Phi"] = problem.Xi * convention * problem.Phi
    return template.format(**{k: told({"": v}).removeprefix(" = ") for k, v in found.items()})


def _displayed(name: str, title: str, latex: str, note: str = "") -> None:
    """Register the claim that one displayed matrix is right."""

    @claim(
        f"two-state-{name.replace('_', '-')}",
        where="Section IV, two-state example",
        title=title,
        statement=latex,
    )
    def check(printed: list[list[str]] = PRINTED[name]) -> Outcome:
        return _compare(name, printed, note)


_displayed("P_pi", "P_pi as displayed", r"P_\pi = \begin{bmatrix}0&1\\0&1\end{bmatrix}")
_displayed("L_pi", "L_pi as displayed", r"L_\pi = \begin{bmatrix}1&-0.9\\0&0.1\end{bmatrix}")
_displayed("X_star", "X* as displayed", r"X^* = \begin{bmatrix}0.5\\14.5\end{bmatrix}")
_displayed(
    "f",
    "f_ETD as displayed, with its series",
    r"f_{ETD} = (0.5,\ 0.5 + 0.9 + 0.9^2 + \cdots = 9.5)",
)
_displayed(
    "Omega_E",
    "Omega_E as displayed",
    r"\Omega_E = \begin{bmatrix}0.5&0\\0&0.95\end{bmatrix}",
    "Two slips. The last entry is a misprint of f(2): X_E and Table I are computed with "
    "diag(f) = {diag_f}. And diag(f) is Xi Omega_E; by f_i = xi(i) lim E[Omega_E | S = s_i], "
    "Omega_E = Xi^-1 diag(f) = {Omega_E}.",
)
_displayed(
    "X_E",
    "X_E as displayed",
    r"X_{\Omega_E} = \Xi\Omega_E\Phi = \begin{bmatrix}0.25\\9.5\end{bmatrix}",
    "It is Xi diag(f) Phi = {Xi_f_Phi}: xi is multiplied in twice. By the definition of f, "
    "X_E = diag(f) Phi = {X_E}.",
)
_displayed("Omega_S", "Omega_S as displayed", r"\Omega_S = \begin{bmatrix}0&0\\0&10\end{bmatrix}")
_displayed("X_S", "X_S as displayed", r"X_{\Omega_S} = \begin{bmatrix}0\\10\end{bmatrix}")
_displayed("X_TD", "X_TD as displayed", r"X_{TD} = \begin{bmatrix}0.5\\1\end{bmatrix}")


def rounds_to(value: Any, printed: str) -> bool:
    """Whether an exact value, rounded to the printed decimals, is the printed number."""
    digits = len(printed.partition(".")[2])
    gap = sp.Abs(value - sp.Rational(printed))
    return bool(gap <= sp.Rational(1, 2 * 10**digits))


def _row(problem: PolicyEvaluation, method: str) -> dict[str, Any]:
    point = problem.fixed_point(method)
    return {"criterion": point.criterion, "distance": point.distance}


def _table_row(method: str, printed: tuple[str, str]) -> Outcome:
    problem = two_state()
    actual = _row(problem, method)

    def violation(candidate: PolicyEvaluation) -> Observed | None:
        row = _row(candidate, method)
        fits = all(rounds_to(v, p) for v, p in zip(row.values(), printed, strict=True))
        return None if fits else {"printed": " and ".join(printed), **row}

    found = Counterexample.find([problem], violation)
    numbers: dict[str, Any] = {**actual}
    if found is None:
        return Outcome(Verdict.VERIFIED, told(actual), numbers)
    convention = problem.fixed_point(Omega=printed_convention(problem))
    used = {"criterion": convention.criterion, "distance": convention.distance}
    reproduced = method == "etd" and all(
        rounds_to(v, p) for v, p in zip(used.values(), printed, strict=True)
    )
    how = (
        f"the printed row is reproduced with Omega = diag(f): {told(used)}"
        if reproduced
        else "the printed row is not reproduced by Omega = diag(f) either"
    )
    numbers |= {f"{k} with diag(f)": v for k, v in used.items()} if reproduced else {}
    return Outcome(
        Verdict.CORRECTED,
        f"printed {printed[0]} and {printed[1]}; {how}; the definition gives {told(actual)}",
        numbers,
        found,
        f"Under f_i = xi(i) lim E[Omega_E | S = s_i] the row is {told(actual)}."
        if method == "etd"
        else f"The row is {told(actual)}.",
    )


def _printed_row(method: str, criterion: str, distance: str, weights: str) -> None:
    """Register the claim that one row of Table I is right."""

    @claim(
        f"table-1-{method}",
        where="Table I",
        title=f"{method.upper()}: criterion {criterion}, distance {distance}",
        statement=rf"\|\Lambda^\top\Xi{weights}\Phi - C\|_F^2 = {criterion},\ "
        rf"\|\Xi{weights}\Phi - X^*\|_2 = {distance}",
    )
    def check(printed: tuple[str, str] = (criterion, distance)) -> Outcome:
        return _table_row(method, printed)


for _method, _weights in (("setd", r"\Omega_S"), ("etd", r"\Omega_E"), ("td", "")):
    _printed_row(_method, *TABLE_1[_method], _weights)


def _better(quantity: str, pair: tuple[str, str]) -> Outcome:
    """Whether the first method of the pair is strictly closer by one yardstick."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        seen = _quantities(problem, quantity, pair)
        first, second = (seen[m] for m in pair)
        return None if bool(first < second) else seen

    problem = two_state()
    seen = _quantities(problem, quantity, pair)
    decimals = ", ".join(f"{m} {sp.N(v, 6)}" for m, v in seen.items())
    evidence = f"{quantity}: {told(seen)} ({decimals}), with Omega_E by its definition"
    found = Counterexample.find([problem], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, evidence, seen)
    return Outcome(Verdict.REFUTED, evidence, seen, found)


def _quantities(
    problem: PolicyEvaluation, quantity: str, pair: tuple[str, str]
) -> Mapping[str, Any]:
    table = compare(problem, pair, quantities=[quantity])
    return {m: table[m].quantities[quantity] for m in pair}


def _sentence(quantity: str, title: str, statement: str) -> None:
    """Register one reading of the sentence under Table I."""

    @claim(
        f"setd-better-by-{quantity}",
        where="Section IV ('SETD performs better than ETD in X* estimation')",
        title=f"SETD estimates X* better than ETD: by the {title}",
        statement=statement,
    )
    def check(pair: tuple[str, str] = ("setd", "etd")) -> Outcome:
        return _better(quantity, pair)


_sentence("criterion", "criterion", r"\|\Lambda^\top X_S - C\|_F^2 < \|\Lambda^\top X_E - C\|_F^2")
_sentence("distance", "distance", r"\|X_S - X^*\|_2 < \|X_E - X^*\|_2")
_sentence(
    "angle",
    "angle, which alone decides the fixed point",
    r"\angle(X_S, X^*) < \angle(X_E, X^*)",
)
