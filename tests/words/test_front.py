"""The public front: properties of letters, fixed points, values, LaTeX, traces."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import kernel, words
from obliquetd.domains import two_state
from obliquetd.domains.random_problem import random_problem
from obliquetd.errors import InputError, SingularError
from obliquetd.words import L, Phi, V, X, Xi, evaluate, inverse, letter, prove, r, simplify, solve

A, B = letter("A", "n n"), letter("B", "n n")
PROBLEMS = [random_problem(n, d, seed=s) for n, d, s in ((2, 1, 1), (3, 2, 2), (4, 2, 3))]


def test_it_is_public():
    assert otd.words is words


@st.composite
def sums(draw):
    """A word in A, B and the inverse of A."""
    total = words.ZERO
    for _ in range(draw(st.integers(1, 3))):
        product = words.identity()
        for one in draw(st.lists(st.sampled_from([A, B, inverse(A), A.T]), max_size=5)):
            product = product @ one
        total = total + draw(st.integers(-2, 2)) * product
    return total


@settings(max_examples=60, deadline=None)
@given(sums())
def test_the_steps_add_up_to_the_difference(word):
    """What Coq is given: left - right = sum of c (u l w - u r w), plus what is left."""
    found = prove(word, words.ZERO)
    total = found.rest
    for step in found.steps:
        rule = step.rule
        given_rule = found.given[rule.number]
        left, right = (
            (given_rule.left.T, given_rule.right.T)
            if rule.transposed
            else (given_rule.left, given_rule.right)
        )
        u, w = words.Word.of({step.before: 1}), words.Word.of({step.after: 1})
        total = total + step.factor * (u @ left @ w - u @ right @ w)
    assert total == word


def test_what_is_simplified_is_equal_on_a_problem():
    for problem in PROBLEMS:
        word = inverse(L) @ L @ Phi + Phi @ inverse(X.T @ Phi) @ X.T @ Phi
        draw = problem.Xi * (problem.Phi + problem.L_pi * problem.Phi)
        assert (
            evaluate(word, problem, {"X": draw})
            == evaluate(words.simplify(word), problem)
            == 2 * problem.Phi
        )


@pytest.mark.parametrize(
    ("name", "X_of"), [("td", Xi @ Phi), ("rg", Xi @ L @ Phi), ("best", inverse(L).T @ Xi @ Phi)]
)
def test_solve_gives_the_known_fixed_points(name, X_of):
    found = solve(X_of)
    assert found.proof.proved
    assert found.unique.proved
    for problem in PROBLEMS:
        assert found.evaluate(problem) == problem.fixed_point(name).theta


def test_solve_takes_a_sum():
    mixed = solve(Xi @ (Phi + L @ Phi))
    for problem in PROBLEMS:
        along = problem.Xi * (problem.Phi + problem.L_pi * problem.Phi)
        assert mixed.evaluate(problem) == problem.fixed_point(X=along).theta
    assert (
        mixed.latex() == r"X = \Xi (\Phi + L \Phi),\quad \hat\theta = (X^\top L \Phi)^{-1} X^\top r"
    )


def test_solve_refuses_another_shape():
    with pytest.raises(InputError, match=r"n by n; expected n by d"):
        solve(Xi)


def test_stochastic_rows():
    P, one = letter("P", "n n", stochastic=True), words.ones("n")
    assert prove(P @ P @ one, one).proved
    assert not prove(P.T @ one, one).proved
    assert not prove(A @ one, one).proved
    with pytest.raises(InputError, match="stochastic and n by d"):
        letter("P", "n d", stochastic=True)


def test_invertible_letters():
    C, D = (letter(x, "n n", invertible=True) for x in "CD")
    assert inverse(C @ D) == inverse(D) @ inverse(C)
    assert prove(inverse(C @ D) @ C @ D, words.identity()).proved
    assert str(inverse(A @ B)) == "(AB)^-1"


def test_the_inverse_of_an_inverse_cancels_by_both_names():
    """What a letter inverts has letters of its own, and these say what they invert."""
    C = letter("C", "n n", invertible=True)
    G = inverse(C, "G")
    H = inverse(G @ C, "H")
    assert prove(H @ G @ C, words.identity()).proved
    assert prove(H, words.identity()).proved is False
    assert prove(G @ C @ H @ C @ G, H).proved
    given = {(g.inverse, str(g.left)) for g in prove(H, H).given}
    assert {name for name, _ in given} == {"G", "H"}


def test_what_a_derivation_says_of_itself():
    done = prove(A @ B @ A, B @ B @ A, [(A @ B, B @ B)])
    assert repr(done) == f"Derivation({A @ B @ A} = {B @ B @ A}; proved in 1 steps)"
    assert done.trace[0] == str(A @ B @ A - B @ B @ A)
    assert len(done.trace) == 2
    open_ = prove(A, B)
    assert repr(open_) == f"Derivation({A} = {B}; not proved: {open_.rest})"
    rules = words.Theory([(A @ B, B @ B)]).rules
    assert [rule.transposed for rule in rules] == [False, True]


def test_one_name_is_one_matrix():
    with pytest.raises(InputError, match="the letter A is n by n in one place and n by d"):
        prove(A @ letter("A", "n d"), Phi)
    with pytest.raises(InputError, match=r"inverse of A in one place and of B in another"):
        prove(inverse(A, "G"), inverse(B, "G"))


def test_values_that_are_missing_or_do_not_fit():
    with pytest.raises(InputError, match=r"the letter A has no value on a problem; give one"):
        evaluate(A @ Phi, PROBLEMS[0])
    with pytest.raises(InputError, match=r"A is n by n and its value is 1 by 2; expected n = 2"):
        evaluate(A @ Phi, PROBLEMS[0], {"A": [[1, 2]]})
    with pytest.raises(SingularError):
        evaluate(inverse(A) @ Phi, PROBLEMS[0], {"A": [[1, 1], [1, 1]]})


def test_values_that_are_not_what_their_letter_says():
    S, P = letter("S", "n n", symmetric=True), letter("P", "n n", stochastic=True)
    with pytest.raises(InputError, match="S is symmetric, and its value is not"):
        evaluate(S @ Phi, PROBLEMS[0], {"S": [[1, 2], [3, 4]]})
    with pytest.raises(InputError, match="rows of the letter P sum to one, and those of its value"):
        evaluate(P @ Phi, PROBLEMS[0])
    with pytest.raises(InputError, match="found by itself"):
        evaluate(inverse(L) @ Phi, PROBLEMS[0], {"L^-1": [[1, 0], [0, 1]]})


def test_latex():
    assert (Xi @ (V - 2 * inverse(L) @ r)).latex() == r"\Xi (V - 2 L^{-1} r)"
    assert (inverse(L).T @ Phi).latex() == r"L^{-\top} \Phi"
    assert (sp.Symbol("gamma") * A.T - B).latex() == r"\gamma A^\top - B"
    assert r"\text{by }" in solve(Xi @ Phi).proof.latex()


def test_what_is_not_proved_is_not_written():
    with pytest.raises(InputError, match="is not proved: rewriting leaves"):
        prove(A, B).coq()
    with pytest.raises(InputError, match="cannot be written for Coq"):
        prove(sp.sqrt(2) * A, sp.sqrt(2) * A).coq()


@pytest.mark.skipif(kernel.find_coqc() is None, reason="there is no coqc here")
def test_coq_accepts_every_kind_of_hypothesis():
    """Symbols, fractions, a symmetric inverse, rows that sum to one, a given equation and its transpose."""
    c = sp.Symbol("c")
    p, q, S = letter("p", "n 1"), letter("q", "n 1"), letter("S", "n n", symmetric=True)
    P = letter("in", "n n", stochastic=True)
    half = sp.Rational(1, 2)
    found = [
        ("rank one", prove(p @ q.T @ p @ q.T, c * (p @ q.T), [(q.T @ p, c * words.identity())])),
        ("in", prove(half * P @ words.ones("n") - words.ones("n"), -half * words.ones("n"))),
        ("inverse", prove(inverse(S).T @ S @ A, A)),
        ("given", prove(A.T @ B.T, c**2 * S, [(B @ A, c**2 * S)])),
    ]
    from obliquetd.words.coq import coq_file

    answer = kernel.check_text(coq_file(found, title='a "title" with (* and *)'))
    assert answer.accepted, answer.message
    assert len(answer.theorems) == 4


TYPES = [print, len, int, "Phi", 3, 2.5, None, sp.Symbol("a"), sp.eye(2), [A], {"A": A}, object()]


@pytest.mark.parametrize("wrong", TYPES, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize(
    "ask",
    [
        lambda x: prove(x, A), lambda x: prove(A, x), simplify, inverse, solve,
        lambda x: evaluate(x, two_state()), lambda x: A @ x, lambda x: A + x, lambda x: A - x,
        lambda x: prove(A, A, [(A, x)]), lambda x: prove(A, A, [(x, A)]),
    ],
    ids=["left", "right", "simplify", "inverse", "solve", "evaluate", "@", "+", "-", "given", "given left"],
)  # fmt: skip
def test_what_is_no_word_is_refused_by_name(ask, wrong):
    with pytest.raises(InputError, match=r"expected a word") as refused:
        ask(wrong)
    if callable(wrong):
        assert wrong.__name__ in str(refused.value)


@pytest.mark.parametrize("wrong", [print, "abc def!", None, [1], object()])
def test_what_is_no_coefficient_is_refused(wrong):
    for ask in (lambda: wrong * A, lambda: A * wrong):
        with pytest.raises(InputError, match=r"a word times"):
            ask()
    with pytest.raises(InputError, match=r"written with @"):
        A * A
    assert A * 2 == 2 * A == A + A


@pytest.mark.parametrize("given", [A, 3, "x", [A], [(A,)], [(A, A, A)], ["ab"]])
def test_given_that_is_no_list_of_pairs(given):
    with pytest.raises(InputError, match=r"given=\[\(left, right\)\]"):
        prove(A, A, given)


def test_a_problem_that_is_none():
    with pytest.raises(InputError):
        evaluate(A, "model.json")
