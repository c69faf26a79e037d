"""What is known exactly of a variance that a number of runs cannot show.

An average of squares over runs says nothing of what they did not meet. Before a spread gets an
interval, what is known of the learner without sampling is asked:

* a run that diverged has no error at all;
* ETD's follow-on trace may have no second moment (:mod:`obliquetd.dynamics.follow_on`);
* the noise of one off-policy update has second moment E[rho^2 ...]. The pairs (s, a) that all the
  steps of all the runs are expected to meet fewer than ten times carry an exact share of E[rho^2],
  and the runs do not show it;
* where the second moment is exact (:func:`obliquetd.exact_moments`), the mean square of the runs
  has to agree with it. A mean square that grows without bound is carried by few runs, and shows
  here as one that lies far below.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from obliquetd.algebra.rounding import SAME
from obliquetd.dynamics.follow_on import second_moment_is_finite
from obliquetd.experiments import Curve, Sweep
from obliquetd.learners import ETD
from obliquetd.problem import PolicyEvaluation

__all__ = ["unseen_share", "withheld"]

SEEN = 10
"""Times that a choice has to be expected in all steps, to count as met."""
UNSEEN = 0.05
"""The share of E[rho^2] that may go unseen."""
ERRORS = 4
"""Standard errors by which a mean square may miss the exact one."""
LOOSE = 0.5
"""A standard error, as a share of the exact mean square, above which they agree on nothing."""

Exact = Mapping[str, Mapping[str, np.ndarray]]


def withheld(
    problem: PolicyEvaluation | None, found: Sweep, exact: Exact, steps: int
) -> dict[str, str]:
    """For each learner whose variance these runs do not show, the reason.

    Parameters
    ----------
    problem : PolicyEvaluation or None
        None for a simulator, of which nothing is known exactly; its runs are on-policy.
    found : Sweep
    exact : mapping
        Roots of exact expected square errors, of the learners that have them.
    steps : int
        Of a run.
    """
    everywhere, follow_on = "", ""
    if problem is not None and not problem.on_policy:
        runs = len(next(iter(found.curves.values())).rmse)
        share = unseen_share(problem, steps * runs)
        if share > UNSEEN:
            everywhere = f"{share:.0%} of E[rho^2] is on choices these runs hardly meet"
        if not second_moment_is_finite(problem):
            follow_on = "its follow-on trace has no second moment"
    out = {}
    for name, curve in found.curves.items():
        lost = f"runs of {name} that diverged: {curve.diverged}" if curve.diverged else ""
        why = (
            lost
            or (follow_on if isinstance(curve.learner, ETD) else "")
            or everywhere
            or _misses(curve, found.steps, exact.get(name, {}))
        )
        if why:
            out[name] = why
    return out


def unseen_share(problem: PolicyEvaluation, steps: int) -> float:
    """The share of E[rho^2] on pairs (s, a) met fewer than ten times in so many steps, on average.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> unseen_share(two_state(), 1000), unseen_share(two_state(), 30)
    (0.0, 1.0)
    """
    xi = np.ravel(np.array(problem.xi, dtype=float))
    total = unseen = 0.0
    for weight, (state, row) in zip(xi, problem.behavior.items(), strict=True):
        for action, chance in row.items():
            met = float(weight) * float(chance)
            if met:
                square = met * (float(problem.target[state].get(action, 0)) / float(chance)) ** 2
                total += square
                unseen += square if met * steps < SEEN else 0.0
    return unseen / total


def _misses(curve: Curve, steps: np.ndarray, exact: Mapping[str, np.ndarray]) -> str:
    for error in ("rmse", "rmspbe") if exact else ():
        line = exact[error]
        squares = (getattr(curve, error) ** 2).mean(axis=1)
        right = float((line[steps] ** 2).mean())
        reach = float(squares.std(ddof=1)) / np.sqrt(len(squares))
        gap = abs(float(squares.mean()) - right)
        if gap > ERRORS * reach + SAME * right or reach > LOOSE * right:
            return (
                f"its mean square {error.upper()} is {squares.mean():.3g} +- {reach:.2g}, exactly "
                f"{right:.3g}"
            )
    return ""
