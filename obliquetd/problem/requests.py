"""What a user hands to a problem later on: a matrix X, weights Omega, values, first weights theta0."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from obliquetd.algebra import (
    Kind,
    Matrix,
    choose_arithmetic,
    number_text,
    parse_matrix,
    parsed_kinds,
    parsed_symbols,
    to_matrix,
)
from obliquetd.errors import FeatureError, InputError
from obliquetd.problem.native import Operators

__all__ = [
    "read_matrix",
    "read_substitution",
    "read_theta",
    "read_values",
    "read_weighting",
    "read_weights",
    "require_names",
]


def read_matrix(ops: Operators, value: Any, name: str) -> Matrix:
    """A matrix with one row a state (or pair), in the problem's arithmetic.

    Raises
    ------
    FeatureError
        Where the number of rows is another, or they are ragged.
    KindError
        Where floats or symbols come to a problem of the other kind.
    """
    rows = parse_matrix(value, name)
    if len(rows) != ops.n:
        raise FeatureError(
            f"{name} has {len(rows)} rows for {ops.n} {ops.noun}s; expected one row a {ops.noun}"
        )
    return _in_arithmetic(ops, rows, name)


def _in_arithmetic(ops: Operators, rows: list[list[Any]], name: str) -> Matrix:
    kind = ops.arithmetic.kind
    if kind != "float":
        kinds: dict[str, set[Kind]] = {name: parsed_kinds(rows), "the problem": {kind}}
        choose_arithmetic(kinds, parsed_symbols(rows))
    return to_matrix(rows, ops.arithmetic)


def read_substitution(values: Any) -> Mapping[Any, Any]:
    """Numbers for symbols, a mapping of symbol or name to number."""
    if not isinstance(values, Mapping):
        raise InputError(
            f"values is {values!r}; expected {{symbol: number}}, as in {{'gamma': '9/10'}}"
        )
    return values


def read_values(ops: Operators, v: Any) -> Matrix:
    """A value for each state: a vector, or a mapping by state."""
    if isinstance(v, Mapping):
        v = _in_order(ops, v, "v")
    return read_matrix(ops, v, "v")


def _in_order(ops: Operators, table: Mapping[Any, Any], name: str) -> list[Any]:
    missing = [s for s in ops.labels if s not in table and s not in ops.places.spare]
    if missing:
        raise FeatureError(f"{name} has no entry for {ops.noun} {missing[0]!r}")
    return [table.get(s, 0) for s in ops.labels]


def read_theta(value: Any, d: int, name: str = "theta0") -> list[Any]:
    """d parsed numbers out of a vector, or a matrix of one column or row.

    Raises
    ------
    InputError
        For another number of them, and for what has no order or is text.
    """
    if isinstance(value, str | bytes | Mapping | Set) or not hasattr(value, "__len__"):
        raise InputError(
            f"{name} is {value!r}; expected a vector of {d} numbers, one for each feature"
        )
    rows = parse_matrix(value, name)
    flat = rows[0] if len(rows) == 1 else [x for row in rows for x in row]
    if len(flat) != d or (len(rows) > 1 and len(rows[0]) != 1):
        raise InputError(f"{name} has {len(flat)} entries; the features have {d}")
    return flat


def read_weights(ops: Operators, Omega: Any) -> Matrix:
    """The column of weights of a diagonal matrix, a vector, or a mapping by state.

    Raises
    ------
    InputError
        Where a matrix is not diagonal; names the entry.
    FeatureError
        Where the number of weights is not that of the states.
    """
    if isinstance(Omega, Mapping):
        Omega = _in_order(ops, Omega, "Omega")
    rows = parse_matrix(Omega, "Omega")
    n = ops.n
    if len(rows) == n and all(len(row) == n for row in rows) and n > 1:
        for i, row in enumerate(rows):
            for j, x in enumerate(row):
                if i != j and x != 0:
                    raise InputError(
                        f"Omega[{i}, {j}] is {number_text(x)}; Omega must be diagonal. For any "
                        "other matrix pass X="
                    )
        rows = [[row[i]] for i, row in enumerate(rows)]
    if len(rows) != n or any(len(row) != 1 for row in rows):
        raise FeatureError(f"Omega needs {n} weights, one for each {ops.noun}")
    return _in_arithmetic(ops, rows, "Omega")


def read_weighting(ops: Operators, value: Any) -> tuple[str, Matrix]:
    """``("Omega", column)`` or ``("X", matrix)``, by the shape of what a user gave.

    A mapping by state, a vector of n and a diagonal (n, n) matrix are Omega; any other matrix
    with n rows is X.

    Raises
    ------
    InputError
        For a vector where there is one feature, which might be either.
    """
    rows = [] if isinstance(value, Mapping) else parse_matrix(value, "the weighting")
    vector = len(rows) == ops.n and all(len(row) == 1 for row in rows)
    if vector and ops.Phi.shape[1] == 1:
        raise InputError(
            f"a vector of {ops.n} numbers is both an X and the weights Omega of a problem with one "
            "feature; say which with problem.fixed_point(X=...) or problem.fixed_point(Omega=...), "
            "which compare takes too"
        )
    square = len(rows) == ops.n > 1 and all(len(row) == ops.n for row in rows)
    diagonal = square and not any(
        x != 0 for i, row in enumerate(rows) for j, x in enumerate(row) if i != j
    )
    if isinstance(value, Mapping) or vector or diagonal:
        return "Omega", read_weights(ops, value)
    return "X", read_matrix(ops, value, "X")


def require_names(unnamed: tuple[Any, ...], called: str) -> None:
    """InputError where something besides the MDP came without a name: two policies look alike."""
    if unnamed:
        raise InputError(
            f"{called} takes the MDP first and all else by name, and {len(unnamed)} more came without one; write "
            f"{called}(mdp, target=..., behavior=..., features=..., discount=...)"
        )
