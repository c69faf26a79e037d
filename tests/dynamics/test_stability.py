"""The verdict, its certificate, and regions: against eigenvalues, by hand, and by mutation."""

import copy
import json

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.algebra.cells import break_points
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.dynamics import (
    check_certificate,
    mean_dynamics,
    stability_map,
    stability_region,
)
from obliquetd.dynamics.function_field import crossings
from obliquetd.dynamics.stability import routh_is_positive, verdict_of
from obliquetd.errors import InputError, KindError, MathematicalError, SignUndecidedError
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC

R = sp.Rational
g = sp.Symbol("gamma")


@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 3)), max_size=2),
)
def test_verdict_of_a_polynomial_with_known_roots(real, pairs):
    """Roots are real integers and pairs a +- bi; the verdict is that of their real parts."""
    x = sp.Symbol("x")
    p = sp.prod([x - r for r in real]) * sp.prod([(x - a) ** 2 + b**2 for a, b in pairs])
    parts = real + [a for a, _ in pairs]
    expected = "stable" if min(parts) > 0 else "unstable" if min(parts) < 0 else "marginal"
    assert verdict_of(sp.Poly(p, x).all_coeffs()) == expected


def test_routh_by_hand():
    assert routh_is_positive([R(1), R(2), R(3), R(1)])
    assert not routh_is_positive([R(1), R(1), R(1), R(3)])  # 1*1 - 1*3 < 0
    assert not routh_is_positive([R(1), R(0), R(1)])


@given(st.lists(st.integers(-3, 3), min_size=9, max_size=9))
def test_verdicts_agree_with_eigenvalues(entries):
    A = sp.Matrix(3, 3, entries)
    least = np.linalg.eigvals(np.array(A, dtype=float)).real.min()
    verdict = verdict_of(A.charpoly().all_coeffs())
    if least > 1e-6:
        assert verdict == "stable"
    elif least < -1e-6:
        assert verdict == "unstable"
    else:
        assert verdict in ("marginal", "unstable", "stable")


def tabular(P, weights, discount, features=None):
    mdp = MDP.from_arrays([P], [0] * len(P))
    return PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=features, discount=discount, xi=weights
    )


@pytest.mark.parametrize(
    ("discount", "verdict"),
    [("49/100", "stable"), ("1/2", "nothing moves"), ("51/100", "unstable")],
)
def test_w_to_2w_has_three_answers_and_a_fourth_with_a_symbol(discount, verdict):
    """sympy issue 20752: code that reads an undecided sign as False."""
    dyn = mean_dynamics(tabular([[0, 1], [0, 1]], [1, 0], discount, [[1], [2]]), TD())
    assert dyn.stability.verdict == verdict
    assert dyn.is_stable() is (verdict == "stable")
    symbolic = mean_dynamics(tabular([[0, 1], [0, 1]], [1, 0], "gamma", [[1], [2]]), TD())
    assert symbolic.stability.verdict == "undecided"
    (condition,) = symbolic.stability.condition
    assert sp.solveset(condition > 0, g, sp.Interval(0, 1)) == sp.Interval.Ropen(0, R(1, 2))
    with pytest.raises(SignUndecidedError, match="gamma"):
        symbolic.is_stable()


def test_an_indefinite_symmetric_part_does_not_mean_unstable():
    """sympy issue 16826: definiteness of a matrix that is not symmetric."""
    dyn = mean_dynamics(tabular([[0, 1], [0, 1]], ["9/10", "1/10"], "9/10"), TD())
    assert sp.Matrix([[R(9, 10), R(-81, 100)], [0, R(1, 100)]]) == dyn.A
    assert dyn.is_stable()
    assert dyn.stability.symmetric_part == "indefinite"
    assert check_certificate(dyn.certificate())


def test_bairds_star():
    problem = baird_star()
    found = {name: mean_dynamics(problem, learner).stability for name, learner in {
        "td": TD(), "etd": ETD(), "setd": SETD(), "gtd2": GTD2(mu=1), "tdc": TDC(mu=16), "tdc small": TDC(mu="1/100"),
    }.items()}  # fmt: skip
    verdicts = {name: s.verdict for name, s in found.items()}
    assert verdicts == {
        "td": "unstable",
        "etd": "stable",
        "setd": "stable",
        "gtd2": "stable",
        "tdc": "stable",
        "tdc small": "unstable",
    }
    assert all(s.kernel_dimension == 1 for s in found.values())
    assert found["etd"].symmetric_part == "positive definite"


