"""Walks side by side against walks one candidate at a time: the same candidates, scores and ends."""

import numpy as np
import pytest

from obliquetd.errors import MathematicalError
from obliquetd.learners import ETD, GTD2, SETD, TD
from obliquetd.search import walk as walking
from obliquetd.search.families import FAMILIES
from obliquetd.search.scores import Scores, score, scores
from obliquetd.search.stream import Streams
from obliquetd.search.walk import Quest, shrink, walks
from tests.search.one_by_one import change, draw, walk


@pytest.mark.parametrize(("name", "count"), [("off-policy", 20), ("on-policy", 70)])
def test_the_candidates_are_those_of_numpys_bounded_integers(name, count):
    """Whether the changes of few walks are followed one after the other, or those of many side by side."""
    family = FAMILIES[name](3, 2, "9/10")
    streams = Streams(7, range(20, 20 + count), family.genes, 150)
    for k in (*range(0, count, 3), count - 1):
        rng = np.random.default_rng([7, 20 + k])
        genome = draw(family, rng)
        assert tuple(streams.first[k]) == genome
        for t in range(150):
            new = np.array([genome]).T
            streams.change(new, np.array([k]), np.array([t]))
            genome = change(family, genome, rng)
            assert tuple(new[:, 0]) == genome


def test_a_coin_is_drawn_where_the_stream_is_and_shifts_what_follows():
    family = FAMILIES["off-policy"](3, 2, "9/10")
    streams = Streams(3, range(30), family.genes, 40)
    for k in range(30):
        rng, tossed = np.random.default_rng([3, k]), np.random.default_rng(k)
        genome = draw(family, rng)
        for t in range(40):
            new = np.array([genome]).T
            streams.change(new, np.array([k]), np.array([t]))
            genome = change(family, genome, rng)
            assert tuple(new[:, 0]) == genome
            if tossed.random() < 0.4:
                assert streams.coin(k, t + 1) == rng.random()


def made_up(kind):
    """Scores that follow from the genome alone, with ties, gaps and errors."""

    def judge(genome):
        draw = np.random.default_rng([kind, *(x + 100 for x in genome)])
        if draw.random() < 0.1 * kind:
            raise ArithmeticError(f"no mean at {genome}")
        if draw.random() < 0.1:
            return None
        value = float(draw.integers(-3, 40)) / 40
        return value + 1e-12 * float(draw.random())  # a tie but for rounding

    def together(family, learner, genomes, below=None):
        out = Scores(np.full(len(genomes), np.inf), np.zeros(len(genomes), dtype=bool), {})
        for i, genome in enumerate(genomes.tolist()):
            try:
                value = judge(tuple(genome))
            except ArithmeticError as error:
                out.errors[i] = str(error)
                continue
            if value is not None:
                out.values[i], out.judged[i] = value, True
        return out

    return judge, together


@pytest.mark.parametrize("rare", [3, 40, 10**9])
@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("side_by_side", [True, False])
def test_walks_side_by_side_end_as_one_by_one(monkeypatch, kind, rare, side_by_side):
    judge, together = made_up(kind)
    asked = []

    def confirmed(genome):
        asked.append(genome)
        return sum(abs(x) * 7**k for k, x in enumerate(genome)) % rare == 0

    monkeypatch.setattr(walking, "scores", together)
    monkeypatch.setattr(walking, "confirmed", lambda quest, genome: confirmed(genome))
    monkeypatch.setattr(walking, "WALK", 50)
    monkeypatch.setattr(walking, "TOGETHER", {"table": 40, "one by one": 1})
    monkeypatch.setattr(walking, "runs_in_blocks", lambda *a: side_by_side)
    quest = Quest(FAMILIES["off-policy"](3, 2, "9/10"), SETD(), (), 5)
    wanted = []
    for k in range(12):
        wanted.append(walk(quest, k, 50, judge, confirmed))
        if wanted[-1].genome is not None:
            break
    assert asked  # what is looked for is met
    assert walks(quest, range(12)) == wanted


def test_a_score_that_misleads_a_walk_is_found_out(monkeypatch):
    """Where scores say yes of what is not so, the walks are walked again with exact verdicts."""
    quest = Quest(FAMILIES["off-policy"](3, 2, "9/10"), SETD(), (), 6)
    exactly, asked = walking.confirmed, []

    def picky(quest, genome):
        asked.append(genome)
        return sum(genome) % 5 == 0 and exactly(quest, genome)

    monkeypatch.setattr(walking, "confirmed", picky)
    monkeypatch.setattr(walking, "_expected", lambda quest, genomes: ["perhaps"] * len(genomes))
    wanted = walks(quest, range(30))
    assert wanted[-1].genome is not None
    asked.clear()
    monkeypatch.setattr(walking, "_expected", lambda quest, genomes: ["yes"] * len(genomes))
    assert walks(quest, range(30)) == wanted
    assert sum(asked[0]) % 5  # it ended first at what is none


def test_a_walk_that_judges_nothing_says_why(monkeypatch):
    def nothing(family, learner, genomes, below=None):
        return Scores(
            np.full(len(genomes), np.inf),
            np.zeros(len(genomes), dtype=bool),
            {i: str(genome) for i, genome in enumerate(genomes.tolist())},
        )

    monkeypatch.setattr(walking, "scores", nothing)
    quest = Quest(FAMILIES["off-policy"](3, 2, "9/10"), SETD(), (), 5)
    ends = walks(quest, range(3))
    first = Streams(5, range(3), quest.family.genes, 150).first
    assert [(e.tried, e.passed_over, e.blind) for e in ends] == [
        (150, 150, str(genome.tolist())) for genome in first
    ]


