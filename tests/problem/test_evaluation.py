"""The definitions, on worked numbers, on random problems, and in three arithmetics."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.errors import (
    CoverageError,
    DiscountError,
    FeatureError,
    InputError,
    KindError,
    LabelError,
    NoSolutionError,
    NotUniqueError,
    NumberError,
    ProbabilityError,
    SingularError,
    SizeError,
    StationaryError,
    UndefinedError,
    UndiscountedError,
)
from tests.strategies import problems

gamma = sp.Symbol("gamma")
HALF = sp.Rational(1, 2)
TOLERANCE = 1e-9


def column(*entries):
    return sp.ImmutableDenseMatrix(list(map(sp.sympify, entries)))


class TestTwoStates:
    """Worked by hand from the definitions, discount 9/10."""

    problem = two_state(discount="9/10", reward=1)

    def test_chains(self):
        assert self.problem.P_pi == sp.Matrix([[0, 1], [0, 1]])
        assert self.problem.P_b == sp.Matrix([[HALF, HALF], [HALF, HALF]])
        assert self.problem.xi == column(HALF, HALF)
        assert self.problem.Xi == sp.diag(HALF, HALF)
        assert self.problem.L_pi == sp.Matrix([[1, "-9/10"], [0, "1/10"]])

    def test_values(self):
        assert self.problem.r_pi == column(1, 1)
        assert self.problem.v_pi == column(10, 10)
        assert self.problem.values == {"left": 10, "right": 10}
        # C = 5/2, Phi' Xi v = 15, so theta = 6
        assert self.problem.best == column(6, 12)
        assert self.problem.return_variance == column(0, 0)

    def test_the_papers_matrices(self):
        assert self.problem.X_star == column(HALF, "29/2")
        assert self.problem.Y_star == column(1, 29)
        assert self.problem.f == column(HALF, "19/2")
        assert self.problem.Omega_S == sp.diag(0, 10)
        assert self.problem.Omega_E == sp.diag(1, 19)
        assert self.problem.Omega_star == sp.diag(1, "29/2")
        assert sp.Matrix([["5/2"]]) == self.problem.C
        assert self.problem.Lambda == column("-4/5", "1/5")
        assert self.problem.Pi == sp.Matrix([["1/5", "2/5"], ["2/5", "4/5"]])

    def test_table_1(self):
        table = otd.compare(self.problem, ["setd", "etd", "td"])
        values = {r.name: (r.quantities["criterion"], r.quantities["distance"]) for r in table}
        assert values == {
            "setd": (sp.Rational(1, 4), sp.sqrt(82) / 2),
            "etd": (sp.Rational(81, 100), sp.Rational(9, 2)),
            "td": (sp.Rational(729, 100), sp.Rational(27, 2)),
        }

    def test_fixed_points_by_hand(self):
        """A theta = b with A = X' Lambda and b = X' r: td -1/5 and 3/2, setd 2 and 10, etd 17/5, 39/2."""
        expected = {"td": "-15/2", "setd": 5, "etd": "195/34", "best": 6, "rg": "-15/17"}
        for name, theta in expected.items():
            assert self.problem.fixed_point(name).theta == column(theta), name


def test_closed_forms_in_the_discount():
    problem = two_state(discount=gamma, reward="r")
    r = sp.Symbol("r")
    assert problem.X_star[0] == HALF
    assert sp.simplify(problem.X_star[1] - (2 + gamma) / (2 * (1 - gamma))) == 0
    assert problem.v_pi[0] == -r / (gamma - 1)
    assert problem.fixed_point("td").theta[0] == -3 * r / (6 * gamma - 5)
    assert problem.Omega_star[1, 1] == sp.factor(-(gamma + 2) / (2 * (gamma - 1)))
    assert problem.Omega_S == sp.diag(sp.Max(0, -1 / (2 * gamma - 1)), -1 / (gamma - 1))


def test_answers_in_symbols_are_single_factored_quotients():
    problem = random_problem(4, 2, seed=9, discount=gamma)
    for x in [
        *problem.v_pi,
        *problem.X_star,
        *problem.fixed_point("td").theta,
        *problem.Omega_star,
    ]:
        numerator, denominator = sp.fraction(x)
        assert x == sp.factor(x)
        assert sp.gcd(sp.Poly(numerator, gamma), sp.Poly(denominator, gamma)).degree() == 0


def relative_gap(a, b):
    a, b = (np.array(x, dtype=float).ravel() for x in (a, b))
    return np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0))


NAMES = (
    "P_pi",
    "P_b",
    "r_pi",
    "L_pi",
    "xi",
    "v_pi",
    "X_star",
    "C",
    "Lambda",
    "f",
    "return_variance",
)


@given(problems())
def test_exact_symbolic_and_float_answers_agree(exact):
    """Off-policy, stochastic, reducible, periodic, with restarts: three arithmetics, one answer."""
    symbolic = exact.replace(discount="gamma")
    floats = exact.replace(discount=float(exact.discount))
    assert (exact.arithmetic, symbolic.arithmetic, floats.arithmetic) == (
        "exact",
        "symbolic",
        "float",
    )
    at = {gamma: exact.discount}
    for name in NAMES:
        value = getattr(exact, name)
        assert isinstance(value, sp.ImmutableDenseMatrix)
        assert getattr(symbolic, name).subs(at) == value, name
        assert relative_gap(value, getattr(floats, name)) < TOLERANCE, name
    substituted = symbolic.subs({"gamma": exact.discount})
    assert substituted.arithmetic == "exact"
    assert substituted.v_pi == exact.v_pi
    for method in ("td", "rg", "etd", "best"):
        try:
            point = exact.fixed_point(method)
        except (NotUniqueError, NoSolutionError) as error:
            with pytest.raises(type(error)):
                symbolic.subs({"gamma": exact.discount}).fixed_point(method)
            continue
        if abs(float((point._X.T @ exact.native.Lambda).frobenius_squared())) < 1e-6:
            continue
        try:
            other = floats.fixed_point(method)
        except SingularError:  # floats may not tell a nearly singular system from a singular one
            continue
        if other.accuracy is None or other.accuracy.condition < 1e6:
            assert relative_gap(point.v_hat, other.v_hat) < 1e-6, method


@given(problems())
def test_definitions(problem):
    """Each matrix by its defining equation, not by the route that computed it."""
    P_gamma = sp.zeros(len(problem.states))
    for row in problem.mdp.transitions:
        i, j = problem.mdp.index[row.state], problem.mdp.index[row.next_state]
        discount = row.discount * problem.discount
        if row.next_state in problem.mdp.terminal:
            discount = 0
        P_gamma[i, j] += problem.target[row.state].get(row.action, 0) * row.probability * discount
    assert problem.L_pi == sp.eye(len(problem.states)) - P_gamma
    assert problem.L_pi * problem.v_pi == problem.r_pi
    assert problem.L_pi.T * problem.X_star == problem.Xi * problem.Phi
    assert problem.L_pi.T * problem.f == problem.xi
    assert problem.Lambda.T * problem.X_star == problem.C
    assert all(sum(problem.P_pi[i, :]) == 1 for i in range(len(problem.states)))
    try:
        Pi, best = problem.Pi, problem.best
    except NotUniqueError:
        return
    assert Pi * Pi == Pi
    assert problem.Xi * Pi == (problem.Xi * Pi).T
    assert problem.Phi.T * problem.Xi * (problem.v_pi - best) == sp.zeros(problem.Phi.cols, 1)


def test_rationals_stay_rationals():
    problem = random_problem(3, 2, seed=1)
    for name in ("P_pi", "xi", "v_pi", "X_star", "Omega_S", "Omega_S_batch", "Omega_E"):
        assert all(x.is_Rational for x in getattr(problem, name)), name


def test_float_vectors_have_one_axis_and_large_sparse_chains_stay_sparse():
    small = two_state(discount=0.9)
    assert small.v_pi.shape == small.xi.shape == (2,)
    assert small.X_star.shape == (2, 1)
    assert isinstance(small.P_pi, np.ndarray)
    n = 3000
    rows = [(s, 0, (s + 1) % n, 1, float(s == 0)) for s in range(n)]
    mdp = MDP.from_transitions(rows)
    ring = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0.99)
    for matrix in (ring.P_pi, ring.L_pi, ring.Xi, ring.Phi):
        assert not isinstance(matrix, np.ndarray)
        assert matrix.nnz <= 2 * n
    assert "v_pi" not in ring.accuracy
    _ = ring.v_pi
    assert ring.accuracy["v_pi"].residual < 1e-14


class TestRankDeficientFeatures:
    def test_bairds_star(self):
        """8 features on 7 states: the projector, v_hat and errors exist; theta is in the row space."""
        problem = baird_star()
        assert problem.Phi.shape == (7, 8)
        assert problem.Phi.rank() == 7
        assert problem.Pi == sp.eye(7)
        assert problem.best == problem.v_pi == sp.zeros(7, 1)
        null = problem.Phi.nullspace()[0]
        for method in ("td", "rg", "setd", "etd", "best"):
            point = problem.fixed_point(method)
            assert point.v_hat == sp.zeros(7, 1)
            assert (null.T * point.theta)[0] == 0
            assert point.rmse == point.rmspbe == 0
            assert point.projection == sp.eye(7)

    @pytest.mark.parametrize("seed", range(4))
    def test_a_repeated_feature_changes_no_value(self, seed):
        base = random_problem(4, 2, seed=seed)
        Phi = base.Phi.row_join(base.Phi[:, 0] - 2 * base.Phi[:, 1])
        wide = PolicyEvaluation(
            base.mdp, target=base.target, behavior=base.behavior, features=Phi, discount="9/10"
        )
        floats = PolicyEvaluation(
            base.mdp,
            target=base.target,
            behavior=base.behavior,
            features=np.array(Phi, dtype=float),
            discount=0.9,
        )
        assert wide.Pi == base.Pi
        for method in ("td", "rg", "etd", "best"):
            one, other = base.fixed_point(method), wide.fixed_point(method)
            assert other.v_hat == one.v_hat
            assert other.projection == one.projection
            assert (Phi.nullspace()[0].T * other.theta)[0] == 0
            assert relative_gap(one.v_hat, floats.fixed_point(method).v_hat) < TOLERANCE
            assert relative_gap(one.projection, floats.fixed_point(method).projection) < TOLERANCE

    def test_any_number_of_corners_and_a_symbol(self):
        for corners in (1, 2, 5):
            problem = baird_star(discount=gamma, corners=corners)
            assert set(problem.xi) == {sp.Rational(1, corners + 1)}
            assert problem.fixed_point("td").v_hat == sp.zeros(corners + 1, 1)

    @pytest.mark.parametrize("arithmetic", ["exact", "float"])
    def test_features_that_are_all_zero(self, arithmetic):
        mdp = MDP.from_transitions([("s", "a", "s", 1, 1)])
        problem = PolicyEvaluation(
            mdp, target=Policy.uniform(mdp), features=[[0]], discount="1/2", arithmetic=arithmetic
        )
        table = otd.compare(problem)
        assert all(row.quantities["rmse"] == 2 and not row.problems for row in table)
        assert list(problem.best) == [0]


class TestTransientStates:
    rows = (
        ("t", "a", "s", 1, 5),
        ("s", "a", "s", "1/2", 1),
        ("s", "a", "u", "1/2", 0),
        ("u", "a", "s", 1, 2),
    )

    def make(self, **kwargs):
        mdp = MDP.from_transitions(self.rows)
        return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10", **kwargs)

    def test_x_star_exists_and_y_star_does_not(self):
        problem = self.make()
        assert problem.xi[0] == 0
        assert problem.X_star[0, 0] == 0
        for name in ("Y_star", "Omega_E"):
            with pytest.raises(UndefinedError, match="'t'") as caught:
                getattr(problem, name)
            assert caught.value.states == ("t",)

    def test_tabular_values_of_unvisited_states_are_said_to_be_open(self):
        problem = self.make()
        for method in ("td", "setd", "etd", "best"):
            point = problem.fixed_point(method)
            assert point.undetermined == ("t",)
            assert [point.values[s] for s in "su"] == [problem.values[s] for s in "su"]
            assert point.rmse == 0
        assert problem.best_undetermined == ("t",)

    def test_what_is_open_is_settled_by_the_least_theta(self):
        point = self.make(features={"t": [1, 1, 1], "s": [0, 1, 2], "u": [0, 1, 3]}).fixed_point(
            "td"
        )
        assert point.undetermined == ("t",)
        assert point.rmse == 0
        assert point.theta[0] == 0  # e_1 is the free direction
        tied = self.make(features={"t": [1, 1], "s": [1, 2], "u": [1, 2]}).fixed_point("td")
        assert tied.undetermined == ("t",)
        assert 2 * tied.theta[0] == tied.theta[1]  # orthogonal to the free direction (2, -1)

    def test_the_null_vector_in_the_error_moves_a_visited_state(self):
        features = {"t": [1, 0, 0], "s": [0, 1, 2], "u": [0, 1, 3]}
        with pytest.raises(NotUniqueError) as caught:
            self.make(features=features).fixed_point(X=[[0, 0, 0], [0, 0, 0], [0, 1, 1]])
        assert caught.value.null_vector[0] == 0
        assert any(caught.value.null_vector)

    def test_features_that_tie_the_state_to_visited_ones_determine_it(self):
        point = self.make(features={"t": [1], "s": [1], "u": [2]}).fixed_point("td")
        assert point.undetermined == ()


class TestUndiscounted:
    def test_endless_reward_is_an_error_with_the_finite_values(self):
        mdp = MDP.from_transitions(
            [
                ("a", "x", "b", 1, -1),
                ("b", "x", "a", 1, -1),
                ("c", "x", "T", 1, -1),
                ("d", "x", "a", 1, 0),
            ]
        )
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1)
        with pytest.raises(UndiscountedError, match=r"\['a', 'b'\]") as caught:
            _ = problem.v_pi
        assert caught.value.values == {"c": -1, "T": 0}
        with pytest.raises(SingularError, match="L_pi is singular") as singular:
            _ = problem.replace(xi=[1] * 5).X_star
        assert problem.L_pi.T * singular.value.null_vector == sp.zeros(5, 1)

    def test_an_absorbing_state_without_reward_is_worth_nothing(self):
        mdp = MDP.from_transitions(
            [("s", "x", "end", "1/2", 3), ("s", "x", "s", "1/2", 1), ("end", "x", "end", 1, 0)]
        )
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1)
        assert problem.values == {"s": 4, "end": 0}
        # the return is 3 plus a geometric number of loops, of variance (1/2) / (1/2)^2
        assert problem.return_variance == column(2, 0)
        floats = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1.0)
        assert floats.v_pi == pytest.approx([4, 0])

    def test_declared_terminal_states(self):
        rows = [("s", "x", "end", 1, 3), ("end", "x", "end", 1, 0)]
        mdp = MDP.from_transitions(rows, terminal=["end"])
        assert mdp.terminal == ("end",)
        assert PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1).values == {
            "s": 3,
            "end": 0,
        }

    def test_a_termination_inside_a_loop_is_enough(self):
        mdp = MDP.from_transitions([("s", "x", "s", "1/2", 1, 1), ("s", "x", "s", "1/2", 1, 0)])
        assert PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1).values == {"s": 2}

    @pytest.mark.parametrize("gap", [2.0**-52, 2.0**-50, 1e-15])
    def test_floats_next_to_one_keep_their_digits(self, gap):
        floats = PolicyEvaluation.from_chain([[0, 1.0], [1.0, 0]], [1.0, 1], discount=1 - gap)
        exact = floats.replace(discount=Fraction(1 - gap), arithmetic="exact")
        for quantity in ("v_pi", "X_star", "f"):
            wanted = np.array(getattr(exact, quantity), dtype=float)
            assert getattr(floats, quantity).ravel() == pytest.approx(wanted.ravel(), rel=1e-12)

    def test_a_discount_that_no_float_tells_from_one_is_not_said_to_be_one(self):
        near = "0." + 20 * "9"
        floats = PolicyEvaluation.from_chain([[1]], [1], discount=near, arithmetic="float")
        with pytest.raises(UndiscountedError, match="floats do not tell from 1") as caught:
            _ = floats.v_pi
        assert "with discount 1 " not in str(caught.value)
        exact = floats.replace(arithmetic="exact")  # the way out that is named
        assert exact.v_pi[0] == 10**20

    @pytest.mark.parametrize("leave", [1e-15, 2.0**-50, 1e-300])
    def test_a_state_that_is_rarely_left_is_left(self, leave):
        rows = [("s", "x", "s", 1 - leave, 1.0), ("s", "x", "end", leave, 1.0)]
        mdp = MDP.from_transitions(rows)
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1.0, start={"s": 1})
        assert problem.v_pi[0] == pytest.approx(1 / leave, rel=1e-12)
        visits = problem.native.occupancy.public_vector()
        assert visits[0] == pytest.approx(1 / leave, rel=1e-12)
        chain = problem.replace(start=None).target_chain
        assert chain.absorption_probabilities[0] == pytest.approx([1.0])
        assert chain.absorption_times[0] == pytest.approx(1 / leave, rel=1e-12)

    def test_chances_far_below_the_rounding_of_a_row_are_told_apart(self):
        rows = [
            ("a", "x", "a", 1 - 3e-20, 0),
            ("a", "x", "T1", 1e-20, 0),
            ("a", "x", "T2", 2e-20, 0),
        ]
        mdp = MDP.from_transitions(rows)
        chain = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1.0).chain
        assert sorted(chain.absorption_probabilities[0]) == pytest.approx([1 / 3, 2 / 3], rel=1e-14)

    @pytest.mark.parametrize("kind", [str, float])
    def test_a_closed_class_whose_mean_reward_is_zero_has_a_limit(self, kind):
        P, r = [["1/2", "1/2"], ["1/4", "3/4"]], ["2", "-1"]
        if kind is float:
            P, r = [[0.5, 0.5], [0.25, 0.75]], [2.0, -1.0]
        problem = PolicyEvaluation.from_chain(P, r, discount=kind(1))
        with pytest.raises(UndiscountedError, match="mean of 0") as caught:
            _ = problem.v_pi
        told = str(caught.value).split("tend to ")[1]
        assert told == ("0: 8/3, 1: -4/3" if kind is str else "0: 2.66667, 1: -1.33333")
        if kind is str:
            values = problem.replace(discount="gamma").v_pi
            limits = [sp.limit(v, sp.Symbol("gamma"), 1, "-") for v in values]
            assert limits == [sp.Rational(8, 3), sp.Rational(-4, 3)]

    def test_a_limit_is_told_where_every_endless_class_has_one(self):
        """Periodic, with a class beside it that collects reward, and without."""
        rows = [("a", "x", "b", 1, 1), ("b", "x", "a", 1, -1), ("c", "x", "T", 1, 4)]
        beside = [("d", "x", "d", 1, 1)]
        for more, word in (([], "tend to a: 1/2, b: -1/2"), (beside, "is not finite")):
            mdp = MDP.from_transitions(rows + more)
            problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1)
            with pytest.raises(UndiscountedError, match=word) as caught:
                _ = problem.v_pi
            assert caught.value.values == {"c": 4, "T": 0}

    @pytest.mark.parametrize("one", [1, 1.0, "1"])
    def test_one_is_said_to_be_one(self, one):
        loop = PolicyEvaluation.from_chain([[1]], [1], discount=one)
        with pytest.raises(UndiscountedError, match="with discount 1 the closed class"):
            _ = loop.v_pi


class TestUniqueWeights:
    @pytest.mark.parametrize("arithmetic", ["exact", "float"])
    @pytest.mark.parametrize(
        ("features", "free"),
        [
            ([[1], [2]], 0),
            ([[1, 1], [2, 2]], 1),
            ([[1, 2, 0], [2, 4, 0]], 2),
            ([[1, 0], [0, 1]], 0),
            ([[1, 0, 1], [0, 1, 1]], 1),
            ([[0], [0]], 1),
        ],
    )
    def test_a_fixed_point_says_when_weights_are_not_unique(self, features, free, arithmetic):
        problem = two_state("1/2", reward=1).replace(features=features, arithmetic=arithmetic)
        for method in ("td", "etd", "rg", "best"):
            point = problem.fixed_point(method)
            assert point.is_unique == (free == 0)
            assert point.null_space.shape == (len(features[0]), free)
            assert (f"not unique: {free} free" in repr(point)) == bool(free)
            A = np.array(point.X, dtype=float).reshape(2, -1).T @ np.array(
                problem.Lambda, dtype=float
            )
            null = np.array(point.null_space, dtype=float)
            assert np.abs(A @ null).max(initial=0) < 1e-12
            assert np.linalg.matrix_rank(null) == free if free else True
            assert np.linalg.matrix_rank(A) == len(features[0]) - free

    def test_unvisited_states_of_their_own_features_are_free(self):
        problem = TestTransientStates().make()
        point = problem.fixed_point("td")
        assert not point.is_unique
        assert list(point.null_space) == [1, 0, 0]
        both = problem.replace(features=[[1, 0, 1], [0, 1, 0], [0, 2, 0]]).fixed_point("td")
        assert both.null_space.shape == (3, 2)  # one direction no state sees, one only t does
        tied = problem.replace(features=[[1], [1], [2]]).fixed_point("td")
        assert tied.is_unique

    def test_symbols(self):
        free = two_state("gamma").replace(features=[["a", 1], [2, "2/a"]])
        assert free.fixed_point("td").null_space.shape == (2, 1)
        assert two_state("gamma").fixed_point("td").is_unique


def simple(**changes):
    mdp = MDP.from_transitions(
        [("s", "a", "t", 1, 1), ("s", "b", "s", 1, 0), ("t", "a", "s", 1, 0)]
    )
    given = {"target": Policy.uniform(mdp), "discount": "1/2", "features": {"s": [1], "t": [2]}}
    return PolicyEvaluation(mdp, **{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"discount": 2}, DiscountError, "2"),
        ({"discount": -0.1}, DiscountError, "-0.1"),
        ({"discount": "1/0"}, NumberError, "discount.*zero"),
        ({"discount": float("nan")}, NumberError, "discount.*nan"),
        ({"features": {"s": [1]}}, FeatureError, "'t'"),
        ({"features": {"s": [1], "t": [2, 3]}}, FeatureError, "'t' has 2 entries"),
        ({"features": {"s": [1], "t": [2], "u": [3]}}, LabelError, "'u'"),
        ({"features": [[1]]}, FeatureError, "1 rows for 2 states"),
        ({"features": [[], []]}, FeatureError, "empty"),
        ({"features": {"s": [float("inf")], "t": [1]}}, NumberError, "feature 0 of state 's'"),
        ({"target": Policy({"s": {"a": 1}})}, LabelError, "'t'"),
        ({"target": Policy({"s": {"a": 1}, "t": {"a": 1}, "u": {"a": 1}})}, LabelError, "'u'"),
        ({"target": Policy({"s": {"c": 1}, "t": {"a": 1}})}, LabelError, "'c'"),
        ({"target": Policy({"s": {"a": 1}, "t": {"b": 1}})}, LabelError, "'b' in state 't'"),
        ({"target": 3}, InputError, "target is 3"),
        ({"behavior": Policy({"s": {"b": 1}, "t": {"a": 1}})}, CoverageError, "'a' in state 's'"),
        ({"xi": [1]}, InputError, "1 weights for 2 states"),
        ({"xi": {"s": 1}}, LabelError, "'t'"),
        ({"xi": {"s": -1, "t": 2}}, ProbabilityError, "'s'.*-1"),
        ({"xi": [0, 0]}, ProbabilityError, "zero"),
        ({"discount": "g", "features": {"s": [0.5], "t": [1]}}, KindError, "features.*discount"),
        ({"arithmetic": "exact", "discount": "g"}, KindError, "g.*discount"),
        ({"arithmetic": "float", "discount": "g"}, KindError, "g"),
        ({"arithmetic": "fuzzy"}, KindError, "fuzzy"),
    ],
)
def test_bad_problems_are_refused_with_place_and_value(changes, error, words):
    with pytest.raises(error, match=words):
        simple(**changes)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda p: p.fixed_point("sarsa"), InputError, "'sarsa'.*td"),
        (lambda p: p.fixed_point(), InputError, "exactly one"),
        (lambda p: p.fixed_point("td", X=[1, 1]), InputError, "exactly one"),
        (lambda p: p.fixed_point(X=[1, 2, 3]), FeatureError, "3 rows for 2 states"),
        (lambda p: p.fixed_point(X=[[1], [1, 2]]), FeatureError, "ragged"),
        (lambda p: p.fixed_point(Omega=[[1, 1], [0, 1]]), InputError, r"Omega\[0, 1\] is 1"),
        (lambda p: p.fixed_point(Omega={"s": 1}), FeatureError, "'t'"),
        (lambda p: p.fixed_point(X=[0, 0]), NotUniqueError, "many solutions"),
        (lambda p: p.rmse([1]), FeatureError, "1 rows"),
    ],
)
def test_bad_requests(call, error, words):
    with pytest.raises(error, match=words):
        call(simple())


def test_all_errors_are_the_packages_own():
    for error in (CoverageError, NotUniqueError, SizeError, StationaryError, LabelError):
        assert issubclass(error, otd.ObliqueTDError)


def test_many_and_no_solutions_are_different_answers():
    with pytest.raises(NotUniqueError, match="many") as many:
        two_state(discount="5/6").fixed_point("td")
    assert many.value.null_vector == column(1)
    with pytest.raises(NoSolutionError, match="no solution"):
        two_state(discount="5/6", reward=1).fixed_point("td")


def test_floats_become_the_fractions_they_stand_for_only_when_asked():
    given_ = {"discount": 0.9, "features": {"s": [0.1], "t": [1 / 3]}}
    assert simple(**given_).arithmetic == "float"
    exact = simple(**given_, arithmetic="exact")
    assert exact.discount == sp.Rational(9, 10)
    assert list(exact.Phi) == [sp.Rational(1, 10), sp.Rational("0.3333333333333333")]
    symbolic = simple(discount="g", features={"s": [0.1], "t": [1]}, arithmetic="symbolic")
    assert symbolic.Phi[0] == sp.Rational(1, 10)


@pytest.mark.parametrize("seed", range(20))
def test_normalised_float_rows_can_be_read_exactly(seed):
    """Their decimals miss one by rounding; the exact row sums to one and is as near as floats are."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(5))
    mdp = MDP.from_transitions(
        [("s", "a", i, float(w), 0) for i, w in enumerate(weights)]
        + [(i, "a", "s", 1, 0) for i in range(5)]
    )
    exact = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", arithmetic="exact")
    row = [r.probability for r in exact.mdp.transitions if r.state == "s"]
    assert sum(row) == 1
    assert [float(p) for p in row] == pytest.approx(list(weights), rel=1e-14)


