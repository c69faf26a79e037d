"""Run the paper's experiments, draw its figures, and judge its sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from obliquetd.errors import InputError, did_you_mean
from obliquetd.experiments import Sweep, run, save_columns
from obliquetd.experiments.experiment import Experiment, positive
from obliquetd.experiments.grid import TABLE_2, grid, label
from obliquetd.experiments.parallel import check_workers
from obliquetd.learners import Learner
from obliquetd.reproduction.evidence import half_time, late, whole
from obliquetd.reproduction.figures import DRAWN_RUNS, case_figure, save_figure, sweep_figure
from obliquetd.reproduction.studies import STUDIES, overall
from obliquetd.reproduction.study import Case, Exact, Found, Runs, Sentence
from obliquetd.reproduction.table1 import judge_table_1, table_1
from obliquetd.reproduction.tails import withheld

__all__ = ["NAMES", "Choice", "Reproduction", "reproduce"]

NAMES = ("two-state", *STUDIES)
"""The names of the experiments that can be reproduced."""

SEEDS = 5
"""A verdict is shown where it is the same for so many seeds."""
SWEEP_RUNS = 20
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Choice:
    """One learner's step sizes in a case: the paper's, and the best of Table II found here.

    ``rank`` counts learners from the lowest mean RMSE of the whole run, at the paper's settings
    and at each learner's own best, over the same 20 runs and recorded steps.
    """

    case: str
    learner: str
    paper: str
    paper_rmse: float
    paper_rank: int
    best: str
    best_rmse: float
    best_rank: int


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What :func:`reproduce` returns.

    Attributes
    ----------
    found : mapping of case name to Sweep
        For the first seed, the one in figures and sweeps.
    sentences : list of Sentence
    choices : list of Choice
        With ``sweep`` only.
    files : list of Path
    runs : int
        For each of five seeds.
    """

    found: Mapping[str, Sweep]
    sentences: list[Sentence]
    choices: list[Choice]
    files: list[Path]
    runs: int

    @property
    def seeds(self) -> int:
        """How many seeds have to agree on a verdict."""
        return SEEDS

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data."""
        return {
            "runs": self.runs,
            "seeds": SEEDS,
            "sentences": [sentence.to_dict() for sentence in self.sentences],
            "choices": [
                {k: v if v == v and v != np.inf else None for k, v in vars(c).items()}
                for c in self.choices
            ],
            "files": [str(path) for path in self.files],
        }


def reproduce(
    names: Sequence[str],
    out: str | Path,
    *,
    runs: int = 100,
    seed: int = 0,
    sweep: bool = False,
    learners: Mapping[str, Learner] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Reproduction:
    """Reproduce experiments of the paper.

    Parameters
    ----------
    names : sequence of str
        Of :data:`NAMES`; all of them also judge the paper's summary.
    out : path
        Finished tasks, figures, tables; a second call goes on from what is there.
    runs : int
        For each seed; at least 20, the number in a figure.
    seed : int
        The first of five, seed, ..., seed + 4. Each is judged by itself, and a verdict is shown
        where it is the same for all of them.
    sweep : bool
        Try the step sizes of Table II as well.
    learners : mapping of name to Learner, optional
        In place of the paper's, in every case that has the name.
    progress : callable of (what, done, total), optional
    **options
        ``workers``, ``backend``, ``scheduler`` of :func:`obliquetd.experiments.run`.

    Returns
    -------
    Reproduction

    Raises
    ------
    InputError
        A name that is not known, a learner that no case has, or too few runs.
    """
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise InputError(
            f"nothing to reproduce is called {unknown[0] if unknown else ''!r}; "
            f"{did_you_mean(unknown[0], NAMES) if unknown else ''}expected {', '.join(NAMES)} or all"
        )
    positive("runs", runs)
    if runs < DRAWN_RUNS:
        raise InputError(f"runs is {runs}; expected at least {DRAWN_RUNS}, the runs in a figure")
    check_workers(**options)
    known = {
        key for name in names if name in STUDIES for c in STUDIES[name].cases for key in c.learners
    }
    strange = sorted(set(learners or {}) - known)
    if strange:
        raise InputError(f"no case has a learner called {strange[0]!r}; they have {sorted(known)}")
    folder = Path(out)
    found: list[dict[str, Runs]] = [{} for _ in range(SEEDS)]
    sentences: list[Sentence] = []
    choices: list[Choice] = []
    files: list[Path] = []
    if "two-state" in names:
        sentences += judge_table_1()
        rows = [{key: str(value) for key, value in row.items()} for row in table_1()]
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        files += save_columns(columns, folder, "table-1", source="the two-state example")
    for name, study in STUDIES.items():
        if name not in names:
            continue
        for case in study.cases:
            chosen = {key: (learners or {}).get(key, own) for key, own in case.learners.items()}
            case = replace(case, learners=chosen)
            for here, made in zip(
                found, _run_case(case, folder, files, runs, seed, progress, options), strict=True
            ):
                here[case.name] = made
            if sweep and case.grid:
                own = found[0][case.name].sweep
                choices += _run_grid(case, own, folder, files, seed, progress, options)
        sentences += _judged(study.judge, [{c.name: f[c.name] for c in study.cases} for f in found])
    if set(names) == set(NAMES):
        sentences += _judged(overall, found)
    files += _save_verdicts(sentences, folder, runs, seed)
    if choices:
        table = {key: [vars(c)[key] for c in choices] for key in vars(choices[0])}
        files += save_columns(table, folder, "step-sizes", seed=seed, runs=SWEEP_RUNS)
    first = {name: made.sweep for name, made in found[0].items()}
    return Reproduction(first, sentences, choices, files, runs)


def _judged(judge: Callable[[Found], list[Sentence]], found: Sequence[Found]) -> list[Sentence]:
    """Each sentence, judged for each seed by itself, and then together."""
    return [Sentence.together(said) for said in zip(*map(judge, found), strict=True)]


def _run_case(
    case: Case, folder: Path, files: list[Path], runs: int, seed: int, progress: Progress | None,
    options: Mapping[str, Any],
) -> list[Runs]:  # fmt: skip
    """The case for each seed; the first one's runs are drawn."""
    experiments = {s: case.build(s, case.every) for s in range(seed, seed + SEEDS)}
    exact = case.exact(case.learners) if case.exact else {}  # takes long, so bad seeds come first
    out = []
    for s, experiment in experiments.items():
        sweep = run(
            experiment, case.learners, runs, out=folder / "tasks" / case.name / f"seed-{s}",
            progress=_named(progress, f"{case.name}, seed {s}"), **options,
        )  # fmt: skip
        problem = case.problem(s) if case.problem else None
        why = withheld(problem, sweep, exact, experiment.steps)
        out.append(Runs(case.name, sweep, why, exact))
        if case.drawn and s == seed:
            files += save_figure(case_figure(case, sweep, exact, experiment), folder, case.name)
            about = {"seed": s, "runs": runs, "settings": _settings(case), "figure": case.figure}
            files += save_columns(_curves(sweep, exact), folder, f"{case.name}-curves", **about)
    if case.drawn:
        about = {"seeds": [seed, seed + SEEDS - 1], "runs": runs, "settings": _settings(case)}
        columns = _runs({seed + i: made.sweep for i, made in enumerate(out)})
        files += save_columns(columns, folder, f"{case.name}-runs", **about)
    return out


