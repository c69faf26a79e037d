"""Certificates as files for Coq: what is so is accepted, and whatever is forged is refused."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import kernel
from obliquetd.domains import baird_star, collision, kolter, two_state
from obliquetd.dynamics import iteration, mean_dynamics
from obliquetd.dynamics.dominance import dominant_basis, is_dominant, product, transposed
from obliquetd.dynamics.fitting import FQI
from obliquetd.dynamics.formal import certificate_text, file_of, witnesses
from obliquetd.errors import InputError
from obliquetd.learners import ETD, GTD2, SETD, TD
from tests.dynamics.test_certificate import CASES, HUGE, TINY, made, scaled
from tests.turn import part

needs_coq = pytest.mark.skipif(kernel.find_coqc() is None, reason="there is no coqc here")


def unit(n):
    return [[str(int(i == j)) for j in range(n)] for i in range(n)]


def of_matrix(claim, A, **evidence):
    """A certificate of all of a matrix."""
    return {"claim": claim, "A": A, "basis": unit(len(A)), "quotient": A, **evidence}


SINGULAR = of_matrix("singular", [["1/2", "1"], ["1", "2"]], vector=["2", "-1"])
CONVERGENT = {
    "claim": "convergent", "A": [["1/2", "1/3"], ["0", "1/3"]], "basis": [["1", "0"], ["0", "2"]],
    "quotient": [["1/2", "2/3"], ["0", "1/3"]], "K": [["1", "0"], ["0", "2"]],
}  # fmt: skip
SPIRAL = of_matrix("stable", [["1/100", "-5"], ["5", "1/100"]], K=[["1", "0"], ["0", "1"]])


def large(n, seed=1):
    """A stable matrix of size n with fractions, whose certificate is the package's own."""
    state, rows = seed, []
    for i in range(n):
        row = []
        for j in range(n):
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            row.append(sp.Rational((state >> 40) % 19 - 9, (state >> 20) % 7 + 1) + 30 * (i == j))
        rows.append(row)
    return made(rows, "stable")


# --- the witnesses, in Python ---


@pytest.mark.parametrize(("verdict", "rows"), CASES, ids=lambda v: str(v)[:30])
@pytest.mark.parametrize("factor", [1, TINY, HUGE], ids=["1", "tiny", "huge"])
@pytest.mark.slow
def test_witnesses_are_found_for_whatever_has_a_certificate(verdict, rows, factor):
    certificate = made(scaled(factor, rows), verdict)
    found = witnesses(certificate)
    assert [[Fraction(x, found.a) for x in row] for row in found.A] == [
        [Fraction(str(x)) for x in row] for row in certificate["A"]
    ]
    V = found.evidence["W"]
    K, Q, e, f = (
        found.evidence["K"],
        found.Q,
        *(found.evidence.get(k, d) for k, d in (("e", 0), ("f", 1))),
    )
    KQ = product(K, Q)
    form = [
        [f * (x + y) + 2 * found.a * e * k for x, y, k in zip(*r, strict=True)]
        for r in zip(KQ, transposed(KQ), K, strict=True)
    ]
    assert is_dominant(product(product(V, form), transposed(V)))
    assert f"Theorem {verdict}_certificate" in file_of(found)


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_a_dominant_basis_is_found_exactly_where_a_matrix_is_positive_definite(rows):
    K = [[rows[i][j] + rows[j][i] + 12 * (i == j) for j in range(3)] for i in range(3)]
    V = dominant_basis(K)
    assert (V is not None) == sp.Matrix(K).is_positive_definite
    assert V is None or is_dominant(product(product(V, K), transposed(V)))


def test_a_nearly_singular_matrix_has_a_dominant_basis():
    n = 10**40
    K = [[n, n], [n, n + 1]]
    V = dominant_basis(K)
    assert is_dominant(product(product(V, K), transposed(V)))
    assert dominant_basis([[n, n], [n, n]]) is None


def test_what_proves_nothing_is_not_written():
    with pytest.raises(InputError, match="does not prove its claim"):
        certificate_text({**SPIRAL, "K": [["1", "0"], ["0", "-1"]]})
    with pytest.raises(InputError, match="no certificate claims 'forms'"):
        kernel.certificate_head("forms")


# --- the command ---


