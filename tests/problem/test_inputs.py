"""What a problem is made of: copied once, changed by replace, substituted at once, pickled."""

import copy
import itertools
import pickle
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation, errors
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.errors import (
    DiscountError,
    FeatureError,
    InputError,
    KindError,
    LabelError,
    NumberError,
    ObliqueTDError,
    ProbabilityError,
)
from obliquetd.formats import model_from_dict, model_to_dict
from tests.strategies import problems

HALF = sp.Rational(1, 2)
p, q = sp.symbols("p q")

WALK = (
    ("s", "a", "s", "2*p", 0),
    ("s", "a", "t", "1 - 2*p", 1),
    ("t", "a", "s", "1 - p", 0),
    ("t", "a", "t", "p", 0),
)


def walk(rows=WALK, **fields):
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, **{"target": Policy.uniform(mdp), "discount": HALF, **fields})


def two_policies(**fields):
    mdp = MDP.from_transitions([(s, a, a, 1, 0) for s in "xy" for a in "xy"])
    given = {"target": Policy.uniform(mdp), "discount": HALF}
    return PolicyEvaluation(mdp, **{**given, **fields})


# --- copied once ---------------------------------------------------------------------------


def twice(x):
    x *= 2


@pytest.mark.parametrize(
    ("name", "value", "change"),
    [
        ("features", [[1, 2], [3, 4]], lambda v: v[0].__setitem__(0, 9)),
        ("features", {"s": [1], "t": [2]}, lambda v: v["s"].append(7)),
        ("features", {"s": [1], "t": [2]}, lambda v: v.update(s=[5])),
        ("features", np.array([[1.0], [2.0]]), twice),
        ("features", np.array([["p"], [2]], dtype=object), lambda v: v.fill(0)),
        ("features", sp.Matrix([[1], [2]]), lambda v: v.__setitem__((0, 0), 9)),
        ("features", sparse.csr_array(np.eye(2)), lambda v: v.data.fill(9)),
        ("xi", [1, 2], lambda v: v.__setitem__(0, 9)),
        ("xi", {"s": 1, "t": 2}, lambda v: v.update(s=9)),
        ("xi", np.array([0.5, 1.5]), twice),
        ("discount", np.array(0.5), twice),
        ("target", {"s": {"a": 1}, "t": {"a": 1}}, lambda v: v.clear()),
    ],
)  # fmt: skip
def test_what_came_in_may_change_afterwards(name, value, change):
    problem = walk([(*r[:3], HALF, r[4]) for r in WALK], **{name: value})
    before = model_to_dict(problem)
    shown = problem.Phi, problem.xi, problem.discount
    change(value)
    assert model_to_dict(problem) == before
    assert model_to_dict(problem.replace()) == before
    again = problem.replace()
    assert all(
        np.all(a == b) for a, b in zip(shown, (again.Phi, again.xi, again.discount), strict=True)
    )
    if problem.symbols:
        assert problem.subs({"p": "1/4"}).Phi[0] == HALF / 2


def test_arrays_and_starts_that_came_in_may_change_afterwards():
    P, R = np.array([[[0.5, 0.5], [1.0, 0.0]]]), np.array([1.0, 0.0])
    mdp = MDP.from_arrays(P, R)
    before = mdp.to_dict()
    P *= 0
    R *= 0
    assert mdp.to_dict() == before
    layer = sparse.coo_array(([0.5, 0.5, 0.5, 0.5], ([0, 0, 1, 1], [1, 1, 0, 1])), (2, 2))
    MDP.from_arrays([layer], [0, 0])
    assert layer.nnz == 4  # nor is what came in changed
    start = {"s": 1}
    ends = walk([("s", "a", "end", 1, 1)], start=start)
    start["s"] = 0
    assert ends.start == {"s": 1}


