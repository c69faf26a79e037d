"""A learner from a file of the user's own: ``my_rule.py:HTD``."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from functools import cache
from pathlib import Path

from obliquetd.errors import LearnerError
from obliquetd.learners.base import Learner

__all__ = ["learner_class", "names_in"]


def learner_class(spec: str) -> type[Learner]:
    """The learner class that a Python file defines.

    Parameters
    ----------
    spec : str
        ``path.py:ClassName``. The file is run, as ``python path.py`` would run it.

    Raises
    ------
    LearnerError
        Where there is no such file or class, or the file raises.
    """
    path, _, name = spec.rpartition(":")
    if not path.endswith(".py") or not name.isidentifier():
        raise LearnerError(f"{spec!r} names no class in a file; expected FILE.py:CLASS")
    found = names_in(path, f"the learner {name}")
    kind = found.get(name)
    if not (isinstance(kind, type) and issubclass(kind, Learner)):
        own = [k for k, v in found.items() if isinstance(v, type) and issubclass(v, Learner)
               and v.__module__ == found["__name__"]]  # fmt: skip
        raise LearnerError(
            f"{path} defines no learner called {name!r}; "
            + (f"it defines {', '.join(own)}" if own else "it defines none")
        )
    return kind


def names_in(path: str, what: str = "it") -> dict[str, object]:
    """What a Python file defines, by name; the file is run.

    Raises
    ------
    LearnerError
        Where there is no such file, or it raises.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise LearnerError(f"there is no file {path!r} to read {what} from")
    return _module(file, file.stat().st_mtime_ns)


@cache
def _module(file: Path, changed: int) -> dict[str, object]:
    """What a file defines; run once for each version of it."""
    name = f"{file.stem}_{changed:x}"
    located = importlib.util.spec_from_file_location(name, file)
    if located is None or located.loader is None:
        raise LearnerError(f"{file} cannot be read as a Python file")
    module = importlib.util.module_from_spec(located)
    sys.modules[name] = module  # dataclasses and annotations look their module up
    try:
        located.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's own code
        del sys.modules[name]
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in reversed(frames) if f.filename == str(file)), None)
        where = f", line {line}" if line else ""
        raise LearnerError(f"{file.name}{where}: {type(error).__name__}: {error}") from error
    _travels_by_value(module)
    return vars(module)


def _travels_by_value(module: object) -> None:
    """Worker processes cannot import the file by name, so its classes are sent whole."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)
