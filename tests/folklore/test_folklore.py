"""Every sentence has its verdict, and each check is fed a statement that must fare otherwise."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.claims import Setting, Verdict, pack_of, tally
from obliquetd.claims.setting import MET
from obliquetd.domains import two_state
from obliquetd.errors import InputError
from obliquetd.folklore import PACK, judge
from obliquetd.learners import (
    ETD,
    TD,
    TDC,
    DoubleSampledResidualGradient,
    ResidualGradient,
)

VERDICTS = {
    "proved": """
        td-bound-on-policy td-bound-pythagoras oblique-bound oblique-bound-attained realizable-exact
        complete-span-exact invariant-orthonormal-td-stable basis-does-not-matter-to-values on-policy-td-stable
        td-some-discount-stable n-steps-stabilise td-1-best-and-stable aggregation-stable td-gradient-reversible
        etd-stable gtd2-stable tdc-needs-mu-large htd-is-td-on-policy gradient-td-same-fixed-point
        double-sampled-residual-gradient bellman-error-bounds-error fqi-on-policy target-network-when
        averagers-never-diverge lstd-is-td-fixed-point true-online-same-mean cut-traces-finite""",
    "verified": "averaged-td-as-efficient-as-lstd constant-step-bias-trajectory",
    "corrected": "gtd2-slower-than-td v-trace-fixed-point averaged-td-mse-is-lstds constant-step-bias-iid",
    "refuted": """
        td-bound-off-policy td-no-worse-than-zero regularised-td-no-worse-than-zero realizable-td-converges
        complete-span-td-stable basis-does-not-matter-to-stability more-features-never-hurt
        on-policy-actions-suffice td-small-discount-stable more-steps-never-destabilise larger-lambda-better
        averagers-features-td-stable td-is-gradient-descent etd-finite-variance etd-beta-small-stable
        one-sample-residual-gradient td-no-worse-than-residual retrace-stable tree-backup-stable
        fqi-diverges-where-td-does td-diverges-where-fqi-does target-network-stabilises
        copying-more-rarely-is-safer larger-lambda-noisier importance-weighted-trace-finite""",
}
EXPECTED = {name: verdict for verdict, names in VERDICTS.items() for name in names.split()}

OTHERWISE = {
    "td-bound-on-policy": ({"factor": lambda kappa: 1}, "refuted"),
    "td-bound-pythagoras": ({"factor": lambda kappa: 1 + kappa**2 / 100}, "refuted"),
    "td-bound-off-policy": ({"policy": "on-policy", "constant": 10}, "proved"),
    "oblique-bound": ({"learner": TD(lam="1/2")}, "refuted"),
    "oblique-bound-attained": ({"missing": 2}, "refuted"),
    "td-no-worse-than-zero": ({"features": "tabular"}, "proved"),
    "regularised-td-no-worse-than-zero": ({"eta": "1/2"}, "proved"),
    "realizable-exact": ({"tilt": 1}, "refuted"),
    "complete-span-exact": ({"change": "basis"}, "refuted"),
    "realizable-td-converges": ({"policy": "on-policy"}, "proved"),
    "complete-span-td-stable": ({"basis": "orthonormal"}, "proved"),
    "invariant-orthonormal-td-stable": ({"shear": 1}, "refuted"),
    "basis-does-not-matter-to-values": ({"change": "weights"}, "refuted"),
    "basis-does-not-matter-to-stability": ({"policy": "on-policy"}, "proved"),
    "more-features-never-hurt": ({"method": "best"}, "proved"),
    "on-policy-td-stable": ({"policy": "off-policy"}, "refuted"),
    "on-policy-actions-suffice": ({"discount": "4/5"}, "proved"),
    "td-small-discount-stable": ({"size": 1}, "proved"),
    "td-some-discount-stable": ({"scale": 2}, "refuted"),
    "n-steps-stabilise": ({"scale": 2}, "refuted"),
    "more-steps-never-destabilise": ({"policy": "on-policy"}, "proved"),
    "td-1-best-and-stable": ({"lam": "1/2"}, "refuted"),
    "larger-lambda-better": ({"pair": (0, 1)}, "proved"),
    "aggregation-stable": ({"soft": True}, "refuted"),
    "averagers-features-td-stable": ({"hard": True}, "proved"),
    "td-is-gradient-descent": ({"chain": "reversible"}, "proved"),
    "td-gradient-reversible": ({"chain": "any"}, "refuted"),
    "etd-stable": ({"beta": "1/10"}, "refuted"),
    "etd-finite-variance": ({"discount": "7/10"}, "proved"),
    "etd-beta-small-stable": ({"beta": "2/5"}, "proved"),
    "gtd2-stable": ({"make": TDC}, "refuted"),
    "tdc-needs-mu-large": ({"scale": sp.Rational(1, 10)}, "refuted"),
    "gtd2-slower-than-td": ({"feature": 1}, "proved"),
    "htd-is-td-on-policy": ({"policy": "off-policy"}, "refuted"),
    "gradient-td-same-fixed-point": ({"other": ETD}, "refuted"),
    "one-sample-residual-gradient": ({"learner": DoubleSampledResidualGradient()}, "proved"),
    "double-sampled-residual-gradient": ({"learner": ResidualGradient()}, "refuted"),
    "td-no-worse-than-residual": ({"discount": "0"}, "proved"),
    "bellman-error-bounds-error": ({"scale": sp.Rational(99, 100)}, "refuted"),
    "retrace-stable": ({"features": "tabular"}, "proved"),
    "tree-backup-stable": ({"features": "tabular"}, "proved"),
    "v-trace-fixed-point": ({"cap": 100}, "proved"),
    "fqi-on-policy": ({"policy": "off-policy"}, "refuted"),
    "fqi-diverges-where-td-does": ({"features": "one"}, "proved"),
    "td-diverges-where-fqi-does": ({"policy": "on-policy"}, "proved"),
    "target-network-stabilises": ({"discount": "4/5"}, "proved"),
    "target-network-when": ({"converges": False}, "refuted"),
    "copying-more-rarely-is-safer": ({"policy": "on-policy"}, "proved"),
    "averagers-never-diverge": ({"fit": "least squares"}, "refuted"),
    "lstd-is-td-fixed-point": ({"learner": TD(lam="1/2")}, "refuted"),
    "averaged-td-as-efficient-as-lstd": ({"lams": (0, "1/2")}, "refuted"),
    "averaged-td-mse-is-lstds": ({"features": "tabular"}, "proved"),
    "constant-step-bias-iid": ({"sampling": "trajectory"}, "proved"),
    "constant-step-bias-trajectory": ({"sampling": "iid"}, "refuted"),
    "larger-lambda-noisier": ({"pair": ("1/2", "1/2")}, "proved"),
    "true-online-same-mean": ({"lam": 0}, "refuted"),
    "importance-weighted-trace-finite": ({"lam": 0}, "proved"),
    "cut-traces-finite": ({"learner": TD(lam=1)}, "refuted"),
}

QUICK = {
    "td-bound-off-policy",
    "td-no-worse-than-zero",
    "regularised-td-no-worse-than-zero",
    "realizable-td-converges",
    "more-features-never-hurt",
    "on-policy-td-stable",
    "on-policy-actions-suffice",
    "td-small-discount-stable",
    "larger-lambda-better",
    "averagers-features-td-stable",
    "td-is-gradient-descent",
    "etd-finite-variance",
    "etd-beta-small-stable",
    "gtd2-slower-than-td",
    "one-sample-residual-gradient",
    "td-no-worse-than-residual",
    "fqi-diverges-where-td-does",
    "td-diverges-where-fqi-does",
    "target-network-stabilises",
    "importance-weighted-trace-finite",
    "td-gradient-reversible",
}
"""Verdicts that take a few hundredths of a second; the others are judged with the slow tests."""

QUICK_OTHERWISE = {
    "td-bound-on-policy",
    "td-bound-pythagoras",
    "realizable-exact",
    "complete-span-exact",
    "on-policy-td-stable",
    "on-policy-actions-suffice",
    "td-small-discount-stable",
    "td-some-discount-stable",
    "n-steps-stabilise",
    "aggregation-stable",
    "etd-stable",
    "etd-finite-variance",
    "etd-beta-small-stable",
    "gtd2-stable",
    "gtd2-slower-than-td",
    "htd-is-td-on-policy",
    "fqi-on-policy",
    "target-network-stabilises",
    "target-network-when",
    "averagers-never-diverge",
    "lstd-is-td-fixed-point",
    "importance-weighted-trace-finite",
    "true-online-same-mean",
    "td-1-best-and-stable",
    "basis-does-not-matter-to-values",
}


def marked(names, quick):
    return [pytest.param(n, marks=[] if n in quick else [pytest.mark.slow]) for n in names]


def test_every_sentence_has_an_expected_verdict_and_a_statement_that_fares_otherwise():
    assert {c.id for c in PACK.registry} == set(EXPECTED) == set(OTHERWISE)
    assert len(PACK.registry) >= 40


@pytest.mark.parametrize("name", marked(EXPECTED, QUICK))
def test_verdict(name):
    claim = PACK.registry[name]
    outcome = claim.check()
    assert outcome.verdict == EXPECTED[name], outcome.evidence
    if outcome.verdict == "verified":
        assert int(re.match(r"Exact on (\d+) problems", outcome.evidence)[1]) >= judge.ENOUGH >= 200
    example = outcome.counterexample
    if example is not None:
        assert not claim.setting.unmet(example.problem(), example.learner)
        assert example.rerun() is not None
        json.dumps(dict(example.model), allow_nan=False)


@pytest.mark.parametrize("name", marked(OTHERWISE, QUICK_OTHERWISE))
def test_a_check_can_come_out_otherwise(name):
    arguments, verdict = OTHERWISE[name]
    assert verdict != EXPECTED[name]
    outcome = PACK.registry[name].check(**arguments)
    assert str(outcome.verdict) == verdict, outcome.evidence


@pytest.mark.slow
def test_the_whole_pack():
    results = otd.verify(pack="folklore")
    assert not [r.id for r in results if r.failed]
    assert {r.id: r.verdict for r in results} == EXPECTED
    for r in results:
        if r.verdict in ("proved", "verified"):  # an assumption of what holds is dropped in earnest
            assert all(a.needed != MET for a in r.assumptions), r.id


def test_each_cites_a_work_of_the_bibliography_or_is_ours():
    cited = Counter(key for c in PACK.registry for key in c.cites)
    assert set(cited) <= {r.key for r in PACK.bibliography}
    for claim in PACK.registry:
        assert (claim.origin == "paper") == bool(claim.cites)
        assert all(key in claim.where for key in claim.cites)
        assert claim.topic in PACK.topics
    unused = {r.key for r in PACK.bibliography} - set(cited)
    assert not unused
    for reference in PACK.bibliography:
        assert str(reference.year) in reference.key
        assert reference.title in str(reference)


def test_what_is_proved_has_a_file_for_a_kernel_or_says_why_not():
    for name, verdict in EXPECTED.items():
        claim = PACK.registry[name]
        if verdict == "proved":
            assert bool(claim.formal) != bool(claim.informal), name


def test_a_sentence_without_a_proof_needs_200_problems():
    with pytest.raises(InputError, match="200 problems at least; got 3"):
        judge.decide(judge.drawn(3), lambda p: None)
    with pytest.raises(InputError, match="no problem"):
        judge.decide([], lambda p: None, proof="because")
    assert judge.decide([two_state()] * 200, lambda p: None).verdict == Verdict.VERIFIED


def test_a_counterexample_that_misses_a_hypothesis_is_none():
    claim = PACK.registry["on-policy-actions-suffice"]
    assert claim.setting.unmet(two_state()) == ["on-policy"]
    assert isinstance(claim.setting, Setting)


def test_the_factor_of_a_target_that_is_held():
    outcome = PACK.registry["target-network-stabilises"].check()
    assert outcome.numbers["factor of FQI"] == sp.Rational(27, 25)
    assert "6 gamma/5" in outcome.evidence


@pytest.mark.slow
def test_v_trace_finds_the_values_of_the_clipped_policy():
    correction = PACK.registry["v-trace-fixed-point"].check().correction
    assert "min(rho_bar mu, pi)" in correction


def test_the_first_screen_counts_the_sentences():
    text = (Path(__file__).parents[2] / "README.md").read_text()
    for origin, whose in (("paper", "of the folklore"), ("ours", "of ours beside it")):
        found = Counter(EXPECTED[c.id] for c in PACK.registry if c.origin == origin)
        told = ", ".join(f"{found[v]} {v}" for v in Verdict if found[v])
        assert f"\n{sum(found.values())} sentences {whose}: {told}\n" in text


def test_counts():
    results = otd.verify(["etd-finite-variance", "td-small-discount-stable"], pack="folklore")
    assert tally(results) == {"paper": {"refuted": 1}, "ours": {"refuted": 1}}
    assert pack_of("folklore") is PACK
