"""What an error tells to write instead is written here, and works."""

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.errors import InputError
from obliquetd.plotting import projections

ROWS = [("s", "l", "s", 1, 0), ("s", "r", "end", 1, 2)]


def episodic():
    return otd.MDP.from_transitions(ROWS)


def told(what):
    with pytest.raises(InputError) as caught:
        what()
    return str(caught.value)


@pytest.mark.parametrize(
    "table", [[[0.5, 0.5], [0, 0]], np.full((2, 2), 0.5), [["1/2", "1/2"], [0, 1]]]
)
def test_a_policy_given_as_a_table(table):
    mdp = episodic()
    message = told(lambda: otd.PolicyEvaluation(mdp, target=table, discount="1/2"))
    code = message.split("for each action is ")[1]
    target = eval(code, {"Policy": otd.Policy, "mdp": mdp, "table": table})
    problem = otd.PolicyEvaluation(mdp, target=target, discount="1/2", start={"s": 1})
    assert float(problem.values["s"]) == pytest.approx(4 / 3)


@pytest.mark.parametrize("shape", [(2, 3), (2, 1)])
def test_rewards_of_actions_by_states(shape):
    actions, states = shape
    P = np.full((actions, states, states), 1 / states)
    R = np.arange(actions * states, dtype=float).reshape(shape)
    if states > 1:
        assert told(lambda: otd.MDP.from_arrays(P, R)).endswith("; give R.T")
    mdp = otd.MDP.from_arrays(P, R.T)
    assert {t.reward for t in mdp.transitions if t.state == 0} == set(R[:, 0].tolist())


def test_a_shape_that_turning_does_not_mend():
    P = np.full((2, 3, 3), 1 / 3)
    assert not told(lambda: otd.MDP.from_arrays(P, np.ones((3, 3)))).endswith("R.T")


@pytest.mark.parametrize(
    ("methods", "labels"),
    [
        ([otd.SETD()], ["SETD"]),
        (["best", otd.TD(lam="1/2")], ["orthogonal", "TD"]),
        ({"mine": {"left": 0, "right": 1}}, ["mine"]),
        ("td", ["TD"]),
    ],
)
def test_a_picture_takes_what_a_comparison_takes(methods, labels):
    problem = otd.domains.two_state("9/10", reward=1)
    found = projections(problem, methods, targets=False).get_legend_handles_labels()[1]
    assert [x.split(" ")[0] for x in found[2:]] == labels


def test_states_without_a_row_that_may_happen():
    rows = [("s", "a", "t", 0, 0), ("u", "a", "s", 1, 1)]
    message = told(lambda: otd.MDP.from_transitions(rows))
    assert "all rows of the state 's' have probability 0" in message
    assert "terminal=['s']" in message
    assert otd.MDP.from_transitions(rows, terminal=["s"]).terminal == ("s", "t")
    more = otd.MDP.from_transitions([*rows, ("s", "b", "u", 1, 1)])
    assert more.offered["s"] == ("b",)


@pytest.mark.parametrize("p", [0, 0.0, "0", "1 - 1"])
def test_however_the_zero_is_written(p):
    assert "probability 0" in told(lambda: otd.MDP.from_transitions([("s", "a", "s", p, 0)]))


def test_a_comparison_says_why_it_is_empty():
    mdp = episodic()
    problem = otd.PolicyEvaluation(mdp, target=otd.Policy.uniform(mdp), discount="1/2")
    table = otd.compare(problem)
    assert str(table).count("Pass start=") == 1
    assert "Pass start=" in table._repr_html_()
    right = problem.replace(start={"s": 1})
    assert "start=" not in str(otd.compare(right))
    assert otd.compare(right)["td"].quantities["rmse"] == 0


def test_the_trace_of_an_episodic_problem():
    mdp = otd.MDP.from_transitions(
        [("s", "l", "s", "1/4", 0), ("s", "l", "end", "3/4", 0), ("s", "r", "end", 1, 0)]
    )
    problem = otd.PolicyEvaluation(
        mdp, target=otd.Policy({"s": {"l": 1}}), behavior=otd.Policy.uniform(mdp), discount=1,
        start={"s": 1},
    )  # fmt: skip
    # F = 1 + 2 F_before where s is repeated, with chance 1/8: E F = 4/3, E F^2 = 1 + 4/8 4/3 + 4/8 E F^2
    assert list(otd.follow_on_second_moment(problem)) == [sp.Rational(10, 3), 0]


@pytest.mark.parametrize("key", ["gtd2", "tdc", "residual-gradient", "true-online-td"])
def test_the_key_of_a_learner_is_no_weighting(key):
    problem = otd.domains.two_state("9/10", reward=1)
    message = told(lambda: problem.fixed_point(key))
    code = message.split("give the learner, ")[1].split(", or one")[0]
    learner = eval(code, vars(otd.learners))
    assert problem.fixed_point(learner).theta == otd.mean_dynamics(problem, learner).fixed_point()


@pytest.mark.parametrize("key", ["GTD2", "TDC", "HTD"])
def test_nor_is_the_name_of_its_class(key):
    problem = otd.domains.two_state("9/10", reward=1)
    assert f"give the learner, {key}()" in told(lambda: problem.fixed_point(key))


def test_an_end_written_as_a_loop_is_told_under_a_comparison():
    rows = [
        ("s", "a", "t", 1, 1),
        ("t", "a", "s", "1/2", 0),
        ("t", "a", "x", "1/2", 2),
        ("x", "a", "x", 1, 0),
    ]
    mdp = otd.MDP.from_transitions(rows)
    problem = otd.PolicyEvaluation(mdp, target=otd.Policy.uniform(mdp), discount="1/2")
    assert str(otd.compare(problem)).count("terminal=['x']") == 1
    ended = otd.MDP.from_transitions(rows, terminal=["x"])
    right = otd.PolicyEvaluation(
        ended, target=otd.Policy.uniform(ended), discount="1/2", start={"s": 1}
    )
    assert "terminal=" not in str(otd.compare(right))
    assert right.fixed_point("td").values == right.values
