"""Forked workers for checks that may hang or die: such a worker is killed and replaced."""

import multiprocessing
import os
import time
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

__all__ = ["Outcome", "run_limited"]

WALL = 12
"""How many times its limit a task may take on a machine that is busy with other things."""


@dataclass(frozen=True)
class Outcome:
    """What became of a task: ``how`` is "done", "raised", "hung" or "died"."""

    task: Any
    how: str
    value: Any = None


class Worker:
    """One process that answers one task after the other over a pipe."""

    def __init__(self, function):
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(function, other, os.getpid()), daemon=True
        )
        with warnings.catch_warnings():  # a fork beside threads: the child only computes
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        other.close()
        self.task = None

    def give(self, task):
        self.task, self.began, self.used = task, time.monotonic(), self.cpu()
        self.pipe.send(task)

    def cpu(self):
        """Seconds of computing time so far; 0 where the system does not tell."""
        try:
            text = Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:
            return 0.0
        user, system = text.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def is_over(self, seconds):
        """By computing time, so that a crowded machine is no hang; by the clock for one that sleeps."""
        late = time.monotonic() - self.began
        return late > seconds and (self.cpu() - self.used > seconds or late > WALL * seconds)

    def kill(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(function, pipe, parent):
    while True:
        while not pipe.poll(1):
            if os.getppid() != parent:  # it was killed, and cannot close its end everywhere
                return
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            answer = ("done", function(task))
        except BaseException:
            answer = ("raised", traceback.format_exc())
        pipe.send(answer)


def run_limited(function, tasks, *, seconds, workers=2):
    """Yield an Outcome for each task as it comes; the function and the tasks need no import.

    Parameters
    ----------
    function : callable
        Of one task; its answer can be pickled.
    tasks : iterable
    seconds : float
        Computing time of one task.
    workers : int
    """
    left = iter(tasks)
    busy = []
    try:
        idle = [Worker(function) for _ in range(workers)]
        while True:
            while idle:
                try:
                    task = next(left)
                except StopIteration:
                    break
                worker = idle.pop()
                worker.give(task)
                busy.append(worker)
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy], timeout=0.2)
            for worker in list(busy):
                if worker.pipe in ready:
                    busy.remove(worker)
                    try:
                        how, value = worker.pipe.recv()
                    except EOFError:
                        worker.kill()
                        how, value = "died", worker.process.exitcode
                        idle.append(Worker(function))
                    else:
                        idle.append(worker)
                    yield Outcome(worker.task, how, value)
                elif worker.is_over(seconds):
                    busy.remove(worker)
                    worker.kill()
                    idle.append(Worker(function))
                    yield Outcome(worker.task, "hung")
    finally:
        for worker in [*busy, *idle]:
            worker.kill()
