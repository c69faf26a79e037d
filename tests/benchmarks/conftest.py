"""Ratios against a peer, measured side by side and shown as a table at the end."""

import time

import pytest

RATIOS = []


def best_of(function, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.fixture
def against(benchmark):
    """``against(name, ours, peer, wanted)``: alternate the two, keep the best of each."""

    def measure(name, ours, peer, wanted, rounds=5):
        ours()
        peer()
        pairs = [(best_of(ours, 1), best_of(peer, 1)) for _ in range(rounds)]
        mine, theirs = (min(times) for times in zip(*pairs, strict=True))
        benchmark.extra_info.update(ours=mine, peer=theirs, ratio=mine / theirs, wanted=wanted)
        benchmark.pedantic(ours, rounds=1)
        RATIOS.append((name, mine, theirs, mine / theirs, wanted))

    return measure


def pytest_terminal_summary(terminalreporter):
    if RATIOS:
        terminalreporter.write_sep("-", "ratios")
        for name, mine, theirs, ratio, wanted in RATIOS:
            terminalreporter.write_line(
                f"{name:<58} {mine * 1e3:9.1f} ms  peer {theirs * 1e3:9.1f} ms  ratio {ratio:6.2f}"
                f"  (wanted: {wanted})"
            )