def check(*arguments, **env):
    done = subprocess.run(
        [sys.executable, "-m", "obliquetd", "check", *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, **env},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_the_command_writes_without_coq_and_says_that_nothing_was_checked(tmp_path):
    path, proof = tmp_path / "c.json", tmp_path / "c.v"
    path.write_text(json.dumps(SPIRAL))
    code, out, _ = check(path, "--coq", proof, COQC="/nowhere/coqc")
    assert code == 0
    assert "not checked: there is no coqc here" in out
    assert proof.read_text() == certificate_text(SPIRAL)
    code, _, err = check(path, "--coq", proof, COQC="/nowhere/coqc")
    assert code == 2
    assert "exists" in err


@needs_coq
@pytest.mark.slow
def test_the_command_has_coq_check(tmp_path):
    path, proof = tmp_path / "c.json", tmp_path / "c.v"
    path.write_text(json.dumps(mean_dynamics(two_state(), TD()).certificate()))
    code, out, _ = check(path, "--coq", proof, "--json")
    assert code == 0
    assert json.loads(out)["coq"]["accepted"] is True


# --- what coqc accepts ---

TRUE = {
    "baird-td": lambda: mean_dynamics(baird_star(), TD()).certificate(),
    "baird-gtd2": lambda: mean_dynamics(baird_star(), GTD2(mu=1)).certificate(),
    "baird-setd": lambda: mean_dynamics(baird_star(), SETD()).certificate(),
    "two-state-etd": lambda: mean_dynamics(two_state(), ETD()).certificate(),
    "two-state-fqi": lambda: iteration(two_state(discount="1/2"), FQI()).certificate(),
    "kolter-setd": lambda: mean_dynamics(kolter(), SETD()).certificate(),
    "collision-td": lambda: mean_dynamics(collision(), TD()).certificate(),
    "singular": lambda: SINGULAR,
    "convergent": lambda: CONVERGENT,
    "spiral": lambda: SPIRAL,
    "rate": lambda: made([[0, 1, 0], [-1, 0, 0], [0, 0, sp.Rational(-1, 10)]], "unstable"),
    "tiny": lambda: made(scaled(TINY, [[1, 1], [1, 1 + sp.Rational(1, 10**20)]]), "stable"),
    "twenty": lambda: large(20),
}


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("name", part(TRUE, 2))
def test_coq_accepts_what_is_so(name):
    certificate = TRUE[name]()
    text = certificate_text(certificate)
    answer = kernel.check_text(text, name, timeout=600)
    assert answer.accepted, answer.message
    assert answer.theorems == (f"{certificate['claim']}_certificate",)


def test_the_file_of_a_part_says_what_q_is():
    text = certificate_text(TRUE["baird-td"]())
    assert "let Q := fractions R 7 7" in text
    assert "restriction A B Q" in text
    assert "Q is\n   A on their span: AB = BQ" in text


# --- what coqc refuses ---


def changed(numbers, name, i=0, j=0, by=1):
    """One entry of a table, changed."""
    inside = name in numbers.evidence
    rows = [list(row) for row in (numbers.evidence[name] if inside else getattr(numbers, name))]
    rows[i][j] += by
    if inside:
        return replace(numbers, evidence={**numbers.evidence, name: rows})
    return replace(numbers, **{name: rows})


def negated(rows):
    return [[-x for x in row] for row in rows]


def claimed_stable(certificate):
    """The numbers of an unstable certificate as evidence that Q is stable, with any V."""
    found = witnesses(certificate)
    K = found.evidence["K"]
    n = len(K)
    V = [[int(i == j) for j in range(n)] for i in range(n)]
    return replace(found, claim="stable", evidence={"K": K, "V": V, "W": found.evidence["W"]})


def evidence(numbers, **new):
    return replace(numbers, evidence={**numbers.evidence, **new})


def forgeries():
    stable = witnesses(SPIRAL)
    part = witnesses(TRUE["baird-td"]())
    rate = witnesses(TRUE["rate"]())
    singular, convergent = witnesses(SINGULAR), witnesses(CONVERGENT)
    one = [[1, 0], [0, 1]]
    yield "K is not symmetric", changed(stable, "K", 0, 1)
    yield "K is negative", evidence(stable, K=negated(stable.evidence["K"]))
    yield "the witness of K is singular", evidence(stable, V=[[1, 1], [1, 1]])
    yield "the witness of S is 0", evidence(stable, W=[[0, 0], [0, 0]])
    yield "the witness has too few rows", evidence(stable, V=[[1, 0]])
    yield "Q is another matrix", changed(stable, "Q")
    yield "A and Q with the other sign", replace(stable, A=negated(stable.A), Q=negated(stable.Q))
    yield (
        "a negative denominator",
        replace(stable, A=negated(stable.A), Q=negated(stable.Q), a=-stable.a),
    )
    yield "a denominator of 0", replace(stable, a=0)
    yield "an unstable Q is called stable", claimed_stable(TRUE["baird-td"]())
    yield "A is not Q on the span", changed(part, "A", 0, 7)
    yield "a basis of dependent columns", replace(
        stable, A=one, B=[[1, 1], [0, 0]], Q=one, C=one, evidence={"K": one, "V": one, "W": one}
    )  # fmt: skip
    yield "a row of Q is missing", replace(part, Q=part.Q[:-1])
    yield "a row of B is too short", replace(part, B=[part.B[0][:-1], *part.B[1:]])
    yield "v does not fall", evidence(part, v=[[1] + [0] * 6])
    yield "a negative rate", evidence(rate, e=-rate.evidence["e"])
    yield "no rate where one is needed", evidence(rate, e=0)
    yield "v is 0", evidence(singular, v=[[0, 0]])
    yield "v is no null vector", evidence(singular, v=[[2, 1]])
    yield (
        "a factor above 1",
        replace(
            convergent,
            A=[[6 * x for x in r] for r in convergent.A],
            Q=[[6 * x for x in r] for r in convergent.Q],
        ),
    )


FORGED = dict(forgeries())


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("name", part(FORGED, 3))
def test_coq_refuses_a_forged_certificate(name):
    answer = kernel.check_text(file_of(FORGED[name]), "forged", timeout=600)
    assert not answer.accepted
    assert "Error" in answer.message
    assert re.search(r"Unable to unify|true|Cannot|type", answer.message)


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [("eigenpair Q a b x y -> 0 < a\n", "eigenpair Q a b x y -> 1 < a\n"), ("fractions R 2 2 Q_numbers", "fractions R 2 2 B_numbers"), ("(100)%Z in\n  let B", "(99)%Z in\n  let B")],
    ids=["more than is proved", "of another matrix", "another denominator"],
)  # fmt: skip
def test_coq_refuses_another_statement(old, new):
    text = certificate_text(SPIRAL)
    assert old in text
    answer = kernel.check_text(text.replace(old, new), "forged", timeout=600)
    assert not answer.accepted
    assert "Error" in answer.message
