"""Whole atlases: their counts and proofs, their folders, and what they say of stability."""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import obliquetd as otd
from obliquetd.atlas import Family, build
from obliquetd.errors import InputError, KindError, LearnerError, MathematicalError, ResultsError
from tests.test_cli import run

PAIR = [otd.TD(), otd.SETD()]


@pytest.fixture(scope="module")
def small():
    """Three states, two features of -1, 0 and 1."""
    return otd.atlas(3, 2, largest=1, learners=[*PAIR, otd.ETD()], workers=1)


def test_it_counts_all_problems_and_answers_questions(small):
    assert len(small) == small.count() == 16_848
    assert small.members == 372
    table = small.table()
    assert table["TD"] == {"stable": 16_488, "marginal": 0, "unstable": 360, "nothing moves": 0}
    assert small.count("TD stable") == 16_488
    assert small.count("TD unstable or SETD unstable") == 360 + table["SETD"]["unstable"]
    assert small.count("ETD stable") == len(small)  # Sutton, Mahmood and White 2016
    assert str(small).splitlines()[1] == "  TD: 16,488 stable, 360 unstable"
    assert repr(small).startswith("Atlas(16,848 problems, 3 states, 2 features up to 1, off-policy")


def sampled(atlas, learners, draws, seed):
    """Counts of random problems of a family by both routes, and how many agree."""
    rng, family = random.Random(seed), atlas.family
    ours, theirs = Counter(), Counter()
    while sum(ours.values()) < draws * len(learners):
        Phi = [[rng.randint(-family.largest, family.largest) for _ in range(2)] for _ in range(3)]
        if np.linalg.matrix_rank(Phi) < 2:
            continue
        chain = [[int(j == k) for j in range(3)] for k in (rng.randrange(3) for _ in range(3))]
        known = atlas.verdicts_on(chain, Phi)
        problem = family.problem(tuple(map(tuple, chain)), Phi, "9/10")
        for learner in learners:
            general = otd.mean_dynamics(problem, learner).stability.verdict
            ours[learner.label, known[learner.label]] += 1
            theirs[learner.label, general] += 1
            assert known[learner.label] == general
    return ours, theirs


def test_a_random_problem_has_the_verdict_of_the_general_route(small):
    ours, theirs = sampled(small, [*PAIR, otd.ETD()], 25, 0)
    assert ours == theirs


def test_the_smallest_counterexample_comes_with_its_proofs(small):
    found = small.smallest("SETD unstable and TD stable")
    assert found.verdicts == {"SETD": "unstable", "TD": "stable"}
    for learner in PAIR:
        certificate = found.certificates[learner.label]
        assert otd.check_certificate(certificate, found.problem, learner)
    sizes = [np.abs(np.array(found.problem.Phi.tolist(), dtype=int)).sum()]
    first = small.example("SETD unstable and TD stable")
    sizes.append(np.abs(np.array(first.problem.Phi.tolist(), dtype=int)).sum())
    assert sizes[0] <= sizes[1]
    assert str(found).startswith("SETD unstable, TD stable: PolicyEvaluation(3 states, 2 features")
    with pytest.raises(
        MathematicalError, match=r"none of the 16,848 problems .* is so: ETD unstable"
    ):
        small.example("ETD unstable")


def test_questions_of_several_discounts_say_which():
    atlas = build(2, 1, learners=otd.TD(), discounts=["1/2", "9/10"], workers=1)
    assert (
        atlas.count("TD unstable", discount="1/2"),
        atlas.count("TD unstable", discount=0.9),
    ) == (0, 4)
    with pytest.raises(InputError, match="the discounts 1/2, 9/10; say which"):
        atlas.count()
    with pytest.raises(InputError, match="discount is 1/3; the atlas has"):
        atlas.count(discount="1/3")
    assert atlas.example(
        "TD unstable", discount="9/10"
    ).problem.discount == otd.algebra.parse_number("9/10")


def test_learners_can_come_one_after_the_other():
    assert build(2, 1, learners=(x for x in PAIR), workers=1).count("TD unstable") == 4


def test_learners_can_be_given_names():
    atlas = build(2, 1, learners={"plain": otd.TD(), "half": otd.TD(lam="1/2")}, workers=1)
    assert atlas.count("half unstable and plain stable") == 0
    assert atlas.count("half unstable") < atlas.count("plain unstable") == 4


