"""The list of learners is made from their classes."""

import pytest

from obliquetd.learners import LEARNERS, Learner
from obliquetd.learners.listing import entry
from tests.learners.test_own_rules import FAMILY
from tests.test_cli import run, strict


def test_the_list_names_every_learner():
    told = run("learners").stdout
    data = strict(run("learners", "--json").stdout)
    assert [row["key"] for row in data] == list(LEARNERS)
    for kind, row in zip(LEARNERS.values(), data, strict=True):
        assert kind.key in told
        assert row["solves"] == kind.solves
        assert row["mean_dynamics"]
        assert row["efficiency"]
        assert row["moments"] == (not kind().has_memory)


@pytest.mark.parametrize("kind", LEARNERS.values(), ids=list(LEARNERS))
def test_every_learner_says_what_it_solves(kind):
    assert kind.solves != Learner.solves
    assert kind.source != Learner.source


def test_a_rule_of_the_users_has_an_entry(tmp_path):
    from obliquetd.learners import learner_class

    (tmp_path / "family.py").write_text(FAMILY)
    found = entry(learner_class(f"{tmp_path}/family.py:TDRC"))
    assert (found.cost, found.exact) == ("O(d)", "A, b, moments, noise")
    assert [p.name for p in found.numbers] == ["mu", "lam", "kappa"]
