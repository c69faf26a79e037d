import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.domains import random_problem, two_state
from obliquetd.errors import FeatureError, KindError, NoSolutionError, NotUniqueError, SingularError

entries = st.lists(st.integers(-3, 3), min_size=12, max_size=12)


@given(entries, entries, st.integers(1, 3))
def test_the_projection_is_the_projection(a, b, d):
    """Idempotent, range span(Phi), residual orthogonal to span(X); an error where there is none."""
    Phi, X = sp.Matrix(4, d, a[: 4 * d]), sp.Matrix(4, d, b[: 4 * d])
    cross = (X.T * Phi).rank()
    if not cross == Phi.rank() == X.rank():
        with pytest.raises(SingularError):
            otd.oblique_projection(Phi, X)
        return
    P = otd.oblique_projection(Phi, X)
    assert P * P == P
    assert P * Phi == Phi
    assert X.T * P == X.T
    assert P.rank() == Phi.rank()
    floats = otd.oblique_projection(np.array(Phi, dtype=float), np.array(X, dtype=float))
    assert np.abs(floats - np.array(P, dtype=float)).max() < 1e-6 * max(1, np.abs(floats).max())


@given(entries, entries, entries)
def test_only_the_spans_matter(a, b, m):
    Phi, X, M = sp.Matrix(4, 2, a[:8]), sp.Matrix(4, 2, b[:8]), sp.Matrix(2, 2, m[:4])
    if M.det() == 0 or (X.T * Phi).det() == 0:
        return
    assert otd.oblique_projection(Phi * M, X) == otd.oblique_projection(Phi, X * M)


def test_symbols_and_bad_input():
    a = sp.Symbol("a")
    assert otd.oblique_projection([1, a], [1, 0]) == sp.Matrix([[1, 0], [a, 0]])
    with pytest.raises(FeatureError, match="2 rows and X has 3"):
        otd.oblique_projection([1, 2], [1, 2, 3])
    with pytest.raises(SingularError) as caught:
        otd.oblique_projection([1, 1], [1, -1])
    assert caught.value.null_vector == sp.Matrix([1])
    with pytest.raises(KindError):
        otd.oblique_projection([0.5, 1], [a, 1])


@pytest.mark.parametrize(
    ("Phi", "X", "words"),
    [
        ([1, 0], [[1, 0], [0, 1]], r"span\(Phi\) has dimension 1 and span\(X\) has 2"),
        ([1, 1], [[1, 1], [1, 2]], r"span\(Phi\) has dimension 1 and span\(X\) has 2"),
        ([[1, 0], [0, 1]], [1, 1], r"span\(Phi\) has dimension 2 and span\(X\) has 1"),
        ([0, 0], [1, 1], r"span\(Phi\) has dimension 0 and span\(X\) has 1"),
        ([[1, 0, 0]] * 3, [[1, 1, 0], [0, 1, 1], [0, 0, 1]], r"dimension 1 and span\(X\) has 3"),
    ],
    ids=str,
)
def test_a_span_of_another_dimension_is_refused(Phi, X, words):
    """A larger span(X) has no projection along it: X'(v - P v) = 0 asks for too much."""
    for numbers in (lambda M: M, lambda M: np.array(M, dtype=float)):
        with pytest.raises(SingularError, match=words):
            otd.oblique_projection(numbers(Phi), numbers(X))


@pytest.mark.parametrize("seed", range(6))
def test_fixed_points_solve_their_equation_and_are_projections_of_v(seed):
    """v = Pi_Phi^X (r + P_gamma v), and v_hat = Pi_Phi^{L'X} v (Lemma 1): two routes."""
    problem = random_problem(4, 2, seed=seed, restarts=seed % 2 == 0, deterministic=seed % 3 == 0)
    T = lambda v: problem.r_pi + v - problem.L_pi * v  # noqa: E731
    for method in ("td", "rg", "etd", "best"):
        point = problem.fixed_point(method)
        assert point.projection * T(point.v_hat) == point.v_hat
        along = problem.L_pi.T * point.X
        assert otd.oblique_projection(problem.Phi, along) * problem.v_pi == point.v_hat
    assert problem.fixed_point("td").v_hat == problem.Pi * T(problem.fixed_point("td").v_hat)
    assert problem.fixed_point("best").v_hat == problem.best
    assert problem.fixed_point(X=problem.X_star).v_hat == problem.best
    assert problem.fixed_point(Omega=sp.eye(4)).v_hat == problem.fixed_point("td").v_hat


