"""Assumptions as data: each is dropped, and every counterexample is run through all of them."""

import json

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.claims import (
    REGISTRY,
    Assumption,
    Counterexample,
    Outcome,
    Registry,
    Setting,
    Verdict,
    claim,
    emphasis_window,
    tally,
    verify,
)
from obliquetd.claims import assumptions as known
from obliquetd.claims.battery import decide_identity, letters
from obliquetd.claims.gallery import (
    gallery,
    leaves_for_good,
    ring,
    two_loops,
    vanishing_best_projection,
)
from obliquetd.claims.smallest import rising_chain
from obliquetd.claims.stable import on_moved_span, verdict_on
from obliquetd.claims.stable_learners import single_action
from obliquetd.claims.words import inverse_of
from obliquetd.domains import two_state
from obliquetd.errors import CoverageError, InputError, MathematicalError

NEEDED = {"needed", "not known to be needed", "implied by the others", "built in", "met by the counterexample"}  # fmt: skip
IDS = [c.id for c in REGISTRY]


@pytest.mark.parametrize("name", IDS)
def test_each_assumption_is_dropped(results, name):
    result = results[name]
    for dropped in result.assumptions:
        assert dropped.needed in NEEDED
        assert dropped.evidence
        assert dropped.name in {a.name for a in result.setting.assumptions}
        false = result.verdict in ("refuted", "corrected")
        if dropped.needed == "met by the counterexample":
            assert false
            assert result.outcome.counterexample is not None
        if dropped.needed == "not known to be needed":
            assert not false
            assert "holds on 0 problems" not in dropped.evidence
            assert "n <= 4 states" in dropped.evidence
        if dropped.needed == "needed":
            example = dropped.counterexample
            problem = example.problem()
            assert result.setting.unmet(problem, example.learner) == [dropped.name]
            assert example.rerun() is not None


@pytest.mark.parametrize("name", IDS)
def test_a_counterexample_meets_every_hypothesis(results, name):
    result = results[name]
    assert not result.failed, result.evidence
    example = result.outcome.counterexample
    if example is not None:
        assert result.setting.unmet(example.problem(), example.learner) == []
        for a in result.setting.assumptions:
            assert a.name in result.evidence, "the evidence says that it was checked"


@pytest.mark.parametrize("name", IDS)
def test_what_is_not_proved_says_why(results, name):
    result = results[name]
    assert result.origin in ("paper", "ours")
    if result.verdict in ("verified", "open"):
        assert result.claim.scope
        assert result.claim.scope[:40] in result.evidence or result.verdict == "open"
    for a in result.setting.assumptions:
        assert a.latex in result.statement
    json.dumps(result.to_dict(), allow_nan=False)


def test_claims_are_counted_by_origin_and_verdict(results):
    counts = tally(results.values())
    assert sum(counts["paper"].values()) + sum(counts["ours"].values()) == len(REGISTRY)
    for origin, by_verdict in counts.items():
        for verdict, number in by_verdict.items():
            assert number == sum(
                r.origin == origin and r.verdict == verdict for r in results.values()
            )


# --- the mechanism ---------------------------------------------------------------------


def with_example(problem, *assumptions, learner=None):
    """A refuted claim whose counterexample is the problem."""
    mine = Registry()

    @claim(
        "x", where="", title="", statement="x", registry=mine,
        setting=Setting(assumptions, learner=learner),
    )  # fmt: skip
    def check():
        found = Counterexample.find([problem], lambda p: {"seen": sp.Integer(1)}, learner)
        return Outcome(Verdict.REFUTED, "so", {}, found)

    return verify(registry=mine)[0]


