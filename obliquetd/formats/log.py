"""Logged transitions as CSV: a model estimated from counts, exactly.

The first line names the columns: ``state``, ``action``, ``next_state``, ``reward``, and where they
are known ``done`` or, as Gymnasium calls it, ``terminated`` (the episode ended here, in a state worth
nothing more), ``truncated`` (a limit of time cut it here: the next line begins anew, but ``next_state``
keeps its value), ``first`` (an episode begins), ``target`` and ``behavior`` (probabilities of the action taken). Labels are integers where
all of them are written as Python writes integers, else text as it stands: 01 and 1 are two states.
Blanks after commas belong to a label unless the first line has them too. Rewards and probabilities
are numbers, never formulas.

A DataFrame of pandas with the same columns is read, too. Its labels stay the objects that they are, and
a missing cell is an empty one; everything else is read as the CSV file that the frame writes would be, so
that the float 0.1 is 1/10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from obliquetd.errors import InputError, ModelFileError, ProbabilityError
from obliquetd.formats.disk import path_of
from obliquetd.formats.format import Contents, Format, Reading
from obliquetd.formats.frequencies import Frequencies
from obliquetd.formats.log_confidence import ModelConfidence, confidence_of_model
from obliquetd.formats.logged_steps import (
    CHANCES,
    LoggedStep,
    check_heading,
    is_frame,
    labels_of,
    lines_of,
    steps_of,
    steps_of_frame,
)
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import METHODS, PolicyEvaluation

__all__ = ["FORMAT", "Log", "LoggedStep", "contents_of", "read_log"]


@dataclass(frozen=True)
class Log:
    """Transitions in the order in which they were logged.

    Attributes
    ----------
    steps : tuple of LoggedStep
    unit : str
        What ``line`` of a step counts: "line" of a file, from 1; "row" of a frame, from 0.
    """

    steps: tuple[LoggedStep, ...]
    unit: str = "line"

    def counts(self) -> Counter[tuple[Any, Any]]:
        """How often each action was taken in each state."""
        return Counter((step.state, step.action) for step in self.steps)

    def start(self) -> dict[Any, Fraction]:
        """Where episodes began, as relative frequencies."""
        begun = Counter(step.state for step in self.steps if step.first)
        total = begun.total()
        return {s: Fraction(k, total) for s, k in begun.items()}

    def behavior(self) -> Policy:
        """The relative frequency of each action in each state."""
        by_state: dict[Any, dict[Any, int]] = {}
        for (s, a), k in self.counts().items():
            by_state.setdefault(s, {})[a] = k
        return Policy(
            {
                s: {a: Fraction(k, sum(row.values())) for a, k in row.items()}
                for s, row in by_state.items()
            }
        )

    def model(self) -> MDP:
        """The MDP of relative frequencies: exact, the maximum-likelihood model.

        An end restarts where episodes began, with discount 0, so that the chain goes on.

        Raises
        ------
        InputError
            For a state that is entered, not at an end, and never left.
        """
        taken = self.counts()
        left = {step.state for step in self.steps}
        moves: Counter[tuple[Any, Any, Any, Any, bool]] = Counter()
        for step in self.steps:
            if not step.done and step.next_state not in left:
                raise InputError(
                    f"{self.unit} {step.line} enters state {step.next_state!r}, which no {self.unit} "
                    f"leaves; if the episode ended there, mark that {self.unit} as done, else log what "
                    "follows"
                )
            to = None if step.done else step.next_state
            moves[step.state, step.action, to, step.reward, step.done] += 1
        rows: list[tuple[Any, ...]] = []
        for (s, a, t, reward, done), k in moves.items():
            share = Fraction(k, taken[s, a])
            if done:
                rows += [(s, a, u, share * q, reward, 0) for u, q in self.start().items()]
            else:
                rows.append((s, a, t, share, reward))
        order = dict.fromkeys(step.state for step in self.steps)
        return MDP.from_transitions(rows, states=list(order))

    def logged_policy(self, column: str, **checks: Any) -> Policy | None:
        """The policy in the column ``target`` or ``behavior``; None where nothing is logged.

        Parameters
        ----------
        column : {"target", "behavior"}
        **checks
            ``normalize`` and ``tolerance``, as for :class:`Policy`.

        Raises
        ------
        InputError
            Where a line has no entry and others do, or two lines disagree.
        ProbabilityError
            Where the actions logged in a state do not sum to one.
        """
        if not self.has(column):
            return None
        steps = {step: getattr(step, column) for step in self.steps}
        rows: dict[Any, dict[Any, Any]] = {}
        lines: dict[Any, int] = {}
        for step, p in steps.items():
            if p is None:
                raise InputError(
                    f"{self.unit} {step.line} has no {column} probability, and others have; give all or "
                    f"none, or pass {column}="
                )
            known = rows.setdefault(step.state, {}).setdefault(step.action, p)
            if known != p:
                raise InputError(
                    f"{self.unit} {step.line} gives action {step.action!r} in state {step.state!r} the "
                    f"{column} probability {p}, and {self.unit} "
                    f"{lines[step.state, step.action]} gives it {known}; a "
                    f"policy has one. Pass {column}="
                )
            lines.setdefault((step.state, step.action), step.line)
        try:
            return Policy(rows, **checks)
        except ProbabilityError as error:
            raise ProbabilityError(
                f"column {column!r}, {error}. Where an action was never logged, pass {column}=",
                state=error.state, action=error.action, total=error.total,
            ) from None  # fmt: skip

    def policies(self, fields: Mapping[str, Any], **checks: Any) -> dict[str, Any]:
        """Target and behaviour: as given in ``fields``, else as logged, else as counted.

        The behaviour that nobody knows is that of relative frequencies, the target that nobody
        knows is the behaviour.
        """
        mu = fields.get("behavior")
        if mu is None:
            mu = self.logged_policy("behavior", **checks) or self.behavior()
        pi = fields.get("target")
        if isinstance(pi, str) and pi == "behavior":
            pi = mu
        if pi is None:
            pi = self.logged_policy("target", **checks) or mu
        return {"target": pi, "behavior": None if pi is mu else mu}

    def told_policies(self, fields: Mapping[str, Any]) -> list[str]:
        """Where :meth:`policies` takes target and behaviour from, a sentence each, for people.

        Examples
        --------
        >>> step = LoggedStep("s", "a", "s", 1, False, True, None, "1/2", 2)
        >>> for line in Log((step,)).told_policies({}):
        ...     print(line)
        the behaviour is the column 'behavior' of the log
        the target is the behaviour, since the log has no column 'target'; --target or target= names another
        """
        has = {name: self.has(name) for name in CHANCES}
        told = []
        if fields.get("behavior") is not None:
            told.append("the behaviour is the one that was given")
        elif has["behavior"]:
            told.append("the behaviour is the column 'behavior' of the log")
        else:
            told.append(
                "the behaviour is the relative frequency of each action, since the log has no column "
                "'behavior'"
            )
        target = fields.get("target")
        if isinstance(target, str) and target == "behavior":
            told.append("the target is the behaviour, as asked")
        elif target is not None:
            unused = "; the column 'target' of the log is not used" if has["target"] else ""
            told.append(f"the target is the one that was given{unused}")
        elif has["target"]:
            told.append("the target is the column 'target' of the log")
        else:
            told.append(
                "the target is the behaviour, since the log has no column 'target'; --target or target= "
                "names another"
            )
        return told

    def problem(self, target: Any = None, **fields: Any) -> PolicyEvaluation:
        """The estimated problem; what is not among ``fields`` comes from :meth:`policies`.

        Parameters
        ----------
        target : Policy, "behavior" or "uniform", optional
            The column ``target`` of the log unless given, and where there is none the behaviour;
            :meth:`told_policies` says which it is.
        **fields
            As for :class:`PolicyEvaluation`.
        """
        model = self.model()
        return PolicyEvaluation(model, **self._resolved(model, target, fields))

    def _resolved(self, model: MDP, target: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields with both policies."""
        if isinstance(target, str) and target == "uniform":
            target = Policy.uniform(model)
        return {**fields, **self.policies({**fields, "target": target})}

    def confidence(
        self,
        target: Any = None,
        *,
        methods: Iterable[Any] | Mapping[str, Any] = METHODS,
        level: float = 0.95,
        **fields: Any,
    ) -> ModelConfidence:
        """Confidence intervals for values, weights, fixed points and errors of the estimated problem.

        They are those of the delta method: :mod:`obliquetd.formats.log_confidence` has the equation, its
        source and what it supposes.

        Parameters
        ----------
        target, **fields
            As for :meth:`problem`.
        methods : iterable, or mapping of label to any of these
            Names, learners, X or Omega, all that ``problem.fixed_point`` takes: whose theta and RMSE have intervals.
        level : float
            The chance with which an interval holds what an endless log leads to, about.

        Raises
        ------
        InputError
            For symbols, for a level that is none, and for a log with fewer than ten rows of a pair of state and action.

        Examples
        --------
        A state that is left for itself with rewards 0 and 2, each 50 times: v = 1 / (1 - 1/2), and its standard
        error is 1 / sqrt(99) / (1 - 1/2).

        >>> steps = [LoggedStep("s", "a", "s", 2 * (k % 2), False, k == 0, None, None, k) for k in range(100)]
        >>> found = Log(tuple(steps)).confidence(discount="1/2").interval("v_pi", "s")
        >>> round(found.standard_error, 6), round(found.lower, 3), round(found.upper, 3)
        (0.201008, 1.601, 2.399)
        """
        found = self._resolved(self.model(), target, {**fields, "arithmetic": None})
        problem = PolicyEvaluation(self.model(), **found)
        if problem.symbols:
            names = ", ".join(map(str, problem.symbols))
            raise InputError(
                f"a confidence interval needs numbers, and the problem has the symbols {names}; give numbers in their place"
            )
        counted = fields.get("behavior") is None and not self.has("behavior")
        return confidence_of_model(
            Frequencies.of_steps(self.steps), found, methods, level,
            counted=counted, follows=counted and found["behavior"] is None,
        )  # fmt: skip

    def has(self, column: str) -> bool:
        """Whether some step has a probability in the column ``target`` or ``behavior``."""
        return any(getattr(step, column) is not None for step in self.steps)

    @property
    def estimated_numbers(self) -> int:
        """How many numbers :meth:`confidence` moves: shares, and means of rewards."""
        found = Frequencies.of_steps(self.steps)
        return sum(1 for _ in found.moved(counted=not self.has("behavior")))


