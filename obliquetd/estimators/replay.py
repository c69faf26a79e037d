"""From a log to weights: an estimator at once, a learner row by row, exactly on a log of rationals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from obliquetd.algebra import FLOAT, Arithmetic, Matrix, number_text, parse_number
from obliquetd.display import Equations
from obliquetd.errors import InputError, ObliqueTDError, UndefinedError
from obliquetd.estimators.base import Estimator, Fitted
from obliquetd.estimators.confidence import Confidence, confidence_of
from obliquetd.estimators.rows import Rows, arithmetic_for, read_rows
from obliquetd.estimators.walk import step_symbols, walked
from obliquetd.experiments import LoggedData
from obliquetd.formats import Log
from obliquetd.learners import Learner
from obliquetd.problem.requests import read_theta

__all__ = ["Estimate", "replay"]


class Estimate(Equations):
    """The weights that a log leads to, made by :func:`replay`.

    Attributes
    ----------
    label : str
        The estimator's.
    arithmetic : str
        "exact", "symbolic" or "float".
    rows : int
    """

    def __init__(
        self, label: str, arithmetic: Arithmetic, rows: int, fitted: Fitted, intervals: Any = None
    ) -> None:
        self.label, self.arithmetic, self.rows = label, arithmetic.kind, rows
        self._arithmetic, self._fitted, self._intervals = arithmetic, fitted, intervals

    @property
    def theta(self) -> Any:
        """The weights, d of them."""
        return self._fitted.theta.public_vector()

    @property
    def A(self) -> Any:
        """The matrix of the equation A theta = b, summed over the rows, with the ridge in it: (d, d).

        Over the number of rows it tends to that of ``mean_dynamics``. UndefinedError for a learner,
        which sums nothing.
        """
        return self._summed(self._fitted.A).public()

    @property
    def b(self) -> Any:
        """The right side of the equation, summed over the rows: d of them."""
        return self._summed(self._fitted.b).public_vector()

    def _summed(self, found: Matrix | None) -> Matrix:
        if found is None:
            raise UndefinedError(
                f"{self.label} goes from row to row and has no sums A and b; LSTD has, and "
                "mean_dynamics has their means"
            )
        return found

    @property
    def path(self) -> list[tuple[int, Any]]:
        """The weights after so many rows, of an estimator that goes row by row; else empty."""
        return [
            (t, self._arithmetic.column(theta.tolist()).public_vector())
            for t, theta in self._fitted.path
        ]

    @property
    def accuracy(self) -> Any:
        """Residual and condition of the solve, for floats."""
        return self._fitted.theta.report

    def confidence(
        self,
        level: float = 0.95,
        *,
        method: str | None = None,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Confidence:
        """Confidence intervals for the weights, each by itself, in floats.

        Parameters
        ----------
        level : float
            The chance with which an interval holds what infinite data leads to, about.
        method : {"bootstrap over episodes", "batch means"}, optional
            The first where the log has 30 episodes or more, and not each of one row, unless one is named; the second is
            for one long trajectory. :mod:`obliquetd.estimators.confidence` says what each does.
        resamples, seed : int
            How many draws of blocks the quantiles rest on, and what they begin with.

        Raises
        ------
        InputError
            For a learner, or an estimator that goes from row to row, which has no sums; for symbols; and
            for a log that is too short: of fewer than 30 episodes and of fewer than 100 rows, or of rows that depend
            on each other for long.
        SingularError
            Where the log without one of the episodes or batches does not determine the weights.

        Examples
        --------
        >>> import numpy as np
        >>> from obliquetd.estimators import LSTD
        >>> rewards = np.random.default_rng(0).normal(size=400)
        >>> log = LoggedData(np.ones((400, 1)), np.ones((400, 1)), rewards, 0.5)
        >>> replay(log, LSTD()).confidence()
        LSTD: 95 % intervals, batch means, 20 batches, correlation time 1.05 rows
        weight  estimate    lower   upper  standard error
             0  -0.07324  -0.3062  0.1544          0.1083
        """
        if self._intervals is None:
            raise InputError(
                f"{self.label} has no confidence interval: it goes from row to row, and its last weights are no "
                "root of sums over the rows. LSTD, LSETD, BRM and Averager have one"
            )
        found: Confidence = self._intervals(level, method, resamples, seed)
        return found

    def equations(self) -> list[tuple[str, Callable[[], Any]]]:
        return [(r"\\theta", lambda: self.theta), ("A", lambda: self.A), ("b", lambda: self.b)]

    def __repr__(self) -> str:
        try:
            shown = self._fitted.theta.public_list()
            more = ", ..." if len(shown) > 8 else ""
            told = ", ".join(number_text(x) for x in shown[:8])
        except ObliqueTDError as error:  # a repr must not raise
            return f"Estimate({self.label!r}: {error})"
        return f"Estimate({self.label!r}, {self.rows} rows, theta = ({told}{more}))"


def replay(
    log: LoggedData,
    estimator: Estimator | Learner,
    *,
    arithmetic: str | None = None,
    theta0: Any = None,
    weights: Any = None,
    twin: LoggedData | None = None,
) -> Estimate:
    """The weights that an estimator, or a learner in one pass, makes of a log.

    Parameters
    ----------
    log : LoggedData
    estimator : Estimator or Learner
        LSTD, LSETD, LSPE, FPKF, BRM or Averager; or a learner with a step size, whose own rule then
        runs on the log's numbers (``simulate`` is faster, and in floats).
    arithmetic : {"exact", "symbolic", "float"}, optional
        None takes that of the log's numbers: floats where there is one. "exact" and "symbolic" read each
        float as the shortest decimal that prints it.
    theta0 : vector of d, optional
        The first weights, 0 unless given; what a ridge draws to.
    weights : array (T,), optional
        How often each row counts, 1 unless given: its part of the sums is multiplied by it.
        With chances xi mu p of independent rows the answer is that of the model.
    twin : LoggedData, optional
        A second, independent transition out of the state of each row, for ``BRM(samples=2)``.

    Returns
    -------
    Estimate

    Raises
    ------
    NotUniqueError, NoSolutionError
        Where the rows do not determine the weights; carries a null vector.
    InputError, FeatureError, KindError, NumberError
        For what is no log or no estimator, and for numbers that do not fit.

    Examples
    --------
    >>> log = LoggedData([[1, 0], [0, 1]], [[0, 1], [1, 0]], [1, "1/3"], "9/10")
    >>> from obliquetd.estimators import LSTD
    >>> replay(log, LSTD()), replay(log, LSTD(), arithmetic="float").theta.round(3).tolist()
    (Estimate('LSTD', 2 rows, theta = (130/19, 370/57)), [6.842, 6.491])
    """
    if isinstance(log, Log):
        raise InputError(
            "a Log holds labels; give replay LoggedData.from_log(log, features, discount=), which has numbers"
        )
    if not isinstance(log, LoggedData):
        raise InputError(f"log is {type(log).__name__}; expected LoggedData")
    if isinstance(estimator, type) and issubclass(estimator, Estimator | Learner):
        raise InputError(f"{estimator.__name__} is a class; make one of it, {estimator.__name__}()")
    if isinstance(estimator, Learner):
        return _learn(log, estimator, arithmetic, theta0, weights, twin)
    if not isinstance(estimator, Estimator):
        raise InputError(
            f"{estimator!r} is no estimator and no learner; expected one such as LSTD() or TD(0.1)"
        )
    if estimator.twins != (twin is not None):
        raise InputError(
            f"{estimator.label} needs a second transition out of the state of each row; pass twin=, or "
            "take BRM(samples=1)"
            if estimator.twins
            else f"twin came, and {estimator.label} uses one sample of each row; leave it out, or take "
            "BRM(samples=2)"
        )
    number = arithmetic_for(log, estimator.symbols, arithmetic)
    rows = read_rows(log, number, weights, twin)
    fitted = estimator.fit(rows, _first_weights(rows, theta0))

    def intervals(level: float, method: str | None, resamples: int, seed: int) -> Confidence:
        if estimator.symbols:
            raise InputError(
                f"{estimator.label} has symbols; a confidence interval needs numbers in their place"
            )
        floats = rows if number.kind == "float" else read_rows(log, FLOAT, weights, twin)
        first = _first_weights(floats, theta0)
        return confidence_of(estimator, floats, first, level, method, resamples, seed)

    return Estimate(estimator.label, number, len(rows), fitted, intervals)


def _first_weights(rows: Rows, theta0: Any) -> Any:
    """theta0 as an array of native scalars; 0 unless given."""
    first = [0] * rows.d if theta0 is None else read_theta(theta0, rows.d, "theta0")
    return np.array([rows.arithmetic.scalar(parse_number(x)) for x in first], dtype=rows.phi.dtype)


def _learn(
    log: LoggedData, learner: Learner, arithmetic: str | None, theta0: Any, weights: Any, twin: Any
) -> Estimate:
    for name, value in (("weights", weights), ("twin", twin)):
        if value is not None:
            raise InputError(f"{name} came, and {learner.label} does not use it; leave it out")
    log.check(log.length, 1, {learner.name: learner})
    symbols = learner.symbols | step_symbols(learner)
    number = arithmetic_for(log, symbols, arithmetic)
    rows = read_rows(log, number, None, None)
    return Estimate(
        learner.label, number, len(rows), walked(learner, rows, _first_weights(rows, theta0))
    )
