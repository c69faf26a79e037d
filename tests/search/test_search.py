import itertools
import json

import numpy as np
import pytest
import sympy as sp

from obliquetd import check_certificate
from obliquetd.claims.stability import shipped_model
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import InputError, KindError, MathematicalError, ModelFileError
from obliquetd.learners import ETD, GTD2, SETD, TD
from obliquetd.processes import in_processes as truly_in_processes
from obliquetd.search import find_unstable, search, walk
from obliquetd.search.families import FAMILIES
from obliquetd.search.scores import runs_in_blocks
from obliquetd.search.stream import Streams


@pytest.mark.parametrize("on_policy", [False, True])
@pytest.mark.parametrize("seed", [11, 12])
def test_three_states_and_two_features_break_setd_where_td_is_stable(on_policy, seed):
    found = find_unstable(SETD(), 3, 2, on_policy=on_policy, stable=[TD()], seed=seed, workers=1)
    problem = found.problem
    assert problem is not None
    assert problem.arithmetic == "exact"
    assert problem.discount == sp.Rational(9, 10)
    assert problem.on_policy is on_policy
    dyn = mean_dynamics(problem, SETD())
    assert dyn.stability.verdict == "unstable"
    assert mean_dynamics(problem, TD()).is_stable()
    assert min(complex(x).real for x in dyn.spectrum()) < 0  # a second opinion, in floats
    assert found.certificate["claim"] == "unstable"
    assert check_certificate(json.loads(json.dumps(found.certificate)))
    assert max(abs(x) for x in problem.Phi) <= 3
    if not on_policy:
        assert set(problem.xi) == {sp.Rational(1, 3)}
        assert all(x in (0, 1) for x in problem.P_pi)


def test_the_answer_depends_on_the_seed_and_not_on_the_workers(monkeypatch):
    asked = []

    def in_processes(calls, **options):
        asked.append(options)
        yield from truly_in_processes(calls, **options)

    question = {"learner": TD(), "states": 2, "features": 1, "on_policy": True, "walks": 90}
    one = find_unstable(**question, workers=1)
    monkeypatch.setattr(search, "in_processes", in_processes)
    monkeypatch.setattr(search, "WORTH_PROCESSES", 0.0)
    monkeypatch.setattr(search, "AT_MOST", 32)
    two = find_unstable(**question, workers=2)
    assert asked[0] == {"n_jobs": 2}
    assert (one.problem, one.tried, one.walks) == (None, 13_500, 90)
    assert (two.problem, two.tried, two.walks) == (None, 13_500, 90)


def test_the_answer_is_that_of_the_first_walk_that_finds_one(monkeypatch):
    """However many go side by side, or in another process."""
    one = find_unstable(SETD(), 3, 2, seed=3, workers=1)
    monkeypatch.setattr(search, "in_processes", lambda calls, **_: [f(*a) for f, a, _ in calls])
    monkeypatch.setattr(search, "WORTH_PROCESSES", 0.0)
    monkeypatch.setattr(search, "AT_FIRST", {"table": 1})
    two = find_unstable(SETD(), 3, 2, seed=3, workers=2)
    assert one.problem.mdp == two.problem.mdp
    assert one.problem.Phi == two.problem.Phi
    assert (one.tried, one.walks) == (two.tried, two.walks)


def test_none_found_is_said_with_the_number_of_candidates():
    """ETD's key matrix is positive definite: there is nothing to find."""
    found = find_unstable(ETD(), 2, 1, walks=4, workers=1)
    assert found.problem is None
    assert found.certificate is None
    assert (found.tried, found.walks) == (600, 4)
    assert str(found) == "none found among 600 candidates in 4 walks"


