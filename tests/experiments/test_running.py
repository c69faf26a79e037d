"""Steps on the active features against steps over all of them; stretches against one run."""

import dataclasses
import itertools
import random
from bisect import bisect_right

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation, simulate
from obliquetd.domains import random_problem, two_state
from obliquetd.experiments import experiment
from obliquetd.experiments.identity import numbers_of
from obliquetd.experiments.running import ActiveSteps, WholeSteps, steps_of
from obliquetd.experiments.streams import Drawn, Outcomes, TableStream
from obliquetd.learners import (
    ETD,
    GTD,
    GTD2,
    HTD,
    LEARNERS,
    SETD,
    TD,
    TDC,
    DoubleSampledResidualGradient,
    Retrace,
    TrueOnlineTD,
    VTrace,
    WeightedTD,
)
from obliquetd.learners.active import is_local
from obliquetd.learners.compiled import pick_row
from obliquetd.learners.state import floats
from obliquetd.learners.words import Transition
from tests.turn import part

STATES, ROWS, FEATURES, ACTIVE = 30, 90, 120, 4


def sparse_outcomes(rng, *, late=False):
    def tiled():
        columns = np.array([rng.choice(FEATURES, ACTIVE, replace=False) for _ in range(STATES)])
        values = rng.normal(size=STATES * ACTIVE)
        values[rng.random(len(values)) < 0.1] = 0.0  # stored, and yet 0
        return sparse.csr_array(
            (values, columns.ravel(), np.arange(STATES + 1) * ACTIVE), shape=(STATES, FEATURES)
        )

    features, rho = tiled(), rng.random(ROWS) * 2
    return Outcomes(
        features,
        rng.integers(STATES, size=ROWS),
        rng.integers(STATES, size=ROWS),
        rng.normal(size=ROWS),
        rng.choice([0.0, 0.9, 0.5], size=ROWS),
        np.ones(ROWS),
        rng.random(ROWS),
        1 - rng.random(ROWS) / 2,
        rho,
        tiled() if late else features,
        rng.random(ROWS) if late else rho,
    )


def drawn(outcomes, rng, steps):
    fresh = rng.random(steps) < 0.05
    rows, twins = rng.integers(ROWS, size=(2, steps))
    return Drawn(outcomes, rows, twins, fresh)


