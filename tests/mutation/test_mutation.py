"""The mutation tester itself: what it makes, that it sees a good test and a poor one, and that it says so."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.equivalents import EQUIVALENT, EXEMPT
from tests.mutation.known import KNOWN
from tests.mutation.mutate import edited, mutants
from tests.mutation.targets import TARGETS

ROOT = Path(__file__).parents[2]
SAMPLE = '''
"""A module with a function, a cached one, a method, and a constant."""

from functools import cache

LIMIT = 3


@cache
def small(x: int) -> bool:
    return x < LIMIT


class Box:
    def __init__(self, kept):
        self.kept = kept

    @property
    def total(self):
        return sum(self.kept)
'''
GOOD = """
from sample_for_mutants import Box, small

def test_small():
    assert [small(x) for x in (1, 2, 3, 4)] == [True, True, False, False]

def test_box():
    assert Box([1, 2]).total == 3
"""
POOR = GOOD.replace("(1, 2, 3, 4)] == [True, True, False, False]", "(1, 5)] == [True, False]")


def run(folder, tests):
    (folder / "sample_for_mutants.py").write_text(SAMPLE)
    (folder / "test_sample_for_mutants.py").write_text(tests)
    return subprocess.run(
        [sys.executable, "-m", "tests.mutation.run", "--module", "sample_for_mutants",
         "--tests", str(folder / "test_sample_for_mutants.py")],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
    )  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants run in forked processes")
class TestRunner:
    def test_a_good_test_notices_every_mutant(self, tmp_path):
        found = run(tmp_path, GOOD)
        assert found.returncode == 0, found.stdout + found.stderr
        assert "every mutant was noticed" in found.stdout

    def test_a_survivor_is_told_and_fails_the_run(self, tmp_path):
        found = run(tmp_path, POOR)
        assert found.returncode == 1
        assert "small: return x <= LIMIT" in found.stdout
        assert "module: LIMIT = 4" in found.stdout
        assert "small: return x >= LIMIT" not in found.stdout
        assert "small: return True" not in found.stdout

    def test_tests_that_fail_without_a_mutant_judge_nothing(self, tmp_path):
        found = run(tmp_path, GOOD.replace("== 3", "== 4"))
        assert found.returncode == 1
        assert "fail without a mutant" in found.stderr


def names(text, tmp_path):
    path = tmp_path / "text.py"
    path.write_text(text)
    return [mutant.name for mutant in mutants("text", path)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return x < 2", ["return x <= 2", "return x >= 2", "return x < 3", "return x < 1"]),
        ("def f(a, b):\n    return a and b", ["return a or b", "return a", "return b"]),
        ("def f(a):\n    return not a", ["return a"]),
        ("def f(a):\n    return any(a)", ["return all(a)"]),
        ("def f(a):\n    return max(a)", ["return min(a)"]),
        ("def f(a, b):\n    return a - b", ["return a + b"]),
        ("def f(a):\n    if a:\n        raise ValueError(a)", ["if True:", "if False:", "without: raise ValueError(a)"]),
        ("def f(a) -> bool:\n    return g(a)", ["return True", "return False"]),
        ("def f(a):\n    g(a)", ["without: g(a)"]),
        ("def f(a):\n    a += g(a)", ["a -= g(a)", "without: a += g(a)"]),
        ("def f(a, b=1):\n    return a[b:]", ["def f(a, b=2):", "def f(a, b=0):", "return a[:]"]),
    ],
)  # fmt: skip
def test_what_is_made_of_a_text(text, expected, tmp_path):
    assert names(text, tmp_path) == [f"f: {line}" for line in expected]


def test_making_mutants_leaves_the_text_as_it_was(tmp_path):
    path = tmp_path / "text.py"
    path.write_text(SAMPLE)
    found = mutants("text", path)
    assert ast.dump(found[0].tree) == ast.dump(ast.parse(SAMPLE))


def path_of(module):
    return ROOT / f"{module.replace('.', '/')}.py"


def test_every_listed_equivalent_is_a_mutant_with_a_reason():
    assert set(EQUIVALENT) <= {target.module for target in TARGETS}
    for module, listed in EQUIVALENT.items():
        assert set(listed) <= {mutant.name for mutant in mutants(module, path_of(module))}
        assert all(len(reason.split()) > 3 for reason in listed.values())
    for module, listed in EXEMPT.items():
        assert set(listed) <= {mutant.scope for mutant in mutants(module, path_of(module))}
        assert all(len(reason.split()) > 3 for reason in listed.values())


@pytest.mark.parametrize("fault", KNOWN, ids=lambda f: f.old[:30])
def test_every_known_fault_can_be_put_in(fault):
    assert edited(fault.module, path_of(fault.module), fault.old, fault.new).line > 1


def test_the_checker_is_judged_in_full():
    (target,) = (t for t in TARGETS if t.module == "obliquetd.dynamics.check")
    assert target.sample is None
