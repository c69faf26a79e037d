"""The paper's five experiments, with its step sizes, and readings of what it says of them.

Words are read as numbers, the same throughout:

=================  ==================================================================
fast, faster       fewer steps until the error stays below half of its first value
much faster        at most half as many
slow               at least twice as many
similar            at most 10 % more
slightly better    better, and by no more than 25 %
substantially      at least 20 % less
sensitive          how much a step size ten times as large adds to the last error
variance           the standard deviation over runs, averaged over the steps
=================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from typing import Any, Literal

from obliquetd.domains import MountainCar, baird_star, boyan_chain, dense_random_mdp
from obliquetd.experiments import Experiment, Sweep
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC, Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.reproduction.car import car_experiment, noise_floor
from obliquetd.reproduction.evidence import (
    Interval,
    Part,
    half_time,
    late,
    ratio_of_means,
    ratio_of_spreads,
    ratio_of_times,
    share,
    whole,
)
from obliquetd.reproduction.study import Case, Found, Sentence, Study, expected_errors

__all__ = ["STUDIES", "overall"]

SIMILAR, SLIGHT, SUBSTANTIAL, MUCH = 1.1, 0.75, 0.8, 0.5
ERRORS = ("rmse", "rmspbe")
BOYAN_STEPS, CAR_STEPS, BAIRD_STEPS, RANDOM_STEPS = 2000, 5000, 4000, 10_000
BAIRD_START = (1, 1, 1, 1, 1, 1, 10, 1)
LARGER, LARGE = 10, 1000
"""How many times larger the step sizes are with which sensitivity, and divergence, is tried; 1000
times ETD's is 0.0025, in the middle of Table II."""

Side = Literal["below", "above"]
MEASURES = {
    "late": (late, "mean {error} of the last 500 steps"),
    "whole": (whole, "mean {error} of the whole run"),
    "half": (half_time, "steps until the {error} stays below half"),
}


def compared(
    case: str, found: Sweep, measure: str, error: str, pairs: Iterable[tuple[str, str]], side: Side,
    bound: float,
) -> Part:  # fmt: skip
    """Ratios of a measure between pairs of learners, held to a bound."""
    function, words = MEASURES[measure]
    values = {name: function(curve, error, found.steps) for name, curve in found.curves.items()}
    end = float(found.steps[-1])

    def ratio(a: str, b: str) -> Interval:
        if measure == "half":
            return ratio_of_times(values[a], values[b], end)
        return ratio_of_means(values[a], values[b])

    told = f"{case}: {words.format(error=error.upper())}"
    return Part(told, side, bound, {f"{a} / {b}": ratio(a, b) for a, b in pairs})


def spreads(
    case: str, found: Sweep, error: str, pairs: Iterable[tuple[str, str]], side: Side, bound: float = 1
) -> Part:  # fmt: skip
    """Ratios of the spread over runs."""
    return Part(
        f"{case}: spread of the {error.upper()} over runs", side, bound,
        {f"{a} / {b}": ratio_of_spreads(found[a], found[b], error) for a, b in pairs},
    )  # fmt: skip


def against(name: str, found: Sweep) -> list[tuple[str, str]]:
    """One learner against each other one."""
    return [(name, other) for other in found.curves if other != name]


# Boyan's chain (Section V-A1, Figures 2 and 3)


def boyan_case(lam: float, figure: str, alphas: Mapping[str, float]) -> Case:
    learners: dict[str, Learner] = {
        "TD": TD(alphas["TD"], lam),
        "SETD": SETD(alphas["SETD"], lam),
        "ETD": ETD(alphas["ETD"], lam),
        "GTD2": GTD2(alphas["GTD2"], 1, lam),
        "TDC": TDC(alphas["TDC"], 0.001, lam),
    }
    return Case(
        f"boyan-{lam}", f"Boyan's chain, lambda = {lam}", figure, learners,
        lambda seed, every: Experiment.of(boyan_chain(), BOYAN_STEPS, seed, every=every),
        grid=(TD, SETD, ETD, GTD2, TDC), lam=lam,
        remark="A trace leaves no closed equations for the moments, so there are no exact curves.",
    )  # fmt: skip


def judge_boyan(found: Found) -> list[Sentence]:
    fast, level = [], []
    for (case, sweep), error in product(found.items(), ERRORS):
        fast.append(compared(case, sweep, "half", error, against("SETD", sweep), "below", 1))
        others = [name for name in sweep.curves if name != "SETD"]
        ends = {name: float(late(sweep[name], error, sweep.steps).mean()) for name in others}
        best = min(others, key=lambda name: ends[name])
        level.append(compared(case, sweep, "late", error, [("SETD", best)], "below", SIMILAR))
    where = "V-A1, Figures 2 and 3"
    return [
        Sentence(where, "SETD converges fastest of all.", tuple(fast)),
        Sentence(
            where, "SETD ends at an error similar to the others'.", tuple(level),
            "Compared with the learner that ends lowest.",
        ),
    ]  # fmt: skip


