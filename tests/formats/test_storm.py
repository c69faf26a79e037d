"""Storm's DRN: what Storm exports is read, and what is written Storm builds as it stands."""

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.domains import random_mdp
from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats.drn import read_drn, write_drn
from obliquetd.formats.explicit import policy_chain
from tests.strategies import mdps


def put(
    folder, body, *, kind="MDP", parameters="", rewards="", placeholders="", states=2, choices=2
):
    held = f"@placeholders\n{placeholders}" if placeholders else ""
    path = folder / "m.drn"
    path.write_text(
        f"// Exported by storm\n// Original model type: {kind}\n@type: {kind}\n@parameters\n{parameters} \n"
        f"{held}@reward_models\n{rewards} \n@nr_states\n{states}\n@nr_choices\n{choices}\n@model\n{body}"
    )
    return path


# What Storm exports


def test_placeholders_stand_for_long_values(tmp_path):
    path = put(
        tmp_path,
        "state 0 [$1] init\n\taction 0 [0]\n\t\t0 : $0\n\t\t1 : $2\nstate 1 [0]\n\taction 0 [0]\n\t\t0 : 1\n",
        kind="DTMC", parameters="p q", rewards="cost",
        placeholders="$0 : p^2\n$1 : (q+1)/(2)\n$2 : (-1)*p^2+1\n",
    )  # fmt: skip
    p, q = sp.symbols("p q")
    mdp = read_drn(path)
    rows = [tuple(r)[3:5] for r in mdp.transitions]
    assert [sp.simplify(a - b) for row, right in zip(rows, [(p**2, (q + 1) / 2), (1 - p**2, (q + 1) / 2), (1, 0)], strict=True)
            for a, b in zip(row, right, strict=True)] == [0] * 6  # fmt: skip
    write_drn(mdp, tmp_path / "again.drn")
    assert read_drn(tmp_path / "again.drn").subs({"p": "1/2", "q": 1}) == mdp.subs(
        {"p": "1/2", "q": 1}
    )


@pytest.mark.parametrize(
    ("placeholders", "words"),
    [
        ("$0 1/2\n", r"expected '\$name : value'"),
        ("$0 : 1/0\n", "zero"),
        ("$0 : 1/2\n$0 : 1/3\n", "two values"),
        ("$1 : 1/2\n", r"'\$0' is not among the @placeholders"),
        ("$0 : $1\n", r"'\$1' is not among"),
    ],
)
def test_broken_placeholders(placeholders, words, tmp_path):
    body = "state 0 init\n\taction 0\n\t\t0 : $0\n\t\t1 : $0\nstate 1\n\taction 0\n\t\t0 : 1\n"
    with pytest.raises(ModelFileError, match=words):
        read_drn(put(tmp_path, body, placeholders=placeholders))


def test_choices_without_a_name_or_with_the_same(tmp_path):
    body = "state 0 init\n\taction __NOLABEL__\n\t\t1 : 1\n\taction __NOLABEL__\n\t\t0 : 1\n\taction go\n\t\t1 : 1\n"
    body += "state 1\n\taction go\n\t\t0 : 1\n\taction go\n\t\t1 : 1\n\taction 0\n\t\t1 : 1\n"
    mdp = read_drn(put(tmp_path, body, choices=6))
    assert mdp.offered[0] == (0, 1, "go")
    assert set(mdp.offered[1]) == {("go", 0), ("go", 1), 0}
    write_drn(mdp, tmp_path / "again.drn")
    assert read_drn(tmp_path / "again.drn") == mdp


BODY = "state 0 [1, 10] init\n\taction a [0, 5]\n\t\t1 : 1\nstate 1 [0, 0]\n\taction a [2, 0]\n\t\t0 : 1\n"


