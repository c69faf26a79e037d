"""What no update moves is no instability: verdicts, regions, limits and certificates on the span of the updates."""

import copy

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.dynamics import (
    check_certificate,
    exact_moments,
    mean_dynamics,
    stability_map,
    stability_region,
    stationary_moments,
    step_size_limit,
)
from obliquetd.dynamics.at_rest import AtRest
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.span import span_of_updates
from obliquetd.errors import (
    InputError,
    MathematicalError,
    NoSolutionError,
    NotUniqueError,
    SignUndecidedError,
)
from obliquetd.learners import ETD, GTD2, HTD, SETD, TD, TDC, TDRC, ResidualGradient
from tests.strategies import problems

R = sp.Rational
LEARNERS = [
    TD("1/4"),
    SETD("1/4"),
    ETD("1/4"),
    GTD2("1/4", 2),
    TDC("1/4", 2),
    ResidualGradient("1/4"),
]


def chain(rows, discount="1/2", features=None, xi=None):
    """One action a state; rows (s, t, p, r[, own discount])."""
    mdp = MDP.from_transitions([(s, "go", *rest) for s, *rest in rows])
    return PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=features, discount=discount, xi=xi
    )


def with_a_state_before(discount):
    """C leads into the cycle A, B and is never seen again: its weight is 0, its feature its own."""
    return chain([("A", "B", 1, 1), ("B", "A", 1, 1, 0), ("C", "A", 1, 0)], discount)


class TestStatesOfWeightZero:
    def test_the_region_is_that_of_the_states_that_are_seen(self):
        assert stability_region(with_a_state_before("g"), TD(), "g") == sp.Interval.Ropen(0, 1)

    def test_the_step_size_limit_by_hand(self):
        """theta_A += a (1 + theta_B - theta_A), then theta_B += a (1 - theta_B): |1 - a| < 1."""
        assert step_size_limit(with_a_state_before(1), TD()) == 2

    @pytest.mark.parametrize("learner", LEARNERS, ids=lambda x: x.name)
    def test_every_learner_is_stable_and_certified(self, learner):
        problem = with_a_state_before("1/2")
        dyn = mean_dynamics(problem, learner)
        assert dyn.is_stable()
        assert dyn.frozen == ("C",)
        assert dyn.stability.kernel_dimension == 1
        assert check_certificate(dyn.certificate(), problem, learner)
        assert dyn.fixed_point() == sp.Matrix([R(3, 2), 1, 0])
        assert dyn.fixed_point([5, 5, 7]) == sp.Matrix([R(3, 2), 1, 7])

    @pytest.mark.parametrize(
        "rows",
        [
            [("C", "D", 1, 0), ("D", "A", 1, 5)],
            [("C", "C", "1/2", 3), ("C", "B", "1/2", 0)],
            [("C", "A", "1/2", 1), ("C", "B", "1/2", 2), ("D", "B", 1, 0), ("E", "D", 1, 1)],
        ],
    )
    def test_more_ways_in(self, rows):
        problem = chain([("A", "B", 1, 1), ("B", "A", 1, 1, 0), *rows], "9/10")
        dyn = mean_dynamics(problem, GTD2())
        assert dyn.is_stable()
        assert set(dyn.frozen) == {row[0] for row in rows}
        assert step_size_limit(problem, TD()) > 0
        assert stationary_moments(problem, TD("1/2")).mean[0] == dyn.fixed_point()


class TestWeightsOfTheUser:
    def test_the_fixed_point_depends_on_a_weight_that_never_moves(self):
        problem = chain([(0, 1, 1, 1), (1, 0, 1, 0)], "1/2", xi=[1, 0])
        dyn = mean_dynamics(problem, TD())
        assert sp.Matrix([[1, -R(1, 2)], [0, 0]]) == dyn.A
        assert dyn.sampling == "iid"
        assert (dyn.is_stable(), dyn.frozen) == (True, (1,))
        assert dyn.fixed_point() == sp.Matrix([1, 0])
        assert dyn.fixed_point([0, 4]) == sp.Matrix([3, 4])

    def test_a_feature_that_one_unseen_state_has(self):
        problem = chain([(0, 1, 1, 1), (1, 0, 1, 0)], "1/2", [[1, 0], [1, 3]], xi=[1, 0])
        dyn = mean_dynamics(problem, TD())
        assert dyn.frozen == (1,)
        assert dyn.fixed_point([0, 2]) == sp.Matrix([2 + 6, 2])  # theta_0 = 1 + (theta_0 + 6) / 2

    def test_an_emphasis_that_is_zero(self):
        """SETD never moves in state 0, where omega is 0: U is spanned by phi_1 alone."""
        problem = chain([(0, 1, 1, 1), (1, 0, 1, 0)], "9/10", [["1", "0"], ["2", "1/10"]])
        dyn = mean_dynamics(problem, SETD())
        assert dyn.span == sp.Matrix([1, R(1, 20)])
        assert (dyn.conserved.T * dyn.span)[0] == 0
        assert dyn.is_stable()
        assert dyn.fixed_point([1, 1]) != dyn.fixed_point()
        for start in ([0, 0], [1, 1], [3, -2]):
            assert dyn.expected_update(dyn.fixed_point(start)) == sp.zeros(2, 1)
            assert dyn.conserved.T * dyn.fixed_point(start) == dyn.conserved.T * sp.Matrix(start)