@pytest.mark.parametrize("name", sorted(FAMILIES))
@pytest.mark.parametrize(
    ("learner", "stable"), [(SETD(), ()), (SETD(), (TD(),)), (TD(lam="1/2"), ())], ids=str
)
def test_true_walks_end_as_with_the_rule_run_outcome_by_outcome(monkeypatch, name, learner, stable):
    monkeypatch.setattr(walking, "WALK", 12)
    quest = Quest(FAMILIES[name](3, 2, "9/10"), learner, stable, 2)

    def judge(genome):
        return score(quest.family, learner, genome)

    wanted = []
    for k in range(3):
        wanted.append(walk(quest, k, 12, judge, lambda g: walking.confirmed(quest, g)))
        if wanted[-1].genome is not None:
            break
    assert walks(quest, range(3)) == wanted


def shrunk_exactly(quest, genome, asked):
    """As told: integers towards 0, one at a time, each verdict exact."""
    tried, changed = 0, True
    while changed:
        changed = False
        for k, (low, high) in enumerate(quest.family.genes):
            for value in sorted(range(low, high + 1), key=abs):
                if abs(value) >= abs(genome[k]):
                    continue
                candidate = (*genome[:k], value, *genome[k + 1 :])
                tried += 1
                if asked(quest, candidate):
                    genome, changed = candidate, True
                    break
    return genome, tried


@pytest.mark.parametrize(
    ("name", "stable", "seed"),
    [("off-policy", (TD(),), 11), ("off-policy", (), 4), ("on-policy", (TD(),), 3)],
)
def test_shrinking_by_scores_ends_where_exact_verdicts_do(monkeypatch, name, stable, seed):
    quest = Quest(FAMILIES[name](3, 2, "9/10"), SETD(), stable, seed)
    found = walks(quest, range(40))[-1].genome
    assert found is not None
    wanted = shrunk_exactly(quest, found, walking.confirmed)
    assert wanted[0] != found
    asked = []
    decided = walking.decided

    def counted(quest, genome):
        asked.append(genome)
        return decided(quest, genome)

    monkeypatch.setattr(walking, "decided", counted)
    *small, told = shrink(quest, found)
    assert tuple(small) == wanted
    assert asked[-1] == wanted[0]
    assert len(asked) <= 3  # few are near enough to 0 to be asked for on the way
    made = quest.family.build(wanted[0])
    assert (told.problem.mdp, told.problem.Phi) == (made.mdp, made.Phi)
    assert told.unstable.stability.verdict == "unstable"
    assert all(dyn.is_stable() for dyn in told.stable)


@pytest.mark.parametrize(
    ("mine", "others", "wanted"),
    [
        (-0.5, 0.5, "yes"),
        (-0.5, np.inf, "perhaps"),  # nothing moves, which is not stable: the exact verdict says
        (-0.5, 1e-6, "perhaps"),
        (-0.5, -0.5, "no"),
        (-1e-6, 0.5, "perhaps"),
        (0.5, 0.5, "no"),
        (np.inf, 0.5, "no"),
        (-0.5, None, "no"),  # not in the family
        (-0.5, "no mean", "perhaps"),
    ],
)
def test_what_scores_say_of_exact_verdicts(monkeypatch, mine, others, wanted):
    def told(family, learner, genomes, below=None):
        value = mine if learner == SETD() else others
        known = isinstance(value, float)
        out = Scores(np.array([value if known else np.inf]), np.array([known]), {})
        if isinstance(value, str):
            out.errors[0] = value
        return out

    monkeypatch.setattr(walking, "scores", told)
    quest = Quest(FAMILIES["off-policy"](3, 2, "9/10"), SETD(), (TD(),), 0)
    assert walking._expected(quest, [(0,) * 9]) == [wanted]


def test_a_score_that_misleads_the_shrinking_is_found_out(monkeypatch):
    """Every smaller genome is said to be one: the last is not, and all are decided exactly."""
    quest = Quest(FAMILIES["off-policy"](3, 2, "9/10"), SETD(), (), 4)
    found = walks(quest, range(40))[-1].genome
    monkeypatch.setattr(walking, "_expected", lambda quest, genomes: ["yes"] * len(genomes))
    assert walking._shrunk(quest, found, trusting=True)[0] == (0,) * 9
    *small, told = shrink(quest, found)
    assert tuple(small) == shrunk_exactly(quest, found, walking.confirmed)
    assert told.unstable.stability.verdict == "unstable"


def test_blocks_are_of_a_bounded_size(monkeypatch):
    family = FAMILIES["on-policy"](3, 2, "9/10")
    genomes = Streams(0, range(50), family.genes, 1).first
    whole = scores(family, GTD2(), genomes)
    sizes = []
    made = type(family).blocks

    def seen(self, genomes):
        sizes.append(len(genomes))
        return made(self, genomes)

    monkeypatch.setattr(type(family), "blocks", seen)
    monkeypatch.setattr("obliquetd.search.scores.table_of", lambda *a: None)
    monkeypatch.setattr("obliquetd.search.scores.LARGEST_BLOCK", 130)
    parts = scores(family, GTD2(), genomes)
    assert max(sizes) == 130 // 18
    assert (whole.judged == parts.judged).all()
    np.testing.assert_allclose(whole.values, parts.values, atol=1e-7)


def test_candidates_in_doubt_go_one_by_one():
    """At discount 1 no follow-on trace ends: each candidate says so."""
    family = FAMILIES["off-policy"](2, 1, "1")
    genomes = Streams(0, range(3), family.genes, 1).first
    found = scores(family, ETD(), genomes)
    assert not found.judged.any()
    assert all("no stationary mean" in found.errors[k] for k in range(3))
    with pytest.raises(MathematicalError, match="no stationary mean"):
        score(family, ETD(), tuple(genomes[0].tolist()))
