"""obliquetd: the exact truth about temporal-difference policy evaluation.

Build an MDP, two policies and a feature matrix; get P_pi, Xi, L_pi, X*, the Omega
families and every oblique-projection fixed point as rationals, closed forms in
symbols, or floats. ``verify()`` checks the claims of Lyu et al. (2018).
"""

from typing import Any

from obliquetd import domains, features, learners
from obliquetd.dynamics import (
    FQI,
    PFQI,
    bounds,
    check_certificate,
    efficiency,
    exact_moments,
    follow_on_second_moment,
    improvement_region,
    iteration,
    least_updates,
    mean_dynamics,
    second_moment_is_finite,
    stability_region,
    stationary_moments,
    step_size_limit,
)
from obliquetd.errors import ObliqueTDError
from obliquetd.estimators import BRM, FPKF, LSETD, LSPE, LSTD, Averager, crossover, replay
from obliquetd.experiments import LoggedData, simulate, sweep
from obliquetd.formats import load_model, save_model
from obliquetd.learners import (
    ABTD,
    ETD,
    GTD,
    GTD2,
    GTD2MP,
    HTD,
    SETD,
    TD,
    TDC,
    TDCMP,
    TDRC,
    DoubleSampledResidualGradient,
    Harmonic,
    NStepTD,
    RegularizedTD,
    ResidualGradient,
    Retrace,
    RobbinsMonro,
    TreeBackup,
    TrueOnlineETD,
    TrueOnlineGTD,
    TrueOnlineSETD,
    TrueOnlineTD,
    VTrace,
    WeightedTD,
)
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.chain import MarkovChain
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.analysis import projection_analysis
from obliquetd.problem.compare import compare
from obliquetd.problem.projection import oblique_projection
from obliquetd.problem.sensitivity import sensitivity
from obliquetd.search import find_unstable

__all__ = [
    "ABTD",
    "BRM",
    "ETD",
    "FPKF",
    "FQI",
    "GTD",
    "GTD2",
    "GTD2MP",
    "HTD",
    "LSETD",
    "LSPE",
    "LSTD",
    "MDP",
    "PFQI",
    "SETD",
    "TD",
    "TDC",
    "TDCMP",
    "TDRC",
    "Averager",
    "DoubleSampledResidualGradient",
    "Harmonic",
    "LoggedData",
    "MarkovChain",
    "NStepTD",
    "ObliqueTDError",
    "Policy",
    "PolicyEvaluation",
    "RegularizedTD",
    "ResidualGradient",
    "Retrace",
    "RobbinsMonro",
    "TreeBackup",
    "TrueOnlineETD",
    "TrueOnlineGTD",
    "TrueOnlineSETD",
    "TrueOnlineTD",
    "VTrace",
    "WeightedTD",
    "bounds",
    "check_certificate",
    "compare",
    "crossover",
    "domains",
    "efficiency",
    "exact_moments",
    "features",
    "find_unstable",
    "follow_on_second_moment",
    "improvement_region",
    "iteration",
    "learners",
    "least_updates",
    "load_model",
    "mean_dynamics",
    "oblique_projection",
    "projection_analysis",
    "replay",
    "save_model",
    "second_moment_is_finite",
    "sensitivity",
    "simulate",
    "stability_region",
    "stationary_moments",
    "step_size_limit",
    "sweep",
    "verify",
]


def verify(*args: Any, **kwargs: Any) -> list[Any]:
    """Check every claim of the paper; see :func:`obliquetd.claims.verify`.

    Returns
    -------
    list of ClaimResult
        Each has ``id``, ``statement``, ``verdict`` and ``evidence``.

    Examples
    --------
    >>> [(r.id, r.verdict) for r in verify(["two-state-X-star"])]
    [('two-state-X-star', 'verified')]
    """
    from obliquetd import claims  # registers the claims, which builds their test problems

    return claims.verify(*args, **kwargs)