def arrays_of(problem):
    for name in [
        "P_pi",
        "P_b",
        "r_pi",
        "L_pi",
        "xi",
        "Xi",
        "v_pi",
        "return_variance",
        "average_reward",
        "Phi",
        "C",
        "Lambda",
        "X_star",
        "Y_star",
        "f",
        "Pi",
        "best",
        "Omega_star",
        "Omega_S",
        "Omega_S_batch",
        "Omega_E",
    ]:
        yield name, lambda name=name: getattr(problem, name)
    point = problem.fixed_point("td")
    for name in ("theta", "v_hat", "X", "projection", "null_space"):
        yield f"point.{name}", lambda name=name: getattr(point, name)
    for name in ("absorption_probabilities", "absorption_times"):
        yield name, lambda name=name: getattr(problem.chain, name)
    yield "class", lambda: problem.chain.stationary_by_class[0]
    dyn = otd.mean_dynamics(problem, otd.TD())
    yield "A", lambda: dyn.A
    yield "b", lambda: dyn.b


def test_arrays_that_go_out_cannot_change_the_problem():
    problem = random_problem(3, 2, seed=4, discount=0.9)
    for name, get in arrays_of(problem):
        before = np.array(get())
        try:
            array = get()
            array *= 0
        except ValueError:
            pass
        assert (np.array(get()) == before).all(), name


def test_large_sparse_matrices_cannot_be_changed_either():
    n = 600
    ring = PolicyEvaluation.from_chain(
        sparse.csr_array((np.ones(n), (range(n), [*range(1, n), 0])), (n, n)),
        np.ones(n),
        discount=0.9,
    )
    for name in ("P_pi", "L_pi", "Phi", "Xi"):
        matrix = getattr(ring, name)
        assert not isinstance(matrix, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            matrix.data *= 0
    assert ring.v_pi == pytest.approx(10)


def test_tables_graphs_and_policies_that_go_out_are_copies_or_read_only():
    problem = walk()
    mdp, before = problem.mdp, model_to_dict(problem)
    mdp.graph.clear()
    problem.values.clear()
    problem.target["s"].clear()
    for table in (mdp.table.probability, mdp.table.reward, mdp.table.state):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0
    for proxy in (mdp.index, mdp.offered, problem.target.parsed("s")):
        with pytest.raises(TypeError):
            proxy["s"] = 0
    assert model_to_dict(problem) == before
    assert nx.number_of_nodes(mdp.graph) == 2


# --- replace -------------------------------------------------------------------------------


def test_replace_changes_what_is_named_and_nothing_else():
    problem = two_state(discount="9/10", reward=1)
    free = problem.replace(discount="gamma")
    assert free.X_star == two_state(discount="gamma", reward=1).X_star
    assert free.replace(discount="9/10").X_star == problem.X_star
    wide = problem.replace(features=[[1, 0], [0, 1]])
    assert wide.Phi == sp.eye(2)
    assert wide.replace(features=None).Phi == sp.eye(2)
    assert problem.replace(xi=[1, 2]).replace(xi=None).xi == problem.xi
    assert problem.replace(behavior=None).on_policy
    assert problem.replace(arithmetic="float").arithmetic == "float"
    assert model_to_dict(problem.replace()) == model_to_dict(problem)


def test_replace_keeps_on_policy_problems_on_policy_and_kinds_as_they_were_asked_for():
    mdp = two_policies().mdp
    onto = two_policies().replace(target=Policy.deterministic({"x": "x", "y": "x"}))
    assert onto.on_policy
    exact = two_policies(discount=0.9, arithmetic="exact")
    assert exact.replace(discount=0.8).discount == sp.Rational(4, 5)
    assert exact.replace(discount="gamma").arithmetic == "symbolic"
    floats = two_policies(arithmetic="float")
    assert floats.replace(features=[[1], [2]]).arithmetic == "float"
    with pytest.raises(KindError):
        floats.replace(discount="gamma")
    assert floats.replace(discount="gamma", arithmetic=None).arithmetic == "symbolic"
    assert two_policies().replace(mdp=mdp.with_restarts({}) if mdp.terminal else mdp).mdp == mdp


def test_replacing_the_mdp_keeps_features_by_state():
    problem = walk(
        [(*r[:3], HALF, r[4]) for r in WALK], features={"s": [1], "t": [2]}, xi={"s": 3, "t": 4}
    )
    turned = MDP.from_transitions(problem.mdp.transitions, states=["t", "s"])
    there = problem.replace(mdp=turned)
    assert (list(there.Phi), list(there.xi)) == ([2, 1], [4, 3])
    with pytest.raises(LabelError, match="'s'"):
        problem.replace(
            mdp=MDP.from_transitions([("u", "a", "u", 1, 0)]), target=Policy({"u": {"a": 1}})
        )


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"gamma": "1/2"}, InputError, "no field 'gamma'.*discount"),
        ({"discount": 2}, DiscountError, "discount is 2"),
        ({"features": [[1]]}, FeatureError, "1 rows for 2 states"),
        ({"xi": {"s": 1}}, LabelError, "'t'"),
        ({"behavior": {"s": {"a": 1}}}, LabelError, "'t'"),
    ],
)
def test_replace_checks_anew(fields, error, words):
    with pytest.raises(error, match=words):
        walk().replace(**fields)


