"""Learners from one file outside the package, as a user would write it, nothing registered."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import (
    GTD2,
    MDP,
    TD,
    Policy,
    PolicyEvaluation,
    mean_dynamics,
    simulate,
    stability_region,
)  # fmt: skip
from obliquetd.domains import two_state
from obliquetd.errors import LearnerError
from obliquetd.learners import check
from obliquetd.learners.files import learner_class
from tests.strategies import problems
from tests.turn import quick_ones

FAMILY = '''
from dataclasses import dataclass
from typing import Any, NamedTuple

from obliquetd.learners import (
    Learner, Number, ThetaW, Theta, Trace, Vector, difference, emphatic, nonnegative, omega, phi,
    phi_next, positive, td_error, unit,
)


class Traces(NamedTuple):
    e: Vector
    e_mu: Vector

class TraceMoved(NamedTuple):
    e: Vector
    moved: Number

class TraceHalf(NamedTuple):
    e: Vector
    theta_half: Vector
    w_half: Vector

class Lam(NamedTuple):
    lam: Any

class MuLam(NamedTuple):
    mu: Any
    lam: Any

class MuLamKappa(NamedTuple):
    mu: Any
    lam: Any
    kappa: Any


def htd(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    gap = 0 * t.g
    back = 0 * t.g
    for i in range(len(x.theta)):
        m.e[i] = t.rho * (m.e[i] + phi(t, i))
        m.e_mu[i] = m.e_mu[i] + phi(t, i)
        gap += (m.e[i] - m.e_mu[i]) * x.w[i]
        back += m.e_mu[i] * x.w[i]
    for i in range(len(x.theta)):
        x.theta[i] += alpha * (delta * m.e[i] + difference(t, i) * gap)
        x.w[i] += alpha * p.mu * (delta * m.e[i] - difference(t, i) * back)
        m.e[i] = t.g * p.lam * m.e[i]
        m.e_mu[i] = t.g * p.lam * m.e_mu[i]
    return delta


def traced(x, m, t):
    """The trace takes phi in; e . w and phi . w."""
    e_w = 0 * t.g
    phi_w = 0 * t.g
    for i in range(len(x.theta)):
        m.e[i] = t.rho * (m.e[i] + phi(t, i))
        e_w += m.e[i] * x.w[i]
        phi_w += phi(t, i) * x.w[i]
    return e_w, phi_w


def tdrc(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    e_w, phi_w = traced(x, m, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * (delta * m.e[i] - t.g * (1 - p.lam) * e_w * phi_next(t, i))
        x.w[i] += alpha * p.mu * (delta * m.e[i] - phi_w * phi(t, i) - p.kappa * x.w[i])
        m.e[i] = t.g * p.lam * m.e[i]
    return delta


def true_online(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    e_phi = 0 * t.g
    for i in range(len(x.theta)):
        e_phi += m.e[i] * phi(t, i)
    change = 0 * t.g
    for i in range(len(x.theta)):
        trace = t.rho * (m.e[i] + (1 - alpha * e_phi) * phi(t, i))
        step = alpha * (delta + m.moved[0]) * trace - alpha * t.rho * m.moved[0] * phi(t, i)
        x.theta[i] += step
        change += step * phi_next(t, i)
        m.e[i] = t.g * p.lam * trace
    m.moved[0] = change
    if t.own == 0:
        m.moved[0] = 0 * t.g
    return delta


def mirror_prox(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    e_w, phi_w = traced(x, m, t)
    for i in range(len(x.theta)):
        m.theta_half[i] = x.theta[i] + alpha * difference(t, i) * e_w
        m.w_half[i] = x.w[i] + alpha * p.mu * (delta * m.e[i] - phi_w * phi(t, i))
    half = td_error(m.theta_half, t)
    e_w = 0 * t.g
    phi_w = 0 * t.g
    for i in range(len(x.theta)):
        e_w += m.e[i] * m.w_half[i]
        phi_w += phi(t, i) * m.w_half[i]
    for i in range(len(x.theta)):
        x.theta[i] += alpha * difference(t, i) * e_w
        x.w[i] += alpha * p.mu * (half * m.e[i] - phi_w * phi(t, i))
        m.e[i] = t.g * p.lam * m.e[i]
        m.theta_half[i] = 0 * t.g
        m.w_half[i] = 0 * t.g
    return delta


def v_trace(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    rho = t.rho
    if rho > 1:
        rho = 1 + 0 * t.rho
    for i in range(len(x.theta)):
        trace = m.e[i] + phi(t, i)
        x.theta[i] += alpha * rho * delta * trace
        m.e[i] = t.g * p.lam * rho * trace
    return delta


def tree_backup(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        trace = m.e[i] + phi(t, i)
        x.theta[i] += alpha * t.rho * delta * trace
        m.e[i] = t.g * p.lam * t.pi * trace
    return delta


LIMIT = 2.0

def capped(x, m, t, alpha, p):
    weight = omega(t)
    if weight > LIMIT:
        weight = LIMIT + 0 * t.g
    return emphatic(x.theta, m.e, t, weight, alpha, p.lam)


@dataclass(frozen=True)
class HTD(Learner):
    alpha: Any = None
    mu: Any = positive(1)
    lam: Any = unit(0)
    weights, memory, numbers, rule = ThetaW, Traces, MuLam, staticmethod(htd)

@dataclass(frozen=True)
class TDRC(Learner):
    alpha: Any = None
    mu: Any = positive(1)
    lam: Any = unit(0)
    kappa: Any = nonnegative(1)
    weights, memory, numbers, rule = ThetaW, Trace, MuLamKappa, staticmethod(tdrc)

@dataclass(frozen=True)
class TrueOnlineTD(Learner):
    alpha: Any = None
    lam: Any = unit(0)
    weights, memory, numbers, rule = Theta, TraceMoved, Lam, staticmethod(true_online)

@dataclass(frozen=True)
class GTD2MP(Learner):
    alpha: Any = None
    mu: Any = positive(1)
    lam: Any = unit(0)
    weights, memory, numbers, rule = ThetaW, TraceHalf, MuLam, staticmethod(mirror_prox)

@dataclass(frozen=True)
class VTrace(Learner):
    alpha: Any = None
    lam: Any = unit(0)
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(v_trace)

@dataclass(frozen=True)
class TreeBackup(Learner):
    alpha: Any = None
    lam: Any = unit(0)
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(tree_backup)

@dataclass(frozen=True)
class CappedSETD(Learner):
    alpha: Any = None
    lam: Any = unit(0)
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(capped)
'''
NAMES = ("HTD", "TDRC", "TrueOnlineTD", "GTD2MP", "VTrace", "TreeBackup", "CappedSETD")
"""Each of them is one class of the file above."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "family.py"
    path.write_text(FAMILY)
    return path


