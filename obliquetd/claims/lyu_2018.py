"""The pack of the paper, Lyu et al. (2018)."""

from __future__ import annotations

from obliquetd.claims.pack import Pack, Reference
from obliquetd.claims.places import ELSEWHERE, SECTIONS, place_in_paper, section_of
from obliquetd.claims.registry import REGISTRY
from obliquetd.claims.result import Claim

__all__ = ["PACK"]


def _section(one: Claim) -> str:
    return section_of(one.where)


def _place(one: Claim) -> float | None:
    return place_in_paper(one.where)


PACK = Pack(
    "lyu-2018",
    "Stable and Efficient Policy Evaluation",
    "of the paper",
    (
        Reference(
            "Lyu et al. 2018",
            "D. Lyu, B. Liu, M. Geist, W. Dong, S. Biaz, Q. Wang",
            2018,
            "Stable and Efficient Policy Evaluation",
            "IEEE Transactions on Neural Networks and Learning Systems",
        ),
    ),
    {**SECTIONS, ELSEWHERE: "Claims"},
    REGISTRY,
    _section,
    _place,
)
"""Its claims are registered by :mod:`obliquetd.claims.paper`."""
