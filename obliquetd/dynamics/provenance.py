"""What a certificate says of where its matrix comes from: the model, the learner, the sampling and the version.

None of it is part of the proof, which :mod:`obliquetd.dynamics.check` reads from the matrices alone. It is
there so that a reader, years later, can make the matrix again:
``otd.check_certificate(certificate, problem, learner)`` or ``obliquetd check certificate.json``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from obliquetd.errors import ObliqueTDError
from obliquetd.learners import Learner
from obliquetd.learners.record import learner_to_dict
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.record import model_to_dict

__all__ = ["FORMAT", "HELD", "missing", "provenance"]

FORMAT = 2
"""The format of certificates that hold their model; 1 is that of those before, which named no number."""
HELD = {
    "model": "the model",
    "learner": "the learner",
    "sampling": "how transitions are sampled",
    "made_by": "the version of obliquetd that made it",
}
"""What a certificate of format 2 holds besides the proof, in words."""
OF_ITERATIONS = {
    "model": HELD["model"],
    "iteration": "the iteration",
    "made_by": HELD["made_by"],
}
"""The same for a certificate of convergence."""


def provenance(
    problem: PolicyEvaluation, learner: Learner | None = None, sampling: str | None = None
) -> dict[str, Any]:
    """Format, version, model, and where they are given learner and sampling, ready for JSON.

    A model whose labels JSON cannot hold is None, and ``why_no_model`` says why.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import TD
    >>> found = provenance(two_state(), TD(), "trajectory")
    >>> found["format"], found["learner"]["key"], found["model"]["discount"]
    (2, 'td', '9/10')
    """
    found: dict[str, Any] = {
        "format": FORMAT,
        # an import statement here would be a circle
        "made_by": f"obliquetd {import_module('obliquetd').__version__}",
    }
    if learner is not None:
        found |= {"learner": learner_to_dict(learner), "sampling": sampling}
    try:
        return {**found, "model": model_to_dict(problem)}
    except ObliqueTDError as error:
        return {**found, "model": None, "why_no_model": str(error)}


def missing(certificate: dict[str, Any]) -> list[str]:
    """What a certificate does not hold of where its matrix comes from, in words; all of it for an old one.

    Examples
    --------
    >>> missing({"claim": "stable"})[:2]
    ['the model', 'the learner']
    """
    held = OF_ITERATIONS if certificate.get("claim") == "convergent" else HELD
    return [words for name, words in held.items() if certificate.get(name) is None]
