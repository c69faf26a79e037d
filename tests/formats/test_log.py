"""Logs as CSV: labels as they stand, numbers that are numbers, and no column that is ignored."""

import numpy as np
import pytest
import sympy as sp

from obliquetd import Policy, load_model
from obliquetd.errors import InputError, ModelFileError, ObliqueTDError, ProbabilityError
from obliquetd.formats import read_log

HEAD = "state,action,next_state,reward"


def put(folder, *lines, head=HEAD, mark=b""):
    path = folder / "log.csv"
    path.write_bytes(mark + "\n".join([head, *lines]).encode() + b"\n")
    return path


# Labels


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("01", "1"),
        ("-0", "0"),
        (" x", "x"),
        ("+1", "1"),
        ("1.0", "1"),
        ("1_0", "10"),
        ("x ", "x"),
        ("１", "1"),
    ],
)
def test_two_labels_are_two_states(one, other, tmp_path):
    path = put(tmp_path, f"{one},a,{other},1,0", f"{other},a,{one},0,1", head=HEAD + ",done")
    problem = load_model(path, discount="1/2")
    assert problem.states == (one, other)
    assert list(problem.v_pi) == [1, 0]


def test_plain_integers_are_integers_and_two_actions_stay_two(tmp_path):
    path = put(tmp_path, "0,01,-3,1", "-3,1,0,2", "0,1,-3,5", "-3,01,0,7")
    log = read_log(path)
    assert log.model().states == (0, -3)
    assert set(log.model().actions) == {"01", "1"}


def test_blanks_after_every_comma_of_the_first_line_are_a_style(tmp_path):
    path = put(tmp_path, "0, a, 1, 1", "1, a, 0, 2", head=HEAD.replace(",", ", "))
    assert load_model(path, discount="1/2").states == (0, 1)


def test_blanks_that_make_a_label_are_shown(tmp_path):
    with pytest.raises(ObliqueTDError, match="' 1'"):
        load_model(put(tmp_path, "0,a, 1,1", "1,a,0,2"))


def test_quoted_labels_and_line_ends_of_windows(tmp_path):
    path = put(tmp_path, '"a,b",go,"say ""x""",1\r', '"say ""x""",go,"a,b",2\r')
    assert load_model(path, discount="1/2").states == ("a,b", 'say "x"')


# Numbers


@pytest.mark.parametrize(
    "word",
    ["NA", "null", "True", "nan", "None", "", "-", "p", "1/0", "1+1", "inf", "0x10", "1,5", "١"],
)
def test_what_is_no_number_is_an_error_with_line_and_column(word, tmp_path):
    path = put(tmp_path, "S,u,S,1", f'S,d,S,"{word}"')
    with pytest.raises(ModelFileError, match=r"log\.csv:3: reward"):
        load_model(path)


@pytest.mark.parametrize("column", ["target", "behavior"])
@pytest.mark.parametrize("word", ["NA", "1.5", "-0.5", "2/1", "I", "gamma"])
def test_probabilities_are_numbers_between_0_and_1(column, word, tmp_path):
    path = put(tmp_path, "S,u,S,1,1", f"S,u,S,1,{word}", head=f"{HEAD},{column}")
    with pytest.raises(ModelFileError, match=rf"log\.csv:3: {column}"):
        read_log(path)


def test_numbers_stay_exact(tmp_path):
    path = put(tmp_path, "S,u,S,0.1", "S,u,S,1e-3", "S,u,S,-1/3", "S,u,S,+.5")
    assert [s.reward for s in read_log(path).steps] == [
        sp.Rational(1, 10), sp.Rational(1, 1000), -sp.Rational(1, 3), sp.Rational(1, 2)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("yes", "no"),
    [("1.0", "0.0"), ("1", "0"), ("True", "False"), ("yes", ""), ("T", "f"), (" 1 ", " 0")],
)
def test_truth_in_its_usual_spellings(yes, no, tmp_path):
    path = put(tmp_path, f"S,u,T,1,{no}", f"T,u,S,2,{yes}", f"S,u,T,1,{no}", head=HEAD + ",done")
    assert [step.done for step in read_log(path).steps] == [False, True, False]


def test_limits_of_time_are_no_ends(tmp_path):
    path = put(tmp_path, "S,u,T,1,1", "S,u,T,1,0", "T,u,S,2,0", head=HEAD + ",truncated")
    steps = read_log(path).steps
    assert [s.first for s in steps] == [True, True, False]
    assert not any(s.done for s in steps)
    half = sp.Rational(1, 2)
    v = load_model(path, discount=half).values
    assert (v["S"], v["T"]) == (1 + half * v["T"], 2 + half * v["S"])


@pytest.mark.parametrize("end", ["done", "terminated"])
def test_an_end_by_either_name_is_worth_nothing_more(end, tmp_path):
    path = put(tmp_path, "S,u,T,1,0,0", "T,u,S,2,1,0", head=f"{HEAD},{end},truncated")
    v = load_model(path, discount="1/2").values
    assert (v["S"], v["T"]) == (1 + sp.Rational(2, 2), 2)


def test_an_end_that_is_said_twice_is_named(tmp_path):
    path = put(tmp_path, "S,u,T,1,0,0", head=f"{HEAD},done,terminated")
    with pytest.raises(
        ModelFileError, match="columns 'done' and 'terminated', which say the same; leave"
    ):
        read_log(path)


