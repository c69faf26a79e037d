"""The report on the paper's claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from obliquetd.claims import ClaimResult
from obliquetd.report.mathml import mathml
from obliquetd.report.model import data_link

__all__ = ["ClaimSection", "claim_sections"]


@dataclass(frozen=True)
class ClaimSection:
    """One claim: its formula as MathML, its verdict, and the counterexample as a link."""

    id: str
    title: str
    where: str
    formula: Markup
    verdict: str
    evidence: str
    correction: str
    counterexample: str
    observed: dict[str, str]
    origin: str
    assumptions: list[dict[str, str]]


def claim_sections(results: list[ClaimResult]) -> list[ClaimSection]:
    """What a page shows of each result."""
    out = []
    for r in results:
        data: dict[str, Any] = r.to_dict()
        example = data["counterexample"]
        out.append(
            ClaimSection(
                r.id, r.claim.title, r.claim.where, mathml(r.statement, block=True), r.verdict,
                r.evidence, r.outcome.correction or "",
                data_link(example["model"]) if example else "",
                {k: str(v) for k, v in example["observed"].items()} if example else {},
                r.origin,
                [{k: str(a[k]) for k in ("name", "statement", "needed", "evidence")} for a in data["assumptions"]],
            )
        )  # fmt: skip
    return out
