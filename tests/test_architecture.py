"""The house rules: one import ladder, documented names, a light import, no machine path."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import obliquetd

PACKAGE = Path(obliquetd.__file__).parent
LADDER = (
    "errors", "algebra", "display", "progress", "mdp", "chain", "features", "learners", "checks", "inputs", "operators", "projection", "emphasis", "requests", "metrics",
    "fixed_point", "matrices", "problem", "compare", "dynamics", "analysis", "domains", "formats", "search", "claims", "experiments", "plotting", "reproduction", "report", "cli", "__main__",
)  # fmt: skip
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(obliquetd.__path__, "obliquetd.")
    if "__main__" not in m.name
)


def imported_parts(path):
    """Parts of the package that a file imports at run time."""
    tree = ast.parse(path.read_text())
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in typing_only or not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if node.module == "obliquetd":
            yield from (alias.name for alias in node.names)
        elif node.module.startswith("obliquetd."):
            yield node.module.split(".")[1]


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_a_module_imports_only_from_above_it(path):
    here = part_of(path)
    if here == "__init__":
        return
    for other in imported_parts(path):
        assert LADDER.index(other) <= LADDER.index(here), f"{here} imports {other}"


def test_every_module_has_a_rung():
    assert {part_of(p) for p in PACKAGE.rglob("*.py")} - {"__init__"} == set(LADDER)


def test_no_module_is_long():
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, path


@pytest.mark.parametrize("name", MODULES)
def test_public_names_are_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for public in getattr(module, "__all__", []):
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, f"{name}.{public}"
        if inspect.isclass(thing) and thing.__module__ == name:
            for key, member in vars(thing).items():
                if not key.startswith("_") and (
                    inspect.isfunction(member) or isinstance(member, property)
                ):
                    assert inspect.getdoc(getattr(thing, key)) or member.__doc__, f"{public}.{key}"


CONTRACT = {
    "MDP", "Policy", "PolicyEvaluation", "oblique_projection", "compare", "verify",
}  # fmt: skip


def test_the_contracts_names_are_public():
    assert set(obliquetd.__all__) >= CONTRACT
    for method in ("from_transitions", "from_arrays", "from_graph", "from_gymnasium"):
        assert callable(getattr(obliquetd.MDP, method))


def test_import_is_light():
    heavy = ("matplotlib", "scipy", "gymnasium", "typer", "rich", "numba", "pandas")
    code = f"import sys, obliquetd; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_machine_path_or_unfinished_mark():
    for path in PACKAGE.rglob("*.py"):
        assert not re.search(r"\b(TODO|FIXME|XXX)\b|/(home|root)/", path.read_text()), path
