"""Every claim has its verdict, and each check is fed a statement that must fare otherwise."""

import json
import operator

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.claims import REGISTRY, Claim, Outcome, Registry, Verdict, claim, verify
from obliquetd.claims.battery import letters
from obliquetd.claims.claim import Counterexample
from obliquetd.claims.table_one import rounds_to
from obliquetd.claims.two_state import PRINTED
from obliquetd.domains import two_state
from obliquetd.errors import InputError
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC

Phi, X, Xi, L, P, r = letters.Phi, letters.X, letters.Xi, letters.L, letters.P, letters.r

VERDICTS = {
    "proved": """
        projection-idempotent projection-range-and-null-space projection-orthogonal
        least-squares-projection-is-oblique rmspbe-two-forms lemma-1-best lemma-1-identity lemma-1
        lemma-1-the-solution bellman-equation y-td y-rg lemma-2-sufficient lemma-2-equivalences
        criterion-of-x-star proposition-1 lemma-rank-one-norms norm-minimizers-agree triangle-bound
        omega-closed-form omega-star-closed-form c-hat-unbiased importance-weighting rho-minus-one
        index-shift second-rho-minus-one delta-recursion trace-form trace-unrolled power-series
        f-is-limit-of-trace emphasis-steady-state td-identity sequential-sampling
        setd-consistent-deterministic etd-lambda-forward-view dissipation-identity
        dissipation-identity-per-transition td-on-policy-stable td-lambda-on-policy-stable
        etd-off-policy-stable etd-lambda-off-policy-stable etd-beta-window gtd2-off-policy-stable
        tdc-stable-for-large-mu setd-trace-nonnegative setd-one-feature-never-unstable
        setd-two-states-never-unstable setd-smallest-counterexample cost-linear gtd2-averaged-noise-is-td""",
    "verified": """
        td-diverges-two-state two-state-P-pi two-state-L-pi two-state-X-star two-state-f
        two-state-Omega-S two-state-X-S two-state-X-TD table-1-setd table-1-td
        setd-better-by-criterion td-upper-bound setd-least-noise-two-state etd-constant-step-noise-boyan
        setd-noisier-than-gtd2-boyan""",
    "corrected": """
        rows-are-basis rows-of-xi-phi-are-basis lemma-1-let lemma-1-existence best-unique-and-stable
        lemma-rank-one-eigenvalues omega-always-defined omega-by-zeroing-gradient
        sample-estimate-of-lambda policy-names-swapped lambda-td-equation lambda-return-expectation
        f-is-diagonal-of-x f-is-diagonal-of-omega two-state-Omega-E two-state-X-E omega-names-swapped
        table-1-etd setd-better-by-distance setd-expected-update tdc-off-policy-stable""",
    "refuted": """
        closeness-means-stability lemma-2-necessary proposition-1-and-lemma-1 omega-positive
        relaxation-is-batch-minimizer rho-minus-one-with-omega etd-many-episodes setd-better-by-angle
        td-upper-bound-general setd-consistent-stochastic setd-lambda-forward-view
        etd-trace-second-moment setd-off-policy-stable setd-on-policy-stable
        setd-lambda-one-feature-never-unstable etd-noise-two-state noise-ordered-on-star
        setd-averaged-noise-boyan setd-constant-step-noise-boyan etd-averaged-noise-boyan
        setd-steady-spread-boyan""",
    "open": "etd-sensitive-to-step-sizes setd-large-initial-variance",
}
EXPECTED = {name: verdict for verdict, names in VERDICTS.items() for name in names.split()}


def test_every_claim_has_an_expected_verdict_and_no_other():
    assert set(EXPECTED) == {c.id for c in REGISTRY}


@pytest.mark.parametrize("name", EXPECTED)
def test_verdict(results, name):
    assert results[name].verdict == EXPECTED[name], results[name].evidence
    assert results[name].evidence
    assert results[name].statement


# For a claim that holds: a broken statement, and what its check must say.
# For one that fails as printed: the true statement, which must be cleared.
def swapped(name):
    rows = [list(row) for row in PRINTED[name]]
    rows[0][0] = "7"
    return {"printed": rows}