@pytest.mark.parametrize(("reward", "paid"), [("steps", [1, 2]), ("energy", [15, 0])])
def test_one_of_several_reward_models_is_chosen(reward, paid, tmp_path):
    path = put(tmp_path, BODY, rewards="steps energy")
    mdp = load_model(path, reward=reward, discount="1/2").mdp
    assert [r.reward for r in mdp.transitions] == paid
    with pytest.raises(ModelFileError, match=r"'steps', 'energy'.*reward='steps'"):
        load_model(path)
    with pytest.raises(ModelFileError, match="did you mean 'steps'"):
        load_model(path, reward="step")


def test_a_reward_model_without_a_name(tmp_path):
    body = "state 0 [3] init\n\taction 0 [1]\n\t\t1 : 1\nstate 1 [0]\n\taction 0 [0]\n\t\t0 : 1\n"
    assert next(read_drn(put(tmp_path, body)).transitions).reward == 4
    with pytest.raises(ModelFileError, match="2 rewards for 1 reward models"):
        read_drn(put(tmp_path, BODY, rewards="steps"))


@pytest.mark.parametrize("word", ["NA", "null", "True", "q"])
def test_words_are_no_parameters_unless_they_are_declared(word, tmp_path):
    body = f"state 0 init\n\taction 0\n\t\t0 : {word}\n\t\t1 : 1-{word}\nstate 1\n\taction 0\n\t\t0 : 1\n"
    with pytest.raises(ModelFileError, match=f"{word} is no number.*@parameters"):
        read_drn(put(tmp_path, body))
    assert sp.Symbol(word) in read_drn(put(tmp_path, body, parameters=word)).symbols


def test_a_file_that_was_cut_among_the_choices_of_its_last_state(tmp_path):
    body = "state 0 init\n\taction a\n\t\t1 : 1\nstate 1\n\taction a\n\t\t0 : 1\n"
    with pytest.raises(ModelFileError, match="announces 3 choices and holds 2"):
        read_drn(put(tmp_path, body, choices=3))


def test_two_choices_of_a_chain(tmp_path):
    body = "state 0 init\n\taction a\n\t\t1 : 1\n\taction b\n\t\t1 : 1\nstate 1\n\taction a\n\t\t0 : 1\n"
    with pytest.raises(ModelFileError, match="second choice; expected @type: MDP"):
        read_drn(put(tmp_path, body, kind="DTMC", choices=3))


# What is written


def announced(path):
    lines = path.read_text().splitlines()
    return int(lines[lines.index("@nr_choices") + 1]), sum("action" in line for line in lines)


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(mdp=mdps())
def test_the_number_of_choices_is_that_of_the_lines(mdp, tmp_path):
    rows = [(s, a, t, p, 1) for s, a, t, p, *_ in policy_chain(uniform(mdp)).transitions]
    ends = {s for s, *_ in rows if s}
    chain = MDP.from_transitions([r for r in merged(rows) if r[0] not in ends], states=mdp.states)
    write_drn(chain, tmp_path / "m.drn")
    said, held = announced(tmp_path / "m.drn")
    assert said == held


def uniform(mdp):
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")


def merged(rows):
    sums = {}
    for s, a, t, p, r in rows:
        sums[s, a, t, r] = sums.get((s, a, t, r), 0) + p
    return [(s, a, t, p, r) for (s, a, t, r), p in sums.items()]


@pytest.fixture
def storm():
    return pytest.importorskip(
        "stormpy", reason="stormpy is not installed: Storm reads nothing here"
    )


def storms_value(storm, path, formula, exact=True):
    (question,) = storm.parse_properties(formula)
    build = storm.build_model_from_drn
    model = (build[storm.Rational] if exact else build)(str(path))
    found = storm.model_checking(model, question)
    return model, [Fraction(str(found.get_value(k))) for k in range(model.nr_states)]


