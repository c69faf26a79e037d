"""The tables of features that the rows of all outcomes are taken from, kept with a problem."""

from __future__ import annotations

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.rounding import BLOCK
from obliquetd.algebra.tall import blocks
from obliquetd.dynamics.rounded import UNIT
from obliquetd.dynamics.rounded_columns import datum, dyadic
from obliquetd.problem.native import Operators

__all__ = ["features_of"]


def features_of(ops: Operators, table: str) -> Matrix:
    """A table of features; floats with the bounds of what came in. It is kept with the operators."""
    known = ops.__dict__.setdefault("_tables", {})
    if table not in known:
        known[table] = _read(ops.Phi if table == "now" else ops.features_next)
    return known[table]  # type: ignore[no-any-return]


def _read(found: Matrix) -> Matrix:
    if not isinstance(found, FloatMatrix):
        return found
    if not found.sparse and found.shape[0] > BLOCK:
        exact = [dyadic(found.array[p]) for p in blocks(found.shape[0])]
        if all(x.all() for x in exact):
            return FloatMatrix(found.array, error=0.0)
        if not any(x.any() for x in exact):
            return FloatMatrix(found.array, error=UNIT)
    if found.sparse:
        array = found.array.tocsr(copy=True)
        array.data = datum(array.data).error
        return FloatMatrix(found.array, error=array)
    entries = datum(found.array)
    return FloatMatrix(
        found.array, error=entries.error if entries.relative is None else entries.relative
    )
