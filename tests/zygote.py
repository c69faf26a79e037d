"""A process that has imported nothing but ``obliquetd``, and is forked for each call: ``python -m tests.zygote``.

It reads calls, each with the texts that are said before it, and answers with what each shows or raises. What several
calls have before them is said once: the process that has said it is forked for each way to go on.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import obliquetd  # noqa: F401 - and nothing else of the package

SECONDS = 300
"""After which a call is stopped."""


class Answer(NamedTuple):
    """What a call shows; and what it raises, as a traceback of a few lines, or empty."""

    shown: str
    error: str


def answers(calls: Sequence[Any]) -> Iterator[tuple[Any, Answer]]:
    """Each call, which has ``before`` and ``source``, with the answer of a process that said no more than these."""
    asked = [(k, tuple(call.before), call.source) for k, call in enumerate(calls)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    command, pipe = [sys.executable, "-m", "tests.zygote"], subprocess.PIPE
    left = len(asked)
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        with process.stdin:
            pickle.dump(asked, process.stdin)
        while left:
            key, *answer = pickle.load(process.stdout)
            left -= 1
            yield calls[key], Answer(*answer)
    assert process.returncode == 0


def _in_a_fork(work: Callable[[], None]) -> bool:
    """Do something in a fork, and say whether that came to its end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(SECONDS)
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def _grow(calls: list[Any], names: dict[str, Any], out: int) -> None:
    """Fork for each text that comes next, and for each call before which all has been said."""
    for call in (x for x in calls if not x[1]):
        if not _in_a_fork(lambda call=call: _tell(out, call[0], *_said(call[2], names))):
            _tell(out, call[0], "", f"the process ended, or took more than {SECONDS} seconds\n")
    ahead = [x for x in calls if x[1]]
    for text in dict.fromkeys(x[1][0] for x in ahead):
        some = [(key, before[1:], source) for key, before, source in ahead if before[0] == text]
        if not _in_a_fork(lambda text=text, some=some: _go_on(text, some, names, out)):
            raise AssertionError(f"the process ended in or after {text!r}")


def _go_on(text: str, calls: list[Any], names: dict[str, Any], out: int) -> None:
    _, error = _said(text, names)
    signal.alarm(0)  # each of those that follow has a time of its own
    if error:
        for key, *_ in calls:
            _tell(out, key, "", f"before it, {text.strip()!r} raises\n{error}")
    else:
        _grow(calls, names, out)


def _tell(out: int, key: int, shown: str, error: str) -> None:
    with os.fdopen(os.dup(out), "wb") as file:
        pickle.dump((key, shown, error), file)


def _said(source: str, names: dict[str, Any]) -> Answer:
    """What a statement shows and raises, as at a prompt."""
    with redirect_stdout(io.StringIO()) as shown, redirect_stderr(io.StringIO()):
        try:
            exec(compile(source, "<said>", "single"), names)
        except BaseException:
            return Answer(shown.getvalue(), traceback.format_exc(limit=-4))
    return Answer(shown.getvalue(), "")


def main() -> None:
    calls = pickle.load(sys.stdin.buffer)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _grow(calls, {"__name__": "__main__"}, sys.stdout.fileno())


if __name__ == "__main__":
    main()