@pytest.fixture
def kind(file, request):
    return learner_class(f"{file}:{request.param}")


def off_policy(discount="9/10", features=((1, 0), (1, 1), (0, 2)), target=("3/4", "1/3", "1/2")):
    """Three states, two actions, no symmetry."""
    rows = []
    for s in range(3):
        rows += [(s, "a", (s + 1) % 3, "2/3", s), (s, "a", s, "1/3", 1), (s, "b", 0, 1, -s)]
    mdp = MDP.from_transitions(rows)
    pi = Policy({s: {"a": p, "b": 1 - Fraction(p)} for s, p in enumerate(target)})
    return PolicyEvaluation(
        mdp, target=pi, behavior=Policy.uniform(mdp), features=features, discount=discount
    )


@pytest.mark.parametrize(
    "kind",
    quick_ones(NAMES, slice(2)),
    indirect=True,
)
def test_one_file_is_enough(kind):
    learner = kind(lam="1/2")
    assert check(learner).ok
    assert mean_dynamics(off_policy(), learner).stability.verdict in ("stable", "unstable")
    region = stability_region(two_state(discount="gamma"), kind(), "gamma")
    assert region.contains(sp.Rational(1, 10)) == sp.true
    run = simulate(off_policy(), [kind(0.01, lam=0.5)], steps=500, seed=3)[learner.name]
    assert run.diverged == 0
    assert np.isfinite(run.rmse).all()
    assert run.theta.any()


def on_policy_matrix(problem, lam):
    """A of the behaviour's own TD(lambda)."""
    own = problem.replace(target=problem.behavior or problem.target, behavior=None)
    return mean_dynamics(own, TD(lam=lam)).A


