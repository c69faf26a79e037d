"""A self-loop without reward that people write for the end of an episode is recognised, and the way out works."""

import pytest

from obliquetd import MDP, Policy, PolicyEvaluation, mean_dynamics
from obliquetd.errors import NotUniqueError
from obliquetd.learners import TD
from obliquetd.problem.resting import resting_remark, resting_states
from obliquetd.report.analysis import analyze

LOOP = [("a", "x", "b", 1, 0), ("b", "x", "end", 1, 1), ("end", "x", "end", 1, 0)]
FORKED = [("a", "x", "win", "1/2", 1), ("a", "x", "lose", "1/2", -1),
          ("win", "x", "win", 1, 0), ("lose", "x", "lose", "1/2", 0), ("lose", "x", "lose", "1/2", 0)]  # fmt: skip


def made(rows, discount="9/10", **fields):
    ends = fields.pop("terminal", ())
    mdp = MDP.from_transitions(rows, terminal=ends)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount, **fields)


@pytest.mark.parametrize("rows", [LOOP, LOOP[1:]])
def test_the_advice_of_the_error_is_the_way_out(rows):
    first = rows[0][0]
    with pytest.raises(NotUniqueError, match="terminal=\\['end'\\]") as caught:
        made(rows, 1).fixed_point("td")
    assert "start={state: probability}" in str(caught.value)
    problem = made(rows, 1, terminal=["end"], start={first: 1})
    assert problem.fixed_point("td").v_hat == problem.v_pi
    assert mean_dynamics(problem, TD()).fixed_point()[0] == problem.v_pi[0]


def test_it_is_a_remark_of_an_analysis():
    assert any("terminal=['end']" in remark for remark in analyze(made(LOOP)).remarks)
    assert not any(
        "terminal=" in remark for remark in analyze(made(LOOP[:2], start={"a": 1})).remarks
    )


@pytest.mark.parametrize(
    ("rows", "fields", "expected"),
    [
        (FORKED, {}, ["win", "lose"]),
        (LOOP, {"xi": [1, 1, 1]}, []),
        ([*LOOP[:2], ("end", "x", "end", 1, 1)], {}, []),
        ([*LOOP[:2], ("end", "x", "a", 1, 0)], {}, []),
        ([("s", "x", "s", 1, 0)], {}, []),
        (LOOP[:2], {"start": {"a": 1}}, []),
    ],
)
def test_what_is_taken_for_an_end(rows, fields, expected):
    problem = made(rows, **fields)
    assert resting_states(problem.native) == expected
    assert bool(resting_remark(problem.native)) == bool(expected)
