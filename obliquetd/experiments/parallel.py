"""Many tasks on all cores, or on a cluster, so that a worker that dies loses none of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from obliquetd.errors import BackendError, InputError, how_to_install
from obliquetd.processes import in_processes

__all__ = ["BACKENDS", "check_workers", "run_tasks"]

BACKENDS = ("cores", "dask")
"""Processes on this machine, or the workers of a Dask cluster that is running."""

PATIENCE = 3
"""How many times in a row workers may die without one task done."""

CONNECT = 10
"""Seconds to wait for a scheduler's answer."""

T = TypeVar("T")
R = TypeVar("R")


def run_tasks(
    function: Callable[[T], R],
    tasks: Sequence[T],
    *,
    workers: int | None = None,
    backend: str = "cores",
    scheduler: str | None = None,
) -> Iterator[tuple[int, R]]:
    """Yield (position, function(task)) as tasks are done, in any order.

    Parameters
    ----------
    function : callable
        Of one task; it and the tasks can be pickled.
    tasks : sequence
    workers : int, optional
        Processes; the number of cores unless given. 1 computes in this process.
    backend : {"cores", "dask"}
    scheduler : str, optional
        The address of the Dask scheduler, as in ``tcp://127.0.0.1:8786``.

    Raises
    ------
    BackendError
        A scheduler that does not answer, Dask that is not installed, or workers that die
        again and again.

    Examples
    --------
    >>> sorted(run_tasks(abs, [-3, 4], workers=1))
    [(0, 3), (1, 4)]
    """
    check_workers(workers, backend, scheduler)
    if backend == "dask":
        with _cluster(str(scheduler)):
            yield from _joblib(function, tasks, n_jobs=-1)
        return
    count = min(workers or os.cpu_count() or 1, len(tasks))
    if count <= 1:
        yield from ((i, function(task)) for i, task in enumerate(tasks))
        return
    yield from _processes(function, tasks, count)


def check_workers(
    workers: int | None = None, backend: str = "cores", scheduler: str | None = None
) -> None:
    """InputError for workers that cannot be meant."""
    if workers is not None and (type(workers) is not int or workers < 1):
        raise InputError(f"workers is {workers!r}; expected a positive integer")
    if backend not in BACKENDS:
        raise InputError(f"backend is {backend!r}; expected one of {', '.join(BACKENDS)}")
    if (backend == "dask") != (scheduler is not None):
        raise InputError("backend='dask' and scheduler=ADDRESS go together; give both or neither")


def _processes(
    function: Callable[[T], R], tasks: Sequence[T], count: int
) -> Iterator[tuple[int, R]]:
    """Where a process dies, the pool dies with it; what was not yet done is handed to a new one."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    left, deaths = list(range(len(tasks))), 0
    while left:
        try:
            for k, result in _joblib(function, [tasks[i] for i in left], n_jobs=count):
                deaths = 0
                yield left[k], result
                left[k] = -1
        except BrokenProcessPool as error:
            deaths += 1
            if deaths == PATIENCE:
                raise BackendError(
                    f"worker processes died {PATIENCE} times in a row ({error}); finished tasks are "
                    "kept, and the same command goes on from them. Out of memory? Use fewer workers"
                ) from None
        left = [i for i in left if i >= 0]


def _joblib(
    function: Callable[[T], R], tasks: Sequence[T], **options: Any
) -> Iterator[tuple[int, R]]:
    from joblib import delayed

    calls = (delayed(_numbered)(function, k, task) for k, task in enumerate(tasks))
    yield from in_processes(calls, "generator_unordered", batch_size=1, **options)


def _numbered(function: Callable[[T], R], k: int, task: T) -> tuple[int, R]:
    return k, function(task)


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    """joblib's Dask backend on a running scheduler."""
    try:
        from distributed import Client
    except ImportError:
        raise BackendError(
            "the Dask backend needs the package distributed, which is not installed; "
            + how_to_install("distributed>=2024.1", "dask")
        ) from None
    from joblib import parallel_config

    try:
        client = Client(address, timeout=CONNECT, set_as_default=True)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise BackendError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}: {error}); start one with "
            "'dask scheduler' and 'dask worker ADDRESS', or leave --backend out to use the cores"
        ) from None
    try:
        if not client.scheduler_info()["workers"]:
            raise BackendError(
                f"the Dask scheduler at {address} has no workers; start one with 'dask worker {address}'"
            )
        with parallel_config(backend="dask", wait_for_workers_timeout=CONNECT):
            yield
    finally:
        client.close()
