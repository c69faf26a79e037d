import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.domains import baird_star, two_state
from obliquetd.errors import ModelFileError, ObliqueTDError
from obliquetd.formats import model_from_dict, model_to_dict
from obliquetd.formats.model import FIELDS
from obliquetd.formats.schema import MODEL_SCHEMA
from tests.strategies import problems

BASE = {
    "transitions": [["s", "a", "t", "1", "1"], ["s", "b", "s", 1, 0], ["t", "a", "s", "1", "1/3"]],
    "target": {"s": {"a": "1/2", "b": "1/2"}, "t": {"a": 1}},
    "discount": "9/10",
    "features": {"s": ["1"], "t": ["2"]},
}


def same(a, b):
    assert a.mdp == b.mdp
    assert a.target == b.target
    assert a.behavior == b.behavior
    assert a.discount == b.discount
    assert a.arithmetic == b.arithmetic
    for name in ("Phi", "xi"):
        left, right = getattr(a, name), getattr(b, name)
        assert np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right


@given(problems())
def test_round_trips_are_exact(problem):
    same(problem, model_from_dict(json.loads(json.dumps(model_to_dict(problem)))))


@pytest.mark.parametrize(
    "problem", [two_state("gamma", reward="r"), baird_star(), two_state(discount=0.9)], ids=str
)
def test_files_round_trip(problem, tmp_path):
    save_model(problem, tmp_path / "model.json")
    same(problem, load_model(tmp_path / "model.json"))


def test_every_documented_form_is_read():
    one = model_from_dict(BASE)
    rows = [
        dict(zip(("state", "action", "next_state", "probability", "reward"), r, strict=True))
        for r in BASE["transitions"]
    ]
    other = model_from_dict(
        {
            "transitions": rows,
            "policy": [["s", "a", "1/2"], ["s", "b", "0.5"], ["t", "a", "1"]],
            "gamma": "0.9",
            "features": [[1], [2]],
            "title": "the same",
        }
    )
    same(one, other)
    assert model_from_dict({**BASE, "target": "uniform"}).target == one.target
    fixed = model_from_dict({**BASE, "target": {"s": "a", "t": "a"}, "behavior": "uniform"})
    assert not fixed.on_policy
    assert model_from_dict(BASE, discount="1/2").discount == one.discount - 2 * one.discount / 9 * 2


def test_integer_and_tuple_labels_come_back_from_text_keys():
    data = {
        "transitions": [[0, "a", [1, 2], 1, 0], [[1, 2], "a", 0, 1, 0]],
        "target": {"0": {"a": 1}, "[1, 2]": {"a": 1}},
        "features": {"0": [1], "[1, 2]": [3]},
        "xi": [1, 1],
    }
    problem = model_from_dict(data)
    assert problem.states == (0, (1, 2))
    assert list(problem.Phi) == [1, 3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"transitions": None}, "transitions"),
        ({"transitions": {}}, "transitions"),
        ({"transitions": [["s"]]}, r"transitions\[0\]"),
        ({"transitions": [["s", "a", "t", "1", {}]]}, r"transitions\[0\]"),
        ({"transitions": [{"state": "s"}]}, r"transitions\[0\].*'action'"),
        ({"transitions": [{"state": "s", "oops": 1}]}, "'oops'"),
        ({"oops": 1}, "'oops'"),
        ({"gamma": "1/2"}, "two names"),
        ({"target": 3}, "target is 3"),
        ({"target": [["s", "a"]]}, r"target\[0\]"),
        ({"target": [["s", "a", 1], ["s", "a", 0]]}, r"target\[1\] repeats"),
        ({"target": {"s": {"a": 1}}}, "'t'"),
        ({"target": {"x": {"a": 1}}}, "'x'"),
        ({"features": 3}, "features is 3"),
        ({"features": {"s": [1]}}, "'t'"),
        ({"features": [[1], [["2", "x y"]]]}, r"features\[1\]\[0\]\[1\]"),
        ({"features": {"s": [1], "t": ["nan"]}}, r"features\['t'\]\[0\]"),
        ({"xi": {"s": 1, "t": None}}, r"xi\['t'\]"),
        ({"target": {"s": {"a": "1"}, "t": {"a": "1/0"}}}, r"target\['t'\]\['a'\].*zero"),
        ({"transitions": [["s", "a", "s", 1, True]]}, r"transitions\[0\]\[4\], the reward"),
        ({"transitions": [["s", "a", "s", "x y", 0]]}, r"transitions\[0\]\[3\], the probability"),
        ({"discount": "1/0"}, "zero"),
        ({"discount": None}, "discount"),
        ({"discount": [1]}, "discount"),
        ({"states": ["s", {}]}, r"states\[1\]"),
        ({"states": "st"}, "states"),
        ({"xi": "half"}, "xi"),
        ({"arithmetic": "fuzzy"}, "fuzzy"),
    ],
)
def test_bad_fields_are_named(change, words):
    with pytest.raises(ObliqueTDError, match=words):
        model_from_dict({**BASE, **change})


