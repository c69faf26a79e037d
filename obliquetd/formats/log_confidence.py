r"""How far the answers of a model that was estimated from a log may be off: the delta method.

The log's frequencies are the estimates

p(k|s,a)   the share of outcome k, a next state or an end, among the n(s,a) times that action a was taken in s,
m(s,a,k)   the mean of the rewards that came with it, whose variance is v(s,a,k),
mu(a|s)    the share of action a among the n(s) times in s, where no behaviour is known,
q(s)       the share of state s among the N beginnings of episodes.

In a long log they are nearly independent of each other, and those of one row are nearly multinomial, though the
log is one trajectory (Billingsley 1961, Statistical inference for Markov processes, Theorem 5.1). An answer T
of the model, such as v_pi(s), then has about the variance

V = sum over (s,a) and k of  p(k|s,a) D_k^2 / (n(s,a) - 1)  +  (dT / dm(s,a,k))^2 v(s,a,k) / n(s,a,k)
    + the same as the first for mu, with n(s), and for q, with N,

where D_k is the derivative of T at h = 0 as the row p becomes (1 - h) p + h e_k, the influence of outcome k
(Hampel 1974; for values, Mannor, Simester, Sun and Tsitsiklis 2007), and v has n - 1 below. Nothing is drawn, so there is
no seed. The derivatives are differences of the model's own answers in floats, so that each equation of the package serves
as it is.

V is an estimate, too, and a poor one where an outcome came a few times. A row of n observations whose influences have
the kurtosis kappa, the fourth moment over the square of the variance, estimates its part of V with the relative variance
2 / f,

f = 2 n / (kappa - (n - 3) / (n - 1)),   and n - 1 if that is less, as of normal ones (kappa = 3),

and V, the sum of parts V_r, as a chi-square with V^2 / (sum over r of V_r^2 / f_r) degrees of freedom would
(Satterthwaite 1946). An interval is T with the quantile of Student's distribution with so many times sqrt V on both sides.
For a share p of n alone f is about 2 n p (1 - p) / (1 - 2 p)^2: an outcome that came three times counts for about six.

It supposes that next state and reward depend on state and action alone, and that each pair was seen
often: an outcome that never came adds nothing. With fewer than ten observations of a pair there are no intervals.
How often they held the truth stands in the page on learning from a log, with the command that counts it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.display import HtmlTable
from obliquetd.errors import InputError, LabelError, ObliqueTDError
from obliquetd.formats.frequencies import Frequencies, Move
from obliquetd.frames import Tabular
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.fixed_point import label_of

Floats = npt.NDArray[np.float64]

__all__ = ["FEW", "FEWEST", "Answer", "ModelConfidence", "confidence_of_model"]

NO_ERROR = 1e-8
"""An error that is no larger beside the values is told from 0 by no difference of this length."""
FEW, FEWEST = 30, 10
"""An outcome of chance 1/10 is missed by 4 logs of 100 where its pair was seen 30 times, and by 35 where 10 times: a pair
that was seen less often than the first makes intervals doubtful, less often than the second makes them none."""
METHOD = "delta method"


class Answer(NamedTuple):
    """One number of the model with its interval.

    ``method`` is the fixed point's, and None for what has none; ``of`` is a state, the number of a weight, or None.
    """

    quantity: str
    method: str | None
    of: Any
    estimate: float
    lower: float
    upper: float
    standard_error: float

    @property
    def name(self) -> str:
        """What it is, for people."""
        of = "" if self.of is None else f"({self.of})"
        called = {"best": "Pi v_pi", "rmse": "RMSE"}.get(self.quantity, self.quantity)
        return f"{called}{of}" + (f" of {self.method}" if self.method else "")


@dataclass(frozen=True, eq=False)
class ModelConfidence(HtmlTable, Tabular):
    """Intervals for what follows from a model that was estimated from a log; see the module's preface.

    Attributes
    ----------
    level : float
    answers : tuple of Answer
        ``xi``, ``v_pi`` and ``best`` by state; ``theta`` and ``rmse`` of each fixed point.
    fewest : tuple of (state, action), int
        The pair that was seen least often, and how often that was.
    problems : dict of str to str
        What has no interval, and why.
    """

    level: float
    answers: tuple[Answer, ...]
    fewest: tuple[tuple[Any, Any], int]
    problems: dict[str, str] = field(default_factory=dict)
    method: str = METHOD

    def interval(self, quantity: str, of: Any = None, method: str | None = None) -> Answer:
        """One of the answers, by its name.

        Raises
        ------
        LabelError
            For what is not among them.
        """
        for answer in self.answers:
            if (answer.quantity, answer.of, answer.method) == (quantity, of, method):
                return answer
        asked = Answer(quantity, method, of, 0, 0, 0, 0).name
        why = next(
            (
                f": {w}"
                for x, w in self.problems.items()
                if x in (method, quantity, f"{quantity} of {method}")
            ),
            "",
        )
        raise LabelError(
            f"no interval is for {asked}{why}; there are {', '.join(a.name for a in self.answers)[:300]}"
        )

    @property
    def remarks(self) -> list[str]:
        """What the intervals may miss, where a pair was seen a few times only."""
        (s, a), count = self.fewest
        if count >= FEW:
            return []
        return [
            f"action {a!r} in state {s!r} was logged only {count} times, and an outcome that never came adds nothing: an "
            f"outcome of chance 1/10 is missed by {100 * 0.9**count:.0f} logs of 100 that long. With {FEW} times it is by 4"
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row an answer."""
        return (answer._asdict() for answer in self.answers)

    def cells(self, answers: Iterable[Answer] | None = None) -> list[list[str]]:
        """Some of the answers, all unless given, as a table of text, a heading first."""
        chosen = self.answers if answers is None else answers
        rows = [[a.name, *(f"{x:.4g}" for x in a[3:])] for a in chosen]
        return [["answer", "estimate", "lower", "upper", "standard error"], *rows]

    @property
    def caption(self) -> str:
        """Level and method in a line."""
        return f"{100 * self.level:g} % intervals, {self.method}"

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        heading, *rows = self.cells()
        return self.caption, heading, rows

    def __str__(self) -> str:
        table = self.cells()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in table
        ]
        return "\n".join([self.caption, *lines, *self.remarks])

    __repr__ = __str__


