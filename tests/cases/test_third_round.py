"""Public cases with right answers by hand: cuts and ends of logs, rare moves, aliased states, infinite noise."""

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation, load_model, replay, stability_region
from obliquetd.experiments import LoggedData
from obliquetd.learners import TD

R = sp.Rational


@pytest.mark.parametrize("first", [None, [True, True]])
def test_a_cut_inside_a_log_keeps_its_discount_and_ends_the_trace(first):
    """A -> C with reward 1, cut there; B -> end with reward 1; lambda 1, theta_C = 4, discount 1/2, alpha 1/10."""
    unit = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    log = LoggedData(
        [unit[0], unit[1]], [unit[2], [0, 0, 0]], [1, 1], ["1/2", 0], first=first or [True, True]
    )
    found = replay(log, TD("1/10", lam=1), theta0=[0, 0, 4]).theta
    assert list(found) == [R(3, 10), R(1, 10), 4]


@pytest.mark.parametrize("end", ["1,0", "1,1", "true,true"])
def test_an_end_counts_as_one_whether_or_not_time_ran_out_too(tmp_path, end):
    path = tmp_path / "log.csv"
    zero = end.replace("1", "0").replace("true", "false")
    rows = [f"A,x,B,1,{zero}", f"B,x,A,2,{end}"] * 2
    path.write_text(
        "state,action,next_state,reward,terminated,truncated\n" + "\n".join(rows) + "\n"
    )
    assert load_model(path, discount="1/2").values == {"A": 2, "B": 2}


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-200])
def test_a_hitting_probability_that_no_difference_of_floats_knows(scale):
    """a -> b 1e-12, a -> T1 1e-24, b -> a 1e-9, b -> T2 1e-30, and the rest stays."""
    ab, a1, ba, b2 = (scale * x for x in (1e-12, 1e-24, 1e-9, 1e-30))
    rows = [("a", "x", "a", 1 - ab - a1, 0), ("a", "x", "b", ab, 0), ("a", "x", "T1", a1, 0),
            ("b", "x", "b", 1 - ba - b2, 0), ("b", "x", "a", ba, 0), ("b", "x", "T2", b2, 0)]  # fmt: skip
    mdp = MDP.from_transitions(rows)
    chain = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1.0).chain
    ends = [c.states for c in chain.recurrent]
    chances = chain.absorption_probabilities[list(mdp.states).index("a")]
    # from a: T1 with a1, or back by b with ab ba / (ba + b2)
    lost = ab * (b2 / (ba + b2))
    assert chances[ends.index(("T1",))] == pytest.approx(a1 / (a1 + lost), rel=1e-13)
    assert chances[ends.index(("T2",))] == pytest.approx(lost / (a1 + lost), rel=1e-13)


def test_aliased_states_of_a_corridor():
    """Sutton and Barto, Example 13.1: right with chance p everywhere; the second state turns the two round."""
    rows = [(1, "right", 2, 1, -1), (1, "left", 1, 1, -1), (2, "right", 1, 1, -1), (2, "left", 3, 1, -1),
            (3, "right", "G", 1, -1), (3, "left", 2, 1, -1)]  # fmt: skip
    mdp = MDP.from_transitions(rows)
    p = sp.Symbol("p")
    policy = Policy({s: {"right": "p", "left": "1 - p"} for s in (1, 2, 3)})
    problem = PolicyEvaluation(
        mdp, target=policy, discount=1, start={1: 1}, features={1: [1], 2: [1], 3: [1], "G": [0]}
    )
    assert sp.simplify(problem.values[1] - (2 * p - 4) / (p * (1 - p))) == 0
    theta = problem.fixed_point("td").theta[0]
    assert (
        sp.simplify(theta - problem.values[1]) == 0
    )  # an episode is as long as -v says, and theta its mean
    assert stability_region(problem, TD(), "p") == sp.Interval.open(0, 1)


def test_noise_that_a_trace_makes_infinite():
    """One state: left -> s 9/10 with reward 1, left -> end 1/10, right -> end; target left, behaviour uniform.

    v = 9, so that delta is 1 or -9: E[(rho delta)^2] = 2 (9/10 + 81/10) = 18. The square of the trace is multiplied by
    lambda^2 4 9/20 in the mean.
    """
    rows = [
        ("s", "left", "s", "9/10", 1),
        ("s", "left", "end", "1/10", 0),
        ("s", "right", "end", 1, 0),
    ]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(
        mdp, target=Policy({"s": {"left": 1}}), behavior=Policy.uniform(mdp), discount=1, start={"s": 1},
        features={"s": [1], "end": [0]},
    )  # fmt: skip
    assert problem.values["s"] == 9
    assert otd.efficiency(problem, TD()).noise_covariance[0] == 18
    finite = [otd.efficiency(problem, TD(lam=lam)).is_finite for lam in ("74/100", "75/100")]
    assert finite == [True, False]
