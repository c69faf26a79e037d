"""Integers that cannot overflow, and verdicts from them, against sympy and against the general route."""

import random

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.algebra import FieldArithmetic
from obliquetd.atlas import Family, integers
from obliquetd.atlas.expected import expected_updates, xi_of
from obliquetd.atlas.integers import LIMIT, Integers, charpoly, determinant, lcm
from obliquetd.atlas.tables import tables_of
from obliquetd.atlas.verdicts import VERDICTS, dimensions, verdicts
from obliquetd.dynamics.stability import verdict_on

GAMMA = sp.Rational(9, 10)


def drawn(rng, count, size, largest):
    return np.array(
        [[[rng.randint(-largest, largest) for _ in range(size)] for _ in range(size)] for _ in range(count)],
        dtype=object,
    )  # fmt: skip


@pytest.mark.parametrize(("size", "largest"), [(1, 9), (2, 10**12), (3, 10**6), (4, 10**30)])
def test_characteristic_polynomials_are_those_of_sympy(size, largest):
    values = drawn(random.Random(size), 8, size, largest)
    found = charpoly(Integers(values).tight())
    for k, rows in enumerate(values):
        matrix = sp.Matrix(rows.tolist())
        x = sp.Symbol("x")
        assert [int(c.values[k]) for c in found] == matrix.charpoly(x).all_coeffs()
        assert int(determinant(Integers(values)).values[k]) == matrix.det()


def test_a_bound_decides_between_machine_integers_and_python_s_own():
    edge = Integers(np.array([2**31, -(2**31)]))
    fits, too_large = edge * 2**31, edge * 2**32
    assert fits.values.dtype == np.int64
    assert too_large.values.dtype == object
    assert too_large.values.tolist() == [2**63, -(2**63)]
    assert (too_large - too_large).tight().values.dtype == np.int64
    assert lcm([Integers(np.array([6, 10])), Integers(np.array([4, 15]))]).values.tolist() == [
        12,
        30,
    ]
    with pytest.raises(AssertionError, match="no remainder"):
        Integers(np.array([7])).over(2)


def run_of(family, learner, chain, count):
    codes = family.members(chain, 0, family.codes).codes
    codes = codes[:: max(1, len(codes) // count)]
    tables = tables_of(family, learner, GAMMA)
    A, S = expected_updates(family, chain, xi_of(family, chain), tables, codes)
    return A, S, verdicts(A, dimensions(S))


def test_no_intermediate_exceeds_its_bound_and_setd_needs_more_than_machine_integers(monkeypatch):
    family = Family(3, 2)
    chain = family.chains[1][0]  # two states that lead to one another, and a third that joins them
    seen, plain = [], Integers.__init__

    def watched(self, values, bound=None):
        plain(self, values, bound)
        seen.append((self.largest, self.bound, self.values.dtype == object))

    monkeypatch.setattr(Integers, "__init__", watched)
    A, _, found = run_of(family, otd.SETD(), chain, 1000)
    assert all(largest <= bound for largest, bound, _ in seen)
    assert all(long or bound <= LIMIT for _, bound, long in seen)
    most = max(largest for largest, _, _ in seen)
    assert most == 625_012_257_535_516_025_280 > LIMIT  # int64 alone would be wrong
    monkeypatch.setattr(integers, "LIMIT", 0)  # everything in Python's integers
    B, _, again = run_of(family, otd.SETD(), chain, 1000)
    assert B.values.dtype == object
    assert A.values.tolist() == B.values.tolist()
    assert found.tolist() == again.tolist()


def general(rows):
    return verdict_on(FieldArithmetic().matrix(rows.tolist(), rows.shape))[0]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_verdicts_are_the_package_s_also_on_the_axis(size):
    rng = random.Random(size)
    values = drawn(rng, 40, size, 2)
    halves = drawn(rng, 20, size, 2)
    skew = halves - halves.transpose(0, 2, 1)  # eigenvalues on the imaginary axis alone
    shifted = values[:10] + 3 * np.eye(size, dtype=int)
    values = np.concatenate([values, skew, shifted, halves @ halves.transpose(0, 2, 1)])
    found = verdicts(Integers(values), np.full(len(values), size))
    assert [VERDICTS[v] for v in found] == [general(rows) for rows in values]
    assert {"stable", "marginal", "unstable"} <= {VERDICTS[v] for v in found}


def test_on_a_span_of_fewer_dimensions_the_verdict_is_that_of_the_restriction():
    rng = random.Random(0)
    for _ in range(30):
        Q, R = drawn(rng, 2, 2, 3)
        basis = drawn(rng, 1, 4, 2)[0]
        while sp.Matrix(basis.tolist()).det() == 0:
            basis = drawn(rng, 1, 4, 2)[0]
        block = np.block([[Q, R], [np.zeros((2, 4), dtype=object)]])  # maps all into the first two
        inverse = sp.Matrix(basis.tolist()).inv()
        A = (
            sp.Matrix(basis.tolist())
            * sp.Matrix(block.tolist())
            * inverse
            * abs(inverse.det() ** -1)
        )
        A = np.array((A * sp.ilcm(*(x.q for x in A))).tolist(), dtype=object)
        A = np.array([[int(x) for x in row] for row in A], dtype=object)
        found = verdicts(Integers(A[None]), np.array([2]))[0]
        assert VERDICTS[found] == general(Q)
    assert (
        VERDICTS[verdicts(Integers(np.zeros((1, 2, 2), dtype=int)), np.array([0]))[0]]
        == "nothing moves"
    )
    S = np.array([[[1, 1], [1, 1]], [[0, 0], [0, 0]], [[2, 1], [1, 1]]])
    assert dimensions(Integers(S)).tolist() == [1, 0, 2]
