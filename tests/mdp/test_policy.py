import pickle

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.errors import CoverageError, InputError, LabelError, NumberError, ProbabilityError
from tests.strategies import mdps

p = sp.Symbol("p")


def test_makers_agree():
    mdp = MDP.from_transitions(
        [("s", "l", "s", 1, 0), ("s", "r", "t", 1, 0), ("t", "l", "s", 1, 0)]
    )
    assert Policy.uniform(mdp)["s"] == {"l": sp.Rational(1, 2), "r": sp.Rational(1, 2)}
    assert Policy.uniform(mdp)["t"] == {"l": 1}
    assert Policy.deterministic({"s": "l"}) == Policy({"s": {"l": 1, "r": 0}})


@given(mdps(), st.integers(0, 99))
def test_random_policies_are_valid_repeatable_and_full(mdp, seed):
    pi = Policy.random(mdp, seed)
    assert pi == Policy.random(mdp, seed)
    assert set(pi) == set(sparse := Policy.random(mdp, seed, full=False, largest=1))
    assert set(pi) == {s for s in mdp.states if s not in mdp.terminal}
    for s, offered in mdp.offered.items():
        if not offered:
            continue
        assert sum(pi[s].values()) == 1
        assert set(pi[s]) == set(offered)
        assert all(x > 0 for x in pi[s].values())
    assert all(sum(sparse[s].values()) == 1 for s in sparse)


def test_mix_is_the_convex_combination():
    a, b = Policy({"s": {"l": "1/4", "r": "3/4"}}), Policy.deterministic({"s": "l"})
    assert a.mix(b, 0) == a
    assert a.mix(b, 1) == b
    assert a.mix(b, "1/2")["s"] == {"l": sp.Rational(5, 8), "r": sp.Rational(3, 8)}
    symbolic = a.mix(b, "p")["s"]
    assert sp.expand(symbolic["l"] - (sp.Rational(1, 4) * (1 - p) + p)) == 0
    with pytest.raises(LabelError, match="'t'"):
        a.mix(Policy.deterministic({"s": "l", "t": "l"}), "1/2")
    with pytest.raises(ProbabilityError):
        a.mix(b, 3)


def test_symbols_are_substituted_and_checked_again():
    policy = Policy({"s": {"l": "p", "r": "1-p"}})
    assert policy.symbols == {p}
    assert policy.subs({p: sp.Rational(1, 3)})["s"]["r"] == sp.Rational(2, 3)
    with pytest.raises(ProbabilityError, match="'r'"):
        policy.subs({"p": 2})


def test_floats_become_the_fractions_they_stand_for():
    assert Policy({"s": {"a": 0.7, "b": 0.2, "c": 0.1}}).to_exact()["s"] == {
        "a": sp.Rational(7, 10), "b": sp.Rational(1, 5), "c": sp.Rational(1, 10),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ({"s": {"a": "1/2"}}, ProbabilityError, "'s'.*1/2"),
        ({"s": {"a": -1, "b": 2}}, ProbabilityError, "'s'.*'a'.*-1"),
        ({"s": {}}, ProbabilityError, "no action"),
        ({"s": "a"}, InputError, "deterministic"),
        ({"s": {"a": float("nan")}}, NumberError, "'a' in state 's'"),
        ({"s": {"a": "1/0"}}, NumberError, "zero"),
        ([1, 2], InputError, "mapping"),
    ],
)
def test_bad_policies(rows, error, words):
    with pytest.raises(error, match=words):
        Policy(rows)


def test_normalize_only_when_asked():
    assert Policy({"s": {"a": 1, "b": 3}}, normalize=True)["s"]["b"] == sp.Rational(3, 4)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"a": 0.3333333333, "b": 0.6666666666},
            r"sum to 0\.99999999(99|98999999), off by 1e-10; expected 1",
        ),
        ({"a": 0.5, "b": 0.50000001}, "sum to 1.00000001, off by 1e-08; expected 1"),
        ({"a": "1/3", "b": "2/3 + 1/10**9"}, "sum to 1000000001/1000000000, off by 1/1000000000;"),
        ({"a": "p", "b": "1 - 2*p"}, r"sum to 1 - p, off by -p; expected 1"),
    ],
)
def test_a_sum_near_one_is_told_in_full_with_what_it_misses(row, words):
    with pytest.raises(ProbabilityError, match=rf"{words}.*normalize=True\) \(--normalize on"):
        Policy({"s": row})
    rows = [("s", "a", k, p, 0) for k, p in row.items()]
    with pytest.raises(ProbabilityError, match=rf"{words}.*normalize=True \(--normalize on"):
        MDP.from_transitions(rows)


