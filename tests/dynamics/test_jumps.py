"""The jump system, against the sum that defines it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import EXACT, FLOAT, parse_number
from obliquetd.dynamics.jumps import Jump, linear_system, one_plus

GROUPS, K = 3, 2
numbers = st.integers(-2, 2).map(lambda v: parse_number(v) * EXACT.one)
jumps = st.lists(
    st.builds(
        Jump, st.integers(0, GROUPS - 1), st.integers(0, GROUPS - 1), numbers,
        st.lists(st.lists(numbers, min_size=K, max_size=K), min_size=K, max_size=K),
        st.lists(numbers, min_size=K, max_size=K),
    ),
    max_size=5,
)  # fmt: skip


@given(jumps, st.lists(numbers, min_size=GROUPS * K, max_size=GROUPS * K))
def test_the_system_is_the_sum_over_its_jumps(found, u):
    system, right = linear_system(EXACT, found, GROUPS, K)
    left = [sum((a * b for a, b in zip(row, u, strict=True)), EXACT.zero) for row in system]
    wanted = list(u)
    for s, t, w, M, source in found:
        for i in range(K):
            wanted[t * K + i] -= w * sum((M[i][j] * u[s * K + j] for j in range(K)), EXACT.zero)
            wanted[t * K + i] -= source[i]
    assert [a - b for a, b in zip(left, right, strict=True)] == wanted


def test_numbers_are_lifted_once():
    system, right = linear_system(FLOAT, [], 2, 1, lambda v: ("lifted", v))
    assert system == [[("lifted", 1.0), ("lifted", 0.0)], [("lifted", 0.0), ("lifted", 1.0)]]
    assert right == [("lifted", 0.0)] * 2


def test_one_plus():
    G = [[1.0, 2.0], [3.0, 4.0]]
    np.testing.assert_array_equal(one_plus(FLOAT, 0.5, G), np.eye(2) + 0.5 * np.array(G))