def read_log(path: Any) -> Log:
    r"""Read logged transitions from a CSV file, or from a DataFrame of pandas.

    Parameters
    ----------
    path : str, Path or pandas.DataFrame
        See the preface of :mod:`obliquetd.formats.log` for the columns.

    Raises
    ------
    ModelFileError
        Where a column is missing or a field cannot be read; gives the line, or the row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = file.write_text("state,action,next_state,reward,done\n0,a,1,1/2,0\n1,a,0,0,1\n0,a,0,2,0\n")
    >>> log = read_log(file)
    >>> [tuple(row) for row in log.model().transitions][0], log.counts()[0, "a"]
    ((0, 'a', 0, 1/2, 2, 1), 2)
    """
    if is_frame(path):
        return Log(tuple(steps_of_frame(path)), "row")
    file = path_of(path, "the log")
    table = lines_of(file)
    heading = table[0][1]
    spaced = len(heading) > 1 and all(name.startswith(" ") for name in heading[1:])
    heading = [name.strip() for name in heading]
    heading = check_heading(heading, len(table) - 1, file)
    records = []
    for number, fields in table[1:]:
        if len(fields) != len(heading):
            raise ModelFileError(
                f"{file}:{number} is {','.join(fields)[:60]!r}; expected {len(heading)} fields"
            )
        row = {k: v.strip() if spaced else v for k, v in zip(heading, fields, strict=True)}
        records.append((number, row))
    states = labels_of([row[k] for _, row in records for k in ("state", "next_state")])
    actions = labels_of([row["action"] for _, row in records])
    labelled = [
        (number, {**row, "state": states[row["state"]], "action": actions[row["action"]],
                  "next_state": states[row["next_state"]]})
        for number, row in records
    ]  # fmt: skip
    return Log(tuple(steps_of(f"{file}:", labelled, "line")), "line")


def contents_of(log: Log, reading: Reading) -> Contents:
    """The estimated MDP, and the policies that are given, logged or counted."""
    mdp = log.model()
    if reading.terminal:
        mdp = reading.mdp(mdp.transitions, states=mdp.states, actions=mdp.actions)
    return Contents(mdp, policies=lambda fields: log.policies(fields, **reading.checks))


FORMAT = Format(
    ".csv",
    "a log of transitions, from which an MDP is estimated",
    read=lambda path, reading: contents_of(read_log(path), reading),
)
