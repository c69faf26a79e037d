"""Certificates hold their model, learner and version, and the matrix can be made again from what they hold."""

import dataclasses
import json

import pytest

from obliquetd import (
    FQI,
    MDP,
    Policy,
    PolicyEvaluation,
    check_certificate,
    iteration,
    mean_dynamics,
)
from obliquetd.domains import baird_star, two_state
from obliquetd.dynamics.check import check_certificate as check_proof
from obliquetd.dynamics.provenance import HELD, missing
from obliquetd.errors import InputError, LearnerError
from obliquetd.formats import model_from_dict
from obliquetd.learners import ETD, LEARNERS, SETD, TD, TDRC, Learner, Nothing, WeightedTD, emphases
from obliquetd.learners.record import learner_from_dict, learner_to_dict

PROOF = ("claim", "A", "basis", "quotient", "K", "rate", "vector")
ALIVE = two_state("3/5", reward=1)


def stored(certificate):
    """As it comes back from a file."""
    return json.loads(json.dumps(certificate, allow_nan=False))


@pytest.mark.parametrize("key", LEARNERS)
def test_the_matrix_is_made_again_from_what_a_certificate_holds(key):
    found = stored(mean_dynamics(ALIVE, LEARNERS[key]()).certificate())
    model = model_from_dict(found["model"])
    assert check_certificate(found, model)
    assert found["learner"]["key"] == key
    assert missing(found) == []
    other = {**found["model"], "features": [["1"], ["3"]]}
    assert not check_certificate(found, model_from_dict(other))


@pytest.mark.parametrize(
    "learner",
    [
        TD(lam="1/3"), SETD(cap=2, ratios="capped"), SETD(omega="expected"), TDRC(mu=2, kappa="1/5"),
        ETD(beta="1/4", interest={"left": 1, "right": 2}), WeightedTD(emphasis={"left": 1, "right": "19/2"}),
    ],
    ids=lambda x: x.label,
)  # fmt: skip
def test_settings_come_back(learner):
    told = stored(learner_to_dict(learner))
    again = learner_from_dict(told)
    assert type(again) is type(learner)
    assert learner_to_dict(again) == told
    assert mean_dynamics(ALIVE, again).A == mean_dynamics(ALIVE, learner).A
    found = stored(mean_dynamics(ALIVE, learner).certificate())
    assert check_certificate(found, model_from_dict(found["model"]))


def test_a_step_size_does_not_matter():
    assert learner_to_dict(TD("1/7")) == learner_to_dict(TD())


def test_the_sampling_is_that_of_the_certificate():
    """Independent transitions have no trace: ETD is TD there, and on a trajectory it is not."""
    found = mean_dynamics(ALIVE, ETD(), sampling="iid").certificate()
    assert found["sampling"] == "iid"
    assert check_certificate(found, ALIVE)
    assert not check_certificate({**found, "sampling": "trajectory"}, ALIVE)
    assert not check_certificate(found, ALIVE, sampling="trajectory")


@pytest.mark.parametrize("said", ["nonsense", "", 3, ["iid"]])
def test_a_sampling_that_there_is_not_is_refused_by_name(said):
    found = {**mean_dynamics(ALIVE, TD()).certificate(), "sampling": said}
    with pytest.raises(InputError, match="sampled by") as caught:
        check_certificate(found, ALIVE)
    assert repr(said) in str(caught.value)
    assert check_certificate(found, ALIVE, sampling="iid")


def test_an_old_certificate_still_proves_and_says_what_it_lacks():
    found = mean_dynamics(baird_star(), TD()).certificate()
    old = {k: found[k] for k in PROOF if k in found}
    assert check_proof(old)
    assert check_certificate(old, baird_star(), TD())
    assert missing(old) == list(HELD.values())
    with pytest.raises(InputError, match=r"does not say of which learner .* format 1"):
        check_certificate(old, baird_star())


@dataclasses.dataclass(frozen=True)
class Own(Learner):
    """TD with a key that is another learner's."""

    alpha: object = None
    key, rule = "etd", TD.rule
    weights, memory, numbers = TD.weights, TD.memory, Nothing


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (WeightedTD(emphasis=emphases.omega_star), "its emphasis, which is a function"),
        (Own(), "no rule of the package"),
    ],
    ids=["a function", "a rule"],
)
def test_what_data_cannot_tell_is_said(learner, words):
    told = learner_to_dict(learner)
    assert any(words in text for text in told["untold"])
    with pytest.raises(LearnerError, match=words):
        learner_from_dict(stored(told))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "is an object"),
        ({"key": "td"}, "is an object"),
        ({"key": "tdd", "settings": {}}, "did you mean 'td'"),
        ({"key": "td", "settings": {"mu": "1"}}, "no setting 'mu'"),
        ({"key": "weighted-td", "settings": {"emphasis": [["left"]]}}, "pairs of a state"),
    ],
)
def test_what_is_no_learner_is_refused(data, words):
    with pytest.raises(LearnerError, match=words):
        learner_from_dict(data)


def test_labels_that_json_cannot_hold_are_said():
    name = {"left": frozenset([1]), "right": frozenset([2])}
    rows = [(name[s], a, name[t], p, r) for s, a, t, p, r, _ in ALIVE.mdp.transitions]
    moves = {name[s]: dict(ALIVE.target[s].items()) for s in name}
    odd = PolicyEvaluation(
        MDP.from_transitions(rows), target=Policy(moves), features=[[1], [2]], discount="3/5"
    )
    found = stored(mean_dynamics(odd, TD()).certificate())
    assert found["model"] is None
    assert "the model" in missing(found)
    assert check_proof(found)


def test_an_iteration_holds_its_model():
    found = stored(iteration(ALIVE, FQI()).certificate())
    assert model_from_dict(found["model"]).mdp == ALIVE.mdp
    assert found["format"] == 2
    assert missing(found) == []
    assert missing({**found, "iteration": None}) == ["the iteration"]
