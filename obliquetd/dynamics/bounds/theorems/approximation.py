r"""Approximation factors: how far the fixed point is from v_pi, beside the best approximation.

All are in the norm ||u||^2 = sum of xi u^2, Pi is the orthogonal projection onto the features,
v_hat = Phi theta* and w = v - Pi v, which no weights can make smaller. The exact worst case of
||v_hat - v|| / ||w|| over all rewards is :attr:`ApproximationBound.worst_case`, so that a factor is
beside what it cannot be below.

**What is used.** v_hat = Pi T^lambda v_hat, where T^lambda v = v_lambda-return has the linear part
M = (1 - lambda) sum over k of lambda^k P_gamma^{k+1}. Where xi is stationary under the target,
||P_gamma u|| <= gamma ||u|| by Jensen's inequality, for gamma the largest discount of a transition,
so that ||M u|| <= (1 - lambda) gamma / (1 - lambda gamma) ||u|| = kappa ||u||. The papers have one
discount for all transitions; this is their proof with the largest one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import sympy as sp

from obliquetd.dynamics.bounds.bound import Bound
from obliquetd.dynamics.bounds.hypotheses import (
    Hypothesis,
    below_one,
    has_fixed_point,
    independent_features,
    is_td,
    stationary_under_target,
)
from obliquetd.dynamics.bounds.outward import product

__all__ = [
    "ApproximationBound",
    "Contraction",
    "InstanceFactor",
    "ObliqueNorm",
    "Pythagoras",
]


class ApproximationBound(Bound):
    """||Phi theta* - v|| <= factor ||Pi v - v||; abstract."""

    quantity = "||Phi theta* - v||_xi"
    first: ClassVar[Any] = sp.oo

    @property
    def factor(self) -> Any:
        """What the best error is multiplied by.

        Raises
        ------
        HypothesisError
            Where a hypothesis fails.
        """
        self.require()
        return self.at.root(self._squared_factor())

    @abstractmethod
    def _squared_factor(self) -> Any: ...

    @property
    def worst_case(self) -> Any:
        """The exact supremum over rewards of ||Phi theta* - v|| / ||Pi v - v||, at most the factor."""
        self.require()
        return self.at.spread

    def _requires(self) -> Iterable[Hypothesis]:
        at = self.at
        yield is_td(at)
        yield stationary_under_target(at)
        yield below_one(at)
        yield has_fixed_point(at)

    def _bound(self, t: Any) -> Any:  # noqa: ARG002
        return self.at.root(product(self._squared_factor(), self.at.squared_best))

    def _exact(self, t: Any) -> Any:  # noqa: ARG002
        return self.at.root(self.at.squared_error)

    def _ratio(self, t: Any) -> Any:  # noqa: ARG002
        quotient = self.at.squared_best / self.at.squared_error
        return self.at.root(product(self._squared_factor(), quotient))


class Contraction(ApproximationBound):
    r"""The factor 1 / (1 - kappa) = (1 - gamma lambda) / (1 - gamma).

    Tsitsiklis and Van Roy (1997), Theorem 1. Proof: ||v_hat - v|| <= ||v_hat - Pi v|| + ||w|| and
    v_hat - Pi v = Pi (T^lambda v_hat - T^lambda v), whose norm is at most kappa ||v_hat - v||.
    """

    name = "contraction"
    source = "Tsitsiklis and Van Roy 1997, Theorem 1"

    def _squared_factor(self) -> Any:
        return 1 / (1 - self.at.kappa) ** 2


class Pythagoras(ApproximationBound):
    r"""The factor 1 / sqrt(1 - kappa^2), which is smaller.

    Proof: v_hat - Pi v lies in the span of the features and w is orthogonal to it, so that
    ||v_hat - v||^2 = ||v_hat - Pi v||^2 + ||w||^2 <= kappa^2 ||v_hat - v||^2 + ||w||^2.
    """

    name = "pythagoras"
    source = "the argument of Tsitsiklis and Van Roy 1997, with Pythagoras' theorem; used by Bhandari, Russo and Singal 2018"

    def _squared_factor(self) -> Any:
        return 1 / (1 - self.at.kappa**2)


class InstanceFactor(ApproximationBound):
    r"""The factor sqrt(1 + lambda_max((I - M)^-1 (kappa^2 I - M M') (I - M)^-T)).

    Mou, Pananjady and Wainwright (2023), the factor alpha(M, s) of their oracle inequality, for the
    fixed point itself, with kappa for the operator norm s: M is Pi T^lambda's linear part in an
    orthonormal basis of the features.

    Proof: let N be the same operator on what is orthogonal to the features. The coordinates e of
    Pi v - v_hat solve e = M e + N w, and M M' + N N' is the operator times its adjoint, at most
    kappa^2 I, so that |e|^2 = |(I - M)^-1 N w|^2 is at most the eigenvalue times ||w||^2; and
    ||v_hat - v||^2 = |e|^2 + ||w||^2. With C = Phi'Xi Phi, A = X'L Phi and K = C - A it is the largest
    eigenvalue of C A^-1 (kappa^2 C - K C^-1 K') A^-T.

    With N N' itself in the place of its bound the factor is ||Q||, the exact worst case.
    """

    name = "instance"
    source = "Mou, Pananjady and Wainwright 2023"

    def _requires(self) -> Iterable[Hypothesis]:
        yield from super()._requires()
        yield independent_features(self.at)

    def _squared_factor(self) -> Any:
        at = self.at
        C, A = at.C, at.X.T @ at.ops.Lambda
        kappa = at.ops.arithmetic.scalar(at.kappa)
        K = C - A
        middle = C.scaled(kappa * kappa) - K @ C.solve(K.T, "C")
        inner = A.solve(middle, "A")
        found = C @ A.solve(inner.T, "A").T
        return 1 + at.extreme(found, smallest=False)


class ObliqueNorm(ApproximationBound):
    r"""The factor ||Q||, for Q = Phi (X'L Phi)^-1 X'L, with v_hat = Q v.

    Scherrer (2010). It is on- and off-policy. Proof: v_hat - v = (Q - I) w, since Q leaves Pi v as it
    is, and ||Q - I|| = ||Q|| for a projection that is neither 0 nor the identity. It is attained:
    :func:`obliquetd.projection_analysis` has the reward.
    """

    name = "oblique"
    source = "Scherrer 2010"

    def _requires(self) -> Iterable[Hypothesis]:
        yield is_td(self.at)
        yield has_fixed_point(self.at)

    def _squared_factor(self) -> Any:
        return self.at.spread**2