class TestNothingMoves:
    @pytest.mark.parametrize(
        "problem",
        [
            chain([("s", "s", 1, 0)], "1/2", [[0]]),
            chain([(0, 1, 1, 0), (1, 1, 1, 0)], "1/2", [[1], [2]], xi=[1, 0]),
            chain([("a", "b", 1, 1), ("b", "b", 1, 0)], "1/2", [[1], [0]]),
            chain([(0, 1, 1, 0), (1, 0, 1, 0)], 1, [[1], [1]]),
        ],
        ids=[
            "zero features",
            "no error is possible",
            "it stays where features are zero",
            "no difference",
        ],
    )
    @pytest.mark.parametrize("learner", [TD("1/2"), ResidualGradient("1/2")], ids=lambda x: x.name)
    def test_is_a_verdict_of_its_own(self, problem, learner):
        dyn = mean_dynamics(problem, learner)
        assert dyn.stability.verdict == "nothing moves"
        assert not dyn.stability
        assert dyn.is_stable() is False
        assert list(dyn.fixed_point([3] * problem.Phi.shape[1])) == [3] * problem.Phi.shape[1]
        with pytest.raises(MathematicalError, match="nothing to certify"):
            dyn.certificate()
        with pytest.raises(MathematicalError, match="no update of"):
            step_size_limit(problem, learner, sampling=dyn.sampling)

    def test_it_moves_where_a_reward_alone_moves_it(self):
        problem = chain([(0, 1, 1, 1), (1, 0, 1, 1)], 1, [[1], [1]])
        dyn = mean_dynamics(problem, TD())
        assert dyn.stability.verdict == "marginal"
        with pytest.raises(NoSolutionError, match="outside its range"):
            dyn.fixed_point()
        assert dyn.certificate()["claim"] == "singular"


def test_not_unique_means_singular_on_the_span():
    problem = chain([(0, 1, 1, 0), (1, 0, 1, 0)], 1)  # tabular: only the difference is fixed
    dyn = mean_dynamics(problem, TD())
    assert dyn.stability.verdict == "marginal"
    with pytest.raises(NotUniqueError, match="many fixed points") as error:
        dyn.fixed_point()
    assert dyn.A * error.value.null_vector == sp.zeros(2, 1)


