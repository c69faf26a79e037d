"""Bounds are at least the truth where their hypotheses hold, and say which one fails where not."""

import itertools
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.algebra import parse_number, read_matrices
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics.bounds.bound import Bound
from obliquetd.dynamics.bounds.outward import distances, rounded
from obliquetd.dynamics.bounds.theorems import BOUNDS, approximation, independent, trajectory
from obliquetd.dynamics.bounds.theorems.approximation import ObliqueNorm
from obliquetd.dynamics.bounds.theorems.trajectory import Trajectory
from obliquetd.errors import HypothesisError, InputError, KindError
from obliquetd.learners import ETD, TD, Harmonic, RobbinsMonro
from obliquetd.learners.emphatic import td
from tests.strategies import distributions

R = sp.Rational
FACTORS = ("oblique", "instance", "pythagoras", "contraction")
"""Each is at most the next."""
FINITE = ("averaged", "last", "decaying", "trajectory")


@st.composite
def chains(draw, most_states=4, most_features=2):
    """On-policy, ergodic, random rewards, discounts that differ from row to row, |phi| well below 1."""
    n = draw(st.integers(2, most_states))
    rows = []
    for s in range(n):
        for t, p in enumerate(draw(distributions(n, full=True))):
            own = draw(st.sampled_from([1, 1, 0, Fraction(1, 2)]))
            rows.append((s, "go", t, p, draw(st.integers(-3, 3)), own))
    mdp = MDP.from_transitions(rows, states=range(n))
    d = draw(st.integers(1, min(n, most_features)))
    entries = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    Phi = draw(st.lists(entries, min_size=n, max_size=n).filter(lambda M: sp.Matrix(M).rank() == d))
    return PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        features=sp.Matrix(Phi) / draw(st.sampled_from([3, 4, 7])),
        discount=draw(st.sampled_from(["1/2", "9/10"])),
    )


def at_least(bound, exact):
    """Whether bound >= exact, decided on 60 digits; what is equal differs by less than 50 of them."""
    return sp.N(bound - exact, 60, strict=False) >= -(abs(sp.N(exact, 20)) + 1) * R(1, 10**50)


def follow(problem, learner, sampling, name, most=12):
    """Do what each refusal says until the theorem holds: what a reader would do."""
    steps = []
    for _ in range(most):
        found = otd.bounds(problem, learner, sampling=sampling)[name]
        if found.holds:
            return found, steps
        failed = found.hypotheses[-1]
        steps.append(failed.name)
        if failed.name == "sampling":
            sampling = re.search("sampling='(.*?)'", failed.way_out)[1]
            continue
        done = eval(failed.way_out.removeprefix("use "), {"otd": otd, "problem": problem})
        if isinstance(done, PolicyEvaluation):
            problem = done
        else:
            learner = done
    raise AssertionError(f"no way out of {steps}")


# --- the truth ----------------------------------------------------------------------------------


def outcomes(problem, theta_star):
    """(chance, A, b) of independent transitions of a problem with one action, by hand."""
    for s, t, p, r, own in [row[:1] + row[2:] for row in problem.mdp.transitions]:
        phi, after = (
            problem.Phi[problem.mdp.states.index(s), :],
            problem.Phi[problem.mdp.states.index(t), :],
        )
        A = phi.T * (problem.discount * own * after - phi)
        yield problem.xi[problem.mdp.states.index(s)] * p, A, phi.T * r + A * theta_star


def small_chain():
    rows = [(0, "a", 0, "1/3", 1, 1), (0, "a", 1, "2/3", -1, "1/2"), (1, "a", 0, 1, 2, 1)]
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[["1/5", "1/6"], ["-1/7", "1/2"]], discount="1/2"
    )


@pytest.mark.parametrize("name", ["averaged", "last", "decaying"])
def test_the_exact_curve_is_that_of_every_sequence_of_transitions(name):
    """All 27 sequences of three transitions, each with its chance: no recursion of moments."""
    problem, steps = small_chain(), 3
    schedule = Harmonic(2000, 100_000) if name == "decaying" else "1/1000"
    found = otd.bounds(problem, TD(schedule), [1, -2])[name]
    assert found.holds
    star = problem.fixed_point("td").theta
    alphas = [R(2000) / (100_000 + t) if name == "decaying" else R(1, 1000) for t in range(steps)]
    C = problem.Phi.T * sp.diag(*problem.xi) * problem.Phi
    total = 0
    for sequence in itertools.product(list(outcomes(problem, star)), repeat=steps):
        e, past, chance = sp.Matrix([1, -2]) - star, sp.zeros(2, 1), 1
        for alpha, (p, A, b) in zip(alphas, sequence, strict=True):
            past, e, chance = past + e, e + alpha * (A * e + b), chance * p
        mean = past / steps
        total += chance * ((mean.T * C * mean)[0] if name == "averaged" else e.dot(e))
    assert found.exact(steps) == total


