"""Statements of a paper as objects that can be checked."""

from obliquetd.claims import (
    projections,  # the order of import is the order of the paper
    criterion,
    traces,
    emphatic,
    two_state,
    open_questions,
)
from obliquetd.claims.claim import (
    REGISTRY,
    Claim,
    ClaimResult,
    Counterexample,
    Outcome,
    Registry,
    Verdict,
    claim,
    verify,
)

__all__ = [
    "REGISTRY",
    "Claim",
    "ClaimResult",
    "Counterexample",
    "Outcome",
    "Registry",
    "Verdict",
    "claim",
    "projections",
    "verify",
]
