"""Work that may take long: told while it lasts, and what it will take where that is much.

The bars are drawn by whoever has a screen: :mod:`obliquetd.progress` sets :data:`Waiting.drawn_by`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, ClassVar

from obliquetd.errors import LongWorkWarning

__all__ = ["Waiting"]

SOON = 2.0
"""Seconds that pass without a bar."""
LONG = 300.0
"""Seconds from which a warning says how long it will take."""


class Waiting:
    """Counts the steps of some work, as a context; an exception, as of Ctrl-C, ends the bar.

    Parameters
    ----------
    what : str
    total : int
        The number of steps.
    """

    drawn_by: ClassVar[Callable[[], AbstractContextManager[Any]] | None] = None

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self._report: Any = None
        self._said = False
        self._open = ExitStack()

    def __enter__(self) -> Waiting:
        self._begin = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def __call__(self) -> None:
        """One more step is done."""
        self.done += 1
        if self._report is not None:
            self._report(self.what, self.done, self.total)
            return
        passed = time.monotonic() - self._begin
        if passed < SOON:
            return
        self._warn(passed)
        drawn_by = type(self).drawn_by
        if drawn_by is not None:
            self._report = self._open.enter_context(drawn_by())

    def _warn(self, passed: float) -> None:
        rest = passed / self.done * (self.total - self.done)
        if rest > LONG and not self._said:
            self._said = True
            warnings.warn(
                f"{self.what} takes {self.total:,} steps, of which {self.done:,} took {passed:.0f} s: "
                f"about {rest / 60:,.0f} more minutes. Substitute numbers for some of the symbols to "
                "be done sooner (Ctrl-C ends this)",
                LongWorkWarning,
                stacklevel=2,
            )