@pytest.mark.parametrize("sampling", ["iid", "trajectory"])
@pytest.mark.parametrize("floats", [False, True])
def test_the_exact_curve_is_that_of_the_moments(sampling, floats):
    problem = small_chain()
    if floats:
        problem = problem.replace(arithmetic="float")
    alpha = "1/1000000"
    found = otd.bounds(problem, TD(alpha), [1, -2])["last" if sampling == "iid" else "trajectory"]
    moments = otd.exact_moments(problem, TD(alpha), 4, [1, -2], sampling=sampling)
    star = problem.fixed_point("td").theta
    for t in range(5):
        expected = np.trace(moments.second[t]) - 2 * star.T @ moments.mean[t] + star.T @ star if floats else (
            moments.second[t].trace() - 2 * star.dot(moments.mean[t]) + star.dot(star)
        )  # fmt: skip
        assert found.exact(t) == (pytest.approx(expected, rel=1e-9) if floats else expected)


# --- bounds are at least the truth --------------------------------------------------------------


@settings(max_examples=25)
@given(chains(most_features=3), st.sampled_from([0, "1/3", 1]))
def test_factors_are_at_least_the_exact_worst_case_and_the_error(problem, lam):
    found = otd.bounds(problem, TD(lam=lam))
    ordered = [found[name].factor for name in FACTORS]
    assert found["oblique"].worst_case == ordered[0]
    for less, more in itertools.pairwise(ordered):
        assert at_least(more, less)
    for name in FACTORS:
        assert found[name].holds
        assert at_least(found[name].bound(), found[name].exact())
        assert len(found[name].curve()) == 1


@settings(max_examples=12)
@given(chains(), st.data())
def test_finite_time_bounds_are_at_least_the_exact_curve(problem, data):
    """At the largest step size that a hypothesis admits, where the bound has least to spare."""
    start = data.draw(st.lists(st.integers(-5, 5), min_size=2, max_size=2))[: problem.Phi.shape[1]]
    for name in ("averaged", "last", "decaying"):
        held, _ = follow(problem, TD(), None, name)
        found = otd.bounds(held.at.problem, held.at.learner, start)[name]
        curve = found.curve(8)
        assert all(at_least(p.bound, p.exact) for p in curve)
        assert curve.worst_case.ratio >= 1


@pytest.mark.slow
@settings(max_examples=6)
@given(chains(most_states=3), st.data())
def test_the_bound_along_a_trajectory_is_at_least_the_exact_curve(problem, data):
    start = data.draw(st.lists(st.integers(-5, 5), min_size=2, max_size=2))[: problem.Phi.shape[1]]
    held, _ = follow(problem, TD(), None, "trajectory")
    exact = otd.bounds(held.at.problem, held.at.learner, start)["trajectory"]
    assert all(at_least(p.bound, p.exact) for p in exact.curve(4))
    floats, half = held.at.problem.replace(arithmetic="float"), TD(held.at.alpha / 2)
    curve = otd.bounds(floats, half, start)["trajectory"].curve(60)
    assert all(p.bound >= p.exact for p in curve)


def test_long_curves_in_floats():
    """Long enough for the noise to be what is left: its floor is bounded as well."""
    base = random_problem(4, 2, seed=3, on_policy=True, discount="1/2")
    problem = base.replace(features=base.Phi / 16)
    for name in ("averaged", "last", "decaying"):
        held, _ = follow(problem, TD(), None, name)
        floats = held.at.problem.replace(arithmetic="float")
        found = otd.bounds(floats, held.at.learner)[name]
        steps = [found.ratio(t) for t in (1, 100, 1500)]
        assert all(isinstance(r, float) and r >= 1 for r in steps)