@pytest.mark.parametrize(
    ("fields", "error", "told"),
    [
        ({"discounts": "gamma"}, KindError, "the discount is gamma"),
        ({"discounts": []}, InputError, "at least one"),
        ({"discounts": ["1/2", "0.5"]}, InputError, "none of them twice"),
        ({"on_policy": 1}, InputError, "on_policy is 1"),
        ({"workers": 0}, InputError, "workers is 0"),
        ({"learners": otd.DoubleSampledResidualGradient()}, LearnerError, "not for an atlas"),
        ({"learners": otd.FQI()}, LearnerError, "FQI is not for an atlas.*otd.iteration"),
        ({"learners": {"a": otd.TD(), "b": otd.PFQI("1/10", 4)}}, LearnerError, "not for an atlas"),
    ],
)
def test_input_that_cannot_be_meant_is_refused(fields, error, told):
    with pytest.raises(error, match=told):
        build(2, 1, **fields)


def test_two_states_and_one_feature_by_hand():
    """With features u, v and a target that moves from u to v and stays, TD's A is (u (u - g v) + (1 - g) v v) / 2."""
    atlas = build(2, 1, learners=otd.TD(), workers=1)
    ten_a = {
        (u, v): 10 * u * u - 9 * u * v + v * v for u in range(-2, 3) for v in range(-2, 3) if u or v
    }
    for (u, v), a in ten_a.items():
        verdict = "stable" if a > 0 else "unstable" if a < 0 else "marginal"
        assert atlas.verdicts_on([[0, 1], [0, 1]], [[u], [v]]) == {"TD": verdict}
    assert min(ten_a.values()) < 0


KILLED = """
import os, signal, sys
import obliquetd as otd
from obliquetd.atlas import build

build.__globals__["PART"] = 200

def report(what, done, total):
    if what == "judging" and done == 5:
        os.kill(os.getpid(), signal.SIGKILL)

otd.atlas(3, 2, largest=1, learners=[otd.TD(), otd.SETD()], out=sys.argv[1], workers=int(sys.argv[2]), report=report)
"""