def test_a_stopped_search_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "search.json"
    find_unstable(ETD(), 2, 1, walks=4, workers=1, checkpoint=path)
    assert json.loads(path.read_text())["walks"] == 4
    more = find_unstable(ETD(), 2, 1, walks=6, workers=1, checkpoint=path)
    assert (more.tried, more.walks) == (900, 6)
    with pytest.raises(ModelFileError, match="another search"):
        find_unstable(ETD(), 2, 1, walks=6, workers=1, seed=9, checkpoint=path)
    path.write_text("{")
    with pytest.raises(ModelFileError, match="not JSON"):
        find_unstable(ETD(), 2, 1, walks=6, workers=1, checkpoint=path)


@pytest.mark.parametrize("name", ["setd_off_policy", "setd_on_policy"])
def test_shipped_counterexamples(name):
    problem = shipped_model(name)
    dyn = mean_dynamics(problem, SETD())
    assert dyn.stability.verdict == "unstable"
    assert mean_dynamics(problem, TD()).is_stable()
    assert check_certificate(dyn.certificate())
    # the formula of the deterministic case is a second route to A
    assert problem.Phi.T * problem.Xi * problem.Omega_S * problem.L_pi * problem.Phi == dyn.A


def test_families_have_a_unique_stationary_distribution_or_say_so():
    for name, kind in FAMILIES.items():
        family = kind(3, 2, "1/2")
        made = [
            family.build(tuple(g)) for g in Streams(0, range(30), family.genes, 1).first.tolist()
        ]
        kept = [p for p in made if p is not None]
        assert kept, name
        assert all(len(p.xi) == 3 and min(p.xi) > 0 for p in kept)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"states": 1}, "states is 1"),
        ({"features": 0}, "features is 0"),
        ({"features": 5}, "dependent"),
        ({"walks": 0}, "walks is 0"),
        ({"largest": 0}, "largest is 0"),
        ({"largest": 10**10}, "from 1 to 1,000,000,000"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        find_unstable(TD(), **{"states": 3, "features": 2, **change})


@pytest.fixture
def short_walks(monkeypatch):
    """Three changes a walk, where the walk itself is not the point."""
    monkeypatch.setattr("obliquetd.search.walk.WALK", 3)


@pytest.mark.usefixtures("short_walks")
def test_a_question_without_an_answer_is_no_empty_search():
    """Nothing decays the follow-on trace at discount 1, nor a trace at lam 1: no candidate counts."""
    for learner in (ETD(), TD(lam=1)):
        with pytest.raises(MathematicalError, match=r"not one candidate .* no stationary mean"):
            find_unstable(learner, 2, 1, discount=1, walks=2, workers=1)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"learner": TD}, InputError, r"class TD .* TD\(\)"),
        ({"stable": [TD]}, InputError, r"class TD .* TD\(\)"),
        ({"stable": TD}, InputError, "class TD"),
        ({"learner": "td"}, InputError, "'td' is no learner"),
        ({"learner": TD(lam="l")}, KindError, "TD has the symbol l"),
        ({"stable": [GTD2(mu="m")]}, KindError, "GTD2 has the symbol m"),
        ({"discount": "g"}, KindError, "the discount is g"),
        ({"discount": 1.5}, InputError, "the discount is 1.5"),
        ({"seed": -1}, InputError, "seed is -1"),
        ({"seed": 1.5}, InputError, "seed is 1.5"),
        ({"workers": 0}, InputError, "workers is 0"),
        ({"walks": True}, InputError, "walks is True"),
    ],
)
def test_errors_of_the_question_are_raised(change, error, words):
    given = {"learner": SETD(), "states": 2, "features": 1, "workers": 1, "walks": 1}
    with pytest.raises(error, match=words):
        find_unstable(**{**given, **change})


def test_an_error_inside_a_walk_is_not_swallowed(monkeypatch):
    """Only what means that this candidate has no verdict is passed over."""

    def broken(*args):
        raise InputError("a fault of the program")

    runs_in_blocks.cache_clear()  # it holds the rule against that
    monkeypatch.setattr("obliquetd.search.scores.MeanDynamics", broken)
    with pytest.raises(InputError, match="a fault of the program"):
        find_unstable(TD(), 2, 1, walks=1, workers=1)


