"""The pool itself: a task that hangs, dies or raises costs itself alone."""

import os
import signal
import time

from tests.pool import run_limited


def task(k):
    if k == 1:
        while True:
            pass
    if k == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if k == 3:
        raise ZeroDivisionError("three")
    return k * k


def test_every_task_gets_its_outcome():
    found = {o.task: o for o in run_limited(task, range(8), seconds=0.3)}
    assert {k: found[k].how for k in range(4)} == {0: "done", 1: "hung", 2: "died", 3: "raised"}
    assert "ZeroDivisionError: three" in found[3].value
    assert [found[k].value for k in (0, 4, 5, 6, 7)] == [0, 16, 25, 36, 49]


def test_a_task_that_sleeps_hangs_too():
    found = list(run_limited(lambda k: time.sleep(60), [0], seconds=0.05, workers=1))
    assert [o.how for o in found] == ["hung"]
