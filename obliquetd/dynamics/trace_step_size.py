r"""A step size below which a learner with a trace is stable in mean square, certified along a trajectory.

With a memory m that the past hands on, the weights z on the span of the updates go to (1 - alpha G_o(m)) z
with each outcome o, and m to c_o + M_o m, where G_o is affine in m. Neither E[z] nor E[z z'] obeys a finite
linear equation: the products of m and z never close. So there is a bound in place of a limit, by a Lyapunov
function that is affine in the memory,

    V(s, m) = 1 + alpha W(s, m),     W(s, m) = W_0(s) + the sum of m_i W_i(s),

in coordinates in which S = Q + Q' is positive definite, Q being the matrix of the expected update. W is
chosen to make all states and memories fall alike: it solves the Poisson equation

    W(s, m) - E[W(s', m') | s, m] = S - H(s, m),     H(s, m) = E[G_o(m) + G_o(m)' | s],

which is a finite system, since both sides are affine in m, and solvable, since H has the mean S. Then

    E[(1 - alpha G)' V(s', m') (1 - alpha G) | s, m] - V(s, m)
        = -alpha S + alpha^2 E[G'G - G'W' - W'G] + alpha^3 E[G'W'G]

is negative definite for every m in a box that no memory leaves, as long as

    lambda_min(S) > alpha E[g^2 + 2 g w'] + alpha^2 E[g^2 w']     and     alpha w < 1

in every state, where g and w bound the norms of G and W over the box. The conditions are monotone in alpha.
Srikant and Ying (2019) bound TD along a trajectory with a function of one state-free matrix and the mixing
time; the Poisson equation takes the place of the mixing time here.

All is computed in floats. What the Poisson equation misses is bounded and taken off lambda_min(S), and a
margin is kept that is far above rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import public_number
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.rule import RuleOnNumbers, Sample
from obliquetd.dynamics.scalars import Rounded
from obliquetd.errors import InputError, SizeError

__all__ = ["certified_with_trace"]

Floats = npt.NDArray[np.float64]
MARGIN = 1e-6
"""The part of every bound that is kept back for rounding."""
ROUNDS = 5_000
"""Steps after which a box of memories that still grows is given up."""
SLACK, HUGE = 1e-6, 1e100
LARGEST = 2_000
"""Unknowns of the Poisson equation."""
MOST_RUNS = 200_000
"""Runs of the rule."""


class Step(NamedTuple):
    """An outcome: from state s to t with a chance, z to z - alpha (G[0] + sum of m_i G[i]) z, m to c + M m."""

    s: int
    t: int
    chance: float
    G: Floats
    c: Floats
    M: Floats


def certified_with_trace(found: Expectation) -> float:
    """A step size below which every one is stable in mean square, for a learner that carries a trace.

    Parameters
    ----------
    found : Expectation
        Along a trajectory, of a stable expected update.

    Raises
    ------
    InputError
        For a rule whose memory hears of the weights or of the step size, as those of true-online learners;
        and where the trace is not bounded.
    SizeError
        Where there are too many outcomes, weights and memories.
    """
    rule = found.rule
    runs = len(found.samples) * (rule.memory_size + 1) * (rule.size + 1)
    inside = [s for s, w in enumerate(found.xi) if w]
    if runs > MOST_RUNS or len(inside) * (1 + rule.memory_size) > LARGEST:
        raise SizeError(
            f"{rule.learner.label} has {len(inside)} states and {rule.memory_size} numbers of memory here; "
            "a step size is certified for smaller problems. sense='mean' gives the limit of the expected update"
        )
    _require_linear(rule, found.samples)
    steps = list(_steps(found, {s: k for k, s in enumerate(inside)}))
    box = _box(steps, len(inside), rule)
    Q = np.array([[_float(x) for x in row] for row in found.Q.rows()])
    return max(_bound(steps, box, Q, T) for T in _coordinates(Q))


def _float(x: Any) -> float:
    return float(x.value) if isinstance(x, Rounded) else float(public_number(x))


def _steps(found: Expectation, place: dict[int, int]) -> Iterator[Step]:
    rule, span, arithmetic = found.rule, found.span, found.arithmetic
    size, k = rule.size, rule.memory_size

    def restricted(columns: list[list[Any]]) -> Floats:
        """-G on the span of the updates."""
        plain = [[arithmetic.scalar(_native(x)) for x in row] for row in zip(*columns, strict=True)]
        rows = span.restrict(arithmetic.matrix(plain, (size, size))).rows()
        return -np.array([[_float(x) for x in row] for row in rows])

    def _native(x: Any) -> Any:
        return float(x.value) if isinstance(x, Rounded) else public_number(x)

    for sample in found.samples:
        start, columns = rule.carried(sample)
        still = restricted(rule.slopes(sample, rule.nothing))
        units = (rule.unit(j, k) for j in range(k))
        G = [still, *(restricted(rule.slopes(sample, unit)) - still for unit in units)]
        yield Step(
            place[sample.state], place[sample.next_state], _float(sample.chance), np.array(G),
            np.array([_float(x) for x in start]),
            np.array([[_float(x) for x in column] for column in columns]).reshape(k, k).T,
        )  # fmt: skip


def _require_linear(rule: RuleOnNumbers, samples: list[Sample]) -> None:
    """InputError unless a whole step is x + alpha (c + G x), with a memory that hears of neither."""
    scalar = rule.arithmetic.scalar
    some = [Fraction(7 * k * k + 3, 5 * k + 2) for k in range(rule.size + rule.memory_size)]
    exact = rule.arithmetic.kind != "float"

    def number(x: Fraction) -> Any:
        return scalar(_sympy(x) if exact else float(x))

    weights = [number(x) for x in some[: rule.size]]
    memory = [number(x) for x in some[rule.size :]]
    for sample in samples:
        update, handed = rule.run(sample, weights, memory, rewarded=True)
        for alpha in (number(Fraction(1, 3)), number(Fraction(5, 2))):
            after, kept = rule.step(sample, weights, memory, alpha, rewarded=True)
            moved = [
                _float(x) + _float(alpha) * _float(u) for x, u in zip(weights, update, strict=True)
            ]
            same = np.allclose([_float(x) for x in after], moved, rtol=1e-9, atol=1e-9)
            if not same or not np.allclose(
                [_float(x) for x in kept], [_float(x) for x in handed], rtol=1e-9, atol=1e-9
            ):
                raise InputError(
                    f"one step of {rule.learner.label} is not linear in its step size, or its trace hears of "
                    "the weights; nothing is certified in mean square. sense='mean' gives the limit of "
                    "the expected update"
                )


def _sympy(x: Fraction) -> Any:
    import sympy as sp

    return sp.Rational(x.numerator, x.denominator)


def _box(steps: list[Step], n: int, rule: RuleOnNumbers) -> Floats:
    """For each state a bound on the size of each entry of the memory that arrives there.

    mu has to satisfy mu(t) >= |c| + |M| mu(s) for every outcome into t. It is come to from below, with a
    map that is a little larger, so that the iteration may stop a little before its end.
    """
    mu: Floats = np.zeros((n, rule.memory_size))
    for _ in range(ROUNDS):
        new = mu.copy()
        for step in steps:
            least = np.abs(step.c) + np.abs(step.M) @ mu[step.s]
            new[step.t] = np.maximum(new[step.t], least * (1 + SLACK))
        if (new <= mu * (1 + SLACK / 2)).all():
            return mu
        mu = new
        if not mu.max(initial=0.0) < HUGE:
            break
    raise InputError(
        f"{rule.learner.label} carries a trace that no bound holds here: on some path of the behaviour the "
        "product of discount, lambda and importance ratios does not fall. Nothing is certified in mean square; "
        "sense='mean' gives the limit of the expected update, and a smaller lambda bounds the trace"
    )


def _coordinates(Q: Floats) -> Iterator[Floats]:
    """Coordinates y = T z in which T Q T^-1 + its transpose may be positive definite."""
    from scipy.linalg import solve_continuous_lyapunov

    yield np.eye(len(Q))
    K = solve_continuous_lyapunov(Q.T, np.eye(len(Q)))
    yield from _root_of((K + K.T) / 2)
    # P = Q'Q weighs directions by how fast they fall
    K = solve_continuous_lyapunov(Q.T, Q.T @ Q)
    yield from _root_of((K + K.T) / 2)


def _root_of(K: Floats) -> Iterator[Floats]:
    if np.isfinite(K).all():
        try:
            yield np.asarray(np.linalg.cholesky(K).T, dtype=np.float64)
        except np.linalg.LinAlgError:
            return


def _bound(steps: list[Step], box: Floats, Q: Floats, T: Floats) -> float:
    """The step size in these coordinates; 0 where they prove nothing."""
    inverse = np.linalg.inv(T)
    G = [T @ step.G @ inverse for step in steps]
    moved = T @ Q @ inverse
    S = moved + moved.T
    n, k = box.shape
    m = len(Q)
    P = np.zeros((n, 1 + k, n, 1 + k))
    H = np.zeros((n, 1 + k, m, m))
    for step, g in zip(steps, G, strict=True):
        p = step.chance
        P[step.s, 0, step.t, 0] += p
        P[step.s, 0, step.t, 1:] += p * step.c
        P[step.s, 1:, step.t, 1:] += p * step.M.T
        H[step.s] += p * (g + np.swapaxes(g, 1, 2))
    size = n * (1 + k)
    system = np.eye(size) - P.reshape(size, size)
    right = -H
    right[:, 0] += S
    flat = right.reshape(size, m * m)
    W: Floats = np.asarray(np.linalg.lstsq(system, flat, rcond=None)[0], dtype=np.float64)
    W = W.reshape(n, 1 + k, m, m)
    # one matrix may be added in all states, which the equation leaves free: the sizes are least in the middle
    W[:, 0] -= (W[:, 0].max(axis=0) + W[:, 0].min(axis=0)) / 2
    missed = (system @ W.reshape(size, m * m) - flat).reshape(n, 1 + k, m, m)
    lost = _over_box(missed, box)
    w = _over_box(W, box)
    least = float(np.linalg.eigvalsh(S)[0]) * (1 - MARGIN)
    a, b = np.zeros(n), np.zeros(n)
    for step, part in zip(steps, G, strict=True):
        most_g = _norm(part[0]) + float(box[step.s] @ [_norm(x) for x in part[1:]])
        a[step.s] += step.chance * (most_g**2 + 2 * most_g * w[step.t])
        b[step.s] += step.chance * most_g**2 * w[step.t]
    falls = least - lost
    if not np.isfinite([*a, *b, *falls]).all() or (falls <= 0).any():
        return 0.0
    # the positive root of b alpha^2 + a alpha = falls, without cancellation
    slope = a + np.sqrt(a * a + 4 * b * falls)
    if not slope.all():
        falls, slope = falls[slope > 0], slope[slope > 0]
    roots = 2 * falls / slope
    most = 1 / float(w.max()) if w.max() > 0 else math.inf
    return float(min(roots.min(initial=math.inf), most)) * (1 - MARGIN)


def _norm(matrix: Floats) -> float:
    return float(np.linalg.norm(matrix, 2))


def _over_box(parts: Floats, box: Floats) -> Floats:
    """For each state a bound on the norm of parts_0 + the sum of m_i parts_i over its box."""
    norms = np.linalg.norm(parts, 2, axis=(2, 3))
    found: Floats = norms[:, 0] + (norms[:, 1:] * box).sum(axis=1)
    return found
