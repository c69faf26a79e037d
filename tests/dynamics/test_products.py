"""The rule run once for all outcomes, against the rule run outcome by outcome."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import obliquetd as otd
from obliquetd.dynamics import expectation
from obliquetd.dynamics.products import Products, products_of
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.learners import LEARNERS, Learner, Nothing, Number, Theta, Vector
from obliquetd.learners.forms import NoFormError
from obliquetd.learners.state import Trace
from obliquetd.learners.words import difference, omega, phi, phi_next, td_error


def outcome_by_outcome(monkeypatch):
    """The plain way, which is the oracle here, for what comes by products."""
    monkeypatch.setattr(expectation, "sums_of", lambda *_, **__: None)


SETTINGS = {
    "n-step-td": ({"n": 1}, {"n": 3}),
    "abtd": ({}, {"zeta": "3/4"}),
    "weighted-td": ({"lam": "1/3", "emphasis": omega},),
    "etd": ({}, {"lam": "1/2"}, {"beta": "1/3"}, {"lam": "1/2", "truncate": 2},
            {"lam": "1/3", "interest": lambda problem: range(len(problem.states))}),
    "setd": ({}, {"lam": "1/2"}, {"cap": "3/2"}, {"lam": "1/2", "ratios": "capped"},
             {"omega": "expected"}),
    "gtd2": ({}, {"lam": "1/2", "secondary": "weighted"}),
    "tdc": ({}, {"lam": "1/2", "secondary": "weighted"}),
    "v-trace": ({"lam": "1/2", "rho_bar": "3/2", "c_bar": "5/4"},),
}  # fmt: skip


N = 3


def learners_of(key):
    settings = SETTINGS.get(key)
    if settings is None:
        has_lam = hasattr(LEARNERS[key], "__dataclass_fields__") and (
            "lam" in LEARNERS[key].__dataclass_fields__
        )
        settings = ({}, {"lam": "1/2"}) if has_lam else ({},)
    return [LEARNERS[key](**given) for given in settings]


EVERY = [learner for key in LEARNERS for learner in learners_of(key)]


def states(seed, **given):
    """Random outcomes with self-loops, a state without features and one that ends an episode."""
    draw = np.random.default_rng(seed)
    rows = []
    for s in range(N):
        for a in range(2):
            ends = [s, int(draw.integers(N))]
            shares = draw.integers(1, 5, 2).tolist()
            rows += [
                (s, a, t, f"{w}/{sum(shares)}", int(draw.integers(-3, 4)), 0 if s == 2 else 1)
                for t, w in zip(ends, shares, strict=True)
            ]
    mdp = otd.MDP.from_transitions(rows)
    Phi = draw.integers(-2, 4, (N, 2)).tolist()
    Phi[1] = [0, 0]
    first = [[f"{k}/5", f"{5 - k}/5"] for k in draw.integers(1, 5, 2 * N).tolist()]
    target, behavior = (
        otd.Policy({s: dict(enumerate(first[N * i + s])) for s in range(N)}) for i in range(2)
    )
    return otd.PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=Phi, **{"discount": "9/10", **given}
    )


def pairs(seed, **given):
    base = states(seed)
    draw = np.random.default_rng(seed)
    return otd.PolicyEvaluation.of_actions(
        base.mdp, target=base.target, behavior=base.behavior, discount="4/5",
        features={p: draw.integers(-2, 4, 2).tolist() for p in
                  otd.PolicyEvaluation.of_actions(base.mdp, target=base.target, discount="1/2").states},
        **given,
    )  # fmt: skip


def both(problem, learner, monkeypatch, sampling=None):
    """A, b, the mean memory and the span by products, and outcome by outcome."""
    found = []
    for plain in (False, True):
        with monkeypatch.context() as patched:
            if plain:
                outcome_by_outcome(patched)
            dyn = otd.mean_dynamics(problem, learner, sampling=sampling).expectation
            assert bool(dyn.sums) != plain, learner.label
            found.append((dyn.A, dyn.b, dyn.memory, dyn.span.basis))
    return found


@pytest.mark.parametrize("make", [states, pairs])
@pytest.mark.parametrize("learner", EVERY, ids=lambda x: x.label)
def test_products_are_what_outcomes_add_up_to(learner, make, monkeypatch):
    new, old = both(make(len(learner.label)), learner, monkeypatch)
    for mine, theirs in zip(new, old, strict=True):
        assert mine == theirs if isinstance(mine, list) else (mine - theirs).is_zero()


@pytest.mark.parametrize("learner", EVERY, ids=lambda x: x.label)
def test_products_of_floats_with_their_bounds(learner, monkeypatch):
    make = (states, pairs)[len(learner.label) % 2]
    new, old = both(make(3, arithmetic="float"), learner, monkeypatch)
    exact = otd.mean_dynamics(make(3), learner)
    for mine, theirs, true in zip(new[:2], old[:2], (exact.A, exact.b), strict=True):
        np.testing.assert_allclose(mine.dense(), theirs.dense(), rtol=1e-10, atol=1e-12)
        gap = np.abs(mine.dense() - np.array(true.tolist(), dtype=float))
        assert (gap <= 2 * mine.dense_error() + 1e-300).all()
        assert mine.dense_error().max() < 1e-11
    assert new[3].shape == old[3].shape


@pytest.mark.parametrize("given", [{}, {"arithmetic": "float"}, {"discount": "gamma"}], ids=str)
@pytest.mark.parametrize("learner", EVERY, ids=lambda x: x.label)
def test_a_shipped_rule_does_what_its_products_say_on_every_outcome(learner, given):
    """So that it need not be held against them on each problem, as a user's own is."""
    make = (states, pairs)[len(learner.label) % 2] if given != {"discount": "gamma"} else states
    problem = make(len(learner.label), **given)
    if learner.name == "SETD" and given == {"discount": "gamma"}:
        problem = problem.subs({"gamma": "1/3"})  # omega has no one sign
    rule = RuleOnNumbers(problem.native, learner.bound(problem))
    for carried in {False, learner.has_memory}:
        found = Products(rule, [True] * problem.native.n, carried=carried)
        assert sum(len(group.outcomes) for group in found.groups) == len(rule.samples)
        found.guard()


