"""Long work: bars while it lasts, a forecast where that is much, and a clean end on Ctrl-C."""

import contextlib
import signal

import pytest
import sympy as sp

from obliquetd.algebra import FieldArithmetic, parse_number, waiting
from obliquetd.algebra.waiting import Waiting
from obliquetd.errors import LongWorkWarning


@pytest.fixture
def drawn(monkeypatch):
    """What a screen would have seen."""
    seen = []

    @contextlib.contextmanager
    def screen():
        seen.append("open")
        try:
            yield lambda what, done, total: seen.append((what, done, total))
        finally:
            seen.append("closed")

    monkeypatch.setattr(Waiting, "drawn_by", screen)
    return seen


def test_short_work_is_not_told(drawn):
    with Waiting("counting", 3) as step:
        for _ in range(3):
            step()
    assert drawn == []


def test_work_beyond_a_moment_is_told_and_closed(drawn, monkeypatch):
    monkeypatch.setattr(waiting, "SOON", 0.0)
    with Waiting("counting", 3) as step:
        for _ in range(3):
            step()
    assert drawn == ["open", ("counting", 2, 3), ("counting", 3, 3), "closed"]


def test_what_takes_very_long_is_said_before(drawn, monkeypatch):
    now = iter([0.0, 1.0, 3.0, 4.0])
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(now))
    with Waiting("solving", 10_000) as step:
        step()
        with pytest.warns(LongWorkWarning, match="of which 2 took 3 s: about 250 more minutes"):
            step()
        step()
    assert drawn[-1] == "closed"


def system(n, degree):
    x = sp.Symbol("x")
    field = FieldArithmetic([x])
    rows = [
        [x ** ((i * j) % degree) + (i == j) * 7 + i + 2 * j for j in range(n)] for i in range(n)
    ]
    native = [[field.scalar(parse_number(value)) for value in row] for row in rows]
    return field.matrix(native, (n, n)), field.column([field.one] * n)


def test_an_interrupt_ends_the_bar_and_leaves_the_matrix_as_it_was(drawn, monkeypatch):
    """A real signal in the middle of a solve of some 2,000 points."""
    monkeypatch.setattr(waiting, "SOON", 0.0)
    A, b = system(14, 160)
    steps = []

    def interrupting(self):
        steps.append(1)
        if len(steps) == 20:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Waiting, "__call__", lambda self: (told(self), interrupting(self)))
    with pytest.raises(KeyboardInterrupt):
        A.solve(b)
    assert drawn[0] == "open"
    assert drawn[-1] == "closed"
    assert len(steps) == 20
    small, right = system(2, 3)
    assert (small @ small.solve(right) - right).is_zero()


told = Waiting.__call__
