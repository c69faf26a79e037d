"""Mutation testing: which small faults in the code do its tests not notice?

Each mutant runs in a forked process that has imported the package and collected the tests already.
A mutant is killed when a test fails, or when it takes far more time than the code without a fault;
one that survives is told, and the exit status is 1, unless it is listed in ``equivalents.py`` with
the reason why it changes no answer.

    python -m tests.mutation.run                  what CI runs: a seeded sample, and all of check.py
    python -m tests.mutation.run --all            every mutant
    python -m tests.mutation.run --only check     one module
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis
import pytest

from tests.mutation.equivalents import EQUIVALENT, EXEMPT
from tests.mutation.install import install
from tests.mutation.known import KNOWN
from tests.mutation.mutate import Mutant, edited, mutants
from tests.mutation.targets import TARGETS, Target

WORKERS = 2
SLOWER = 8
"""A mutant may take that many times the time that the tests take without one."""
LEAST = 10
"""Seconds that every mutant has."""
QUICK = (
    "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutants",
    "-o", "addopts=", "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip


def forked(task: Callable[[], int], log: Path | None = None, limit: float | None = None) -> int:
    """Begin a task in a child that says nothing; its process id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        out = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        if limit is not None:
            used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            seconds = int(used + limit) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        status = task()
    finally:
        sys.stdout.flush()
        os._exit(status)


def survives(mutant: Mutant, tests: Sequence[str]) -> int:
    """The exit status of the tests on the mutant; one that cannot even be put in place is killed."""
    install(mutant)
    return int(pytest.main([*QUICK, *tests]))


def baseline(target: Target) -> float:
    """Seconds of CPU time that the tests take on the code as it is.

    Raises
    ------
    SystemExit
        Where they fail: then nothing can be told of a mutant.
    """
    child = forked(lambda: int(pytest.main([*QUICK, *target.tests])))
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"the tests of {target.module} fail without a mutant: {target.tests}")
    return used.ru_utime + used.ru_stime


def survivors(target: Target, chosen: Sequence[Mutant]) -> list[Mutant]:
    """The mutants that the tests of a target do not notice."""
    limit = max(LEAST, SLOWER * baseline(target))
    waiting, running, out = list(reversed(chosen)), {}, []
    while waiting or running:
        while waiting and len(running) < WORKERS:
            mutant = waiting.pop()
            child = forked(lambda m=mutant: survives(m, target.tests), limit=limit)  # type: ignore[misc]
            running[child] = mutant
        child, status, _ = os.wait4(-1, 0)
        mutant = running.pop(child)
        if status == 0:
            print(f"  not noticed, line {mutant.line}: {mutant.name}", flush=True)
            out.append(mutant)
    return out


def choose(found: Sequence[Mutant], size: int | None, seed: int) -> list[Mutant]:
    """A seeded sample, by a digest of the names: an edit of other lines leaves it as it is."""

    def digest(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()

    kept = sorted(found, key=digest)[:size]
    return [mutant for mutant in found if mutant in kept]


def prepare(targets: Sequence[Target]) -> None:
    """Import what is mutated and collect its tests, once for all children."""
    for target in targets:
        importlib.import_module(target.module)
    hypothesis.settings.register_profile(
        "mutants",
        deadline=None,
        max_examples=40,
        derandomize=True,
        database=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    every = dict.fromkeys(test.split("::")[0] for target in targets for test in target.tests)
    sys.stdout.flush()
    with_collected = [*QUICK, "--collect-only", "-qqq", *every]
    if pytest.main(with_collected) != 0:
        raise SystemExit(f"no tests could be collected from {', '.join(every)}")


def path_of(module: str) -> Path:
    return Path(str(sys.modules[module].__file__))


def run(targets: Sequence[Target], *, everything: bool = False, seed: int = 0) -> int:
    """Judge the mutants of the targets, and say which survive; the number of complaints."""
    prepare(targets)
    complaints = 0
    for target in targets:
        started = time.monotonic()
        found = mutants(target.module, path_of(target.module))
        listed, exempt = EQUIVALENT.get(target.module, {}), EXEMPT.get(target.module, {})
        stale = set(listed) - {m.name for m in found}
        print(f"{target.module}:", flush=True)
        for name in sorted(stale):
            print(f"  no such mutant, though listed as equivalent: {name}", flush=True)
        counted = [m for m in found if m.scope not in exempt]
        drawn = choose(counted, None if everything else target.sample, seed)
        chosen = [m for m in drawn if m.name not in listed]
        left = survivors(target, chosen)
        print(
            f"  of {len(found)} mutants {len(chosen)} tried and {len(left)} not noticed; listed with a "
            f"reason {len(found) - len(counted) + len(listed)} ({time.monotonic() - started:.0f} s)",
            flush=True,
        )
        complaints += len(left) + len(stale)
    return complaints


def run_known() -> int:
    """Judge the faults that earlier tests did not notice, each by the tests that do."""
    targets = [Target(fault.module, fault.tests) for fault in KNOWN]
    prepare(targets)
    print("faults that went unnoticed once:", flush=True)
    complaints = 0
    for fault, target in zip(KNOWN, targets, strict=True):
        mutant = edited(fault.module, path_of(fault.module), fault.old, fault.new)
        complaints += len(survivors(target, [mutant]))
    print(f"  {len(KNOWN)} faults, {complaints} not noticed", flush=True)
    return complaints


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--known", action="store_true", help="the listed faults alone")
    parser.add_argument("--all", action="store_true", help="every mutant, instead of a sample")
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--module", help="a module of your own, with --tests")
    parser.add_argument("--tests", nargs="+", default=[], help="the tests that judge it")
    options = parser.parse_args()
    targets = [t for t in TARGETS if options.only in t.module]
    if options.module:
        targets = [Target(options.module, tuple(options.tests))]
    if not targets:
        parser.error(f"no target has {options.only!r} in its name")
    complaints = 0
    if options.known or not (options.only or options.module):
        complaints += run_known()
    if not options.known:
        complaints += run(targets, everything=options.all, seed=options.seed)
    print("every mutant was noticed" if not complaints else f"complaints: {complaints}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
