"""The first run says that it compiles, where somebody sees it, and where it takes its time."""

import io
import sys
import time

import pytest

from obliquetd.experiments.running import ready
from obliquetd.progress import said


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("seconds", "screen", "told"),
    [(0.3, Terminal, True), (0, Terminal, False), (0.3, io.StringIO, False)],
)
def test_slow_work_is_said_in_a_terminal(seconds, screen, told, monkeypatch):
    monkeypatch.setattr(sys, "stderr", screen())
    with said("compiling\x1b", after=0.05):
        time.sleep(seconds)
    assert ("compiling\\x1b" in sys.stderr.getvalue()) == told


def test_a_loop_is_compiled_once_for_what_it_is_given(monkeypatch):
    class Slow:
        signatures = ()
        asked = 0

        def compile(self, types):
            self.signatures, self.asked = (types,), self.asked + 1
            time.sleep(0.8)

    monkeypatch.setattr(sys, "stderr", Terminal())
    run = Slow()
    assert ready(ready(run, (1.0,), "TD"), (1.0,), "TD") is run
    assert run.asked == 1
    assert "compiling the rule of TD" in sys.stderr.getvalue()
