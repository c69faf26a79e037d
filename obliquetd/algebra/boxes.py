"""Ranges of one symbol on which a learner is proved stable, or unstable, throughout.

A range is a ball of the symbol, and A on W (:mod:`obliquetd.dynamics.symbol`) a matrix of balls that holds
A(gamma) for every gamma in it. One symmetric K with A'K + KA positive definite for all of them proves the
verdict for the whole range (:func:`obliquetd.algebra.enclosures.lyapunov_side`); a range that it does not
prove is halved. What is left are small gaps around the values where an eigenvalue meets the imaginary axis.

In a gap, let all eigenvalues but one be proved to be right of the axis, and that one real. Then A is
stable just where det A > 0; where moreover the derivative of det A has no zero, there is one such value
at most, found by its sign at the ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import flint
import sympy as sp

from obliquetd.algebra.enclosures import PRECISION, eigenvalues, lyapunov_side
from obliquetd.algebra.float_proofs import sides_between
from obliquetd.algebra.functions import is_finite, rational_inside, root_between
from obliquetd.algebra.numbers import public_number
from obliquetd.algebra.ranges import InOneSymbol, OnRange, ends_in_floats
from obliquetd.algebra.ways import Way

__all__ = ["Box", "Boxes", "all_boxes", "proved_boxes"]

HALVINGS: Way[int] = 14
"""How often a range is halved before the exact route is asked."""
PIECES = 4
"""Into how many a range is divided that floats leave open: a power of two."""
BISECTIONS = 60
"""How close to a zero its ends are brought; a rational zero is the simplest number between them."""
MOST: Way[int] = 600
"""Ranges that are looked at."""


@dataclass(frozen=True)
class Box:
    """A range and its side: 1 stable, -1 unstable, None for a gap; closed where that is proved of its ends too."""

    low: Any
    high: Any
    side: int | None
    closed: bool = True


def proved_boxes(parts: Sequence[OnRange]) -> list[list[Box]]:
    """Each range as boxes from left to right, neighbours of one side joined.

    Floats with radii are asked first, and balls of more bits where they leave it open.
    """
    out = []
    for part, boxes in zip(parts, _in_floats(parts), strict=True):
        least = (part.high - part.low) / 2**HALVINGS
        done: list[Box] = []
        for box in boxes:
            if box.side is not None:
                _append(done, box)
                continue
            with flint.ctx.workprec(PRECISION):
                halvings = 0 if box.high - box.low <= 2 * least else HALVINGS
                for inner in _halved(box.low, box.high, partial(_side, part), halvings):
                    _append(done, inner)
        out.append(done)
    return out


def _append(done: list[Box], box: Box) -> None:
    if done and done[-1].side == box.side:
        done[-1] = Box(done[-1].low, box.high, box.side)
    else:
        done.append(box)


def _in_floats(parts: Sequence[OnRange]) -> list[list[Box]]:
    """Boxes by floats, where all that are open are looked at together, and divided into :data:`PIECES` each."""
    done: list[list[Box]] = [[] for _ in parts]
    waiting = [[(part.low, part.high)] for part in parts]
    looked = depth = 0
    while any(waiting):
        sides = iter(_sides_in_floats(parts, waiting))
        looked += sum(map(len, waiting))
        deeper = depth < HALVINGS and looked < MOST
        depth += PIECES.bit_length() - 1
        divided: list[list[Any]] = [[] for _ in parts]
        for boxes, inner, ends in zip(done, divided, waiting, strict=True):
            for low, high in ends:
                side = next(sides)
                if side is None and deeper:
                    cuts = [low + (high - low) * k / PIECES for k in range(PIECES)]
                    inner += itertools.pairwise([*cuts, high])
                else:
                    boxes.append(Box(low, high, side))
        waiting = divided
    out: list[list[Box]] = [[] for _ in parts]
    for joined, boxes in zip(out, done, strict=True):
        for box in sorted(boxes, key=lambda x: x.low):
            _append(joined, box)
    return out


def _sides_in_floats(parts: Sequence[OnRange], waiting: list[list[Any]]) -> list[int | None]:
    """The side of each box of each part, or None."""
    balls = ends_in_floats(parts, waiting)
    return [None] * sum(map(len, waiting)) if balls is None else sides_between(*balls)


def _halved(low: Any, high: Any, side: Callable[[Any, Any], int | None], most: int) -> list[Box]:
    """Boxes from left to right; one that is open is halved, up to ``most`` times."""
    done: list[Box] = []
    waiting = [(low, high, 0)]
    looked = 0
    while waiting:
        a, b, depth = waiting.pop()
        looked += 1
        found = side(a, b)
        if found is None and depth < most and looked < MOST:
            middle = (a + b) / 2
            waiting += [(middle, b, depth + 1), (a, middle, depth + 1)]
        else:
            _append(done, Box(a, b, found))
    return done


def _side(part: OnRange, a: Any, b: Any) -> int | None:
    ends = part.ends(a, b)
    return lyapunov_side(*(A.tolist() for A in ends)) if all(map(is_finite, ends)) else None


@dataclass(frozen=True)
class Boxes:
    """What is known of a range: boxes from left to right, and single values to be decided.

    ``singular`` has the values where A on W is singular, ``narrowed`` those of them where U may be smaller
    than W; ``jumps`` those where A may have a value of its own; ``decided`` the ends that a box has with them.
    """

    boxes: list[Box]
    jumps: list[sp.Rational]
    singular: list[Any]
    narrowed: list[Any]
    decided: frozenset[Any] = frozenset()


def all_boxes(family: InOneSymbol) -> Boxes:
    """A range by boxes with public ends."""
    known = Boxes([], [public_number(x) for x in family.jumps], [], [])
    for part, boxes in zip(family.ranges, proved_boxes(family.ranges), strict=True):
        for box in boxes:
            found = None if box.side else _crossing(part, box)
            if found is None:
                known.boxes.append(_public(box))
                continue
            known.boxes.extend(map(_public, found.boxes))
            known.singular.extend(found.singular)
            known.narrowed.extend(found.narrowed)
    decided = {end for b in known.boxes if b.closed and b.side for end in (b.low, b.high)}
    cuts = {public_number(part.low) for part in family.ranges[1:]}
    known.singular.extend(cuts - decided)
    regular = {public_number(x) for x in family.regular}
    return replace(known, decided=frozenset(decided & regular))


def _public(box: Box) -> Box:
    low, high = (x if isinstance(x, sp.Basic) else public_number(x) for x in (box.low, box.high))
    return Box(low, high, box.side, box.closed)


def _crossing(part: OnRange, gap: Box) -> Boxes | None:
    """A gap with at most one value where one real eigenvalue is 0, found; None where that is not proved."""
    a, b = gap.low, gap.high
    with flint.ctx.workprec(PRECISION):
        matrix = part.over(a, b)
        if not is_finite(matrix) or not _one_is_open(matrix) or not _monotone(part, a, b):
            return None
    try:
        at_a, at_b = (part.at(x).det() for x in (a, b))
    except ZeroDivisionError:
        return None
    if at_a * at_b >= 0:  # no zero inside, as there is one at most
        side = at_a + at_b
        return Boxes([Box(a, b, 1 if side > 0 else -1, False)], [], [], []) if side else None
    found = _root(part, a, b, at_a)
    if found is None:
        return None
    root, low, high = found
    sides = [Box(a, root, 1 if at_a > 0 else -1, False), Box(root, b, 1 if at_b > 0 else -1, False)]
    with flint.ctx.workprec(PRECISION):
        return Boxes(sides, [], [root], [] if part.spans(low, high) else [root])


def _one_is_open(matrix: Any) -> bool:
    """Whether all eigenvalues but one are right of the axis: it is real, since its conjugate is one too."""
    return sum(not v.real > 0 for v in eigenvalues(matrix.tolist())) == 1


def _monotone(part: OnRange, a: Any, b: Any) -> bool:
    """Whether the derivative of det A, a sum of determinants, has one sign."""
    value, slope = part.over(a, b), part.over(a, b, 1)
    if not is_finite(value) or not is_finite(slope):
        return False
    rows, size = value.tolist(), part.size
    total = flint.arb(0)
    for i, row in enumerate(slope.tolist()):
        total += flint.arb_mat([row if k == i else rows[k] for k in range(size)]).det()
    return bool(total > 0 or total < 0)


def _root(part: OnRange, a: Any, b: Any, at_a: Any) -> tuple[Any, Any, Any] | None:
    """The one zero of det A between two rationals, public, with native rationals next to it."""
    for _ in range(BISECTIONS):
        middle = (a + b) / 2
        value = part.at(middle).det()
        if value == 0:
            return public_number(middle), a, b
        a, b = (middle, b) if (value > 0) == (at_a > 0) else (a, middle)
    found = rational_inside(a, b)
    if part.at(found).det() == 0:
        return public_number(found), a, b
    determinant = part.determinant()
    root = None if determinant is None else root_between(determinant, a, b)
    return None if root is None else (root, a, b)