# Mountain car (Section V-A2, Figure 4)

OUR_CAR = (
    "The paper gives neither the order of the basis, nor the discount, nor its policy; this is for "
    "order 2, discount 0.99 and a policy that pumps energy."
)
"""What a verdict on mountain car can say."""


def car_case() -> Case:
    learners: dict[str, Learner] = {
        "TD": TD(0.1), "SETD": SETD(0.4), "ETD": ETD(0.002), "GTD2": GTD2(0.05, 1),
        "TDC": TDC(0.04, 0.05),
    }  # fmt: skip
    return Case(
        "mountain-car", "Mountain car, Fourier basis", "Figure 4", learners,
        lambda seed, every: car_experiment(MountainCar(), CAR_STEPS, seed, every),
        grid=(TD, SETD, ETD, GTD2, TDC), floor=noise_floor,
        remark="The values are Monte Carlo means of 100 runs of at most 200 steps; below the dotted "
        "line, their standard error, the RMSE says nothing. A simulator has no exact moments.",
    )  # fmt: skip


def judge_car(found: Found) -> list[Sentence]:
    case, sweep = "mountain-car", found["mountain-car"]
    ahead, slight, slow = [], [], []
    for error in ERRORS:
        pairs = [("TD", "SETD"), ("TD", "ETD")]
        ahead.append(compared(case, sweep, "whole", error, pairs, "below", 1))
        slight.append(compared(case, sweep, "whole", error, pairs, "above", SLIGHT))
        late_ones = list(product(("TDC", "GTD2"), ("TD", "SETD", "ETD")))
        slow.append(compared(case, sweep, "half", error, late_ones, "above", 1 / MUCH))
    where = "V-A2, Figure 4"
    return [
        Sentence(where, "TD does better than SETD and ETD,", tuple(ahead), OUR_CAR),
        Sentence(where, "and only slightly so.", tuple(slight), OUR_CAR),
        Sentence(where, "TDC and GTD2 converge slowly.", tuple(slow), OUR_CAR),
    ]


# Baird's star (Section V-B1, Figures 5 and 6)


@cache
def baird() -> PolicyEvaluation:
    return baird_star(discount=0.99)


def baird_case() -> Case:
    learners: dict[str, Learner] = {
        "SETD": SETD(0.006), "GTD2": GTD2(0.005, 1), "TDC": TDC(0.006, 16)
    }  # fmt: skip
    return Case(
        "baird", "Baird's star, off-policy", "Figures 5 and 6", learners,
        lambda seed, every: Experiment.of(
            baird(), BAIRD_STEPS, seed, theta0=BAIRD_START, every=every
        ),
        grid=(SETD, GTD2, TDC),
        exact=lambda chosen: expected_errors(baird(), chosen, BAIRD_STEPS, BAIRD_START),
        remark="Dashed: the root of the exact expected square error. It lies above a mean of roots, "
        "and far above it where few runs carry the square.",
    )  # fmt: skip


def judge_baird(found: Found) -> list[Sentence]:
    case, sweep = "baird", found["baird"]
    where = "V-B1, Figures 5 and 6"

    def both(pairs: list[tuple[str, str]], side: Side, bound: float = 1) -> tuple[Part, ...]:
        return tuple(spreads(case, sweep, error, pairs, side, bound) for error in ERRORS)

    setd = [("SETD", "GTD2")]
    return [
        Sentence(where, "TDC has the largest variance.", both(against("TDC", sweep), "above")),
        Sentence(where, "SETD has a larger variance than GTD2.", both(setd, "above")),
        Sentence(
            where, "SETD reduces RMSE and RMSPBE substantially, compared with GTD2,",
            tuple(compared(case, sweep, "whole", e, setd, "below", SUBSTANTIAL) for e in ERRORS),
        ),
        Sentence(
            where, "and the variance as well.", both(setd, "below", SUBSTANTIAL),
            "The sentence before says the opposite of the variance.",
        ),
        Sentence(where, "GTD2 has a low variance.", both(against("GTD2", sweep), "below")),
    ]  # fmt: skip


# The random MDP (Section V-B2, Figure 7)


@cache
def random_mdp() -> PolicyEvaluation:
    return dense_random_mdp(seed=0)


