"""Each hypothesis that a proof needs, by the counterexample to the statement without it."""

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.claims import REGISTRY, emphasis_window, verify
from obliquetd.claims import assumptions as known
from obliquetd.claims.battery import decide_identity, letters
from obliquetd.claims.gallery import gallery, ring, two_loops
from obliquetd.claims.stable_learners import single_action
from obliquetd.domains import two_state
from obliquetd.errors import MathematicalError
from obliquetd.words import inverse_of


def unmet(name, problem, learner=None):
    return REGISTRY[name].setting.unmet(problem, learner)


def test_samples_in_order_need_stationary_weights():
    problem = single_action()
    in_order = otd.PolicyEvaluation(
        problem.mdp, target=problem.target, features=[[1], [2]], discount="9/10"
    )
    learner = otd.SETD()
    assert otd.mean_dynamics(problem, learner, sampling="iid").A[0] == 2
    assert otd.mean_dynamics(in_order, learner, sampling="trajectory").A[0] == 4
    assert unmet("sequential-sampling", problem) == ["xi stationary"]
    assert REGISTRY["sequential-sampling"].setting.fails(problem, learner) is not None


def test_samples_in_order_need_one_class():
    loops = two_loops()
    problem = otd.PolicyEvaluation(
        loops.mdp, target=loops.target, features=[[1], [2]], discount="9/10", xi=["1/2", "1/2"]
    )
    found = otd.mean_dynamics(problem, otd.SETD(), sampling="trajectory")
    assert [each.A[0] for each in found.classes] == [1, 4]
    assert otd.mean_dynamics(problem, otd.SETD(), sampling="iid").A[0] == sp.Rational(5, 2)
    assert unmet("sequential-sampling", problem) == ["one class"]
    assert REGISTRY["sequential-sampling"].setting.fails(problem, otd.SETD()) is not None


def test_the_trace_of_independent_samples_needs_one_discount():
    rows = [(s, a, t, 1, 0, 0 if s == t == "right" else 1) for s in ("left", "right") for a, t in (("left", "left"), ("right", "right"))]  # fmt: skip
    base = two_state()
    problem = otd.PolicyEvaluation(
        otd.MDP.from_transitions(rows), target=base.target, behavior=base.behavior,
        features={"left": [1], "right": [2]}, discount="9/10",
    )  # fmt: skip
    seen = REGISTRY["sequential-sampling"].setting.fails(problem, otd.SETD())
    assert seen["A of ETD"][0] == sp.Rational(32, 11)
    assert unmet("sequential-sampling", problem) == ["one discount"]


def test_the_gallery_has_several_closed_classes():
    found = [p for p in gallery() if not known.ONE_CLASS.holds(p)]
    assert len(found) >= 10
    assert {len(p.states) for p in found} == {2, 3, 4}
    assert all(known.STATIONARY.holds(p) for p in found)
    assert all(len(otd.mean_dynamics(p, otd.TD()).classes) > 1 for p in found)


@pytest.mark.parametrize("name", ["lemma-1-best", "lemma-1-identity"])
def test_what_is_said_of_the_values_needs_them(name):
    setting = REGISTRY[name].check().setting
    nowhere = two_state(discount=1, reward=1)
    assert "L_pi non-singular" in setting.unmet(nowhere)
    with pytest.raises(MathematicalError, match="V_pi does not exist"):
        setting.fails(nowhere, None)
    (dropped,) = [setting._drop(a) for a in setting.assumptions if a is known.VALUES_EXIST]
    assert dropped.needed == "needed"


def test_any_identity_that_writes_V_assumes_it():
    V, L, r = letters.V, letters.L, letters.r
    assert known.VALUES_EXIST in decide_identity([("r", L @ V, r)]).setting.assumptions
    assert decide_identity([("L", L @ L, L @ L)]).setting.assumptions == ()
    inverse = inverse_of("L^-1", L)[0]
    assumed = decide_identity([("V", inverse @ L @ V, V)], inverses={"L^-1": L}).setting.assumptions
    assert [a.name for a in assumed] == ["L non-singular"]


@pytest.mark.parametrize(
    ("name", "assumption"),
    [
        ("sequential-sampling", "xi stationary"),
        ("sequential-sampling", "one class"),
        ("sequential-sampling", "one discount"),
        ("setd-consistent-deterministic", "one class"),
        ("td-identity", "one discount"),
        ("etd-beta-window", "full rank"),
        ("etd-beta-window", "xi > 0"),
        ("trace-form", "L_pi non-singular"),
        ("f-is-limit-of-trace", "xi > 0"),
    ],
)
def test_the_assumption_is_needed(name, assumption):
    setting = REGISTRY[name].setting
    (dropped,) = [setting._drop(a) for a in setting.assumptions if a.name == assumption]
    assert dropped.needed == "needed"
    assert dropped.counterexample.rerun() is not None


