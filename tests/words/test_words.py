import pytest

from obliquetd.algebra import EXACT
from obliquetd.claims.battery import decide_identity, letters
from obliquetd.errors import InputError
from obliquetd.words import ZERO, Theory, identity, inverse_of, letter

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
    for left in (2 * A, A + B, identity(), ZERO):
        with pytest.raises(ValueError, match="one product"):
            Theory([(left, B)])


def test_a_rule_applies_anywhere_in_a_product():
    theory = Theory([(A @ B, identity())])
    for word in (A @ B, B @ A @ B, A @ B @ B, B @ A @ B @ B, A @ A @ B @ B):
        assert len(theory.normal_form(word).terms) == 1
    assert theory.proves(B @ A @ B, B)
    assert theory.proves(A @ B @ A, A)
    assert theory.proves(X.T @ B.T @ A.T @ A, X.T @ A)
    assert theory.proves(2 * B @ A @ B @ X - X, 2 * B @ X - X)
    assert not theory.proves(B @ A, identity())


def test_the_first_of_two_rules_counts():
    assert Theory([(A, B), (A, identity())]).normal_form(A) == B
    assert Theory([(A, identity()), (A, B)]).normal_form(A @ X) == X


def test_words_evaluate_to_what_they_say():
    def m(rows):
        return EXACT.matrix([[EXACT.domain(x) for x in r] for r in rows], (2, 2))

    values = {"A": m([[1, 2], [3, 4]]), "B": m([[0, 1], [1, 1]])}
    one = EXACT.identity(2)
    word = 2 * A @ B.T - identity()
    assert word.evaluate(values, one).public().tolist() == [[3, 6], [8, 13]]
    with pytest.raises(ValueError, match="no shape"):
        ZERO.evaluate(values, one)


@pytest.mark.parametrize("word", [X, X.T, X @ X.T @ X], ids=str)
def test_the_inverse_of_what_is_not_square_is_refused(word):
    with pytest.raises(InputError, match=r"not square"):
        inverse_of("Y", word)


@pytest.mark.parametrize("word", [A + B, 2 * A, identity(), ZERO], ids=str)
def test_the_inverse_is_that_of_one_product(word):
    with pytest.raises(InputError, match="one product"):
        inverse_of("Y", word)


@pytest.mark.parametrize(
    ("left", "right"),
    [(A, X), (X, X.T), (X, identity()), (A @ X, X.T @ X), (X.T @ A, X)],
    ids=str,
)
def test_sums_of_different_shapes_are_refused(left, right):
    with pytest.raises(InputError, match=r"shapes|square"):
        _ = left + right
    with pytest.raises(InputError, match=r"shapes|square"):
        _ = left - right
    with pytest.raises(InputError, match=r"shapes|square"):
        Theory([]).proves(left, right)
    with pytest.raises(InputError, match=r"shapes|square"):
        Theory([(left, right)])


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (ZERO, "0"),
        (identity(), "I"),
        (A, "A"),
        (-1 * A, "- A"),
        (A @ X.T.T - 2 * X, "A X - (2) X"),
        (B.T @ A - identity(), "- I + B' A"),
    ],
)
def test_a_word_is_written_as_it_is_read(word, text):
    assert str(word) == text


def test_zero_has_every_shape():
    assert X + ZERO == X
    assert A - A == ZERO
    assert ZERO.shape is None
    assert (A @ X).shape == ("n", "d")
    assert (X.T @ A).shape == ("d", "n")


def test_a_proof_tells_a_word_from_its_negative():
    assert not Theory([]).proves(A, -1 * A)
    assert not Theory([]).proves(A @ X, -1 * (A @ X))


def test_a_rule_that_is_false_of_the_values_is_an_error():
    with pytest.raises(InputError, match=r"the rule Phi = X is false on"):
        decide_identity([("Phi", letters.Phi, letters.X)], rules=[(letters.Phi, letters.X)])


def test_a_rule_is_printed_with_the_evidence():
    R = letter("R", "n d")
    outcome = decide_identity(
        [("R", R, letters.Phi)],
        rules=[(R, letters.Phi)],
        extra=lambda problem, values: values.__setitem__("R", values["Phi"]),
    )
    assert outcome.verdict == "proved"
    assert "from R = Phi (tested on the same problems)" in outcome.evidence


@pytest.mark.parametrize("empty", [{"problems": []}, {"problems": ()}, {"problems": iter(())}])
def test_nothing_to_test_on_is_an_error(empty):
    with pytest.raises(InputError, match="list of problems is empty"):
        decide_identity([("A", letters.Phi, letters.Phi)], **empty)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (letters.Phi, letters.X.T),
        (letters.V, letters.V.T),
        (letters.L, letters.Phi),
        (letters.V.T @ letters.V, letters.L),
    ],
    ids=str,
)
def test_sides_of_two_shapes_are_an_error(left, right):
    for equation in ((left, right), (right, left)):
        with pytest.raises(InputError, match=r"the two sides of an equation need one shape"):
            decide_identity([("a", *equation)])


def test_values_of_another_shape_than_their_letter_are_an_error():
    R = letter("R", "n d")
    with pytest.raises(InputError, match=r"R is 1 by 2 and Phi is 2 by 1"):
        decide_identity(
            [("R", R, letters.Phi)],
            extra=lambda problem, values: values.__setitem__("R", values["Phi"].T),
        )


def test_nothing_to_prove_is_an_error():
    with pytest.raises(InputError, match="list of equations is empty"):
        decide_identity([])


def test_an_inverse_that_is_written_is_an_assumption():
    G = inverse_of("G", letters.X.T @ letters.Phi)[0]
    outcome = decide_identity(
        [("one", G @ letters.X.T @ letters.Phi, identity())],
        inverses={"G": letters.X.T @ letters.Phi},
    )
    (dropped,) = outcome.setting.dropped()
    assert dropped.name == "X'Phi non-singular"
    assert dropped.needed == "needed"
    assert dropped.counterexample.rerun() is not None
