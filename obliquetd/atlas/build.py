"""Atlases: built on all cores or a cluster, resumed where they were stopped, and read from their folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

from obliquetd.algebra import number_text, parse_number
from obliquetd.atlas.atlas import Atlas, discount_text
from obliquetd.atlas.decide import Part, Task, decide
from obliquetd.atlas.family import Family
from obliquetd.atlas.storage import Folder, read_note
from obliquetd.atlas.tables import tables_of
from obliquetd.dynamics.fitting import Fitting
from obliquetd.errors import InputError, LearnerError, ResultsError
from obliquetd.experiments.identity import named_learners
from obliquetd.experiments.parallel import check_workers, run_tasks
from obliquetd.learners import (
    ETD,
    GTD2,
    LEARNERS,
    SETD,
    TD,
    TDC,
    Learner,
    ResidualGradient,
    parameters,
)
from obliquetd.learners.functions import digest
from obliquetd.progress import Report, progress

__all__ = ["DEFAULT", "build", "load"]

DEFAULT = (TD(), SETD(), ETD(), GTD2(), TDC(), ResidualGradient())
"""The learners that are judged where none is named."""
PART = 2**17
"""Feature matrices of one part, before symmetry."""


def build(
    states: int,
    features: int,
    *,
    largest: int = 2,
    parts: int = 1,
    on_policy: bool = False,
    discounts: Any = "9/10",
    learners: Learner | Iterable[Learner] | Mapping[str, Learner] = DEFAULT,
    out: str | Path | None = None,
    workers: int | None = None,
    backend: str = "cores",
    scheduler: str | None = None,
    report: Report | None = None,
) -> Atlas:
    """Judge every problem of a family exactly, for every learner; ``otd.atlas(...)`` is the same.

    Parameters
    ----------
    states, features : int
    largest : int
        Features are all integers from -largest to largest, of full column rank.
    parts : int
        The target's probabilities are multiples of 1 / parts; 1 is a deterministic target.
    on_policy : bool
        One policy and every irreducible chain; else a behaviour with uniform weights xi.
    discounts : number, or iterable of numbers
    learners : Learner, iterable of them, or mapping of name to Learner
        Each is called by its label in questions, unless it is given a name. Fitted iterations, such as
        :class:`obliquetd.dynamics.FQI`, are not among them: they have no rule that could be run on pairs of feature
        vectors, since their factor needs the inverse of C. Judge them one by one with :func:`obliquetd.iteration`.
    out : path, optional
        A folder for Parquet files (extra ``atlas``). A call that was stopped goes on from what is there.
    workers, backend, scheduler
        As in :func:`obliquetd.sweep`: all cores, or a Dask cluster.
    report : callable, optional
        Is told what is being done, how much of it is done, and how much there is.

    Returns
    -------
    Atlas

    Raises
    ------
    LearnerError
        For a fitted iteration, or a learner whose expected update is not of a form that can be looked up; says why.
    InputError
        For a family that is too large, or a folder that holds something else.

    Examples
    --------
    >>> atlas = build(2, 1, workers=1)
    >>> print(atlas)
    96 problems at discount 9/10
      TD: 92 stable, 4 unstable
      SETD: 96 stable
      ETD: 96 stable
      GTD2: 96 stable
      TDC: 96 stable
      ResidualGradient: 96 stable
    """
    check_workers(workers, backend, scheduler)
    if not isinstance(on_policy, bool):
        raise InputError(f"on_policy is {on_policy!r}; expected True or False")
    family = Family(states, features, largest, parts, on_policy)
    named = named_learners(_without_iterations(learners), lambda learner: learner.label)
    told = _discount_texts(discounts)
    folder = None if out is None else Folder(out, _identity(family, named, told))
    spans = list(_spans(family, PART))
    missing = [k for k in range(len(spans)) if folder is None or not folder.has(k)]
    made: dict[int, Part] = {}
    with progress(show=report is None) as bars:
        say = report or bars
        if missing:
            tables = {}
            for k, (name, gamma) in enumerate((name, g) for name in named for g in told):
                say("running the rules", k, len(named) * len(told))
                tables[name, gamma] = tables_of(family, named[name], Fraction(gamma))
            if folder is not None:
                folder.claim()
            tasks = [Task(family, tables, *spans[k]) for k in missing]
            done = len(spans) - len(missing)
            say("judging", done, len(spans))
            for place, part in run_tasks(
                decide, tasks, workers=workers, backend=backend, scheduler=scheduler
            ):
                if folder is None:
                    made[missing[place]] = part
                else:
                    folder.write(missing[place], family, part)
                done += 1
                say("judging", done, len(spans))
    if folder is not None:
        return Atlas(family, named, told, _read(folder, family, list(named), told))
    return Atlas(family, named, told, [made[k] for k in range(len(spans))])


def _without_iterations(learners: Any) -> Any:
    """The same learners; LearnerError for FQI and its like, whose factor is no sum over outcomes."""
    if isinstance(learners, Iterable) and not isinstance(learners, Mapping | str):
        learners = list(learners)
    given = learners.values() if isinstance(learners, Mapping) else learners
    for one in given if isinstance(given, Iterable) else (given,):
        if isinstance(one, Fitting):
            raise LearnerError(
                f"{one.name} is not for an atlas: it has no rule that could be run on pairs of feature vectors, since its "
                "factor needs the inverse of C; judge problems one by one with otd.iteration"
            )
    return learners


def load(path: str | Path) -> Atlas:
    """An atlas from its folder.

    Raises
    ------
    ResultsError
        Where the folder is no atlas, or one that is not finished.
    """
    note = read_note(path)
    try:
        family = Family(**note["family"])
        told = tuple(note["discounts"])
        if type(note["part"]) is not int or note["part"] < 1:
            raise KeyError("part")
        learners = {name: _learner(about) for name, about in note["learners"].items()}
    except (KeyError, TypeError, AttributeError, InputError) as error:
        raise ResultsError(
            f"the note of the atlas {path} cannot be read: {error}", str(path)
        ) from None
    folder = Folder(path, note)
    return Atlas(family, learners, told, _read(folder, family, list(learners), told))


def _spans(family: Family, size: int) -> Iterator[tuple[int, int, int]]:
    for chain in range(len(family.chains)):
        for low, high in family.parts_of_codes(size):
            yield chain, low, high


def _read(
    folder: Folder, family: Family, names: list[str], discounts: tuple[str, ...]
) -> Iterator[Part]:
    keys = [(name, gamma) for name in names for gamma in discounts]
    for number, (chain, _, _) in enumerate(_spans(family, folder.identity["part"])):
        yield folder.read(number, family, chain, keys)


def _identity(
    family: Family, learners: Mapping[str, Learner], discounts: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "format": "obliquetd atlas 1",
        "family": asdict(family),
        "learners": {
            name: {
                "key": learner.key,
                "rule": digest(learner.rule),
                "settings": {
                    p.name: _setting(value)
                    for p in parameters(type(learner))
                    if (value := getattr(learner, p.name)) != p.default
                },
            }
            for name, learner in learners.items()
        },
        "discounts": list(discounts),
        "part": PART,
    }  # fmt: skip


def _setting(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else str(value)
        if callable(value)
        else number_text(parse_number(value))
    )


def _learner(about: Mapping[str, Any]) -> Learner | None:
    """The package's learner with these settings, where it still has the same rule."""
    kind: Any = LEARNERS.get(about["key"])
    try:
        made: Learner | None = None if kind is None else kind(**about["settings"])
    except (TypeError, InputError):
        return None
    return made if made is not None and digest(made.rule) == about["rule"] else None


def _discount_texts(discounts: Any) -> tuple[str, ...]:
    several = isinstance(discounts, Iterable) and not isinstance(discounts, str | sp.Basic)
    found = tuple(map(discount_text, discounts)) if several else (discount_text(discounts),)
    if not found or len(set(found)) < len(found):
        raise InputError(
            f"discounts is {discounts!r}; expected at least one, and none of them twice"
        )
    return found