class TestRegions:
    def test_a_break_point_inside_at_which_nothing_moves(self):
        """0 -> 1 -> 1, xi = (1, 0), features 1, 2: the error is (2 g - 1) theta, gone at g = 1/2."""
        problem = chain([(0, 1, 1, 0), (1, 1, 1, 0)], "g", [[1], [2]], xi=[1, 0])
        assert stability_region(problem, TD(), "g") == sp.Interval.Ropen(0, R(1, 2))
        assert stability_region(problem, ResidualGradient(), "g") == sp.Union(
            sp.Interval.Ropen(0, R(1, 2)), sp.Interval.open(R(1, 2), 1)
        )

    @pytest.mark.parametrize("point", [R(1, 3), sp.sqrt(2) / 2, sp.cbrt(R(1, 2))])
    def test_a_drop_of_the_span_is_judged_at_the_point_itself(self, point):
        """phi_1 = (q(b), 1), phi_0 = (1, 0), q(point) = 0, xi = (0, 1), 1 -> 1: elsewhere U is one
        direction too, so that every b is stable, the root of the pivot among them."""
        minimal = sp.minimal_polynomial(point, sp.Symbol("b"))
        problem = chain([(0, 1, 1, 0), (1, 1, 1, 0)], "1/2", [[1, 0], [str(minimal), 1]], xi=[0, 1])
        region = stability_region(problem, TD(), "b", domain=sp.Interval(0, 1))
        assert region == sp.Interval(0, 1)

    @pytest.mark.parametrize("point", [R(1, 3), sp.sqrt(2) / 2])
    def test_what_is_unstable_but_at_one_point(self, point):
        """Second weight of error (g phi - phi) with A of the wrong sign wherever q(b) is not 0."""
        b = sp.Symbol("b")
        q = sp.minimal_polynomial(point, b)
        problem = chain(
            [(0, 0, 1, 0), (1, 2, 1, 0), (2, 2, 1, 0)],
            "9/10",
            [[1, 0], [0, str(q)], [0, str(2 * q)]],
            xi=["1/2", "1/2", 0],
        )
        region = stability_region(problem, TD(), "b", domain=sp.Interval(0, 1))
        assert region == sp.FiniteSet(point)

    def test_maps_are_on_the_span_too(self):
        problem = with_a_state_before("gamma")
        found = stability_map(problem, TD(lam="l"), ("gamma", "l"), ((0, 1), (0, 1)), resolution=2)
        assert found.stable == [[True, True], [True, True]]

    def test_a_class_in_place_of_a_learner_is_refused_everywhere(self):
        problem = two_state("gamma")
        for call in (
            lambda: stability_region(problem, TD, "gamma"),
            lambda: stability_map(problem, TD, ("gamma",), ((0, 1),)),
            lambda: mean_dynamics(problem, TD),
            lambda: step_size_limit(problem, TD),
            lambda: exact_moments(two_state(), TD, 1),
            lambda: stationary_moments(two_state(), TD),
        ):
            with pytest.raises(InputError, match=r"as in TD\(\)"):
                call()
        with pytest.raises(InputError, match="'td' is no learner"):
            step_size_limit(two_state(), "td")
        with pytest.raises(InputError, match="'td' is no learner"):
            stability_region(problem, "td", "gamma")


class TestCertificates:
    def test_a_basis_that_spans_less_is_refused_when_it_is_bound(self):
        """A true statement about a part of U says nothing of the learner."""
        problem = chain([(0, 0, 1, 0), (1, 1, 1, 0)], "1/2", xi=["1/2", "1/2"])
        mixed = mean_dynamics(problem, TD(), sampling="iid")
        whole = mixed.certificate()
        part = {
            "claim": "stable", "A": whole["A"], "basis": [["1"], ["0"]],
            "quotient": [[whole["A"][0][0]]], "K": [["1"]],
        }  # fmt: skip
        assert check_certificate(part)
        assert check_certificate(whole, problem, TD(), sampling="iid")
        assert not check_certificate(part, problem, TD(), sampling="iid")

    @pytest.mark.parametrize("learner", [TD(), ETD(), TDC(mu=16)], ids=lambda x: x.name)
    def test_it_speaks_of_one_problem_and_one_learner(self, learner):
        problem, other = baird_star(), baird_star(discount="98/100")
        found = mean_dynamics(problem, learner).certificate()
        assert check_certificate(found, problem, learner)
        assert not check_certificate(found, other, learner)
        assert not check_certificate(found, problem, SETD())
        doubled = copy.deepcopy(found)  # another basis of the same span, and the same A
        doubled["basis"] = [[str(2 * R(x)) for x in row] for row in found["basis"]]
        assert check_certificate(doubled, problem, learner)
        assert check_certificate(found, problem)  # with the learner that it holds
        assert not check_certificate(found, other)
        with pytest.raises(InputError, match="not exact"):
            check_certificate(found, baird_star(discount=0.99), learner)

    @pytest.mark.parametrize(
        "number", ["1e99999999", "1E9", "0x10", " 1", "1_000", "--1", "1/-2", "9" * 1_000_001, "١"]
    )
    def test_numbers_are_digits_and_of_bounded_length(self, number):
        good = mean_dynamics(two_state(), SETD()).certificate()
        assert not check_certificate({**good, "K": [[number]]})

    def test_long_numbers_are_certified(self):
        """Probabilities of 2^-2000 and 2^-8000: beyond the floats, and beyond what int() reads."""
        for bits in (2000, 8000):
            tiny = R(1, 2**bits)
            for discount in ("1/2", "9/10"):
                problem = chain(
                    [(0, 1, tiny, 1), (0, 0, 1 - tiny, 0), (1, 0, 1, 0)], discount, [[1], [2]]
                )
                dyn = mean_dynamics(problem, TD())
                found = dyn.certificate()
                assert found["claim"] == dyn.stability.verdict
                assert check_certificate(found, problem, TD())
        rare = chain([(0, 1, 1, 0), (1, 1, 1, 0)], "9/10", [[1], [2]], xi=[1, R(1, 2**8000)])
        dyn = mean_dynamics(rare, TD())
        assert dyn.certificate()["claim"] == dyn.stability.verdict == "unstable"

    def test_a_marginal_verdict_without_the_eigenvalue_0_says_so(self):
        ring = chain([(0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 1, 0)], 1, [[1, 0], [0, 1], [-1, -1]])
        dyn = mean_dynamics(ring, TD())
        if dyn.stability.verdict == "marginal":
            with pytest.raises(MathematicalError, match=r"imaginary axis"):
                dyn.certificate()
        else:
            assert check_certificate(dyn.certificate())


