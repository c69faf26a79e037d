"""The rules of gradient learners, and those in which the step size stands in more places than in front."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.oracle.linear import ONE, ZERO, Vector, dot
from tests.oracle.outcomes import Outcome
from tests.oracle.rules import Step, add, error, follow_on, gap, omega, scaled

# --- gradient learners: x is theta and w, lam and mu = beta / alpha --------------------------


def parts(x: Any, d: int) -> tuple[Any, Any]:
    return x[:d], x[d:]


def ratio_trace(m: Vector, t: Outcome) -> Vector:
    """e = rho (gamma lambda e + phi)."""
    return scaled(t.rho, add(m, t.phi))


def gtd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Sutton, Szepesvari and Maei 2008: w follows E[delta e]."""
    theta, w = parts(x, len(t.phi))
    e, delta = ratio_trace(m, t), error(theta, t)
    first = scaled(dot(e, w), gap(t))
    second = add(scaled(delta, e), scaled(-1, w))
    return first + scaled(p["mu"], second), scaled(t.g * p["lam"], e)


def gtd2(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Sutton et al. 2009; Maei 2011."""
    theta, w = parts(x, len(t.phi))
    e, delta = ratio_trace(m, t), error(theta, t)
    first = scaled(dot(e, w), gap(t))
    return first + secondary(delta, e, w, t, p), scaled(t.g * p["lam"], e)


def secondary(delta: Fraction, e: Vector, w: Vector, t: Outcome, p: Any) -> Vector:
    """mu (delta e - (phi . w) phi), where the last term may have the ratio, too."""
    weight = t.rho if p["secondary"] == "weighted" else ONE
    return scaled(p["mu"], add(scaled(delta, e), scaled(-weight * dot(t.phi, w), t.phi)))


def correction(e: Vector, w: Vector, t: Outcome, lam: Fraction) -> Vector:
    """- gamma (1 - lambda) (e . w) phi'."""
    return scaled(-t.g * (1 - lam) * dot(e, w), t.phi_next)


def tdc(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Sutton et al. 2009; Maei 2011, where it is called GTD(lambda)."""
    theta, w = parts(x, len(t.phi))
    e, delta = ratio_trace(m, t), error(theta, t)
    first = add(scaled(delta, e), correction(e, w, t, p["lam"]))
    return first + secondary(delta, e, w, t, p), scaled(t.g * p["lam"], e)


def tdrc(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Ghiassian et al. 2020: TDC whose w is drawn to 0."""
    theta, w = parts(x, len(t.phi))
    change, e = tdc(x, m, t, {**p, "secondary": "plain"})
    pull = scaled(-p["mu"] * p["kappa"], w)
    return change[: len(theta)] + add(change[len(theta) :], pull), e


def htd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Hackman 2012; White and White 2016: the behaviour's own trace u has no ratios."""
    d = len(t.phi)
    theta, w = parts(x, d)
    e, u, delta = ratio_trace(m[:d], t), add(m[d:], t.phi), error(theta, t)
    first = add(scaled(delta, e), scaled(dot(e, w) - dot(u, w), gap(t)))
    second = add(scaled(delta, e), scaled(-dot(u, w), gap(t)))
    return first + scaled(p["mu"], second), scaled(t.g * p["lam"], e + u)


# --- rules in which the step size stands in more places --------------------------------------


@dataclass(frozen=True)
class Slope:
    """v + s alpha, to first order in alpha."""

    v: Fraction
    s: Fraction = field(default=ZERO)

    def __bool__(self) -> bool:
        return bool(self.v or self.s)

    def __add__(self, other: Any) -> Slope:
        other = read(other)
        return Slope(self.v + other.v, self.s + other.s)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Slope:
        other = read(other)
        return Slope(self.v * other.v, self.v * other.s + self.s * other.v)

    __rmul__ = __mul__

    def __neg__(self) -> Slope:
        return self * -1

    def __sub__(self, other: Any) -> Slope:
        return self + -read(other)

    def __rsub__(self, other: Any) -> Slope:
        return read(other) - self


def read(x: Any) -> Slope:
    return x if isinstance(x, Slope) else Slope(Fraction(x))


ALPHA = Slope(ZERO, ONE)


def inner(u: Any, v: Any) -> Any:
    return sum((x * y for x, y in zip(u, v, strict=True) if x and y), Slope(ZERO))


def mirror_prox(x: Vector, m: Vector, t: Outcome, p: Any, direction: Callable[..., Any]) -> Step:
    """Liu et al. 2015: half a step, then a step with the directions found there."""
    d = len(t.phi)
    e, beta = ratio_trace(m, t), ALPHA * p["mu"]

    def moved(theta: Any, w: Any) -> tuple[Any, Any]:
        """From x along the directions at (theta, w)."""
        delta = t.r - inner(gap(t), theta)
        to_w = add(scaled(delta, e), scaled(-inner(t.phi, w), t.phi))
        along = direction(delta, e, w, t, p)
        return add(x[:d], scaled(ALPHA, along)), add(x[d:], scaled(beta, to_w))

    theta, w = moved(*moved(x[:d], x[d:]))
    return [read(v).s for v in theta + w], scaled(t.g * p["lam"], e)


def gtd2_mp(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    return mirror_prox(x, m, t, p, lambda delta, e, w, t, p: scaled(inner(e, w), gap(t)))


def tdc_mp(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    def direction(delta: Any, e: Any, w: Any, t: Outcome, p: Any) -> Any:
        back = scaled(-t.g * (1 - p["lam"]) * inner(e, w), t.phi_next)
        return add(scaled(delta, e), back)

    return mirror_prox(x, m, t, p, direction)


MOVED = Slope(ZERO, Fraction(7))
"""(theta_t - theta_{t-1}) . phi_t, of which nothing counts but that it is of the order of alpha."""


def dutch(theta: Vector, m: Vector, t: Outcome, weight: Fraction, lam: Fraction) -> tuple[Any, Any]:
    """van Hasselt, Mahmood and Sutton 2014; the memory is the slope of e, which is 0 at alpha = 0.

    e = rho (gamma lambda e + alpha m (1 - rho gamma lambda phi . e) phi)
    theta += delta e + (theta_t - theta_{t-1}) . phi (e - alpha rho m phi)
    """
    before = [Slope(ZERO, s) for s in m]
    own = ALPHA * weight * (1 - t.rho * inner(t.phi, before))
    e = scaled(t.rho, add(before, scaled(own, t.phi)))
    late = add(e, scaled(-ALPHA * t.rho * weight, t.phi))
    delta = t.r - inner(gap(t), theta)
    change = add(scaled(delta, e), scaled(MOVED, late))
    assert all(read(v).v == 0 for v in e + change)
    return change, scaled(t.g * lam, e)


def true_online_td(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    change, e = dutch(x, m, t, ONE, p["lam"])
    return [read(v).s for v in change], [read(v).s for v in e]


def true_online_setd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    change, e = dutch(x, m, t, omega(gap(t), t.phi), p["lam"])
    return [read(v).s for v in change], [read(v).s for v in e]


def true_online_etd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """Mahmood, Yu, White and Sutton 2015."""
    d = len(t.phi)
    usual = {"interest": [ONE] * (t.s + 1), "beta": None, "truncate": None, "lam": p["lam"]}
    weight, handed = follow_on(m[d:], t, usual)
    change, e = dutch(x, m[:d], t, weight, p["lam"])
    return [read(v).s for v in change], [read(v).s for v in e] + handed


def true_online_gtd(x: Vector, m: Vector, t: Outcome, p: Any) -> Step:
    """van Hasselt, Mahmood and Sutton 2014, Algorithm 2: three traces, e, the gradient's and that of w."""
    d, lam, beta = len(t.phi), p["lam"], ALPHA * p["mu"]
    theta, w = parts(x, d)
    change, e = dutch(theta, m[:d], t, ONE, lam)
    plain = ratio_trace(m[d : 2 * d], t)
    change = add(change, scaled(ALPHA, correction(plain, w, t, lam)))
    before = [Slope(ZERO, s) for s in m[2 * d :]]
    e_w = add(before, scaled(beta * (1 - inner(t.phi, before)), t.phi))
    delta = t.r - inner(gap(t), theta)
    to_w = add(scaled(t.rho * delta, e_w), scaled(-beta * inner(t.phi, w), t.phi))
    handed = (
        [read(v).s for v in e]
        + scaled(t.g * lam, plain)
        + [t.g * lam * t.rho * read(v).s for v in e_w]
    )
    return [read(v).s for v in change + to_w], handed
