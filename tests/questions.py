"""What can be asked of a problem and a learner, as many numbers with names, by public calls: for :mod:`tests.test_ways`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd.dynamics.regions import holds
from obliquetd.dynamics.step_size_result import StepSizeLimit
from obliquetd.errors import ObliqueTDError, PrecisionWarning
from obliquetd.learners import LEARNERS, parameters
from obliquetd.search.families import FAMILIES
from obliquetd.search.scores import scores
from tests.character import SYMBOL, Character, character

TOLERANCE = 1e-7
"""Of two floats that are one number, beside the largest of their answer."""


@dataclass(frozen=True)
class Said:
    """In place of a number: an error by its kind, or that floats warned."""

    word: str


@dataclass(frozen=True)
class Question:
    """A name, and what makes the answers: numbers, arrays, matrices and words, by name."""

    name: str
    ask: Callable[[], dict[str, Any]]


def answered(parts: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Each answer, or what was said instead of it."""
    found: dict[str, Any] = {}
    for name, ask in parts.items():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found[name] = ask()
            except ObliqueTDError as error:
                found[name] = Said(type(error).__name__)
        if any(issubclass(w.category, PrecisionWarning) for w in told):
            found[name] = Said("warned")
    return found


# --- what is asked ----------------------------------------------------------------------------


def settings() -> Iterator[Any]:
    """Every shipped learner, each by itself and with each of its numbers elsewhere."""
    others = {
        "lam": "1/2", "mu": "2", "beta": "1/2", "kappa": "1/3", "rho_bar": "1/2", "c_bar": "1/3", "zeta": "1/3",
        "eta": "1/3", "emphasis": "2", "interest": "2", "n": 3, "cap": "3/2", "clip": "3/2", "truncate": 1,
    }  # fmt: skip
    for kind in LEARNERS.values():
        yield kind("1/10")
        for parameter in parameters(kind):
            if parameter.name in others:
                yield kind("1/10", **{parameter.name: others[parameter.name]})


def mean(problem: Any, learner: Any) -> dict[str, Any]:
    """The expected update and what follows from it."""
    dyn = otd.mean_dynamics(problem, learner)
    return answered(
        {
            "A": lambda: dyn.A,
            "b": lambda: dyn.b,
            "span": lambda: subspace(dyn.span),
            "conserved": lambda: subspace(dyn.conserved),
            "frozen": lambda: dyn.frozen,
            "memory": lambda: memory(dyn),
            "verdict": lambda: dyn.stability.verdict,
            "symmetric part": lambda: dyn.stability.symmetric_part,
            "kernel": lambda: dyn.stability.kernel_dimension,
            "fixed point": lambda: dyn.fixed_point(),
            "v_hat": lambda: dyn.v_hat,
        }
    )


def memory(dyn: Any) -> Any:
    """The mean memory of each state."""
    arithmetic = dyn.operators.arithmetic
    return [
        [x.value if hasattr(x, "error") else arithmetic.public(x) for x in row]
        for row in dyn.expectation.memory
    ]


def subspace(basis: Any) -> Any:
    """What tells a subspace from others: its dimension, and the projection on it."""
    if isinstance(basis, np.ndarray):
        q, _ = np.linalg.qr(basis)
        return q @ q.T
    if 0 in basis.shape:
        return basis.shape
    B = sp.polys.matrices.DomainMatrix.from_Matrix(sp.Matrix(basis)).to_field()
    return (B * (B.transpose() * B).inv() * B.transpose()).to_Matrix()


def limit(problem: Any, learner: Any, **given: Any) -> Any:
    """A step-size limit as the number that it is."""
    found = otd.step_size_limit(problem, learner, **given)
    return found.exact if isinstance(found, StepSizeLimit) else found