@pytest.mark.parametrize("seed", range(4))
def test_residual_gradient_minimises_the_bellman_error_and_td_the_projected_one(seed):
    problem = random_problem(4, 2, seed=seed)
    rg, td, best = (problem.fixed_point(m) for m in ("rg", "td", "best"))
    assert td.rmspbe == td.neu == 0
    for k in range(2):
        for step in (sp.Rational(1, 10), -sp.Rational(1, 10)):
            nudge = step * problem.Phi[:, k]
            assert problem.rmsbe(rg.v_hat + nudge) > rg.rmsbe
            assert problem.rmspbe(td.v_hat + nudge) > 0
            assert problem.rmse(best.v_hat + nudge) > best.rmse


def test_the_scale_of_x_moves_the_distance_but_not_the_fixed_point_or_angle():
    problem = two_state(reward=1)
    one, other = problem.fixed_point("etd"), problem.fixed_point(X=[5, 190])
    assert one.v_hat == other.v_hat
    assert one.angle == other.angle
    assert one.distance != other.distance


def test_a_projection_that_does_not_exist_leaves_its_theta():
    """X*'Phi = 0 on this problem: no projection along X*, but theta of Pi V is there."""
    mdp = otd.MDP.from_transitions([(1, "a", 2, 1, 1), (2, "a", 2, 1, 0)])
    problem = otd.PolicyEvaluation(
        mdp,
        target=otd.Policy.uniform(mdp),
        features=[[1], [-1]],
        discount="9/10",
        xi=["5/9", "4/9"],
    )
    point = problem.fixed_point("best")
    assert point.v_hat == problem.best == sp.Matrix(["5/9", "-5/9"])
    with pytest.raises(SingularError):
        _ = point.projection


def two_classes(features, discount="1/2"):
    """Absorbing states a and b that no other reaches, beside c, which nobody visits (weight 0)."""
    mdp = otd.MDP.from_transitions(
        [("a", "go", "a", 1, 1), ("b", "go", "b", 1, 3), ("c", "go", "a", 1, 0)]
    )
    return otd.PolicyEvaluation(
        mdp, target=otd.Policy.uniform(mdp), features=features, discount=discount,
        xi=["1/2", "1/2", 0],
    )  # fmt: skip


def test_weights_that_no_state_of_weight_sees_are_of_least_norm():
    """v = (2, 6); c alone sees the third weight, so it is 0, and c is said to be undetermined."""
    point = two_classes([[1, 0, 0], [0, 1, 0], [0, 1, 1]]).fixed_point("td")
    assert list(point.theta) == [2, 6, 0]
    assert list(point.null_space) == [0, 0, 1]
    assert point.undetermined == ("c",)
    shared = two_classes([[1, 0, 0], [0, 1, 1], [0, 1, -1]]).fixed_point("td")
    assert list(shared.theta) == [2, 3, 3]
    assert shared.undetermined == ("c",)


def test_features_that_depend_on_each_other_fix_theta_in_their_row_space():
    point = two_classes([[1, 1, 0], [0, 0, 2], [1, 1, 2]]).fixed_point("td")
    assert list(point.theta) == [1, 1, 3]
    assert [abs(x) for x in point.null_space] == [1, 1, 0]
    assert point.undetermined == ()
    both = two_classes([[1, 1, 0], [0, 0, 0], [0, 0, 1]]).fixed_point("td")
    assert list(both.theta) == [1, 1, 0]
    assert both.null_space.shape == (3, 2)
    assert both.undetermined == ("c",)


def test_what_leaves_a_visited_state_open_is_an_error_that_names_it():
    problem = two_classes([[1, 0], [0, 1], [0, 0]])
    with pytest.raises(
        NotUniqueError, match=r"A theta = 0 for theta = \(0, 1\).*value of .'b'"
    ) as caught:
        problem.fixed_point(X=[[1, 0], [0, 0], [0, 0]])
    assert caught.value.null_vector == sp.Matrix([0, 1])
    with pytest.raises(NoSolutionError, match=r"A is singular .*\(1, 0\).* outside its range"):
        two_classes([[1, 0], [0, 1], [0, 0]], 1).fixed_point("td")


def test_a_solution_in_floats_says_how_well_it_was_solved():
    """With features that depend on each other too, whose theta is made from other coordinates."""
    for features in ([[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]]):
        problem = two_state(discount=0.5, reward=1).replace(features=features)
        point = problem.fixed_point("td")
        assert point.accuracy is not None
        assert point.accuracy.residual < 1e-9


@pytest.mark.parametrize("discount", ["gamma", "9/10", 0.9])
@pytest.mark.parametrize("method", ["td", "setd", "etd", "rg", "best"])
def test_values_by_state_are_v_hat_in_every_arithmetic(discount, method):
    point = two_state(discount, reward=1).fixed_point(method)
    assert list(point.values) == ["left", "right"]
    assert list(point.values.values()) == list(point.v_hat)
    assert all(type(v) is float for v in point.values.values()) == (discount == 0.9)
