"""Every place of the paper has a claim or a reason, and every claim of the paper has a place."""

from collections import Counter

import pytest

from obliquetd.claims import REGISTRY
from obliquetd.claims.sentences import PLACES

IDS = {c.id: c for c in REGISTRY}


@pytest.mark.parametrize("place", PLACES, ids=lambda p: f"{p.where}: {p.says}"[:60])
def test_a_place_has_a_claim_or_a_reason(place):
    assert bool(place.claims) != bool(place.reason), place
    for name in place.claims:
        assert name in IDS, f"{name} is no claim"
        assert IDS[name].origin == "paper", (
            f"{name} is ours, and stands for a sentence of the paper"
        )


def test_every_claim_of_the_paper_has_a_place():
    judged = {name for place in PLACES for name in place.claims}
    assert {c.id for c in REGISTRY if c.origin == "paper"} == judged


def test_the_numbered_things_are_all_there():
    numbers = Counter(p.kind for p in PLACES)
    found = {kind: [p.where for p in PLACES if p.kind == kind] for kind in numbers}
    assert found["equation"] == [str(n) for n in range(1, 23)]  # the paper numbers 22
    assert sorted(set(found["lemma"])) == ["1", "2", "3", "4"]
    assert found["definition"] == found["proposition"] == ["1"]
    assert found["algorithm"] == ["1", "2"]
    tables = [where.split(",")[0] for where in found["table row"]]
    assert Counter(tables) == {"I": 3, "II": 3}


def test_a_reason_that_names_a_claim_names_one_of_ours():
    for place in PLACES:
        for name in IDS:
            if name in place.reason.replace(";", " ").replace(",", " ").split():
                assert IDS[name].origin == "ours" or "follow" in place.reason


def test_sections_are_those_of_the_paper():
    sections = {"Abstract", "I", "II-A", "II-B", "II-C", "III-A", "III-B", "III-C", "III-D", "IV", "V", "V-A", "V-B", "VI"}  # fmt: skip
    for place in PLACES:
        head = place.where.split(",")[0]
        if place.kind in ("sentence", "display") and not head.startswith(("Lemma", "Proposition")):
            assert head in sections, place
    for claim in REGISTRY:
        assert "IV-C" not in claim.where
        assert "Conclusion" not in claim.where