def test_the_parts_of_theorem_2_at_the_papers_numbers():
    """(a) at T = 1/alpha^2 and (c) at its own step sizes, by the formulas of the paper."""
    problem = PolicyEvaluation.from_chain(
        [["1/2", "1/2"], ["1/2", "1/2"]], [1, 0], discount="1/2", features=[[1], [-1]]
    )
    assert problem.xi == sp.Matrix([R(1, 2), R(1, 2)])  # omega is 1
    gamma, omega, theta0 = R(1, 2), 1, 3
    star = problem.fixed_point("td").theta[0]
    sigma2 = sum(
        R(1, 4) * (r + gamma * u * star - x * star) ** 2
        for x, r in ((1, 1), (-1, 0))
        for u in (1, -1)
    )
    T, start = 256, (theta0 - star) ** 2
    averaged = otd.bounds(problem, TD("1/16"), [theta0])["averaged"]
    assert (8 / (1 - gamma)) ** 2 == T
    assert averaged.bound(T) == (start + 2 * sigma2) / (sp.sqrt(T) * (1 - gamma))
    last = otd.bounds(problem, TD("1/16"), [theta0])["last"]
    assert last.bound(10) == sp.exp(-R(10, 32)) * start + R(1, 8) * sigma2 / ((1 - gamma) * omega)
    c, offset = 2 / ((1 - gamma) * omega), 16 / ((1 - gamma) ** 2 * omega)
    decaying = otd.bounds(problem, TD(Harmonic(c, offset)), [theta0])["decaying"]
    nu = max(8 * sigma2 / ((1 - gamma) ** 2 * omega**2), 16 * start / ((1 - gamma) ** 2 * omega))
    assert decaying.bound(10) == nu / (offset + 10)
    assert not otd.bounds(problem, TD("1/15"))["last"].holds


def test_the_bound_along_a_trajectory_by_hand():
    """Two states that are independent from step to step: tau is 1, Abar is -1/4 and P is 2."""
    problem = PolicyEvaluation.from_chain(
        [["1/2", "1/2"], ["1/2", "1/2"]], [1, 0], discount="1/2", features=[["1/2"], ["-1/2"]]
    )
    alpha, beta, theta0 = R(1, 1500), R(3, 8), 3
    found = otd.bounds(problem, TD(alpha), [theta0])["trajectory"]
    assert problem.fixed_point("td").theta[0] == 1
    early = (R(3, 2) * 2 + beta / 2) ** 2
    assert [found.bound(0), found.bound(1)] == [early, early]
    floor = alpha * 1 * 4 * (75 * beta**2 + R(8, 5)) / (R(9, 10) * 2)
    assert found.bound(7) == (1 - R(9, 20) * alpha) ** 6 * early + floor
    assert not otd.bounds(problem, TD("1/1499"))["trajectory"].holds


@given(st.data())
def test_the_distance_from_the_mean_is_not_below_the_exact_one(data):
    n = data.draw(st.integers(1, 3))
    P = sp.Matrix([data.draw(distributions(n)) for _ in range(n)])
    V = sp.Matrix(
        [[data.draw(st.fractions(-3, 3, max_denominator=50)) for _ in "ab"] for _ in range(n)]
    )
    mean = [data.draw(st.fractions(-3, 3, max_denominator=50)) for _ in "ab"]
    native, values, centre = read_matrices(P=P, V=V, mean=sp.Matrix([mean]))
    found = distances(native, values, centre.rows()[0], 1)
    for k in range(1, 6):
        gaps = P**k * V - sp.ones(n, 1) * sp.Matrix([mean])
        exact, bound = max(g**2 for g in gaps), next(found)
        assert exact <= bound <= exact + R(1, 10**100)


@pytest.mark.parametrize(
    "value", [sp.sqrt(2), sp.sqrt(2) * 10**40, sp.sqrt(3) / 10**40, R(1, 3**400)]
)
def test_numbers_are_rounded_to_the_safe_side(value):
    low, high = rounded(value, up=False), rounded(value, up=True)
    assert low < value < high
    assert sp.N((high - low) / value, 20) < 1e-27
    assert rounded(R(1, 3), up=True) == R(1, 3)


def test_a_harmonic_schedule_is_a_step_size():
    assert TD(Harmonic("1/2", 4)).step_size(6) == 0.05


