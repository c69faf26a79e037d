"""What a reproduced experiment consists of: cases that run, and sentences that they decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliquetd.dynamics import exact_moments
from obliquetd.experiments import Experiment, Sweep
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.reproduction.evidence import SILENT, Part, Verdict, agreed, every, most

__all__ = ["Case", "Exact", "Found", "Runs", "Sentence", "Study", "expected_errors"]

Exact = dict[str, dict[str, np.ndarray]]
"""For each learner, at steps 0, 1, 2, ...: ``rmse`` and ``rmspbe``, roots of its exact expected square
errors, and ``rmse_deviation`` and ``rmspbe_deviation``, the parts of them that are not bias."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What a case gave for one seed.

    Attributes
    ----------
    case : str
    sweep : Sweep
    withheld : mapping of learner to str
        Why the runs do not show its variance (:mod:`obliquetd.reproduction.tails`).
    exact : mapping
        Exact moments, of the learners that have them.
    """

    case: str
    sweep: Sweep
    withheld: Mapping[str, str]
    exact: Exact


Found = Mapping[str, Runs]
"""What the cases gave for one seed, by their names."""


@dataclass(frozen=True)
class Case:
    """Learners on one problem, as a figure of the paper shows them.

    Attributes
    ----------
    name, title : str
    figure : str
        Which of the paper's.
    learners : mapping of name to Learner
        With the paper's step sizes.
    build : callable of (seed, every)
        Makes the experiment.
    problem : callable of seed, optional
        The problem, where it is one of tables; a random one is drawn anew for each seed.
    grid : sequence of learner classes
        What ``--sweep`` varies; none where the case only serves a verdict.
    lam : number
        The trace parameter of the grid.
    exact : callable of learners, optional
        The exact expected curves, of those that have them.
    remark : str
        Stands under the figure: why there is no exact curve, or what a line shows.
    says : str
        What the paper says of its figure, in its own words.
    floor : callable, optional
        A level below which the RMSE shows the reference's own error only.
    drawn : bool
    every : int
        Errors are recorded each that many steps.
    """

    name: str
    title: str
    figure: str
    learners: Mapping[str, Learner]
    build: Callable[[int, int], Experiment]
    problem: Callable[[int], PolicyEvaluation] | None = None
    grid: Sequence[type[Learner]] = ()
    lam: Any = 0
    exact: Callable[[Mapping[str, Learner]], Exact] | None = None
    remark: str = ""
    says: str = ""
    floor: Callable[[Experiment], float] | None = None
    drawn: bool = True
    every: int = 1


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper, retold, and how it is measured.

    Attributes
    ----------
    where : str
        Its place in the paper.
    says : str
        What it says, in our words.
    parts : tuple of Part
        Each a measurable reading; the sentence holds where all comparisons do.
    remark : str
    decided : Verdict, optional
        In place of parts, where an exact argument decides.
    tends : bool
        The sentence says "tends to": it holds where more than half of the comparisons do.
    silent : str
        What the paper would have to say for its sentence to be decided; then :attr:`finding` is ours.
    by_seed : tuple of Sentence
        One for each seed, where there were several.
    """

    where: str
    says: str
    parts: tuple[Part, ...]
    remark: str = ""
    decided: Verdict | None = None
    tends: bool = False
    silent: str = ""
    by_seed: tuple[Sentence, ...] = ()

    @property
    def finding(self) -> Verdict:
        """What the runs say, the same for every seed."""
        if self.decided:
            return self.decided
        if self.by_seed:
            return agreed([sentence.finding for sentence in self.by_seed])
        decisions = [verdict for part in self.parts for verdict in part.decisions]
        return most(decisions) if self.tends else every(decisions)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the paper's sentence."""
        return SILENT if self.silent else self.finding

    @classmethod
    def together(cls, sentences: Sequence[Sentence]) -> Sentence:
        """The same sentence, judged for several seeds."""
        readings = zip(*(sentence.parts for sentence in sentences), strict=True)
        parts = tuple(Part.together(parts) for parts in readings)
        return replace(sentences[0], parts=parts, by_seed=tuple(sentences))

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data."""
        return {
            "where": self.where,
            "says": self.says,
            "verdict": self.verdict,
            "finding": self.finding,
            "by_seed": [sentence.finding for sentence in self.by_seed],
            "parts": [part.to_dict() for part in self.parts],
            "silent": self.silent,
            "remark": self.remark,
        }


@dataclass(frozen=True)
class Study:
    """One of the paper's experiments.

    Attributes
    ----------
    name, title : str
    cases : tuple of Case
    judge : callable of Found
        The sentences that the cases decide, for one seed.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    judge: Callable[[Found], list[Sentence]]


def expected_errors(
    problem: PolicyEvaluation, learners: Mapping[str, Learner], steps: int, theta0: Any = None
) -> Exact:
    """Roots of the expected square errors, for the learners that have exact moments.

    E||v_hat - v||^2 = ||E v_hat - v||^2 + E||v_hat - E v_hat||^2, and so for Pi (T v_hat - v_hat);
    a deviation is the root of the second term.
    """
    phi, v = _array(problem.Phi), _array(problem.v_pi)
    bellman = _array(problem.Pi) @ _array(problem.Lambda)
    reward = _array(problem.Pi) @ _array(problem.r_pi)
    xi = _array(problem.xi).ravel()
    out: Exact = {}
    for name, learner in learners.items():
        if learner.has_memory:
            continue
        found = exact_moments(problem, learner, steps, theta0)
        mean = np.array([np.ravel(m) for m in found.mean], dtype=float).T
        squares = {
            "rmse": (found.expected_mse, phi @ mean - v.reshape(-1, 1)),
            "rmspbe": (found.expected_mspbe, bellman @ mean - reward.reshape(-1, 1)),
        }
        out[name] = {}
        with np.errstate(over="ignore", invalid="ignore"):  # beyond the floats it is infinite
            for error, (square, gap) in squares.items():
                whole = np.maximum(np.array(square, dtype=float), 0)
                out[name][error] = np.sqrt(whole)
                out[name][f"{error}_deviation"] = np.sqrt(np.maximum(whole - xi @ gap**2, 0))
    return out


def _array(x: Any) -> np.ndarray:
    return np.asarray(np.array(x, dtype=float))
