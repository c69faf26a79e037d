"""A rule done again from what was written down, against a run of the rule on the same outcomes."""

import numpy as np
import pytest

import obliquetd as otd
from obliquetd.dynamics import blocks, products, tapes
from obliquetd.dynamics.block_margins import margins
from obliquetd.dynamics.block_means import BlockMeans
from obliquetd.dynamics.blocks import BlockRule
from obliquetd.dynamics.tapes import Recorded, tape_of
from obliquetd.dynamics.terms import RuleOnColumns
from obliquetd.learners import LEARNERS, SETD, TD
from obliquetd.learners.forms import NoFormError
from obliquetd.search.families import FAMILIES
from tests.dynamics.test_blocks import Own, genomes, settings
from tests.dynamics.test_products import EVERY, pairs, states


@pytest.fixture(autouse=True)
def nothing_written():
    tape_of.cache_clear()


def found(learner, drawn, family):
    rule = BlockRule(learner, family.blocks(drawn)[0])
    means = BlockMeans(rule)
    return rule, means.A, *margins(means)


def plainly(monkeypatch, *given):
    with monkeypatch.context() as patched:
        patched.setattr(blocks, "Recorded", blocks.RuleOnColumns)
        return found(*given)


@pytest.mark.parametrize("key", sorted(LEARNERS))
def test_what_is_done_again_is_what_a_run_does(key, monkeypatch):
    """To the last bit, on outcomes that agree and on others: with features of 0, one problem alone, many."""
    family = FAMILIES["off-policy"](3, 2, "9/10", 2)
    for learner in settings(key):
        if learner.derives:
            continue
        for seed, count in enumerate((40, 5, 40, 6)):
            drawn = genomes(family, count, seed)[-1 if seed == 3 else 0 :]
            mine, theirs = (
                found(learner, drawn, family),
                plainly(monkeypatch, learner, drawn, family),
            )
            assert isinstance(mine[0].rule, Recorded)
            assert not isinstance(theirs[0].rule, Recorded)
            for a, b in zip(mine[1:], theirs[1:], strict=True):
                np.testing.assert_array_equal(a, b)
            assert mine[0].memory == theirs[0].memory


def terms(rule):
    """For each group its outcomes, the answers, and the numbers of all terms."""
    return [
        (
            g.outcomes.tolist(),
            g.path,
            [(slot, left, factors, np.broadcast_to(c, len(g.outcomes)).tolist())
             for part in (g.update, g.handed) for slot, listed in part.items() for left, factors, c in listed],
        )
        for g in rule.groups
    ]  # fmt: skip


@pytest.mark.parametrize(
    "learner", [SETD(), SETD(lam="1/2", cap="3/2"), LEARNERS["v-trace"](lam="1/3")]
)
def test_groups_come_in_the_same_order_with_the_same_terms(learner, monkeypatch):
    family = FAMILIES["on-policy"](3, 2, "3/4", 3)
    for seed in range(6):
        drawn = genomes(family, 20, seed)
        mine, theirs = (
            terms(found(learner, drawn, family)[0]),
            terms(plainly(monkeypatch, learner, drawn, family)[0]),
        )
        assert sorted(mine) == sorted(theirs)
        if seed > 2:  # the way of all is known
            assert mine == theirs


def test_a_way_that_is_known_is_not_run(monkeypatch):
    family = FAMILIES["off-policy"](3, 2, "9/10", 2)
    drawn = genomes(family, 60, 0)
    first = terms(found(SETD(), drawn, family)[0])
    with monkeypatch.context() as patched:
        patched.setattr(Recorded, "_written", None)
        assert terms(found(SETD(), drawn, family)[0]) == first
        with pytest.raises(TypeError):
            found(SETD(cap="1/2"), drawn, family)
    monkeypatch.setattr(tapes, "MOST_NODES", 0)  # nothing more is written down
    other = SETD(cap="5/4")
    assert terms(found(other, drawn, family)[0]) == terms(found(other, drawn, family)[0])


def test_a_rule_of_the_users_own_is_run_each_time():
    family = FAMILIES["off-policy"](3, 2, "9/10", 2)
    rule = found(Own(), genomes(family, 8, 0), family)[0]
    assert not isinstance(rule.rule, Recorded)


def test_too_many_cases_are_too_many(monkeypatch):
    family = FAMILIES["off-policy"](3, 2, "9/10", 2)
    drawn = genomes(family, 60, 0)
    found(SETD(), drawn, family)
    monkeypatch.setattr(tapes, "MOST_GROUPS", 2)
    with pytest.raises(NoFormError):
        found(SETD(), drawn, family)
    found(TD(), drawn, family)


def mean(problem, learner):
    found = otd.mean_dynamics(problem, learner).expectation
    assert found.sums
    return found


@pytest.mark.parametrize("learner", EVERY[::3], ids=lambda x: x.label)
def test_one_problem_of_floats_after_another(learner, monkeypatch):
    """A and b within their bounds, which depend a little on the order of factors."""
    for make, seed in ((states, 1), (pairs, 2), (states, 3), (states, 1)):
        mine = mean(make(seed, arithmetic="float"), learner)
        with monkeypatch.context() as patched:
            patched.setattr(products, "Recorded", RuleOnColumns)
            theirs = mean(make(seed, arithmetic="float"), learner)
        assert isinstance(mine.sums.products.runs, Recorded) == (not learner.derives)
        assert not isinstance(theirs.sums.products.runs, Recorded)
        for a, b in ((mine.A, theirs.A), (mine.b, theirs.b)):
            mine_by, theirs_by = a.dense_error(), b.dense_error()
            assert (np.abs(a.dense() - b.dense()) <= np.minimum(mine_by, theirs_by)).all()
            np.testing.assert_allclose(mine_by, theirs_by, rtol=0.2)
