"""PRISM's and Storm's explicit files: a set of files is one model, and nothing in it is ignored."""

import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.errors import FormatWarning, InputError, ModelFileError, ObliqueTDError
from obliquetd.formats.prism import read_prism, write_prism

CHAIN = "2 3\n0 1 1\n1 0 2/5\n1 1 3/5\n"
MDP_TRA = "2 3 3\n0 0 1 1 go\n0 1 0 1 stay\n1 0 0 1 go\n"


def put(folder, **files):
    """Files by name, with _ for the dot."""
    for name, text in files.items():
        stem, _, ending = name.partition("_")
        (folder / f"{stem}.{ending.replace('_', '.')}").write_text(text)


def rewards(folder, **fields):
    mdp = load_model(folder / "m.tra", discount="1/2", **fields).mdp
    return [(r.state, r.action, r.next_state, r.reward) for r in mdp.transitions if r.reward != 0]


# One reward structure is used, whatever its file is called


@pytest.mark.parametrize(
    "name", ["m.srew", "m1.srew", "m7.srew", "m.state.rew", "m.steps.srew", "m.steps.state.rew"]
)
def test_state_rewards_are_read_under_every_name(name, tmp_path):
    put(tmp_path, m_tra=CHAIN)
    heading = "" if name.endswith(".rew") else "# State rewards\n2 1\n"
    (tmp_path / name).write_text(f"{heading}0 5\n")
    assert rewards(tmp_path) == [(0, "step", 1, 5)]
    half = sp.Rational(1, 2)
    v = load_model(tmp_path / "m.tra", discount=half).values
    assert v[0] == 5 + half * v[1]


@pytest.mark.parametrize(
    "name",
    ["m.trew", "m2.trew", "m.trans.rew", "m.coin.trans.rew", "m.tra.rew", "m.coin.tra.rew"],
)
def test_transition_rewards_are_read_under_every_name(name, tmp_path):
    put(tmp_path, m_tra=MDP_TRA)
    heading = "" if name.endswith(".rew") else '# Reward structure "r"\n2 3 1\n'
    (tmp_path / name).write_text(f"{heading}0 1 0 7/3\n")
    assert rewards(tmp_path) == [(0, "stay", 0, sp.Rational(7, 3))]


def test_state_and_transition_rewards_of_one_structure_are_added(tmp_path):
    put(tmp_path, m_tra=CHAIN, m1_srew="2 1\n1 2\n", m1_trew="2 1\n1 0 3\n")
    assert rewards(tmp_path) == [(1, "step", 0, 5), (1, "step", 1, 2)]


# Several are chosen by name, never by silence


def several(folder):
    put(
        folder, m_tra=CHAIN,
        m1_srew='# Reward structure "steps"\n# State rewards\n2 2\n0 1\n1 1\n',
        m2_srew='# Reward structure "energy"\n# State rewards\n2 1\n0 9\n',
    )  # fmt: skip


@pytest.mark.parametrize("reward", ["energy", "2"])
def test_several_are_chosen_by_name_or_number(reward, tmp_path):
    several(tmp_path)
    assert rewards(tmp_path, reward=reward) == [(0, "step", 1, 9)]


def test_several_without_a_choice_are_an_error_whose_advice_works(tmp_path):
    several(tmp_path)
    with pytest.raises(ModelFileError, match=r"'steps', 'energy'.*reward='steps'"):
        load_model(tmp_path / "m.tra")
    assert len(rewards(tmp_path, reward="steps")) == 3


def test_a_misspelt_choice_names_the_nearest(tmp_path):
    several(tmp_path)
    with pytest.raises(ModelFileError, match=r"'enery'.*did you mean 'energy'"):
        load_model(tmp_path / "m.tra", reward="enery")
    put(tmp_path, n_tra=CHAIN)
    with pytest.raises(ModelFileError, match=r"no reward structure 'steps'.*none"):
        load_model(tmp_path / "n.tra", reward="steps")


