"""Kinds of question that people brought to neighbouring tools: validation, symbols, formats."""

import json
import time

import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.algebra import number_text
from obliquetd.errors import CoverageError, ProbabilityError
from obliquetd.formats import model_from_dict, model_to_dict

R = sp.Rational


def test_answers_with_thousands_of_digits_can_be_shown_and_stored(tmp_path):
    """sympy issue 24033: CPython refuses to print integers of over 4300 digits."""
    n, m = 20_000, 12_618
    a, b = R(1, 2**n), R(1, 3**m)
    mdp = MDP.from_transitions(
        [(0, "x", 0, 1 - a, 0), (0, "x", 1, a, 0), (1, "x", 0, b, 0), (1, "x", 1, 1 - b, 0)]
    )
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0)
    assert problem.xi[0] == R(2**n, 2**n + 3**m)
    assert number_text(problem.xi[0]) == "0.657856 (exact, 6021 digits)"
    assert "digits" in repr(problem.mdp) + str(problem.mdp)
    save_model(problem, tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").mdp == mdp
    from obliquetd.cli.tables import state_cells
    from obliquetd.report.analysis import analyze

    found = analyze(problem, ["td"])
    assert state_cells(found, 2)[1][1] == "~0.657856"
    assert len(json.dumps(found.to_dict(), allow_nan=False)) > 12_000


def test_a_short_row_is_refused_by_state_and_amount_and_normalised_only_on_request():
    """QuantEcon.py issue 591, prism issue 6: loose checks, and silent division by the sum."""
    short = [[["1/2", "49999/100000"], ["1/3", "2/3"]]]
    with pytest.raises(ProbabilityError, match=r"state 0.*99999/100000.*1/100000"):
        MDP.from_arrays(short, [0, 0])
    mdp = MDP.from_arrays(short, [0, 0], normalize=True)
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    assert list(problem.P_pi[0, :]) == [R(50000, 99999), R(49999, 99999)]
    assert list(problem.xi) == [R(33333, 83332), R(49999, 83332)]
    with pytest.raises(ProbabilityError, match="2/3"):
        MDP.from_arrays([[["1/3", "1/3"], [0, 1]]], [0, 0])


def test_float_rounding_is_accepted_and_read_as_what_was_meant():
    row = [0.7, 0.2, 0.1]
    assert sum(row) != 1
    mdp = MDP.from_arrays([[row, [0, 1, 0], [0, 0, 1]]], [0, 0, 0])
    exact = [r.probability for r in mdp.to_exact().transitions if r.state == 0]
    assert exact == [R(7, 10), R(1, 5), R(1, 10)]


def test_an_uncovered_action_is_named_and_harmless_zeros_are_not():
    """ai.stackexchange 42796: what the ratio is when a probability is 0."""
    mdp = MDP.from_transitions(
        [("s", a, "t", 1, 0) for a in "abc"] + [("t", a, "s", 1, 0) for a in "ab"]
    )
    target = Policy({"s": {"a": "1/2", "b": "1/2", "c": 0}, "t": {"a": 1, "b": 0}})
    behavior = Policy({"s": {"a": 1, "b": 0, "c": 0}, "t": {"a": "1/3", "b": "2/3"}})
    with pytest.raises(CoverageError, match="action 'b' in state 's'") as caught:
        PolicyEvaluation(mdp, target=target, behavior=behavior)
    assert caught.value.pairs == (("s", "b"),)


def test_a_ring_with_seven_symbols_is_one_quotient_within_seconds():
    """sympy issues 19920 and 21834: small symbolic inverses that take minutes to hours."""
    p = sp.symbols("p0:6")
    g = sp.Symbol("gamma")
    rows = [
        row
        for k in range(6)
        for row in (
            (k, 0, (k + 1) % 6, p[k], int(k == 0)),
            (k, 0, (k - 1) % 6, 1 - p[k], int(k == 0)),
        )
    ]
    mdp = MDP.from_transitions(rows, states=range(6))
    start = time.perf_counter()
    value = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=g).v_pi[0]
    assert time.perf_counter() - start < 30
    assert {str(s) for s in value.free_symbols} == {"gamma", *(f"p{k}" for k in range(6))}
    numerator, denominator = sp.fraction(value)
    assert numerator.is_polynomial()
    assert denominator.is_polynomial()
    point = dict(zip(p, map(R, ("1/2", "1/3", "1/5", "2/7", "3/11", "5/13")), strict=True)) | {
        g: R(9, 10)
    }
    assert value.subs(point) == R(89185072, 31080181)
    forward = sp.factor(value.subs(dict.fromkeys(p, 1)))
    assert sp.simplify(forward - 1 / (1 - g**6)) == 0


