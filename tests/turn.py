"""A part of a long check for each run of CI, another one each time; all of it where nobody says whose turn it is."""

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def part(things: Iterable[T], of: int) -> list[T]:
    """Every ``of``-th of the things, from the one that OBLIQUETD_TURN (a hexadecimal number, as of a commit) says on.

    Examples
    --------
    >>> len(part(range(9), 3)) in (3, 9)
    True
    """
    listed, turn = list(things), os.environ.get("OBLIQUETD_TURN")
    return listed if turn is None else listed[int(turn[:12], 16) % of :: of]


def turn_of(of: int) -> bool:
    """Whether it is the turn of something that comes every ``of``-th time."""
    return bool(part([0, *[None] * (of - 1)], of)[0] == 0)


def quick_ones(things: Iterable[Any], kept: slice) -> list[Any]:
    """Parameters of a test, those outside the slice among the longer checks."""
    listed = list(things)
    quick = set(range(len(listed))[kept])
    return [
        pytest.param(x, marks=() if k in quick else pytest.mark.slow) for k, x in enumerate(listed)
    ]