def confidence_of_model(
    frequencies: Frequencies,
    fields: Mapping[str, Any],
    methods: Iterable[Any] | Mapping[str, Any],
    level: float,
    *,
    counted: bool,
    follows: bool,
) -> ModelConfidence:
    """The intervals of a problem that rests on frequencies; ``Log.confidence`` is for people.

    Parameters
    ----------
    frequencies : Frequencies
    fields : mapping
        As for :class:`PolicyEvaluation`, target and behaviour included.
    methods : iterable
        What ``problem.fixed_point`` takes.
    level : float
    counted : bool
        Whether the behaviour is one of relative frequencies.
    follows : bool
        Whether the target is that behaviour.

    Raises
    ------
    InputError
        For a level that is none, and for a pair that was seen too seldom.
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"level is {level!r}; expected a number between 0 and 1, such as 0.95")

    counts = {x: int(n.sum()) for x, n in frequencies.n.items()}
    least = min(counts, key=lambda x: counts[x])
    if counts[least] < FEWEST:
        rows = sum(counts.values())
        raise InputError(
            f"the log has {rows} rows, and {counts[least]} of them with action {least[1]!r} in state {least[0]!r}: intervals "
            f"need at least {FEWEST} of each pair of state and action that it has. Log more, at this rate about "
            f"{-(-rows * FEWEST // counts[least])} rows, or merge states that are seldom seen"
        )

    def problem_of(found: Frequencies) -> PolicyEvaluation:
        moving: dict[str, Any] = {}
        if follows:
            moving = {"target": found.behavior(), "behavior": None}
        elif counted:
            moving = {"behavior": found.behavior()}
        return PolicyEvaluation(found.mdp(), **{**fields, **moving, "arithmetic": "float"})

    base = problem_of(frequencies)
    problems: dict[str, str] = {}
    listed = (
        list(methods.items())
        if isinstance(methods, Mapping)
        else [(label_of(m, base), m) for m in methods]
    )
    known = list(_questions(base, listed, problems))
    size = max([abs(x) for (quantity, _, _), x in known if quantity == "v_pi"], default=0.0)
    for name, value in known:
        if name[0] == "rmse" and value <= NO_ERROR * size:
            problems[f"rmse of {name[1]}"] = (
                "it is 0 to rounding, and a root has no derivative there"
            )
    known = [(name, x) for name, x in known if f"{name[0]} of {name[1]}" not in problems]
    names = [name for name, _ in known]
    values = np.array([value for _, value in known])
    spread, far = _spread(
        (
            (move, np.array([moved.get(name, np.nan) for name in names]) - values)
            for move in frequencies.moved(counted=counted)
            for moved in [dict(_questions(problem_of(move.after), listed, {}))]
        ),
        len(known),
        level,
    )
    answers = tuple(
        Answer(*name, value, *_kept(name[0], value - f, value + f), se)
        for name, value, f, se in zip(
            names, values.tolist(), far.tolist(), spread.tolist(), strict=True
        )
    )
    return ModelConfidence(float(level), answers, (least, counts[least]), problems)


def _spread(
    differences: Iterable[tuple[Move, Floats]], count: int, level: float
) -> tuple[Floats, Floats]:
    """The root of V of each answer, and how far its interval reaches."""
    from scipy.stats import t  # takes longer to import than all else

    parts: dict[Any, Floats] = defaultdict(lambda: np.zeros(count))
    fourth: dict[Any, Floats] = defaultdict(lambda: np.zeros(count))
    seen: dict[Any, int] = {}
    for move, difference in differences:
        term = move.weight * (difference / move.step) ** 2
        parts[move.row] += term
        fourth[move.row] += move.kurtosis * term**2
        seen[move.row] = move.seen
    variance, doubt = np.zeros(count), np.zeros(count)
    for row, part in parts.items():
        n, some = seen[row], part > 0
        freedom = np.ones(count)
        if n > 1:
            kurtosis = np.divide(fourth[row], part**2, out=np.ones(count), where=some)
            freedom = np.minimum(n - 1, 2 * n / (kurtosis - (n - 3) / (n - 1)))
        variance += part
        doubt += part**2 / freedom
    spread = np.sqrt(variance)
    freedom = np.divide(variance**2, doubt, out=np.full(count, np.inf), where=doubt > 0)
    return spread, np.asarray(t.ppf((1 + level) / 2, freedom)) * spread


def _kept(quantity: str, lower: float, upper: float) -> tuple[float, float]:
    """An interval inside what the quantity can be: an error is not negative, a weight at most 1."""
    if quantity in ("rmse", "xi"):
        lower = max(lower, 0.0)
    return lower, min(upper, 1.0) if quantity == "xi" else upper


def _questions(
    problem: PolicyEvaluation, methods: list[tuple[str, Any]], problems: dict[str, str]
) -> Iterator[tuple[tuple[str, str | None, Any], float]]:
    """Each answer with its name; what does not exist goes to ``problems`` with the reason."""
    by_state = {
        "xi": lambda: problem.xi,
        "v_pi": lambda: problem.v_pi,
        "best": lambda: problem.best,
    }
    for quantity, answer in by_state.items():
        try:
            found = list(answer())
        except ObliqueTDError as error:
            problems[quantity] = str(error)
            continue
        yield from (
            ((quantity, None, s), float(x)) for s, x in zip(problem.states, found, strict=True)
        )
    for label, method in methods:
        try:
            point = problem.fixed_point(method)
            if not point.is_unique:
                problems[label] = "its weights are not unique"
                continue
            theta, rmse = list(point.theta), float(point.rmse)
        except ObliqueTDError as error:
            problems[label] = str(error)
            continue
        yield from ((("theta", label, j), float(x)) for j, x in enumerate(theta))
        yield ("rmse", label, None), rmse
