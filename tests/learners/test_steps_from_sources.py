"""Every learner's step, on logs, against a loop written from its source.

The loops of the learners whose step size stands in front of all else are those of :mod:`tests.oracle.rules`; those in which
it stands elsewhere, too, are written here. Logs have ends, cuts, ratios of 0 and discounts that change, and lengths
from one row on, so that every step is held, and not only its mean.
"""

import random
from fractions import Fraction
from types import SimpleNamespace

import pytest

from obliquetd import replay
from obliquetd.domains import two_state
from obliquetd.errors import ObliqueTDError
from obliquetd.experiments import LoggedData
from obliquetd.learners import LEARNERS
from tests.oracle.linear import dot
from tests.oracle.rules import add, gap, omega, scaled
from tests.oracle.settings import RULES

ALPHA = Fraction(1, 5)
HALF = Fraction(1, 2)
LAM = Fraction(3, 4)


def drawn(seed, length=9, d=3):
    """Rows as a log has them, and in plain numbers."""
    rng = random.Random(seed)

    def features():
        return [Fraction(rng.choice([0, 0, 1, -1, 2])) for _ in range(d)]

    rows, before, fresh = [], features(), True
    for _ in range(length):
        after = features()
        g = rng.choice([Fraction(9, 10), HALF, Fraction(0), Fraction(1)])
        pi, mu = rng.choice([(0, HALF), (1, HALF), (HALF, HALF), (Fraction(1, 4), Fraction(3, 4))])
        rows.append(
            SimpleNamespace(
                s=0, phi=before, phi_next=after, r=Fraction(rng.choice([0, 0, 1, -2])), g=g, own=Fraction(g > 0),
                pi=Fraction(pi), mu=Fraction(mu), rho=Fraction(pi) / Fraction(mu), first=fresh, twin=None,
            )
        )  # fmt: skip
        fresh = g == 0 or rng.random() < 0.2  # an end, or a cut
        before = features() if fresh else after
    return rows


def log_of(rows):
    return LoggedData(
        [t.phi for t in rows], [t.phi_next for t in rows], [t.r for t in rows], [t.g for t in rows],
        target=[t.pi for t in rows], behavior=[t.mu for t in rows], first=[t.first for t in rows],
    )  # fmt: skip


# --- alpha in front of all else ---------------------------------------------------------------


def in_front(key, given):
    """The loop of an oracle's rule: x += alpha change."""
    rule = RULES[key]

    def run(rows, theta):
        d = len(theta)
        p = {**rule.defaults, **given, "expected": None, "interest": [1], "emphasis": [1]}
        p |= {"psi_0": Fraction(1), "psi_max": Fraction(2)}  # of the two-state example
        x, m = list(theta) + [Fraction(0)] * (d * rule.two), []
        for t in rows:
            if t.first:
                m = [Fraction(0)] * rule.memory(d, p)
            change, m = rule.step(x, m, t, p)
            x = add(x, scaled(ALPHA, change))
        return x[:d]

    return run


# --- alpha elsewhere, too ---------------------------------------------------------------------


def dutch(emphasis):
    """van Hasselt, Mahmood and Sutton 2014, with the ratios and the emphasis of Mahmood et al. 2015."""

    def run(rows, theta):
        d, lam = len(theta), LAM
        theta, e, before, m = list(theta), [], [], {}
        for t in rows:
            if t.first:
                e, before, m = [Fraction(0)] * d, theta, {}
            weight = emphasis(t, m)
            own = ALPHA * weight * (1 - t.rho * dot(t.phi, e))
            e = scaled(t.rho, add(e, scaled(own, t.phi)))
            delta = t.r - dot(gap(t), theta)
            late = add(e, scaled(-ALPHA * t.rho * weight, t.phi))
            moved = dot(add(theta, scaled(-1, before)), t.phi)
            after = add(theta, add(scaled(delta, e), scaled(moved, late)))
            before, theta, e = theta, after, scaled(t.g * lam, e)
        return theta

    return run


def followed(t, m):
    """M = lambda + (1 - lambda) F."""
    F = 1 + m.get("F", 0)
    m["F"] = t.g * t.rho * F
    return LAM + (1 - LAM) * F


def true_online_gtd(rows, theta):
    """van Hasselt, Mahmood and Sutton 2014, Algorithm 2, with mu = beta / alpha = 1."""
    d, lam, beta = len(theta), LAM, ALPHA
    zero = [Fraction(0)] * d
    theta, w, before, e, plain, e_w = list(theta), zero, zero, zero, zero, zero
    for t in rows:
        if t.first:
            before, e, plain, e_w = theta, zero, zero, zero
        delta = t.r - dot(gap(t), theta)
        e = scaled(t.rho, add(e, scaled(ALPHA * (1 - t.rho * dot(t.phi, e)), t.phi)))
        plain = scaled(t.rho, add(plain, t.phi))
        e_w = add(e_w, scaled(beta * (1 - dot(t.phi, e_w)), t.phi))
        moved = dot(add(theta, scaled(-1, before)), t.phi)
        change = add(scaled(delta, e), scaled(moved, add(e, scaled(-ALPHA * t.rho, t.phi))))
        back = scaled(-ALPHA * t.g * (1 - lam) * dot(plain, w), t.phi_next)
        w = add(w, add(scaled(t.rho * delta, e_w), scaled(-beta * dot(t.phi, w), t.phi)))
        before, theta = theta, add(theta, add(change, back))
        e, plain = scaled(t.g * lam, e), scaled(t.g * lam, plain)
        e_w = scaled(t.g * lam * t.rho, e_w)
    return theta


