"""The words that every rule is written in.

A rule is a plain function ``rule(x, m, t, alpha, p)`` that updates arrays in place:

=====  =============================================================================
x      the weights, as declared: ``x.theta[i]``
m      the memory, as declared: what the past hands to this transition, already decayed
       by the discount of the transition that arrived here
t      one :class:`Transition`
alpha  the step size
p      the learner's numbers, as declared: ``p.lam``
=====  =============================================================================

It returns the TD error. It uses nothing but ``+ - * /``, loops, and comparisons, so that
the same text runs compiled on floats, and as it is on rationals, on rational functions,
and on dual numbers in alpha. ``0 * t.g`` is the zero of whatever numbers it runs on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "Transition",
    "difference",
    "emphatic",
    "expected_td_error",
    "omega",
    "phi",
    "phi_expected",
    "phi_next",
    "td_error",
]


class Transition(NamedTuple):
    """One sampled transition, and all that a rule may know of it.

    Attributes
    ----------
    features : (n, d)
        The feature matrix. A rule reads rows of it by index.
    s, n : int
        The rows of the state that is left and of the one that is reached.
    reward
    g : number
        The discount of this transition: gamma times its own.
    own : number
        Its own discount, before gamma: 0 where an episode ends.
    pi, mu, rho : number
        The chances of the action under the target and the behaviour, and pi / mu.
    twin, g_twin, rho_twin
        A second, independent transition out of the same state, for double sampling.
    features_next : (n, d)
        Its row n is the features that the target expects after the transition: over pairs
        (state, action) the sum over a' of ``pi(a'|s') phi(s', a')``, over states phi(s').
    rho_expected : number
        The ratio that is left to correct with where ``features_next`` is used: 1 over pairs,
        rho over states. These two may be left out of a transition for rules that read neither.
    """

    features: Any
    s: Any
    n: Any
    reward: Any
    g: Any
    own: Any
    pi: Any
    mu: Any
    rho: Any
    twin: Any
    g_twin: Any
    rho_twin: Any
    features_next: Any = None
    rho_expected: Any = None


TWIN = frozenset({"twin", "g_twin", "rho_twin"})
"""What only a stream with double sampling can fill."""


def phi(t: Any, i: Any) -> Any:
    """Feature i of the state that is left."""
    return t.features[t.s, i]


def phi_next(t: Any, i: Any) -> Any:
    """Feature i of the state that is reached."""
    return t.features[t.n, i]


def phi_expected(t: Any, i: Any) -> Any:
    """Feature i as the target expects it after the transition; see ``features_next``."""
    return t.features_next[t.n, i]


def expected_td_error(theta: Any, t: Any) -> Any:
    """delta = r + g E_pi[phi'] . theta - phi . theta, that of Expected Sarsa over pairs.

    Its update is to be multiplied by ``t.rho_expected``: over states it is :func:`td_error`.
    """
    delta = t.reward
    for i in range(len(theta)):
        delta += (t.g * t.features_next[t.n, i] - t.features[t.s, i]) * theta[i]
    return delta


def difference(t: Any, i: Any) -> Any:
    """Entry i of Delta phi = phi - g phi'."""
    return t.features[t.s, i] - t.g * t.features[t.n, i]


def td_error(theta: Any, t: Any) -> Any:
    """delta = r + g phi' . theta - phi . theta."""
    delta = t.reward
    for i in range(len(theta)):
        delta += (t.g * t.features[t.n, i] - t.features[t.s, i]) * theta[i]
    return delta


def omega(t: Any) -> Any:
    """SETD's weight of a transition: ``max(Delta phi . phi / |Delta phi|^2, 0)`` (Eq. omega-i).

    Where Delta phi = 0 every weight is a minimiser, and 0 is taken: such a transition
    says nothing of theta. After a termination (g = 0), Delta phi = phi and the weight is 1.
    """
    up = 0 * t.g
    down = 0 * t.g
    for i in range(t.features.shape[1]):
        gap = t.features[t.s, i] - t.g * t.features[t.n, i]
        up += gap * t.features[t.s, i]
        down += gap * gap
    if down == 0:
        return up
    if up > 0:
        return up / down
    return 0 * up


def emphatic(theta: Any, e: Any, t: Any, m: Any, alpha: Any, lam: Any) -> Any:
    """The rule of TD, SETD and ETD, whose one difference is the emphasis m.

    e_t = rho_t (gamma_t lambda e_{t-1} + m_t phi_t),   theta += alpha delta_t e_t
    """
    delta = td_error(theta, t)
    for i in range(len(theta)):
        trace = t.rho * (e[i] + m * t.features[t.s, i])
        theta[i] += alpha * delta * trace
        e[i] = t.g * lam * trace
    return delta