def test_exact_arithmetic_refuses_floats_beside_exact_numbers_that_do_not_sum_to_one():
    rows = [("s", "a", "s", 0.5, 0), ("s", "a", "t", "499/1000", 0), ("t", "a", "s", 1, 0)]
    with pytest.raises(ProbabilityError, match="normalize=True"):
        MDP.from_transitions(rows)
    mdp = MDP.from_transitions(rows, normalize=True)
    assert PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), discount="1/2", arithmetic="exact"
    ).P_pi[0, :].tolist() == [[sp.Rational(500, 999), sp.Rational(499, 999)]]


def test_coverage_lists_every_pair_and_zero_over_zero_is_harmless():
    mdp = MDP.from_transitions([("s", a, "s", 1, 0) for a in "abc"])
    target = Policy({"s": {"a": "1/2", "b": "1/2", "c": 0}})
    with pytest.raises(CoverageError) as caught:
        PolicyEvaluation(mdp, target=target, behavior=Policy.deterministic({"s": "a"}))
    assert caught.value.pairs == (("s", "b"),)
    PolicyEvaluation(mdp, target=target, behavior=Policy({"s": {"a": "1/2", "b": "1/2"}}))


def test_mu_that_vanishes_after_substitution_is_caught_then():
    mdp = MDP.from_transitions([("s", a, "s", 1, 0) for a in "ab"])
    problem = PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        behavior=Policy({"s": {"a": "p", "b": "1-p"}}),
        discount="1/2",
    )
    with pytest.raises(CoverageError, match="'b'"):
        problem.subs({"p": 1})
    assert problem.subs({"p": "1/3"}).arithmetic == "exact"


