"""What a problem is made of: every field parsed and checked once, and kept as a copy.

Nothing here refers to an object that the user can still change. A problem is made from
its :class:`Inputs`, changed through them (:meth:`Inputs.changed`, :meth:`Inputs.subs`),
saved from them and pickled as them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import (
    Arithmetic,
    FieldArithmetic,
    Kind,
    choose_arithmetic,
    exact_distribution,
    parsed_kinds,
    parsed_symbols,
)
from obliquetd.algebra.preimage import Limit, preimage
from obliquetd.algebra.signs import KnownSigns, known_of
from obliquetd.algebra.storage import listed
from obliquetd.errors import InputError, did_you_mean
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.substitution import (
    RANGES,
    Entry,
    check_substitution,
    substitution,
    valid_values,
    zeros,
)
from obliquetd.problem.checks import (
    check_coverage,
    check_policy,
    check_sizes,
    check_start,
    feature_rows,
    parse_discount,
    parse_weights,
)
from obliquetd.problem.places import Places, Start, places_of

__all__ = ["OCCUPANCY", "Inputs", "read_inputs"]

OCCUPANCY = "occupancy"
"""The name of the weights eta = h + gamma P_b' eta, for ``xi=``."""
INSIDE = {
    **RANGES,
    "probability": sp.Interval.open(0, 1),
    "discount": sp.Interval.Ropen(0, 1),
    "weight": sp.Interval.open(0, sp.oo),
}
"""Where numbers of a role lie, but for ends at which a transition or a state is missing."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The parsed fields of a problem; numbers are as ``parse_number`` returns them.

    Attributes
    ----------
    places : Places
        The MDP, and what the rows of all matrices stand for.
    target : Policy
    behavior : Policy or None
        None is on-policy.
    features : tuple of tuples, array of floats (n, d), a sparse one, or None
        In the order of the places.
    discount : number
    xi : tuple of n, "occupancy", or None
    start : Start or None
    wanted : {"exact", "symbolic", "float"} or None
        The arithmetic that was asked for.
    arithmetic : Arithmetic
        The one that was chosen.
    """

    places: Places
    target: Policy
    behavior: Policy | None
    features: Any
    discount: Any
    xi: tuple[Any, ...] | str | None
    start: Start | None
    wanted: str | None
    arithmetic: Arithmetic

    @property
    def mdp(self) -> MDP:
        """The model."""
        return self.places.mdp

    def fields(self) -> dict[str, Any]:
        """Arguments of ``PolicyEvaluation``, or of its ``of_actions``, that make the same problem."""
        return {
            "mdp": self.mdp,
            "target": self.target,
            "behavior": self.behavior,
            "features": self.features if self._sparse else self._by_label(self.features),
            "discount": self.discount,
            "xi": self.xi if isinstance(self.xi, str) else self._by_label(self.xi),
            "start": None if self.start is None else self.start.chances,
            # what is exact may become symbolic, and the other way round; floats stay floats
            "arithmetic": "symbolic" if self.wanted in ("exact", "symbolic") else self.wanted,
        }

    @property
    def _sparse(self) -> bool:
        return not (self.features is None or isinstance(self.features, tuple | np.ndarray))

    def _by_label(self, values: Any) -> dict[Any, Any] | None:
        return None if values is None else dict(zip(self.places.labels, values, strict=True))

    def changed(self, **changes: Any) -> Inputs:
        """The same with some fields changed, checked anew.

        Raises
        ------
        InputError
            For a name that is no field.
        """
        known = self.fields()
        if self._sparse and changes.get("mdp", self.mdp).states != self.mdp.states:
            known["features"] = self._by_label(self.features.toarray())
        for name in changes:
            if name not in known:
                raise InputError(
                    f"a problem has no field {name!r}; {did_you_mean(name, known)}its fields are {', '.join(known)}"
                )
        return read_inputs(**{**known, **changes}, over=self.places.over)

    def entries(self, symbols: set[sp.Symbol] | None = None) -> Iterator[Entry]:
        """Every number that may be a formula, with its place; of symbols all that one of them may be in."""

        def may_have_it(owner: MDP | Policy) -> bool:
            return symbols is None or not symbols.isdisjoint(owner.symbols)

        if may_have_it(self.mdp):
            yield from self.mdp.entries()
        if may_have_it(self.target):
            yield from self.target.entries("target policy")
        if self.behavior is not None and may_have_it(self.behavior):
            yield from self.behavior.entries("behaviour policy")
        yield Entry("the discount", "discount", self.discount)
        labels, noun = self.places.labels, self.places.noun
        if isinstance(self.features, tuple):
            for s, row in zip(labels, self.features, strict=True):
                for j, x in enumerate(row):
                    if symbols is not None and not isinstance(x, sp.Basic):
                        continue
                    yield Entry(f"feature {j} of {noun} {s!r}", "number", x)
        if self.xi is not None and not isinstance(self.xi, str):
            for s, w in zip(labels, self.xi, strict=True):
                yield Entry(f"the weight xi of {noun} {s!r}", "weight", w)
        if self.start is not None:
            for s, p in self.start.chances.items():
                yield Entry(f"the start probability of {s!r}", "probability", p)

    def subs(self, values: Mapping[Any, Any]) -> Inputs:
        """Numbers for symbols, all at once, checked anew; errors name every entry."""
        check_substitution(self.entries(), values)
        new = substitution(values)
        return self.changed(
            mdp=self.mdp.subs(values),
            target=self.target.subs(values),
            behavior=None if self.behavior is None else self.behavior.subs(values),
            features=[[*map(new, row)] for row in self.features]
            if isinstance(self.features, tuple)
            else self.features,
            discount=new(self.discount),
            xi=self.xi if self.xi is None or isinstance(self.xi, str) else [*map(new, self.xi)],
            start=None
            if self.start is None
            else {s: new(p) for s, p in self.start.chances.items()},
        )

    def limits(
        self, symbols: set[sp.Symbol] | None = None, ranges: Mapping[Any, sp.Set] = RANGES
    ) -> Iterator[Limit]:
        """Each formula of the model with the range of its role; of symbols all that one of them may be in."""
        for entry in self.entries(symbols):
            formula = entry.value
            if not isinstance(formula, sp.Basic) or not formula.free_symbols:
                continue
            if entry.role != "number" or not formula.is_polynomial(*formula.free_symbols):
                yield Limit(formula, ranges[entry.role])

    def known_signs(self, symbols: set[sp.Symbol]) -> KnownSigns:
        """Where the symbols range: a discount in [0, 1), a probability in (0, 1), a weight in (0, oo).

        At the ends of the latter two a transition or a state is missing, which is another model.
        """
        return known_of(self.limits(symbols, INSIDE))

    def valid_range(self, symbol: sp.Symbol) -> sp.Set:
        """The real values of a symbol for which :meth:`subs` gives a problem."""
        return valid_values(self.entries({symbol}), symbol, self._missing(symbol))

    def domain(
        self, symbol: sp.Symbol, given: sp.Set | None = None, settings: Iterable[Limit] = ()
    ) -> sp.Set:
        """Where a symbol is looked at: everywhere that there is a model, and a learner with these settings.

        That is the preimage of the ranges of all formulas that have the symbol alone
        (:mod:`obliquetd.algebra.preimage`). Unless a set is ``given``, to which it is cut, the discount of the
        problem is below 1. Where the symbol is in formulas with others alone, these decide together, and each of
        them is looked at in the range of what the formula stands for.
        """
        mine = [x for x in (*self.limits({symbol}), *settings) if x.formula.has(symbol)]
        wanted = [x for x in mine if _is_in(x.formula, symbol)]
        if all(x.domain == sp.S.Reals for x in wanted):
            wanted += [Limit(symbol, x.domain) for x in mine if x not in wanted]
        if given is not None:
            wanted.append(Limit(symbol, given))
        elif _is_in(self.discount, symbol):
            wanted.append(Limit(self.discount, INSIDE["discount"]))
        return preimage(wanted, symbol, self._missing(symbol))

    def _missing(self, symbol: sp.Symbol) -> set[Any]:
        """Values at which the target is not covered, or no state has weight."""
        return self._uncovered(symbol) | self._weightless(symbol)

    def _uncovered(self, symbol: sp.Symbol) -> set[Any]:
        """Values at which the behaviour never takes an action that the target takes."""
        if self.behavior is None:
            return set()
        found: set[Any] = set()
        if symbol not in self.behavior.symbols:
            return found
        for state in self.target:
            for action, wanted in self.target.parsed(state).items():
                taken = self.behavior.parsed(state).get(action)
                if _is_in(taken, symbol) and wanted != 0:
                    shared = zeros(wanted, symbol) if _is_in(wanted, symbol) else set()
                    found |= zeros(taken, symbol) - shared
        return found

    def _weightless(self, symbol: sp.Symbol) -> set[Any]:
        """Values at which every weight is zero."""
        if self.xi is None or isinstance(self.xi, str):
            return set()
        weights = [w for w in self.xi if w != 0]
        if not all(_is_in(w, symbol) for w in weights):
            return set()
        return set.intersection(*(zeros(w, symbol) for w in weights))


