"""Section IV: every matrix of the two-state example.

What is printed is data (:data:`PRINTED`); what is right is computed.

The paper gives ETD's matrix in three ways that disagree (:data:`DEFINITIONS`). Table I is
computed with the first, the example's own; the recursion and f_i = xi(i) lim E[Omega_E | s_i] are the
third, the definition of the package.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, told
from obliquetd.claims.registry import claim
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.learners import ETD, SETD
from obliquetd.problem import PolicyEvaluation

__all__ = ["DEFINITIONS", "ONE_EXAMPLE", "PRINTED", "TABLE_1", "emphasis_by", "printed_convention"]

ONE_EXAMPLE = "it is one example, computed exactly; there is no size"
"""The scope of every claim here."""

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
    return emphasis_by(problem, "example")


DEFINITIONS: dict[str, str] = {
    "example": "f is the diagonal of Omega_E (the example's sentence)",
    "X_E": "f is the diagonal of X_E, here X_E = f (the text on the power series)",
    "limit": "f_i = xi(i) lim E[Omega_E | s_i] (after the recursion)",
}
"""What the paper says Omega_E is, in three places."""


def emphasis_by(problem: PolicyEvaluation, definition: str) -> sp.ImmutableDenseMatrix:
    """Omega_E by one of :data:`DEFINITIONS`, for one feature."""
    weights = {
        "example": list(problem.f),
        "X_E": [
            f / (w * phi) for f, w, phi in zip(problem.f, problem.xi, problem.Phi, strict=True)
        ],
        "limit": [f / w for f, w in zip(problem.f, problem.xi, strict=True)],
    }
    return sp.ImmutableDenseMatrix(sp.diag(*weights[definition]))


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


def _displayed(name: str, title: str, latex: str, note: str = "", place: str = "") -> None:
    """Register the claim that one displayed matrix is right."""

    @claim(
        f"two-state-{name.replace('_', '-')}",
        where=f"Section IV, two-state example{place}",
        origin="paper",
        title=title,
        statement=latex,
        scope=ONE_EXAMPLE,
    )
    def check(printed: list[list[str]] = PRINTED[name]) -> Outcome:
        return _compare(name, printed, note)


_displayed("P_pi", "P_pi as displayed", r"P_\pi = \begin{bmatrix}0&1\\0&1\end{bmatrix}")
_displayed("L_pi", "L_pi as displayed", r"L_\pi = \begin{bmatrix}1&-0.9\\0&0.1\end{bmatrix}")
_displayed("X_star", "X* as displayed", r"X^* = \begin{bmatrix}0.5\\14.5\end{bmatrix}")
_displayed(
    "Omega_E",
    "Omega_E as displayed",
    r"\Omega_E = \begin{bmatrix}0.5&0\\0&0.95\end{bmatrix}",
    "The last entry is a misprint of f(2) = 19/2: X_E and Table I are computed with diag(f) = {diag_f}. "
    "That is Omega_E by the example's own sentence, with which the paper is inconsistent: by "
    "f_i = xi(i) lim E[Omega_E | S = s_i], Omega_E = Xi^-1 diag(f) = {Omega_E}.",
    ", Eq. (17)",
)
_displayed(
    "X_E",
    "X_E as displayed",
    r"X_{\Omega_E} = \Xi\Omega_E\Phi = \begin{bmatrix}0.25\\9.5\end{bmatrix}",
    "The paper is inconsistent. It is Xi diag(f) Phi = {Xi_f_Phi}, right for the example's own Omega_E = "
    "diag(f); by f_i = xi(i) lim E[Omega_E | S = s_i], xi is multiplied in twice, and X_E = diag(f) Phi = "
    "{X_E}; as f = diag(X_E), X_E = f = {f}.",
    ", Eq. (18)",
)
_displayed(
    "Omega_S",
    "Omega_S as displayed",
    r"\Omega_S = \begin{bmatrix}0&0\\0&10\end{bmatrix}",
    "",
    ", Eq. (19)",
)
_displayed(
    "X_S", "X_S as displayed", r"X_{\Omega_S} = \begin{bmatrix}0\\10\end{bmatrix}", "", ", Eq. (20)"
)
_displayed(
    "X_TD", "X_TD as displayed", r"X_{TD} = \begin{bmatrix}0.5\\1\end{bmatrix}", "", ", Eq. (22)"
)

SERIES = ("0.5", "0.9", "0.81", "0.729")
"""The first terms of f(2) as printed: 0.5 + 0.9 + 0.9^2 + 0.9^3 + ..."""


@claim(
    "two-state-f",
    where="Section IV, two-state example",
    origin="paper",
    title="f_ETD as displayed, with its series",
    statement=r"f_{ETD} = (0.5,\ 0.5 + 0.9 + 0.9^2 + 0.9^3 + \cdots = 9.5)",
    scope=ONE_EXAMPLE,
)
def two_state_f(
    printed: list[list[str]] = PRINTED["f"], series: tuple[str, ...] = SERIES
) -> Outcome:
    """The vector; term k of the series is the second entry of (gamma P')^k xi, a ratio of 9/10 from k = 1."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        term, terms = problem.xi, []
        for _ in series:
            terms.append(term[1])
            term = problem.discount * problem.P_pi.T * term
        if terms == [sp.Rational(x) for x in series]:
            return None
        return {"terms printed": ", ".join(series), "terms": sp.Matrix([terms])}

    problem = two_state()
    found = Counterexample.find([problem], violation)
    if found is not None:
        return Outcome(
            Verdict.CORRECTED,
            told(found.observed),
            {},
            found,
            f"The terms are {told(found.observed)}.",
        )
    gamma = problem.discount
    closed = sp.Rational(1, 2) + gamma / (1 - gamma)
    whole = _compare("f", printed)
    if whole.verdict is Verdict.VERIFIED and closed != problem.f[1]:
        raise AssertionError("the series does not sum to f")
    return Outcome(
        whole.verdict,
        f"{whole.evidence}; the first {len(series)} terms of f(2) are as printed, and 1/2 + gamma/(1 - gamma) "
        f"= {closed}",
        whole.numbers, whole.counterexample, whole.correction,
    )  # fmt: skip


NAMES = {"E": "setd", "S": "etd"}
"""Which method the text gives X_{Omega_E} and X_{Omega_S} to."""


@claim(
    "omega-names-swapped",
    where="Section IV, two-state example ('for SETD and ETD, respectively')",
    origin="paper",
    title="X with Omega_E is SETD's, and X with Omega_S is ETD's",
    statement=r"X_{\Omega_E},\ X_{\Omega_S}\ \text{for SETD and ETD, respectively}",
)
def omega_names_swapped(method_of_E: str = NAMES["E"]) -> Outcome:
    """The learners' own rules decide: A = X'L Phi, and L Phi = (-4/5, 1/5) tells the two apart."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        learners = {"setd": SETD(), "etd": ETD()}
        A = mean_dynamics(problem, learners[method_of_E]).A
        named = (problem.Xi * problem.Omega_E * problem.Phi).T * problem.Lambda
        if named == A:
            return None
        return {f"A of {method_of_E.upper()}, from its rule": A, "X_E'L Phi": named}

    found = Counterexample.find([two_state()], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, "X with Omega_E gives the expected update of ETD's rule")
    return Outcome(
        Verdict.CORRECTED,
        told(found.observed),
        found.observed,
        found,
        "The names are swapped: X with Omega_E is ETD's, and X with Omega_S is SETD's.",
    )
