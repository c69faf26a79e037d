"""Matrices of functions by FLINT against sympy's fields and the routes that were taken before."""

import pickle

import flint
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from obliquetd.algebra import (
    EXACT,
    FieldArithmetic,
    evaluation,
    function_matrix,
    integer_solve,
    parse_number,
)
from obliquetd.algebra.elimination import eliminated
from obliquetd.algebra.evaluation import SingularEverywhereError, cramer, cramer_with
from obliquetd.algebra.integer_solve import divided_by_sum, solve_by_integers
from obliquetd.algebra.lifting import solve_by_lifting
from obliquetd.algebra.pencil import cramer_of_pencil
from obliquetd.algebra.polynomial_matrix import PolynomialMatrix
from obliquetd.errors import SingularError
from tests.algebra import old_routes

x, y, z = sp.symbols("x y z")
FIELDS = {n: FieldArithmetic([x, y, z][:n]) for n in (1, 2, 3)}
OLD = {n: old_routes.FieldOfFractions([x, y, z][:n]) for n in (1, 2, 3)}
small = st.integers(-3, 3)


@st.composite
def functions(draw, field, long=False):
    """A rational function of low degree; of a degree that goes by entries where it is long."""
    one = field.domain
    gens = [one.from_sympy(s) for s in field.symbols]
    value = one.from_sympy(sp.Integer(draw(small)))
    for g in gens:
        power = draw(st.integers(0, 7)) if long else 1
        value = value + draw(small) * g**power
    if draw(st.booleans()):
        value = value / (
            draw(st.integers(1, 3)) + draw(small) * gens[draw(st.integers(0, len(gens) - 1))]
        )
    return value


@st.composite
def pairs(draw, dimension, m, n, long=False):
    """One random matrix in both forms, at times of low rank."""
    field, old = FIELDS[dimension], OLD[dimension]
    entry = functions(field, long)
    rows = [[draw(entry) for _ in range(n)] for _ in range(m)]
    if m > 1 and draw(st.integers(0, 3)) == 0:
        factor = draw(entry)
        rows[-1] = [factor * value for value in rows[0]]
    return field.matrix(rows, (m, n)), old.matrix(rows, (m, n))


def same(new, old):
    assert new.shape == old.shape
    assert new.rows() == old.rows()


@settings(max_examples=15)
@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_every_operation_gives_the_fractions_of_sympys_field(data, dimension, m, n, long):
    long = long and dimension == 1
    (A, a), (B, b) = (data.draw(pairs(dimension, m, n, long)) for _ in range(2))
    C, c = data.draw(pairs(dimension, n, m, long))
    same(A + B, a + b)
    same(A - B, a - b)
    same(A @ C, a @ c)
    same((A @ C) @ (A + B), (a @ c) @ (a + b))
    same(A.T, a.T)
    same(A.scaled(C.rows()[0][0]), a.scaled(c.rows()[0][0]))
    column, old_column = A.submatrix(range(m), [0]), a.submatrix(range(m), [0])
    same(B.scale_rows(column), b.scale_rows(old_column))
    same(A.row_dots(B), a.row_dots(b))
    assert [i.tolist() for i in (A - B).support()] == [i.tolist() for i in (a - b).support()]
    assert A.rank() == a.rank()
    same(A.column_basis(), a.column_basis())
    same(A.null_space(), a.null_space())
    assert (A @ C).det() == (a @ c).det()
    assert (A @ C).charpoly() == (a @ c).charpoly()
    assert pickle.loads(pickle.dumps(A)).rows() == a.rows()