@settings(max_examples=15)
@given(problems(closed=True, most_states=4), st.sampled_from([0, "1/2", 1]))
def test_the_joint_matrices_in_closed_form(file, problem, lam):
    """HTD: [[A, (A_mu - A)'], [mu A, mu A_mu']]; TDRC(0): [[A, C - A'], [mu A, mu (C + kappa)]]."""
    A = mean_dynamics(problem, TD(lam=lam)).A
    mu = sp.Rational(2, 3)
    htd = mean_dynamics(problem, learner_class(f"{file}:HTD")(mu=mu, lam=lam)).A
    A_mu = on_policy_matrix(problem, lam)
    assert htd == sp.Matrix(sp.BlockMatrix([[A, (A_mu - A).T], [mu * A, mu * A_mu.T]]))
    online = learner_class(f"{file}:TrueOnlineTD")(lam=lam)
    assert mean_dynamics(problem, online).A == A
    assert mean_dynamics(problem, online).b == mean_dynamics(problem, TD(lam=lam)).b
    prox = learner_class(f"{file}:GTD2MP")(mu=mu, lam=lam)
    assert mean_dynamics(problem, prox).A == mean_dynamics(problem, GTD2(mu=mu, lam=lam)).A
    A, C = mean_dynamics(problem, TD()).A, problem.C
    tdrc = mean_dynamics(problem, learner_class(f"{file}:TDRC")(mu=mu, kappa="1/5")).A
    shrunk = mu * (C + sp.eye(C.rows) / 5)
    assert tdrc == sp.Matrix(sp.BlockMatrix([[A, C - A.T], [mu * A, shrunk]]))


def test_a_cap_that_never_binds_is_setd_and_one_that_binds_is_not(file):
    from obliquetd import SETD

    capped = learner_class(f"{file}:CappedSETD")()
    tame = off_policy(discount="1/10")
    assert mean_dynamics(tame, capped).A == mean_dynamics(tame, SETD()).A
    assert mean_dynamics(two_state(), capped).A != mean_dynamics(two_state(), SETD()).A


REFUSED = """
from dataclasses import dataclass
from typing import Any, NamedTuple
from obliquetd.learners import Learner, Number, Theta, ThetaW, Trace, Vector, emphatic, phi, td_error, unit

class Lam(NamedTuple):
    lam: Any

class Kept(NamedTuple):
    e: Vector
    F: Number

def td(x, m, t, alpha, p):
    return emphatic(x.theta, m.e, t, 1 + 0 * t.g, alpha, p.lam)

def past_the_end(x, m, t, alpha, p):
    delta = td(x, m, t, alpha, p)
    m.e[len(x.theta)] = t.g * t.rho
    return delta

def quadratic(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * delta * phi(t, i)
    return delta

def remembers_the_weights(x, m, t, alpha, p):
    delta = td(x, m, t, alpha, p)
    m.e[0] += t.g * x.theta[0]
    return delta

def clipped(x, m, t, alpha, p):
    delta = td(x, m, t, alpha, p)
    F = t.g * t.rho * (1 + m.F[0])
    if F > 1000:
        F = 1000 + 0 * F
    m.F[0] = F
    return delta

def clipped_error(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    if delta > 100000:
        delta = 100000 + 0 * delta
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * phi(t, i)
    return delta

def writes_features(x, m, t, alpha, p):
    t.features[0, 0] = 0 * t.g
    return td(x, m, t, alpha, p)

def undeclared(x, m, t, alpha, p):
    m.G[0] = t.g
    return td(x, m, t, alpha, p)

def no_answer(x, m, t, alpha, p):
    td(x, m, t, alpha, p)

def moves_at_rest(x, m, t, alpha, p):
    x.theta[0] += t.g
    return td(x, m, t, alpha, p)

calls = [0]

def counts(x, m, t, alpha, p):
    calls[0] += 1
    x.theta[0] += alpha * calls[0]
    return td(x, m, t, alpha, p)

def reward_times_weights(x, m, t, alpha, p):
    delta = td(x, m, t, alpha, p)
    x.theta[0] += alpha * t.reward * x.theta[0]
    return delta

def two_faced(x, m, t, alpha, p):
    delta = td(x, m, t, alpha, p)
    if isinstance(t.g, float):
        x.theta[0] += alpha
    return delta

def outlives(x, m, t, alpha, p):
    delta = td(x, m, t, alpha, p)
    m.e[0] += phi(t, 0)
    return delta

def recursive(x, m, t, alpha, p):
    return recursive(x, m, t, alpha, p)

def uncompilable(x, m, t, alpha, p):
    return td(x, m, t, alpha, p) + 0 * len(t.features.tolist())

@dataclass(frozen=True)
class Own(Learner):
    alpha: Any = None
    lam: Any = unit("1/2")
    weights, memory, numbers = Theta, Kept, Lam
"""
REASONS = {
    "past_the_end": ("runs", "beyond the arrays that it declares"),
    "quadratic": ("averages", "not affine in the weights"),
    "remembers_the_weights": ("averages", "depends on the weights"),
    "clipped": ("averages", "not affine in the memory"),
    "clipped_error": ("averages", "not affine in the weights"),
    "writes_features": ("runs", "only in place"),
    "undeclared": ("runs", "declared arrays"),
    "no_answer": ("runs", "has to return delta"),
    "moves_at_rest": ("averages", "where alpha is 0"),
    "counts": ("runs", "two runs on the same numbers differ"),
    "reward_times_weights": ("averages", "the reward changes"),
    "two_faced": ("runs", "other numbers than it evaluates to"),
    "outlives": ("averages", "does not empty its memory"),
    "recursive": ("runs", "calls itself"),
    "uncompilable": ("runs", "cannot be compiled"),
}


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "refused.py"
    classes = "".join(
        f"\nclass {name.title().replace('_', '')}(Own):\n    rule = staticmethod({name})\n"
        for name in REASONS
    )
    path.write_text(REFUSED + classes)
    return path


