"""What takes how long, beside a peer in the same run: ``python -m tests.benchmarks.table``.

Each line is measured at up to four sizes, each in a process of its own: CPU seconds, the best of
some alternating rounds, and the largest memory. The growth is the slope of log time over log size.
A peer that takes too long at the largest size is compared at a smaller one, which then stands
beside its time; one that is not installed is named as *not here*. Names of lines choose some of them.
"""

from __future__ import annotations

import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["LINES", "Line", "line", "main", "measured"]

PATIENCE = 100
"""Seconds on the clock after which a size is said not to end, unless a line has more."""
LONG = 2.0
"""CPU seconds of a first round that is not repeated."""
ENOUGH = 0.5
"""CPU seconds of each side after which no further round is made."""


@dataclass(frozen=True)
class Line:
    """One line of the table.

    ``make(size)`` returns two functions of nothing, ours and the peer's (None where there is
    none), which are timed; what they share is made before. Of what a size has many of, the times
    shown are those of one: ``parts`` says how many there are.
    """

    name: str
    peer: str
    sizes: tuple[int, ...]
    wanted: float | None
    make: Callable[[int], tuple[Callable[[], Any], Callable[[], Any] | None]]
    parts: Callable[[int], int] = lambda size: 1
    patience: float = PATIENCE


LINES: dict[str, Line] = {}


def line(
    name: str, peer: str, sizes: tuple[int, ...], wanted: float | None = 2.0, **more: Any
) -> Any:
    """Add a line; ``wanted`` is the ratio that it is held to."""

    def add(make: Any) -> Any:
        LINES[name] = Line(name, peer, sizes, wanted, make, **more)
        return make

    return add


def best(functions: list[Callable[[], Any]]) -> list[float]:
    """The least CPU time of each, in alternating rounds."""
    times = [math.inf] * len(functions)
    spent = 0.0
    while spent < ENOUGH * len(functions):
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            took = time.process_time() - start
            times[i] = min(times[i], took)
            spent += max(took, 1e-3)
    return times


def measured(name: str, size: int) -> Iterator[dict[str, Any]]:
    """One size of one line, in this process: of ours alone first, which no slow peer takes away, then of both."""
    ours, peer = LINES[name].make(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mine = once(ours)  # compiles, imports
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before
    if mine < LONG:
        (mine,) = best([ours])
    yield {"ours": mine, "peer": None, "memory": memory}
    if peer is None:
        return
    theirs = once(peer)
    if max(mine, theirs) < LONG:
        mine, theirs = best([ours, peer])
    yield {"ours": mine, "peer": theirs, "memory": memory}


def once(function: Callable[[], Any]) -> float:
    """The CPU time of a first call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def in_a_process(each: Line, size: int) -> dict[str, Any] | str:
    """The same in a process of its own, or why there is no answer."""
    own = {
        k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    }
    own["OPENBLAS_NUM_THREADS"] = "1"
    command = [sys.executable, "-m", "tests.benchmarks.table", "--one", each.name, str(size)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=each.patience, env=own, check=False
        )
    except subprocess.TimeoutExpired as error:
        told = (error.stdout or b"").decode().splitlines()
        return json.loads(told[-1]) if told else f"no end in {each.patience:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def growth(sizes: list[int], times: list[float]) -> str:
    """The slope of log time over log size, least squares."""
    if len(sizes) < 2:
        return ""
    x, y = [math.log(s) for s in sizes], [math.log(t) for t in times]
    a, b = sum(x) / len(x), sum(y) / len(y)
    slope = sum((u - a) * (v - b) for u, v in zip(x, y, strict=True))
    return f"{slope / sum((u - a) ** 2 for u in x):.1f}"


def shown(seconds: float) -> str:
    """Seconds with a unit."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


def row(each: Line) -> list[str]:
    """The cells of a line; of the largest size that ended."""
    sizes: list[int] = []
    times: list[float] = []
    last: dict[str, Any] = {}
    beside: tuple[dict[str, Any], int] | None = None
    failure = ""
    for size in each.sizes:
        found = in_a_process(each, size)
        if isinstance(found, str):
            failure = f"; {size:,}: {found}"
            break
        last = found
        if found["peer"] is not None:
            beside = found, size
        sizes.append(size)
        times.append(found["ours"])
    if not sizes:
        return [each.name, failure[2:], "", each.peer, "", "", ""]
    its_time, ratio = "not here", ""
    if beside is not None:
        compared, size = beside
        ratio = f"{compared['ours'] / compared['peer']:.2f}"
        its_time = shown(compared["peer"] / each.parts(size))
        its_time += "" if size == sizes[-1] else f" at {size:,}"
    wanted = "" if each.wanted is None else f"{each.wanted:g}"
    memory, before = (x / 1024 for x in last["memory"])
    parts = each.parts(sizes[-1])
    return [
        each.name,
        f"{shown(times[-1] / parts)} at {sizes[-1]:,}{failure}",
        growth(sizes, times),
        each.peer,
        its_time,
        f"{ratio} ({wanted})" if wanted and ratio else ratio,
        f"{memory:,.0f} MB (+{memory - before:,.0f})",
    ]


def machine() -> str:
    """What it was measured on, without a name."""
    model = platform.machine()
    try:
        known = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(x.split(":")[1].strip() for x in known if x.startswith("model name"))
    except (OSError, StopIteration):
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


def main(arguments: list[str]) -> None:
    """Print the table, or one measurement."""
    from tests.benchmarks import lines, lines_of_symbols  # noqa: F401  (they fill LINES)

    if arguments[:1] == ["--one"]:
        from tests.benchmarks.table import measured as one  # not the copy called __main__

        for found in one(arguments[1], int(arguments[2])):
            print(json.dumps(found), flush=True)
        return
    from tests.benchmarks.table import LINES as KNOWN

    chosen = [v for k, v in KNOWN.items() if not arguments or any(a in k for a in arguments)]
    if not chosen:
        sys.exit(f"no line is called {arguments}; there are:\n" + "\n".join(KNOWN))
    print(f"CPU time on {machine()}; the ratio that is wanted stands in brackets.\n")
    print("| what | time | growth | peer | its time | ratio | memory |")
    print("|---|---|---|---|---|---|---|")
    for each in chosen:
        print("| " + " | ".join(row(each)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
