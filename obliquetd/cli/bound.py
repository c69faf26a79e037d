"""Which model and which learner a certificate is compared with: those that are named, else those that it holds."""

from __future__ import annotations

from typing import Any, NamedTuple

from obliquetd.cli.common import load
from obliquetd.cli.learners import made
from obliquetd.dynamics.binding import held_iteration, held_learner
from obliquetd.dynamics.fitting import Fitting
from obliquetd.dynamics.provenance import missing
from obliquetd.errors import InputError, LearnerError, ObliqueTDError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["Bound", "bound_to"]


OWN = "the model that it holds"


class Bound(NamedTuple):
    """What A is computed anew from.

    ``model`` and ``learner`` name the two for people; ``remarks`` are sentences on what a reader has to know.
    """

    problem: PolicyEvaluation | None
    rule: Learner | Fitting | None
    model: str | None
    learner: str | None
    remarks: tuple[str, ...] = ()


def bound_to(
    certificate: dict[str, Any], model: str | None, learner: str | None, numbers: dict[str, str]
) -> Bound:
    """The problem and the learner that a certificate has to speak of; None where neither is known.

    Raises
    ------
    InputError
        For one of the two where the certificate does not hold the other, and for numbers without a
        learner; says what is missing.
    """
    if numbers and learner is None:
        raise InputError(
            f"--{next(iter(numbers))} is a learner's; name the learner too, with --learner"
        )
    if certificate.get("claim") == "convergent":
        return _bound_to_iteration(certificate, model, learner)
    lacking = missing(certificate)
    if model is not None and learner is None and "the learner" in lacking:
        raise InputError(
            "--model and --learner go together here: the certificate holds no learner, as those of "
            "format 1 do not; give --learner as well"
        )
    if learner is not None and model is None and "the model" in lacking:
        raise InputError(
            "--model and --learner go together here: the certificate holds no model, as those of "
            "format 1 do not; give --model as well"
        )
    if model is None and learner is None and {"the model", "the learner"} & set(lacking):
        return Bound(None, None, None, None, (_unbound(lacking),))
    try:
        rule = made([learner], numbers)[0] if learner is not None else held_learner(certificate)
    except LearnerError as error:
        if learner is not None or model is not None:
            raise
        return Bound(None, None, None, None, (f"not checked: whose matrix A is, since {error}",))
    remarks: tuple[str, ...] = ()
    if model is not None:
        problem = load(model, None, None)
        remarks = _against_its_own(certificate, problem)
    else:
        problem = _held_model(certificate)
    return Bound(problem, rule, model or OWN, learner or rule.label, remarks)


def _bound_to_iteration(
    certificate: dict[str, Any], model: str | None, learner: str | None
) -> Bound:
    """The same for a certificate of convergence, which speaks of FQI or PFQI."""
    if learner is not None:
        raise InputError(
            f"--learner {learner}: the certificate speaks of an iteration, FQI or PFQI, and of no learner; "
            "leave --learner out"
        )
    lacking = missing(certificate)
    if model is None and {"the model", "the iteration"} & set(lacking):
        return Bound(None, None, None, None, (_unbound(lacking),))
    fitting = held_iteration(certificate)
    if model is not None:
        problem = load(model, None, None)
        return Bound(problem, fitting, model, repr(fitting), _against_its_own(certificate, problem))
    return Bound(_held_model(certificate), fitting, OWN, repr(fitting))


def _unbound(lacking: list[str]) -> str:
    told = (
        f"not checked: whose matrix A is, and that all weights move in that span; the certificate does not "
        f"hold {', '.join(lacking[:-1])}{' or ' if lacking[:-1] else ''}{lacking[-1]}. "
    )
    if "the iteration" in lacking:
        return told + "otd.iteration(problem, otd.FQI()).certificate() makes one that does"
    return told + (
        "--model checks both"
        if lacking[0] == "the model" and "the learner" not in lacking
        else "--model and --learner check both"
    )


def _held_model(certificate: dict[str, Any]) -> PolicyEvaluation:
    from obliquetd.formats import model_from_dict

    try:
        return model_from_dict(certificate["model"])
    except ObliqueTDError as error:
        raise InputError(
            f"the certificate's own model cannot be read: {error}. Name the model with --model"
        ) from error


def _against_its_own(certificate: dict[str, Any], problem: PolicyEvaluation) -> tuple[str, ...]:
    """A remark where the model that was named is not the one that the certificate holds."""
    from obliquetd.formats import model_to_dict

    held = certificate.get("model")
    if held is None or held == model_to_dict(problem):
        return ()
    return (
        "the certificate holds another model than the one that was named; A is the named one's",
    )
