"""Every learner: its rule, what it keeps, and the settings that it has unless others are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.oracle import gradient_rules as gradient
from tests.oracle import rules
from tests.oracle.linear import ONE, ZERO, Vector
from tests.oracle.none import Undefined
from tests.oracle.outcomes import Sampled
from tests.oracle.rules import Step, omega


@dataclass(frozen=True)
class Rule:
    """A rule, the numbers of its weights and of its memory, and the settings it has unless others are given.

    ``memory`` is of d and the settings; ``derived`` are settings that follow from the problem. ``compares`` tells that its step
    depends on the order of numbers of the problem, so that over a symbol there may be no one formula.
    """

    step: Callable[..., Step]
    memory: Callable[[int, Any], int] = lambda d, p: 0
    two: bool = False
    compares: bool = False
    defaults: Any = field(default_factory=dict)
    derived: Callable[[Sampled, Any], Any] = lambda sampled, p: {}

    def settings(self, sampled: Sampled, given: Any) -> Any:
        p = {**self.defaults, **given}
        return {**p, **self.derived(sampled, p)}


def trace(d: int, p: Any) -> int:
    return d


def by_state(sampled: Sampled, value: Any) -> Vector:
    return [value] * sampled.n if isinstance(value, int | Fraction) else list(value)


def expected_weights(sampled: Sampled, p: Any) -> Any:
    """SETD of the expected Delta phi under the target."""
    if p["omega"] == "sampled":
        return {"expected": None}
    change = [list(row) for row in sampled.features]
    for o in sampled.outcomes:
        for i, v in enumerate(o.phi_next):
            change[o.s][i] -= o.chance * o.rho * o.g * v
    for s in {o.s for o in sampled.outcomes}:
        if any(sampled.features[s]) and not any(change[s]):
            raise Undefined
    return {"expected": [omega(c, f) for c, f in zip(change, sampled.features, strict=True)]}


def extremes(sampled: Sampled, p: Any) -> Any:
    """ABTD's psi of zeta = 1/2 and of zeta = 1."""
    sizes = [max(pi, mu) for pi, mu in sampled.pairs]
    return {"psi_0": 1 / max(sizes), "psi_max": 1 / min(sizes)}


LAM = {"lam": ZERO}
MU = {"mu": ONE, "lam": ZERO}
SECOND = {**MU, "secondary": "plain"}

RULES = {
    "td": Rule(rules.td, trace, defaults=LAM),
    "weighted-td": Rule(
        rules.weighted_td, trace, defaults={"emphasis": ONE, **LAM},
        derived=lambda sampled, p: {"emphasis": by_state(sampled, p["emphasis"])},
    ),
    "setd": Rule(
        rules.setd, trace, compares=True, derived=expected_weights,
        defaults={"cap": None, "ratios": "full", "omega": "sampled", **LAM},
    ),
    "etd": Rule(
        rules.etd, lambda d, p: d + (1 if p["truncate"] is None else p["truncate"]),
        defaults={"beta": None, "interest": ONE, "truncate": None, **LAM},
        derived=lambda sampled, p: {"interest": by_state(sampled, p["interest"])},
    ),
    "n-step-td": Rule(rules.n_step_td, lambda d, p: (p["n"] - 1) * d, defaults={"n": 2}),
    "regularized-td": Rule(rules.regularized_td, defaults={"eta": ONE}),
    "residual-gradient": Rule(rules.residual_gradient),
    "double-sampled-residual-gradient": Rule(rules.double_sampled),
    "retrace": Rule(rules.retrace, trace, compares=True, defaults=LAM),
    "tree-backup": Rule(rules.tree_backup, trace, defaults=LAM),
    "v-trace": Rule(
        rules.v_trace, trace, compares=True, defaults={"rho_bar": ONE, "c_bar": ONE, **LAM}
    ),
    "abtd": Rule(rules.abtd, trace, compares=True, defaults={"zeta": Fraction(1, 2)}, derived=extremes),
    "gtd": Rule(gradient.gtd, trace, two=True, defaults=MU),
    "gtd2": Rule(gradient.gtd2, trace, two=True, defaults=SECOND),
    "tdc": Rule(gradient.tdc, trace, two=True, defaults=SECOND),
    "htd": Rule(gradient.htd, lambda d, p: 2 * d, two=True, defaults=MU),
    "tdrc": Rule(gradient.tdrc, trace, two=True, defaults={"kappa": ONE, **MU}),
    "gtd2-mp": Rule(gradient.gtd2_mp, trace, two=True, defaults=MU),
    "tdc-mp": Rule(gradient.tdc_mp, trace, two=True, defaults=MU),
    "true-online-td": Rule(gradient.true_online_td, trace, defaults=LAM),
    "true-online-setd": Rule(gradient.true_online_setd, trace, compares=True, defaults=LAM),
    "true-online-etd": Rule(gradient.true_online_etd, lambda d, p: d + 1, defaults=LAM),
    "true-online-gtd": Rule(gradient.true_online_gtd, lambda d, p: 3 * d, two=True, defaults=MU),
}  # fmt: skip