def test_what_each_step_cuts_off_is_counted(monkeypatch):
    """With 4 binary places, values sink by a part of a unit at each step."""
    monkeypatch.setattr(sys.modules[distances.__module__], "BITS", 4)
    P, V = sp.Matrix([[1, 49], [49, 1]]) / 50, sp.Matrix([100, 200])
    found = distances(*read_matrices(P=P, V=V), [parse_number(0)], 1)
    for k in range(1, 60):
        assert max(g**2 for g in P**k * V) <= next(found)


@pytest.mark.parametrize("lam", [0, 0.5])
def test_the_instance_factor_in_an_orthonormal_basis(lam):
    """With C^(1/2) and eigenvalues of a symmetric matrix, as the paper states it."""
    problem = random_problem(5, 2, seed=4, on_policy=True).replace(arithmetic="float")
    gamma, P, xi = 0.9, np.asarray(problem.P_pi), np.asarray(problem.xi)
    kappa = gamma * (1 - lam) / (1 - gamma * lam)
    basis = np.linalg.qr(np.sqrt(xi)[:, None] * np.asarray(problem.Phi))[0] / np.sqrt(xi)[:, None]
    L = np.linalg.solve(np.eye(5) - lam * gamma * P, (1 - lam) * gamma * P)
    M = basis.T @ (xi[:, None] * (L @ basis))
    inverse = np.linalg.inv(np.eye(2) - M)
    inner = inverse @ (kappa**2 * np.eye(2) - M @ M.T) @ inverse.T
    expected = np.sqrt(1 + np.linalg.eigvalsh(inner).max())
    assert otd.bounds(problem, TD(lam=lam))["instance"].factor == pytest.approx(expected)


def test_the_worst_reward_attains_the_oblique_bound():
    problem = random_problem(4, 2, seed=5, on_policy=True)
    reward = otd.projection_analysis(problem, "td").worst_reward
    worst = PolicyEvaluation.from_chain(
        np.array(problem.P_pi, dtype=float), np.array(reward, dtype=float).ravel(),
        discount=0.9, features=np.array(problem.Phi, dtype=float),
    )  # fmt: skip
    found = otd.bounds(worst, TD())
    assert found["oblique"].ratio() == pytest.approx(1)
    assert found["contraction"].ratio() > 1


@pytest.mark.parametrize("lam", [0, "1/2"])
def test_the_oblique_bound_is_of_off_policy_learners_too(lam):
    problem = random_problem(4, 2, seed=2)
    found = otd.bounds(problem, TD(lam=lam))
    assert [b.name for b in found.holding] == ["oblique"]
    assert at_least(found["oblique"].bound(), found["oblique"].exact())
    if not lam:
        assert found["oblique"].factor == otd.projection_analysis(problem, "td").norm
    own = problem.fixed_point(X=found["oblique"].at.X.public())
    assert own.theta == problem.fixed_point(TD(lam=lam)).theta


def test_with_lambda_1_nothing_is_lost():
    found = otd.bounds(random_problem(3, 1, seed=1, on_policy=True), TD(lam=1))
    assert [found[name].ratio() for name in FACTORS] == [1, 1, 1, 1]


def test_what_is_exactly_representable_has_ratio_1():
    found = otd.bounds(random_problem(3, 3, seed=1, on_policy=True), TD())
    assert found["contraction"].exact() == found["contraction"].bound() == 0
    assert found["contraction"].ratio() == 1


# --- refusals -----------------------------------------------------------------------------------


def test_every_refusal_has_a_way_out_that_works():
    """Off-policy, weights of one's own, discount 1, dependent large features, lambda, a large step."""
    base = random_problem(3, 2, seed=1, restarts=True)
    Phi = base.Phi.row_join(base.Phi * sp.Matrix([1, 1]))
    bad = base.replace(features=5 * Phi, xi=[1, 2, 3])
    wrong = {
        "averaged": TD(1, lam="1/2"),
        "last": ETD(1),
        "decaying": TD(RobbinsMonro(1, 1)),
        "trajectory": TD(),
    }
    met = set()
    for name, learner in wrong.items():
        sampling = "iid" if name == "trajectory" else "trajectory"
        found, steps = follow(bad, learner, sampling, name)
        assert found.bound(2) >= found.exact(2)
        met |= set(steps)
    assert met >= {
        "learner", "no trace", "sampling", "on-policy", "independent features", "small features",
        "step size",
    }  # fmt: skip
    for name in FACTORS:
        found, steps = follow(bad, ETD(), None, name)
        assert found.holds
        assert steps[0] == "learner"


