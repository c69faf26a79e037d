"""The values of words on a problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from obliquetd.algebra import Matrix, parse_number
from obliquetd.errors import InputError
from obliquetd.problem import Operators, PolicyEvaluation
from obliquetd.problem.required import require_problem
from obliquetd.words.letters import Letter, Word, require_word

__all__ = ["evaluate", "evaluate_native"]

KNOWN: dict[str, Callable[[Operators], Matrix]] = {
    "Phi": lambda ops: ops.Phi,
    "Xi": lambda ops: ops.arithmetic.identity(ops.n).scale_rows(ops.xi),
    "L": lambda ops: ops.L_pi,
    "P": lambda ops: ops.P_gamma,
    "V": lambda ops: ops.v_pi,
    "r": lambda ops: ops.r_pi,
    "1_n": lambda ops: ops.arithmetic.matrix([[ops.arithmetic.one]] * ops.n, (ops.n, 1)),
}
"""The letters that every problem has a value of."""


def evaluate(word: Word, problem: PolicyEvaluation, values: Mapping[str, Any] | None = None) -> Any:
    """The matrix that a word is on a problem, in the problem's own numbers.

    Parameters
    ----------
    word : Word
    problem : PolicyEvaluation
    values : mapping of letter name to matrix, optional
        Of letters that no problem has, as rows or an array. Inverses are found by themselves.

    Raises
    ------
    InputError
        For a letter without a value, or a value of a shape that does not fit.
    SingularError
        For an inverse that does not exist.

    Examples
    --------
    >>> import obliquetd as otd
    >>> from obliquetd.words import L, Phi, V, Xi, evaluate, inverse
    >>> problem = otd.domains.two_state(reward=1)
    >>> best = Phi @ inverse(Phi.T @ Xi @ Phi) @ Phi.T @ Xi @ V
    >>> evaluate(best, problem) == problem.best
    True
    """
    return evaluate_native(word, problem, values).public()


def evaluate_native(
    word: Word, problem: PolicyEvaluation, values: Mapping[str, Any] | None = None
) -> Matrix:
    """The same as a matrix of the package's own."""
    require_word(word, "what is evaluated")
    ops = require_problem(problem).native
    given = dict(values or {})
    sizes = {"1": 1, "n": ops.n, "d": ops.Phi.shape[1]}
    found: dict[str, Matrix] = {}
    for one in word.alphabet().values():
        found[one.name] = _value(one, ops, problem, given)
        _check_properties(one, found[one.name])
        rows, columns = found[one.name].shape
        for dimension, size in ((one.rows, rows), (one.columns, columns)):
            if sizes.setdefault(dimension, size) != size:
                raise InputError(
                    f"the letter {one.name} is {one.rows} by {one.columns} and its value is {rows} by "
                    f"{columns}; expected {dimension} = {sizes[dimension]}"
                )
    shape = word.shape
    if shape is None:
        raise InputError(
            f"the word {word} has no shape of its own; multiply it by a letter that has one"
        )
    return word.evaluate(found, ops.arithmetic.identity(sizes[shape[0]]))


def _check_properties(one: Letter, value: Matrix) -> None:
    """InputError where a value is not what the letter says it is."""
    rows, columns = value.shape
    if one.symmetric and (rows != columns or not (value - value.T).is_zero()):
        raise InputError(
            f"the letter {one.name} is symmetric, and its value is not; declare it without symmetric=True"
        )
    if one.stochastic:
        one_each = value.arithmetic.matrix([[value.arithmetic.one]] * columns, (columns, 1))
        sums = value @ one_each
        if rows != columns or not (sums - one_each).is_zero():
            raise InputError(
                f"the rows of the letter {one.name} sum to one, and those of its value sum to "
                f"{[str(x) for x in sums.entries()]}. P is P_pi with each transition times its discount; "
                "give P_pi as the value of a letter of your own"
            )


def _value(
    one: Letter, ops: Operators, problem: PolicyEvaluation, given: Mapping[str, Any]
) -> Matrix:
    if one.name in given and one.inverts is not None:
        raise InputError(
            f"the letter {one.name} is the inverse of {one.inverts}, which is found by itself; leave its "
            "value out"
        )
    if one.name in given:
        value = given[one.name]
        if isinstance(value, Matrix):
            return value
        rows = value.tolist() if hasattr(value, "tolist") else [list(row) for row in value]
        rows = [row if isinstance(row, list) else [row] for row in rows]
        numbers = [[ops.arithmetic.scalar(parse_number(x)) for x in row] for row in rows]
        return ops.arithmetic.matrix(numbers, (len(rows), len(rows[0]) if rows else 0))
    if one.inverts is not None:
        matrix = evaluate_native(one.inverts, problem, given)
        return matrix.solve(matrix.arithmetic.identity(matrix.shape[0]), str(one.inverts))
    if one.name in KNOWN:
        return KNOWN[one.name](ops)
    raise InputError(
        f"the letter {one.name} has no value on a problem; give one, as in evaluate(word, problem, "
        f"{{{one.name!r}: rows}}). Known are {', '.join(KNOWN)}"
    )
