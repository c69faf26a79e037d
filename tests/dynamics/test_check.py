"""A forged certificate for each line of the checker, beside true ones that need that line.

A test that only asks for *yes* on true certificates would not notice a checker that always says yes.
"""

from fractions import Fraction

import pytest

from obliquetd.dynamics.check import LONGEST, check_certificate, fraction, matrix

F = Fraction
I2 = [[1, 0], [0, 1]]
SIDE = [[-1, 2], [2, -1]]
"""Columns that add up to 1: B SIDE = B where both columns of B are equal. Eigenvalues 1 and -3."""
SWAP = [[0, 1], [1, 0]]


def told(value):
    """Numbers as the text of a certificate."""
    if isinstance(value, list):
        return [told(v) for v in value]
    return value if isinstance(value, str) else str(value)


def certificate(claim, quotient, K=None, *, A=None, basis=None, **more):
    size = range(len(quotient))
    identity = [[int(i == j) for j in size] for i in size]
    out = {"A": quotient if A is None else A, "basis": basis or identity, "quotient": quotient}
    if K is not None:
        out["K"] = K
    return {"claim": claim, **{k: told(v) for k, v in {**out, **more}.items()}}


def stable(quotient, K, **more):
    return certificate("stable", quotient, K, **more)


def unstable(quotient, K, vector, rate=0, **more):
    return certificate("unstable", quotient, K, vector=vector, rate=rate, **more)


def singular(quotient, vector, **more):
    return certificate("singular", quotient, vector=vector, **more)


def convergent(quotient, K, **more):
    return certificate("convergent", quotient, K, **more)


SHEAR = [[F(1, 2), 1], [0, F(1, 2)]]
"""Powers tend to 0, but not at once: K has to weigh the second entry more."""

TWO_SIGNS = ([[-1, 0], [0, 0]], [[-1, 0], [0, 1]])
"""Q with the eigenvalues -1 and 0, and a K that needs a rate: S = diag(2, 0)."""

