"""The sections of the paper, and the one that a claim belongs to."""

from __future__ import annotations

import re

__all__ = ["ELSEWHERE", "SECTIONS", "place_in_paper", "section_of"]

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


ANCHORS = {
    "Definition 1": 25, "Lemma 1": 39, "Lemma 2": 59, "Proposition 1": 75, "Lemma 3": 93, "Lemma 4": 97,
    "Algorithm 1": 155, "definition of T^": 156, "identities": 157, "Hence, we can get": 160,
    "we get the TD equation": 164, "Algorithm 2": 166, "two-state example": 168, "Table I": 230,
}  # fmt: skip
"""What a place may name beside an equation, by ten times the equations before it."""
NEARBY = 3
"""How far before or after what it names a place is."""


def place_in_paper(where: str) -> float | None:
    """How far on in the paper a place is, in tenths of equations; None where it names nothing with a number.

    Examples
    --------
    >>> [place_in_paper(x) for x in ("Section III-C, Eqs. (11) to (14)", "Section III-C, after Eq. (8)", "Lemma 4")]
    [110, 83, 97]
    >>> place_in_paper("Section IV ('power series expansion')") is None
    True
    """
    bare = re.sub(r"^Sections? [IVX]+(?:-[A-D])?,? ?", "", where)
    found = [(m.start(), 10 * int(m[1])) for m in re.finditer(r"Eqs?\. \((\d+)\)", bare)]
    found += [(bare.find(name), rank) for name, rank in ANCHORS.items() if name in bare]
    if not found:
        return None
    start, rank = min(found)
    before = bare[:start].rstrip().rsplit(" ", 1)[-1].lower()
    return rank + {"after": NEARBY, "before": -NEARBY}.get(before, 0)
