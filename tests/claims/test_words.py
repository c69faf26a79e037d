import pytest

from obliquetd.algebra import EXACT
from obliquetd.claims.words import ZERO, Theory, identity, inverse_of, letter

A, B = letter("A", "n n"), letter("B", "n n")
X = letter("X", "n d")


def test_products_do_not_commute():
    assert A @ B != B @ A
    assert not Theory([]).proves(A @ B, B @ A)


def test_transposition_reverses():
    assert (A @ X).T == X.T @ A.T
    S = letter("S", "n n", symmetric=True)
    assert S.T == S


def test_shapes_are_kept_apart():
    with pytest.raises(ValueError, match=r"columns d.*rows n"):
        _ = X @ A


def test_an_inverse_cancels_on_both_sides_and_transposed():
    Ai, rules = inverse_of("Ai", A)
    theory = Theory(rules)
    assert theory.proves(A @ Ai, identity())
    assert theory.proves(Ai.T @ A.T @ B, B)
    assert not theory.proves(A @ B @ Ai, B)


def test_a_false_identity_is_not_proved():
    Ai, rules = inverse_of("Ai", A)
    assert not Theory(rules).proves(Ai @ B, B @ Ai)


def test_sums_and_coefficients():
    assert 2 * A - A - A == ZERO
    assert (A + B) @ (A - B) == A @ A - A @ B + B @ A - B @ B


def test_rules_that_do_not_end_are_an_error():
    with pytest.raises(ValueError, match="terminate"):
        Theory([(A, A @ A)]).normal_form(A)


def test_a_rule_rewrites_one_product():
    with pytest.raises(ValueError, match="one product"):
        Theory([(2 * A, B)])


def test_words_evaluate_to_what_they_say():
    def m(rows):
        return EXACT.matrix([[EXACT.domain(x) for x in r] for r in rows], (2, 2))

    values = {"A": m([[1, 2], [3, 4]]), "B": m([[0, 1], [1, 1]])}
    one = EXACT.identity(2)
    word = 2 * A @ B.T - identity()
    assert word.evaluate(values, one).public().tolist() == [[3, 6], [8, 13]]
    with pytest.raises(ValueError, match="no shape"):
        ZERO.evaluate(values, one)
