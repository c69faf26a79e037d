"""What is handed to a public function and is of another kind: an error of the package, and a way out."""

import pytest

import obliquetd as otd
from obliquetd.domains import two_state
from obliquetd.errors import InputError, LabelError, did_you_mean
from obliquetd.experiments import grid
from obliquetd.formats import read_log
from obliquetd.plotting import eigenvalues

PROBLEM, TD = two_state(reward=1), otd.TD("1/100")

OF_A_PROBLEM = {
    "bounds": lambda p: otd.bounds(p, TD),
    "compare": lambda p: otd.compare(p, ["td"]),
    "crossover": lambda p: otd.crossover(p, otd.LSTD(), otd.LSETD()),
    "efficiency": lambda p: otd.efficiency(p, TD),
    "exact_moments": lambda p: otd.exact_moments(p, TD, 1),
    "follow_on_second_moment": otd.follow_on_second_moment,
    "iteration": lambda p: otd.iteration(p, otd.FQI()),
    "mean_dynamics": lambda p: otd.mean_dynamics(p, TD).A,
    "projection_analysis": lambda p: otd.projection_analysis(p, "td"),
    "save_model": lambda p: otd.save_model(p, "model.json"),
    "sensitivity": lambda p: otd.sensitivity(p, "gamma"),
    "simulate": lambda p: otd.simulate(p, TD, 5),
    "stability_region": lambda p: otd.stability_region(p, TD, "gamma"),
    "stationary_moments": lambda p: otd.stationary_moments(p, TD),
    "step_size_limit": lambda p: otd.step_size_limit(p, TD),
    "sweep": lambda p: otd.sweep(p, TD, 5, 1),
}


@pytest.mark.parametrize("name", OF_A_PROBLEM)
@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        (PROBLEM.mdp, r"PolicyEvaluation\(mdp, target=..., discount=...\)"),
        ("model.json", r"read by otd.load_model\('model.json'\)"),
        (two_state, "a function has to be called"),
        (3, "otd.load_model and otd.domains make one"),
    ],
    ids=["MDP", "text", "function", "number"],
)
def test_what_is_no_problem_is_refused(name, given, way_out, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"is no problem; .*{way_out}"):
        OF_A_PROBLEM[name](given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: otd.compare(PROBLEM, ["td"], quantities=None), "quantities has None"),
        (lambda: otd.compare(PROBLEM, None), "None"),
        (lambda: otd.verify(3), r"ids is 3; expected the names of claims"),
        (lambda: otd.load_model(None), "the model is None; expected the path"),
        (lambda: otd.save_model(PROBLEM, b"x"), "the place of the model is b'x'"),
        (lambda: read_log(None), "the log is None; expected the path"),
        (lambda: otd.LoggedData.from_log(3, {}, discount=1), "expected what read_log gives"),
        (lambda: otd.MDP.from_transitions(None), "transitions is None; expected a list of rows"),
        (lambda: otd.MDP.from_graph(3), "expected a networkx MultiDiGraph"),
        (lambda: otd.MDP.from_arrays([1, 2], [1, 2]), r"P\[0\] is 1; expected a matrix"),
        (lambda: otd.Policy.uniform(PROBLEM), "is no MDP; of a problem, give problem.mdp"),
        (lambda: otd.Policy.deterministic(["a"]), r"expected \{state: action\}"),
        (lambda: PROBLEM.target.mix(None, "1/2"), "mix in is None; expected a Policy"),
        (lambda: PROBLEM.subs([1]), r"values is \[1\]; expected \{symbol: number\}"),
        (lambda: PROBLEM.replace(features=3), "features is 3; expected"),
        (lambda: grid(None, [0.1]), "None is no learner class"),
        (lambda: otd.learners.table(["td"]), "'td' is no learner class"),
        (
            lambda: otd.PolicyEvaluation(PROBLEM.mdp, PROBLEM.target, PROBLEM.behavior),
            r"2 more came without one; write PolicyEvaluation\(mdp, target=..., behavior=...",
        ),
        (
            lambda: otd.PolicyEvaluation.of_actions(PROBLEM.mdp, PROBLEM.target),
            r"1 more came without one; write PolicyEvaluation.of_actions\(mdp, target=...",
        ),
        (
            lambda: otd.PolicyEvaluation(PROBLEM.mdp, discount="1/2"),
            "target is None; expected a Policy",
        ),
        (
            lambda: eigenvalues(PROBLEM),
            r"write eigenvalues\(otd.mean_dynamics\(problem, learner\)\)",
        ),
        (
            lambda: otd.one_line_proof(otd.mean_dynamics(PROBLEM, TD)),
            r"learner\).certificate\(\) gives",
        ),
        (lambda: PROBLEM.chain.long_run_average({"up": 1}), "'up', which is no state of the chain"),
        (lambda: PROBLEM.chain.long_run_average([1]), "1 entries; the chain has 2 states"),
        (lambda: PROBLEM.chain.long_run_average(1), "1 entries; the chain has 2 states"),
    ],
)
def test_other_kinds_are_refused_by_name(call, told):
    with pytest.raises(InputError, match=told):
        call()


def test_what_is_meant_works():
    """One learner, one claim, one method, one class, and a policy of the problem's own model."""
    assert list(otd.simulate(PROBLEM, otd.TD(0.1), 10).curves) == ["TD"]
    assert [r.id for r in otd.verify("lemma-1")] == ["lemma-1"]
    assert [row.name for row in otd.compare(PROBLEM, otd.TD(), quantities=["rmse"])] == ["TD"]
    assert [e.key for e in otd.learners.table(otd.TD)] == ["td"]
    found = otd.sweep(PROBLEM, [otd.TD(0.01), otd.SETD(0.01)], 20, 2, workers=1)
    assert found.best().value == min(found.best("TD").value, found.best("SETD").value)
    assert list(PROBLEM.chain.long_run_average({"left": 2})) == [1, 1]
    eigenvalues(otd.mean_dynamics(PROBLEM, otd.TD()))
    otd.one_line_proof(otd.mean_dynamics(PROBLEM, otd.TD()).certificate())
    assert otd.Policy.uniform(PROBLEM.mdp) == otd.Policy.uniform(PROBLEM.replace().mdp)


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda: otd.verify(["lemma1"]), "lemma-1"),
        (lambda: PROBLEM.fixed_point("sedt"), "setd"),
        (lambda: PROBLEM.replace(discont=1), "discount"),
        (lambda: otd.compare(PROBLEM, ["td"], quantities=["rsme"]), "rmse"),
        (lambda: otd.compare(PROBLEM, ["td"], quantities=["rmse"])["TD"], "td"),
        (lambda: otd.simulate(PROBLEM, [TD, otd.SETD(0.1)], 5)["SEDT"], "SETD"),
        (lambda: otd.bounds(PROBLEM, TD)["trajektory"], "trajectory"),
    ],
)
def test_a_near_name_is_asked_about(call, near):
    with pytest.raises(InputError, match=f"did you mean '{near}'"):
        call()


def test_a_name_that_is_near_to_none_is_not_guessed():
    assert did_you_mean("sarsa", ["td", "setd"]) == ""
    with pytest.raises(LabelError, match=r"no method is called 'sarsa'; there are \['td'\]"):
        otd.compare(PROBLEM, ["td"], quantities=["rmse"])["sarsa"]