def _is_in(formula: Any, symbol: sp.Symbol) -> bool:
    """Whether a symbol is the only one of a formula."""
    return isinstance(formula, sp.Basic) and formula.free_symbols == {symbol}


def read_inputs(
    mdp: MDP,
    *,
    target: Any,
    behavior: Any = None,
    features: Any = None,
    discount: Any = 1,
    xi: Any = None,
    start: Any = None,
    arithmetic: str | None = None,
    over: str = "states",
) -> Inputs:
    """Parse and check the arguments of :class:`obliquetd.PolicyEvaluation`.

    Parameters
    ----------
    over : {"states", "pairs"}
        What the rows stand for; the other arguments are those of the class.

    Raises
    ------
    LabelError, CoverageError, FeatureError, DiscountError, ProbabilityError, KindError
    """
    if not isinstance(mdp, MDP):
        raise InputError(f"expected an MDP, got {type(mdp).__name__}; see MDP.from_transitions")
    target = check_policy(target, mdp, "target")
    behavior = None if behavior is None else check_policy(behavior, mdp, "behavior")
    places = places_of(mdp, over)
    rows = feature_rows(features, places)
    gamma = parse_discount(discount)
    weights = xi if isinstance(xi, str) and xi == OCCUPANCY else parse_weights(xi, places)
    begin = None if start is None else places.read_start(start)
    check_start(mdp, begin, weights)
    owners = {"the MDP": mdp, "the target policy": target}
    if behavior is not None:
        owners["the behaviour policy"] = behavior
    numbers = {
        "the features": (rows or []) if rows is None or isinstance(rows, list) else [[0.0]],
        "the discount": [[gamma]],
        "xi": [weights] if isinstance(weights, list) else [],
        "start": [[] if begin is None else list(begin.chances.values())],
    }
    kinds: dict[str, set[Kind]] = {name: owner.kind for name, owner in owners.items()}
    kinds |= {name: parsed_kinds(found) for name, found in numbers.items()}
    symbols = set().union(
        *(owner.symbols for owner in owners.values()), *map(parsed_symbols, numbers.values())
    )
    chosen = choose_arithmetic(kinds, symbols, arithmetic)
    if chosen.kind != "float" and any("float" in found for found in kinds.values()):
        rows = rows if rows is None or isinstance(rows, list) else listed(rows)
        mdp, target = mdp.to_exact(), target.to_exact()
        behavior = None if behavior is None else behavior.to_exact()
        places = places_of(mdp, over)
        if begin is not None:
            exact = exact_distribution(list(begin.chances.values()))
            begin = begin._replace(chances=dict(zip(begin.chances, exact, strict=True)))
    if chosen.kind == "float":
        check_sizes(mdp, rows, weights, chosen)
    if behavior is not None:
        check_coverage(target, behavior, mdp)
    found = Inputs(
        places=places,
        target=target,
        behavior=behavior,
        features=tuple(map(tuple, rows)) if isinstance(rows, list) else rows,
        discount=gamma,
        xi=tuple(weights) if isinstance(weights, list) else weights,
        start=begin,
        wanted=arithmetic,
        arithmetic=chosen,
    )
    if chosen.kind != "symbolic":
        return found
    return replace(found, arithmetic=FieldArithmetic(symbols, found.known_signs(symbols)))