def test_an_undecided_verdict_is_neither_true_nor_false():
    symbolic = mean_dynamics(two_state("gamma"), TD()).stability
    with pytest.raises(SignUndecidedError, match="stability_region"):
        bool(symbolic)
    close = mean_dynamics(two_state(5 / 6), TD()).stability
    with pytest.raises(SignUndecidedError, match="exact"):
        bool(close)
    assert bool(mean_dynamics(two_state(), SETD()).stability) is True
    assert bool(mean_dynamics(two_state(), TD()).stability) is False


evaluations = problems(most_states=4, most_actions=2)
"""Chains with states that are never seen again, weights of 0, dependent features, zero discounts."""


@settings(max_examples=60, deadline=None)
@given(evaluations, st.sampled_from(LEARNERS))
def test_the_expected_update_leads_to_the_fixed_point_from_every_start(problem, learner):
    """An independent route: x <- x + step (b - A x) from theta_0, A from the rule; exact verdicts."""
    try:
        dyn = mean_dynamics(problem, learner)
        if dyn.stability.verdict not in ("stable", "nothing moves"):
            return
    except (MathematicalError, InputError):
        return
    for each in dyn.classes:  # a trajectory ends in one of them
        check_where_the_flow_leads(each, [1, -2, 3, 1, 0, 2][: problem.Phi.shape[1]])


