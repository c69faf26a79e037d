"""obliquetd: the exact truth about temporal-difference policy evaluation.

Build an MDP, two policies and a feature matrix; get P_pi, Xi, L_pi, X*, the Omega
families and every oblique-projection fixed point as rationals, closed forms in
symbols, or floats. ``verify()`` checks the claims of Lyu et al. (2018).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from obliquetd import domains, features, learners, words
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
        one_line_proof,
        second_moment_is_finite,
        stability_region,
        stationary_moments,
        step_size_limit,
    )
    from obliquetd.errors import ObliqueTDError
    from obliquetd.estimators import BRM, FPKF, LSETD, LSPE, LSTD, Averager, crossover, replay
    from obliquetd.experiments import LoggedData, simulate, sweep
    from obliquetd.exploration import explore
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
    "explore",
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
    "one_line_proof",
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
    "words",
]


HOMES = {
    "obliquetd.dynamics": (
        "FQI", "PFQI", "bounds", "check_certificate", "efficiency", "exact_moments",
        "follow_on_second_moment", "improvement_region", "iteration", "least_updates",
        "mean_dynamics", "one_line_proof", "second_moment_is_finite", "stability_region", "stationary_moments",
        "step_size_limit",
    ),
    "obliquetd.errors": (
        "ObliqueTDError",
    ),
    "obliquetd.estimators": (
        "BRM", "FPKF", "LSETD", "LSPE", "LSTD", "Averager", "crossover", "replay",
    ),
    "obliquetd.experiments": (
        "LoggedData", "simulate", "sweep",
    ),
    "obliquetd.exploration": (
        "explore",
    ),
    "obliquetd.formats": (
        "load_model", "save_model",
    ),
    "obliquetd.learners": (
        "ABTD", "ETD", "GTD", "GTD2", "GTD2MP", "HTD", "SETD", "TD", "TDC", "TDCMP", "TDRC",
        "DoubleSampledResidualGradient", "Harmonic", "NStepTD", "RegularizedTD", "ResidualGradient",
        "Retrace", "RobbinsMonro", "TreeBackup", "TrueOnlineETD", "TrueOnlineGTD", "TrueOnlineSETD",
        "TrueOnlineTD", "VTrace", "WeightedTD",
    ),
    "obliquetd.mdp": (
        "MDP", "Policy",
    ),
    "obliquetd.mdp.chain": (
        "MarkovChain",
    ),
    "obliquetd.problem": (
        "PolicyEvaluation",
    ),
    "obliquetd.problem.analysis": (
        "projection_analysis",
    ),
    "obliquetd.problem.compare": (
        "compare",
    ),
    "obliquetd.problem.projection": (
        "oblique_projection",
    ),
    "obliquetd.problem.sensitivity": (
        "sensitivity",
    ),
    "obliquetd.search": (
        "find_unstable",
    ),
}  # fmt: skip
"""The module that each public name comes from, when it is first used."""

ROOMS = (
    "algebra", "atlas", "claims", "display", "domains", "dynamics", "errors", "estimators", "experiments",
    "exploration", "features", "folklore", "formats", "frames", "kernel", "learners", "mdp", "plotting", "problem",
    "processes", "progress", "reproduction", "report", "search", "words",
)  # fmt: skip
"""The parts of the package, each imported when it is first used."""

if TYPE_CHECKING:  # a checker follows no __getattr__: the rooms, and what a signature below names
    from obliquetd import (  # noqa: I001 - one statement, not one for each room
        algebra as algebra,
        atlas as atlas,
        claims as claims,
        display as display,
        dynamics as dynamics,
        errors as errors,
        estimators as estimators,
        experiments as experiments,
        exploration as exploration,
        folklore as folklore,
        formats as formats,
        frames as frames,
        kernel as kernel,
        mdp as mdp,
        plotting as plotting,
        problem as problem,
        processes as processes,
        progress as progress,
        report as report,
        reproduction as reproduction,
        search as search,
    )
    from obliquetd.claims import ClaimResult
    from obliquetd.frames import Table

if not TYPE_CHECKING:  # or every misspelt name would pass a type checker

    def __getattr__(name: str) -> Any:
        if name in ROOMS:
            return import_module(f"obliquetd.{name}")  # which also sets it as an attribute here
        for home, names in HOMES.items():
            if name in names:
                value = globals()[name] = getattr(import_module(home), name)
                return value
        raise AttributeError(f"module 'obliquetd' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *ROOMS, *__all__})


def verify(*args: Any, **kwargs: Any) -> "Table[ClaimResult]":
    """Check every claim of the paper; see :func:`obliquetd.claims.verify`.

    Returns
    -------
    Table of ClaimResult
        A list. Each has ``id``, ``statement``, ``verdict`` and ``evidence``; ``.rows()`` and
        ``.to_frame()`` have one row a claim.

    Examples
    --------
    >>> [(r.id, r.verdict) for r in verify(["two-state-X-star"])]
    [('two-state-X-star', 'verified')]
    """
    from obliquetd import claims  # registers the claims, which builds their test problems

    return claims.verify(*args, **kwargs)
