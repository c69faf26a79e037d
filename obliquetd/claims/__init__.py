"""Statements of a paper as objects that can be checked."""

from obliquetd.claims import paper as paper
from obliquetd.claims.assumptions import Assumption
from obliquetd.claims.battery import battery, decide_identity, letters, matrix_of
from obliquetd.claims.claim import Counterexample, Outcome, Verdict, refuted
from obliquetd.claims.pack import PACKS, Pack, Reference, pack_of
from obliquetd.claims.registry import REGISTRY, Registry, claim, tally, verify
from obliquetd.claims.result import Claim, ClaimResult
from obliquetd.claims.setting import Dropped, Setting
from obliquetd.words import letter

__all__ = [
    "PACKS",
    "REGISTRY",
    "Assumption",
    "Claim",
    "ClaimResult",
    "Counterexample",
    "Dropped",
    "Outcome",
    "Pack",
    "Reference",
    "Registry",
    "Setting",
    "Verdict",
    "battery",
    "claim",
    "decide_identity",
    "letter",
    "letters",
    "matrix_of",
    "pack_of",
    "refuted",
    "tally",
    "verify",
]