def test_named_files_beside_a_plain_one_are_several_too(tmp_path):
    put(tmp_path, m_tra=CHAIN, m_srew="2 1\n0 1\n")
    (tmp_path / "m.fuel.state.rew").write_text("1 4\n")
    with pytest.raises(ModelFileError, match="'fuel', 'm'"):
        load_model(tmp_path / "m.tra")
    assert rewards(tmp_path, reward="m") == [(0, "step", 1, 1)]
    assert {r[-1] for r in rewards(tmp_path, reward="fuel")} == {4}


def test_a_numbered_file_of_another_model_is_left_to_it(tmp_path):
    put(tmp_path, m_tra=CHAIN, m1_tra=CHAIN, m1_srew="2 1\n0 5\n")
    assert rewards(tmp_path) == []
    assert load_model(tmp_path / "m1.tra", discount="1/2").values[0] > 0


# Stale companions


@pytest.mark.parametrize(
    "stale",
    ["t.srew", "t1.srew", "t2.trew", "t.state.rew", "t.x.trans.rew", "t.tra.rew", "t3.tra.rew"],
)
def test_a_reward_file_that_lies_there_is_never_read_with_a_new_model(stale, tmp_path):
    (tmp_path / stale).write_text("2 1\n0 20000\n")
    mdp = MDP.from_transitions([(0, "a", 1, 1, 3), (1, "a", 0, 1, 0)])
    with pytest.raises(InputError, match=f"{stale} lies beside.*remove it".replace(".", r"\.", 1)):
        write_prism(mdp, tmp_path / "t.tra")
    assert [p.name for p in tmp_path.iterdir()] == [stale]
    (tmp_path / stale).unlink()
    write_prism(mdp, tmp_path / "t.tra")
    assert read_prism(tmp_path / "t.tra") == mdp


def test_saving_twice_replaces_the_whole_set(tmp_path):
    first = MDP.from_transitions([(0, "a", 1, 1, 3), (1, "a", 0, 1, 0), (2, "a", 0, 1, 1)])
    second = MDP.from_transitions([("x", "a", "x", 1, 0)])
    for mdp in (first, second):
        write_prism(mdp, tmp_path / "t.tra")
        assert read_prism(tmp_path / "t.tra") == mdp
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.lab", "t.sta", "t.tra", "t.trew"]


def test_a_set_that_cannot_be_written_leaves_the_old_one(tmp_path):
    first = MDP.from_transitions([(0, "a", 0, 1, 3)])
    write_prism(first, tmp_path / "t.tra")
    (tmp_path / "t.sta").unlink()
    (tmp_path / "t.sta").mkdir()
    with pytest.raises(InputError, match=r"t\.sta: it is a folder"):
        write_prism(MDP.from_transitions([(0, "b", 0, 1, 4)]), tmp_path / "t.tra")
    (tmp_path / "t.sta").rmdir()
    assert read_prism(tmp_path / "t.tra") == first
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"m_srew": "3 1\n0 1\n"}, r"m\.srew is for 3 states and the \.tra file has 2"),
        ({"m_srew": "2 2\n0 1\n"}, r"m\.srew announces 2 rewards and holds 1"),
        ({"m_trew": "5 1\n0 1 1\n"}, r"m\.trew is for 5 states"),
        ({"m1_srew": "2 1\n7 1\n"}, r"m1\.srew:2: index 7"),
    ],
)
def test_companions_of_another_model_are_refused(files, words, tmp_path):
    put(tmp_path, m_tra=CHAIN, **files)
    with pytest.raises(ModelFileError, match=words):
        load_model(tmp_path / "m.tra")


# What PRISM writes today


def test_comments_stand_in_every_file(tmp_path):
    put(
        tmp_path, m_tra="# a chain\n3 3\n0 1 1\n1 2 1\n2 2 1\n",
        m_lab='# Labels\n0="init" 1="deadlock"\n# states\n0: 0\n2: 1\n',
        m_sta="# States\n(x)\n# values\n0:(5)\n1:(6)\n2:(7)\n",
        m_srew='# Reward structure "r"\n# State rewards\n3 1\n# one\n0 4\n',
    )  # fmt: skip
    problem = load_model(tmp_path / "m.tra")
    assert problem.states == (5, 6, 7)
    assert problem.mdp.terminal == (7,)
    assert problem.values == {5: 4, 6: 0, 7: 0}