TRUE = {
    "one number": stable([[2]], [[F(1, 4)]]),
    "a small pivot": stable([[F(1, 4)]], [[1]]),
    "Q not symmetric": stable([[2, 1], [0, 3]], I2),
    "S with small second pivot": stable([[2, F(1, 2)], [F(1, 2), F(1, 2)]], I2),
    "three rows": stable([[2, 1, 0], [1, 2, 1], [0, 1, 2]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "K not diagonal": stable(I2, [[2, 1], [1, 2]]),
    "other coordinates": stable([[1, 0], [0, 2]], I2, A=[[1, 0], [-1, 2]], basis=[[1, 0], [1, 1]]),
    "rows in another order": stable([[1, 0], [0, 2]], I2, A=[[2, 0], [0, 1]], basis=SWAP),
    "a span smaller than all": stable([[2]], [[1]], A=[[2, 0], [0, -1]], basis=[[1], [0]]),
    "unstable": unstable([[-1]], [[-1]], [1]),
    "v'Kv small": unstable([[-1]], [[-1]], [F(1, 2)]),
    "a rate": unstable(*TWO_SIGNS, [1, 0], F(9, 10)),
    "singular": singular([[0]], [1]),
    "a null vector with a zero": singular([[0, 0], [0, 1]], [1, 0]),
    "powers tend to 0": convergent([[F(1, 2)]], [[1]]),
    "with alternating signs": convergent([[F(-9, 10)]], [[F(1, 3)]]),
    "a factor that is not normal": convergent(SHEAR, [[1, 0], [0, 2]]),
    "powers tend to 0 on a span": convergent(
        [[F(1, 2)]], [[1]], A=[[F(1, 2), 0], [0, 5]], basis=[[1], [0]]
    ),
}
FORGED = {
    "of nothing: the empty matrix": certificate("stable", [], [], A=[], basis=[]),
    "of nothing: an empty quotient": certificate("stable", [], [], A=[[-1]], basis=[[]]),
    "a basis of nothing": stable([[1]], [[1]], A=[], basis=[]),
    "A not square": stable([[2]], [[1]], A=[[2, 5]]),
    "A with ragged rows": stable([[2, 0], [0, 2]], I2, A=[[2, 0], [0, 2, 7]]),
    "Q not square": stable([[2, 0]], [[1]], A=[[2]], basis=[[1]]),
    "Q of another size than B": stable([[1, 0], [0, 1]], I2, A=[[1]], basis=[[1]]),
    "a basis with too many rows": stable([[2]], [[1]], A=[[2]], basis=[[1], [0]]),
    "a basis with ragged rows": stable([[2]], [[1]], A=[[2, 0], [0, 2]], basis=[[1], [0, 9]]),
    "columns of B that are equal": unstable(SIDE, SWAP, [1, -1], A=I2, basis=[[2, 2], [2, 2]]),
    "columns of B in one row": unstable(SIDE, SWAP, [1, -1], A=[[1, 0], [0, 7]], basis=[[1, 1], [0, 0]]),
    "more columns than rows": unstable(SIDE, SWAP, [1, -1], A=[[1]], basis=[[1, 1]]),
    "a basis of zero": unstable([[-1]], [[-1]], [1], A=[[1]], basis=[[0]]),
    "singular by a basis of rank 1": singular([[0, 0], [1, 1]], [1, -1], A=I2, basis=[[1, 1], [1, 1]]),
    "Q that is not A on the span": stable([[2]], [[1]], A=[[-2]]),
    "Q that is A in one row": stable([[2, 0], [0, 2]], I2, A=[[2, 0], [0, -2]]),
    "a span that A leaves": stable([[2]], [[1]], A=[[2, 0], [1, -1]], basis=[[1], [0]]),
    "a null vector of zero": singular([[1]], [0]),
    "no null vector": singular([[1]], [1]),
    "null in one row": singular([[0, 0], [0, 1]], [0, 1]),
    "a null vector too long": singular([[0]], [1, 1]),
    "a null vector too short": singular([[0, 1], [0, 1]], [1]),
    "K not symmetric": stable([[F(-3, 5), F(-4, 5)], [F(4, 5), F(-3, 5)]], [[1, 2], [-2, 1]]),
    "K too large": stable([[2]], I2),
    "K with too many rows": stable([[2]], [[1], [1]]),
    "K with ragged rows": stable(I2, [[1, 0], [0, 1, 5]]),
    "K too small": stable(I2, [[1]]),
    "K negative": stable([[-1]], [[-1]]),
    "K indefinite with positive diagonal": stable([[-1, 2], [2, -1]], [[1, 2], [2, 1]]),
    "S negative": stable([[-1]], [[1]]),
    "S a little negative": stable([[F(-1, 4)]], [[1]]),
    "S zero": stable([[0]], [[1]]),
    "S indefinite with positive diagonal": stable([[F(1, 2), 1], [1, F(1, 2)]], I2),
    "S with a small pivot first": stable([[F(1, 4), F(1, 2)], [F(1, 2), F(3, 4)]], I2),
    "S falls in the last row alone": stable([[1, 0, 1], [0, 1, 1], [1, 1, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "V does not fall": unstable([[1]], [[1]], [1]),
    "V falls nowhere": unstable([[1]], [[-1]], [1]),
    "V of v is zero": unstable([[-1, 0], [0, 1]], TWO_SIGNS[1], [1, 1]),
    "v of zeros": unstable([[-1]], [[-1]], [0]),
    "v too long": unstable([[-1]], [[-1]], [1, 1]),
    "v too short": unstable([[-1, 0], [0, 1]], TWO_SIGNS[1], [1]),
    "a negative rate": unstable([[1]], [[-1]], [1], -2),
    "a small negative rate": unstable([[F(1, 4)]], [[-1]], [1], F(-1, 2)),
    "too large a rate": unstable(*TWO_SIGNS, [1, 0], F(3, 2)),
    "a rate that is needed": unstable(*TWO_SIGNS, [1, 0]),
    "powers of one": convergent([[1]], [[1]]),
    "powers of minus one": convergent([[-1]], [[1]]),
    "powers that grow": convergent([[2]], [[1]]),
    "powers that grow, by a negative K": convergent([[2]], [[-1]]),
    "powers of which one grows": convergent([[F(1, 2), 0], [0, 2]], I2),
    "powers that grow, by an indefinite K": convergent([[2, 0], [0, F(1, 2)]], [[-1, 0], [0, 1]]),
    "a K that does not weigh": convergent(SHEAR, I2),
    "a K that weighs the wrong entry": convergent(SHEAR, [[2, 0], [0, 1]]),
    "convergent for what is stable": convergent([[3]], [[1]]),
    "stable for what is convergent": stable([[F(-1, 2)]], [[1]]),
    "a claim that is none": {**unstable([[-1]], [[-1]], [1]), "claim": "unsteady"},
    "a stable matrix under another name": {**stable([[1]], [[1]]), "claim": "steady"},
    "stable for an unstable matrix": {**unstable([[-1]], [[-1]], [1]), "claim": "stable"},
    "unstable for a stable matrix": {**unstable([[1]], [[1]], [1]), "claim": "unstable"},
    "singular for a stable matrix": {**singular([[1]], [1]), "K": [["1"]]},
    "a number for text": {**stable([[2]], [[1]]), "A": [[2]]},
    "half a fraction": stable([[2]], [["1/"]]),
    "division by zero": stable([[2]], [["1/0"]]),
    "a list that is a text": {**stable([[1]], [[1]]), "A": "1", "basis": "1", "quotient": "1", "K": "1"},
    "rows that are text": {**stable([[1]], [[1]]), "K": ["1"]},
    "rows one of which is text": {**stable(I2, I2), "K": [["1", "0"], "01"]},
    "rows in a tuple": {**stable([[1]], [[1]]), "K": (["1"],)},
    "nothing": {},
    "no dict": None,
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_a_proof_is_accepted(name):
    assert check_certificate(TRUE[name]) is True


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_refused(name):
    assert check_certificate(FORGED[name]) is False


@pytest.mark.parametrize("name", TRUE)
def test_no_part_of_a_proof_can_be_left_out(name):
    for key in TRUE[name]:
        assert not check_certificate({k: v for k, v in TRUE[name].items() if k != key}), key


LONG = "12" + "0" * 4999 + "7" * 4999


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("12", 12),
        ("-12", -12),
        ("-3/4", F(-3, 4)),
        ("6/8", F(3, 4)),
        ("0" * 999_999 + "7", 7),
        (LONG, 12 * 10**9998 + 7 * (10**4999 - 1) // 9),
    ],
    ids=lambda x: str(x)[:9] if isinstance(x, str) else "",
)
def test_numbers_are_read_exactly(text, value):
    assert fraction(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "-", "--1", "+1", "1_0", " 1", "1/-2", "1/2/3", "1e5", "1.5", "٣", "²", "0" * 1_000_001],
    ids=lambda x: repr(x[:9]),
)
def test_what_is_no_number_in_digits_is_refused(text):
    with pytest.raises((ValueError, TypeError), match=r"digits|numbers are text"):
        fraction(text)


def test_what_is_no_text_is_refused():
    assert LONGEST == 1_000_000
    for bad in (1, 1.5, None, F(1), ["1"], b"1"):
        with pytest.raises(TypeError, match="numbers are text"):
            fraction(bad)


@pytest.mark.parametrize("rows", [(["1"],), "1", ["1"], [["1"], "2"], None, {"0": ["1"]}])
def test_a_matrix_is_a_list_of_lists(rows):
    with pytest.raises(TypeError, match="list of rows"):
        matrix(rows)
