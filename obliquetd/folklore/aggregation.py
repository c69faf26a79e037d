"""State aggregation, hard and soft."""

from __future__ import annotations

import numpy as np

from obliquetd.claims.assumptions import (
    DISCOUNT,
    FULL_RANK,
    POSITIVE_WEIGHTS,
    Assumption,
)
from obliquetd.claims.claim import Outcome
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, unstable
from obliquetd.domains.two_state import two_state
from obliquetd.folklore.errors import OFF_POLICY
from obliquetd.folklore.judge import decide, drawn
from obliquetd.folklore.pack import PACK
from obliquetd.learners import TD
from obliquetd.problem import PolicyEvaluation

__all__ = ["AGGREGATION", "SOFT", "soft_two_state"]


def _aggregated(seed: int) -> PolicyEvaluation:
    """A drawn off-policy problem of four states with the indicators of one to three groups, any weights."""
    base = next(drawn(1, first=seed * 5 + 3))
    rng = np.random.default_rng(seed)
    groups = 1 + seed % 3
    member = [*range(groups), *(int(k) for k in rng.integers(0, groups, size=4 - groups))]
    return base.replace(
        features=[[int(g == j) for j in range(groups)] for g in member],
        xi=[int(x) for x in rng.integers(1, 9, size=4)],
    )


AGGREGATION = Assumption(
    "aggregation",
    "each row of Phi is a unit vector",
    lambda p, _l: all(sorted(row) == [0] * (len(row) - 1) + [1] for row in p.Phi.tolist()),
)
SOFT = Assumption(
    "averager",
    "features are nonnegative, and sum to 1 at most in each state",
    lambda p, _l: all(min(row) >= 0 and sum(row) <= 1 for row in p.Phi.tolist()),
)


@PACK.claim(
    "aggregation-stable",
    cites=("Tsitsiklis and Van Roy 1996", "Gordon 1995"),
    where="which say it of value iteration",
    topic="stability",
    title="With state aggregation TD is stable off-policy, whatever the weights are",
    statement=r"\phi(s) \in \{e_1, \dots, e_d\} \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting(
        (AGGREGATION, FULL_RANK, POSITIVE_WEIGHTS, DISCOUNT), fails=not_stable, learner=TD(),
        without={"aggregation": lambda: (two_state(), TD())},
    ),
    formal="largest",
)  # fmt: skip
def aggregation_stable(soft: bool = False) -> Outcome:
    """A = D (I - Q): D the weights of the groups, Q >= 0 with row sums of gamma at most; Gershgorin."""
    problems = (_aggregated(k) for k in range(40))
    return decide(
        [soft_two_state()] if soft else problems, lambda p: not_stable(p, TD()), learner=TD(),
        proof="A = D (I - Q) with D the diagonal of the groups' weights and Q >= 0 whose rows sum to gamma at most, so each "
        "diagonal entry of A is larger than the other entries of its row together: by Gershgorin every eigenvalue has a "
        "positive real part",
    )  # fmt: skip


def soft_two_state() -> PolicyEvaluation:
    """The two-state example with an averager's features, 1/2 and 1."""
    return two_state(reward=1).replace(features=[["1/2"], [1]])


@PACK.claim(
    "averagers-features-td-stable",
    cites=("Gordon 1995",),
    where="which says it of fitted iterations, not of TD",
    topic="stability",
    title="With an averager's features, nonnegative and of sum 1 at most, TD never diverges",
    statement=r"\phi(s) \ge 0,\ \textstyle\sum_j\phi_j(s) \le 1 \implies \mathrm{Re}\,\lambda(A) \ge 0",
    setting=Setting((SOFT, *OFF_POLICY), learner=TD()),
)
def averagers_features_td_stable(hard: bool = False) -> Outcome:
    """The two-state example with its feature halved."""
    problems = (_aggregated(k) for k in range(20)) if hard else [soft_two_state()]
    return decide(
        problems, lambda p: unstable(p, TD()), learner=TD(),
        proof="by aggregation-stable" if hard else "",
        says="on the two-state example with the features 1/2 and 1",
    )  # fmt: skip
