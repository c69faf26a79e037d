"""Short marks in place of labels that have no room beside their curve; the legend says what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from obliquetd.plotting.frame import LABEL
from obliquetd.plotting.labels import Anchor, placed
from obliquetd.plotting.outcomes import Stroke
from obliquetd.plotting.routes import Curve, Node, text_size

__all__ = ["Placed", "labelled", "marks"]

ROUNDS = 4
"""How often labels are placed anew after some of them became marks."""

Group = tuple[str, int | None]
"""What labels have in common that share a mark: their text, and the action whose colour they have."""
Placed = tuple[list[tuple[str, Any, int]], dict[Group, str], int, int]
"""Each label's text, place and stroke; the marks; how many cover something, and how many are unclear."""


def marks(taken: Iterable[str]) -> Iterator[str]:
    """Letters, and then pairs of them, that no state and no action is called by.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(marks(["a", "c"]), 3))
    ['b', 'd', 'e']
    """
    known = set(taken)
    letters = ascii_lowercase + ascii_uppercase
    for mark in (*letters, *map("".join, product(letters, letters))):
        if mark not in known:
            yield mark


def labelled(
    texts: dict[int, str],
    anchors: dict[int, Anchor],
    strokes: Sequence[Stroke],
    curves: Sequence[Curve],
    blocks: Sequence[Node],
    taken: Iterable[str] | None,
) -> Placed:
    """Labels with their places; marks for those that have no clear one, and for all that say the same.

    ``taken`` are the names that are no marks; with None no label becomes one.
    """
    group = {k: (text, strokes[k].action) for k, text in texts.items()}
    found: dict[Group, str] = {}
    fresh = marks(taken or ())
    for _ in range(ROUNDS):
        shown = {k: found.get(group[k], text) for k, text in texts.items()}
        sizes = [text_size(shown[k], LABEL) for k in anchors]
        places, beside, wrong, vague = placed(sizes, list(anchors.values()), curves, blocks)
        bad = [group[k] for k, b in zip(anchors, wrong | vague, strict=True) if b]
        more = dict.fromkeys(x for x in bad if x not in found)
        if taken is None or not more:
            break
        found |= {x: next(fresh) for x in more}
    told = [shown[k] for k in anchors]
    return list(zip(told, places, beside, strict=True)), found, int(wrong.sum()), int(vague.sum())