# --- substitution --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "values", "expected"),
    [
        ("p - 2*q", {"p": "q", "q": "p"}, "q - 2*p"),
        ("p/(1 + q)", {"p": "q", "q": "p"}, "q/(1 + p)"),
        ("p*q + r", {"p": "q", "q": "r", "r": "p"}, "q*r + p"),
        ("p + 1", {"p": "p + 1"}, "p + 2"),
        ("p**2 - q", {"p": "q", "q": 4}, "q**2 - 4"),
        ("(p*q + p)/(q + 1)", {"q": -1}, "p"),  # a rational function, and equal to p
    ],
)
def test_symbols_are_replaced_at_once(formula, values, expected):
    mdp = MDP.from_transitions([("s", "a", "s", 1, formula)])
    reward = next(mdp.subs(values).transitions).reward
    assert sp.expand(sp.together(reward - sp.sympify(expected))) == 0


@pytest.mark.slow
@given(st.permutations(["p", "q", "r"]), st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_exchanging_symbols_and_then_numbers_is_numbers_exchanged(order, numbers):
    names = ["p", "q", "r"]
    problem = walk([("s", "a", "s", 1, "p + 2*q/(p + r)")], discount="1/(q + r)")
    exchanged = problem.subs(dict(zip(names, order, strict=True))).subs(
        dict(zip(names, numbers, strict=True))
    )
    direct = problem.subs({a: numbers[names.index(b)] for a, b in zip(names, order, strict=True)})
    assert exchanged.v_pi == direct.v_pi


@pytest.mark.parametrize(
    ("problem", "values", "error", "named"),
    [
        (lambda: walk([("s", "a", "s", "p/(p + q)", 0), ("s", "a", "t", "q/(p + q)", 0), ("t", "a", "s", 1, 0)]),
         {"p": 0, "q": 0}, NumberError, ["'s' -> 's'", "'s' -> 't'", "divides by zero"]),
        (walk, {"p": 2}, ProbabilityError, ["'s' -> 's'", "'s' -> 't'", "'t' -> 's'", "'t' -> 't'", "is 4", "is -3"]),
        (walk, {"p": "3/4"}, ProbabilityError, ["'s' -> 's'", "is 3/2", "'s' -> 't'", "is -1/2"]),
        (lambda: walk(discount="p/2"), {"p": 3}, ProbabilityError, ["the discount is 3/2 (p/2)", "'t' -> 't'"]),
        (lambda: walk([("s", "a", "s", 1, "1/p")], discount="p - 1/2"), {"p": 0}, NumberError,
         ["the reward of 's' -> 's'", "the discount is -1/2"]),
        (lambda: two_policies(target={"x": {"x": "p", "y": "1-p"}, "y": {"x": 1}},
                              behavior={"x": {"x": "q", "y": "1-q"}, "y": {"x": 1}}),
         {"p": -1, "q": 5}, ProbabilityError, ["target policy's probability of 'x'", "behaviour policy's probability of 'y'"]),
        (lambda: two_policies(xi=["p", "1"], features=[["1/p"], [1]]), {"p": 0}, NumberError, ["feature 0 of state 'x'"]),
        (lambda: two_policies(xi=["p", "-p/2 + 1"]), {"p": -1}, ProbabilityError, ["weight xi of state 'x' is -1 (p)"]),
    ],
)  # fmt: skip
def test_the_error_names_every_entry_that_a_substitution_breaks(problem, values, error, named):
    with pytest.raises(error, match="valid_range") as caught:
        problem().subs(values)
    for words in named:
        assert words in str(caught.value), words


def test_an_mdp_and_a_policy_name_every_entry_too():
    with pytest.raises(ProbabilityError, match=r"'s' -> 's'.*'t' -> 't'"):
        walk().mdp.subs({"p": 2})
    with pytest.raises(ProbabilityError, match=r"'a' in state 's'.*'b' in state 's'"):
        Policy({"s": {"a": "p", "b": "1 - p"}}).subs({"p": 2})


# --- the range in which a model is one --------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (walk, sp.Interval(0, HALF)),
        (lambda: walk(discount="p + 1/4"), sp.Interval(0, HALF)),
        (lambda: walk(discount="p + 3/4"), sp.Interval(0, HALF / 2)),
        (lambda: walk(discount="1/4 - p"), sp.Interval(0, HALF / 2)),
        (lambda: walk(xi=["1/3 - p", 1]), sp.Interval(0, sp.Rational(1, 3))),
        (lambda: walk(xi=["p", "2*p"]), sp.Interval.Lopen(0, HALF)),
        (lambda: walk(features=[["1/(p - 1/4)"], [1]]),
         sp.Union(sp.Interval.Ropen(0, HALF / 2), sp.Interval.Lopen(HALF / 2, HALF))),
        (lambda: two_policies(behavior={s: {"x": "p", "y": "1-p"} for s in "xy"}), sp.Interval.open(0, 1)),
        (lambda: two_policies(target={s: {"x": "p", "y": "1-p"} for s in "xy"},
                              behavior={s: {"x": "p", "y": "1-p"} for s in "xy"}), sp.Interval(0, 1)),
        (lambda: two_policies(target={s: {"x": "p**2 - 2", "y": "3 - p**2"} for s in "xy"}),
         sp.Union(sp.Interval(-sp.sqrt(3), -sp.sqrt(2)), sp.Interval(sp.sqrt(2), sp.sqrt(3)))),
        (lambda: two_policies(features=[["p"], [1]]), sp.Reals),
    ],
)  # fmt: skip
def test_the_valid_range_is_exact(problem, expected):
    found = problem().valid_range("p")
    assert found == expected
    assert problem().valid_range(p) == expected


