"""What people see while they wait: bars on standard error, where that is a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from obliquetd.algebra.waiting import Waiting
from obliquetd.display import visible

__all__ = ["Report", "progress", "said"]

Report = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is."""


@contextmanager
def progress(*, show: bool = True) -> Iterator[Report]:
    """Bars that a call moves: one for each name, made when the name is first heard.

    Parameters
    ----------
    show : bool
        False draws nothing, as where the work is short. Nothing is drawn either where standard error
        is no terminal.

    Examples
    --------
    >>> with progress() as report:
    ...     for k in range(3):
    ...         report("counting", k + 1, 3)
    """
    if not show or sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(),
    )  # fmt: skip
    bars: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:

        def report(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = drawn.add_task(visible(what), total=total)
            drawn.update(bars[what], completed=done, total=total)

        yield report


@contextmanager
def said(text: str, after: float = 0.5) -> Iterator[None]:
    """A line on standard error, where that is a terminal and the work takes longer than some seconds.

    Examples
    --------
    >>> with said("compiling"):
    ...     pass
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(after, lambda: print(visible(text), file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


Waiting.drawn_by = progress