@settings(max_examples=15)
@given(
    st.data(),
    st.sampled_from([(1, 1), (1, 3), (1, 4), (2, 2), (3, 2)]),
    st.integers(1, 2),
    st.booleans(),
)
def test_a_solution_is_that_of_every_route(data, size, m, much):
    """By points, by elimination and by primes, singular systems too."""
    dimension, n = size
    A, a = data.draw(pairs(dimension, n, n))
    B, b = data.draw(pairs(dimension, n, m))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(function_matrix, "MOST_POINTS", 0 if much else 10**9)
        patch.setattr(evaluation, "LARGE", 1)
        patch.setattr(function_matrix, "FEWER", 0)
        if not a.det():
            with pytest.raises(SingularError) as caught:
                A.solve(B)
            null = A.null_space()
            assert (A @ null).is_zero()
            assert caught.value.null_vector == null.submatrix(range(n), [0]).public()
            return
        found = A.solve(B)
        assert A.det() == a.det() != 0
        assert A.charpoly() == a.charpoly()
    reference = old_routes.solve_without_fractions(a._m, b._m).to_list()
    assert found.rows() == reference == a._m.lu_solve(b._m).to_list()
    if dimension == 1:
        assert old_routes.solve_by_interpolation(a._m, b._m).to_list() == reference
    assert A.general_solution(B).particular.rows() == reference


def polynomials(field, rows):
    ring = field.ring
    entries = [ring.parts(field.scalar(sp.sympify(v)))[0] for row in rows for v in row]
    return PolynomialMatrix(ring, (len(rows), len(rows[0])), entries)


@settings(max_examples=20)
@given(st.data(), st.integers(1, 5), st.integers(1, 2))
def test_primes_points_and_elimination_give_one_solution(data, n, m):
    """N and det A are plugged into A N = det(A) B; where A_0 is singular the primes stand back."""
    entries = st.integers(-(10**6), 10**6)
    first, second = (
        [
            [data.draw(small if data.draw(st.booleans()) else entries) for _ in range(n)]
            for _ in range(n)
        ]
        for _ in range(2)
    )
    right = [[data.draw(entries) for _ in range(m)] for _ in range(n)]
    rows = [
        [u + v * x for u, v in zip(*both, strict=True)] for both in zip(first, second, strict=True)
    ]
    A, B = polynomials(FIELDS[1], rows), polynomials(FIELDS[1], right)
    try:
        N, det = cramer(A, B)
    except SingularEverywhereError:
        with pytest.raises(SingularEverywhereError):
            eliminated(A, B)
        return
    assert (A @ N).entries == B.times(det).entries
    M, other = eliminated(A, B)
    assert (A @ M).entries == B.times(other).entries
    if any(degree > 0 for (degree,) in A.degrees + B.degrees):
        assert det == other
    found = cramer_of_pencil(*(integers(r) for r in (first, second, right)))
    assert cramer_of_pencil(integers([[0] * n] * n), integers(second), integers(right)) is None
    assert (found is None) == (integers(first).rank() < n)
    if found is not None:
        assert [flint.fmpz_poly(c) for c in found[0]] == M.entries
        assert flint.fmpz_poly(found[1]) == other


def integers(rows):
    return flint.fmpz_mat(rows)