def noise(problem: Any, learner: Any) -> dict[str, Any]:
    """Second moments: of the update, of the weights after some steps and in the long run, and what bounds a step."""
    return answered(
        {
            "noise": lambda: otd.efficiency(problem, learner).noise_covariance,
            "averaged": lambda: otd.efficiency(problem, learner).averaged,
            "mean limit": lambda: limit(problem, learner, sense="mean"),
            "limit": lambda: limit(problem, learner),
            "moments": lambda: otd.exact_moments(problem, learner, 2).second,
            "stationary": lambda: otd.stationary_moments(problem, learner).second,
        }
    )


def valued(problem: Any) -> dict[str, Any]:
    """What has no learner."""
    points = {
        f"{name} {part}": (lambda name=name, part=part: getattr(problem.fixed_point(name), part))
        for name in ("td", "rg", "setd", "etd", "best")
        for part in ("theta", "v_hat")
    }
    measures = {
        f"td {part}": (lambda part=part: getattr(problem.fixed_point("td"), part))
        for part in ("rmse", "angle", "distance")
    }
    names = ("xi", "v_pi", "Omega_S", "Omega_S_batch", "Omega_E", "X_star", "C", "Pi")
    return answered(
        {
            **{name: (lambda name=name: getattr(problem, name)) for name in names},
            **points,
            **measures,
            "classes": lambda: [(c.states, c.closed, c.period) for c in problem.chain.classes],
        }
    )


def region(problem: Any, learner: Any, points: Any) -> dict[str, Any]:
    """For which values of the symbol a learner is stable: as a set, and at some points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        found = answered({"set": lambda: otd.stability_region(problem, learner, SYMBOL)})
    if isinstance(found["set"], Said):
        return found
    return {**found, **{f"at {x}": holds(found["set"], sp.Rational(x)) for x in points}}


def searched(on_policy: bool, learner: Any) -> dict[str, Any]:
    """Scores of candidates, and what a short search finds."""
    family = FAMILIES["on-policy" if on_policy else "off-policy"](3, 2, "9/10", 2)
    low, high = np.array(family.genes).T
    genomes = np.random.default_rng(7).integers(low, high + 1, size=(40, len(low)))
    found = scores(family, learner, genomes)
    result = otd.find_unstable(
        learner, 3, 2, on_policy=on_policy, largest=2, walks=3, seed=1, workers=1
    )
    return {
        "scores": np.where(np.isfinite(found.values), found.values, -7.0),
        "judged": found.judged,
        "search": str(result.problem),
        "tried": result.tried,
    }


def counted(learners: Any) -> dict[str, Any]:
    """How many problems of a family have which verdict."""
    found = otd.atlas(2, 1, largest=1, learners=learners, workers=1)
    return {"table": found.table(), "count": found.count()}


# --- the problems -----------------------------------------------------------------------------


@cache
def drawn(seed: int, **kinds: Any) -> Character:
    return character(seed, most_actions=2, **kinds)


def problem_of(seed: int, kind: str) -> Any:
    """A new problem with character, in exact numbers, with a symbol in its discount or elsewhere, or in floats."""
    if kind == "exact":
        return drawn(seed, most_states=4).problem()
    if kind == "float":
        return drawn(seed, most_states=4).problem(float)
    return drawn(
        seed, most_states=3, role=("discount", "probability", "reward", "feature", "policy")
    ).problem()


def questions(seed: int, learners: Any) -> Iterator[Question]:
    """All that is asked of the problems of a seed, for some learners."""
    for kind in ("exact", "float", "symbolic"):

        def ask(of: Callable[..., Any], *more: Any, kind: str = kind) -> Any:
            return lambda: of(problem_of(seed, kind), *more)

        yield Question(f"{kind} {seed}: values", ask(valued))
        for learner in learners:
            yield Question(f"{kind} {seed}: {learner}", ask(mean, learner))
            if kind != "symbolic":
                yield Question(f"{kind} {seed}: noise of {learner}", ask(noise, learner))
    for learner in learners:
        plain = drawn(seed, most_states=3, role="discount", closed=True)

        def regions(plain: Any = plain, learner: Any = learner) -> Any:
            return region(plain.problem(), learner, plain.points)

        yield Question(f"region {seed}: {learner}", regions)


def special() -> Iterator[Question]:
    """What draws seldom have: two symbols, nearly parallel planes, and steps of a few exact crossings."""

    def two_symbols() -> dict[str, Any]:
        dyn = otd.mean_dynamics(otd.domains.two_state("gamma", reward=1), otd.TD(lam="l"))
        return answered(
            {"A": lambda: dyn.A, "b": lambda: dyn.b, "theta": lambda: dyn.fixed_point()}
        )

    def parallel() -> dict[str, Any]:
        return valued(otd.domains.random_problem(3, 1, seed=1, discount="1/10000"))

    def crossings(seed: int, sampling: str) -> Callable[[], dict[str, Any]]:
        def ask() -> dict[str, Any]:
            problem = otd.domains.random_problem(
                4, 4 if sampling == "iid" else 1, seed=seed, on_policy=True
            )
            return answered(
                {"limit": lambda: limit(problem, otd.TD(), sense="mean", sampling=sampling)}
            )

        return ask

    def ring(n: int, learner: Any) -> Callable[[], dict[str, Any]]:
        """One reward in a circle, and the discount a symbol: most constants of outcomes are 0."""

        def ask() -> dict[str, Any]:
            rows = [(s, 0, (s + 1) % n, 1, int(s == n - 1), int(s < n - 1)) for s in range(n)]
            mdp = otd.MDP.from_transitions(rows)
            policy = otd.Policy.uniform(mdp)
            return mean(otd.PolicyEvaluation(mdp, target=policy, discount="gamma"), learner)

        return ask

    for n, learner in ((4, otd.SETD()), (5, otd.SETD()), (3, otd.GTD2()), (4, otd.TD(lam="1/2"))):
        yield Question(f"ring of {n}: {learner}", ring(n, learner))
    yield Question("two symbols", two_symbols)
    yield Question("nearly parallel", parallel)
    for seed in range(3):
        for sampling in ("iid", "trajectory"):
            yield Question(f"crossings {seed} {sampling}", crossings(seed, sampling))


# --- comparing --------------------------------------------------------------------------------


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The names of answers that are not the same."""
    return [name for name in one if not same(one[name], other[name])]


