"""The house rules: one import ladder, documented names, a light import, no machine path."""

import ast
import importlib
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import obliquetd

PACKAGE = Path(obliquetd.__file__).parent
LADDER = (
    "errors", "algebra", "frames", "display", "processes", "progress", "kernel", "mdp", "features", "learners", "problem", "words", "dynamics", "domains", "formats", "search", "claims",
    "experiments", "atlas", "estimators", "folklore", "plotting", "reproduction", "report", "exploration", "cli", "__main__",
)  # fmt: skip
ROOM = (
    "places", "checks", "inputs", "rows", "decided", "sums", "native", "resting", "rationals", "spans", "projection", "requests", "weightings", "batch", "td_errors", "metrics", "piecewise", "fixed_point", "matrices", "evaluation", "required", "record", "rounding", "compare", "analysis", "sensitivity",
)  # fmt: skip
"""The ladder inside the room for the problem; the package itself is the door."""
TOP_LEVEL = 8
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


def test_a_module_of_the_problem_imports_only_from_above_it():
    assert {p.stem for p in (PACKAGE / "problem").glob("*.py")} - {"__init__"} == set(ROOM)
    for here in ROOM:
        tree = ast.parse((PACKAGE / "problem" / f"{here}.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("obliquetd.problem"):
                inside = node.module.split(".")[2:] or [alias.name for alias in node.names]
                for other in inside:
                    assert ROOM.index(other) < ROOM.index(here), f"{here} imports {other}"


def test_few_modules_stand_at_the_top():
    assert len(list(PACKAGE.glob("*.py"))) <= TOP_LEVEL


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=str)
def test_flint_is_imported_in_algebra_alone(path):
    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert "flint" not in names or part_of(path) == "algebra"


def private_names(folder):
    """Underscore names that the modules of a folder define, as functions, classes or attributes."""
    found = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return {n for n in found if n.startswith("_") and not n.startswith("__") and n != "_"}


def touched_names(tree):
    """What a file takes from another object, or imports from the room, by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "obliquetd.problem"
        ):
            yield from (alias.name for alias in node.names)


def test_private_names_are_seen():
    assert {"_X", "_fill"} <= private_names(PACKAGE / "problem")
    sources = ("x = problem._fill", "from obliquetd.problem.native import _fill")
    assert all("_fill" in set(touched_names(ast.parse(s))) for s in sources)


def test_no_private_name_of_the_problem_is_touched_outside_its_room():
    private = private_names(PACKAGE / "problem") | {"_ops"}
    for path in PACKAGE.rglob("*.py"):
        if part_of(path) != "problem":
            touched = set(touched_names(ast.parse(path.read_text()))) & private
            assert not touched, f"{path} touches {sorted(touched)}"


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
    heavy = ("matplotlib", "scipy", "gymnasium", "typer", "rich", "numba", "pandas", "networkx")
    code = f"import sys, obliquetd; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def modules_after(code):
    """What is loaded in a process of its own after some statements."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_names_are_imported_when_they_are_used():
    assert not {"numpy", "sympy", "obliquetd.errors"} & modules_after("import obliquetd")
    assert "obliquetd.dynamics" not in modules_after("import obliquetd as otd; otd.TD")


def test_every_name_and_room_together_load_nothing_heavy():
    every = "import obliquetd as otd; [getattr(otd, name) for name in dir(otd)]"
    heavy = {"matplotlib", "scipy", "gymnasium", "numba", "pandas", "networkx", "typer"}
    assert not heavy & modules_after(every)


def test_the_help_loads_no_arithmetic():
    code = "import contextlib\nfrom obliquetd.cli import main\nwith contextlib.suppress(SystemExit): main([{}])"
    assert not {"numpy", "sympy"} & modules_after(code.format("'--help'"))
    assert "sympy" in modules_after(code.format("'verify', '--help'"))  # so the code is right


def test_public_names_come_from_their_rooms():
    names = [name for names in obliquetd.HOMES.values() for name in names]
    rooms = {"domains", "features", "learners", "words"}
    assert sorted([*names, *rooms, "verify"]) == sorted(obliquetd.__all__)
    assert {p for p in map(part_of, PACKAGE.rglob("*.py")) if p[:2] != "__"} == {
        *obliquetd.ROOMS, "cli"
    }  # fmt: skip
    star = {}
    exec("from obliquetd import *", star)
    assert set(star) - {"__builtins__"} == set(obliquetd.__all__)
    assert set(dir(obliquetd)) >= {*obliquetd.__all__, *obliquetd.ROOMS, "__doc__"}
    assert all(pickle.loads(pickle.dumps(star[name])) is star[name] for name in names)
    with pytest.raises(AttributeError, match="no attribute 'Sarsa'"):
        obliquetd.Sarsa  # noqa: B018


def test_type_checkers_see_the_names_that_are_imported():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    typed = next(
        n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"
    )
    seen = {node.module: tuple(alias.name for alias in node.names) for node in typed.body}
    rooms = seen.pop("obliquetd")
    assert seen == obliquetd.HOMES
    assert rooms == ("domains", "features", "learners", "words")


def test_no_machine_path_or_unfinished_mark():
    for path in PACKAGE.rglob("*.py"):
        assert not re.search(r"\b(TODO|FIXME|XXX)\b|/(home|root)/", path.read_text()), path