@given(st.data(), st.integers(1, 5), st.integers(1, 3))
def test_scaled_unknowns_solve_what_elimination_solves(data, n, m):
    entry = st.builds(QQ, st.integers(-9, 9), st.integers(1, 12))
    left, right = (
        DomainMatrix(
            [[data.draw(entry) for _ in range(k)] for _ in range(n)], (n, k), QQ
        ).to_dense()
        for k in (n, m)
    )
    for a in (left, left.transpose()):
        for large in (integer_solve.LARGE, 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(integer_solve, "LARGE", large)
                try:
                    expected = a.lu_solve(right)
                except DMNonInvertibleMatrixError:
                    with pytest.raises(DMNonInvertibleMatrixError):
                        solve_by_integers(a, right)
                    continue
                assert solve_by_integers(a, right) == expected


def test_lifting_takes_long_right_sides_and_many_denominators():
    a = flint.fmpz_mat(5, 5, [3**i if i == j else int(i > j) for i in range(5) for j in range(5)])
    b = flint.fmpz_mat(5, 2, [10**40 + k for k in range(10)])
    above, below = solve_by_lifting(a, b)
    assert a * flint.fmpz_mat(5, 2, above) == b * below
    assert below == a.solve(b).numer_denom()[1]


@given(st.lists(st.builds(QQ, st.integers(0, 99), st.integers(1, 99)), min_size=1))
def test_weights_over_their_sum(weights):
    total = sum(weights, QQ.zero)
    if total:
        assert divided_by_sum(weights) == [w / total for w in weights]
        column = FIELDS[2].column([FIELDS[2].scalar(w) for w in weights])
        assert [v.numer.LC / v.denom.LC for v in column.divided_by_sum().entries()] == [
            w / total for w in weights
        ]
        assert EXACT.column(weights).divided_by_sum().entries() == [w / total for w in weights]


@pytest.mark.parametrize("sparse", [False, True])
def test_weights_of_many_denominators_take_fewer_points(sparse, monkeypatch):
    """SETD's A = X' diag(1/q) L X: each q a factor of the minors once; rows that lack one, too."""
    field, n = FIELDS[1], 6
    X = [[(i * i + 2 * j) % 5 + (i == j) for j in range(3)] for i in range(n)]
    if sparse:
        X = [[0 if (i + j) % 3 == 0 else v for j, v in enumerate(row)] for i, row in enumerate(X)]
    L = [[int(i == j) - int((i + 1) % n == j) * x / 2 for j in range(n)] for i in range(n)]
    q = [sp.Integer(1) / (x**2 + i + 1) for i in range(n)]
    made, points = [], []
    for arithmetic in (field, OLD[1]):

        def matrix(rows, arithmetic=arithmetic):
            native = [[arithmetic.scalar(parse_number(v)) for v in row] for row in rows]
            return arithmetic.matrix(native, (len(rows), len(rows[0])))

        phi = matrix(X)
        weighted = phi.scale_rows(matrix([[w] for w in q])).T
        made.append((weighted @ matrix(L) @ phi, weighted @ matrix([[i + 1] for i in range(n)])))
    found = cramer_with

    def counted(a, b, shared):
        out = found(a, b, shared)
        points.append((evaluation.points_of(a, b), shared.degree(), out is not None))
        return out

    monkeypatch.setattr(function_matrix, "cramer_with", counted)
    assert made[0][0].solve(made[0][1]).rows() == made[1][0].solve(made[1][1]).rows()
    ((all_points, spared, proved),) = points
    assert proved
    assert 2 * spared >= all_points


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(1, 2), st.integers(1, 4), st.integers(1, 2))
def test_a_system_without_symbols_is_one_of_rationals(data, dimension, n, m):
    """Against the exact matrices, and as a part of a field with symbols: sums with functions go on."""
    number = st.fractions(-9, 9, max_denominator=9)
    rows, right = (
        [[QQ(v.numerator, v.denominator) for v in line]
         for line in data.draw(st.lists(st.lists(number, min_size=k, max_size=k), min_size=n, max_size=n))]
        for k in (n, m)
    )  # fmt: skip
    field = FIELDS[dimension]
    A, B = (
        field.matrix([[field.domain.convert(v) for v in line] for line in part], (n, len(part[0])))
        for part in (rows, right)
    )
    exact, sides = (EXACT.matrix(part, (n, len(part[0]))) for part in (rows, right))
    try:
        wanted = exact.solve(sides).rows()
    except SingularError:
        with pytest.raises(SingularError):
            A.solve(B)
        return
    X = A.solve(B)
    assert X.rows() == [[field.domain.convert(v) for v in line] for line in wanted]
    assert (A @ X - B).is_zero()
    gen = field.domain.from_sympy(field.symbols[0])
    assert (A.scaled(gen).solve(B).scaled(gen) - X).is_zero()
