"""Discounted sums of what a chain collects, and why there are none where it goes on for ever."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import Matrix, geometric_sum, number_text, stationary
from obliquetd.errors import UndiscountedError
from obliquetd.mdp.chain import discount_free_classes
from obliquetd.problem.rows import Rows

__all__ = ["Moves", "discounted_sum", "leading_to", "no_discount", "sum_outside"]


@dataclass(frozen=True, eq=False)
class Moves:
    """Discounted moves of a chain, (n, n), and what their rows miss of one, (n, 1)."""

    kernel: Matrix
    leak: Matrix

    @cached_property
    def closed(self) -> list[list[int]]:
        """The closed classes on which no discount is applied."""
        return discount_free_classes(self.kernel, self.leak)


def discounted_sum(
    ops: Rows, moves: Moves, source: Matrix, what: str, total: str = "the return"
) -> Matrix:
    """The sum over k of kernel^k source, which an error calls ``total``.

    It is zero where no source is ever reached, and the other states are solved for: a
    zero that the chain makes is no matter of rounding. On a closed class without
    discount the sum is finite only where the source is zero throughout (the absorbing
    state of Sutton and Barto, Section 3.4).
    """
    sources = np.unique(source.cleaned().support()[0])
    endless = [c for c in moves.closed if np.isin(sources, c).any()]
    if endless:
        raise _endless(ops, moves, source, endless, total)
    silent = np.flatnonzero(~_leads_to(moves.kernel, sources)).tolist()
    return sum_outside(ops, moves, source, set(silent), what)


def sum_outside(
    ops: Rows,
    moves: Moves,
    source: Matrix,
    excluded: set[int],
    what: str,
    *,
    transposed: bool = False,
) -> Matrix:
    """The sum on the other states, where those excluded count zero."""
    kernel, leak = moves.kernel, moves.leak
    if not excluded:
        return geometric_sum(kernel, leak, source, what, transposed=transposed)
    rest = [i for i in range(ops.n) if i not in excluded]
    apart = ops.arithmetic.column([ops.arithmetic.one] * len(excluded))
    missing = leak.submatrix(rest, [0]) + kernel.submatrix(rest, sorted(excluded)) @ apart
    inner, right = kernel.submatrix(rest, rest), source.submatrix(rest, [0])
    solved = geometric_sum(inner, missing, right, what, transposed=transposed)
    return ops.arithmetic.embedded(solved, rest, ops.n)


def _endless(
    ops: Rows, moves: Moves, source: Matrix, endless: list[list[int]], total: str
) -> UndiscountedError:
    """The error, with the values of all states that never reach an endless class."""
    doomed = leading_to(moves.kernel, [i for c in endless for i in c])
    silent = {k for c in moves.closed for k in c if k not in doomed}
    solved = sum_outside(ops, moves, source, doomed | silent, "L_pi").entries()
    values = {
        ops.labels[k]: ops.arithmetic.public(solved[k]) for k in range(ops.n) if k not in doomed
    }
    classes = [ops.names(c) for c in endless]
    others = f"; the values of the other states are in the error: {values}" if values else ""
    limits = [_limit(ops, moves.kernel, source, c) for c in endless]
    if all(limits):
        tends = {state: value for limit in limits if limit for state, value in limit.items()}
        shown = ", ".join(f"{s}: {number_text(x)}" for s, x in list(tends.items())[:8])
        collects = (
            "goes on collecting rewards with a mean of 0, so that no return settles. Discount 1 is refused "
            f"on a closed class; as a discount below 1 goes to 1, the values tend to {shown}"
            f"{', ...' if len(tends) > 8 else ''}"
        )
    else:
        collects = (
            f"goes on collecting reward, so {total} is not finite. Use a discount below 1, or let the "
            "episode end (a transition of discount 0)"
        )
    return UndiscountedError(
        f"{no_discount(ops)} the closed class {' and '.join(map(str, classes[:4]))} never "
        f"reaches a terminal state and {collects}{others}",
        classes,
        values,
    )


def _limit(ops: Rows, kernel: Matrix, source: Matrix, closed: list[int]) -> dict[Hashable, Any]:
    """What the sums of a closed class tend to as a discount goes to 1; nothing where they are infinite.

    With mu the stationary distribution of the class and mu' r = 0, it is the x with (I - P + 1 mu') x = r
    (Puterman 1994, Appendix A.5).
    """
    P, r = kernel.submatrix(closed, closed), source.submatrix(closed, [0])
    mu = stationary(P)
    if not (mu.T @ r).cleaned().is_zero():
        return {}
    ones = ops.arithmetic.column([ops.arithmetic.one] * len(closed))
    system = ops.arithmetic.identity(len(closed)) - P + ones @ mu.T
    return dict(
        zip(
            ops.names(closed), system.solve(r, "I - P + 1 mu'").cleaned().public_list(), strict=True
        )
    )


def no_discount(ops: Rows) -> str:
    """How an error says that no discount is applied on some classes."""
    if ops.discount == ops.arithmetic.one and ops.inputs.discount != 1:
        return "with a discount that floats do not tell from 1 (arithmetic='exact' does)"
    return "with discount 1"


def leading_to(kernel: Matrix, states: Iterable[int]) -> set[int]:
    """The states from which one of the given ones can be reached, these included."""
    return set(np.flatnonzero(_leads_to(kernel, np.fromiter(states, dtype=np.intp))).tolist())


def _leads_to(kernel: Matrix, ends: Any) -> Any:
    """For each state whether it is among them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n = kernel.shape[0]
    found = np.zeros(n + 1, dtype=bool)
    found[ends] = True
    if len(ends) == n:
        return found[:n]
    i, j = kernel.support()
    # from a state above all, backwards
    up, down = np.r_[j, np.full(len(ends), n)], np.r_[i, ends]
    graph = coo_array((np.ones(len(up), dtype=np.int8), (up, down)), (n + 1, n + 1)).tocsr()
    found[breadth_first_order(graph, n, return_predecessors=False)] = True
    return found[:n]
