"""The paper's Table I for any problem."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from obliquetd.algebra import cell_text
from obliquetd.display import HtmlTable, latex_label, latex_of
from obliquetd.errors import InputError, LabelError, MathematicalError, did_you_mean
from obliquetd.frames import Tabular
from obliquetd.problem.evaluation import PolicyEvaluation
from obliquetd.problem.fixed_point import FixedPoint, label_of
from obliquetd.problem.required import require_problem
from obliquetd.problem.resting import resting_remark
from obliquetd.problem.rounding import rounding_bounds
from obliquetd.problem.weightings import METHODS

__all__ = ["COLUMNS", "LEGEND", "ROUNDED", "Comparison", "ComparisonRow", "compare", "labelled"]

COLUMNS: dict[str, str] = {
    "criterion": "criterion",
    "distance": "distance",
    "angle": "angle",
    "rmse": "RMSE",
    "rmspbe": "RMSPBE",
    "worst_case": "worst case",
}
"""What is compared, with the heading of each column; each is an attribute of a FixedPoint."""

ON_REQUEST: dict[str, str] = {
    "bias": "bias^2",
    "variance": "t variance",
    "rate": "t (MSE - bias^2)",
}
"""What can be compared besides, of learners and estimators."""

ROUNDED = "0 (to rounding)"
"""In place of a float that is not told from 0."""

HEADINGS = {**COLUMNS, **ON_REQUEST}

LEGEND = (
    "criterion ||Lambda'X - C||_F^2, distance ||X - X*||_F, angle between span(X) and span(X*), "
    "worst case: sup over rewards of ||v_hat - v|| / ||Pi v - v||"
)
"""What the short headings mean."""


@dataclass(frozen=True, eq=False)
class ComparisonRow:
    """One method's line: quantities that exist, and why the others do not.

    Attributes
    ----------
    name : str
    quantities : dict of str to number
        Keyed like :data:`COLUMNS`.
    theta, X : object or None
    errors : dict of str to MathematicalError
        The error for each quantity that does not exist; ``"fixed point"`` where none does.
    undetermined : tuple
        States whose value the fixed point leaves open.
    rounding : dict of str to float
        Of floats: what a quantity may be by rounding alone where it is 0.
    """

    name: str
    quantities: dict[str, Any]
    theta: Any = None
    X: Any = None
    errors: dict[str, MathematicalError] = field(default_factory=dict)
    undetermined: tuple[Any, ...] = ()
    rounding: dict[str, float] = field(default_factory=dict)

    def is_rounding(self, key: str) -> bool:
        """Whether a quantity is a float that rounding does not tell from 0."""
        value = self.quantities.get(key)
        return isinstance(value, float) and 0 < abs(value) <= self.rounding.get(key, 0.0)

    @property
    def problems(self) -> dict[str, str]:
        """The messages of :attr:`errors`."""
        return {what: str(error) for what, error in self.errors.items()}


@dataclass(frozen=True, eq=False)
class Comparison(HtmlTable, Tabular):
    """What :func:`compare` returns; index it by method name, or go through its methods in order.

    Attributes
    ----------
    methods : tuple of ComparisonRow
    remark : str
        What all of them have to be read with, in a sentence.
    """

    methods: tuple[ComparisonRow, ...]
    remark: str = ""

    def __getitem__(self, name: str) -> ComparisonRow:
        for row in self.methods:
            if row.name == name:
                return row
        names = [row.name for row in self.methods]
        raise LabelError(
            f"no method is called {name!r}; {did_you_mean(name, names)}there are {names}"
        )

    def __iter__(self) -> Any:
        return iter(self.methods)

    @property
    def _shown(self) -> list[str]:
        """The quantities that some method has, in the order of the headings."""
        return [key for key in HEADINGS if any(key in row.quantities for row in self.methods)]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row a method: its name, and its quantities by their keys; None where there is none.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> table = compare(two_state(), ["setd", "etd"], quantities=["criterion"])
        >>> list(table.rows())
        [{'method': 'setd', 'criterion': 1/4}, {'method': 'etd', 'criterion': 81/100}]
        """
        for row in self.methods:
            yield {"method": row.name, **{key: row.quantities.get(key) for key in self._shown}}

    def cells(self, width: int = 14, *, beside: bool = True) -> list[list[str]]:
        """The table as text, a heading first; see ``cell_text`` for the two options."""
        shown = self._shown
        text = functools.partial(cell_text, width=width, beside=beside)
        out = [["method", *(HEADINGS[key] for key in shown)]]
        for row in self.methods:
            found = {k: text(v) for k, v in row.quantities.items()}
            found |= {k: ROUNDED for k in shown if row.is_rounding(k)}
            out += [[row.name, *(found.get(k, "-") for k in shown)]]
        return out

    @property
    def _without(self) -> list[str]:
        """For methods without a fixed point the reason, each once."""
        reasons: dict[str, list[str]] = {}
        for row in self.methods:
            if "fixed point" in row.errors:
                reasons.setdefault(row.problems["fixed point"], []).append(row.name)
        said = [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
        return [*said, self.remark] if self.remark and self.remark not in str(said) else said

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        heading, *rows = self.cells()
        return "; ".join(self._without), heading, rows

    def to_latex(self, digits: int | None = None) -> str:
        r"""The table as a ``tabular`` with the rules of the package booktabs.

        Parameters
        ----------
        digits : int, optional
            Print numbers as decimals with so many digits; exactly where it is not given.
        """
        shown = self._shown
        lines = [r"\begin{tabular}{l" + "r" * len(shown) + "}", r"\toprule"]
        lines.append(" & ".join(["method", *(HEADINGS[key] for key in shown)]) + r" \\")
        lines.append(r"\midrule")
        for row in self.methods:
            found = row.quantities
            cells = [
                f"${latex_of(found[key], digits=digits)}$" if key in found else "--"
                for key in shown
            ]
            cells = [
                ROUNDED if row.is_rounding(key) else cell
                for key, cell in zip(shown, cells, strict=True)
            ]
            lines.append(" & ".join([latex_label(row.name), *cells]) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def __str__(self) -> str:
        table = self.cells()
        widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
        lines = [
            "  ".join(
                cell.ljust(w) if j == 0 else cell.rjust(w)
                for j, (cell, w) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        return "\n".join([*lines, *self._without])


def compare(
    problem: PolicyEvaluation,
    methods: Iterable[Any] | Mapping[str, Any] = METHODS,
    *,
    quantities: Sequence[str] = tuple(COLUMNS),
) -> Comparison:
    """The paper's Table I for any problem: one row a method.

    A quantity that does not exist for a method (a singular system, an undefined
    omega) is left out of its row, with the reason in ``row.problems``. A learner has the
    fixed point of its mean update, and no X, so that what depends on X is left out.

    Parameters
    ----------
    problem : PolicyEvaluation
    methods : sequence, or mapping of label to any of these
        Names, learners, X, Omega or fixed points: all that ``problem.fixed_point`` takes. Rows
        are called as the labels say; without labels by name, or "X" and "Omega".
    quantities : sequence of str
        Keys of :data:`COLUMNS` and of :data:`ON_REQUEST`.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> table = compare(two_state(), ["setd", "etd", "td"])
    >>> table["setd"].quantities["criterion"], table["etd"].quantities["distance"]
    (1/4, 9/2)
    >>> print(compare(two_state(), ["setd", "td"], quantities=["criterion", "distance"]))
    method  criterion              distance
    setd          1/4  sqrt(82)/2 = 4.52769
    td        729/100                  27/2
    >>> from obliquetd.learners import TD
    >>> problem = two_state(reward=1)
    >>> mine = compare(problem, {"mine": {"left": 0, "right": 1}, "rule": TD()}, quantities=["rmse"])
    >>> [(row.name, row.quantities["rmse"]) for row in mine]
    [('mine', 5*sqrt(2)/2), ('rule', 5*sqrt(298)/4)]

    Raises
    ------
    InputError
        For a name that there is not, and for two different methods with one label.
    """
    require_problem(problem)
    listed = (
        [quantities]
        if isinstance(quantities, str) or not isinstance(quantities, Iterable)
        else list(quantities)
    )
    unknown = [key for key in listed if key not in HEADINGS]
    if unknown or isinstance(quantities, str):
        named = quantities if isinstance(quantities, str) else unknown[0]
        raise InputError(
            f"quantities has {named!r}; {did_you_mean(named, HEADINGS)}expected a list of some of {', '.join(HEADINGS)}"
        )
    rows = tuple(_row(problem, *method, quantities) for method in labelled(problem, methods))
    return Comparison(rows, resting_remark(problem.native))


def labelled(problem: PolicyEvaluation, methods: Any) -> list[tuple[str, Any]]:
    """Each method with its label."""
    if isinstance(methods, Mapping):
        return [(str(label), given) for label, given in methods.items()]
    listed = (
        [methods]
        if isinstance(methods, str) or not isinstance(methods, Iterable)
        else list(methods)
    )
    named = [(label_of(given, problem), given) for given in listed]
    seen: dict[str, Any] = {}
    for label, given in named:
        if seen.setdefault(label, given) is not given and not isinstance(given, str):
            raise InputError(
                f"two methods are both called {label!r}; give them labels of their own with a mapping, as in "
                "otd.compare(problem, {'first': ..., 'second': ...})"
            )
    return named


def _row(
    problem: PolicyEvaluation, label: str, method: Any, wanted: Sequence[str]
) -> ComparisonRow:
    errors: dict[str, MathematicalError] = {}

    def attempt(key: str, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except MathematicalError as error:
            errors[key] = error
            return None

    point: FixedPoint | None = attempt("fixed point", lambda: problem.fixed_point(method))
    if point is None:
        return ComparisonRow(label, {}, errors=errors)
    found = {key: attempt(key, lambda key=key: getattr(point, key)) for key in wanted}  # type: ignore[misc]
    return ComparisonRow(
        label,
        {key: value for key, value in found.items() if value is not None},
        point.theta,
        attempt("X", lambda: point.X),
        errors,
        point.undetermined,
        rounding_bounds(point),
    )