def test_candidates_that_cannot_be_judged_are_counted(monkeypatch):
    """Every tenth that is looked at cannot be; each walk looks at 150."""
    true_scores, calls = walk.scores, itertools.count(1)

    def sometimes(family, learner, genomes, below=None):
        found = true_scores(family, learner, genomes, below)
        for k in range(len(genomes)):
            if next(calls) % 10 == 0:
                found.values[k], found.judged[k], found.errors[k] = np.inf, False, "no mean"
        return found

    monkeypatch.setattr(walk, "scores", sometimes)
    monkeypatch.setattr(walk, "runs_in_blocks", lambda *a: False)  # one at a time, none twice
    found = find_unstable(ETD(), 2, 1, walks=2, workers=1)
    assert found.passed_over == 30
    assert str(found).endswith("in 2 walks, 30 of which could not be judged")


@pytest.mark.usefixtures("short_walks")
def test_one_stable_learner_is_a_list_of_one(tmp_path):
    for k, stable in enumerate((TD(), [TD()], (x for x in [TD()]))):
        find_unstable(ETD(), 2, 1, stable=stable, walks=1, workers=1, checkpoint=tmp_path / str(k))
    assert len({path.read_text() for path in tmp_path.iterdir()}) == 1


@pytest.mark.usefixtures("short_walks")
@pytest.mark.parametrize(
    "change",
    [
        {"walks": None}, {"walks": "4"}, {"walks": -1}, {"walks": 2.5}, {"tried": True}, {"tried": 1e308},
        {"passed_over": []}, {"walks": {"walks": 4}},
    ],
)  # fmt: skip
def test_an_odd_checkpoint_is_named(tmp_path, change):
    path = tmp_path / "search.json"
    find_unstable(ETD(), 2, 1, walks=2, workers=1, checkpoint=path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelFileError, match=r"expected integers\. Remove it"):
        find_unstable(ETD(), 2, 1, walks=4, workers=1, checkpoint=path)
    path.unlink()  # the way out
    assert find_unstable(ETD(), 2, 1, walks=2, workers=1, checkpoint=path).walks == 2


@pytest.mark.usefixtures("short_walks")
@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[]", "null", '{"search": 1}', "\x00", '{"walks": 4}']
)
def test_a_checkpoint_of_nothing_is_named(tmp_path, text):
    path = tmp_path / "search.json"
    path.write_text(text)
    with pytest.raises(ModelFileError, match=r"search\.json"):
        find_unstable(ETD(), 2, 1, walks=4, workers=1, checkpoint=path)


def test_a_checkpoint_that_cannot_be_written_is_said_before_the_search(tmp_path, monkeypatch):
    monkeypatch.setattr("obliquetd.search.search.walk_on", lambda *a: pytest.fail("it began"))
    with pytest.raises(InputError, match="cannot write"):
        find_unstable(ETD(), 2, 1, walks=4, workers=1, checkpoint=tmp_path / "no" / "search.json")


@pytest.mark.usefixtures("short_walks")
def test_a_checkpoint_knows_the_question_by_its_numbers(tmp_path):
    """However it is written, in whatever process; another lam is another question."""
    path = tmp_path / "search.json"
    find_unstable(ETD(lam=0.5), 2, 1, discount=0.9, walks=2, workers=1, checkpoint=path)
    same = ETD(lambda t: 0.1, lam="1/2")
    assert find_unstable(same, 2, 1, walks=2, workers=1, checkpoint=path).walks == 2
    for other in ({"learner": ETD()}, {"discount": "8/10"}, {"largest": 2}, {"stable": [TD()]}):
        with pytest.raises(ModelFileError, match="another search"):
            find_unstable(
                **{"learner": same, "states": 2, "features": 1, "walks": 2, "workers": 1, **other},
                checkpoint=path,
            )
