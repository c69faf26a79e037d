"""Sums over one common denominator, and public matrices straight from FLINT's, beside the plain routes."""

import pickle
import random

import numpy as np
import pytest
import sympy as sp
from sympy import QQ

from obliquetd.algebra import EXACT
from obliquetd.algebra.field_matrix import public_matrix
from obliquetd.algebra.integer_solve import common_denominator


@pytest.mark.parametrize(
    "dens", [(1,), (2, 3, 12), (7, 11, 13, 10**40 + 1), (2**61 - 1, 2**31 - 1)]
)
def test_entries_are_added_up_as_fractions_are(dens):
    draw = random.Random(len(dens))
    places = [(draw.randrange(3), draw.randrange(4)) for _ in range(60)]
    values = [QQ(draw.randint(-9, 9), draw.choice(dens)) for _ in places]
    found = EXACT.assemble(
        (3, 4), *(np.array(x) for x in zip(*places, strict=True)), np.array(values, dtype=object)
    )
    wanted = [[QQ(0)] * 4 for _ in range(3)]
    for (i, j), x in zip(places, values, strict=True):
        wanted[i][j] += x
    assert found.rows() == wanted


def test_many_long_denominators_have_no_short_one_in_common():
    primes = [sp.nextprime(2**200 + 1000 * k) for k in range(5)]
    assert common_denominator([QQ(1, int(p)) for p in primes]) is None
    assert common_denominator([QQ(1, int(primes[0])), QQ(3, int(2 * primes[0]))]) == 2 * primes[0]
    assert common_denominator([]) == 1
    i = np.zeros(5, dtype=int)
    values = np.array([QQ(1, int(p)) for p in primes], dtype=object)
    total = EXACT.assemble((1, 1), i, i, values).item()
    assert total == sum((QQ(1, int(p)) for p in primes), QQ(0))


@pytest.mark.parametrize(
    ("rows", "shape"),
    [
        ([[1, 2], [3, 4]], (2, 2)),
        ([[1, 0], ["1/3", -4]], (2, 2)),
        ([], (0, 3)),
        ([[], []], (2, 0)),
        ([[0, 0]], (1, 2)),
        ([[10**4400, "1/2"]], (1, 2)),
    ],
)
def test_public_matrices_are_what_sympy_makes_of_the_entries(rows, shape):
    matrix = EXACT.matrix([[EXACT.scalar(sp.Rational(x)) for x in row] for row in rows], shape)
    found = matrix.public()
    wanted = public_matrix(*shape, [EXACT.public(x) for row in matrix.rows() for x in row])
    assert found == wanted
    assert (type(found), hash(found), found.shape) == (type(wanted), hash(wanted), wanted.shape)
    assert str(found) == str(wanted)
    assert [type(x) for x in found] == [type(x) for x in wanted]
    assert pickle.loads(pickle.dumps(found)) == wanted
    assert found.rank() == wanted.rank()
