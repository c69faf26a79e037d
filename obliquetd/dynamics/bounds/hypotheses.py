"""What theorems require, each as data: what it is, whether it holds here, and a way out that works."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import number_text
from obliquetd.algebra.rounding import EPS, STATIONARY, negligible
from obliquetd.dynamics.bounds.setting import Setting
from obliquetd.dynamics.sampling import is_stationary
from obliquetd.errors import ObliqueTDError
from obliquetd.learners import TD, Harmonic

__all__ = [
    "Hypothesis",
    "below_one",
    "constant_step",
    "has_fixed_point",
    "independent_features",
    "is_td",
    "no_trace",
    "on_policy",
    "one_over",
    "sampled",
    "small_features",
    "stationary_under_target",
    "stationary_weights",
]


@dataclass(frozen=True)
class Hypothesis:
    """One hypothesis of a theorem on one problem.

    Attributes
    ----------
    name : str
    requires : str
        What is required, in a sentence.
    holds : bool
    value : object
        What was found.
    way_out : str
        What to change where it fails.
    """

    name: str
    requires: str
    holds: bool
    value: Any
    way_out: str

    @property
    def found(self) -> str:
        """The value as text."""
        return self.value if isinstance(self.value, str) else number_text(self.value)

    def __str__(self) -> str:
        return f"{self.name}: {self.requires} Here: {self.found}, {'which holds' if self.holds else 'which fails'}."


def one_over(limit: Any) -> str:
    """The largest 1/n that does not exceed a positive number, as text."""
    n = max(1, math.ceil(float(1 / limit)))
    n += bool(sp.Rational(1, n) > limit)
    return "1" if n == 1 else f"1/{n}"


def _plain_td(at: Setting) -> str:
    """The learner that most theorems are about, with the step size that was given."""
    given = at.learner.alpha
    if given is None or callable(given):
        return (
            "use otd.TD('1/100')" if not isinstance(given, Harmonic) else f"use otd.TD(otd.{given})"
        )
    return f"use otd.TD({given if isinstance(given, float) else repr(str(given))})"


def is_td(at: Setting) -> Hypothesis:
    """The rule is that of TD, which one of a class derived from TD need not be."""
    return Hypothesis(
        "learner",
        "The learner is TD.",
        isinstance(at.learner, TD) and at.learner.rule is TD.rule,
        at.learner.name,
        _plain_td(at),
    )


def no_trace(at: Setting) -> Hypothesis:
    """lambda = 0."""
    return Hypothesis(
        "no trace",
        "lambda is 0.",
        at.lam == 0,
        at.lam,
        _plain_td(at),
    )


def sampled(at: Setting, sampling: str) -> Hypothesis:
    """How transitions are sampled."""
    words = {"iid": "independent of each other", "trajectory": "along a stationary trajectory"}
    return Hypothesis(
        "sampling",
        f"The transitions are {words[sampling]}.",
        at.sampling in (None, sampling),
        at.sampling or sampling,
        f"use sampling={sampling!r}, or leave it out",
    )


def on_policy(at: Setting) -> Hypothesis:
    """Target and behaviour are one policy."""
    return Hypothesis(
        "on-policy",
        "The behaviour is the target policy.",
        at.problem.on_policy,
        "on-policy" if at.problem.on_policy else "off-policy",
        "use problem.replace(behavior=problem.target, xi=None)",
    )


def stationary_weights(at: Setting) -> Hypothesis:
    """xi is stationary under the behaviour."""
    holds = is_stationary(at.ops)
    return Hypothesis(
        "stationary weights",
        "The weights xi are the stationary distribution of the sampled chain.",
        holds,
        "stationary" if holds else "weights of your own that are not",
        "use problem.replace(xi=None)",
    )


def stationary_under_target(at: Setting) -> Hypothesis:
    """xi is stationary under the target, so that P_pi is no expansion in the xi-norm."""
    ops = at.ops
    pairs = zip(ops.xi.entries(), (ops.P_pi.T @ ops.xi).entries(), strict=True)
    exact = ops.arithmetic.kind != "float"
    holds = all(
        a == b if exact else negligible(a - b, max(a, b), STATIONARY) or a == b for a, b in pairs
    )
    return Hypothesis(
        "stationary weights",
        "The weights xi are stationary under the target policy.",
        holds,
        "stationary" if holds else "weights that one step of the target policy changes",
        "use problem.replace(behavior=problem.target, xi=None)",
    )


def below_one(at: Setting) -> Hypothesis:
    """The largest discount is below one."""
    return Hypothesis(
        "discount",
        "Every transition's discount is at most some gamma below 1.",
        bool(at.gamma < 1),
        at.gamma,
        "use problem.replace(discount='99/100')",
    )


def small_features(at: Setting) -> Hypothesis:
    """|phi(s)| <= 1; a float may miss that by its rounding."""
    size = at.root(at.largest_feature)
    slack = 8 * EPS if isinstance(size, float) else 0
    return Hypothesis(
        "small features",
        "The features of every visited state have Euclidean norm at most 1.",
        bool(at.largest_feature <= 1 + slack),
        size,
        f"use problem.replace(features=problem.Phi / {max(1, math.ceil(size))})",
    )


def independent_features(at: Setting) -> Hypothesis:
    """Phi has full column rank on the states of positive weight."""
    d, kept = at.ops.Phi.shape[1], at.independent
    way_out = (
        f"use problem.replace(features=problem.Phi[:, {kept}])"
        if kept
        else "give features that are not 0"
    )
    return Hypothesis(
        "independent features",
        "The features are linearly independent on the visited states.",
        len(kept) == d,
        f"rank {len(kept)} of {d}",
        way_out,
    )


def constant_step(at: Setting, limit: Any, told: str) -> Hypothesis:
    """The step size is a constant of at most some limit."""
    alpha = at.alpha
    holds = alpha is not None and bool(alpha <= limit)
    value = alpha if alpha is not None else "none" if at.learner.alpha is None else "a schedule"
    usable = limit not in (0, 0.0)
    return Hypothesis(
        "step size",
        f"The step size is constant and at most {told} = {number_text(limit)}.",
        holds,
        value,
        f"use otd.TD('{one_over(limit)}')" if usable else "see to the other hypotheses first",
    )


def has_fixed_point(at: Setting) -> Hypothesis:
    """The learner has one fixed point, and no state that is not weighed matters to it."""
    requires = "The learner has one fixed point, which no state of weight zero influences."
    way_out = "use otd.projection_analysis with an X of your own, or weights xi that are positive"
    try:
        at.theta_star  # noqa: B018
        spread = at.spread
    except ObliqueTDError as error:
        return Hypothesis("fixed point", requires, False, str(error), way_out)
    finite = not (isinstance(spread, float) and math.isinf(spread)) and spread != math.inf
    value = "one" if finite else "a state of weight zero influences it"
    return Hypothesis("fixed point", requires, bool(finite), value, way_out)