def test_weights_are_used_as_they_are():
    assert sp.Matrix([[18]]) == simple(xi=[2, 4]).C


@given(st.integers(0, 50), st.fractions(Fraction(1, 10), Fraction(9, 10)))
def test_the_discount_multiplies_each_transitions_own(seed, discount):
    """A table whose own discounts are all d, at g, is the plain table at d g."""
    base = random_problem(3, 2, seed=seed)
    rows = [(*r[:5], discount) for r in base.mdp.transitions]
    scaled = MDP.from_transitions(rows, states=base.states, actions=base.mdp.actions)
    common = {"target": base.target, "behavior": base.behavior, "features": base.Phi}
    left = PolicyEvaluation(scaled, discount="9/10", **common)
    right = PolicyEvaluation(base.mdp, discount=discount * Fraction(9, 10), **common)
    assert left.v_pi == right.v_pi
    assert left.X_star == right.X_star


@pytest.mark.parametrize("discount", [0.9, 0.3, 0.999])
@pytest.mark.parametrize("rewards", [(0, -2), (1, 0.1), (1e-9, 7)])
def test_the_variance_of_a_certain_return_is_zero_among_floats(discount, rewards):
    """A cycle of one action: rounding had left 1e-47 of a variance, with a warning."""
    rows = [(0, "a", 1, 1, rewards[0]), (1, "a", 0, 1, rewards[1])]
    other = [(0, "b", 0, "1/2", 5), (0, "b", 1, "1/2", 3), (1, "b", 1, 1, 0)]
    mdp = MDP.from_transitions(rows + other)
    problem = PolicyEvaluation(
        mdp, target=Policy.deterministic({0: "a", 1: "a"}), behavior=Policy.uniform(mdp),
        discount=discount, arithmetic="float",
    )  # fmt: skip
    assert list(problem.return_variance) == [0, 0]