def killed(folder, workers):
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(workers)], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_run_goes_on_from_what_is_finished(tmp_path, small, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setitem(build.__globals__, "PART", 200)
    folder = tmp_path / "atlas"
    killed(folder, 1)
    with pytest.raises(ResultsError, match=r"missing .* when it is run again"):
        otd.atlas.load(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("part-*.parquet")}
    assert len(before) == 5
    broken = min(before)
    broken.write_bytes(broken.read_bytes()[:100])  # a disk that was full; it is judged again
    resumed = otd.atlas(3, 2, largest=1, learners=PAIR, out=folder, workers=1)
    assert all(path.stat().st_mtime_ns == before[path] for path in before if path != broken)
    assert {name: resumed.table()[name] for name in ("TD", "SETD")} == {
        name: small.table()[name] for name in ("TD", "SETD")
    }
    monkeypatch.setitem(build.__globals__, "PART", 17)  # a later default is no other atlas on disk
    loaded = otd.atlas.load(folder)
    assert loaded.table() == resumed.table()
    question = "SETD unstable and TD stable"
    assert loaded.smallest(question).problem.Phi == resumed.smallest(question).problem.Phi
    with pytest.raises(ResultsError, match="another family, other learners or other discounts"):
        otd.atlas(3, 2, largest=1, learners=otd.TD(), out=folder)
    with pytest.raises(ResultsError, match="is there and is no atlas"):
        otd.atlas(2, 1, out=tmp_path)
    with pytest.raises(ResultsError, match="is no atlas"):
        otd.atlas.load(tmp_path)


def test_the_files_are_parquet_that_others_can_read(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    atlas = build(2, 1, learners=PAIR, out=tmp_path / "a", workers=1)
    rows = [
        row
        for path in (tmp_path / "a").glob("*.parquet")
        for row in parquet.read_table(path).to_pylist()
    ]
    assert sum(row["problems"] for row in rows) == len(atlas) == 96
    unstable = [row for row in rows if row["TD at 9/10"] == "unstable"]
    assert sum(row["problems"] for row in unstable) == 4
    assert unstable[0]["features"] == [-1, -2]
    assert len(unstable[0]["chain"]) == 4
    with pytest.raises(ResultsError, match="other discounts"):
        build(2, 1, learners=PAIR, discounts="1/2", out=tmp_path / "a", workers=1)


def test_an_atlas_in_memory_needs_no_parquet(tmp_path):
    code = """
import sys
sys.modules["pyarrow"] = None
import obliquetd as otd
print(otd.atlas(2, 1, learners=otd.TD(), workers=1).count("TD unstable"))
try:
    otd.atlas(2, 1, learners=otd.TD(), workers=1, out=sys.argv[1])
except otd.errors.ResultsError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == "4"
    assert "pip install 'pyarrow>=15'" in done.stdout
    assert "pip install -e '.[atlas]'" in done.stdout
    assert not (tmp_path / "a").exists()


def test_the_command_counts_and_shows_a_proof(tmp_path):
    line = [
        "atlas",
        "TD unstable",
        "--states",
        "2",
        "--features",
        "1",
        "--learner",
        "td",
        "--workers",
        "1",
    ]
    shown = run(*line, "--smallest", "--save", str(tmp_path / "model.json")).stdout
    assert "TD unstable: 4 of 96" in shown
    assert "TD is unstable; its certificate holds" in shown
    saved = otd.load_model(tmp_path / "model.json")
    assert otd.mean_dynamics(saved, otd.TD()).stability.verdict == "unstable"
    data = json.loads(run(*line, "--discount", "1/2", "--discount", "9/10", "--json").stdout)
    assert [answer["count"] for answer in data["answers"]] == [0, 4]
    told = run("atlas", "TD bad", "--learner", "td", expect=2).stderr
    assert "'bad' where a verdict on TD" in " ".join(told.split())


# What the atlases say. A statement about a family of finitely many problems is proved by its atlas; of all
# problems it stays a conjecture, unless a larger family refutes it.


def moves(*targets):
    """A chain that moves from each state to the given one."""
    return tuple(tuple(int(t == k) for k in range(len(targets))) for t in targets)


def both_unstable_on_four():
    """Four states that TD and SETD are both unstable on, with features of -1, 0 and 1."""
    return Family(4, 2, 1).problem(moves(3, 3, 3, 2), [[-1, -1], [0, 1], [0, 1], [-1, 0]], "9/10")


def both_unstable_on_three():
    """Three states, the discount 99/100."""
    return Family(3, 2).problem(moves(2, 2, 1), [[-1, 0], [-2, 0], [0, -1]], "99/100")


def test_td_and_setd_are_never_both_unstable_on_three_states_of_small_features(small):
    assert small.count("TD unstable and SETD unstable") == 0
    assert small.count("SETD unstable") == small.count("SETD unstable and TD stable") == 144


@pytest.mark.parametrize("made", [both_unstable_on_three, both_unstable_on_four])
def test_they_can_both_be_unstable_beyond_that(made):
    problem = made()
    for learner in PAIR:
        dynamics = otd.mean_dynamics(problem, learner)
        assert dynamics.stability.verdict == "unstable"
        assert otd.check_certificate(dynamics.certificate(), problem, learner)
    assert otd.mean_dynamics(problem, otd.ETD()).stability.verdict == "stable"


README = (Path(__file__).parents[2] / "README.md").read_text()


def row(atlas, shape):
    """A line of the README's table."""
    table = {
        name: ", ".join(
            f"{n:,} {word}"
            for word, n in (("unstable", c["unstable"]), ("marginal", c["marginal"]))
            if n
        )
        for name, c in atlas.table().items()
    }
    assert table["GTD2"] == table["TDC"]
    cells = [table[name] or "stable" for name in ("TD", "SETD", "GTD2", "ETD")]
    cells.insert(2, f"{atlas.count('TD unstable and SETD unstable'):,}")
    return f"| {' | '.join([shape, f'{len(atlas):,}', *cells])} |"


SAID = " ".join((otd.atlas.__doc__ or "").split())


@pytest.mark.slow
def test_the_other_rows_of_the_readme_s_table():
    on_policy = otd.atlas(3, 2, on_policy=True)
    assert row(on_policy, "3, 2, 2 on-policy") in README
    others = {name: counts for name, counts in on_policy.table().items() if name != "SETD"}
    assert all(counts["stable"] == len(on_policy) for counts in others.values())
    unstable = on_policy.count("SETD unstable")
    assert f"SETD is unstable in {unstable:,} of {len(on_policy):,} problems" in SAID
    larger = otd.atlas(4, 2, largest=1)
    assert row(larger, "4, 2, 1") in README
    assert f"({larger.count('TD unstable and SETD unstable'):,} of {len(larger):,})" in SAID


@pytest.mark.parametrize("states", [2, 3, 4])
def test_tdc_is_stable_where_gtd2_is_for_small_discounts(states):
    """With uniform weights |P v| <= sqrt(n) |v|, so v'(C + A) v >= (2 - gamma sqrt(n)) |v|^2 in the norm of xi."""
    rng, gamma, least = np.random.default_rng(0), 0.9, []
    for _ in range(200):
        P = np.eye(states)[rng.integers(0, states, size=states)]
        form = 2 * np.eye(states) - gamma * (P + P.T) / 2
        least.append(np.linalg.eigvalsh(form).min())
    assert min(least) > 2 - gamma * states**0.5 - 1e-9 > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster_judges_the_same(cluster, small, tmp_path):
    pytest.importorskip("pyarrow")
    found = otd.atlas(
        3, 2, largest=1, learners=[*PAIR, otd.ETD()], backend="dask",
        scheduler=cluster.scheduler_address, out=tmp_path / "a",
    )  # fmt: skip
    assert found.table() == small.table()
    question = "SETD unstable and TD stable"
    assert found.smallest(question).problem.Phi == small.smallest(question).problem.Phi


@pytest.mark.slow
def test_three_states_and_features_up_to_2(tmp_path):
    """The whole family, against the general route on 2000 random problems, and after a kill."""
    pytest.importorskip("pyarrow")
    atlas = otd.atlas(3, 2)
    assert len(atlas) == 405_648
    told = {name: {k: n for k, n in counts.items() if n} for name, counts in atlas.table().items()}
    assert told == {
        "TD": {"stable": 381_744, "marginal": 936, "unstable": 22_968},
        "SETD": {"stable": 399_264, "unstable": 6_384},
        "ETD": {"stable": 405_648},
        "GTD2": {"stable": 405_120, "marginal": 528},
        "TDC": {"stable": 405_120, "marginal": 528},
        "ResidualGradient": {"stable": 405_648},
    }
    assert row(atlas, "3, 2, 2") in README
    assert atlas.count("TD unstable and SETD unstable") == 0
    assert atlas.count("GTD2 marginal and not TD marginal") == 0  # A is singular, for both
    assert atlas.count("TDC stable and not GTD2 stable or GTD2 stable and not TDC stable") == 0
    ours, theirs = sampled(atlas, list(otd.atlas.DEFAULT), 2000, 1)
    assert ours == theirs
    killed(tmp_path / "a", 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(build.__globals__, "PART", 200)
        resumed = otd.atlas(3, 2, largest=1, learners=PAIR, out=tmp_path / "a")
    assert resumed.table() == otd.atlas(3, 2, largest=1, learners=PAIR).table()


@pytest.mark.slow
def test_what_refutes_the_conjecture_on_three_states():
    up_to_3 = otd.atlas(3, 2, largest=3, learners=PAIR)
    assert len(up_to_3) == 3_131_136
    assert up_to_3.count("TD unstable and SETD unstable") == 96
    assert "(96 of 3,131,136)" in SAID
    patient = otd.atlas(3, 2, learners=PAIR, discounts="99/100")
    assert patient.count("TD unstable and SETD unstable") == 3_936
    assert "(3,936 of 405,648)" in SAID
    found = patient.smallest("TD unstable and SETD unstable").problem
    assert found.Phi == both_unstable_on_three().Phi
    assert found.P_pi == both_unstable_on_three().P_pi


@pytest.mark.slow
def test_four_states_and_features_up_to_2():
    atlas = otd.atlas(4, 2, learners=PAIR)
    assert len(atlas) == 99_278_848
    assert atlas.count("TD unstable and SETD unstable") == 109_152
    found = atlas.smallest("TD unstable and SETD unstable").problem
    assert found.Phi == both_unstable_on_four().Phi
    assert found.P_pi == both_unstable_on_four().P_pi
