"""What a reproduced experiment consists of: cases that run, and sentences that they decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquetd.dynamics import exact_moments
from obliquetd.experiments import Experiment, Sweep
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.reproduction.evidence import Part, Verdict

__all__ = ["Case", "Exact", "Found", "Sentence", "Study", "expected_errors"]

Found = Mapping[str, Sweep]
"""What the cases gave, by their names."""

Exact = dict[str, dict[str, np.ndarray]]
"""For each learner, roots of its exact expected square errors at steps 0, 1, 2, ..."""


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
    grid : sequence of learner classes
        What ``--sweep`` varies; none where the case only serves a verdict.
    lam : number
        The trace parameter of the grid.
    exact : callable of learners, optional
        The exact expected curves, of those that have them.
    remark : str
        Stands under the figure: why there is no exact curve, or what a line shows.
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
    grid: Sequence[type[Learner]] = ()
    lam: Any = 0
    exact: Callable[[Mapping[str, Learner]], Exact] | None = None
    remark: str = ""
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
        Each a measurable reading; the sentence holds where all do.
    remark : str
    decided : Verdict, optional
        In place of parts, where an exact argument decides.
    """

    where: str
    says: str
    parts: tuple[Part, ...]
    remark: str = ""
    decided: Verdict | None = None

    @property
    def verdict(self) -> Verdict:
        """Of all parts together."""
        verdicts = [self.decided] if self.decided else [part.verdict for part in self.parts]
        if "does not hold" in verdicts:
            return "does not hold"
        return "holds" if set(verdicts) == {"holds"} else "cannot be decided"

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data."""
        return {
            "where": self.where,
            "says": self.says,
            "verdict": self.verdict,
            "parts": [part.to_dict() for part in self.parts],
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
        The sentences that the cases decide.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    judge: Callable[[Found], list[Sentence]]


def expected_errors(
    problem: PolicyEvaluation, learners: Mapping[str, Learner], steps: int, theta0: Any = None
) -> Exact:
    """Roots of the expected square errors, for the learners that have exact moments."""
    out: Exact = {}
    for name, learner in learners.items():
        if not learner.has_memory:
            found = exact_moments(problem, learner, steps, theta0)
            out[name] = {
                "rmse": np.sqrt(np.maximum(found.expected_mse, 0)),
                "rmspbe": np.sqrt(np.maximum(found.expected_mspbe, 0)),
            }
    return out