def same(a: Any, b: Any) -> bool:
    """Whether two answers are one: exactly, or floats but for rounding; one that warned says nothing."""
    said = [x for x in (a, b) if isinstance(x, Said)]
    if said:
        return Said("warned") in said or said == [a, b] == [b, a]
    if hasattr(a, "toarray"):
        return same(a.toarray(), b.toarray() if hasattr(b, "toarray") else b)
    if isinstance(a, np.ndarray) or _has_floats(a) or _has_floats(b):
        return _near(a, b)
    if isinstance(a, sp.MatrixBase):
        return a.shape == b.shape and all(map(_equal, a, b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return _equal(a, b) if isinstance(a, sp.Expr) and isinstance(b, sp.Expr) else bool(a == b)


def _has_floats(a: Any) -> bool:
    if isinstance(a, list | tuple):
        return any(map(_has_floats, a))
    return isinstance(a, float | np.floating | sp.Float)


def _near(a: Any, b: Any) -> bool:
    a, b = map(_floats, (a, b))
    if a.shape != b.shape:
        return False
    size = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    near = (a == b) | (np.abs(a - b) <= TOLERANCE * size) | (np.isnan(a) & np.isnan(b))
    return bool(near.all())


def _floats(x: Any) -> Any:
    x = x.toarray() if hasattr(x, "toarray") else x.tolist() if isinstance(x, sp.MatrixBase) else x
    return np.asarray(x, dtype=float)


def _equal(a: Any, b: Any) -> bool:
    if a == b:
        return True
    if a.is_Rational and b.is_Rational:
        return False
    if a.free_symbols or b.free_symbols:
        return sp.cancel(a - b) == 0
    return abs(sp.N(a - b, 40)) < sp.Float(10) ** -30 * (1 + abs(sp.N(a, 40)))