OTHERWISE = {
    "projection-idempotent": ({"projection": Phi @ X.T}, "refuted"),
    "projection-range-and-null-space": ({"projection": Phi @ X.T}, "refuted"),
    "projection-orthogonal": ({"spans": Xi @ Phi}, "refuted"),
    "rows-are-basis": ({"axis": "columns"}, "verified"),
    "least-squares-projection-is-oblique": ({"X_of_Pi": Phi}, "refuted"),
    "lemma-1-identity": ({"along": X}, "refuted"),
    "lemma-1": ({"X_star": Xi @ Phi}, "refuted"),
    "rows-of-xi-phi-are-basis": ({"axis": "columns"}, "verified"),
    "lemma-1-best": ({"best": X @ X.T @ letters.V}, "refuted"),
    "lemma-1-the-solution": ({"solution": letters.V}, "refuted"),
    "lemma-1-let": ({"conclusion": "one span"}, "verified"),
    "lemma-1-existence": ({"policy": "on-policy"}, "verified"),
    "best-unique-and-stable": ({"weights": "positive"}, "verified"),
    "closeness-means-stability": ({"discount": "1/2"}, "verified"),
    "lemma-2-equivalences": ({"back": Phi @ X.T}, "refuted"),
    "y-td": ({"Y": L @ Phi}, "refuted"),
    "y-rg": ({"Y": Phi}, "refuted"),
    "lemma-2-sufficient": ({"solution": Phi @ X.T @ r}, "refuted"),
    "lemma-2-necessary": ({"discount": "9/10"}, "open"),
    "rmspbe-two-forms": ({"value": r}, "refuted"),
    "bellman-equation": ({"sign": -1}, "refuted"),
    "criterion-of-x-star": ({"X_star": Xi @ Phi}, "refuted"),
    "proposition-1": ({"conclusion": Phi}, "refuted"),
    "proposition-1-and-lemma-1": ({"rank": "any"}, "verified"),
    "lemma-rank-one-eigenvalues": ({"nonzero": "at most one"}, "proved"),
    "lemma-rank-one-norms": ({"squared": lambda u, v: u + v}, "refuted"),
    "norm-minimizers-agree": ({"second": "other"}, "refuted"),
    "omega-closed-form": ({"formula": lambda a, b: 2 * b / a}, "refuted"),
    "omega-always-defined": ({"discount": "9/10"}, "verified"),
    "omega-positive": ({"discount": "1/4"}, "verified"),
    "relaxation-is-batch-minimizer": ({"candidate": "batch"}, "verified"),
    "triangle-bound": ({"direction": -1}, "refuted"),
    "omega-by-zeroing-gradient": ({"bound": "none"}, "verified"),
    "omega-star-closed-form": ({"shift": 1}, "refuted"),
    "c-hat-unbiased": ({"power": 2}, "refuted"),
    "sample-estimate-of-lambda": ({"ratio": "rho"}, "verified"),
    "policy-names-swapped": ({"behavior": "pi_b"}, "verified"),
    "index-shift": ({"stationary": False}, "refuted"),
    "second-rho-minus-one": ({"shift": 2}, "refuted"),
    "cost-linear": ({"degree": 0}, "refuted"),
    "etd-sensitive-to-step-sizes": ({"domain": "two-state"}, "verified"),
    "setd-large-initial-variance": ({"domain": "two-state"}, "verified"),
    "importance-weighting": ({"ratio": lambda x: x.rho * 0 + 1}, "refuted"),
    "lambda-td-equation": ({"trace": "0"}, "verified"),
    "lambda-return-expectation": ({"actions_of": "b"}, "verified"),
    "delta-recursion": ({"last": "0"}, "refuted"),
    "rho-minus-one": ({"shift": 2}, "refuted"),
    "rho-minus-one-with-omega": ({"omega": "state"}, "verified"),
    "trace-form": ({"decay": P.T}, "refuted"),
    "trace-unrolled": ({"inner_ratio": 0}, "refuted"),
    "power-series": ({"step": P.T}, "refuted"),
    "f-is-limit-of-trace": ({"ratio": lambda pi, mu: 1}, "refuted"),
    "emphasis-steady-state": ({"candidate": "f"}, "refuted"),
    "f-is-diagonal-of-x": ({"matrix": "Xi Omega_E"}, "verified"),
    "td-identity": ({"next_features": Phi}, "refuted"),
    "f-is-diagonal-of-omega": ({"matrix": "Xi Omega_E"}, "verified"),
    "sequential-sampling": ({"learner": ETD()}, "refuted"),
    "etd-many-episodes": ({"order": "lost"}, "verified"),
    "td-diverges-two-state": ({"discount": "4/5"}, "refuted"),
    "two-state-P-pi": (swapped("P_pi"), "corrected"),
    "two-state-L-pi": (swapped("L_pi"), "corrected"),
    "two-state-X-star": (swapped("X_star"), "corrected"),
    "two-state-f": ({"series": ("0.5", "0.9", "0.8")}, "corrected"),
    "omega-names-swapped": ({"method_of_E": "etd"}, "verified"),
    "two-state-Omega-E": ({"printed": [["1", "0"], ["0", "19"]]}, "verified"),
    "two-state-X-E": ({"printed": [["0.5"], ["19"]]}, "verified"),
    "two-state-Omega-S": (swapped("Omega_S"), "corrected"),
    "two-state-X-S": (swapped("X_S"), "corrected"),
    "two-state-X-TD": (swapped("X_TD"), "corrected"),
    "table-1-setd": ({"printed": ("0.25", "4.5278")}, "corrected"),
    "table-1-etd": ({"definition": "example"}, "verified"),
    "table-1-td": ({"printed": ("7.30", "13.5")}, "corrected"),
    "setd-better-by-criterion": ({"pair": ("etd", "setd")}, "refuted"),
    "setd-better-by-distance": ({"definitions": ("example", "X_E")}, "verified"),
    "td-upper-bound": ({"discount": "1/10"}, "refuted"),
    "td-upper-bound-general": ({"problems": "two-state"}, "verified"),
    "setd-consistent-deterministic": ({"transitions": "stochastic"}, "refuted"),
    "setd-consistent-stochastic": ({"transitions": "deterministic"}, "verified"),
    "setd-expected-update": ({"transitions": "deterministic"}, "verified"),
    "setd-lambda-forward-view": ({"transitions": "deterministic"}, "verified"),
    "etd-lambda-forward-view": ({"weighting": "xi"}, "refuted"),
    "etd-trace-second-moment": ({"discount": "1/2"}, "verified"),
    "setd-off-policy-stable": ({"model": "two-state"}, "verified"),
    "setd-on-policy-stable": ({"model": "random"}, "verified"),
    "setd-one-feature-never-unstable": ({"features": 2}, "refuted"),
    "td-on-policy-stable": ({"policy": "off-policy"}, "refuted"),
    "td-lambda-on-policy-stable": ({"policy": "off-policy"}, "refuted"),
    "etd-off-policy-stable": ({"learner": TD()}, "refuted"),
    "etd-lambda-off-policy-stable": ({"make": TD}, "refuted"),
    "etd-beta-window": ({"beta": lambda gamma: gamma**2 / 4}, "refuted"),
    "dissipation-identity": ({"half": 1}, "refuted"),
    "dissipation-identity-per-transition": ({"columns": 2}, "refuted"),
    "gtd2-off-policy-stable": ({"make": TDC}, "refuted"),
    "tdc-stable-for-large-mu": ({"scale": sp.Rational(1, 10)}, "refuted"),
    "setd-trace-nonnegative": ({"learner": SETD(lam="1/2")}, "refuted"),
    "setd-lambda-one-feature-never-unstable": ({"lam": 0}, "verified"),
    "setd-two-states-never-unstable": ({"states": 3}, "refuted"),
    "setd-smallest-counterexample": ({"states": 4}, "refuted"),
    "tdc-off-policy-stable": ({"make": GTD2}, "verified"),
    "setd-better-by-angle": ({"pair": ("etd", "setd")}, "verified"),
    "gtd2-averaged-noise-is-td": ({"quantity": "constant step"}, "refuted"),
    "etd-noise-two-state": ({"discount": "7/10"}, "verified"),
    "setd-least-noise-two-state": ({"least": "GTD2"}, "refuted"),
    "noise-ordered-on-star": ({"larger": operator.ge}, "verified"),
    "setd-averaged-noise-boyan": ({"pair": ("SETD", "TD")}, "verified"),
    "setd-constant-step-noise-boyan": ({"lambdas": ("4/5",)}, "verified"),
    "etd-averaged-noise-boyan": ({"lambdas": ("2/5", "4/5")}, "verified"),
    "etd-constant-step-noise-boyan": ({"pair": ("TD", "ETD")}, "refuted"),
    "setd-noisier-than-gtd2-boyan": ({"pair": ("TD", "SETD")}, "refuted"),
    "setd-steady-spread-boyan": ({"among": ("SETD", "GTD2"), "similar": 2}, "verified"),
}