def test_symbols_put_in_one_by_one_may_pass_where_together_they_divide_by_zero():
    policy = Policy({"s": {"a": "p/(p + q)", "b": "q/(p + q)"}})
    with pytest.raises(NumberError, match="divides by zero"):
        policy.subs({"p": 0, "q": 0})
    assert dict(policy.subs({"q": 0}).subs({"p": 0})["s"]) == {"a": 1, "b": 0}


@given(mdps(), st.lists(st.integers(0, 2), min_size=20, max_size=20), st.booleans())
def test_rows_that_states_share_mean_what_their_copies_mean(mdp, chosen, backwards):
    """Shared rows are read once and numbered; the problem is that of a row for each state."""
    made = [Policy.uniform(mdp), Policy.random(mdp, 1), Policy.random(mdp, 2)]
    pool: dict = {}
    rows = {}
    states = [s for s in mdp.states if s not in mdp.terminal]
    for state, k in zip(states, chosen, strict=False):
        row = dict(made[k][state])
        rows[state] = pool.setdefault(repr(row), row)
    if backwards:
        rows = dict(reversed(rows.items()))
    shared, copies = Policy(rows), Policy({s: dict(row) for s, row in rows.items()})
    assert shared == copies
    assert list(shared) == list(rows)
    numbers = shared.row_numbers(states)
    for i, s in enumerate(states):
        for j, t in enumerate(states):
            assert (numbers[i] == numbers[j]) == (rows[s] is rows[t])
    assert shared.row_numbers(["nowhere"]).tolist() == [-1]
    of_shared, of_copies = (PolicyEvaluation(mdp, target=x, discount=0) for x in (shared, copies))
    assert of_shared.P_pi == of_copies.P_pi
    assert of_shared.r_pi == of_copies.r_pi


@given(mdps())
def test_what_states_offer_is_told_by_their_rows(mdp):
    choices, each = mdp.offers
    assert len(set(choices)) == len(choices)
    for i, s in enumerate(mdp.states):
        taken = {row.action for row in mdp.transitions if row.state == s}
        assert mdp.offered[s] == choices[each[i]] == tuple(a for a in mdp.actions if a in taken)
    assert mdp.terminal == tuple(s for s in mdp.states if not mdp.offered[s])


def test_where_every_state_is_terminal_the_uniform_policy_is_empty():
    mdp = MDP.from_arrays([[[0, 0], [0, 0]]], [0, 0])
    assert mdp.terminal == (0, 1)
    assert len(Policy.uniform(mdp)) == 0


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_a_shared_row_that_one_state_does_not_offer_is_named_there(order):
    mdp = MDP.from_transitions(
        [(s, a, s, 1, 0) for s in range(4) for a in ("l", "r") if (s, a) != (2, "r")]
    )
    half = {"l": "1/2", "r": "1/2"}
    with pytest.raises(LabelError, match=r"takes action 'r' in state 2, which offers \['l'\]"):
        PolicyEvaluation(mdp, target=Policy(dict.fromkeys(order, half)))
    some = {s: half for s in order if s != 2}
    with pytest.raises(LabelError, match=r"says nothing of state 2, which offers \['l'\]"):
        PolicyEvaluation(mdp, target=Policy(some))
    with pytest.raises(LabelError, match="no state 'x'"):
        PolicyEvaluation(mdp, target=Policy({**some, "x": half}))


@given(mdps(), st.integers(0, 100))
def test_every_pair_that_the_behaviour_does_not_cover_is_named(mdp, seed):
    rng = np.random.default_rng(seed)

    def some():
        """One of the actions with chance 1, or all alike."""
        return {
            s: dict.fromkeys(offered, sp.Rational(1, len(offered)))
            if rng.random() < 0.5
            else {offered[rng.integers(len(offered))]: 1}
            for s, offered in mdp.offered.items()
            if offered
        }

    target, behavior = some(), some()
    missing = [
        (s, a) for s, row in target.items() for a in mdp.offered[s]
        if row.get(a, 0) and not behavior[s].get(a, 0)
    ]  # fmt: skip
    fields = {"target": Policy(target), "behavior": Policy(behavior), "discount": 0}
    if not missing:
        PolicyEvaluation(mdp, **fields)
        return
    with pytest.raises(CoverageError) as caught:
        PolicyEvaluation(mdp, **fields)
    assert list(caught.value.pairs) == missing


def test_a_uniform_policy_is_the_mapping_that_says_the_same():
    mdp = MDP.from_arrays(np.full((2, 3, 3), 1 / 3), np.zeros(3))
    uniform, told = Policy.uniform(mdp), Policy({s: {0: "1/2", 1: "1/2"} for s in range(3)})
    for same in (uniform, pickle.loads(pickle.dumps(uniform))):
        assert same == told
        assert hash(same) == hash(told)
        assert (list(same), len(same), 2 in same, 3 in same) == ([0, 1, 2], 3, True, False)
        assert same.states == told.states == mdp.states
        assert dict(same[1]) == dict(told[1])
        assert same.mix(told, "1/3") == told