def both(learner, outcomes, run, alpha=0.05, every=7, limit=1e300, parts=1):
    steps = len(run.rows)
    first = np.linspace(-1, 1, FEATURES)
    numbers = numbers_of(learner)
    found = []
    for kind in (
        ActiveSteps(learner, numbers, outcomes, first),
        WholeSteps(learner, numbers, first),
    ):
        cuts = np.linspace(0, steps // every, parts + 1).astype(int) * every
        cuts[-1] = steps
        records, ended = [], -1
        for a, b in itertools.pairwise(cuts):
            record = np.zeros((-(-int(b - a) // every) + 1, FEATURES))
            ended = kind.advance(run.part(a, b), np.full(int(b - a), alpha), every, limit, record)
            records += [*record[1:]]
            if ended >= 0:
                ended += int(a)
                break
        found.append((kind, np.array(records), ended))
    return found


LOCAL = [TD(lam="1/2"), DoubleSampledResidualGradient()]
COMPILED_LONG = [
    TD(),
    SETD(lam="3/4"),
    ETD(lam="1/2"),
    GTD2(lam="1/2"),
    TDC(),
    HTD(lam="1/2"),
    TrueOnlineTD(lam="1/2"),
    VTrace(),
]


@pytest.mark.parametrize(
    "learner",
    [*LOCAL, *(pytest.param(x, marks=pytest.mark.slow) for x in part(COMPILED_LONG, 2))],
    ids=repr,
)
def test_slots_and_all_features_agree(learner):
    rng = np.random.default_rng(3)
    outcomes = sparse_outcomes(rng)
    (active, records, _), (whole, wanted, _) = both(
        learner, outcomes, drawn(outcomes, rng, 700), parts=3
    )
    assert np.allclose(records, wanted, rtol=1e-9, atol=1e-9)
    assert np.allclose(active.theta, whole.theta, rtol=1e-9, atol=1e-9)
    if not learner.has_memory:
        assert len(active.slots.which) < FEATURES / 2


def test_an_endless_trace_keeps_few_slots(monkeypatch):
    """None of its entries ever becomes 0 in so few steps, and yet their slots are freed."""
    for name, count in (("FEATURES", 4_000), ("STATES", 900), ("ROWS", 900)):
        monkeypatch.setitem(globals(), name, count)
    rng = np.random.default_rng(8)
    outcomes = dataclasses.replace(sparse_outcomes(rng), discount=np.full(ROWS, 0.9))
    run = drawn(outcomes, rng, 600)
    run = run._replace(rows=np.arange(600), fresh=np.zeros(600, dtype=bool))
    outcomes.state[:], outcomes.next_state[:] = rng.integers(900, size=(2, ROWS))
    (active, records, _), (whole, wanted, _) = both(TD(lam="1/4"), outcomes, run, parts=2)
    assert np.allclose(records, wanted, rtol=1e-13, atol=1e-13)
    assert (np.abs(whole.m.e) > 0).sum() > 2 * (active.slots.which >= 0).sum()
    assert len(active.slots.which) < 1_000


@pytest.mark.slow
def test_what_the_target_expects_has_slots_too():
    rng = np.random.default_rng(4)
    outcomes = sparse_outcomes(rng, late=True)
    (_, records, _), (_, wanted, _) = both(Retrace(lam="1/2"), outcomes, drawn(outcomes, rng, 400))
    assert np.allclose(records, wanted, rtol=1e-9, atol=1e-9)


def test_slots_diverge_at_the_same_step():
    rng = np.random.default_rng(5)
    outcomes = sparse_outcomes(rng)
    run = drawn(outcomes, rng, 5000)
    (_, _, ended), (_, _, wanted) = both(
        TD(lam="1/2"), outcomes, run, alpha=5.0, limit=1e80, parts=2
    )
    assert ended == wanted > 0


def few_outcomes(rng, d=3, states=8):
    phi, rho = rng.normal(size=(states, d)), rng.random(states) * 2
    places = np.arange(states), rng.integers(states, size=states)
    chances = 1 - rng.random((2, states)) / 2
    ones = np.ones(states)
    return Outcomes(
        phi, *places, rng.normal(size=states), 0.9 * ones, ones, *chances, rho, phi, rho
    )


def sizes_step_by_step(learner, outcomes, run, alphas, first):
    """The size of the weights after each step of the rule as it is written, on Python's floats."""
    numbers, d = numbers_of(learner), len(first)
    weights, x = floats(learner.weights, d, numbers)
    memory, m = floats(learner.memory, d, numbers)
    x.theta[:] = first
    o, found = outcomes, []
    with np.errstate(all="ignore"):
        for i, k, fresh, alpha in zip(run.rows, run.twins, run.fresh, alphas, strict=True):
            memory[:] = 0 if fresh else memory
            t = Transition(
                o.features, o.state[i], o.next_state[i], o.reward[i], o.discount[i], o.own[i], o.pi[i], o.mu[i],
                o.rho[i], o.next_state[k], o.discount[k], o.rho[k], o.features_next, o.rho_expected[i],
            )  # fmt: skip
            learner.rule(x, m, t, alpha, numbers)
            found.append(float(np.abs(weights).sum()))
    return found


def date(learner, outcomes, run, alphas, first, limit, stretch):
    """The step after which a run ends that advances in stretches, or -1."""
    steps = WholeSteps(learner, numbers_of(learner), first)
    for a in range(0, len(alphas), stretch):
        part = run.part(a, a + stretch)
        record = np.zeros((2, len(first)))
        ended = steps.advance(part, alphas[a : a + stretch], len(part.rows), limit, record)
        if ended >= 0:
            return a + ended
    return -1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "learner", [TD(lam=0.5), GTD2(mu=4, lam=0.5), TDC(mu=4), HTD(mu=4, lam=0.5)], ids=repr
)
def test_a_run_ends_after_the_first_step_whose_weights_are_beyond_the_limit(learner, seed):
    """As a check after each step of the written rule says, wherever a stretch of steps begins."""
    rng = np.random.default_rng(seed)
    outcomes, steps = few_outcomes(rng), 96
    rows, twins = rng.integers(8, size=(2, steps))
    run = Drawn(outcomes, rows, twins, rng.random(steps) < 0.1)
    first, alphas = rng.normal(size=3), np.full(steps, 3.0)
    sizes = sizes_step_by_step(learner, outcomes, run, alphas, first)
    largest = np.maximum.accumulate([np.abs(first).sum(), *sizes])
    records = 1 + np.flatnonzero(largest[1:] > 1.001 * largest[:-1])
    assert len(records) > 20
    for step in records:
        limit = np.sqrt(largest[step - 1]) * np.sqrt(largest[step])
        for stretch in (step, steps):  # the last step of a stretch, and one within
            assert date(learner, outcomes, run, alphas, first, limit, stretch) == step
    assert date(learner, outcomes, run, alphas, first, 2 * largest[-1], 7) == -1


@pytest.mark.parametrize("learner", [TD(), TDC(mu=4), HTD(mu=4, lam=0.5)], ids=repr)
@pytest.mark.parametrize("wild", [1, 5, 64])
def test_weights_that_leave_the_floats_end_a_run_at_once(learner, wild):
    rng = np.random.default_rng(1)
    outcomes, steps = few_outcomes(rng), 64
    rows = rng.integers(8, size=steps)
    run = Drawn(outcomes, rows, rows, np.zeros(steps, dtype=bool))
    first, alphas = np.full(3, 1e10), np.full(steps, 1e-3)
    alphas[wild - 1] = np.inf
    assert not np.isfinite(sizes_step_by_step(learner, outcomes, run, alphas, first)[wild - 1])
    for limit in (1e300, np.finfo(float).max):
        for stretch in (wild, 16, steps):
            assert date(learner, outcomes, run, alphas, first, limit, stretch) == wild


@pytest.mark.parametrize("spike", [1, 3, 8])
def test_weights_that_come_back_at_once_have_been_beyond_the_limit(spike):
    """With a step size of 1 a table forgets what stood in it: after a wild step all is as before."""
    ones, phi, on = np.ones(3), np.eye(3), np.arange(3)
    outcomes = Outcomes(phi, on, np.roll(on, 1), ones, 0 * ones, *[ones] * 4, phi, ones)
    rows = np.zeros(8, dtype=np.int64)
    run = Drawn(outcomes, rows, rows, np.zeros(8, dtype=bool))
    first, alphas = np.full(3, 0.5), np.full(8, 0.5)
    alphas[spike - 1 : spike + 1] = [1e100, 1.0][: 9 - spike]
    sizes = sizes_step_by_step(TD(), outcomes, run, alphas, first)
    assert [k for k, size in enumerate(sizes, 1) if size > 1e90] == [spike]
    for stretch in (spike, 8):
        assert date(TD(), outcomes, run, alphas, first, 1e90, stretch) == spike


def test_a_rule_that_is_not_local_goes_over_all_features():
    rng = np.random.default_rng(6)
    outcomes = sparse_outcomes(rng)
    for learner, kind in ((GTD(), WholeSteps), (TD(), ActiveSteps)):
        steps = steps_of(learner, numbers_of(learner), outcomes, np.zeros(FEATURES))
        assert type(steps) is kind


def test_a_number_for_each_state_goes_over_all_features():
    problem = random_problem(4, 2, seed=0)
    weighted = WeightedTD(emphasis={s: 1 + i for i, s in enumerate(problem.states)}).bound(problem)
    outcomes = sparse_outcomes(np.random.default_rng(7))
    steps = steps_of(weighted, numbers_of(weighted), outcomes, np.zeros(FEATURES))
    assert type(steps) is WholeSteps


def decays(x, m, t, alpha, p):
    for i in range(len(x.theta)):
        x.theta[i] += alpha * (t.features[t.s, i] - x.theta[i])
    return t.reward


def counts(x, m, t, alpha, p):
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.features[t.s, i] * len(x.theta)
    return t.reward


def knows_states(x, m, t, alpha, p):
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.features[t.s, i] * t.s
    return t.reward


def sums(x, m, t, alpha, p):
    total = 0 * t.g
    for i in range(len(x.theta)):
        total += x.theta[i]
    for i in range(len(x.theta)):
        x.theta[i] += alpha * total * t.features[t.s, i]
    return t.reward


def last(x, m, t, alpha, p):
    x.theta[len(x.theta) - 1] += alpha * t.reward
    return t.reward


@pytest.mark.parametrize("rule", [decays, counts, knows_states, sums, last])
def test_rules_that_are_not_local(rule):
    assert is_local(TD())
    assert not is_local(type("Mine", (TD,), {"rule": staticmethod(rule), "key": rule.__name__})())


def test_which_of_the_package_are_local():
    not_local = {name for name, kind in LEARNERS.items() if not is_local(kind())}
    assert not_local == {"gtd", "tdrc", "n-step-td", "regularized-td"}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9).filter(any), st.integers(0, 10**6))
def test_a_guide_picks_what_a_search_picks(weights, seed):
    draw = random.Random(seed)
    count = len(weights)
    cumulative = np.cumsum(np.array(weights) / sum(weights))
    guide = np.array([draw.randrange(count) for _ in range(count)])  # even a bad one
    for u in [0.0, np.nextafter(1, 0), *cumulative, *[draw.random() for _ in range(20)]]:
        if u < 1:
            wanted = min(bisect_right(cumulative, u), count - 1)
            assert pick_row(cumulative, guide, 0, count, u) == wanted


@pytest.mark.parametrize("kind", ["trajectory", "iid", "episodes"])
def test_draws_are_those_of_a_search_among_all_shares(kind):
    """A state that is never first, and one behind all that are; several outcomes of a state."""
    problem = random_problem(12, 2, seed=3)
    start = {2: "1/4", 5: "1/2", 9: "1/4"} if kind == "episodes" else None
    if kind == "episodes":
        rows = [(s, 0, (s + k) % 12, "1/3", 0) for s in range(11) for k in (1, 2, 4)]
        mdp = MDP.from_transitions([r if r[2] else (*r[:2], 11, *r[3:]) for r in rows])
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", start=start)
    stream, steps = TableStream(problem, kind, start), 400
    found = stream.draw(steps, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    total, state = np.cumsum(stream.start).tolist(), stream.outcomes.state
    shares = [stream.cumulative[state == s].tolist() for s in range(12)]
    begin = [min(bisect_right(total, u), int(np.flatnonzero(stream.start)[-1])) for u in rng.random(steps)]  # fmt: skip

    def picked(s, u):
        return stream.offsets[s] + min(bisect_right(shares[s], u), len(shares[s]) - 1)

    uniform, wanted, s = rng.random(steps), [], None
    for t in range(steps):
        fresh = kind == "iid" or s is None or not shares[s]
        assert found.fresh[t] == fresh
        wanted.append(picked(begin[t] if fresh else s, uniform[t]))
        s = stream.outcomes.next_state[wanted[-1]]
    assert found.rows.tolist() == wanted
    twins = [picked(state[row], u) for row, u in zip(wanted, rng.random(steps), strict=True)]
    assert found.twins.tolist() == twins


@pytest.mark.parametrize("every", [1, 37])
@pytest.mark.parametrize("learner", [SETD(0.05), TD(0.2)], ids=["stays", "diverges"])
def test_stretches_are_one_run(monkeypatch, every, learner):
    problem = two_state(reward=1)
    settings = {"steps": 16000, "seed": 2, "every": every}
    whole = simulate(problem, learner, keep_path=True, **settings)[learner.name]
    monkeypatch.setattr(experiment, "RECORD_BYTES", 8 * 13)
    parts = simulate(problem, learner, keep_path=True, **settings)[learner.name]
    assert parts.diverged_at == whole.diverged_at
    assert (learner.name == "TD") == (whole.diverged == 1)
    for name in ("path", "rmse", "rmspbe", "theta"):
        assert np.allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12, atol=0), name
    assert np.array_equal(parts.path, whole.path)


def test_weights_are_kept_only_where_they_are_asked_for():
    found = simulate(two_state(reward=1), SETD(0.01), steps=50)["SETD"]
    assert found.path.size == 0
    assert found.theta.shape == (1, 1)