@pytest.mark.parametrize("name", ["gamma", "beta", "lambda", "S", "N", "E", "I", "Q", "O", "zeta"])
def test_names_of_special_functions_and_keywords_are_plain_symbols(name):
    """sympy issues 24113 and 9253: 'beta' is a function and 'lambda' an error."""
    data = {
        "transitions": [
            ["u", "x", "u", f"1 - {name}", 1], ["u", "x", "v", name, 1],
            ["v", "x", "u", "q", 0], ["v", "x", "v", "1 - q", 0],
        ],
        "discount": "9/10",
    }  # fmt: skip
    problem = model_from_dict(data)
    assert {str(s) for s in problem.symbols} == {name, "q"}
    assert problem.xi[0].subs({sp.Symbol(name): R(1, 2), sp.Symbol("q"): R(1, 4)}) == R(1, 3)
    assert problem.subs({name: "1/2", "q": "1/4"}).v_pi[0] == R(130, 31)
    again = model_from_dict(json.loads(json.dumps(model_to_dict(problem))))
    assert again.mdp == problem.mdp


def test_frozen_lake_rows_listed_twice_are_added_and_thirds_are_thirds():
    """gym issue 1935: bumping into a wall lists one next state twice, as floats."""
    gymnasium = pytest.importorskip("gymnasium")
    values = {}
    for lake in (["SF", "HG"], None):
        for slippery in (True, False):
            env = gymnasium.make("FrozenLake-v1", desc=lake, map_name="4x4", is_slippery=slippery)
            mdp = MDP.from_gymnasium(env)
            common = {"target": Policy.uniform(mdp), "arithmetic": "exact"}
            values[lake is None, slippery] = PolicyEvaluation(mdp, discount=1, **common).v_pi[0]
            if lake is None and slippery:
                near = PolicyEvaluation(mdp, discount="99/100", **common).v_pi[0]
                assert float(near) == pytest.approx(0.012356137325, abs=1e-12)
            elif slippery:
                first = [r.probability for r in mdp.to_exact().transitions if r[:2] == (0, 0)]
                assert first == [R(2, 3), R(1, 3)]
    assert values[False, True] == values[False, False] == R(1, 3)
    assert values[True, True] == values[True, False] == R(483, 34649)


def test_six_parallel_transitions_survive_every_round_trip():
    """networkx issue 827: parallel edges lost their keys, so actions vanished."""
    data = {
        "states": ["s", "t"],
        "gamma": "1/2",
        "transitions": [
            ["s", "a", "t", "1", "1"], ["s", "b", "t", "2/3", "3"], ["s", "b", "s", "1/3", "0"],
            ["t", "a", "t", "1/2", "0"], ["t", "b", "s", "1", "0"], ["t", "a", "s", "1/2", "2"],
        ],
        "policy": {"s": {"a": "1/4", "b": "3/4"}, "t": {"a": "1/2", "b": "1/2"}},
    }  # fmt: skip
    problem = model_from_dict(data)
    assert problem.P_pi == sp.Matrix([[R(1, 4), R(3, 4)], [R(3, 4), R(1, 4)]])
    assert list(problem.r_pi) == [R(7, 4), R(1, 2)]
    assert list(problem.v_pi) == [R(11, 4), R(7, 4)]
    for mdp in (
        MDP.from_graph(problem.mdp.graph),
        MDP.from_json(problem.mdp.to_json()),
        model_from_dict(model_to_dict(problem)).mdp,
    ):
        assert mdp == problem.mdp
        assert mdp.graph.number_of_edges() == 6