def mirror_prox(corrected):
    """Liu et al. 2015: a step to the middle, then the whole step with the directions found there."""

    def run(rows, theta):
        d = len(theta)
        x, w, e = list(theta), [Fraction(0)] * d, []
        for t in rows:
            if t.first:
                e = [Fraction(0)] * d
            e = scaled(t.rho, add(e, t.phi))

            def moved(at, at_w, x=x, w=w, e=e, t=t):
                delta = t.r - dot(gap(t), at)
                along = scaled(dot(e, at_w), gap(t))
                if corrected:
                    back = scaled(-t.g * (1 - LAM) * dot(e, at_w), t.phi_next)
                    along = add(scaled(delta, e), back)
                to_w = add(scaled(delta, e), scaled(-dot(t.phi, at_w), t.phi))
                return add(x, scaled(ALPHA, along)), add(w, scaled(ALPHA, to_w))

            x, w = moved(*moved(x, w))
            e = scaled(t.g * LAM, e)
        return x

    return run


ELSEWHERE = {
    "true-online-td": dutch(lambda t, m: 1),
    "true-online-setd": dutch(lambda t, m: omega(gap(t), t.phi)),
    "true-online-etd": dutch(followed),
    "true-online-gtd": true_online_gtd,
    "gtd2-mp": mirror_prox(False),
    "tdc-mp": mirror_prox(True),
}
WITHOUT_A_LOG = {"double-sampled-residual-gradient"}  # a log has one successor a row
SETTINGS = {
    "etd": [{"lam": LAM}, {"lam": LAM, "truncate": 2}, {"beta": HALF, "lam": 0}],
    "setd": [{"lam": LAM}, {"cap": HALF, "lam": 0}, {"ratios": "capped", "lam": LAM}],
    "n-step-td": [{"n": 1}, {"n": 2}, {"n": 4}],
    "v-trace": [{"lam": LAM}, {"lam": LAM, "rho_bar": Fraction(3, 2), "c_bar": HALF}],
    "abtd": [{"zeta": HALF}, {"zeta": Fraction(1, 4)}, {"zeta": 1}],
    "gtd2": [{"lam": LAM}, {"lam": LAM, "secondary": "weighted", "mu": 2}],
    "tdc": [{"lam": LAM}, {"lam": LAM, "secondary": "weighted", "mu": 2}],
    "regularized-td": [{"eta": 1}, {"eta": HALF}],
}
CASES = [
    (key, given)
    for key in sorted(LEARNERS.keys() - WITHOUT_A_LOG)
    for given in SETTINGS.get(
        key, [{"lam": LAM}] if "lam" in LEARNERS[key].__dataclass_fields__ else [{}]
    )
]


@pytest.mark.parametrize(("key", "given"), CASES, ids=[f"{k} {g}" for k, g in CASES])
def test_each_step_is_the_sources(key, given):
    loop = ELSEWHERE[key] if key in ELSEWHERE else in_front(key, given)
    learner = LEARNERS[key](ALPHA, **given)
    if key == "abtd":
        learner = learner.bound(two_state())
    moved = False
    for seed in range(4):
        rows = drawn(seed)
        theta = [Fraction(1), Fraction(-1), HALF]
        for length in range(1, len(rows) + 1):
            part = rows[:length]
            found = replay(log_of(part), learner, theta0=theta).theta
            wanted = loop(part, theta)
            assert [Fraction(int(x.p), int(x.q)) for x in found] == wanted, (seed, length)
            moved |= wanted != theta
    assert moved


def test_what_a_log_cannot_serve_is_refused():
    for key in WITHOUT_A_LOG:
        with pytest.raises(ObliqueTDError):
            replay(log_of(drawn(0)), LEARNERS[key](ALPHA))


def test_an_n_step_return_with_the_weights_of_its_own_time_is_another_step():
    """The book's return uses the weights at the time of the update: 1/4; by the trace it is 0."""
    log = LoggedData([[1], [1]], [[1], [0]], [1, 0], [1, 0])
    learner = LEARNERS["n-step-td"](HALF, n=2)
    assert list(replay(log, learner).theta) == [0]
    theta = Fraction(0)
    for G in (
        Fraction(1),
        Fraction(0),
    ):  # the return from each of the two rows, at the end of the episode
        theta += HALF * (G - theta)
    assert theta == Fraction(1, 4)
    assert "1/4 there and 0 here" in type(learner).__doc__
