import networkx as nx
import numpy as np
import pytest
import sympy as sp
from hypothesis import given

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.errors import StationaryError
from tests.strategies import mdps


def problem_on(rows, **kwargs):
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", **kwargs)


def two_classes(**kwargs):
    return problem_on(
        [
            ("start", "go", "a", "1/3", 0),
            ("start", "go", "b", "2/3", 0),
            ("a", "go", "a", 1, 0),
            ("b", "go", "c", 1, 0),
            ("c", "go", "b", 1, 0),
        ],
        **kwargs,
    )


def test_classes_periods_and_one_distribution_a_class():
    chain = two_classes().chain
    found = {c.states: (c.closed, c.period) for c in chain.classes}
    assert found == {("start",): (False, 0), ("a",): (True, 1), ("b", "c"): (True, 2)}
    assert chain.transient == ("start",)
    half = sp.Rational(1, 2)
    assert [list(d) for d in chain.stationary_by_class] == [[0, 1, 0, 0], [0, 0, half, half]]


def test_several_recurrent_classes_are_an_error_that_lists_them_and_names_xi():
    problem = two_classes()
    with pytest.raises(StationaryError, match=r"\['a'\]; \['b', 'c'\].*xi=") as caught:
        _ = problem.xi
    assert caught.value.classes == (("a",), ("b", "c"))
    weighted = two_classes(xi={"start": 0, "a": 0, "b": "1/2", "c": "1/2"})
    assert weighted.Xi.trace() == 1


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_a_ring_has_its_length_as_period_and_equal_weights(n):
    problem = problem_on([(k, "go", (k + 1) % n, 1, 0) for k in range(n)])
    assert problem.chain.recurrent[0].period == n
    assert set(problem.xi) == {sp.Rational(1, n)}


@given(mdps())
def test_classes_agree_with_networkx_and_periods_with_aperiodicity(mdp):
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp))
    P = np.array(problem.P_b, dtype=float)
    graph = nx.from_numpy_array(P > 0, create_using=nx.DiGraph)
    closed = {frozenset(c) for c in nx.attracting_components(graph)}
    assert {frozenset(c.states) for c in problem.chain.recurrent} == closed
    for c in problem.chain.classes:
        inside = graph.subgraph(c.states)
        if inside.number_of_edges() == 0:
            assert c.period == 0
        else:
            assert (c.period == 1) == nx.is_aperiodic(inside)
    for d in problem.chain.stationary_by_class:
        assert d == (d.T * problem.P_b).T
        assert sum(d) == 1


def test_a_symbolic_probability_counts_as_possible():
    problem = problem_on(
        [
            ("s", "a", "s", "1-p", 0),
            ("s", "a", "t", "p", 0),
            ("t", "a", "s", "q", 0),
            ("t", "a", "t", "1-q", 0),
        ]
    )
    p, q = sp.symbols("p q")
    assert [
        sp.simplify(x - y) for x, y in zip(problem.xi, (q / (p + q), p / (p + q)), strict=True)
    ] == [0, 0]
    assert problem.subs({"p": 0, "q": 0}).chain.recurrent[1].states == ("t",)
