"""Every learner's rule as its source prints it, in plain loops.

A rule takes the weights x (theta, then w), the memory m that the past hands on (the traces times the discount of the
transition that arrived), an outcome t and the settings p, and returns what one step adds to the weights, divided by the step
size as that tends to 0, and the memory that it hands on. Where a rule has the step size in more places than in front, it
runs on numbers v + s alpha with alpha^2 = 0 (:class:`Slope`), and s is what it returns.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.oracle.linear import ONE, ZERO, Vector, dot
from tests.oracle.outcomes import Outcome

Step = tuple[Vector, Vector]


def gap(t: Outcome) -> Vector:
    """phi - gamma phi'."""
    return [a - t.g * b for a, b in zip(t.phi, t.phi_next, strict=True)]


def error(theta: Vector, t: Outcome) -> Fraction:
    """delta."""
    return t.r - dot(gap(t), theta)


def scaled(k: Any, v: Any) -> Any:
    return [k * x if x else x for x in v]


def add(u: Any, v: Any) -> Any:
    return [x + y for x, y in zip(u, v, strict=True)]


# --- TD, SETD, ETD and relatives -------------------------------------------------------------


def emphatic(x: Vector, m: Vector, t: Outcome, weight: Fraction, lam: Fraction) -> Step:
    """e = rho (gamma lambda e + M phi); theta += alpha delta e (Sutton, Mahmood and White 2016)."""
    e = scaled(t.rho, add(m, scaled(weight, t.phi)))
    return scaled(error(x, t), e), scaled(t.g * lam, e)


def td(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    return emphatic(x, m, t, ONE, p["lam"])


def weighted_td(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    return emphatic(x, m, t, p["emphasis"][t.s], p["lam"])


def omega(change: Vector, phi: Vector) -> Fraction:
    """Lyu et al. 2018: max(Delta phi . phi / |Delta phi|^2, 0); 0 where Delta phi is."""
    size = dot(change, change)
    return max(dot(change, phi) / size, ZERO) if size else ZERO


def setd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    weight = omega(gap(t), t.phi) if p["expected"] is None else p["expected"][t.s]
    if p["cap"] is not None:
        weight = min(weight, p["cap"])
    if p["ratios"] == "full":
        return emphatic(x, m, t, weight, p["lam"])
    e = add(m, scaled(weight, t.phi))  # decays by min(1, rho), as Retrace's does
    return scaled(t.rho * error(x, t), e), scaled(t.g * p["lam"] * min(ONE, t.rho), e)


def follow_on(m: Vector, t: Outcome, p: Any) -> tuple[Fraction, Vector]:
    """M = lambda i + (1 - lambda) F with F = i + gamma rho F before, and what F hands on."""
    interest = p["interest"][t.s]
    F = interest + sum(m, ZERO)
    decay = t.rho * (t.g if p["beta"] is None else p["beta"] * t.own)
    weight = p["lam"] * interest + (1 - p["lam"]) * F
    if p["truncate"] is None:
        return weight, [decay * F]
    return weight, scaled(decay, [interest, *m])[: p["truncate"]]


def etd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    d = len(t.phi)
    weight, handed = follow_on(m[d:], t, p)
    change, e = emphatic(x, m[:d], t, weight, p["lam"])
    return change, e + handed


def n_step_td(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Each of the n last states moves by the product of gamma rho since, times rho delta.

    De Asis and Sutton 2018: G - v = sum over k of (gamma rho) ... (gamma rho) rho delta.
    """
    d = len(t.phi)
    recent = [list(t.phi)] + [m[k : k + d] for k in range(0, len(m), d)]
    change = [ZERO] * d
    for credit in recent:
        change = add(change, scaled(t.rho * error(x, t), credit))
    return change, [t.g * t.rho * v for credit in recent[: p["n"] - 1] for v in credit]


def regularized_td(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Manek and Kolter 2022: theta += alpha (rho delta phi - eta theta)."""
    return add(scaled(t.rho * error(x, t), t.phi), scaled(-p["eta"], x)), []


def residual_gradient(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Baird 1995, from one sample."""
    return scaled(t.rho * error(x, t), gap(t)), []


def double_sampled(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Baird 1995: the gradient of the second factor is that of an independent sample."""
    assert t.twin is not None
    return scaled(t.rho * error(x, t) * t.twin.rho, gap(t.twin)), []


# --- traces that an action cuts --------------------------------------------------------------


def cut(x: Vector, m: Vector, t: Outcome, k: Fraction, c: Fraction) -> Step:
    e = add(m, t.phi)
    return scaled(k * error(x, t), e), scaled(t.g * c, e)


def retrace(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Munos et al. 2016: c = lambda min(1, rho)."""
    return cut(x, m, t, t.rho, p["lam"] * min(ONE, t.rho))


def tree_backup(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Precup, Sutton and Singh 2000: c = lambda pi."""
    return cut(x, m, t, t.rho, p["lam"] * t.pi)


def v_trace(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Espeholt et al. 2018, Equation 1."""
    return cut(x, m, t, min(t.rho, p["rho_bar"]), p["lam"] * min(t.rho, p["c_bar"]))


def abtd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Mahmood, Yu and Sutton 2017: c = min(psi, 1 / max(mu, pi)) pi."""
    zeta, first, last = p["zeta"], p["psi_0"], p["psi_max"]
    psi = 2 * zeta * first + max(2 * zeta - 1, ZERO) * (last - 2 * first)
    return cut(x, m, t, t.rho, min(psi, 1 / max(t.mu, t.pi)) * t.pi)