def test_the_actions_of_a_chain_are_no_choices(tmp_path):
    put(tmp_path, m_tra="2 4\n0 0 1/4 left\n0 1 1/2 right\n0 1 1/4 jump\n1 0 1 back\n")
    mdp = read_prism(tmp_path / "m.tra")
    assert mdp.actions == ("step",)
    assert [r.probability for r in mdp.transitions] == [sp.Rational(1, 4), sp.Rational(3, 4), 1]
    put(tmp_path, m_tra="2 4\n0 0 1/4\n0 1 1/2\n0 1 1/4\n1 0 1\n")
    with pytest.raises(ModelFileError, match="repeats the move from 0 to 1"):
        read_prism(tmp_path / "m.tra")


def test_a_name_at_several_choices_is_told_apart(tmp_path):
    put(tmp_path, m_tra="2 4 4\n0 0 1 1 a\n0 1 0 1 a\n0 2 0 1 b\n1 0 0 1 a\n")
    mdp = read_prism(tmp_path / "m.tra")
    assert mdp.offered == {0: (("a", 0), ("a", 1), "b"), 1: ("a",)}
    write_prism(mdp, tmp_path / "again.tra")
    assert read_prism(tmp_path / "again.tra") == mdp


# Numbers


def test_decimals_that_were_rounded_are_floats_unless_said_otherwise(tmp_path):
    put(tmp_path, m_tra="3 4\n0 0 0.14285714285714285\n0 1 0.8571428571428572\n1 2 1\n2 0 1\n")
    assert load_model(tmp_path / "m.tra", discount="1/2").arithmetic == "float"
    exact = load_model(tmp_path / "m.tra", discount="1/2", arithmetic="exact").mdp
    assert next(exact.transitions).probability == sp.Rational(1, 7)
    put(tmp_path, m_tra="2 3\n0 0 0.25\n0 1 0.75\n1 0 1\n")
    assert load_model(tmp_path / "m.tra", discount="1/2").arithmetic == "exact"


def test_a_row_that_is_off_by_more_is_refused_with_advice_that_works(tmp_path):
    put(tmp_path, m_tra="2 3\n0 0 0.3333333333\n0 1 0.6666666666\n1 0 1\n")
    for arithmetic in (None, "float"):
        with pytest.raises(ObliqueTDError, match="normalize=True"):
            load_model(tmp_path / "m.tra", arithmetic=arithmetic)
    whole = load_model(tmp_path / "m.tra", normalize=True, discount="1/2")
    assert whole.arithmetic == "exact"
    assert sum(whole.P_pi[0, :]) == 1
    assert load_model(tmp_path / "m.tra", tolerance=1e-9, discount="1/2").P_pi == whole.P_pi
    with pytest.raises(ObliqueTDError, match="tolerance"):
        load_model(tmp_path / "m.tra", tolerance="1e-11")


@pytest.mark.parametrize("suffix", [".tra", ".drn"])
@pytest.mark.filterwarnings("ignore::obliquetd.errors.FormatWarning")
def test_floats_come_back_as_floats(suffix, tmp_path):
    rows = [
        (0, "a", 0, 1 / 7, 0.1),
        (0, "a", 1, 6 / 7, 0.1),
        (1, "a", 0, 1, 2),
        (2, "a", 0, 1, 0.5),
    ]
    mdp = MDP.from_transitions(rows)
    save_model(
        PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0.5), tmp_path / f"m{suffix}"
    )
    again = load_model(tmp_path / f"m{suffix}").mdp
    assert again == mdp
    assert [type(r.reward) for r in again.transitions] == [type(r.reward) for r in mdp.transitions]