def test_a_coin_that_decides_nothing_is_certain_too():
    """Two ways to end with the same reward, in different states: no variance."""
    mdp = MDP.from_transitions(
        [
            (0, "a", 1, "1/3", 0.1, 0),
            (0, "a", 2, "2/3", 0.1, 0),
            (1, "a", 0, 1, 1),
            (2, "a", 1, 1, 0.7),
        ]
    )
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0.9, arithmetic="float")
    assert list(problem.return_variance) == [0, 0, 0]


def test_what_no_float_can_say_is_refused_in_words_of_its_own():
    """A chance of 1e-400 to leave, and a solve whose vectors overflow."""
    rows = [
        (0, "a", 0, 1.0, 0),
        (0, "a", 1, 1e-200, 0),
        (1, "a", 0, 1.0, 0),
        (1, "a", 2, 1e-200, 0),
    ]
    mdp = MDP.from_transitions(rows)
    chain = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1.0).target_chain
    with pytest.raises(SingularError, match="below the range of floats"):
        _ = chain.absorption_probabilities
    rows = [(0, "a", 0, 1.0, 1.0), (1, "a", 4, 0.125, 1.0), (1, "a", 3, 0.875, 1.0), (2, "a", 3, 2.5e-301, 1.0),
            (2, "a", 4, 0.03125, 1.0), (2, "a", 0, 0.96875, 1.0), (3, "a", 0, 2.5e-101, 1.0), (3, "a", 3, 1.0, 1.0)]  # fmt: skip
    mdp = MDP.from_transitions(rows, states=range(5))
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), discount=1 - 2.0**-52, xi=[1.0, 1.0, 1.0, 0.0, 1.0]
    )
    with pytest.raises(otd.errors.NumberError, match="range of floats"):
        problem.fixed_point("etd")


def test_a_variance_without_end_is_said_to_be_one():
    mdp = MDP.from_transitions([(0, "a", 0, "1/2", -1), (0, "a", 0, "1/2", 1)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1)
    assert problem.v_pi[0] == 0
    with pytest.raises(UndiscountedError, match="the variance of the return is not finite"):
        _ = problem.return_variance
