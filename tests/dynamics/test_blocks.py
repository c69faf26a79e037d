"""A of many problems at once, against the rule run outcome by outcome on each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from obliquetd.algebra import FLOAT
from obliquetd.dynamics import expectation
from obliquetd.dynamics.block_margins import margins
from obliquetd.dynamics.block_means import BlockMeans
from obliquetd.dynamics.blocks import BlockRule
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.learners import LEARNERS, SETD, TD, Learner, NStepTD, Theta, WeightedTD
from obliquetd.learners.state import Trace
from obliquetd.learners.words import omega, td_error
from obliquetd.search.families import FAMILIES
from obliquetd.search.scores import runs_in_blocks, score, scores

MORE = {
    "setd": ({"cap": "3/2"}, {"omega": "expected"}),
    "etd": ({"beta": "1/3"}, {"lam": "1/2", "truncate": 2}),
    "gtd2": ({"lam": "1/2", "secondary": "weighted"},),
    "tdc": ({"lam": "1/2", "secondary": "weighted"},),
    "weighted-td": ({"lam": "1/3", "emphasis": omega},),
    "v-trace": ({"lam": "1/2", "rho_bar": "3/2", "c_bar": "5/4"},),
    "n-step-td": ({"n": 1}, {"n": 3}),
}


def settings(key):
    kind = LEARNERS[key]
    yield kind()
    if "lam" in getattr(kind, "__dataclass_fields__", {}):
        yield kind(lam="1/2")
    for more in MORE.get(key, ()):
        yield kind(**more)


def genomes(family, count, seed):
    """Random ones; the last ones with features that are dependent, equal, or 0 in some states, or in all."""
    low, high = np.array(family.genes).T
    out = np.random.default_rng(seed).integers(low, high + 1, size=(count, len(low)))
    n, d = family.states, family.features
    features = out[:, len(family.chain_genes) :].reshape(count, n, d)
    features[-1] = 0
    features[-2, 1:] = 0
    features[-3] = features[-3, :1]
    features[-4, :, -1] = features[-4, :, 0]
    return out


def one_by_one(family, learner, genome):
    dyn = MeanDynamics(family.build(tuple(genome.tolist())), learner, "trajectory", FLOAT)
    A, margin = dyn.expectation.A, dyn.stability.margin
    if margin is None or (abs(A.dense()) <= 4 * A.dense_error()).all():
        return A.dense(), np.inf
    return A.dense(), margin / np.linalg.norm(A.dense())


def everyone():
    """Each learner off-policy, where its ratios count; on-policy one of three, and the others in the slow suite."""
    for k, key in enumerate(sorted(LEARNERS)):
        yield "off-policy", key
        yield pytest.param("on-policy", key, marks=[pytest.mark.slow] if k % 3 else [])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), [*everyone()])
def test_each_learner_has_the_A_and_the_score_of_the_rule_on_numbers(name, key, monkeypatch):
    """On numbers for one setting and features at random; else by products, which are held against those elsewhere."""
    family = FAMILIES[name](3, 2, "9/10", 2)
    taken = [
        (seed, learner) for seed, learner in enumerate(settings(key))
        if seed == 0 or seed % 2 != sorted(FAMILIES).index(name)  # they take turns
    ]  # fmt: skip
    for seed, learner in taken:
        if learner.derives:  # each problem gives it other numbers
            assert not runs_in_blocks(family, learner)
            continue
        drawn = genomes(family, 12, seed)
        blocks, inside = family.blocks(drawn)
        means = BlockMeans(BlockRule(learner, blocks))
        found, doubt = margins(means)
        assert not doubt.any()
        assert means.run.is_of_wholes()
        plain, odd = np.flatnonzero(inside[:8]), 8 + np.flatnonzero(inside[8:])
        for k in (plain[0], odd[seed % len(odd)]):
            with monkeypatch.context() as patched:
                if k < 8 and learner is taken[-1][1]:
                    patched.setattr(expectation, "sums_of", lambda *_, **__: None)
                A, margin = one_by_one(family, learner, drawn[k])
            np.testing.assert_allclose(means.A[k], A, rtol=1e-12, atol=1e-12, err_msg=learner.label)
            if np.isinf(margin):
                assert found[k] == margin
            else:  # a double eigenvalue is known to half of the digits
                assert found[k] == pytest.approx(margin, abs=1e-7), learner.label


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("off-policy", (2, 2)), ("on-policy", (2, 1)), ("off-policy", (4, 3)), ("on-policy", (5, 1)),
        *(pytest.param(name, shape, marks=pytest.mark.slow) for name, shape in
          (("on-policy", (2, 2)), ("off-policy", (2, 1)), ("on-policy", (4, 3)), ("off-policy", (5, 1)))),
    ],
)  # fmt: skip
def test_other_shapes_and_what_is_in_a_family(name, shape):
    family = FAMILIES[name](*shape, "3/4", 2)
    drawn = genomes(family, 10, 1)
    blocks, inside = family.blocks(drawn)
    for k, genome in enumerate(drawn):
        problem = family.build(tuple(genome.tolist()))
        assert (problem is not None) == inside[k]
        if problem is not None:
            xi = np.array(problem.xi, dtype=float).ravel()
            np.testing.assert_allclose(blocks.xi[k], xi, rtol=1e-12)
    for learner in (SETD(lam="1/3"), NStepTD(n=2)):
        found = scores(family, learner, drawn)
        assert (found.judged == inside).all()
        assert (
            margins(BlockMeans(BlockRule(learner, blocks)))[1].sum() <= 1
        )  # those in doubt go one by one
        for k in np.flatnonzero(inside)[[0, -2]]:
            wanted = one_by_one(family, learner, drawn[k])[1]
            assert found.values[k] == pytest.approx(wanted, abs=1e-7)


def test_a_singular_A_is_judged_on_the_span_of_the_updates():
    """Features that are dependent: 0 is an eigenvalue of A, and no update moves along it."""
    family = FAMILIES["off-policy"](3, 2, "9/10")
    drawn = genomes(family, 40, 3)
    drawn[:, family.states + 1 :: 2] = 2 * drawn[:, family.states :: 2]
    means = BlockMeans(BlockRule(TD(), family.blocks(drawn)[0]))
    found, _ = margins(means)
    moved = np.linalg.norm(means.A, axis=(1, 2)) > 0
    least = np.abs(np.linalg.eigvals(means.A[moved])).min(axis=1)
    assert moved.sum() > 30
    assert least.max() < 1e-12
    assert (found[moved] > 0.1).any()
    assert (found[moved] < -0.1).any()


@pytest.mark.parametrize("genome", [(0, 0, 0, 5, 5, 2), (0, 0, 1, 6, 6, 3), (0, 0, 2, 7, 1, 2)])
def test_an_A_that_is_nothing_but_rounding_is_0(genome):
    """The sum of phi^2 is 9/10 of that of phi phi', which floats miss."""
    family = FAMILIES["off-policy"](3, 1, "9/10", 7)
    assert mean_dynamics(family.build(genome), TD()).A.is_zero_matrix
    assert scores(family, TD(), np.array([genome])).values.tolist() == [np.inf]
    assert score(family, TD(), genome) == np.inf