def _run_grid(
    case: Case, own: Sweep, folder: Path, files: list[Path], seed: int, progress: Progress | None,
    options: Mapping[str, Any],
) -> list[Choice]:  # fmt: skip
    """The step sizes of Table II, for the trace parameter of the case."""
    coarse = case.build(seed, 1)
    experiment: Experiment = replace(coarse, every=max(1, coarse.steps // 100))
    settings = grid(case.grid, TABLE_2["alpha"], TABLE_2["mu"], [case.lam])
    found = run(
        experiment, {label(x): x for x in settings}, SWEEP_RUNS, block=SWEEP_RUNS,
        out=folder / "tasks" / f"{case.name}-sweep",
        progress=_named(progress, f"{case.name}, Table II"), **options,
    )  # fmt: skip
    files += save_figure(sweep_figure(case, found), folder, f"{case.name}-sweep")
    judged = found.settings(None, "rmse", "whole")
    columns: dict[str, list[Any]] = {
        "setting": [s.name for s in judged],
        "rmse": [s.value for s in judged],
        "standard_error": [s.standard_error for s in judged],
        "diverged": [s.diverged for s in judged],
    }
    files += save_columns(columns, folder, f"{case.name}-sweep", seed=seed, runs=SWEEP_RUNS)
    # the same runs and steps as in the sweep
    same = slice(None, SWEEP_RUNS), slice(None, None, max(1, experiment.every // case.every))
    paper = {name: float(curve.rmse[same].mean()) for name, curve in own.curves.items()}
    best = {name: found.best(name, "rmse", "whole") for name in case.learners}
    ranks = [
        {name: 1 + sorted(values.values()).index(values[name]) for name in values}
        for values in (paper, {name: s.value for name, s in best.items()})
    ]
    return [
        Choice(
            case.name, name, label(case.learners[name]), paper[name], ranks[0][name],
            best[name].name, best[name].value, ranks[1][name],
        )
        for name in case.learners
    ]  # fmt: skip


def _named(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(what, done, total)


def _settings(case: Case) -> dict[str, str]:
    return {name: label(learner) for name, learner in case.learners.items()}


def _curves(found: Sweep, exact: Exact) -> dict[str, list[Any]]:
    """Tidy columns: for each learner and step, mean, spread and exact value of both errors."""
    columns: dict[str, list[Any]] = {"learner": [], "step": []}
    for name, curve in found.curves.items():
        columns["learner"] += [name] * len(found.steps)
        columns["step"] += found.steps.tolist()
        for error in ("rmse", "rmspbe"):
            values = getattr(curve, error)
            with np.errstate(invalid="ignore", over="ignore"):
                deviation = values.std(axis=0, ddof=1)
            line = exact.get(name, {}).get(error)
            columns.setdefault(f"{error}_mean", []).extend(values.mean(axis=0).tolist())
            columns.setdefault(f"{error}_deviation", []).extend(deviation.tolist())
            columns.setdefault(f"{error}_exact", []).extend(
                [None] * len(found.steps) if line is None else line[found.steps].tolist()
            )
    return columns


def _runs(found: Mapping[int, Sweep]) -> dict[str, list[Any]]:
    """Tidy columns: for each seed, learner and run, what verdicts are made of."""
    columns: dict[str, list[Any]] = {"seed": [], "learner": [], "run": [], "diverged_at": []}
    for seed, sweep in found.items():
        for name, curve in sweep.curves.items():
            count = len(curve.rmse)
            columns["seed"] += [seed] * count
            columns["learner"] += [name] * count
            columns["run"] += list(range(count))
            columns["diverged_at"] += list(curve.diverged_at)
            for error in ("rmse", "rmspbe"):
                for measure, function in (("whole", whole), ("late", late), ("half", half_time)):
                    values = function(curve, error, sweep.steps).tolist()
                    columns.setdefault(f"{error}_{measure}", []).extend(values)
    return columns


def _save_verdicts(sentences: Sequence[Sentence], folder: Path, runs: int, seed: int) -> list[Path]:
    """One row for each comparison of each part of each sentence, the hull of its seeds."""
    keys = ("where", "says", "verdict", "finding", "quantity", "wanted", "compared", "value", "low",
            "high", "why")  # fmt: skip
    columns: dict[str, list[Any]] = {key: [] for key in keys}
    for s in sentences:
        parts: list[tuple[Any, ...]] = [
            (p.quantity, f"{p.side} {p.bound:g}", name, i.value, i.low, i.high, i.why)
            for p in s.parts
            for name, i in p.found.items()
        ] or [(s.remark, "", "", None, None, None, "")]
        for part in parts:
            for key, value in zip(
                keys, (s.where, s.says, s.verdict, s.finding, *part), strict=True
            ):
                columns[key].append(value)
    return save_columns(
        columns, folder, "verdicts", seed=seed, seeds=SEEDS, runs=runs,
        sentences=[sentence.to_dict() for sentence in sentences],
    )  # fmt: skip
