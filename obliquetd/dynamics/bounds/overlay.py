"""All theorems on one problem and one learner: the door of the room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from obliquetd.algebra import cell_text
from obliquetd.display import HtmlTable
from obliquetd.dynamics.bounds.bound import Bound, Curve, text_table
from obliquetd.dynamics.bounds.setting import Setting
from obliquetd.dynamics.bounds.theorems import BOUNDS
from obliquetd.dynamics.sampling import check_sampling
from obliquetd.errors import InputError, did_you_mean
from obliquetd.frames import Tabular
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["Bounds", "bounds"]


class Bounds(HtmlTable, Tabular):
    """What :func:`bounds` returns: every theorem by name, the table of them, and their curves."""

    def __init__(self, at: Setting, kinds: Iterable[type[Bound]]) -> None:
        self._at = at
        self._found: dict[str, Bound] = {}
        for kind in kinds:
            if kind.name in self._found:
                raise InputError(
                    f"two theorems are called {kind.name!r}; give {kind.__name__} a name of its own"
                )
            self._found[kind.name] = kind(at)

    def __getitem__(self, name: str) -> Bound:
        if name not in self._found:
            raise InputError(
                f"no bound is called {name!r}; {did_you_mean(name, self._found)}expected one of {', '.join(self._found)}"
            )
        return self._found[name]

    def __iter__(self) -> Iterator[Bound]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    @property
    def holding(self) -> list[Bound]:
        """The bounds whose hypotheses all hold."""
        return [each for each in self if each.holds]

    def curves(self, steps: int) -> dict[str, Curve]:
        """Each bound that holds over its exact curve, by name."""
        return {
            each.name: each.curve(steps if each.first in (0, 1) else None) for each in self.holding
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row a theorem: at step 1, or in the limit, and the hypothesis that fails where there is none."""
        for each in self:
            at: Any = 1 if each.first in (0, 1) else None
            held = each.holds
            yield {
                "theorem": each.name,
                "quantity": each.quantity,
                "step": at if held else None,
                "bound": each.bound(at) if held else None,
                "exact": each.exact(at) if held else None,
                "ratio": each.ratio(at) if held else None,
                "fails": None
                if held
                else f"{each.hypotheses[-1].name}: {each.hypotheses[-1].found}",
                "source": each.source,
            }

    def cells(self, t: int = 1) -> list[list[str]]:
        """The table as rows of text, a heading first: each bound at step t, or in the limit."""
        out = [["theorem", "t", "bound", "exact", "ratio", "source"]]
        for each in self:
            if not each.holds:
                failed = each.hypotheses[-1]
                out.append(
                    [each.name, "-", f"{failed.name}: {failed.found}", "-", "-", each.source]
                )
                continue
            at = t if each.first in (0, 1) else None
            shown = [
                cell_text(v, beside=False) for v in (each.bound(at), each.exact(at), each.ratio(at))
            ]
            out.append([each.name, "limit" if at is None else str(at), *shown, each.source])
        return out

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        heading, *rows = self.cells()
        return f"Bounds for {self._at.learner.label}", heading, rows

    def __str__(self) -> str:
        return text_table(self.cells())

    def __repr__(self) -> str:
        holding = ", ".join(each.name for each in self.holding) or "none"
        return (
            f"Bounds({self._at.learner.label!r}, {len(self)} theorems, that hold here: {holding})"
        )


def bounds(
    problem: PolicyEvaluation,
    learner: Learner,
    theta0: Any = None,
    *,
    sampling: str | None = None,
    also: Iterable[type[Bound]] = (),
) -> Bounds:
    r"""Published bounds beside the exact numbers that they bound, and how loose each is on a problem.

    ============  ===========================================================================
    contraction   ||Phi theta* - v|| <= ||Pi v - v|| / (1 - kappa) (Tsitsiklis and Van Roy 1997)
    pythagoras    ... / sqrt(1 - kappa^2), with kappa = gamma (1 - lambda) / (1 - gamma lambda)
    instance      the factor of Mou, Pananjady and Wainwright (2023)
    oblique       the factor ||Q||, on- and off-policy (Scherrer 2010); no factor is smaller
    averaged      the average of the weights after each step (Bhandari, Russo and Singal 2018)
    last          the weights, for a small constant step size (the same)
    decaying      the weights, for alpha_t = c / (offset + t) (the same)
    trajectory    the weights along a trajectory (after Srikant and Ying 2019)
    ============  ===========================================================================

    Each states its hypotheses as data, and is refused where one fails. Each is proved in its
    docstring: nothing is taken on trust.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact or in floats. Exact bounds keep their roots and exponentials; ``sympy.N`` gives
        decimals.
    learner : Learner
        TD; of other learners every bound says that it is not about them.
    theta0 : vector of d, optional
        Zero unless given.
    sampling : {"trajectory", "iid"}, optional
        None is, for each bound, what it is stated for.
    also : iterable of classes, optional
        Theorems of your own, subclasses of :class:`obliquetd.dynamics.bounds.Bound`.

    Returns
    -------
    Bounds
        A table, indexed by name.

    Raises
    ------
    KindError
        For symbols.
    InputError
        For what is no learner, and no sampling, and for two theorems of one name.

    Examples
    --------
    >>> from obliquetd.domains import random_problem
    >>> from obliquetd.learners import TD
    >>> base = random_problem(3, 1, seed=1, on_policy=True, discount="1/2")
    >>> problem = base.replace(features=base.Phi / 8)
    >>> found = bounds(problem, TD("1/2000"))
    >>> [each.name for each in found.holding]
    ['contraction', 'pythagoras', 'instance', 'oblique', 'averaged', 'last']
    >>> found["contraction"].factor, found["pythagoras"].factor
    (2, 2*sqrt(3)/3)
    >>> bool(found["oblique"].factor <= found["instance"].factor <= found["pythagoras"].factor)
    True
    >>> found["last"].curve(2).worst_case.t, found["decaying"].hypotheses[-1].value
    (2, 'a constant or no step size')
    """
    check_sampling(sampling)
    return Bounds(Setting(problem, learner, theta0, sampling), (*BOUNDS, *also))
