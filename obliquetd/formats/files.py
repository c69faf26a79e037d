"""Any model file by its ending."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from obliquetd.algebra import number_text
from obliquetd.errors import FormatWarning, InputError, ModelFileError
from obliquetd.formats import arrays, drn, graphml, log, model, prism
from obliquetd.formats.disk import LINES, path_of
from obliquetd.formats.format import Format, known_fields
from obliquetd.formats.model import evaluation, model_to_dict
from obliquetd.mdp import Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["FORMATS", "endings", "format_of", "load_model", "save_model"]

FORMATS: dict[str, Format] = {
    module.FORMAT.ending: module.FORMAT for module in (model, arrays, graphml, prism, drn, log)
}
"""Every format by its ending."""

FEATURES, WEIGHTS = "the features", "the weights xi"
"""Of what a problem has, the words that are plural."""


def endings(*, written: bool = False) -> str:
    """The endings of all formats, or of those that are written, for people."""
    found = [f.ending for f in FORMATS.values() if f.write is not None or not written]
    return f"{', '.join(found[:-1])} or {found[-1]}"


def format_of(path: str | Path) -> Format:
    """The format of a file, by its ending.

    Raises
    ------
    ModelFileError
    """
    ending = Path(path).suffix
    if ending.lower() not in FORMATS:
        lines = f"; {LINES}" if ending.lower() in (".jsonl", ".ndjson") else ""
        raise ModelFileError(
            f"{path} has the ending {ending or 'none'!r}; expected {endings()}{lines}"
        )
    return FORMATS[ending.lower()]


def load_model(path: str | Path | log.Log, **overrides: Any) -> PolicyEvaluation:
    """Read a model file, by its ending; or take a log that was read before.

    Where a file holds no policy, the target is uniform, and for a log the behaviour.

    Parameters
    ----------
    path : str, Path or Log
    **overrides
        Fields that replace those of the file, the same for every format: what
        :class:`PolicyEvaluation` takes, such as ``discount="9/10"`` or ``arithmetic="float"``, and

        * ``over="pairs"``: action values, as :meth:`PolicyEvaluation.of_actions` has them;
        * ``normalize=True``: divide each row of probabilities by its sum;
        * ``tolerance=1e-6``: how far the sum of a row of decimals may be from one;
        * ``terminal=["end"]``: states whose rewardless self-loops are to be taken out;
        * ``reward="steps"``: the reward structure that is meant, where a file has several.

    Raises
    ------
    ModelFileError
        Where the file is missing, unreadable, or not of its form; gives the place in it.
    ObliqueTDError
        Where the model in it is not right; as for :class:`PolicyEvaluation`.
    """
    if isinstance(path, log.Log):
        reading, fields = known_fields(overrides, where="the log", chooses_reward=False)
        return evaluation(log.contents_of(path, reading), fields, reading)
    path = path_of(path, "the model")
    found = format_of(path)
    reading, fields = known_fields(overrides, where=str(path), chooses_reward=found.chooses_reward)
    return evaluation(found.read(path, reading), fields, reading)


def save_model(problem: PolicyEvaluation, path: str | Path) -> None:
    """Write a model file, by its ending; exact numbers are written as text and come back exact.

    Warns
    -----
    FormatWarning
        Where the problem has what the format does not keep: policies, features, a discount. The
        file is written all the same.

    Raises
    ------
    InputError
        For another ending, a model that could not be read back as the same one, or a place that
        cannot be written.
    """
    path = path_of(path, "the place of the model")
    found = FORMATS.get(path.suffix.lower())
    if found is None or found.write is None:
        raise InputError(
            f"{path} has the ending {path.suffix or 'none'!r}; expected {endings(written=True)}"
        )
    found.write(problem, path)
    left = left_behind(problem, found)
    if left:
        whole = [f.ending for f in FORMATS.values() if f.write and f.holds >= model.FORMAT.holds]
        singular = len(left) == 1 and left[0] not in (FEATURES, WEIGHTS)
        warnings.warn(
            f"{path} holds the MDP alone, without {', '.join(left)}: give "
            f"{'it' if singular else 'them'} again when you load the file, or save the whole problem as {', '.join(whole)}",
            FormatWarning,
            stacklevel=2,
        )


def left_behind(problem: PolicyEvaluation, where: Format) -> list[str]:
    """What a problem has and a file of that format does not keep, for people."""
    data = model_to_dict(problem)
    had = {
        "target": ("the target policy", problem.target != Policy.uniform(problem.mdp)),
        "behavior": ("the behaviour policy", not problem.on_policy),
        "features": (FEATURES, "features" in data),
        "discount": (f"the discount {number_text(problem.discount)}", problem.discount != 1),
        "xi": (WEIGHTS, "xi" in data),
        "start": ("the start distribution", "start" in data),
        "over": ("over='pairs'", "over" in data),
    }
    return [words for name, (words, there) in had.items() if there and name not in where.holds]


def _summaries() -> str:
    return "\n".join(
        f"    * ``{f.ending}``: {f.summary}"
        + ("" if f.write else " (read only)")
        + (", a whole problem" if f.holds >= model.FORMAT.holds else "")
        for f in FORMATS.values()
    )


for _function in (load_model, save_model):
    _function.__doc__ = (_function.__doc__ or "").replace("\n\n", f"\n\n{_summaries()}\n\n", 1)
