"""Orbits against the whole family, and A of its members against the mean dynamics of each learner."""

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.atlas import Family
from obliquetd.atlas.decide import Task, decide
from obliquetd.atlas.expected import expected_updates, xi_of
from obliquetd.atlas.tables import tables_of
from obliquetd.atlas.verdicts import VERDICTS, dimensions
from obliquetd.errors import InputError, KindError, LearnerError
from obliquetd.learners import LEARNERS, Learner, phi, td_error

GAMMA = Fraction(9, 10)


def counts(family, learners):
    tables = {(x.label, "9/10"): tables_of(family, x, GAMMA) for x in learners}
    total = {key: np.zeros(4, dtype=int) for key in tables}
    for k in range(len(family.chains)):
        for low, high in family.parts_of_codes(200):
            part = decide(Task(family, tables, k, low, high))
            for key, found in part.verdicts.items():
                np.add.at(total[key], found, part.problems)
    return {key: value.tolist() for key, value in total.items()}


@pytest.mark.parametrize(
    ("family", "learners"),
    [
        (Family(3, 2, 1), (otd.TD(), otd.SETD())),
        (Family(2, 1, 2, parts=3), (otd.TD(), otd.SETD(lam="1/2"), otd.GTD2())),
        (Family(3, 1, 1, parts=2, on_policy=True), (otd.SETD(), otd.ETD())),
    ],
    ids=str,
)
def test_orbits_times_their_sizes_are_the_whole_family(family, learners):
    whole = replace(family, symmetric=False)
    found = counts(family, learners)
    assert found == counts(whole, learners)
    assert all(sum(value) == family.count == whole.count for value in found.values())
    assert len(family.chains) < len(whole.chains)
    assert len(whole.chains) == sum(size for _, size in family.chains)


def test_the_family_of_the_paper_s_kind_has_the_problems_that_it_has():
    family = Family(3, 2)
    assert sum(size for _, size in family.chains) == 27
    assert family.count == 405_648
    members = [family.members(chain, 0, family.codes) for chain, _ in family.chains]
    assert sum(int(m.problems.sum()) for m in members) == 405_648
    Phi = family.matrices(members[0].codes)
    assert all(sp.Matrix(rows.tolist()).rank() == 2 for rows in Phi[::50])
    cycle = next(c for c, _ in Family(3, 2, on_policy=True).chains)
    assert np.array(cycle).sum(axis=0).tolist() == [1, 1, 1]


def test_chains_up_to_their_names_are_the_functions_of_a_set_into_itself():
    """OEIS A001372: 3, 7, 19, 47 of them on 2 to 5 points."""
    assert [len(Family(n, 1, 1).chains) for n in range(2, 6)] == [3, 7, 19, 47]


def check_against_the_general_route(family, learner, gamma, each):
    tables = tables_of(family, learner, gamma)
    rng = random.Random(1)
    for k, (chain, _) in enumerate(family.chains):
        codes = family.members(chain, 0, family.codes).codes
        codes = codes[sorted(rng.sample(range(len(codes)), min(each, len(codes))))]
        A, S = expected_updates(family, chain, xi_of(family, chain), tables, codes)
        part = decide(Task(family, {("x", str(gamma)): tables}, k, 0, family.codes))
        judged = dict(
            zip(part.codes.tolist(), part.verdicts["x", str(gamma)].tolist(), strict=True)
        )
        for i, features in enumerate(family.matrices(codes)):
            dynamics = otd.mean_dynamics(family.problem(chain, features, gamma), learner)
            theirs, mine = list(dynamics.A), A.values[i].ravel().tolist()
            unit = next((m / t for m, t in zip(mine, theirs, strict=True) if t), sp.Integer(1))
            assert unit > 0
            assert mine == [t * unit for t in theirs]
            if not tables.memory:
                assert dimensions(S[i : i + 1]).tolist() == [dynamics.expectation.span.dimension]
            assert VERDICTS[judged[int(codes[i])]] == dynamics.stability.verdict


REFUSED = ("double-sampled-residual-gradient", "abtd")
JUDGED = [kind() for key, kind in LEARNERS.items() if key not in REFUSED]
WITH_A_MEMORY = [
    otd.TD(lam="1/2"), otd.SETD(lam="1/3"), otd.GTD2(lam="1/2", mu=2), otd.TDC(lam=1),
    otd.ETD(beta="1/2"), otd.SETD(cap=2), otd.TrueOnlineTD(lam="1/2"),
]  # fmt: skip


