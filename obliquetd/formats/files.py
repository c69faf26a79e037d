"""Any model file by its ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats import model
from obliquetd.formats.arrays import read_npz, write_npz
from obliquetd.formats.drn import read_drn, write_drn
from obliquetd.formats.graphml import read_graphml, write_graphml
from obliquetd.formats.log import read_log
from obliquetd.formats.prism import read_prism, write_prism
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["READERS", "WRITERS", "load_model", "save_model"]


def _bare(read: Callable[[Path], MDP]) -> Callable[..., PolicyEvaluation]:
    """A reader of files that hold no policy: the uniform one, unless the caller gives another."""

    def load(path: Path, **fields: Any) -> PolicyEvaluation:
        mdp = read(path)
        return PolicyEvaluation(mdp, **{"target": Policy.uniform(mdp), **fields})

    return load


READERS: dict[str, Callable[..., PolicyEvaluation]] = {
    ".json": model.load_model,
    ".npz": read_npz,
    ".graphml": read_graphml,
    ".tra": _bare(read_prism),
    ".drn": _bare(read_drn),
    ".csv": lambda path, **fields: read_log(path).problem(**fields),
}
WRITERS: dict[str, Callable[[PolicyEvaluation, Path], Any]] = {
    ".json": model.save_model,
    ".npz": write_npz,
    ".graphml": write_graphml,
    ".tra": lambda problem, path: write_prism(problem.mdp, path),
    ".drn": lambda problem, path: write_drn(problem.mdp, path),
}


def load_model(path: str | Path, **overrides: Any) -> PolicyEvaluation:
    """Read a model file, by its ending.

    ``.json`` (:mod:`obliquetd.formats.model`), ``.npz`` (:mod:`~obliquetd.formats.arrays`),
    ``.graphml`` (:mod:`~obliquetd.formats.graphml`), ``.tra`` with its companions
    (:mod:`~obliquetd.formats.prism`), ``.drn`` (:mod:`~obliquetd.formats.drn`), or ``.csv``, a log of
    transitions (:mod:`~obliquetd.formats.log`). The last three hold no policy: the target is uniform, for a log
    the behaviour, unless given.

    Parameters
    ----------
    path : str or Path
    **overrides
        Fields that replace those of the file, such as ``arithmetic="float"``.

    Raises
    ------
    ModelFileError
        Where the file is missing, unreadable, or not of its form; gives the place in it.
    ObliqueTDError
        Where the model in it is not right; as for :class:`PolicyEvaluation`.
    """
    file = Path(path)
    if file.suffix.lower() not in READERS:
        raise ModelFileError(
            f"{file} has the ending {file.suffix or 'none'!r}; expected one of {', '.join(READERS)}"
        )
    return READERS[file.suffix.lower()](file, **overrides)


def save_model(problem: PolicyEvaluation, path: str | Path) -> None:
    """Write a model file, by its ending; exact numbers are written as text and come back exact.

    ``.json``, ``.npz`` and ``.graphml`` hold a whole problem; ``.tra`` and ``.drn`` hold its MDP.

    Raises
    ------
    InputError
        For another ending, a model that the format cannot hold, or a place that cannot be
        written.
    """
    file = Path(path)
    if file.suffix.lower() not in WRITERS:
        raise InputError(
            f"{file} has the ending {file.suffix or 'none'!r}; expected one of {', '.join(WRITERS)}"
        )
    WRITERS[file.suffix.lower()](problem, file)
