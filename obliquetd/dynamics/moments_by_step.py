"""The moments of the weights, step by step: what a computation of them leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from obliquetd.frames import Tabular

__all__ = ["Moments"]


@dataclass(frozen=True, eq=False)
class Moments(Tabular):
    """What :func:`obliquetd.exact_moments` returns; lists over t = 0, ..., steps.

    Attributes
    ----------
    mean : list of d, as ``problem.xi`` is given
        E[theta_t].
    second : list of (d, d)
        E[theta_t theta_t'].
    covariance : list of (d, d)
        That of theta_t; it is computed as it is, not as a difference of the two above, of which
        small step sizes would leave no digit in floats.
    expected_mse : list of number
        E||Phi theta_t - v_pi||_Xi^2.
    expected_mspbe : list of number
        E||Pi (T v - v)||_Xi^2 at v = Phi theta_t.
    """

    mean: list[Any]
    second: list[Any]
    covariance: list[Any]
    expected_mse: list[Any]
    expected_mspbe: list[Any]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row a step: the expected errors, and for each weight its mean and its variance.

        The columns are ``step``, ``expected_mse``, ``expected_mspbe``, ``mean_0``, ``variance_0``,
        ``mean_1``, and so on; the whole matrices are in ``second`` and ``covariance``.

        Examples
        --------
        >>> from obliquetd import SETD, exact_moments
        >>> from obliquetd.domains import two_state
        >>> found = exact_moments(two_state(reward=1), SETD("1/100"), 1)
        >>> [(row["step"], row["mean_0"], row["variance_0"]) for row in found.rows()]
        [(0, 0, 0), (1, 1/10, 3/100)]
        """
        for step in range(len(self.mean)):
            yield {"step": step, **self._row(step)}

    def _row(self, k: int) -> dict[str, Any]:
        row = {"expected_mse": self.expected_mse[k], "expected_mspbe": self.expected_mspbe[k]}
        for i, mean in enumerate(self.mean[k]):
            row |= {f"mean_{i}": mean, f"variance_{i}": self.covariance[k][i, i]}
        return row