def test_storm_builds_a_model_that_ends(storm, tmp_path):
    mdp = MDP.from_transitions([("s", "a", "t", 1, 2)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    with pytest.warns(UserWarning, match="discount 1/2"):
        save_model(problem, tmp_path / "m.drn")
    model, values = storms_value(storm, tmp_path / "m.drn", 'Rmax=? [F "deadlock"]')
    assert str(model.model_type) == "ModelType.MDP"
    assert values == [2, 0]
    assert problem.values == {"s": 2, "t": 0}


@pytest.mark.parametrize("seed", range(4))
def test_storm_finds_the_best_policys_values(seed, storm, tmp_path):
    """Policy iteration by hand on our side; value by Storm, in exact arithmetic, on the file as it is."""
    base = random_mdp(5, 3, seed)
    pay = {(s, a): 1 + (s + 2 * a) % 4 for s in range(5) for a in range(3)}
    rows = [(s, a, t, 3 * p / 4, pay[s, a]) for s, a, t, p, *_ in base.transitions]
    rows = merged([*rows, *((s, a, "end", sp.Rational(1, 4), r) for (s, a), r in pay.items())])
    mdp = MDP.from_transitions(rows, states=[*range(5), "end"])
    write_drn(mdp, tmp_path / "m.drn")
    model, values = storms_value(storm, tmp_path / "m.drn", 'Rmax=? [F "deadlock"]')
    assert model.nr_choices == announced(tmp_path / "m.drn")[0]
    policy = {s: mdp.offered[s][0] for s in range(5)}
    for _ in range(30):
        ours = PolicyEvaluation(mdp, target=Policy.deterministic(policy), discount=1).values
        worth = {}
        for s, a, t, p, r, _ in mdp.transitions:
            worth[s, a] = worth.get((s, a), 0) + p * (r + ours[t])
        better = {s: max(mdp.offered[s], key=lambda a, s=s: worth[s, a]) for s in range(5)}
        if all(worth[s, better[s]] == ours[s] for s in range(5)):
            break
        policy = better
    assert [Fraction(str(ours[s])) for s in mdp.states] == values


def test_storm_reads_names_fractions_and_floats(storm, tmp_path):
    mdp = MDP.from_transitions(
        [("a b", "go on", "end", "1/3", 6), ("a b", "go on", "a b", "2/3", 6), ("a b", (1, 2), "end", 1, 3)]
    )  # fmt: skip
    write_drn(mdp, tmp_path / "m.drn")
    _, values = storms_value(storm, tmp_path / "m.drn", 'Rmin=? [F "deadlock"]')
    assert values == [3, 0]
    floats = MDP.from_transitions([(0, "a", 1, 0.1, 0.5), (0, "a", 0, 0.9, 0.5)])
    write_drn(floats, tmp_path / "f.drn")
    _, values = storms_value(storm, tmp_path / "f.drn", 'Rmax=? [F "deadlock"]', exact=False)
    assert float(values[0]) == pytest.approx(5, rel=1e-5)


def test_storm_reads_parameters(storm, tmp_path):
    mdp = MDP.from_transitions([("s", "a", "t", "p**2", "r"), ("s", "a", "s", "1 - p**2", "r")])
    write_drn(mdp, tmp_path / "m.drn")
    model = storm.build_model_from_drn[storm.RationalFunction](str(tmp_path / "m.drn"))
    assert model.nr_choices == 2
    assert sorted(str(p) for p in model.collect_all_parameters()) == ["p", "r"]


def test_files_that_were_written_before_are_read(tmp_path):
    """Loops of deadlocks were not counted then."""
    mdp = MDP.from_transitions([("s", "a", "t", 1, 2)])
    write_drn(mdp, tmp_path / "m.drn")
    text = (tmp_path / "m.drn").read_text()
    (tmp_path / "m.drn").write_text(text.replace("@nr_choices\n2", "@nr_choices\n1"))
    assert read_drn(tmp_path / "m.drn") == mdp


def test_outcomes_of_different_reward_have_a_way_out(tmp_path):
    mdp = MDP.from_transitions([(0, "a", 1, "1/4", 8), (0, "a", 0, "3/4", 0)])
    with pytest.raises(InputError, match="expected_rewards=True"):
        save_model(PolicyEvaluation(mdp, target=Policy.uniform(mdp)), tmp_path / "m.drn")
    write_drn(mdp, tmp_path / "m.drn", expected_rewards=True)
    assert load_model(tmp_path / "m.drn").values == {0: 8, 1: 0}