def test_floats_say_how_close_it_is():
    clear = mean_dynamics(two_state(discount=0.9), TD()).stability
    assert clear.verdict == "unstable"
    assert clear.margin == pytest.approx(-0.2)
    close = mean_dynamics(two_state(discount=5 / 6), TD())
    assert close.stability.verdict == "undecided"
    with pytest.raises(SignUndecidedError, match="too close"):
        close.is_stable()


CASES = [
    (two_state(), TD()),
    (two_state(), SETD()),
    (two_state(discount="5/6"), TD()),
    (two_state(), GTD2(mu=2)),
    (baird_star(), TD()),
    (baird_star(), ETD()),
    (baird_star(), TDC(mu=16)),
    (random_problem(4, 3, seed=1), TD(lam="1/2")),
    (random_problem(4, 3, seed=2), SETD()),
]


@pytest.mark.parametrize(("problem", "learner"), CASES, ids=lambda x: type(x).__name__)
def test_every_certificate_passes_the_independent_checker(problem, learner):
    dyn = mean_dynamics(problem, learner)
    certificate = json.loads(json.dumps(dyn.certificate(), allow_nan=False))
    assert check_certificate(certificate)
    expected = {"stable": "stable", "unstable": "unstable", "marginal": "singular"}
    assert certificate["claim"] == expected[dyn.stability.verdict]
    assert certificate["A"] == [[str(x) for x in row] for row in dyn.A.tolist()]


def test_the_checker_uses_the_standard_library_alone():
    import ast
    from pathlib import Path

    import obliquetd.dynamics.check as module

    tree = ast.parse(Path(module.__file__).read_text())
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert imported == {"__future__", "fractions", "typing"}
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Import)]


def numbers(certificate):
    """The place of every number in a certificate."""
    for key in ("A", "basis", "quotient", "K"):
        for i, row in enumerate(certificate.get(key, [])):
            for j in range(len(row)):
                yield key, i, j
    for i in range(len(certificate.get("vector", []))):
        yield "vector", i, None


def changed(certificate, place, value):
    out = copy.deepcopy(certificate)
    key, i, j = place
    if j is None:
        out[key][i] = value
    else:
        out[key][i][j] = value
    return out


@pytest.mark.parametrize(("problem", "learner"), CASES[:5], ids=lambda x: type(x).__name__)
def test_changing_a_number_of_A_or_of_the_quotient_is_caught(problem, learner):
    certificate = mean_dynamics(problem, learner).certificate()
    for place in numbers(certificate):
        if place[0] in ("A", "basis", "quotient"):
            mutated = changed(certificate, place, "1234567/89")
            if place[0] == "A" or mutated[place[0]] != certificate[place[0]]:
                same_claim = check_certificate(mutated)
                if place[0] == "A":
                    assert not same_claim, place
                elif same_claim:  # other coordinates of the same span prove the same claim on A
                    assert place[0] == "basis", place


@pytest.mark.parametrize(("problem", "learner"), CASES[:5], ids=lambda x: type(x).__name__)
def test_a_false_claim_about_the_same_matrix_fails(problem, learner):
    certificate = mean_dynamics(problem, learner).certificate()
    size = len(certificate["quotient"])
    identity = [["1" if i == j else "0" for j in range(size)] for i in range(size)]
    for claim in {"stable", "unstable", "singular"} - {certificate["claim"]}:
        forged = {"rate": "0", "vector": ["1"] * size, "K": identity, **certificate, "claim": claim}
        assert not check_certificate(forged)
    for key in ("A", "basis", "quotient", "claim"):
        assert not check_certificate({k: v for k, v in certificate.items() if k != key})


@pytest.mark.parametrize(
    "bad",
    [
        None,
        {},
        [],
        "stable",
        {"claim": "stable"},
        {"claim": "stable", "A": [], "basis": [], "quotient": [], "K": []},
        {
            "claim": "stable",
            "A": [[1]],
            "basis": [["1"]],
            "quotient": [["1"]],
            "K": [["1"]],
        },
        {
            "claim": "stable",
            "A": [["1/0"]],
            "basis": [["1"]],
            "quotient": [["1"]],
            "K": [["1"]],
        },
    ],
)
def test_what_is_no_certificate_proves_nothing(bad):
    assert check_certificate(bad) is False


