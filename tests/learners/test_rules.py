"""One step of each rule, by hand and by vectors; the compiled twin; bad step sizes."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.errors import InputError, NumberError
from obliquetd.learners import (
    ETD,
    GTD2,
    LEARNERS,
    SETD,
    TD,
    TDC,
    DoubleSampledResidualGradient,
    ResidualGradient,
    RobbinsMonro,
    WeightedTD,
)
from obliquetd.learners.compiled import compiled_rule
from obliquetd.learners.state import size, views
from obliquetd.learners.words import Transition, omega

F = Fraction


def vector(*entries):
    out = np.empty(len(entries), dtype=object)
    out[:] = [F(x) for x in entries]
    return out


def step(
    learner,
    theta,
    w,
    memory,
    phi,
    phi_next,
    reward,
    g,
    rho,
    *,
    twin=None,
    alpha=1,
    beta=1,
    lam=0,
    rule=None,
):
    """One transition; the weights and the memory after it."""
    twin_phi, twin_g, twin_rho = twin or (phi_next, g, rho)
    features = np.stack([phi, phi_next, twin_phi])
    t = Transition(features, 0, 1, reward, g, g, rho, 1, rho, 2, twin_g, twin_rho, features, rho)
    values = {k: beta / alpha if k == "mu" else lam if k == "lam" else type(lam)(int(v))
              for k, v in learner.tried.items()}  # fmt: skip
    numbers = learner.numbers(**values)
    d = len(theta)
    flat = np.concatenate([theta, w])[: size(learner.weights, d, numbers)]
    memory = memory.copy()
    kept = memory[: size(learner.memory, d, numbers)]
    x, m = views(learner.weights, d, numbers, flat), views(learner.memory, d, numbers, kept)
    (rule or learner.rule)(x, m, t, alpha, numbers)
    return x.theta, x.w if "w" in x._fields else w.copy(), memory


def test_gradient_rules_with_a_nonzero_secondary_vector():
    """A report on public GTD code (rl-algorithms issue 1) met wrong signs, which h = 0 would hide."""
    phi, nxt, theta, h = vector(1, 0), vector(1, 1), vector(1, 2), vector("1/2", -1)
    arguments = (theta, h, vector(0, 0, 0), phi, nxt, F(1), F(9, 10), F(1))
    tdc = step(TDC(), *arguments, alpha=F(1, 10), beta=F(1, 5))
    gtd2 = step(GTD2(), *arguments, alpha=F(1, 10), beta=F(1, 5))
    assert list(tdc[0]) == [F(49, 40), F(391, 200)]
    assert list(gtd2[0]) == [F(201, 200), F(391, 200)]
    assert list(tdc[1]) == list(gtd2[1]) == [F(47, 50), -1]


fractions = st.fractions(-3, 3, max_denominator=4)
vectors = st.lists(fractions, min_size=2, max_size=2)


@given(
    vectors,
    vectors,
    vectors,
    vectors,
    vectors,
    fractions,
    st.fractions(0, 1, max_denominator=4),
    st.fractions(0, 3, max_denominator=4),
)
def test_every_rule_by_vectors(theta, w, trace, phi, nxt, reward, g, rho):
    """The equations of the module prefaces, written with inner products."""
    theta, w, trace, phi, nxt = (vector(*v) for v in (theta, w, trace, phi, nxt))
    alpha, beta, lam, F_in = F(1, 3), F(2, 7), F(1, 2), F(5, 4)
    memory = vector(*trace, F_in)
    delta = reward + g * nxt.dot(theta) - phi.dot(theta)
    difference = phi - g * nxt
    size = difference.dot(difference)
    weight = max(difference.dot(phi) / size, 0) if size else 0
    follow = 1 + F_in
    for learner, m in (
        (TD(lam=lam), 1),
        (SETD(lam=lam), weight),
        (ETD(lam=lam), lam + (1 - lam) * follow),
    ):
        e = rho * (trace + m * phi)
        after = step(learner, theta, w, memory, phi, nxt, reward, g, rho, alpha=alpha, lam=lam)
        assert list(after[0]) == list(theta + alpha * delta * e)
        assert list(after[1]) == list(w)
        assert list(after[2][:2]) == list(g * lam * e)
        if "F" in learner.memory._fields:
            assert after[2][2] == g * rho * follow
    e = rho * (trace + phi)
    for secondary, factor in (("plain", 1), ("weighted", rho)):
        common = (theta, w, memory, phi, nxt, reward, g, rho)
        moved = w + beta * (delta * e - factor * phi.dot(w) * phi)
        gtd2 = step(GTD2(secondary=secondary), *common, alpha=alpha, beta=beta, lam=lam)
        tdc = step(TDC(secondary=secondary), *common, alpha=alpha, beta=beta, lam=lam)
        assert list(gtd2[0]) == list(theta + alpha * difference * e.dot(w))
        assert list(tdc[0]) == list(theta + alpha * (delta * e - g * (1 - lam) * e.dot(w) * nxt))
        assert list(gtd2[1]) == list(tdc[1]) == list(moved)
        assert list(gtd2[2][:2]) == list(tdc[2][:2]) == list(g * lam * e)
    naive = step(ResidualGradient(), theta, w, memory, phi, nxt, reward, g, rho, alpha=alpha)
    assert list(naive[0]) == list(theta + alpha * rho * delta * difference)
    twin = (vector(1, -1), F(1, 2), F(3, 2))
    double = step(
        DoubleSampledResidualGradient(),
        theta,
        w,
        memory,
        phi,
        nxt,
        reward,
        g,
        rho,
        twin=twin,
        alpha=alpha,
    )
    assert list(double[0]) == list(
        theta + alpha * rho * delta * twin[2] * (phi - twin[1] * twin[0])
    )


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from(sorted(LEARNERS)))
def test_the_compiled_rule_is_the_rule(seed, name):
    rng = np.random.default_rng(seed)
    learner = LEARNERS[name]()
    theta, w, phi, nxt, twin = rng.normal(size=(5, 4))
    arguments = (theta, w, rng.normal(size=64), phi, nxt, rng.normal(), 0.9, rng.random())
    kwargs = {"twin": (twin, 0.5, 1.5), "alpha": 0.1, "beta": 0.2, "lam": 0.4}
    plain = step(learner, *arguments, **kwargs)
    compiled = step(learner, *arguments, **kwargs, rule=compiled_rule(learner.rule))
    for a, b in zip(plain, compiled, strict=True):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-12)


def weight(features, s, n, g):
    """Omega of a transition on-policy."""
    return omega(Transition(features, s, n, 0, g, 1, 1, 1, 1, n, g, 1))


def test_an_emphasis_of_your_own():
    """A number, or a function of the transition, in the place of the 1 of TD."""
    phi, nxt, theta = vector(1, 2), vector(3, 1), vector(2, -1)
    t = Transition(np.stack([phi, nxt]), 0, 1, F(1), F(1, 2), F(1), 1, 1, 1, 1, F(1, 2), 1)
    for emphasis, m in ((3, 3), ("2/3", F(2, 3)), (lambda t: 2 + 0 * t.g, 2), (omega, omega(t))):
        learner = WeightedTD(lam="1/3", emphasis=emphasis)
        assert ("emphasis" in learner.numbers._fields) == (not callable(emphasis))
        values = {"lam": F(1, 3)} | ({} if callable(emphasis) else {"emphasis": F(m)})
        numbers = learner.numbers(**values)
        x, e = theta.copy(), vector(1, -1)
        delta = learner.rule(views(learner.weights, 2, numbers, x), views(learner.memory, 2, numbers, e),
                             t._replace(rho=F(3, 2)), F(1, 10), numbers)  # fmt: skip
        trace = F(3, 2) * (vector(1, -1) + m * phi)
        assert delta == 1 + F(1, 2) * nxt.dot(theta) - phi.dot(theta)
        assert list(x) == list(theta + F(1, 10) * delta * trace)
        assert list(e) == list(F(1, 2) * F(1, 3) * trace)


def test_omega_after_a_termination_and_where_it_is_undefined():
    phi = vector(1, 2)
    table = np.stack([phi, vector(5, 5), 2 * phi])
    assert weight(table, 0, 1, F(0)) == 1
    assert weight(table, 0, 0, F(1)) == 0
    assert weight(table, 0, 2, F(9, 10)) == 0
    line = np.stack([vector(1), vector(2), vector(F(1, 2))])
    assert weight(line, 0, 1, F(1)) == 0  # the gap is -1, of length 1
    assert weight(line, 0, 2, F(1)) == 2  # the gap is 1/2
    rng = np.random.default_rng(0)
    for _ in range(100):  # it minimises |omega Delta phi - phi| over omega >= 0
        a, b = rng.normal(size=(2, 3))
        best = weight(np.stack([a, b]), 0, 1, 0.9)
        gap = [
            np.linalg.norm(x * (a - 0.9 * b) - a)
            for x in (best, best + 0.01, max(0.0, best - 0.01))
        ]
        assert gap[0] <= min(gap[1:]) + 1e-12


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "-1/2", "zero/0"])
def test_bad_step_sizes(learner, bad):
    with pytest.raises((NumberError, InputError), match="alpha"):
        learner(bad)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TD(0.1, lam=2), "lam is 2"),
        (lambda: ETD(0.1, lam=-0.1), "lam is -0.1"),
        (lambda: TD(0.1, lam=float("nan")), "lam is nan"),
        (lambda: GTD2(0.1, 0), "mu is 0"),
        (lambda: TDC(0.1, -1), "mu is -1"),
        (lambda: TDC(0.1, 1, secondary="other"), "'other'"),
        (lambda: RobbinsMonro(0, 1), "c > 0"),
        (lambda: RobbinsMonro(1, 2), "p <= 1"),
        (lambda: TD().step_size(0), "no step size"),
        (lambda: TD(lambda _: -1.0).step_size(3), "at step 3 is -1"),
        (lambda: TD(lambda _: "fast").step_size(3), "fast"),
        (lambda: TD("a").step_size(0), "is a"),
    ],
)
def test_other_bad_parameters(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_positional_order_and_schedules():
    assert GTD2(0.1, 2, 0.5) == GTD2(alpha=0.1, mu=2, lam=0.5)
    assert TD(0.1, 0.5).lam == 0.5
    assert TD(RobbinsMonro(1, 1)).step_size(9) == pytest.approx(0.1)
    assert SETD("1/4").step_size(0) == 0.25
    assert TDC(0.1, mu="mu").symbols == {sp.Symbol("mu")}
    assert ResidualGradient(0.1) == ResidualGradient(0.1)
