"""Where transitions come from: a problem, or a log.

A stream hands every learner of one run the same outcomes. It is drawn from one numpy
Generator a run, spawned from one seed.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT, FloatMatrix, Matrix, number_text
from obliquetd.dynamics.sampling import moved_weights
from obliquetd.errors import InputError
from obliquetd.learners import Learner
from obliquetd.learners.active import Rows
from obliquetd.learners.compiled import compiled_picks, compiled_walk
from obliquetd.learners.words import TWIN
from obliquetd.mdp.imports import shown
from obliquetd.problem import PolicyEvaluation, require_problem
from obliquetd.problem.inputs import OCCUPANCY
from obliquetd.problem.native import Operators

__all__ = ["Drawn", "Outcomes", "Stream", "TableStream", "dense", "floating", "stored"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a learner's rule needs of each possible outcome, as arrays.

    Attributes
    ----------
    features : (m, d)
        An array, or a scipy.sparse CSR array where almost all entries are 0.
    state, next_state : (k,) rows of ``features``
    reward, discount, own : (k,)
        ``own`` is the discount before gamma.
    pi, mu, rho : (k,)
        The chances of the action under both policies (NaN where a log does not say), and
        their ratio.
    features_next : (m, d)
    rho_expected : (k,)
        As a :class:`~obliquetd.learners.Transition` has them; over states, and in a log, they
        are ``features`` and ``rho`` themselves.
    """

    features: Any
    state: Indices
    next_state: Indices
    reward: Floats
    discount: Floats
    own: Floats
    pi: Floats
    mu: Floats
    rho: Floats
    features_next: Any
    rho_expected: Floats

    @property
    def sparse(self) -> bool:
        """Whether the features are kept sparse."""
        return not isinstance(self.features, np.ndarray)

    @property
    def late(self) -> bool:
        """Whether the target expects other features after a transition than those reached."""
        return self.features_next is not self.features

    @cached_property
    def dense(self) -> tuple[Floats, Floats]:
        """``features`` and ``features_next`` with every entry, for rules that go over all of them."""
        if not self.sparse:
            return self.features, self.features_next
        features = self.features.toarray()
        return features, self.features_next.toarray() if self.late else features

    @cached_property
    def table(self) -> Rows:
        """Sparse features by row, followed by what the target expects where that is something else."""
        if not self.late:
            return Rows.of(self.features)
        import scipy.sparse as sparse

        return Rows.of(sparse.vstack([self.features, self.features_next], format="csr"))

    def identity(self) -> bytes:
        """The bytes of all arrays; one that stands for another counts once."""
        kept = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        expected, ratio = kept.pop("features_next"), kept.pop("rho_expected")
        arrays = list(kept.values())
        arrays += [expected] if expected is not self.features else []
        arrays += [ratio] if ratio is not self.rho else []
        if self.sparse:
            tables = [a for a in arrays if not isinstance(a, np.ndarray)]
            arrays = [a for a in arrays if isinstance(a, np.ndarray)]
            arrays += [part for t in tables for part in (t.indptr, t.indices, t.data)]
        return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


class Drawn(NamedTuple):
    """One run's transitions.

    ``rows`` (T,) of the outcomes, their ``twins`` for double sampling, and ``fresh``: where
    traces start afresh.
    """

    outcomes: Outcomes
    rows: Indices
    twins: Indices
    fresh: npt.NDArray[np.bool_]

    def part(self, begin: int, end: int) -> Drawn:
        """Steps begin, ..., end - 1."""
        span = slice(begin, end)
        return Drawn(self.outcomes, self.rows[span], self.twins[span], self.fresh[span])