@given(
    st.lists(st.fractions(-1, 2, max_denominator=4), min_size=8, max_size=8),
    st.sampled_from([Fraction(k, 8) for k in range(-12, 13)]),
)
def test_the_valid_range_is_where_numbers_can_be_put_in(c, value):
    try:
        problem = two_policies(
            target={
                "x": {"x": f"{c[0]} + ({c[1]})*p", "y": f"1 - {c[0]} - ({c[1]})*p"},
                "y": {"x": 1},
            },
            behavior={
                "x": {"x": f"({c[2]})*p**2", "y": f"1 - ({c[2]})*p**2"},
                "y": {"x": "p/2", "y": "1 - p/2"},
            },
            discount=f"({c[3]})/(2 + ({c[4]})*p)",
            xi=[f"({c[5]})*p", f"({c[6]}) + p"],
            features=[[f"1/(p - ({c[7]}))"], [1]],
        )
    except ObliqueTDError:  # a constant among the formulas is out of range for every p
        problem = two_policies(
            xi=[f"({c[5]})*p + 1", f"({c[6]})*p**2 + p"], discount=f"p/2 + ({c[3]})"
        )
    try:
        problem.subs({"p": value})
        inside = True
    except ObliqueTDError:
        inside = False
    assert (sp.Rational(value) in problem.valid_range("p")) == inside


def test_a_range_needs_its_symbol_alone():
    with pytest.raises(InputError, match=r"p\*q.*q beside p.*subs"):
        walk(
            [("s", "a", "s", "p*q", 0), ("s", "a", "t", "1 - p*q", 0), ("t", "a", "s", 1, 0)]
        ).valid_range("p")
    with pytest.raises(InputError, match="no symbol q"):
        walk().valid_range("q")
    apart = walk(discount="q")
    assert (apart.valid_range("p"), apart.valid_range("q")) == (
        sp.Interval(0, HALF),
        sp.Interval(0, 1),
    )