@pytest.mark.parametrize(
    ("changed", "learner", "sampling", "theorem", "hypothesis", "value"),
    [
        ({}, TD("1/2000", lam="1/2"), None, "last", "no trace", R(1, 2)),
        ({}, TD("1/2"), None, "last", "step size", R(1, 2)),
        ({}, TD(), None, "averaged", "step size", "none"),
        ({}, TD(RobbinsMonro(1, 1)), None, "averaged", "step size", "a schedule"),
        ({}, TD(Harmonic(1, 1)), None, "decaying", "step size", "Harmonic(1, 1)"),
        ({}, TD("1/2000"), "trajectory", "last", "sampling", "trajectory"),
        ({}, TD("1/2000"), "iid", "trajectory", "sampling", "iid"),
        ({"discount": 1}, TD("1/2000"), None, "last", "discount", 1),
        ({"discount": 1}, TD("1/2000"), None, "contraction", "discount", 1),
        ({"xi": [1, 2, 3]}, TD("1/2000"), None, "last", "stationary weights", None),
        ({"xi": [1, 2, 3]}, TD("1/2000"), None, "instance", "stationary weights", None),
        ({"features": [[2], [0], [0]]}, TD("1/2000"), None, "last", "small features", 2),
        ({"features": [["1/2", "1/4"]] * 3}, TD("1/2000"), None, "last", "independent features", "rank 1 of 2"),
        ({"features": [["1/2", "1/4"]] * 3}, TD(), None, "instance", "independent features", "rank 1 of 2"),
        ({}, ETD("1/2000"), None, "oblique", "learner", "ETD"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_hypothesis_and_its_value(
    changed, learner, sampling, theorem, hypothesis, value
):
    base = random_problem(3, 1, seed=1, on_policy=True, discount="1/2")
    problem = base.replace(**{"features": base.Phi / 8} | changed)
    found = otd.bounds(problem, learner, sampling=sampling)[theorem]
    for ask in (found.bound, found.exact, found.ratio):
        with pytest.raises(HypothesisError, match=hypothesis) as refused:
            ask(*([] if theorem in FACTORS else [2]))
        error = refused.value
        assert (error.theorem, error.hypothesis) == (theorem, hypothesis)
        if value is not None:
            assert error.value == value
    assert str(found.hypotheses[-1]).endswith("which fails.")
    assert not found.holds


def test_a_periodic_chain_never_mixes():
    problem = PolicyEvaluation.from_chain(
        [[0, 1], [1, 0]], [1, 0], discount="1/2", features=[["1/3"], ["1/5"]]
    )
    found = otd.bounds(problem, TD("1/1000"))["trajectory"]
    assert "sampling='iid'" in found.hypotheses[-1].way_out
    assert "over 300" in found.hypotheses[-1].value


def test_off_policy_is_named():
    with pytest.raises(HypothesisError, match="off-policy"):
        otd.bounds(two_state(), TD("1/100"))["last"].bound(1)


@pytest.mark.parametrize(
    ("ask", "error", "match"),
    [
        (lambda p: otd.bounds(p.replace(discount="gamma"), TD("1/10")), KindError, "substitute"),
        (lambda p: otd.bounds(p, TD("1/10", lam="l")), KindError, "substitute"),
        (lambda p: otd.bounds(p, TD), InputError, r"TD\(\)"),
        (lambda p: otd.bounds(p, TD(), sampling="both"), InputError, "both"),
        (lambda p: otd.bounds(p, TD())["best"], InputError, "contraction"),
        (lambda p: otd.bounds(p, TD())["contraction"].bound(3), InputError, "limit"),
        (lambda p: otd.bounds(p, TD("1/1000"))["last"].bound(), InputError, "step None"),
        (lambda p: otd.bounds(p, TD("1/1000"))["last"].bound(-1), InputError, "step -1"),
        (lambda p: otd.bounds(p, TD("1/1000"))["averaged"].bound(0), InputError, "at least 1"),
        (lambda p: otd.bounds(p, TD("1/1000"))["last"].curve(1.5), InputError, "1.5"),
        (lambda p: Harmonic(0, 1), InputError, "positive"),
        (lambda p: Harmonic("c", 1), InputError, "positive"),
    ],
)
def test_bad_input(ask, error, match):
    base = random_problem(3, 1, seed=1, on_policy=True, discount="1/2")
    with pytest.raises(error, match=match):
        ask(base.replace(features=base.Phi / 8))


# --- how it shows itself ------------------------------------------------------------------------


def test_the_tables():
    base = random_problem(3, 1, seed=1, on_policy=True, discount="1/2")
    found = otd.bounds(base.replace(features=base.Phi / 8), TD("1/2000"))
    lines = str(found).splitlines()
    assert len(lines) == 1 + len(found) == 1 + len(BOUNDS)
    assert any(line.startswith("decaying") and "step size" in line for line in lines)
    assert "averaged" in repr(found)
    assert "Tsitsiklis" in found._repr_html_()
    assert "step size fails" in repr(found["decaying"])
    curves = found.curves(3)
    assert set(curves) == {b.name for b in found.holding}
    assert [p.t for p in curves["averaged"]] == [1, 2, 3]
    assert str(curves["last"]).splitlines()[0].split() == ["t", "exact", "bound", "ratio"]
    assert "<caption>last</caption>" in curves["last"]._repr_html_()


def test_a_theorem_of_ones_own_is_one_class():
    problem = random_problem(3, 1, seed=1, on_policy=True)
    before = list(otd.bounds(problem, TD()).rows())

    class Mine(ObliqueNorm):
        name = "mine"

        def _squared_factor(self):
            return sp.Integer(10_000)

    class Oblique(Mine):
        name = "oblique"

    assert otd.bounds(problem, TD(), also=[Mine])["mine"].factor == 100
    assert list(otd.bounds(problem, TD()).rows()) == before  # that a class was made changes nothing
    with pytest.raises(InputError, match="two theorems are called 'oblique'; give Oblique a name"):
        otd.bounds(problem, TD(), also=[Oblique])


def test_every_theorem_of_the_package_is_listed():
    named = [
        kind
        for module in (approximation, independent, trajectory)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Bound) and "name" in vars(kind)
    ]
    assert list(dict.fromkeys(named)) == list(BOUNDS)
    files = {p.stem for p in Path(approximation.__file__).parent.glob("*.py")}
    assert files == {"__init__", "approximation", "independent", "trajectory"}


def test_floats_are_the_exact_numbers():
    base = random_problem(3, 2, seed=1, on_policy=True, discount="1/2")
    problem = base.replace(features=base.Phi / 16)
    floats = problem.replace(arithmetic="float")
    for learner in (TD("1/1000000"), TD(Harmonic(400, 6400))):
        exact, close = otd.bounds(problem, learner, [1, 2]), otd.bounds(floats, learner, [1, 2])
        assert [b.name for b in exact.holding] == [b.name for b in close.holding]
        for each in exact.holding:
            at = [] if each.name in FACTORS else [5]
            for ask in ("bound", "exact"):
                value = getattr(close[each.name], ask)(*at)
                assert isinstance(value, float)
                assert value == pytest.approx(float(getattr(each, ask)(*at)), rel=1e-8)


def test_the_docstrings_prove_what_is_printed():
    assert all("Proof" in (kind.__doc__ or "") for kind in BOUNDS if kind is not Trajectory)
    assert issubclass(Trajectory, Bound)


def test_a_class_derived_from_td_with_another_rule_is_not_td():
    """Its weights converge elsewhere, so that no theorem about TD speaks of it."""

    def doubled(x, m, t, alpha, p):
        return td(x, m, t, 2 * alpha, p)

    mine = type("Mine", (otd.TD,), {"rule": staticmethod(doubled)})("1/1000")
    problem = otd.PolicyEvaluation.from_chain(
        [["1/2", "1/2"], ["1/2", "1/2"]], [1, 0], discount="1/10", features=[["1/2"], ["1"]]
    )
    for bound in otd.bounds(problem, mine):
        assert not bound.holds
        assert bound.hypotheses[-1].name == "learner"
    assert any(bound.holds for bound in otd.bounds(problem, otd.TD("1/1000")))


@pytest.mark.parametrize("discount", [0.9, 0.7, 0.95, 0.99, 0.3])
def test_the_schedule_that_is_told_holds_among_floats(discount):
    problem = otd.PolicyEvaluation.from_chain(
        [[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0], discount=discount
    )
    told = otd.bounds(problem, otd.TD(0.01))["decaying"].hypotheses[-1].way_out
    learner = eval(told.removeprefix("use "), {"otd": otd})
    assert otd.bounds(problem, learner)["decaying"].holds
