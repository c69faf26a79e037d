"""Whether the mean update of TD is a gradient."""

from __future__ import annotations

import numpy as np
import sympy as sp

from obliquetd.claims.assumptions import (
    Assumption,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.setting import Setting
from obliquetd.folklore.errors import TVR
from obliquetd.folklore.judge import decide, drawn, meeting
from obliquetd.folklore.pack import PACK
from obliquetd.learners import TD, Learner
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []


def _asymmetric(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    A = dynamics(problem, learner).A
    return None if A == A.T else {"A": A}


REVERSIBLE = Assumption(
    "reversible",
    "xi(s) P(s, s') = xi(s') P(s', s), with discounts",
    lambda p, _l: (M := sp.diag(*p.xi) * (sp.eye(len(p.states)) - p.L_pi)) == M.T,
)


@PACK.claim(
    "td-is-gradient-descent",
    cites=("Barnard 1993",),
    where="which shows the contrary",
    topic="stability",
    title="The mean update of on-policy TD is the negative gradient of some function",
    statement=r"\exists J:\quad b - A\theta = -\nabla J(\theta)",
    setting=Setting(TVR, learner=TD()),
)
def td_is_gradient_descent(chain: str = "any") -> Outcome:
    """A gradient has a symmetric derivative, so A would have to be symmetric."""
    if chain == "reversible":
        return td_gradient_reversible.check()
    return decide(
        meeting(drawn(200, on_policy=True), Setting(TVR), TD()),
        lambda p: _asymmetric(p, TD()), learner=TD(),
        says="the derivative of a gradient is symmetric, and A is not",
    )  # fmt: skip


def _reversible(seed: int) -> PolicyEvaluation:
    """A random walk on a weighted graph of three states, which is reversible."""
    rng = np.random.default_rng(seed)
    W = rng.integers(1, 6, size=(3, 3))
    W = W + W.T
    P = [[sp.Rational(int(x), int(row.sum())) for x in row] for row in W]
    Phi = [[1, int(rng.integers(-3, 4))], [0, 1], [int(rng.integers(-3, 4)), 2]]
    return PolicyEvaluation.from_chain(
        P, [int(x) for x in rng.integers(-3, 4, size=3)], discount="9/10", features=Phi
    )


@PACK.claim(
    "td-gradient-reversible",
    cites=("Ollivier 2018",),
    topic="stability",
    title="For a reversible chain the mean update of on-policy TD is a gradient",
    statement=r"\Xi P = P^\top\Xi \implies A = A^\top,\ b - A\theta = -\nabla(\tfrac12\theta^\top A\theta - b^\top\theta)",
    setting=Setting((REVERSIBLE,), fails=_asymmetric, learner=TD()),
    formal="folklore",
)
def td_gradient_reversible(chain: str = "reversible") -> Outcome:
    """A = Phi'(Xi - gamma Xi P)Phi."""
    return decide(
        drawn(20, on_policy=True) if chain == "any" else (_reversible(k) for k in range(40)),
        lambda p: _asymmetric(p, TD()), learner=TD(),
        proof="A = Phi'(Xi - gamma Xi P)Phi is symmetric where Xi P is",
    )  # fmt: skip