@pytest.mark.parametrize(
    ("column", "told"),
    [("terminal", "call it 'done'"), ("timeouts", "call it 'truncated'"), ("Dones", "call it 'done'"),
     ("next_obs", "call it 'next_state'"), ("weather", "expected state")],
)  # fmt: skip
def test_an_unknown_column_is_never_taken_for_one_that_means_something_else(column, told, tmp_path):
    path = put(tmp_path, "S,u,T,1,0", head=f"{HEAD},{column}")
    with pytest.raises(ModelFileError, match=f"unknown column '{column}'; {told}"):
        read_log(path)


@pytest.mark.parametrize("word", ["2", "0.5", "maybe", "nan", "-1"])
def test_other_words_are_no_truth(word, tmp_path):
    with pytest.raises(ModelFileError, match=r"log\.csv:2: done"):
        read_log(put(tmp_path, f"S,u,S,1,{word}", head=HEAD + ",done"))


def test_a_jump_with_first_0_is_an_error(tmp_path):
    path = put(tmp_path, "S,u,T,1,1", "S,u,S,2,0", head=HEAD + ",first")
    with pytest.raises(ModelFileError, match=r"log\.csv:3 starts in 'S'.*ended in 'T'"):
        read_log(path)


# Policies that were logged

LINES = (
    "S,u,T,1,1/4,1/2",
    "T,u,S,0,1,1",
    "S,d,S,2,3/4,1/2",
    "S,u,T,1,1/4,1/2",
    "T,u,S,0,1,1",
    "S,d,S,2,3/4,1/2",
)


def test_both_policies_are_used(tmp_path):
    path = put(tmp_path, *LINES, head=HEAD + ",target,behavior")
    problem = load_model(path, discount="1/2")
    assert problem.target == Policy({"S": {"u": "1/4", "d": "3/4"}, "T": {"u": 1}})
    assert problem.behavior == Policy({"S": {"u": "1/2", "d": "1/2"}, "T": {"u": 1}})
    v = problem.values
    assert v["T"] == v["S"] / 2
    assert v["S"] == sp.Rational(1, 4) * (1 + v["T"] / 2) + sp.Rational(3, 4) * (2 + v["S"] / 2)
    assert read_log(path).problem(discount="1/2").values == v


def test_one_policy_alone(tmp_path):
    path = put(tmp_path, *(line.rpartition(",")[0] for line in LINES), head=HEAD + ",target")
    problem = load_model(path, discount="1/2")
    assert problem.target["S"]["u"] == sp.Rational(1, 4)
    assert problem.behavior == read_log(path).behavior()
    path = put(tmp_path, *(line.rpartition(",")[0] for line in LINES), head=HEAD + ",behavior")
    problem = load_model(path, discount="1/2")
    assert problem.on_policy
    assert problem.behavior["S"]["u"] == sp.Rational(1, 4)


def test_the_callers_policies_take_the_place_of_columns(tmp_path):
    path = put(tmp_path, "S,u,S,1,1/3", "S,d,S,1,1/3", head=HEAD + ",target")
    with pytest.raises(ProbabilityError, match=r"column 'target'.*'S'.*2/3.*pass target="):
        load_model(path, discount="1/2")
    assert load_model(path, discount="1/2", target="uniform").target["S"]["u"] == sp.Rational(1, 2)
    fixed = load_model(path, discount="1/2", target={"S": "u"}, behavior="uniform")
    assert fixed.target["S"] == {"u": 1}
    assert load_model(path, discount="1/2", normalize=True).target["S"]["d"] == sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("S,u,S,1,1/2", "S,u,S,1,1/3"), r"line 3.*1/3.*line 2.*1/2.*target="),
        (("S,u,S,1,1", "S,u,S,1,"), r"line 3 has no target probability"),
        (("S,u,S,1,", "S,u,S,1,1"), r"line 2 has no target probability"),
    ],
)
def test_logged_policies_that_contradict_themselves(lines, words, tmp_path):
    with pytest.raises(InputError, match=words):
        load_model(put(tmp_path, *lines, head=HEAD + ",target"), discount="1/2")


# A byte-order mark, in every format


def test_a_byte_order_mark_is_no_text(tmp_path):
    path = put(tmp_path, "S,u,S,1", mark=b"\xef\xbb\xbf")
    assert load_model(path, discount="1/2").values == {"S": 2}
    files = {
        "m.json": '{"transitions": [["S", "u", "S", 1, 1]]}',
        "m.drn": "@type: MDP\n@nr_states\n1\n@nr_choices\n1\n@model\nstate 0 [1]\n\taction u\n\t\t0 : 1\n",
        "m.tra": "1 1\n0 0 1\n",
        "m.graphml": '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="p" for="edge" '
        'attr.name="probability" attr.type="string"/><key id="r" for="edge" attr.name="reward" '
        'attr.type="string"/><graph edgedefault="directed"><node id="S"/><edge source="S" target="S">'
        '<data key="p">1</data><data key="r">1</data></edge></graph></graphml>',
    }
    for name, text in files.items():
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "m.srew").write_bytes(b"\xef\xbb\xbf1 1\n0 1\n")
    for name in files:
        assert list(load_model(tmp_path / name, discount="1/2").v_pi) == [2], name


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_other_encodings_are_named(encoding, tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes(f"{HEAD}\nä,u,ä,1\n".encode(encoding))
    with pytest.raises(ModelFileError, match=r"UTF-8|no column"):
        load_model(path)


def test_logged_numbers_reach_the_learners(tmp_path):
    from obliquetd import LoggedData

    path = put(tmp_path, "S,u,S,0.5,1/2,1/4", head=HEAD + ",target,behavior")
    data = LoggedData.from_log(read_log(path), {"S": [1]}, discount="1/2")
    assert np.array_equal(data.outcomes.rho, [2.0])