class Stream(ABC):
    """A source of runs; abstract.

    Attributes
    ----------
    of_states : bool
        Whether the rows of the features are the states of a problem, in its order.
    resamples : bool
        Whether a second, independent transition can be drawn from the same state, as
        double sampling needs.
    varies : bool
        Whether two runs differ.
    length : int or None
        The most steps that a run can have; None where there is no such bound.
    """

    of_states: ClassVar[bool] = False
    resamples: ClassVar[bool] = False
    varies: ClassVar[bool] = True

    @property
    def length(self) -> int | None:
        """How many transitions a run can have; None where there is no limit."""
        return None

    @property
    def knows_policies(self) -> bool:
        """Whether the probabilities of the actions are known, and not their ratios alone."""
        return True

    def check(self, steps: int, runs: int, learners: Mapping[str, Learner]) -> None:
        """InputError where the stream cannot serve so many steps, runs, or one of the learners."""
        if self.length is not None and steps > self.length:
            raise InputError(f"{steps} steps asked of a log of {self.length} transitions")
        if runs > 1 and not self.varies:
            raise InputError(
                f"runs is {runs}, but a log is one run, and replaying it gives the same numbers "
                "again; use runs=1, or draw from the problem that the log estimates"
            )
        for name, learner in learners.items():
            if learner.reads & TWIN and not self.resamples:
                raise InputError(
                    f"{name} needs two independent transitions out of every state, and a log has "
                    "one; use ResidualGradient, which needs one, or a stream drawn from a problem"
                )
            rows = [k for k, v in learner.derived.items() if isinstance(v, tuple) and len(v) > 1]
            if rows and not self.of_states:
                raise InputError(
                    f"{name} has a number for each state of the problem ({rows[0]}), and a log has "
                    "observations; use one number for all, or a stream drawn from the problem"
                )
            if learner.reads & {"pi", "mu"} and not self.knows_policies:
                raise InputError(
                    f"{name} uses the probabilities of the actions under both policies, and the log "
                    "has their ratios alone; give it target= and behavior= in place of rho="
                )

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of features."""

    @abstractmethod
    def draw(self, steps: int, rng: np.random.Generator, twins: bool = True) -> Drawn:
        """One run; what it holds depends on the generator alone.

        Without ``twins``, each row stands for its own twin: for learners that use none.
        """

    @abstractmethod
    def identity(self) -> bytes:
        """Bytes that differ wherever the runs of two streams do."""


def floating(problem: PolicyEvaluation) -> Operators:
    """The problem's operators in floats.

    Raises
    ------
    KindError
        For a symbolic problem.
    """
    return problem.native if problem.arithmetic == "float" else problem.native.over(FLOAT)


def dense(matrix: Matrix) -> Floats:
    """The entries of a floating-point matrix."""
    if not isinstance(matrix, FloatMatrix):
        raise TypeError(f"expected floats, got {matrix.arithmetic.kind} entries")
    return matrix.dense()


def stored(matrix: Matrix) -> Any:
    """The same as they are kept: an array, or a CSR array where they are sparse."""
    if isinstance(matrix, FloatMatrix) and not isinstance(matrix.array, np.ndarray):
        return matrix.array.tocsr()
    return np.ascontiguousarray(dense(matrix))


def _as(matrix: Any, other: Any) -> Any:
    """A matrix kept the way that another one is."""
    import scipy.sparse as sparse

    if isinstance(matrix, np.ndarray) == isinstance(other, np.ndarray):
        return matrix
    return sparse.csr_array(matrix) if isinstance(matrix, np.ndarray) else matrix.toarray()


class TableStream(Stream):
    """Transitions of the behaviour policy, drawn from the model.

    Parameters
    ----------
    problem : PolicyEvaluation
    kind : {"trajectory", "iid", "episodes"}
        One endless trajectory from its stationary distribution, which xi must be, or from
        ``start``, in which episodes begin anew from the problem's own ``start``; independent
        transitions from xi, that of a terminal state leading to itself with reward 0; or
        episodes that begin in ``start`` and end in terminal states.
    start : mapping of state to probability, optional
        The problem's own unless given.

    Raises
    ------
    InputError
        Where the kind and the model do not fit.
    StationaryError
        For a trajectory without ``start`` where the chain has several closed classes.
    """

    of_states = resamples = True

    def __init__(
        self,
        problem: PolicyEvaluation,
        kind: str = "trajectory",
        start: Mapping[Any, Any] | None = None,
    ) -> None:
        if kind not in ("trajectory", "iid", "episodes"):
            raise InputError(f"stream is {kind!r}; expected 'trajectory', 'iid' or 'episodes'")
        ends = require_problem(problem).mdp.terminal
        if kind == "trajectory" and ends and problem.start is None:
            raise InputError(
                f"the model ends in {shown(ends)}; use stream='episodes' with start=, or give the "
                "problem its start, as in problem.replace(start={state: probability})"
            )
        if kind == "episodes" and start is None and problem.start is None:
            raise InputError(
                "stream='episodes' needs to know where episodes begin; pass start={state: probability} (--start STATE "
                "on the command line), or give the model its start"
            )
        if kind == "iid" and start is not None:
            raise InputError(
                "stream='iid' draws states from xi; leave start out, or give xi=start to the problem"
            )
        ops = floating(problem)
        if kind == "episodes" or problem.inputs.xi == OCCUPANCY:
            start = problem.start if start is None else start
        if kind == "trajectory" and start is None:
            _check_stationary(problem)
        first = self._start(ops, start)
        if kind == "episodes":  # the walk itself begins anew, in a state without rows
            ops = Operators(dataclasses.replace(problem.inputs, start=None), FLOAT)
        kept = (
            ~np.isin(ops.state, ops.terminal)
            if kind == "episodes"
            else np.full(len(ops.state), True)
        )
        state, mu, pi = (x[kept] for x in (ops.state, ops.told_mu, ops.told_pi))
        state = state.astype(np.int64)
        rho = np.where(mu > 0, pi / np.where(mu > 0, mu, 1.0), 0.0)
        late, Phi = ops.places.late, stored(ops.Phi)
        self.kind = kind
        self.start = first
        self.offsets = np.searchsorted(state, np.arange(ops.n + 1)).astype(np.int64)
        total = np.concatenate([[0.0], np.cumsum(ops.mu[kept] * ops.probability[kept])])
        self.cumulative = total[1:] - total[self.offsets[state]]
        self.outcomes = Outcomes(
            Phi,
            state,
            ops.next_state[kept].astype(np.int64),
            ops.reward[kept].astype(float),
            ops.row_discount[kept].astype(float),
            ops.own_discount[kept].astype(float),
            np.asarray(pi, dtype=float),
            np.asarray(mu, dtype=float),
            rho,
            _as(stored(ops.features_next), Phi) if late else Phi,
            np.ones(len(rho)) if late else rho,
        )
        self.guide = self._guide()

    @staticmethod
    def _start(ops: Operators, start: Mapping[Any, Any] | None) -> Floats:
        if start is None:
            weights: Floats = np.array(ops.xi.entries(), dtype=float)
            total: float = weights.sum()
            return weights / total
        out = np.zeros(ops.n)
        for i, p in ops.chances_of(ops.places.read_start(start)).items():
            out[i] = p
        return out

    @property
    def width(self) -> int:
        return int(self.outcomes.features.shape[1])

    def identity(self) -> bytes:
        arrays = (self.start, self.cumulative)
        drawn = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
        return self.kind.encode() + drawn + self.outcomes.identity()

    def draw(self, steps: int, rng: np.random.Generator, twins: bool = True) -> Drawn:
        begin = rng.random(steps)
        fresh = np.ones(steps, dtype=np.bool_)
        if self.kind == "iid":
            one = np.array([0, len(self._starts[1])])
            states = _picked(*self._starts, one, np.zeros(steps, dtype=np.int64), begin)
            rows = self._rows_from(states, rng)
        else:
            rows = np.empty(steps, dtype=np.int64)
            compiled_walk()(
                self.cumulative, self.guide, self.offsets, self.outcomes.next_state, *self._starts,
                begin, rng.random(steps), rows, fresh,
            )  # fmt: skip
        second = self._rows_from(self.outcomes.state[rows], rng) if twins else rows
        return Drawn(self.outcomes, rows, second, fresh)

    @cached_property
    def _starts(self) -> tuple[Floats, Indices]:
        """The shares of the first states, up to each, and their guide, which leaves out those behind the last."""
        total = np.cumsum(self.start)
        count = int(np.flatnonzero(self.start)[-1]) + 1
        guide = np.searchsorted(total, np.arange(count) / count, side="right")
        return total, np.minimum(guide, count - 1).astype(np.int64)

    def _guide(self) -> Indices:
        """For the j-th of a state's m rows, the row that holds about j / m of its share."""
        state = self.outcomes.state
        first, count = self.offsets[state], np.diff(self.offsets)[state]
        base = self.cumulative + state  # shares of state s in [s, s + 1)
        rows = np.searchsorted(base, state + (np.arange(len(state)) - first) / count, side="right")
        return np.clip(rows, first, first + count - 1).astype(np.int64)

    def _rows_from(self, states: Indices, rng: np.random.Generator) -> Indices:
        """One outcome out of each given state."""
        uniform = rng.random(len(states))
        return _picked(self.cumulative, self.guide, self.offsets, states, uniform)


def _picked(
    cumulative: Floats, guide: Indices, offsets: Indices, states: Indices, uniform: Floats
) -> Indices:
    rows = np.empty(len(states), dtype=np.int64)
    compiled_picks()(cumulative, guide, offsets, states, uniform, rows)
    return rows


def _check_stationary(problem: PolicyEvaluation) -> None:
    """InputError where a trajectory does not visit states as weights xi of the user's own say."""
    ops = problem.native
    _ = ops.xi  # refused where episodes end for good
    for i, before, after in moved_weights(ops):
        weights = [number_text(ops.arithmetic.public(x)) for x in (before, after)]
        raise InputError(
            f"the weights xi are not stationary: state {problem.states[i]!r} has {weights[0]}, and one "
            f"step of the behaviour makes it {weights[1]}, so a trajectory visits other states than "
            "xi says. Use stream='iid', or say where the trajectory begins with start=, or leave "
            "xi out of the problem"
        )