@pytest.mark.parametrize("learner", [*JUDGED, *WITH_A_MEMORY], ids=lambda x: x.label)
def test_a_is_that_of_the_mean_dynamics(learner):
    check_against_the_general_route(Family(2, 1, 1), learner, GAMMA, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [otd.SETD(), otd.ETD(), otd.TDRC(), *WITH_A_MEMORY], ids=lambda x: x.label
)
@pytest.mark.parametrize(
    "family", [Family(2, 2, 1, parts=2), Family(3, 2, 1, on_policy=True, parts=2)], ids=str
)
def test_a_is_that_of_the_mean_dynamics_in_larger_families(learner, family):
    check_against_the_general_route(family, learner, Fraction(1, 2), 6)


def test_where_no_update_moves_a_direction_it_is_left_out():
    """At the discount 1/2 a state with half the features of the next one has no error to learn from."""
    check_against_the_general_route(Family(2, 1, 2), otd.TD(), Fraction(1, 2), 10)
    check_against_the_general_route(Family(2, 1, 2), otd.TD(lam="1/2"), Fraction(1, 2), 10)


def first_feature(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    x.theta[0] += alpha * t.rho * delta * phi(t, 0)
    return delta


@dataclass(frozen=True)
class FirstFeature(Learner):
    alpha: Any = None
    rule = staticmethod(first_feature)


def of_a_state(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    by = 1 + 0 * t.g
    if t.s == 0:
        by = 2 + 0 * t.g
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * by * phi(t, i)
    return delta


@dataclass(frozen=True)
class OfAState(Learner):
    alpha: Any = None
    rule = staticmethod(of_a_state)


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        (
            otd.DoubleSampledResidualGradient(),
            "DoubleSampledResidualGradient is not .* two transitions",
        ),
        (otd.SETD(omega="expected"), "SETD omega=expected is not .* reads expected"),
        (otd.ETD(interest={0: 1, 1: 2}), "ETD .* reads interest"),
        (otd.ABTD(), "ABTD is not .* reads psi_0"),
        (otd.ETD(lam="1/4"), "ETD lam=1/4 is not .* its memory hands on"),
    ],
)
def test_a_learner_of_another_form_is_refused_by_name(learner, why):
    with pytest.raises(LearnerError, match=why):
        tables_of(Family(2, 1, 1), learner, GAMMA)


def test_a_rule_that_is_not_symmetric_is_refused():
    with pytest.raises(LearnerError, match=r"FirstFeature is not .* treats features"):
        tables_of(Family(2, 2, 1), FirstFeature(), GAMMA)
    with pytest.raises(LearnerError, match=r"OfAState is not .* which state"):
        tables_of(Family(2, 1, 1), OfAState(), GAMMA)


def test_symbols_and_families_that_are_none_are_refused():
    with pytest.raises(KindError, match="symbol l"):
        tables_of(Family(2, 1, 1), otd.TD(lam="l"), GAMMA)
    for fields, told in (
        ((1, 1), "states is 1"), ((2, 3), "3 features on 2 states"), ((2, 1, 0), "largest is 0"),
        ((2, 1, 1, True), "parts is True"), ((9, 2), "too many"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=told):
            Family(*fields)


def test_the_verdict_on_any_problem_is_found_under_the_one_that_stands_for_it():
    family = Family(3, 2, 1)
    rng = np.random.default_rng(0)
    for _ in range(10):
        Phi = rng.integers(-1, 2, size=(3, 2))
        chain = [[int(j == k) for j in range(3)] for k in rng.integers(3, size=3)]
        number, code = family.representative(chain, Phi)
        order = rng.permutation(3)
        renamed = np.array(chain)[np.ix_(order, order)]
        turned = Phi[order] @ np.array([[0, -1], [1, 0]])
        assert family.representative(renamed.tolist(), turned) == (number, code)
    with pytest.raises(InputError, match="not of the family"):
        family.representative([[2, 0, 0]] * 3, Phi)
    with pytest.raises(InputError, match="integers up to 1"):
        family.representative(chain, 2 * np.ones((3, 2), dtype=int))