def random_cases() -> tuple[Case, ...]:
    alphas = {"SETD": 0.0008, "ETD": 2.5e-6}
    learners: dict[str, Learner] = {
        "SETD": SETD(alphas["SETD"]), "ETD": ETD(alphas["ETD"]), "GTD2": GTD2(0.002, 1),
        "TDC": TDC(0.002, 0.05),
    }  # fmt: skip

    def build(seed: int, every: int) -> Experiment:
        return Experiment.of(random_mdp(), RANDOM_STEPS, seed, every=every)

    return (
        Case(
            "random", "400-state random MDP, off-policy", "Figure 7", learners, build,
            grid=(SETD, ETD, GTD2, TDC),
            remark="One step of the exact moments takes 1.6 million products of 202 by 202 matrices, so "
            "there are no exact curves.",
        ),
        *(
            Case(
                f"random-steps-x{factor}", f"The same with step sizes {factor} times as large",
                "Figure 7",
                {"SETD": SETD(alphas["SETD"] * factor), "ETD": ETD(alphas["ETD"] * factor)},
                build, drawn=False, every=100,
            )
            for factor in (LARGER, LARGE)
        ),
    )  # fmt: skip


def worse_than_at_first(sweep: Sweep, name: str) -> Interval:
    """The share of runs that end with a larger RMSE than they began with."""
    rmse = sweep[name].rmse
    return share(int((rmse[:, -1] > rmse[:, 0]).sum()), len(rmse))


def judge_random(found: Found) -> list[Sentence]:
    case, sweep = "random", found["random"]
    large = found[f"random-steps-x{LARGE}"]
    where = "V-B2, Figure 7"
    pairs = [("SETD", "GTD2"), ("SETD", "ETD")]
    return [
        Sentence(
            where, "ETD tends to diverge with a large step size,",
            (
                Part(
                    f"{case}: share of runs that end worse than they begin, at {LARGE} times the "
                    "step size",
                    "above", 0.5, {"ETD": worse_than_at_first(large, "ETD")},
                ),
            ),
        ),
        Sentence(
            where, "and so has to converge very slowly.",
            (compared(case, sweep, "half", "rmse", [("ETD", "SETD")], "above", 1 / MUCH),),
        ),
        Sentence(
            where, "SETD does better than GTD2 and ETD.",
            tuple(compared(case, sweep, "whole", error, pairs, "below", 1) for error in ERRORS),
        ),
        Sentence(
            where, "SETD has a larger variance than GTD2.",
            tuple(spreads(case, sweep, error, [("SETD", "GTD2")], "above") for error in ERRORS),
        ),
    ]  # fmt: skip


def overall(found: Found) -> list[Sentence]:
    """The summary at the end of Section V, which takes all experiments together."""
    faster = [
        compared(case, sweep, "half", error, [("SETD", "GTD2"), ("SETD", "TDC")], "below", MUCH)
        for case, sweep in found.items()
        if "GTD2" in sweep.curves
        for error in ERRORS
    ]
    own, larger = found["random"], found[f"random-steps-x{LARGER}"]
    worse = {
        name: larger[name].rmse[:, -1] / late(own[name], "rmse", own.steps)
        for name in ("SETD", "ETD")
    }
    steady = Part(
        f"random: last RMSE at {LARGER} times the step size, over that at the paper's", "below", 1,
        {"SETD / ETD": ratio_of_means(worse["SETD"], worse["ETD"])},
    )  # fmt: skip
    where = "V, last paragraph"
    return [
        Sentence(
            where, "SETD converges much faster than GTD2 and TDC, on-policy and off-policy.",
            tuple(faster),
        ),
        Sentence(
            where, "SETD is less sensitive to the step size than ETD, off-policy.",
            (steady,),
        ),
    ]  # fmt: skip


def _studies() -> dict[str, Study]:
    boyan = (
        boyan_case(0.4, "Figure 2", {"TD": 0.2, "SETD": 0.4, "ETD": 0.04, "GTD2": 0.5, "TDC": 0.3}),
        boyan_case(0.8, "Figure 3", {"TD": 0.2, "SETD": 0.3, "ETD": 0.04, "GTD2": 0.3, "TDC": 0.3}),
    )  # fmt: skip
    made: list[tuple[str, str, tuple[Case, ...], Any]] = [
        ("boyan", "Boyan's chain, on-policy", boyan, judge_boyan),
        ("mountain-car", "Mountain car, on-policy", (car_case(),), judge_car),
        ("baird", "Baird's star, off-policy", (baird_case(),), judge_baird),
        ("random", "The 400-state random MDP, off-policy", random_cases(), judge_random),
    ]
    return {name: Study(name, title, cases, judge) for name, title, cases, judge in made}


STUDIES = _studies()
"""By the names that the command takes; the two-state example is decided by the claims."""