def leaning(x, m, t, alpha, p):
    """A rule that learns from long features alone, and moves along those before as well."""
    along = 0 * t.g
    length = 0 * t.g
    for i in range(len(x.theta)):
        along += t.features[t.s, i] * x.theta[i]
        length += t.features[t.s, i] * t.features[t.s, i]
    if length < 5:
        along = 0 * along
    for i in range(len(x.theta)):
        x.theta[i] -= alpha * along * (t.features[t.s, i] + m.e[i])
        m.e[i] = t.g * t.features[t.s, i]
    return along


@dataclass(frozen=True)
class Leaning(Learner):
    alpha: Any = None
    weights, memory, rule = Theta, Trace, staticmethod(leaning)


def test_what_only_a_memory_reaches_counts_in_the_span():
    """Updates at rest are along one vector, and those with a memory along others: 0 is an eigenvalue there."""
    family = FAMILIES["off-policy"](3, 2, "9/10")
    genome = np.array([0, 1, 2, 3, 0, 0, 1, 1, 1])
    assert runs_in_blocks(family, Leaning())
    _, doubt = margins(BlockMeans(BlockRule(Leaning(), family.blocks(genome[None])[0])))
    assert doubt.all()
    A, wanted = one_by_one(family, Leaning(), genome)
    assert max(np.linalg.eigvals(A).real) > 0.1
    assert wanted == pytest.approx(0, abs=1e-12)
    assert scores(family, Leaning(), genome[None]).values[0] == pytest.approx(0, abs=1e-12)


def counting(x, m, t, alpha, p):
    """A rule that sees how many features there are."""
    rounds = 0
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        rounds = rounds + 1
        x.theta[i] += alpha * delta * rounds * t.features[t.s, i]
    return delta


@dataclass(frozen=True)
class Counting(Learner):
    alpha: Any = None
    weights, rule = Theta, staticmethod(counting)


def own(x, m, t, alpha, p):
    """TD, of the user's own, that forgets what the target never does."""
    delta = td_error(x.theta, t)
    if t.rho == 0:
        return delta
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * t.features[t.s, i]
    return delta


@dataclass(frozen=True)
class Own(Learner):
    alpha: Any = None
    weights, rule = Theta, staticmethod(own)


def test_a_rule_that_is_not_of_the_form_goes_one_by_one():
    family = FAMILIES["off-policy"](3, 2, "9/10")
    assert not runs_in_blocks(family, Counting())
    drawn = genomes(family, 6, 0)
    found = scores(family, Counting(), drawn)
    wanted = [one_by_one(family, Counting(), g)[1] for g in drawn]
    np.testing.assert_allclose(found.values, wanted, rtol=1e-12)


def test_a_rule_of_the_users_own_runs_in_blocks(monkeypatch):
    family = FAMILIES["off-policy"](3, 2, "9/10")
    assert runs_in_blocks(family, Own())
    drawn = genomes(family, 30, 0)
    found, shipped = (scores(family, learner, drawn).values for learner in (Own(), WeightedTD()))
    np.testing.assert_allclose(found, shipped, atol=1e-12)
    # one of each block is compared; where it differs, none of the block is believed
    monkeypatch.setattr(
        "obliquetd.search.scores.margins", lambda means: (np.ones(30), np.zeros(30, dtype=bool))
    )
    np.testing.assert_allclose(scores(family, Own(), drawn).values, shipped, atol=1e-7)
