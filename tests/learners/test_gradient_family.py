"""GTD, GTD2, TDC, HTD, TDRC and the mirror-prox pair: each step by vectors, and their joint matrices."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import GTD, GTD2, GTD2MP, HTD, TD, TDC, TDCMP, TDRC, mean_dynamics
from obliquetd.domains import baird_star, two_state
from obliquetd.errors import InputError
from obliquetd.learners.check import qq
from obliquetd.learners.evaluate import PlainRule
from obliquetd.learners.words import Transition
from tests.learners.closed_forms import LAMBDAS, blocks, td, visited, walks
from tests.learners.test_rules import vector, vectors

F = Fraction
MU = sp.Rational(2, 3)
FAMILY = (GTD, GTD2, TDC, HTD, TDRC, GTD2MP, TDCMP)


def joint(problem, learner):
    dyn = mean_dynamics(problem, learner)
    return sp.Matrix(dyn.A), list(dyn.b)


@settings(max_examples=12)
@given(walks(), LAMBDAS)
def test_the_joint_matrices_for_every_lambda(problem, lam):
    A, b, A_mu = td(problem, lam)
    C, none = problem.C, sp.zeros(A.rows)
    kappa, eye = sp.Rational(1, 5), sp.eye(A.rows)
    given = {"mu": MU, "lam": lam}
    wanted = {
        GTD(**given): ([[none, -A.T], [MU * A, MU * eye]], 0),
        GTD2(**given): ([[none, -A.T], [MU * A, MU * C]], 0),
        GTD2MP(**given): ([[none, -A.T], [MU * A, MU * C]], 0),
        TDC(**given): ([[A, C - A.T], [MU * A, MU * C]], 1),
        TDCMP(**given): ([[A, C - A.T], [MU * A, MU * C]], 1),
        TDRC(**given, kappa=kappa): ([[A, C - A.T], [MU * A, MU * (C + kappa * eye)]], 1),
        HTD(**given): ([[A, (A_mu - A).T], [MU * A, MU * A_mu.T]], 1),
    }
    for learner, (rows, moved) in wanted.items():
        assert joint(problem, learner) == (blocks(rows), [*(moved * b), *(MU * b)]), learner


@settings(max_examples=8)
@given(walks(tabular=True), LAMBDAS, st.sampled_from(FAMILY))
def test_the_tabular_fixed_point_is_v_pi(problem, lam, kind):
    dyn = mean_dynamics(problem, kind(lam=lam))
    assert visited(problem, dyn.fixed_point()) == visited(problem, problem.v_pi)
    never = {s for s, weight in zip(problem.states, problem.xi, strict=True) if not weight}
    assert set(dyn.frozen) == never


@settings(max_examples=8)
@given(walks(on_policy=True), LAMBDAS)
def test_on_policy_htd_moves_theta_as_td_does(problem, lam):
    A, b = joint(problem, HTD(lam=lam))
    td_A, td_b = joint(problem, TD(lam=lam))
    d = td_A.rows
    assert A[:d, :] == td_A.row_join(sp.zeros(d))
    assert b[:d] == td_b


def test_on_policy_htd_is_td_run_by_run():
    problem = two_state(reward=1)
    problem = problem.replace(target=problem.behavior)
    found = otd.simulate(problem, [TD(0.01, 0.5), HTD(0.01, 3, 0.5)], steps=300, seed=2)
    assert np.allclose(found["TD"].theta, found["HTD"].theta, rtol=1e-12)
    assert found["TD"].theta.any()


@settings(max_examples=8)
@given(walks(), LAMBDAS)
def test_without_a_regulariser_tdrc_is_tdc(problem, lam):
    assert joint(problem, TDRC(mu=2, lam=lam, kappa=0)) == joint(problem, TDC(mu=2, lam=lam))


def run(learner, theta, w, memory, t, alpha):
    """One transition on rationals: theta, w and the memory after it."""
    numbers = {k: F(int(v.numerator), int(v.denominator)) for k, v in learner.values.items()}
    rule = PlainRule(learner, len(theta), qq, numbers)
    x, m, _ = rule.run(t, [*theta, *w], memory, alpha)
    return x[: len(theta)], x[len(theta) :], m


numbers = st.fractions(-3, 3, max_denominator=4)
shares = st.fractions(0, 1, max_denominator=4)


@given(vectors, vectors, vectors, vectors, vectors, vectors, numbers, shares, shares)
def test_every_step_by_vectors(theta, w, e, u, phi, nxt, reward, g, rho):
    """The equations of the module prefaces, the half steps of mirror-prox taken in full."""
    theta, w, e, u, phi, nxt = (vector(*v) for v in (theta, w, e, u, phi, nxt))
    alpha, mu, lam, kappa = F(1, 3), F(2, 7), F(1, 2), F(3, 5)
    beta = alpha * mu
    t = Transition(np.stack([phi, nxt]), 0, 1, reward, g, F(1), rho, F(1), rho, 1, g, rho)
    gap = phi - g * nxt
    delta = reward - gap.dot(theta)
    trace, own = rho * (e + phi), u + phi
    handed = list(g * lam * trace)

    def tdc(delta, w):
        return delta * trace - g * (1 - lam) * trace.dot(w) * nxt

    def secondary(delta, w):
        return delta * trace - phi.dot(w) * phi

    simple = {
        GTD: (gap * trace.dot(w), delta * trace - w),
        TDRC: (tdc(delta, w), secondary(delta, w) - kappa * w),
        HTD: (delta * trace + (trace - own).dot(w) * gap, delta * trace - own.dot(w) * gap),
    }
    for kind, (first, second) in simple.items():
        settings = {"mu": mu, "lam": lam} | ({"kappa": kappa} if kind is TDRC else {})
        memory = [*e, *u] if kind is HTD else [*e]
        found = run(kind(**settings), theta, w, memory, t, alpha)
        assert found[0] == list(theta + alpha * first), kind
        assert found[1] == list(w + beta * second), kind
        assert found[2] == handed + (list(g * lam * own) if kind is HTD else [])
    half_w = w + beta * secondary(delta, w)
    for kind, move in (
        (GTD2MP, lambda _, w: gap * trace.dot(w)),
        (TDCMP, tdc),
    ):
        half_theta = theta + alpha * move(delta, w)
        half_delta = reward - gap.dot(half_theta)
        found = run(kind(mu=mu, lam=lam), theta, w, [*e], t, alpha)
        assert found[0] == list(theta + alpha * move(half_delta, half_w)), kind
        assert found[1] == list(w + beta * secondary(half_delta, half_w)), kind
        assert found[2] == handed


def test_mirror_prox_differs_from_its_plain_form_in_the_second_order_alone():
    """E[x'] is quadratic in alpha, so that one step's exact mean tells the two apart."""
    problem = two_state(reward=1)
    gaps = []
    for alpha in ("1/100", "1/200"):
        plain, prox = (
            otd.exact_moments(problem, kind(alpha, 2), 2, [1]).mean[-1] for kind in (GTD2, GTD2MP)
        )
        gaps.append(sp.Matrix(prox)[0] - sp.Matrix(plain)[0])
    assert gaps[0] != 0
    assert abs(gaps[0] / gaps[1] - 4) < sp.Rational(1, 5)


def test_where_td_diverges_the_gradient_family_does_not():
    star = baird_star()
    assert not mean_dynamics(star, TD()).is_stable()
    assert all(mean_dynamics(star, kind()).is_stable() for kind in (GTD, GTD2MP))
    assert mean_dynamics(two_state(), GTD()).is_stable()
    found = otd.simulate(two_state(reward=1), [GTD(0.01), GTD2MP(0.01), TDCMP(0.01)], 500, seed=1)
    assert all(curve.diverged == 0 for curve in found.curves.values())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        *[(lambda kind=kind: kind(0.1, 0), "mu is 0") for kind in FAMILY],
        *[(lambda kind=kind: kind(0.1, 1, 2), "lam is 2") for kind in FAMILY],
        (lambda: TDRC(0.1, 1, 0, -1), "kappa is -1"),
        (lambda: TDRC(0.1, 1, 0, "much"), None),
        (lambda: GTD(0.1, float("nan")), "mu is nan"),
        (lambda: HTD(0.1, "-1/2"), "mu is -1/2"),
    ],
)
def test_bad_settings(make, words):
    if words is None:  # a name is a symbol, which is asked for where a number is needed
        assert make().symbols == {sp.Symbol("much")}
        return
    with pytest.raises(InputError, match=words):
        make()
