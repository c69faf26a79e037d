"""Calls in other processes, which leave an interrupt to the one that began them."""

from __future__ import annotations

import multiprocessing.resource_tracker
import os
import signal
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["in_processes"]


def in_processes(
    calls: Iterable[Any], return_as: str = "generator", **options: Any
) -> Iterator[Any]:
    """The results of joblib's delayed calls, as they come.

    Ctrl-C reaches every process of a terminal. A worker that is just importing would die of
    it with a traceback; here the first process alone hears it, and ends its workers.

    Parameters
    ----------
    calls : iterable of joblib.delayed calls
    return_as : {"generator", "generator_unordered"}
    **options
        Of `joblib.Parallel`, such as ``n_jobs``.

    Examples
    --------
    >>> from joblib import delayed
    >>> list(in_processes((delayed(abs)(x) for x in (-3, 4)), n_jobs=1))
    [3, 4]
    """
    from joblib import Parallel
    from joblib.externals.loky.backend import resource_tracker

    if (
        os.name == "posix"
    ):  # the trackers unblock the interrupt when they start, so they start first
        multiprocessing.resource_tracker.ensure_running()
        resource_tracker.ensure_running()
    # joblib warns in the thread that minds its processes where one of them ended while it was idle;
    # where warnings are errors that thread would die of it, and the calls wait for ever
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    with _interrupts_waiting():  # processes and threads inherit what their maker blocks
        results = Parallel(return_as=return_as, **options)(calls)
    yield from results


@contextmanager
def _interrupts_waiting() -> Iterator[None]:
    """Ctrl-C is heard afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
