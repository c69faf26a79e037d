"""The caller's fields: the same names for every format, none ignored, each error's advice works."""

import json

import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.errors import InputError, ModelFileError, ObliqueTDError
from obliquetd.formats import model_from_dict
from obliquetd.formats.files import FORMATS, endings
from obliquetd.formats.gym import load_gym

pytestmark = pytest.mark.filterwarnings("ignore::obliquetd.errors.FormatWarning")

ENDINGS = [".json", ".npz", ".graphml", ".tra", ".drn", ".csv"]


@pytest.fixture
def files(tmp_path):
    mdp = MDP.from_transitions(
        [("s", "a", "t", 1, 1), ("s", "b", "s", 1, 0), ("t", "a", "s", 1, 0)]
    )
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), discount="9/10", features=[[1], [2]]
    )
    for ending in ENDINGS[:-1]:
        save_model(problem, tmp_path / f"m{ending}")
    (tmp_path / "m.csv").write_text(
        "state,action,next_state,reward\ns,a,t,1\nt,a,s,0\ns,b,s,0\ns,a,t,1\nt,a,s,0\ns,b,s,0\n"
    )
    return tmp_path


def test_every_format_has_one_record():
    assert list(FORMATS) == ENDINGS
    for ending, found in FORMATS.items():
        assert found.ending == ending
        assert f"``{ending}``: {found.summary}" in load_model.__doc__
    assert endings() == ".json, .npz, .graphml, .tra, .drn or .csv"
    assert endings(written=True) == ".json, .npz, .graphml, .tra or .drn"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("name", "near"),
    [("discont", "discount"), ("feature", "features"), ("behaviour", "behavior"), ("arithmatic", "arithmetic"),
     ("normalise", "normalize"), ("gama", "gamma")],
)  # fmt: skip
def test_a_misspelt_name_is_refused_with_the_nearest(ending, name, near, files):
    with pytest.raises(InputError, match=f"'{name}'; did you mean '{near}'"):
        load_model(files / f"m{ending}", **{name: "1/2"})


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_other_names_of_a_field_are_known_to_every_format(ending, files):
    half = sp.Rational(1, 2)
    path = files / f"m{ending}"
    assert (
        load_model(path, gamma="1/2").discount == load_model(path, discount=half).discount == half
    )
    only_a = load_model(path, policy={"s": "a", "t": "a"}, behavior="uniform", gamma="1/2")
    assert only_a.values["s"] == sp.Rational(4, 3)
    assert list(load_model(path, Phi=[[3], [5]], gamma=half).Phi) == [3, 5]
    assert load_model(path, features={"s": [3], "t": [5]}, gamma=half).Phi == sp.Matrix([3, 5])
    assert list(load_model(path, features=np.array([[3], [5]], dtype=object), gamma=half).Phi) == [
        3,
        5,
    ]
    assert list(load_model(path, xi={"s": 1, "t": 2}, gamma=half).xi) == [1, 2]
    with pytest.raises(InputError, match="two names for one field"):
        load_model(path, gamma="1/2", discount="1/2")


@pytest.mark.parametrize("ending", [e for e in ENDINGS if e not in (".tra", ".drn")])
def test_a_choice_of_rewards_is_refused_where_there_is_none(ending, files):
    with pytest.raises(InputError, match=r"reward='steps'.*leave it out"):
        load_model(files / f"m{ending}", reward="steps", discount="1/2")
    load_model(files / f"m{ending}", discount="1/2")


def test_a_file_still_may_not_have_both_names():
    with pytest.raises(ModelFileError, match="two names"):
        model_from_dict({"transitions": [["s", "a", "s", 1, 1]], "gamma": "1/2", "discount": "1/2"})
    with pytest.raises(ModelFileError, match="'discont'; did you mean 'discount'"):
        model_from_dict({"transitions": [["s", "a", "s", 1, 1]], "discont": "1/2"})


@pytest.mark.parametrize("ending", [".json", ".npz", ".graphml", ".tra", ".drn"])
def test_a_terminal_state_can_be_declared(ending, tmp_path):
    mdp = MDP.from_transitions([("s", "a", "end", 1, 3), ("end", "a", "end", 1, 0)])
    save_model(
        PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2"), tmp_path / f"m{ending}"
    )
    problem = load_model(tmp_path / f"m{ending}", terminal=["end"], target="uniform", discount=1)
    assert problem.mdp.terminal == ("end",)
    assert problem.values == {"s": 3, "end": 0}


def test_gymnasium_names_are_checked_the_same_way():
    pytest.importorskip("gymnasium")
    with pytest.raises(InputError, match="'discont'; did you mean 'discount'"):
        load_gym("FrozenLake-v1", discont="1/2")
    problem = load_gym("FrozenLake-v1", gamma="9/10", arithmetic="exact", normalize=True)
    assert problem.discount == sp.Rational(9, 10)


# Rounded decimals

THIRDS = [["s", "a", "s", "0.33333333", 0], ["s", "a", "t", "0.66666666", 1], ["t", "a", "s", 1, 0]]