def test_every_decided_claim_is_fed_another_statement():
    assert set(OTHERWISE) == set(EXPECTED)


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_check_can_come_out_otherwise(name):
    arguments, verdict = OTHERWISE[name]
    outcome = REGISTRY[name].check(**arguments)
    assert str(outcome.verdict) == verdict
    assert verdict != EXPECTED[name]


def test_counterexamples_can_be_run_again_from_their_model(results):
    found = 0
    for result in results.values():
        example = result.outcome.counterexample
        if result.verdict in ("refuted", "corrected"):
            assert example is not None, result.id
        if example is not None:
            json.dumps(dict(example.model), allow_nan=False)
            assert example.rerun() is not None, result.id
            found += 1
    assert found >= 17


def test_a_counterexample_is_not_one_on_a_problem_where_the_statement_holds(results):
    example = results["omega-positive"].outcome.counterexample
    assert example.violation(two_state(discount="1/4")) is None


@pytest.mark.parametrize("columns", [("criterion",), ("distance",), ("criterion", "distance")])
def test_td_is_no_bound_in_each_column_that_the_sentence_names(columns):
    outcome = REGISTRY["td-upper-bound-general"].check(columns=columns)
    assert outcome.verdict == "refuted"
    problem = outcome.counterexample.problem()
    td = problem.fixed_point("td")
    further = {
        c: max(getattr(problem.fixed_point(m), c) for m in ("setd", "etd")) > getattr(td, c)
        for c in columns
    }
    assert all(further.values())
    assert [k for k in outcome.numbers if k.endswith("of TD")] == [f"{c} of TD" for c in columns]


