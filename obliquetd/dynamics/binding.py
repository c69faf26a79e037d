"""Whether a certificate speaks of a given problem and learner, or iteration."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.algebra import parse_number
from obliquetd.dynamics import check
from obliquetd.dynamics.fitting import Fitting, fitting_from_dict
from obliquetd.dynamics.iteration import Iteration, iteration
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.dynamics.sampling import SAMPLINGS
from obliquetd.errors import InputError
from obliquetd.learners import Learner
from obliquetd.learners.record import learner_from_dict
from obliquetd.problem import PolicyEvaluation

__all__ = ["check_certificate", "held_iteration", "held_learner", "held_sampling"]


def check_certificate(
    certificate: Any,
    problem: PolicyEvaluation | None = None,
    learner: Learner | Fitting | None = None,
    *,
    sampling: str | None = None,
) -> bool:
    """Whether a certificate proves its claim, and speaks of the given problem and learner.

    Parameters
    ----------
    certificate : dict
        As ``MeanDynamics.certificate`` returns it, or read from JSON.
    problem : PolicyEvaluation, optional
        Exact. Where it is given with a learner, A and the span of all updates are computed anew:
        the certificate has to hold that A, and a basis of that span. Without it, a certificate
        proves a claim on the matrix that it holds, whosever that is.
    learner : Learner, FQI or PFQI, optional
        The one that the certificate holds unless given, where there is a problem. A certificate of
        format 1, from before certificates held their learner, needs it. For an iteration A is the
        factor of its errors, and the claim has to be that its powers tend to 0.
    sampling : {"trajectory", "iid"}, optional
        As for :func:`mean_dynamics`; that of the certificate unless given.

    Returns
    -------
    bool
        True, or False; a malformed certificate proves nothing and is False.

    Notes
    -----
    :mod:`obliquetd.dynamics.check` says what is checked of the matrices, and why it suffices; it needs
    nothing but Python's fractions. Where a trajectory may be in one of several closed classes,
    a certificate of one of them proves instability, and stability only of that class: False.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, TD
    >>> problem = two_state()
    >>> found = mean_dynamics(problem, TD()).certificate()
    >>> check_certificate(found, problem, TD()), check_certificate(found, problem, ETD())
    (True, False)
    """
    if problem is None and learner is not None:
        raise InputError(
            "a certificate is bound to a problem and a learner together; give the problem as well"
        )
    if not check.check_certificate(certificate):
        return False
    if problem is None:
        return True
    if learner is None:
        converges = certificate["claim"] == "convergent"
        learner = held_iteration(certificate) if converges else held_learner(certificate)
    if isinstance(learner, Fitting):
        return _speaks_of_iteration(certificate, iteration(problem, learner))
    if certificate["claim"] == "convergent":
        return False  # of an iteration; of a learner's A it says nothing
    sampling = sampling or held_sampling(certificate)
    found = mean_dynamics(problem, learner, sampling=sampling)
    if problem.arithmetic != "exact" or found.learner.symbols:
        raise InputError(
            f"a certificate is one of rationals, and {problem!r} with {learner!r} is not exact; "
            "use arithmetic='exact', or substitute numbers for the symbols"
        )
    if certificate["claim"] == "stable" and len(found.classes) > 1:
        return False
    return any(_speaks_of(certificate, dynamics) for dynamics in found.classes)


def held_learner(certificate: dict[str, Any]) -> Learner:
    """The learner that a certificate holds.

    Raises
    ------
    InputError
        Where it holds none, as one of format 1; LearnerError where it does not tell it in full.
    """
    if certificate.get("learner") is None:
        raise InputError(
            "the certificate does not say of which learner it speaks, as those of format 1 do not; give "
            "the learner as well"
        )
    return learner_from_dict(certificate["learner"])


def held_iteration(certificate: dict[str, Any]) -> Fitting:
    """The iteration that a certificate of convergence holds.

    Raises
    ------
    InputError
        Where it holds none, as one that an earlier version made.
    """
    if certificate.get("iteration") is None:
        raise InputError(
            "the certificate does not hold the iteration that it speaks of, as those of earlier versions do not; "
            "give the iteration as well, otd.FQI() or otd.PFQI(alpha, updates), or make the certificate anew"
        )
    return fitting_from_dict(certificate["iteration"])


def held_sampling(certificate: dict[str, Any]) -> str | None:
    """The sampling that a certificate holds; None where it holds none.

    Raises
    ------
    InputError
        Where it holds something else.
    """
    found = certificate.get("sampling")
    if found is not None and found not in SAMPLINGS:
        raise InputError(
            f"the certificate says that transitions are sampled by {found!r}; expected one of "
            f"{', '.join(map(repr, SAMPLINGS))}. Make the certificate anew, or give the sampling as well"
        )
    return found


def _speaks_of_iteration(certificate: dict[str, Any], found: Iteration) -> bool:
    """Whether A is the factor of the iteration's errors, on all weights, and the claim that its powers tend to 0."""
    if found.problem.arithmetic != "exact" or found.fitting.symbols:
        raise InputError(
            f"a certificate is one of rationals, and {found!r} is not exact; use arithmetic='exact', or "
            "substitute numbers for the symbols"
        )
    A = check.matrix(certificate["A"])
    theirs = sp.Matrix([[parse_number(x) for x in row] for row in A])
    whole = len(certificate["quotient"]) == len(A)
    return certificate["claim"] == "convergent" and whole and theirs == sp.Matrix(found.factor)


def _speaks_of(certificate: dict[str, Any], dynamics: MeanDynamics) -> bool:
    """Whether A is the matrix of the certificate, and its basis spans U."""
    found = dynamics.expectation
    size = found.rule.size
    A, B = (
        [[parse_number(x) for x in row] for row in check.matrix(certificate[key])]
        for key in ("A", "basis")
    )
    if found.A.rows() != A:
        return False
    theirs = found.arithmetic.matrix(B, (size, len(B[0])))
    ours = found.span.basis
    if theirs.shape[1] != ours.shape[1]:
        return False
    # the basis of U is the identity at its pivots: B = U B[pivots] where B is in the span of U
    return (ours @ found.span.coordinates(theirs) - theirs).is_zero()