def check_where_the_flow_leads(dyn, start):
    d = len(start)
    A, b = np.array(dyn.A, dtype=float), np.array(dyn.b, dtype=float).ravel()
    span = np.array(dyn.span, dtype=float).reshape(len(b), -1)
    x = np.array(start + [0] * (len(b) - d), dtype=float)
    conserved = np.array(dyn.conserved, dtype=float).reshape(len(b), -1)
    assert np.allclose(conserved.T @ A, 0)
    assert np.allclose(conserved.T @ b, 0)
    if span.shape[1]:
        from scipy.linalg import expm

        values = np.linalg.eigvals(A)
        slowest = min(v.real for v in values if v.real > 1e-9)
        t = 40 / slowest
        block = np.zeros((len(b) + 1, len(b) + 1))
        block[:-1, :-1], block[:-1, -1] = -A * t, b * t
        x = expm(block)[:-1] @ np.append(x, 1.0)
    assert np.array(dyn.fixed_point(start), dtype=float).ravel() == pytest.approx(x[:d], abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(evaluations, st.sampled_from(LEARNERS[:4]))
def test_simulated_updates_stay_in_the_span(problem, learner):
    """Every update that a stream of outcomes causes is orthogonal to what is conserved."""
    try:
        dyn = mean_dynamics(problem, learner)
        conserved = np.array(dyn.conserved, dtype=float)
    except (MathematicalError, InputError):
        return
    if not conserved.size:
        return
    exact_x = [1, 2, 3, 1, -1, 2, 0, 1, 5, 1, 1, 2][: dyn.span.shape[0]]
    rule = dyn.expectation.rule
    memory, arrived = [rule.zero] * rule.memory_size, None
    for sample in dyn.expectation.samples * 2:
        if arrived != sample.state:  # another episode, whose memory is empty
            memory = [rule.zero] * rule.memory_size
        arrived = sample.next_state
        update, memory = rule.run(sample, [rule.one * v for v in exact_x], memory, rewarded=True)
        assert np.allclose(conserved.T @ np.array([float(R(str(u))) for u in update]), 0)
        if not learner.has_memory:
            memory = [rule.zero] * rule.memory_size


def test_the_dynamics_in_floats_has_the_span_of_the_exact_one():
    from obliquetd.algebra import FLOAT

    for seed in range(4):
        problem = random_problem(4, 2, seed=seed)
        for learner in LEARNERS:
            exact = mean_dynamics(problem, learner)
            floats = MeanDynamics(problem, learner, None, FLOAT)
            assert exact.span.shape == floats.span.shape
            assert floats.stability.verdict == exact.stability.verdict


@pytest.mark.parametrize("arithmetic", ["exact", "float"])
@pytest.mark.parametrize("learner", [TD(), SETD(), ETD()], ids=lambda x: x.name)
def test_updates_along_one_row_of_features_are_told_once(learner, arithmetic):
    """All columns of c phi_s (phi_s - g phi_n)' are multiples of phi_s: 40 states took 12 s before."""
    problem = random_problem(10, 7, seed=2).replace(arithmetic=arithmetic)
    dynamics = mean_dynamics(problem, learner).expectation
    told = list(AtRest(dynamics.sums.products).updates())
    assert len(told) <= 10
    assert dynamics.span.dimension == 7


def deficient(seed):
    """Three features of rank 2, all of them 0 in one state."""
    problem = random_problem(4, 2, seed=seed)
    rows = [[a, b, a - b] for a, b in problem.Phi.tolist()]
    return problem.replace(features=[*rows[:-1], [0, 0, 0]])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "learner",
    [*LEARNERS, TDRC("1/4"), HTD("1/4"), TD(lam="1/2"), ETD(lam="1/3"), HTD(lam="1/2")],
    ids=str,
)
def test_the_updates_told_span_those_of_the_rule_on_numbers(learner, seed, monkeypatch):
    """The rule on numbers gives every column; the reduced basis of rationals is one and the same."""
    for problem in (random_problem(4, 3, seed=seed), deficient(seed)):
        expectation = mean_dynamics(problem, learner).expectation
        given, carried = (expectation.rule, lambda e=expectation: e.samples), expectation.carried
        told = span_of_updates(*given, carried=carried, products=expectation.sums.products)
        all_of_them = span_of_updates(*given, carried=carried)
        assert told.pivots == all_of_them.pivots
        assert told.basis.entries() == all_of_them.basis.entries()


def test_an_outcome_tells_no_more_updates_than_it_has_left_vectors(monkeypatch):
    """GTD2 moves along phi_s, phi_n and its own phi_s: 80 weights of 40 states took 74 s before."""
    problem = random_problem(6, 5, seed=3)
    sums = mean_dynamics(problem, GTD2()).expectation.sums
    outcomes = sum(len(group.outcomes) for group in sums.products.groups)
    assert len(list(AtRest(sums.products).updates())) <= 3 * outcomes


@pytest.mark.parametrize("learner", [TD(), GTD2(), TDRC(), HTD(), TD(lam=0.5)], ids=str)
def test_floats_span_all_that_rationals_do(learner):
    """The elimination of rounded vectors lost a dimension of 40 in TD, and of GTD2 it took a minute."""
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(40, 40))
    problem = random_problem(40, 1, seed=0).replace(arithmetic="float")
    for features, lost in ((phi, 0), (np.c_[phi[:, :8], np.zeros(40)], 1)):
        dynamics = mean_dynamics(problem.replace(features=features), learner)
        size = features.shape[1] - lost
        slots = dynamics.expectation.rule.size // features.shape[1]
        free = lost if isinstance(learner, TDRC) else 0  # its decay moves every secondary weight
        assert dynamics.span.shape[1] == slots * size + free
        assert dynamics.stability.verdict in ("stable", "unstable")


@pytest.mark.parametrize("learner", [TD(), GTD2(), TD(lam=0.5), ETD(lam=0.5)], ids=str)
def test_dependent_tiles_span_their_rank(learner):
    """Two tilings, whose sums are one: of 12 states a trace took 5 s, of 40 it did not end."""
    rng = np.random.default_rng(0)
    tiles = np.zeros((40, 30))
    for first in (0, 15):
        tiles[np.arange(40), first + rng.integers(15, size=40)] = 1
    problem = random_problem(40, 1, seed=0).replace(arithmetic="float", features=tiles)
    slots = 2 if learner == GTD2() else 1
    dynamics = mean_dynamics(problem, learner)
    assert dynamics.span.shape[1] == slots * np.linalg.matrix_rank(tiles)
    assert dynamics.stability.verdict == "stable"