def test_the_printed_bound_has_both_columns():
    printed = REGISTRY["td-upper-bound-general"].statement
    assert r"\|\Lambda^\top X - C\|_F^2 \le" in printed
    assert r"\|X - X^*\|_2 \le" in printed


def test_table_one(results):
    etd = results["table-1-etd"].outcome
    assert etd.numbers["criterion"] == sp.Rational(81, 100)
    assert etd.numbers["distance"] == sp.Rational(9, 2)
    assert etd.numbers["criterion with diag(f)"] == sp.Rational(16, 25)
    assert "9/2" in etd.correction
    assert "misprint" in results["two-state-Omega-E"].outcome.correction


def test_printed_numbers_are_compared_at_their_own_precision():
    assert rounds_to(sp.sqrt(82) / 2, "4.5277")
    assert not rounds_to(sp.sqrt(82) / 2, "4.5276")


def test_records_are_strict_json(results):
    text = json.dumps([r.to_dict() for r in results.values()], allow_nan=False)
    for record in json.loads(text):
        assert set(record) >= {
            "id",
            "origin",
            "assumptions",
            "where",
            "statement",
            "verdict",
            "evidence",
            "counterexample",
        }


def test_users_keep_claims_of_their_own():
    mine = Registry()

    @claim("theirs", where="my paper", title="t", statement="v = 0", registry=mine)
    def values_vanish(problem=None):
        problem = problem or two_state(reward=1)
        found = Counterexample.find(
            [problem], lambda p: None if p.v_pi.is_zero_matrix else {"v": p.v_pi}
        )
        if found is None:
            return Outcome(Verdict.VERIFIED, "v = 0")
        return Outcome(Verdict.REFUTED, "v is not 0", counterexample=found)

    assert isinstance(values_vanish, Claim)
    (result,) = verify(registry=mine)
    assert result.verdict == "refuted"
    assert values_vanish.check(two_state()).verdict == "verified"
    with pytest.raises(InputError, match="taken"):
        mine.add(values_vanish)
    with pytest.raises(InputError, match="no claim is called 'nothing'"):
        verify(["nothing"])


def test_a_check_that_cannot_be_completed_is_open_and_said_to_have_failed():
    mine = Registry()

    @claim("broken", where="", title="", statement="", registry=mine)
    def broken():
        raise ZeroDivisionError("oops")

    @claim("fine", where="", title="", statement="", registry=mine)
    def fine():
        return Outcome(Verdict.VERIFIED, "fine")

    first, second = verify(registry=mine)
    assert (first.verdict, first.failed, first.evidence) == (
        "open",
        True,
        "ZeroDivisionError: oops",
    )
    assert (second.verdict, second.failed) == ("verified", False)


def test_a_refutation_needs_a_counterexample_and_a_correction_a_text():
    with pytest.raises(InputError, match="counterexample"):
        Outcome(Verdict.REFUTED, "because")
    with pytest.raises(InputError, match="correction"):
        Outcome(Verdict.CORRECTED, "because")


def test_the_public_function():
    assert [r.verdict for r in otd.verify(["lemma-1", "omega-positive"])] == ["proved", "refuted"]
