"""The table of speeds: what it says of a size that does not end."""

import subprocess

from tests.benchmarks.table import Line, row


def cells(monkeypatch, told):
    """The line of two sizes, the second of which ends too late and has printed so much."""

    def run(command, **_):
        if command[-1] == "2":
            raise subprocess.TimeoutExpired(command, 1.0, output=told)
        line = '{"ours": 1.0, "peer": 0.5, "memory": [2048, 1024]}\n'
        return subprocess.CompletedProcess(command, 0, line, "")

    monkeypatch.setattr(subprocess, "run", run)
    return row(Line("name", "peer", (1, 2), None, make=lambda size: None, patience=1.0))


def test_a_peer_that_takes_too_long_does_not_take_our_time_away(monkeypatch):
    found = cells(monkeypatch, b'{"ours": 4.0, "peer": null, "memory": [3072, 1024]}\n')
    assert found == ["name", "4 s at 2", "2.0", "peer", "500 ms at 1", "2.00", "3 MB (+2)"]


def test_a_size_that_does_not_end_is_named(monkeypatch):
    found = cells(monkeypatch, None)
    assert found[1] == "1 s at 1; 2: no end in 1 s"