def test_a_trajectory_in_one_of_two_classes_finds_half_of_the_values():
    problem = two_loops()
    assert problem.v_pi.T.tolist() == [[2, 2]]
    found = otd.mean_dynamics(problem, otd.SETD())
    assert [each.v_hat.T.tolist() for each in found.classes] == [[[2, 0]], [[0, 2]]]
    assert unmet("setd-consistent-deterministic", problem) == ["one class"]
    assert REGISTRY["setd-consistent-deterministic"].setting.fails(problem, otd.SETD()) is not None


def test_the_forward_view_at_lambda_1_needs_the_values():
    setting = REGISTRY["trace-form"].setting
    with pytest.raises(MathematicalError):
        setting.fails(ring(2, 1), None)
    assert setting.fails(ring(2, "9/10"), None) is None
    assert not setting.implied


def test_the_estimate_of_C_needs_nothing():
    results = {r.id: r for r in verify(["c-hat-unbiased", "second-rho-minus-one"])}
    assert results["c-hat-unbiased"].assumptions == []
    assert "given s_{t-1}, a_{t-1} and s_t" in results["second-rho-minus-one"].evidence


def test_the_emphasis_keeps_weights_that_were_given():
    fails = REGISTRY["emphasis-steady-state"].setting.fails
    several = [p for p in gallery() if not known.ONE_CLASS.holds(p)]
    tested = [p for p in several if not unmet("emphasis-steady-state", p)]
    assert any(p.xi == two_loops().xi for p in tested)
    assert len(tested) >= 3
    assert all(fails(p, None) is None for p in tested)


def test_tdc_with_a_trace_has_the_blocks_of_its_proof():
    """From histories: E[phi e'] and E[g phi' e'] along a long trajectory, as a series, in floats."""
    problem = otd.domains.random_problem(3, 2, seed=61)
    Phi, P, xi = (np.array(m.tolist(), float) for m in (problem.Phi, problem.P_pi, problem.xi))
    gamma, D = float(problem.discount), np.diag(xi.ravel())
    for lam in (0, 0.3, 0.8, 1):
        Z, term = (
            np.zeros((3, 2)),
            D @ Phi,
        )  # the mean trace, without rho_t: sum of (lam gamma P')^k Xi Phi
        for _ in range(2000):
            Z, term = Z + term, lam * gamma * P.T @ term
        C, now, later = (
            Phi.T @ D @ Phi,
            Phi.T @ Z,
            (gamma * P @ Phi).T @ Z,
        )  # E[phi e'], E[g phi' e']
        assert np.allclose(now, C + lam * later)
        rule = np.array(
            otd.mean_dynamics(problem, otd.TDC(mu=1, lam=sp.nsimplify(lam))).A.tolist(), float
        )
        assert np.allclose(rule[:2, 2:], (1 - lam) * later)
        assert np.allclose(rule[:2, 2:], C - rule[:2, :2].T)


def test_tdc_is_stable_without_lambda_0():
    (claim_,) = verify(["tdc-stable-for-large-mu"])
    assert claim_.verdict == "proved"
    assert "lambda = 0" not in {a.name for a in claim_.assumptions}


def test_the_window_of_beta_ends_at_1():
    problem = two_state()
    assert emphasis_window._emphasis(problem, 2).T.tolist() == [
        [sp.Rational(1, 2), sp.Rational(-3, 2)]
    ]
    assert emphasis_window._window_ends(problem, 2) == (sp.Rational(27, 25), 1)
    assert emphasis_window._key(problem, 2)[0] == -1
    assert not emphasis_window.in_window(problem, 2)
    assert emphasis_window.in_window(problem, sp.Rational(81, 100))
    assert r"< \beta < 1" in REGISTRY["etd-beta-window"].statement


def test_without_a_discount_there_is_no_window_of_beta():
    setting = REGISTRY["etd-beta-window"].setting
    (dropped,) = [setting._drop(a) for a in setting.assumptions if a is known.DISCOUNT]
    assert dropped.needed == "implied by the others"
    betas = [sp.Rational(k, 8) for k in range(1, 8)]
    for problem in (two_state(discount=1), ring(3, 1)):
        assert not any(emphasis_window.in_window(problem, beta) for beta in betas)