@pytest.mark.parametrize(
    "name",
    quick_ones(REASONS, slice(2)),
)
def test_a_rule_that_is_not_what_it_has_to_be_is_refused_by_name(refused, name):
    learner = learner_class(f"{refused}:{name.title().replace('_', '')}")(0.1)
    stage, reason = REASONS[name]
    found = check(learner)
    assert reason in getattr(found, stage)
    if stage == "averages":
        assert not found.runs
        with pytest.raises(LearnerError, match=reason):
            mean_dynamics(off_policy(), learner)
        simulate(off_policy(), [learner], steps=3)
    else:
        with pytest.raises(LearnerError, match=reason):
            simulate(off_policy(), [learner], steps=10)


@pytest.mark.slow
def test_numbers_in_a_closure_are_read_as_written(tmp_path):
    """0.3 is 3/10 and 1/3 is a third, in exact arithmetic as in compiled code."""
    path = tmp_path / "closure.py"
    path.write_text(
        "from dataclasses import dataclass\nfrom typing import Any\n"
        "from obliquetd.learners import Learner, Theta, phi, td_error\n"
        "def made(c):\n    def rule(x, m, t, alpha, p):\n        delta = td_error(x.theta, t)\n"
        "        for i in range(len(x.theta)):\n"
        "            x.theta[i] += alpha * (c + 1 / 3) * t.rho * delta * phi(t, i)\n"
        "        return delta\n    return rule\n"
        "@dataclass(frozen=True)\nclass Scaled(Learner):\n    alpha: Any = None\n"
        "    weights, rule = Theta, staticmethod(made(0.3))\n"
    )
    scaled = learner_class(f"{path}:Scaled")
    assert check(scaled()).ok
    problem = off_policy()
    factor = sp.Rational(3, 10) + sp.Rational(1, 3)
    assert factor * mean_dynamics(problem, TD()).A == mean_dynamics(problem, scaled()).A
    ours = simulate(problem, [scaled(0.1)], steps=50, seed=1)["Scaled"].theta
    theirs = simulate(problem, [TD(0.1 * float(factor))], steps=50, seed=1)["TD"].theta
    assert np.allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("x = 1", "HTD", "defines none"),
        ("raise ValueError('broken')", "HTD", "line 1: ValueError: broken"),
        ("from obliquetd.learners import TD", "Other", "defines none"),
    ],
)
def test_files_without_the_learner(tmp_path, text, name, words):
    path = tmp_path / "rules.py"
    path.write_text(text)
    with pytest.raises(LearnerError, match=words):
        learner_class(f"{path}:{name}")


@pytest.mark.parametrize("spec", ["nowhere.py:HTD", "rules.txt:HTD", "HTD", "rules.py:", ":HTD"])
def test_specs_that_name_no_class(spec):
    with pytest.raises(LearnerError):
        learner_class(spec)