def test_there_is_nothing_to_certify_without_features():
    mdp = MDP.from_transitions([(0, 0, 0, 1, 0)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=[[0]], discount="1/2")
    with pytest.raises(MathematicalError, match="nothing to certify"):
        mean_dynamics(problem, TD()).certificate()


def test_certificates_need_rationals():
    for problem in (two_state(discount=0.9), two_state(discount="g")):
        with pytest.raises(KindError, match="rationals"):
            mean_dynamics(problem, TD()).certificate()


class TestRegions:
    def test_two_states(self):
        problem = two_state(discount="gamma")
        assert stability_region(problem, TD(), "gamma") == sp.Interval.Ropen(0, R(5, 6))
        assert stability_region(problem, ETD(), g) == sp.Interval.Ropen(0, 1)
        assert sp.Interval.open(0, 1).is_subset(
            stability_region(problem, SETD(), g) + sp.FiniteSet(R(1, 2))
        )

    @pytest.mark.parametrize("lam", ["0", "1/4", "1/2", "1"])
    def test_td_lambda_is_stable_where_gamma_times_six_minus_lambda_is_below_five(self, lam):
        region = stability_region(two_state(discount="gamma"), TD(lam=lam), "gamma")
        assert region == sp.Interval.Ropen(0, min(R(5) / (6 - R(lam)), R(1)))

    def test_the_trace_parameter_and_mu(self):
        assert stability_region(two_state(), TD(lam="l"), "l") == sp.Interval.Lopen(R(4, 9), 1)
        # trace of [[-1/5, 27/10], [-mu/5, 5 mu/2]] is 5 mu/2 - 1/5, its determinant mu/25
        assert stability_region(two_state(), TDC(mu="m"), "m") == sp.Interval.open(R(2, 25), sp.oo)
        assert stability_region(two_state(), GTD2(mu="m"), "m") == sp.Interval.open(0, sp.oo)

    @pytest.mark.parametrize(
        ("setting", "domain", "region"),
        [
            ("1/m", sp.Interval(-1, 20), sp.Interval.open(0, R(25, 2))),
            ("1/(1 - m)", sp.Interval(-5, 5), sp.Interval.Ropen(-5, 1)),
            ("m/(2 - m)", sp.Interval(-3, 3), sp.Interval.open(R(4, 27), 2)),
            ("1/(2 - m**2)", sp.Interval(0, 3), sp.Interval.Ropen(0, sp.sqrt(2))),
        ],
    )
    def test_stability_changes_at_a_pole(self, setting, domain, region):
        """TDC on two states is stable for mu > 2/25; mu jumps from below 0 to above it."""
        assert stability_region(two_state(), TDC(mu=setting), "m", domain=domain) == region

    @pytest.mark.parametrize("pole", [R(1, 2), R(-3), R(7, 5)])
    def test_a_pole_of_a_coefficient_is_looked_at(self, pole):
        """y + 1/(m - pole) has its root on the other side, and no coefficient a root of its own."""
        m = sp.Symbol("m")
        found = crossings([sp.Integer(1), 1 / (m - pole)])
        assert [root for c in found for root in sp.solve(c, m)] == [pole]

    def test_a_pole_splits_a_range(self):
        """The sign of 1/(2 m - 1) changes at 1/2, where it has no root."""
        m = sp.Symbol("m")
        assert break_points(sp.Integer(0), sp.Integer(1), [1 / (2 * m - 1)], m) == [0, R(1, 2), 1]
        assert break_points(sp.Integer(0), sp.Integer(1), [(3 * m - 1) / (2 * m - 1)], m) == [
            0, R(1, 3), R(1, 2), 1,
        ]  # fmt: skip
        assert break_points(sp.Integer(0), sp.Integer(1), [1 / (2 * m - 3)], m) == [0, 1]

    def test_a_feature_and_a_probability(self):
        base = two_state()
        feature = PolicyEvaluation(
            base.mdp,
            target=base.target,
            behavior=base.behavior,
            features=[[1], ["b"]],
            discount="9/10",
        )
        # A = (1 - 9b/10 + b^2/10)/2: roots 9/2 +- sqrt(41)/2
        low, high = R(9, 2) - sp.sqrt(41) / 2, R(9, 2) + sp.sqrt(41) / 2
        region = stability_region(feature, TD(), "b")
        for point in (low - 0.01, high + 0.01):
            assert point in region
        for point in (low + R(1, 100), 2, high - R(1, 100)):
            assert point not in region
        behavior = Policy(
            {"left": {"left": "1-p", "right": "p"}, "right": {"left": "1-p", "right": "p"}}
        )
        mixed = PolicyEvaluation(
            base.mdp, target=base.target, behavior=behavior, features=[[1], [2]], discount="9/10"
        )
        # xi = (1 - p, p): A = -8/10 (1 - p) + 4/10 p, positive for p > 2/3
        assert stability_region(mixed, TD(), "p") == sp.Interval.Lopen(R(2, 3), 1)

    def test_bairds_star(self):
        region = stability_region(baird_star(discount="gamma"), TD(), "gamma")
        assert region == sp.Interval.Ropen(0, R(15, 17))
        mu = stability_region(baird_star(), TDC(mu="m"), "m")
        edge = mu.inf
        assert mu.sup == sp.oo
        for factor, expected in ((R(99, 100), False), (R(101, 100), True)):
            at = R(str(sp.N(edge * factor, 12)))
            assert mean_dynamics(baird_star(), TDC(mu=at)).is_stable() is expected

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("learner", [TD(), SETD(), TD(lam="1/2")])
    def test_the_region_is_right_at_points_of_a_grid(self, seed, learner):
        problem = random_problem(3, 2, seed=seed, discount="gamma")
        region = stability_region(problem, learner, "gamma")
        for k in range(1, 20):
            value = R(k, 20)
            there = mean_dynamics(problem.subs({g: value}), learner)
            assert (value in region) == there.is_stable(), (seed, value)

    def test_an_end_point_where_there_is_no_learner_is_left_out(self):
        region = stability_region(two_state(), GTD2(mu="m"), "m", domain=sp.Interval(0, 2))
        assert region == sp.Interval.Lopen(0, 2)

    def test_bad_input(self):
        with pytest.raises(InputError, match="gamma occurs neither"):
            stability_region(two_state(), TD(), "gamma")
        with pytest.raises(InputError, match="l is free too"):
            stability_region(two_state(discount="g"), TD(lam="l"), "g")

    @pytest.mark.parametrize("scale", [1, 3])
    def test_an_irrational_point_where_the_learner_is_undefined_is_left_out(self, scale):
        """Delta phi of state 0 is 1 - z^2 scale / 2: Omega_S divides by it, and SETD itself does not."""
        problem = PolicyEvaluation.from_chain(
            [[0, 1], [1, 0]], [1, 0], features=[[1], [f"{scale}*z**2"]], discount="1/2"
        )
        found = stability_region(problem, SETD(omega="expected"), "z")
        pole = sp.sqrt(sp.Rational(2, scale))
        assert found.contains(pole) == sp.false
        assert found.contains(-pole) == sp.false
        assert found.contains(pole + sp.Rational(1, 10**6)) == sp.true
        assert stability_region(problem, SETD(), "z") == sp.S.Reals


class TestMaps:
    def test_two_symbols(self):
        """TD(lambda) on two states is stable exactly where gamma (6 - lambda) < 5."""
        found = stability_map(
            two_state(discount="gamma"),
            TD(lam="l"),
            ("gamma", "l"),
            ((0, 1), (0, 1)),
            resolution=10,
        )
        gamma, lam = sp.symbols("gamma l")
        assert 5 - 6 * gamma + gamma * lam in found.boundary
        for i, u in enumerate(found.first):
            for j, v in enumerate(found.second):
                assert found.stable[i][j] == bool(u * (6 - v) < 5)

    def test_bad_input(self):
        with pytest.raises(InputError, match="exactly the free symbols"):
            stability_map(two_state(discount="g"), TD(), ("g", "h"), ((0, 1), (0, 1)))
        with pytest.raises(InputError, match="resolution"):
            stability_map(
                two_state(discount="g"), TD(lam="l"), ("g", "l"), ((0, 1), (0, 1)), resolution=0
            )

    def test_a_sign_that_the_range_of_lambda_decides(self):
        """omega's sign changes at gamma = 1/2 alone, whatever lambda in [0, 1] is."""
        found = stability_map(
            two_state(discount="g"), SETD(lam="l"), ("g", "l"), ((0, 1), (0, 1)), resolution=4
        )
        for i, u in enumerate(found.first):
            for j, v in enumerate(found.second):
                dyn = mean_dynamics(two_state(discount=u), SETD(lam=v))
                assert found.stable[i][j] == dyn.is_stable()


@pytest.mark.parametrize("size", [1e100, 1e-100, 1e150])
@pytest.mark.parametrize("learner", [TD(), SETD(), TDC()])
def test_features_whose_squares_are_large_are_judged_without_numpys_warning(size, learner):
    """A of size 1e200, whose squares overflow: as with features of size 1 (warnings are errors)."""
    mdp = MDP.from_transitions(
        [("s", "a", "t", 0.5, 1), ("s", "a", "s", 0.5, 0), ("t", "a", "s", 0.25, 0),
         ("t", "a", "t", 0.75, 2)]
    )  # fmt: skip
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[size, 0], [2 * size, size]], discount=0.9
    )
    assert mean_dynamics(problem, learner).stability.verdict == "stable"
