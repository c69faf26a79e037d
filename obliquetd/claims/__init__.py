"""Statements of a paper as objects that can be checked."""

from obliquetd.claims import paper as paper
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
    "verify",
]