@pytest.mark.parametrize("key", ["td", "etd", "gtd2", "regularized-td", "n-step-td"])
def test_products_of_formulas(key, monkeypatch):
    for learner in learners_of(key):
        problem = otd.domains.two_state(reward=1, discount="gamma")
        new, old = both(problem, learner, monkeypatch)
        assert all((new[k] - old[k]).is_zero() for k in (0, 1, 3))


def test_products_with_weights_that_are_zero(monkeypatch):
    for learner in (otd.TD(), otd.ETD(lam="1/2"), otd.GTD2()):
        problem = states(2, xi=[1, 0, 2])
        new, old = both(problem, learner, monkeypatch, sampling="iid")
        assert all((new[k] - old[k]).is_zero() for k in (0, 1, 3))


# --- rules of one's own -----------------------------------------------------------------------


class Average(NamedTuple):
    theta: Vector
    level: Number


def average_reward(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = t.reward - x.level[0]
    for i in range(len(x.theta)):
        delta += (phi_next(t, i) - phi(t, i)) * x.theta[i]
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * phi(t, i)
    x.level[0] += alpha * 0.5 * delta
    return delta


def normalised(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    size = 1 + 0 * t.g
    for i in range(len(x.theta)):
        size += phi(t, i) * phi(t, i)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * difference(t, i) / size
    return delta


def by_number(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * t.features[t.s, 0] * phi(t, i)
    return delta


def first_weight(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * (delta * phi(t, i) - x.theta[0])
    return delta


def entry_by_entry(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * phi(t, i) * phi(t, i) * phi_next(t, i)
    return delta


def last_product(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    kept = 0 * t.g
    for i in range(len(x.theta)):
        kept = phi(t, i) * phi_next(t, i)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * kept * phi(t, i)
    return delta


def sum_so_far(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    seen = 0 * t.g
    for i in range(len(x.theta)):
        seen += phi(t, i) * phi(t, i)
        x.theta[i] += alpha * delta * seen * phi(t, i)
    return delta


def last_entry(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    kept = 0 * t.g
    for i in range(len(x.theta)):
        kept = phi(t, i)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * kept
    return delta


def counted(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    count = 0
    for _ in range(len(x.theta)):
        count += 1
    for i in range(len(x.theta)):
        x.theta[i] += alpha * count * delta * phi(t, i)
    return delta


def weighted_places(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    count = 0
    for i in range(len(x.theta)):
        count += 1  # noqa: SIM113
        x.theta[i] += alpha * count * delta * phi(t, i)
    return delta


def of_one_state(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    if t.s == 1:
        return delta
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * phi(t, i)
    return delta


def of_one_place(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        if i == 0:
            x.theta[i] += alpha * delta * phi(t, i)
    return delta


REWARDS = {-3: 1, 2: 5}


def of_a_table(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * REWARDS.get(t.s, 2) * delta * phi(t, i)
    return delta


def larger_entries(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        if phi(t, i) > 0:
            x.theta[i] += alpha * delta * phi(t, i)
    return delta


def rank_one_trace(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    along = 0 * t.g
    for i in range(len(x.theta)):
        along += m.e[i] * phi(t, i)
    for i in range(len(x.theta)):
        trace = m.e[i] + (1 - along / 50) * phi(t, i)
        x.theta[i] += alpha * delta * trace
        m.e[i] = t.g * trace / 4
    return delta


def own(rule, state=Theta, kept=Nothing):
    @dataclass(frozen=True)
    class Own(Learner):
        alpha: Any = None

    Own.name, Own.weights, Own.memory, Own.rule = rule.__name__, state, kept, staticmethod(rule)
    return Own()


WHOLE = [own(average_reward, Average), own(normalised)]
GENERAL = [
    own(rule) for rule in (by_number, first_weight, entry_by_entry, last_product, sum_so_far, last_entry,
                           counted, weighted_places, of_one_state, of_one_place, of_a_table,
                 larger_entries)
]  # fmt: skip


@pytest.mark.parametrize("learner", WHOLE, ids=lambda x: x.name)
def test_a_rule_of_inner_products_runs_once(learner, monkeypatch):
    new, old = both(states(5), learner, monkeypatch)
    for mine, theirs in zip(new, old, strict=True):
        assert mine == theirs if isinstance(mine, list) else (mine - theirs).is_zero()


@pytest.mark.parametrize("learner", GENERAL, ids=lambda x: x.name)
@pytest.mark.parametrize("tabular", [False, True])
def test_a_rule_that_knows_its_entries_takes_the_general_route(learner, tabular, monkeypatch):
    problem = states(5)
    if tabular:
        problem = problem.replace(features=None)
    rule = RuleOnNumbers(problem.native, learner)
    assert products_of(rule, [True] * N, carried=False) is None
    new = otd.mean_dynamics(problem, learner)
    outcome_by_outcome(monkeypatch)
    old = otd.mean_dynamics(problem, learner)
    assert new.A == old.A
    assert new.b == old.b


def test_a_trace_of_rank_one_takes_the_general_route(monkeypatch):
    learner = own(rank_one_trace, kept=Trace)
    new = otd.mean_dynamics(states(5), learner)
    assert new.expectation.sums is None
    outcome_by_outcome(monkeypatch)
    assert new.A == otd.mean_dynamics(states(5), learner).A


def third_place(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    count = 0
    for i in range(len(x.theta)):
        count += 1  # noqa: SIM113
        if count > 2:
            x.theta[i] += alpha * delta * phi(t, i)
        x.theta[i] += alpha * delta * phi(t, i)
    return delta


def test_what_two_halves_do_not_show_is_seen_on_numbers(monkeypatch):
    problem, learner = states(5).replace(features=None), own(third_place)
    new = otd.mean_dynamics(problem, learner)
    assert new.expectation.sums is None
    outcome_by_outcome(monkeypatch)
    assert new.A == otd.mean_dynamics(problem, learner).A


def test_the_guard_says_what_a_rule_does():
    rule = RuleOnNumbers(states(5).native, own(by_number))
    with pytest.raises(NoFormError, match="by its number"):
        Products(rule, [True] * N, carried=False)


def test_an_endless_trace_is_named(monkeypatch):
    problem = otd.domains.two_state(reward=1, discount=1)
    messages = set()
    for plain in (False, True):
        if plain:
            outcome_by_outcome(monkeypatch)
        with pytest.raises(otd.errors.SingularError, match="no stationary mean") as raised:
            otd.mean_dynamics(problem, otd.TD(lam=1)).A  # noqa: B018
        messages.add(str(raised.value))
    assert len(messages) == 1


def test_a_sparse_problem_of_floats_with_a_trace():
    """Each of 520 states has three successors; the matrices against those of the definitions."""
    draw = np.random.default_rng(0)
    n, d = 520, 3
    rows = []
    for s in range(n):
        for a in range(2):
            shares = draw.dirichlet(np.ones(3)).tolist()
            ends = [(s + 1) % n, *draw.choice(n, 2, replace=False).tolist()]
            rows += [(s, a, t, p, float(draw.normal())) for t, p in zip(ends, shares, strict=True)]
    mdp = otd.MDP.from_transitions(rows)
    problem = otd.PolicyEvaluation(
        mdp, target=otd.Policy.random(mdp, 1), behavior=otd.Policy.uniform(mdp),
        features=draw.normal(size=(n, d)), discount=0.9, arithmetic="float",
    )  # fmt: skip
    dyn = otd.mean_dynamics(problem, otd.TD(lam=0.5))
    P, xi = problem.P_pi, np.asarray(problem.xi)
    P = P.toarray() if hasattr(P, "toarray") else np.asarray(P)
    Phi = np.asarray(problem.Phi)
    inverse = np.linalg.inv(np.eye(n) - 0.45 * P)
    left = Phi.T @ (xi[:, None] * inverse)
    np.testing.assert_allclose(dyn.A, left @ (np.eye(n) - 0.9 * P) @ Phi, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(dyn.b, left @ np.asarray(problem.r_pi), rtol=1e-9, atol=1e-12)


NOISY = [otd.TD(), otd.TD(lam="1/2"), otd.ETD(lam="1/3"), otd.GTD2(lam="1/2"), otd.TDRC(lam="1/2"),
         otd.HTD(lam="1/2"), otd.NStepTD(n=3), otd.TrueOnlineGTD(lam="1/2"), otd.SETD(lam="1/2"),
         otd.RegularizedTD()]  # fmt: skip


@pytest.mark.parametrize("learner", NOISY, ids=lambda x: x.label)
@pytest.mark.parametrize("arithmetic", [None, "float"])
def test_noise_from_the_terms_is_noise_from_the_runs(learner, arithmetic, monkeypatch):
    problem = states(7, discount="1/2", arithmetic=arithmetic)
    problem = problem.replace(features=[[1, 2], [0, 0], [3, 1]])
    found = []
    for plain in (False, True):
        if plain:
            outcome_by_outcome(monkeypatch)
        noise = otd.efficiency(problem, learner)
        found.append((noise.is_finite, noise.noise_covariance if noise.is_finite else None))
    (finite, mine), (also, theirs) = found
    assert finite == also
    if arithmetic is None:
        assert mine == theirs
    elif finite:
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def counts_rounds(x, m, t, alpha, p):
    """A loop has fewer rounds over whole vectors than it has features, and `and` hides what follows."""
    delta = td_error(x.theta, t)
    k = 0
    for _ in range(len(x.theta)):
        k += 1
    w = 1 + 0 * t.g
    if k > 2 and t.rho > 2:
        w = 5 + 0 * t.g
    for i in range(len(x.theta)):
        x.theta[i] += alpha * w * t.rho * delta * phi(t, i)
    return delta


def changes_in_the_loop(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    k = 0
    for i in range(len(x.theta)):
        k += 1  # noqa: SIM113
        if k < 3 or t.rho < 2:
            x.theta[i] += alpha * t.rho * delta * phi(t, i)
    return delta


@pytest.mark.parametrize("rule", [counts_rounds, changes_in_the_loop])
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_rule_that_counts_its_rounds_is_right_for_every_outcome(monkeypatch, rule, seed):
    """Few outcomes have rho > 2: held against five of a group alone, A was 6.2 where 11.8 is right."""
    problem = otd.domains.random_problem(12, 4, seed=seed)
    mine = type("Mine", (otd.TD,), {"rule": staticmethod(rule), "key": rule.__name__})()
    with monkeypatch.context() as patched:
        outcome_by_outcome(patched)
        wanted = otd.mean_dynamics(problem, mine).A
    assert wanted == otd.mean_dynamics(otd.domains.random_problem(12, 4, seed=seed), mine).A


@pytest.mark.parametrize(
    "learner", [otd.TD(lam=0.5), otd.ETD(), otd.GTD2(mu=1)], ids=lambda x: x.label
)
def test_what_is_forgotten_of_many_outcomes_is_made_again(learner, monkeypatch):
    wanted = otd.mean_dynamics(states(5, arithmetic="float"), learner)
    kept = wanted.expectation.sums
    monkeypatch.setattr("obliquetd.dynamics.products.MOST_KEPT", 0)
    found = otd.mean_dynamics(states(5, arithmetic="float"), learner)
    sums = found.expectation.sums
    assert "products" not in vars(sums)
    for mine, theirs in (
        (found.A, wanted.A),
        (found.b, wanted.b),
        (found.fixed_point(), wanted.fixed_point()),
        (np.array(sums.memory_rows()), np.array(kept.memory_rows())),
    ):
        assert mine == pytest.approx(theirs, rel=1e-12)
    assert len(sums.products.groups) == len(kept.products.groups)
