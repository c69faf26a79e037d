"""The one seam between exact, symbolic and floating numbers."""

from obliquetd.algebra.expressions import parse_expression
from obliquetd.algebra.field import FieldArithmetic, FieldMatrix
from obliquetd.algebra.floating import FLOAT, FloatArithmetic, FloatMatrix, SolveReport
from obliquetd.algebra.geometric import geometric_sum
from obliquetd.algebra.matrix import Arithmetic, GeneralSolution, Matrix
from obliquetd.algebra.numbers import (
    Kind,
    exact_distribution,
    exact_root,
    exactify,
    is_long,
    join_kinds,
    kind_of,
    misses_one_by_rounding,
    parse_number,
    public_number,
    simplest_fraction,
)
from obliquetd.algebra.reading import (
    choose_arithmetic,
    parse_matrix,
    parsed_kinds,
    parsed_symbols,
    read_matrices,
    to_matrix,
)
from obliquetd.algebra.stationary import stationary
from obliquetd.algebra.writing import (
    cell_text,
    decimal_text,
    number_text,
    quoted,
    serial_number,
    shortened,
)

EXACT = FieldArithmetic()
"""The arithmetic of rational numbers."""

__all__ = [
    "EXACT",
    "FLOAT",
    "Arithmetic",
    "FieldArithmetic",
    "FieldMatrix",
    "FloatArithmetic",
    "FloatMatrix",
    "GeneralSolution",
    "Kind",
    "Matrix",
    "SolveReport",
    "cell_text",
    "choose_arithmetic",
    "decimal_text",
    "exact_distribution",
    "exact_root",
    "exactify",
    "geometric_sum",
    "is_long",
    "join_kinds",
    "kind_of",
    "misses_one_by_rounding",
    "number_text",
    "parse_expression",
    "parse_matrix",
    "parse_number",
    "parsed_kinds",
    "parsed_symbols",
    "public_number",
    "quoted",
    "read_matrices",
    "serial_number",
    "shortened",
    "simplest_fraction",
    "stationary",
    "to_matrix",
]