FILES = {
    "empty": b"",
    "blank": b" \n",
    "truncated": b'{"transitions": [["s", "a"',
    "list": b"[]",
    "number": b"3",
    "null": b"null",
    "nan": b'{"transitions": [["s", "a", "s", NaN, 0]]}',
    "infinity": b'{"transitions": [["s", "a", "s", 1, Infinity]]}',
    "duplicate key": b'{"transitions": [], "transitions": []}',
    "deep": b"[" * 100_000,
    "binary": b"\xff\xfe\x00",
    "no transitions": b"{}",
    "huge number": b'{"transitions": [["s", "a", "s", "1e999999999", 0]]}',
    "long integer": b'{"transitions": [["s", "a", "s", 1, ' + b"9" * 5000 + b"]]}",
    "float overflow": b'{"transitions": [["s", "a", "s", 1e999, 0]]}',
    "empty table": b'{"transitions": []}',
}


@pytest.mark.parametrize("name", FILES)
def test_malformed_files_are_one_clear_error(name, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(FILES[name])
    with pytest.raises(ObliqueTDError) as caught:
        load_model(path)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_an_unwritable_place(tmp_path):
    with pytest.raises(ModelFileError, match=r"missing\.json"):
        load_model(tmp_path / "missing.json")
    with pytest.raises(ObliqueTDError, match="cannot write"):
        save_model(two_state(), tmp_path / "no" / "such" / "folder.json")


def test_a_model_without_policies_is_uniform_and_tabular():
    problem = model_from_dict({"transitions": BASE["transitions"]})
    assert problem.on_policy
    assert problem.target == Policy.uniform(MDP.from_transitions(BASE["transitions"]))
    assert isinstance(problem, PolicyEvaluation)
    assert problem.Phi.shape == (2, 2)


# The schema


def valid(data):
    return jsonschema.Draft202012Validator(MODEL_SCHEMA).is_valid(data)


def test_the_schema_is_one_and_knows_every_field():
    jsonschema.Draft202012Validator.check_schema(MODEL_SCHEMA)
    assert set(MODEL_SCHEMA["properties"]) == set(FIELDS)


@given(problems())
def test_written_models_obey_the_schema(problem):
    assert valid(json.loads(json.dumps(model_to_dict(problem))))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"target": "uniform", "behavior": [["s", "a", "1/2"], ["s", "b", "1/2"], ["t", "a", 1]]},
        {"target": {"s": "a", "t": "a"}, "features": [[1], ["1/2"]], "xi": [1, 1], "title": "x"},
        {"states": ["s", "t"], "terminal": [], "arithmetic": "exact"},
    ],
)
def test_documented_forms_obey_the_schema(change):
    assert valid({**BASE, **change})
    model_from_dict({**BASE, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"transitions": None}, {"transitions": []}, {"transitions": [["s"]]}, {"oops": 1},
        {"transitions": [["s", "a", "s", 1, 0, 1, 1]]}, {"transitions": [["s", "a", "s", 1, {}]]},
        {"target": 3}, {"target": [["s", "a"]]}, {"features": 3}, {"discount": None},
        {"states": "st"}, {"xi": "half"}, {"arithmetic": "fuzzy"},
        {"transitions": [{"state": "s", "action": "a"}]},
    ],
)  # fmt: skip
def test_what_the_schema_refuses_the_reader_refuses(change):
    assert not valid({**BASE, **change})
    with pytest.raises(ObliqueTDError):
        model_from_dict({**BASE, **change})
