"""True-online rules against their forward views, step by step, on rationals, with no tolerance."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.domains import random_problem
from obliquetd.learners import (
    ETD,
    SETD,
    TD,
    TDC,
    TrueOnlineETD,
    TrueOnlineGTD,
    TrueOnlineSETD,
    TrueOnlineTD,
)
from obliquetd.learners.evaluate import PlainRule, as_array
from obliquetd.learners.words import Transition, omega
from tests.strategies import problems

F = Fraction
STATES, D = 3, 2


class Step(NamedTuple):
    """A transition, its step size, and whether an episode begins with it."""

    t: Transition
    alpha: Fraction
    begins: bool


fractions = st.fractions(-2, 2, max_denominator=3)
RATIOS = st.fractions(0, 2, max_denominator=2)
positive = st.fractions(F(1, 4), 1, max_denominator=4)


@st.composite
def trajectories(draw, ratios=RATIOS, steps=7):
    """Off-policy, with discounts of 0 where an episode ends, in another state or where it led."""
    features = as_array(
        [[draw(fractions) for _ in range(D)] for _ in range(STATES)], (STATES, D)
    )  # fmt: skip
    s, begins, out = draw(st.integers(0, STATES - 1)), True, []
    for _ in range(steps):
        n, rho = draw(st.integers(0, STATES - 1)), draw(ratios)
        own = draw(st.sampled_from([F(1), F(1), F(1, 2), F(0)]))
        g = own * F(9, 10)
        t = Transition(features, s, n, draw(fractions), g, own, rho / 2, F(1, 2), rho, n, g, rho)
        out.append(Step(t, draw(positive), begins))
        ended = own == 0
        begins = ended and draw(st.booleans())  # else the chain leads on to a start state at once
        s = draw(st.integers(0, STATES - 1)) if begins else n
    return out


def online(learner, steps, values, theta, w):
    """The weights after each step, by the rule."""
    rule = PlainRule(learner, D, F, values)
    x, m, out = [*theta, *w][: rule.size], [F(0)] * rule.memory_size, []
    for step in steps:
        if step.begins:
            m = [F(0)] * rule.memory_size
        x, m, _ = rule.run(step.t, x, m, step.alpha)
        out.append(x)
    return out


def row(step):
    return step.t.features[step.t.s]


def next_row(step):
    return step.t.features[step.t.n]


def interim_return(steps, k, end, lam, thetas, corrected=True):
    """G of step k with data up to time ``end``: r + gamma ((1 - lam rho') phi' . theta + lam rho' G')."""
    t = steps[k].t
    value = next_row(steps[k]).dot(thetas[k])
    if k == end - 1 or t.g == 0:
        return t.reward + t.g * value
    later = lam * steps[k + 1].t.rho if corrected else lam
    onward = interim_return(steps, k + 1, end, lam, thetas, corrected)
    return t.reward + t.g * ((1 - later) * value + later * onward)


def forward(steps, lam, theta, emphases, corrected=True):
    """theta^t_t for t = 1, 2, ...: each from the episode's first weights anew.

    rho_k m_k multiplies the whole step; later ratios are inside G.
    """
    online_weights, out, begin = [theta], [], 0
    for end in range(1, len(steps) + 1):
        x = online_weights[begin]
        for k in range(begin, end):
            target = interim_return(steps, k, end, lam, online_weights, corrected)
            eta = steps[k].alpha * steps[k].t.rho * emphases[k]
            x = x + eta * (target - row(steps[k]).dot(x)) * row(steps[k])
        online_weights.append(x)
        out.append(list(x))
        if steps[end - 1].t.g == 0:
            begin = end
    return out


def follow_ons(steps):
    """F of each step: the sum over the episode's past of products of gamma rho."""
    out, begin = [], 0
    for k in range(len(steps)):
        total = F(0)
        for j in range(begin, k + 1):
            product = F(1)
            for i in range(j, k):
                product *= steps[i].t.g * steps[i].t.rho
            total += product
        out.append(total)
        if steps[k].t.g == 0:
            begin = k + 1
    return out


vectors = st.lists(fractions, min_size=D, max_size=D).map(lambda v: as_array(v, (D,)))
lams = st.sampled_from([F(0), F(1, 2), F(9, 10), F(1)])


@settings(max_examples=40, deadline=None)
@given(trajectories(), lams, vectors)
def test_td_setd_and_etd_are_their_forward_views(steps, lam, theta):
    follow = follow_ons(steps)
    for kind, emphases in (
        (TrueOnlineTD, [F(1)] * len(steps)),
        (TrueOnlineSETD, [omega(step.t) for step in steps]),
        (TrueOnlineETD, [lam + (1 - lam) * f for f in follow]),
    ):
        found = online(kind(lam=lam), steps, {"lam": lam}, theta, [])
        assert found == forward(steps, lam, theta, emphases), kind.name


@settings(max_examples=30, deadline=None)
@given(trajectories(), lams, vectors, vectors)
def test_gtd_is_its_forward_view(steps, lam, theta, w):
    """theta with the gradient correction; w with rho_k on its target alone."""
    mu = F(2, 3)
    traces, e = [], 0 * theta
    for step in steps:  # the trace of TDC(lambda)
        e = step.t.rho * (e + row(step))
        traces.append(e)
        e = step.t.g * lam * e

    def error(k, weights):
        t = steps[k].t
        return t.reward + t.g * next_row(steps[k]).dot(weights) - row(steps[k]).dot(weights)

    secondary, primary, begin = [w], [theta], 0
    found = online(TrueOnlineGTD(mu=mu, lam=lam), steps, {"mu": mu, "lam": lam}, theta, w)
    for end in range(1, len(steps) + 1):
        u, x = secondary[begin], primary[begin]
        for k in range(begin, end):
            target, product = F(0), steps[k].t.rho
            for j in range(k, end):
                target += product * error(j, primary[j])
                if j + 1 < end:
                    product *= steps[j].t.g * lam * steps[j + 1].t.rho
            beta = mu * steps[k].alpha
            u = u + beta * (target - row(steps[k]).dot(u)) * row(steps[k])
            gap = interim_return(steps, k, end, lam, primary) - row(steps[k]).dot(x)
            step = steps[k].alpha * steps[k].t.rho * gap * row(steps[k])
            correction = steps[k].t.g * (1 - lam) * secondary[k].dot(traces[k])
            x = x + step - steps[k].alpha * correction * next_row(steps[k])
        secondary.append(u)
        primary.append(x)
        assert found[end - 1] == [*x, *u]
        if steps[end - 1].t.g == 0:
            begin = end


@settings(max_examples=20, deadline=None)
@given(trajectories(ratios=st.just(F(1))), st.sampled_from([F(1, 2), F(9, 10)]), vectors)
def test_without_ratios_the_interim_return_mixes_n_step_returns(steps, lam, theta):
    """van Seijen et al. (2016): (1 - lam) sum of lam^(n-1) G^(n), and lam^(h-1) G^(h) for the last."""
    thetas = [theta + k for k in range(len(steps) + 1)]
    ends = [k for k, step in enumerate(steps) if step.t.g == 0]
    end = ends[0] + 1 if ends else len(steps)

    def n_step(n):
        total, product = F(0), F(1)
        for step in steps[:n]:
            total, product = total + product * step.t.reward, product * step.t.g
        return total + product * next_row(steps[n - 1]).dot(thetas[n - 1])

    mixed = sum(((1 - lam) * lam ** (n - 1) * n_step(n) for n in range(1, end)), F(0))
    mixed += lam ** (end - 1) * n_step(end)
    assert interim_return(steps, 0, end, lam, thetas) == mixed


def test_another_placement_of_the_ratios_is_another_rule():
    """A negative control: G without the ratios of later actions is not what is learnt off-policy."""
    features = as_array([[F(1), F(2)], [F(2), F(-1)], [F(1), F(0)]], (STATES, D))

    def steps(rho):
        return [
            Step(Transition(features, k, k + 1, F(1), F(9, 10), F(1), rho / 2, F(1, 2), rho, 0, 0, 0),
                 F(1, 4), k == 0)
            for k in range(2)
        ]  # fmt: skip

    theta = as_array([F(1), F(1)], (D,))
    for rho, same in ((F(1), True), (F(3, 2), False)):
        ours = online(TrueOnlineTD(lam="1/2"), steps(rho), {"lam": F(1, 2)}, theta, [])
        theirs = forward(steps(rho), F(1, 2), theta, [F(1)] * 2, corrected=False)
        assert (ours == theirs) == same


PAIRS = [(TrueOnlineTD, TD), (TrueOnlineSETD, SETD), (TrueOnlineETD, ETD), (TrueOnlineGTD, TDC)]


@settings(max_examples=8, deadline=None)
@given(problems(closed=True, most_states=4), st.sampled_from([0, "1/2", 1]))
def test_A_and_b_are_those_of_the_rule_it_refines(problem, lam):
    for kind, plain in PAIRS:
        found, known = (otd.mean_dynamics(problem, k(lam=lam)) for k in (kind, plain))
        assert (found.A, found.b) == (known.A, known.b), kind.name


@pytest.mark.parametrize(("kind", "plain"), PAIRS)
def test_with_lambda_0_it_is_that_rule_itself(kind, plain):
    problem = random_problem(4, 2, seed=3)
    runs = otd.simulate(problem, {"a": kind(0.01), "b": plain(0.01)}, 300)
    assert np.allclose(runs["a"].theta, runs["b"].theta, rtol=1e-8)
    assert kind(lam="1/2").has_memory
    assert kind().has_memory == plain().has_memory
    if not kind().has_memory:
        small = random_problem(3, 1, seed=3)
        moments = [otd.exact_moments(small, k("1/10"), 3) for k in (kind, plain)]
        assert moments[0].second == moments[1].second


@pytest.mark.parametrize("lam", ["1/2", "9/10"])
def test_tabular_fixed_points(lam):
    table = random_problem(3, 1, seed=3).replace(features=None)
    for kind in (TrueOnlineTD, TrueOnlineETD, TrueOnlineGTD):
        assert sp.Matrix(otd.mean_dynamics(table, kind(lam=lam)).fixed_point()) == table.v_pi