@pytest.mark.parametrize("word", ["NA", "null", "True", "p"])
def test_words_are_no_parameters_unless_they_are_declared(word, tmp_path):
    text = f"2 3\n0 0 {word}\n0 1 1 - {word}\n1 0 1\n".replace(" - ", "-")
    put(tmp_path, m_tra=text)
    with pytest.raises(ModelFileError, match=rf"{word} is no number.*'# parameters: {word}'"):
        load_model(tmp_path / "m.tra")
    put(tmp_path, m_tra=f"# parameters: {word}\n{text}")
    assert load_model(tmp_path / "m.tra").arithmetic == "symbolic"


# What the files cannot hold


def test_what_stays_behind_is_said_and_the_file_is_written(tmp_path):
    mdp = MDP.from_transitions([(0, "a", 1, 1, 1), (0, "b", 0, 1, 0), (1, "a", 0, 1, 0)])
    problem = PolicyEvaluation(
        mdp, target=Policy({0: {"a": 1}, 1: {"a": 1}}), behavior=Policy.uniform(mdp),
        features={0: [1], 1: [2]}, discount="9/10", xi=[1, 2],
    )  # fmt: skip
    words = "discount 9/10|features|target policy|behaviour policy|weights xi"
    for suffix in (".tra", ".drn"):
        with pytest.warns(FormatWarning, match=words) as caught:
            save_model(problem, tmp_path / f"m{suffix}")
        (said,) = caught
        assert all(word in str(said.message) for word in words.split("|"))
        again = load_model(
            tmp_path / f"m{suffix}", target=problem.target, behavior=problem.behavior,
            features=[[1], [2]], discount="9/10", xi=[1, 2],
        )  # fmt: skip
        assert again.mdp == mdp
        assert again.fixed_point("td").theta == problem.fixed_point("td").theta


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"discount": "9/10"}, "without the discount 9/10: give it again when you load the file"),
        ({"features": [[1], [2]]}, "without the features: give them again"),
        ({"xi": [1, 2]}, "without the weights xi: give them again"),
        ({"discount": "1/2", "xi": [1, 2]}, "without the discount 1/2, the weights xi: give them"),
    ],
)
def test_one_thing_left_behind_is_it_and_several_are_them(changes, words, tmp_path):
    mdp = MDP.from_transitions([(0, "a", 1, 1, 1), (1, "a", 0, 1, 0)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), **changes)
    with pytest.warns(FormatWarning, match=words):
        save_model(problem, tmp_path / "m.tra")


def test_nothing_is_said_where_nothing_stays_behind(tmp_path):
    mdp = MDP.from_transitions([(0, "a", 1, 1, 1)])
    save_model(PolicyEvaluation(mdp, target=Policy.uniform(mdp)), tmp_path / "m.tra")


@pytest.mark.parametrize("suffix", [".tra", ".drn"])
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ((1, "1"), "1 and '1' have the same text"),
        ((-3, "-3"), "same text"),
        (((1, 2), "(1, 2)"), "same text"),
        ((True, "s"), "True would be read back as 'true'"),
        ((None, "s"), "None would be read back as 'null'"),
        ((frozenset({1}), "s"), "no JSON form"),
        (((1, frozenset()), "s"), "no JSON form"),
    ],
)
@pytest.mark.filterwarnings("ignore::obliquetd.errors.FormatWarning")
def test_labels_that_could_not_be_read_back_are_refused_at_save(labels, words, suffix, tmp_path):
    s, t = labels
    mdp = MDP.from_transitions([(s, "a", t, 1, 1), (t, "a", s, 1, 0)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        save_model(problem, tmp_path / f"m{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", ["write_prism", "write_drn"])
def test_the_order_of_actions_comes_back(write, tmp_path):
    from obliquetd.formats import drn, prism

    rows = [("s", "b", "t", 1, 1), ("t", "a", "s", 1, 1), ("t", "c d", "t", 1, 1)]
    for actions in (["c d", "a", "b"], ["b", "a", "c d", "never"], [1, "b", (2, "x"), "a", "c d"]):
        mdp = MDP.from_transitions(rows, actions=actions)
        module, name = (prism, "m.tra") if write == "write_prism" else (drn, "m.drn")
        getattr(module, write)(mdp, tmp_path / name)
        assert getattr(module, write.replace("write", "read"))(tmp_path / name) == mdp
