"""From what users hold (lists, numpy, sympy, scipy.sparse) to matrices of one arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra.field import FieldArithmetic
from obliquetd.algebra.floating import FLOAT
from obliquetd.algebra.matrix import Arithmetic, Matrix
from obliquetd.algebra.numbers import Kind, join_kinds, kind_of, parse_number
from obliquetd.errors import FeatureError, InputError, KindError

__all__ = ["choose_arithmetic", "parse_matrix", "read_matrices"]


def choose_arithmetic(
    kinds: Mapping[str, set[Kind]], symbols: Iterable[sp.Symbol], wanted: str | None = None
) -> Arithmetic:
    """The arithmetic for named ingredients, inferred or as wanted.

    Raises
    ------
    KindError
        Where floats meet symbols without a word, or what is wanted cannot be.
    """
    symbols = set(symbols)
    names = sorted(map(str, symbols))
    twins = [a for a, b in itertools.pairwise(names) if a == b]
    if twins:
        raise KindError(
            f"two different symbols are called {twins[0]} (their assumptions differ); use one "
            f"Symbol object throughout, or the text {twins[0]!r} throughout"
        )
    if wanted not in (None, "exact", "symbolic", "float"):
        raise KindError(
            f"arithmetic={wanted!r}; expected 'exact', 'symbolic', 'float', or None to infer it"
        )
    floats = sorted(name for name, k in kinds.items() if "float" in k)
    symbolic = sorted(name for name, k in kinds.items() if "symbolic" in k)
    if symbolic and wanted in ("exact", "float"):
        raise KindError(
            f"arithmetic={wanted!r}, but there are symbols ({', '.join(names)}) "
            f"in {', '.join(symbolic)}; substitute numbers with problem.subs, or use 'symbolic'"
        )
    if wanted is None and floats and symbolic:
        raise KindError(
            f"floats in {', '.join(floats)} meet symbols in {', '.join(symbolic)}; write the "
            "floats as fractions ('9/10'), or pass arithmetic='symbolic' to read each float as "
            "the shortest decimal that prints it"
        )
    if wanted == "float" or (wanted is None and floats):
        return FLOAT
    return FieldArithmetic(symbols)


def parse_matrix(value: Any, name: str) -> list[list[Any]]:
    """Rows of parsed numbers; a vector is a column.

    Raises
    ------
    FeatureError
        Where the rows have different lengths.
    """
    if isinstance(value, Matrix):
        return value.rows()
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, sp.MatrixBase):
        value = value.tolist()
    if not hasattr(value, "__len__") or isinstance(value, str):
        raise InputError(f"{name} is {value!r}; expected a matrix")
    rows = [
        list(row) if isinstance(row, list | tuple | np.ndarray) and np.ndim(row) else [row]
        for row in value
    ]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise FeatureError(
                f"{name} is ragged: row {i} has {len(row)} entries, row 0 has {len(rows[0])}"
            )
    return [
        [parse_number(x, f"{name}[{i}, {j}]") for j, x in enumerate(row)]
        for i, row in enumerate(rows)
    ]


def parsed_kinds(rows: list[list[Any]]) -> set[Kind]:
    """The kinds of number in parsed rows."""
    return join_kinds(kind_of(x) for row in rows for x in row)


def parsed_symbols(rows: list[list[Any]]) -> set[sp.Symbol]:
    """The free symbols in parsed rows."""
    return {s for row in rows for x in row if isinstance(x, sp.Basic) for s in x.free_symbols}


def to_matrix(rows: list[list[Any]], arithmetic: Arithmetic) -> Matrix:
    """Parsed rows as a matrix."""
    width = len(rows[0]) if rows else 0
    native = [[arithmetic.scalar(x) for x in row] for row in rows]
    return arithmetic.matrix(native, (len(rows), width))


def read_matrices(**values: Any) -> list[Matrix]:
    """Named matrices, all in the arithmetic that they need together."""
    parsed = {name: parse_matrix(value, name) for name, value in values.items()}
    kinds = {name: parsed_kinds(rows) for name, rows in parsed.items()}
    symbols = set().union(*(parsed_symbols(rows) for rows in parsed.values()))
    arithmetic = choose_arithmetic(kinds, symbols)
    return [to_matrix(rows, arithmetic) for rows in parsed.values()]