OWN_XI = otd.PolicyEvaluation(
    leaves_for_good().mdp, target=leaves_for_good().target,
    features={1: [1], 2: [-1]}, discount="9/10", xi={1: "5/9", 2: "4/9"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "assumption", "learner"),
    [
        (OWN_XI, known.STATIONARY, None),  # the old example of lemma-1-existence
        (two_state(), known.ON_POLICY, None),
        (two_state(discount="5/6"), known.A_NONSINGULAR, otd.GTD2(mu=1)),
        (leaves_for_good(), known.POSITIVE_WEIGHTS, None),
        (two_state(discount=1), known.VALUES_EXIST, None),
        (two_state(), known.LAMBDA_0, otd.TD(lam="1/2")),
        (vanishing_best_projection(), known.X_STAR_CROSSES, None),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_a_counterexample_that_misses_a_hypothesis_is_none(problem, assumption, learner):
    result = with_example(problem, assumption, learner=learner)
    assert result.failed
    assert result.verdict == "open"
    assert f"does not meet: {assumption.name}" in result.evidence


def test_a_counterexample_that_meets_them_counts():
    result = with_example(two_state(), known.COVERAGE, known.FULL_RANK, known.STATIONARY)
    assert (result.failed, result.verdict) == (False, "refuted")
    assert "meets every hypothesis: coverage, full rank, xi stationary" in result.evidence


def test_dropping_finds_the_counterexample_or_counts_the_search():
    def not_two(problem, learner):
        return {"states": sp.Integer(3)} if len(problem.states) == 3 else None

    small = Assumption("small", "two states", lambda p, _: len(p.states) == 2)
    idle = Assumption("idle", "discount 9/10", lambda p, _: p.discount == sp.Rational(9, 10))
    setting = Setting((small, idle), fails=not_two)
    needed, unknown = setting.dropped()
    assert needed.needed == "needed"
    assert len(needed.counterexample.problem().states) == 3
    assert unknown.needed == "not known to be needed"
    tried = [p for p in gallery() if len(p.states) == 2 and p.discount != sp.Rational(9, 10)]
    assert f"holds on {min(len(tried), 60)} problems" in unknown.evidence


def test_a_given_case_has_to_be_one():
    setting = Setting(
        (known.ON_POLICY, known.FULL_RANK),
        fails=lambda p, _: None,
        without={"full rank": lambda: (two_state(), None)},
    )
    with pytest.raises(InputError, match="does not meet"):
        setting.dropped()
    with pytest.raises(InputError, match="is no assumption here"):
        Setting((known.ON_POLICY,), implied={"full rank": "so"})


def test_origin_is_one_of_two():
    with pytest.raises(InputError, match="origin is 'theirs'"):
        claim("z", where="", title="", statement="", origin="theirs", registry=Registry())(Outcome)


def test_coverage_is_built_in():
    base = two_state()
    with pytest.raises(CoverageError):
        otd.PolicyEvaluation(
            base.mdp, target=base.target,
            behavior=otd.Policy.deterministic({"left": "left", "right": "left"}), features=[[1], [2]],
        )  # fmt: skip


# --- hypotheses that a proof needs: each by the counterexample to the statement without it ----


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


# --- the numbers that the issues of the paper turn on -------------------------------------


def test_setd_with_a_trace_is_unstable_on_the_rising_chain():
    dyn = otd.mean_dynamics(rising_chain(), otd.SETD(lam="1/2"))
    assert rising_chain().xi.T.tolist() == [[sp.Rational(1, 3)] * 3]
    assert sp.Matrix([[sp.Rational(-17450, 33)]]) == dyn.A
    assert otd.check_certificate(dyn.certificate())
    assert otd.mean_dynamics(rising_chain(), otd.SETD()).A[0] > 0


def test_the_projection_along_X_star_can_be_missing():
    problem = vanishing_best_projection()
    assert not problem.on_policy
    assert problem.xi.T.tolist() == [[sp.Rational(5, 9), sp.Rational(4, 9)]]
    assert (problem.P_b.T * problem.xi - problem.xi).is_zero_matrix
    assert (problem.X_star.T * problem.Phi)[0] == 0
    assert problem.C[0] == 1


def test_the_sample_estimate_is_biased_off_policy(results):
    observed = results["sample-estimate-of-lambda"].outcome.numbers
    assert observed["mean of the samples"][0] == sp.Rational(19, 40)
    assert observed["Lambda'Xi Omega Phi"][0] == sp.Rational(-1, 5)


def test_table_one_under_each_definition(results):
    told = results["table-1-etd"].outcome.correction
    assert "inconsistent" in told
    for row in ("criterion = 16/25, distance = sqrt(401)/4", "criterion = 1, distance = 5", "criterion = 81/100, distance = 9/2"):  # fmt: skip
        assert row in told
    by_distance = results["setd-better-by-distance"].outcome.correction
    assert "it fails where f_i = xi(i) lim E[Omega_E | s_i]" in by_distance
    assert "under none" in results["setd-better-by-angle"].evidence


def test_windows_of_beta(results):
    told = results["etd-beta-window"].evidence
    assert "exact: Interval.open(1/3, 1)" in told
    assert "Interval.open(31/50, 1)" in told
    assert "Interval.open(7/11, 1)" in told


# --- independent routes to what is proved ---------------------------------------------------


def setd_matrix(Phi, P, xi, gamma):
    """SETD(0)'s A in floats, from the formula alone."""
    A = np.zeros((Phi.shape[1],) * 2)
    for s, t in np.ndindex(P.shape):
        delta = Phi[s] - gamma * Phi[t]
        size = delta @ delta
        weight = max(delta @ Phi[s], 0) / size if size else 0
        A += xi[s] * P[s, t] * weight * np.outer(Phi[s], delta)
    return A


def test_two_states_are_never_unstable_and_three_can_be():
    rng = np.random.default_rng(0)
    least = {2: 0.0, 3: 0.0}
    for n in (2, 3):
        for _ in range(3000):
            Phi = rng.integers(-3, 4, size=(n, 2)).astype(float)
            P = rng.dirichlet(np.full(n, 0.2), size=n)
            A = setd_matrix(Phi, P, rng.dirichlet(np.ones(n)), 0.9)
            assert A.trace() > -1e-9
            least[n] = min(least[n], np.linalg.eigvals(A).real.min() / (1e-9 + np.abs(A).max()))
    assert least[2] > -1e-7
    assert least[3] < -1e-3


def test_gradient_learners_are_stable_as_proved():
    rng = np.random.default_rng(1)
    for _ in range(300):
        d = int(rng.integers(1, 5))
        A, root = rng.normal(size=(d, d)), rng.normal(size=(d, d))
        C = root @ root.T
        mu = 10 ** rng.uniform(-3, 3)
        gtd2 = np.block([[np.zeros((d, d)), -A.T], [mu * A, mu * C]])
        assert np.linalg.eigvals(gtd2).real.min() > 0
        bound = -np.linalg.eigvals(np.linalg.solve(C, (A + A.T) / 2)).real.min()
        mu = max(1.01 * bound, 1e-3)
        tdc = np.block([[A, C - A.T], [mu * A, mu * C]])
        assert np.linalg.eigvals(tdc).real.min() > 0


@pytest.mark.parametrize("lam", [0, "1/3", "2/3", "9/10", 1])
def test_emphatic_and_on_policy_learners_are_stable_for_every_lambda(lam):
    for seed in range(4):
        off = otd.domains.random_problem(3, 2, seed=seed)
        on = otd.domains.random_problem(3, 2, seed=seed, on_policy=True)
        for problem, learner in ((off, otd.ETD(lam=lam)), (on, otd.TD(lam=lam))):
            A = otd.mean_dynamics(problem, learner).A
            assert verdict_on(A) == "stable"
            assert np.linalg.eigvals(np.array(A.tolist(), float)).real.min() > 0


def test_stability_is_the_papers_word_and_beside_it_that_of_what_data_moves():
    problem = leaves_for_good()
    for learner in (otd.TD(), otd.ETD()):
        assert verdict_on(otd.mean_dynamics(problem, learner).A) == "marginal"
        assert on_moved_span(problem, learner) == "stable"
    assert on_moved_span(two_state(), otd.TD()) == "unstable"