def test_dependent_features_are_no_full_span():
    problem = random_problem(40, 1, seed=0).replace(arithmetic="float")
    phi = np.random.default_rng(0).normal(size=(40, 5))
    phi = np.c_[phi, phi[:, 0] + phi[:, 1]]
    for learner, dimension in ((TD(), 5), (GTD2(), 10)):
        assert mean_dynamics(problem.replace(features=phi), learner).span.shape[1] == dimension


@pytest.mark.parametrize(
    "learner",
    [
        TD(),
        SETD(),
        *(
            pytest.param(x, marks=pytest.mark.slow)
            for x in (GTD2(), TDRC(), HTD(), ResidualGradient(), TD(lam="1/2"))
        ),
    ],
    ids=str,
)
def test_a_span_of_formulas_is_that_of_each_value_outside_its_critical_ones(learner, monkeypatch):
    """What an outcome's formulas span is picked from them; a value at which they vanish must be told.

    No other is told than where each of its formulas is looked at, one by one.
    """
    x = sp.Symbol("x")
    base = random_problem(3, 2, seed=1, discount=R(1, 2))
    loop = chain([(0, 0, 1, x * (x - 2))], features=[[x]])
    two = chain([(0, 1, 1, x * (x - 1)), (1, 0, 1, 0)], features=[[x, x * (x + 1)], [0, 0]])
    tables = (
        [[1, 0], [x, 1], [1 - x, x]],
        [[x, x], [x**2, x], [1, 1]],
        [[x, 0], [0, x * (x - 2)], [0, 0]],
        [[1, x], [2, 2 * x], [3, 3 * x]],
        [[x - 1, x - 2], [0, 0], [0, 0]],
    )
    problems = [loop, two, *(base.replace(features=rows) for rows in tables)]
    for problem in problems:
        try:
            expectation = mean_dynamics(problem, learner).expectation
            span = expectation.span
        except SignUndecidedError:  # SETD's weights change with x
            continue
        one_by_one = span_of_updates(
            expectation.rule, lambda e=expectation: e.samples, carried=expectation.carried
        )
        assert span.dimension == one_by_one.dimension
        for value in (-1, 0, R(1, 2), 2, 3):
            at = mean_dynamics(problem.subs({x: value}), learner)
            there = at.expectation.span.dimension
            told = lost_at(span, x, value)
            assert there == span.dimension or told
            assert lost_at(one_by_one, x, value) or not told


def lost_at(span, x, value):
    """Whether a dimension may be lost where the symbol has that value."""
    parts = (p.as_expr() for c in span.critical for p in (c.numer, c.denom))
    return any(p.subs(x, value) == 0 for p in parts)


@pytest.mark.parametrize("rho", [("1/2", "3/4"), ("1/2", "1/4"), ("1/3", "3/5")])
@pytest.mark.parametrize(
    "learner", [TD(), ETD(), TD(lam="1/2"), GTD2(), TDC()], ids=lambda x: x.key
)
def test_an_outcome_that_may_move_nothing_hides_no_other_of_its_state(rho, learner):
    """Discount 1 and a loop: phi - phi' is 0 to rounding, and the state's other outcome moves along phi."""
    pi, mu = map(R, rho)
    rows = [
        ("a", "stay", "a", 1, 0),
        ("a", "go", "b", 1, 0),
        ("b", "go", "a", 1, 0),
        ("b", "end", "T", 1, 1),
    ]
    mdp = MDP.from_transitions(rows)

    def made(number):
        target, behavior = (
            Policy(
                {
                    "a": {"stay": number(p), "go": number(1 - p)},
                    "b": {"go": number(R(1, 2)), "end": number(R(1, 2))},
                }
            )
            for p in (pi, mu)
        )
        return PolicyEvaluation(
            mdp, target=target, behavior=behavior, discount=1, start={"a": 1},
            arithmetic="float" if number is float else None,
        )  # fmt: skip

    floats, exact = (mean_dynamics(made(number), learner) for number in (float, lambda x: x))
    assert floats.span.shape == exact.span.shape
    wanted = np.array(exact.fixed_point(), dtype=float).ravel()
    assert floats.fixed_point() == pytest.approx(wanted)