def rounded(folder, ending):
    """A row that misses one by 1e-8 in each format, written as other tools would."""
    path = folder / f"r{ending}"
    if ending == ".json":
        path.write_text(json.dumps({"transitions": THIRDS, "discount": "1/2"}))
    elif ending == ".npz":
        P = np.array([[["0.33333333", "0.66666666"], ["1", "0"]]])
        np.savez(path, P=P, R=np.array(["0", "1"]), discount="1/2")
    elif ending == ".tra":
        path.write_text("2 3\n0 0 0.33333333\n0 1 0.66666666\n1 0 1\n")
    elif ending == ".drn":
        path.write_text(
            "@type: DTMC\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0 init\n"
            "\taction 0\n\t\t0 : 0.33333333\n\t\t1 : 0.66666666\nstate 1\n\taction 0\n\t\t0 : 1\n"
        )
    elif ending == ".graphml":
        key = '<key id="{0}" for="edge" attr.name="{0}" attr.type="string"/>'
        edge = '<edge source="{}" target="{}"><data key="probability">{}</data><data key="reward">0</data></edge>'
        path.write_text(
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
            + key.format("probability") + key.format("reward") + '<graph edgedefault="directed">'
            + '<node id="s"/><node id="t"/>' + edge.format("s", "s", "0.33333333")
            + edge.format("s", "t", "0.66666666") + edge.format("t", "s", "1") + "</graph></graphml>"
        )  # fmt: skip
    return path


@pytest.mark.parametrize("ending", [".json", ".npz", ".tra", ".drn", ".graphml"])
def test_rows_off_by_rounding_have_a_way_in(ending, tmp_path):
    path = rounded(tmp_path, ending)
    with pytest.raises(ObliqueTDError, match="normalize=True"):
        load_model(path)
    whole = load_model(path, normalize=True, discount="1/2")
    assert list(whole.P_pi[0, :]) == [
        sp.Rational(33333333, 99999999),
        sp.Rational(66666666, 99999999),
    ]
    assert load_model(path, tolerance="1e-7", discount="1/2").P_pi == whole.P_pi
    floats = load_model(path, normalize=True, discount="1/2", arithmetic="float")
    assert np.allclose(floats.P_pi[0], [1 / 3, 2 / 3])
    with pytest.raises(ObliqueTDError, match="tolerance"):
        load_model(path, tolerance=1e-9)


def test_arrays_of_single_precision(tmp_path):
    P = np.array([[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [1 / 3, 1 / 3, 1 / 3]]], dtype=np.float32)
    np.savez(tmp_path / "f.npz", P=P, R=np.ones(3), gamma=0.5)
    with pytest.raises(ObliqueTDError, match="normalize=True"):
        load_model(tmp_path / "f.npz")
    for arithmetic in (None, "float", "exact"):
        problem = load_model(tmp_path / "f.npz", normalize=True, arithmetic=arithmetic)
        assert np.allclose(np.array(problem.v_pi, dtype=float), 2)


@pytest.mark.parametrize("policy", ["target", "behavior"])
def test_policies_of_rounded_decimals(policy, tmp_path):
    data = {
        "transitions": [["s", a, "s", 1, k] for k, a in enumerate("abc")],
        "discount": "1/2",
        policy: {"s": {"a": "0.3333", "b": "0.3333", "c": "0.3333"}},
    }
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(ObliqueTDError, match="normalize=True"):
        load_model(tmp_path / "m.json")
    problem = load_model(tmp_path / "m.json", normalize=True)
    assert getattr(problem, policy)["s"]["a"] == sp.Rational(1, 3)
    assert load_model(tmp_path / "m.json", tolerance="1e-3").P_pi == problem.P_pi


def test_text_that_misses_one_by_1e_16_is_accepted_as_floats(tmp_path):
    rows = [
        ["s", "a", "s", "0.3333333333333333", 0],
        ["s", "a", "t", "0.6666666666666666", 1],
        ["t", "a", "s", 1, 0],
    ]
    (tmp_path / "m.json").write_text(json.dumps({"transitions": rows, "discount": "1/2"}))
    with pytest.raises(ObliqueTDError, match="normalize=True"):
        load_model(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json", arithmetic="float").arithmetic == "float"
    assert load_model(tmp_path / "m.json", normalize=True).P_pi[0] == sp.Rational(1, 3)


def test_a_file_of_floats_says_so_itself(tmp_path):
    rows = [
        ["s", "a", "s", "0.1", 0],
        ["s", "a", "t", "0.9000000000000001", 1],
        ["t", "a", "s", 1, 0],
    ]
    model = {"transitions": rows, "discount": 0.5, "arithmetic": "float"}
    assert model_from_dict(model).arithmetic == "float"


# Labels in files


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ([{"x": 1}], "object"),
        ({"x": 1}, "object"),
        ([[1, [{}]]], "object"),
        (float("inf"), "inf"),
        ([float("nan")], "nan"),
    ],
)
@pytest.mark.parametrize("where", ["transitions", "states", "target"])
def test_labels_that_are_no_labels(label, words, where):
    rows = [["s", "a", "s", 1, 0]]
    data = {"transitions": rows, "discount": "1/2"}
    if where == "transitions":
        data["transitions"] = [*rows, [label, "a", "s", 1, 0]]
    elif where == "states":
        data["states"] = ["s", label]
    else:
        data["target"] = [[label, "a", 1]]
    with pytest.raises(ObliqueTDError, match=words):
        model_from_dict(data)


def test_numbers_too_large_for_floats_are_refused_as_json(tmp_path):
    for text in (
        '[["s", "a", 1e999, 1, 0]]',
        '[["s", "a", "s", 1, 1e400]]',
        '[["s", "a", "s", 1, -1e400]]',
    ):
        (tmp_path / "m.json").write_text(f'{{"transitions": {text}}}')
        with pytest.raises(ModelFileError, match="too large for a float; write it as text"):
            load_model(tmp_path / "m.json")
    (tmp_path / "m.json").write_text(
        '{"transitions": [["s", "a", "s", 1, "1e400"]], "discount": "1/2"}'
    )
    assert load_model(tmp_path / "m.json").values["s"] == 2 * sp.Integer(10) ** 400
