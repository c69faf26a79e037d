"""The sections of the paper, and the one that a claim belongs to."""

from __future__ import annotations

import re

__all__ = ["ELSEWHERE", "SECTIONS", "section_of"]

SECTIONS = {
    "Abstract": "Title and abstract",
    "I": "Introduction",
    "II-A": "Reinforcement learning",
    "II-B": "Oblique projection",
    "II-C": "Weighted oblique projection",
    "III-A": "Motivation",
    "III-B": "Approximation criteria",
    "III-C": "SETD algorithm design",
    "III-D": "Extension to eligibility traces",
    "IV": "Related work, and the two-state example",
    "V": "Experimental study",
    "V-A": "On-policy comparison",
    "V-B": "Off-policy comparison",
}
"""The sections that claims speak of, in the order of the paper, with their titles."""
ELSEWHERE = ""
"""The section of a claim that is not on the paper."""
NUMBERED = {
    "Definition 1": "II-B", "Lemma 1": "II-B", "Lemma 2": "II-C", "Proposition 1": "III-B", "Lemma 3": "III-C",
    "Lemma 4": "III-C", "Table I": "IV", "Eq. (1)": "II-A", "Eq. (2)": "II-A",
}  # fmt: skip


def section_of(where: str) -> str:
    """The section in which a place is: the first one that it names.

    Examples
    --------
    >>> section_of("Section III-C, Eq. (9)"), section_of("Lemma 1, proof (II-B)"), section_of("Title and Abstract")
    ('III-C', 'II-B', 'Abstract')
    >>> section_of("a note of my own")
    ''
    """
    if where.startswith(("Abstract", "Title")):
        return "Abstract"
    found = re.match(r"Sections? ([IVX]+(?:-[A-D])?)", where)
    if found is not None and found[1] in SECTIONS:
        return found[1]
    return next(
        (section for begin, section in NUMBERED.items() if where.startswith(begin)), ELSEWHERE
    )