def test_the_valid_range_clips_the_stability_region():
    region = otd.stability_region(walk(features=[[1], [2]]), otd.TD(), "p")
    assert region.is_subset(sp.Interval(0, HALF))
    assert sp.Rational(1, 4) in region
    domain = sp.Interval(-1, 3)
    assert otd.stability_region(walk(features=[[1], [2]]), otd.TD(), "p", domain=domain) == region


# --- pickle and deepcopy --------------------------------------------------------------------


def kinds():
    exact = two_state(discount="9/10", reward=1)
    return {
        "exact": exact,
        "symbolic": two_state(discount="gamma", reward=1),
        "two symbols": two_state(discount="gamma", reward="r"),
        "float": two_state(discount=0.9, reward=1.0),
        "start": walk([("s", "a", "end", 1, 1)], start={"s": 1}, xi="occupancy"),
        "baird": baird_star(),
    }


@pytest.mark.parametrize("name", kinds())
@pytest.mark.parametrize("way", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("used", [False, True])
def test_problems_survive_pickle_and_copy(name, way, used):
    problem = kinds()[name]
    if used:
        _ = problem.v_pi, problem.xi, problem.fixed_point("td").theta, problem.chain.classes
    again = way(problem)
    assert model_to_dict(again) == model_to_dict(problem)
    assert again.mdp == problem.mdp
    assert again.target == problem.target
    for part in ("v_pi", "xi", "Phi"):
        assert np.all(getattr(again, part) == getattr(problem, part))
    symbol = str(problem.symbols[0]) if problem.symbols else None
    if symbol:
        assert again.subs({symbol: "1/2"}).v_pi == problem.subs({symbol: "1/2"}).v_pi


def results(problem):
    yield problem.mdp
    yield problem.mdp.table
    yield problem.target
    yield problem.inputs
    yield problem.chain
    yield problem.native
    point = (
        problem.fixed_point("setd")
        if problem.arithmetic != "symbolic"
        else problem.fixed_point("td")
    )
    _ = point.rmse
    yield point
    yield otd.compare(problem, ["td", "etd"])
    dyn = otd.mean_dynamics(problem, otd.TD())
    _ = dyn.A, dyn.stability
    yield dyn
    yield dyn.stability
    yield problem.batch_minimizers()
    if problem.arithmetic != "symbolic":
        yield otd.exact_moments(problem, otd.TD("1/100"), 2)
        yield otd.simulate(problem, [otd.TD(0.01)], 5)
        from obliquetd.report.analysis import analyze

        yield analyze(problem)
    elif len(problem.symbols) == 1:
        yield from problem.omega_cells()


@pytest.mark.parametrize("name", ["exact", "symbolic", "two symbols", "float"])
def test_results_survive_pickle_and_deepcopy(name):
    for result in results(kinds()[name]):
        for way in (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy):
            again = way(result)
            assert type(again) is type(result)
            if name in ("exact", "float") and " at 0x" not in repr(result):
                assert repr(again) == repr(result)  # sympy evaluates products when it reads them


def test_mean_dynamics_of_a_symbolic_learner_come_back():
    dyn = otd.mean_dynamics(two_state("gamma"), otd.TD(lam="l"))
    _ = dyn.A
    again = pickle.loads(pickle.dumps(dyn))
    assert again.A == dyn.A
    assert again.stability == dyn.stability


def every_error():
    def below(kind):
        yield kind
        for child in kind.__subclasses__():
            yield from below(child)

    return sorted(set(below(ObliqueTDError)), key=lambda kind: kind.__name__)


MORE = {
    "ProbabilityError": {"state": "s", "action": "a", "total": HALF},
    "CoverageError": {"pairs": [("s", "a"), ("t", "b")]},
    "ResultsError": {"path": "results/one"},
    "StationaryError": {"classes": [("a",), ("b", "c")]},
    "EpisodesEndError": {"classes": [("end",)]},
    "UndiscountedError": {"classes": [("a", "b")], "values": {"c": HALF}},
    "SingularError": {"null_vector": sp.ImmutableDenseMatrix([1, -1])},
    "NotUniqueError": {"null_vector": sp.ImmutableDenseMatrix([1, -1])},
    "NoSolutionError": {"null_vector": None},
    "UndefinedError": {"states": ["s", 1]},
    "SignUndecidedError": {"expression": p - q},
    "UnstableError": {"verdict": "marginal"},
    "HypothesisError": {"theorem": "last", "hypothesis": "step size", "value": HALF},
}


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("way", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_every_error_survives_pickle_with_its_facts(kind, way):
    """Found by listing, so that a new error is tested too; a worker's error comes home whole."""
    error = kind("the message", **MORE.get(kind.__name__, {}))
    error.add_note("a note")
    again = way(error)
    assert type(again) is kind
    assert str(again) == "the message"
    assert vars(again) == vars(error)
    for name in MORE.get(kind.__name__, {}):
        assert getattr(again, name) == getattr(error, name)


def test_every_public_error_is_listed():
    here = {kind.__name__ for kind in every_error() if kind.__module__ == errors.__name__}
    assert here | {"PrecisionWarning", "FormatWarning", "LongWorkWarning"} == set(errors.__all__)


def test_real_errors_come_back_from_another_process():
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool, pytest.raises(errors.StationaryError) as caught:
        pool.submit(_raise_several_classes).result()
    assert caught.value.classes == (("a",), ("b",))


def _raise_several_classes():
    return walk([("a", "x", "a", 1, 0), ("b", "x", "b", 1, 0)]).xi


# --- equal things hash equal -----------------------------------------------------------------


def test_equal_policies_hash_equal():
    rows = {"s": {"a": "1/2", "b": "1/2"}, "t": {"a": 1}, "u": {"b": 1}}
    for order in itertools.permutations(rows):
        other = Policy({s: dict(reversed(rows[s].items())) for s in order})
        assert other == Policy(rows)
        assert hash(other) == hash(Policy(rows))
    padded = Policy({**rows, "t": {"a": 1, "b": 0}})
    assert padded == Policy(rows)
    assert hash(padded) == hash(Policy(rows))
    assert len({Policy(rows), padded, Policy({**rows, "t": {"b": 1}})}) == 2


@given(problems())
def test_equal_models_hash_equal(problem):
    again = model_from_dict(model_to_dict(problem))
    assert again.mdp == problem.mdp
    assert hash(again.mdp) == hash(problem.mdp)
    assert again.target == problem.target
    assert hash(again.target) == hash(problem.target)
    pickled = pickle.loads(pickle.dumps(problem))
    assert hash(pickled.mdp) == hash(problem.mdp)
    assert hash(pickled.behavior) == hash(problem.behavior)


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["json", "npz", "graphml"])
@pytest.mark.parametrize("xi", [None, "occupancy", [1, 2, 3, 0]])
def test_start_and_weights_are_saved(tmp_path, ending, xi):
    rows = [(0, "a", 3, HALF, 1), (0, "a", 2, HALF, 0), (2, "a", 0, 1, 1), (1, "a", 3, 1, 2)]
    problem = walk(rows, start={0: "1/3", 1: "2/3"}, xi=xi)
    path = tmp_path / f"model.{ending}"
    otd.save_model(problem, path)
    again = otd.load_model(path)
    assert again.states == problem.states == (0, 2, 1, 3)
    assert (again.start, again.xi) == (problem.start, problem.xi)
    assert model_to_dict(again) == model_to_dict(problem)


@pytest.mark.parametrize(
    ("start", "words"),
    [([1], "start has 1 entries for 2 states"), ("s", "start is"), ({"s": "x/0"}, "start")],
)
def test_bad_starts_in_files(start, words):
    data = {"transitions": [["s", "a", "end", 1, 1]], "start": start}
    with pytest.raises(InputError, match=words):
        model_from_dict(data)
    good = model_from_dict({**data, "start": {"s": 1}})
    assert list(good.xi) == [1, 0]
