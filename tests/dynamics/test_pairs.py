"""Rows of a table of pairs of feature vectors, against the rule run on the outcomes of each problem."""

import numpy as np
import pytest

from obliquetd.dynamics.block_margins import margins
from obliquetd.dynamics.block_means import BlockMeans
from obliquetd.dynamics.blocks import BlockRule
from obliquetd.dynamics.pairs import LookedUp, PairMeans, PairTable
from obliquetd.learners import ETD, GTD2, LEARNERS, SETD, TD, ResidualGradient
from obliquetd.learners.forms import NoFormError
from obliquetd.search import scores as judging
from obliquetd.search.families import FAMILIES
from obliquetd.search.scores import means_of, runs_in_blocks, scores, table_of
from tests.dynamics.test_blocks import Own, genomes, settings


def both(family, learner, drawn):
    """The expected updates from a table, and by the rule on the outcomes; and which are in the family."""
    found, inside = means_of(family, learner, drawn)
    blocks, also = family.blocks(drawn)
    assert (inside == also).all()
    return found, BlockMeans(BlockRule(learner, blocks)), inside


@pytest.mark.parametrize("name", sorted(FAMILIES))
@pytest.mark.parametrize("key", sorted(LEARNERS))
def test_each_learner_makes_the_same_of_problems_by_a_table(name, key):
    family = FAMILIES[name](3, 2, "9/10", 2)
    drawn = genomes(family, 40, 5)
    for learner in settings(key):
        table = table_of(family, learner)
        if table is None:
            assert learner.derives or "twin" in learner.reads, learner.label
            continue
        found, wanted, inside = both(family, learner, drawn)
        assert isinstance(found, BlockMeans if table.reads_memory else PairMeans)
        np.testing.assert_allclose(
            found.A[inside], wanted.A[inside], rtol=1e-11, atol=1e-11, err_msg=learner.label
        )
        assert (found.in_doubt == wanted.in_doubt)[inside].all()
        some = inside.nonzero()[0]
        np.testing.assert_allclose(found.gram(some), wanted.gram(some), rtol=1e-11, atol=1e-11)
        (mine, doubt), (theirs, _) = margins(found), margins(wanted)
        sure = inside & ~doubt
        assert sure.sum() > 20
        np.testing.assert_allclose(mine[sure], theirs[sure], atol=1e-7, err_msg=learner.label)


@pytest.mark.parametrize("shape", [(2, 1), (2, 2), (4, 2), (5, 1)])
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_other_shapes(name, shape):
    family = FAMILIES[name](*shape, "3/4", 2)
    for learner in (SETD(), ETD(), GTD2(lam="1/2")):
        found, wanted, inside = both(family, learner, genomes(family, 20, 2))
        np.testing.assert_allclose(found.A[inside], wanted.A[inside], rtol=1e-11, atol=1e-11)


def test_vectors_stand_where_their_codes_say():
    family = FAMILIES["off-policy"](4, 3, "9/10", 2)
    drawn = genomes(family, 30, 1)
    features = drawn[:, 4:].reshape(30, 4, 3)
    assert (family.vectors()[family.codes(drawn).T] == features).all()
    assert len(family.vectors()) == family.vectors_count == 125


def test_what_a_table_cannot_tell_has_none():
    family = FAMILIES["off-policy"](3, 2, "9/10", 2)
    assert table_of(family, SETD()) is not None
    assert table_of(family, Own()) is None  # it may read what it likes
    assert table_of(FAMILIES["off-policy"](3, 3, "9/10", 9), SETD()) is None  # too many vectors
    twin = ResidualGradient()
    if "twin" in twin.reads:
        with pytest.raises(NoFormError, match="second outcome"):
            PairTable(twin, family.vectors(), family.kinds, 0.9)


@pytest.mark.parametrize("learner", [TD(), SETD(), GTD2()], ids=lambda x: x.name)
def test_the_way_is_chosen_by_size_and_not_by_what_was_judged_before(learner, monkeypatch):
    """25^2 pairs and two kinds of actions are 1,250 outcomes, a block of 30 candidates has 270."""
    family = FAMILIES["off-policy"](3, 2, "4/5", 2)
    drawn = genomes(family, 30, 3)
    assert runs_in_blocks(family, learner)
    with monkeypatch.context() as smaller:
        smaller.setattr(judging, "MOST_NUMBERS", 1_000)
        found = [scores(family, learner, drawn).values for _ in range(10)]
        assert table_of(family, learner) is None
        assert all((values == found[0]).all() for values in found)
    assert table_of(family, learner) is not None
    by_table = scores(family, learner, drawn).values
    np.testing.assert_allclose(by_table, found[0], atol=1e-12)


def test_only_kinds_of_actions_that_move_something_are_looked_up():
    """SETD learns nothing from an action that the target never takes; GTD2's second weights do."""
    family = FAMILIES["off-policy"](3, 2, "9/10", 2)
    assert sorted(table_of(family, SETD()).moving) == [0]
    assert sorted(table_of(family, GTD2()).moving) == [0, 1]


def test_a_number_beyond_floats_is_in_doubt():
    family = FAMILIES["off-policy"](3, 2, "9/10", 2)
    table = table_of(family, TD())
    arrows, _ = family.arrows(genomes(family, 8, 0), table.moving)
    pairs = arrows[0].pairs
    means = PairMeans(table, arrows, 8)
    entries, gram = table.moving[0]
    broken = entries.copy()
    broken[1, pairs[0, 3]] = np.inf
    table.moving[0] = broken, gram
    try:
        A = means.A
    finally:
        table.moving[0] = entries, gram
    assert means.in_doubt[3]
    assert (A[means.in_doubt] == 0).all()
    assert np.isfinite(A).all()


def test_a_memory_is_looked_up_too():
    family = FAMILIES["on-policy"](3, 2, "9/10", 2)
    learner = TD(lam="1/2")
    found, _ = means_of(family, learner, genomes(family, 10, 0))
    assert isinstance(found.run, LookedUp)
    assert found.run.carried
