"""The page of an exploration: data, script and style in one HTML file that needs no network."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import sympy as sp
from markupsafe import Markup

from obliquetd.algebra import FieldArithmetic, public_number
from obliquetd.display import html_text, visible
from obliquetd.errors import InputError, KindError
from obliquetd.exploration.notes import notes_of
from obliquetd.exploration.pieces import Piece, Pieces, pieces_of, span_guards
from obliquetd.exploration.quantities import Quantities, Shared
from obliquetd.exploration.sliders import Slider, holds, in_sliders_order, sliders_of
from obliquetd.exploration.verdicts import Region, limits_data, map_of, region_of
from obliquetd.learners import ETD, SETD, TD, Learner, require_learners
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.intervals import end_text

__all__ = ["Exploration", "explore"]

SHOWN = (TD(), SETD(), ETD())
"""The learners that are shown unless others are named: they differ in one word."""
LARGEST = (16, 8)
"""States and features up to which formulas in one symbol are made for a page."""
SEVERAL = (8, 4)
"""The same for several symbols."""
HEIGHT = 900
"""Pixels of the frame in a notebook."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """A page with sliders; a notebook shows it in a frame.

    Attributes
    ----------
    problem : PolicyEvaluation
        With its symbols free.
    learners : dict of str to Learner
        By their labels.
    sliders : tuple of Slider
    regions : dict of str to Region
        For one symbol: where each learner is stable.
    pieces : Pieces
    title : str
    """

    problem: PolicyEvaluation
    learners: dict[str, Learner]
    sliders: tuple[Slider, ...]
    regions: dict[str, Region | None]
    pieces: Pieces = field(repr=False)
    title: str = "model"

    @functools.cached_property
    def html(self) -> str:
        """The page as HTML text."""
        from obliquetd.exploration.closed_forms import closed_forms
        from obliquetd.report.rendering import render

        script = files("obliquetd.exploration").joinpath("templates/explore.js").read_text("utf-8")
        data = self.to_data()
        return render(
            "explore.html.j2", "obliquetd.exploration", title=self.title, exploration=self,
            script=Markup(script), data=_embedded(data), forms=closed_forms(self),
            letters=[letter(s.symbol) for s in self.sliders], maps=self.maps, notes=self.notes,
            stops=self._stops(), heard=self._heard, pictured=self.shape != "curves",
            chooses="Map of" if self.shape != "field" and self.maps else "Picture of" if self.shape == "field" else "",
        )  # fmt: skip

    @property
    def shape(self) -> str:
        """What is drawn: the "plane" of two states, the "field" of two weights, or "curves" alone."""
        n, d = self.problem.native.Phi.shape
        if (n, d) == (2, 1):
            return "plane"
        sizes = {len(p.found.A) for pieces in self.pieces.learners.values() for p in pieces[:1]}
        return "field" if 2 in sizes else "curves"

    @functools.cached_property
    def maps(self) -> list[Any]:
        """For two symbols: the plane of each learner, or why there is none."""
        if len(self.sliders) != 2:
            return []
        ends = [x for s in self.sliders for x in (s.domain.inf, s.domain.sup)]
        found = [
            (name, map_of(self.problem, self.learners[name], self.sliders))
            for name in self.pieces.learners
        ]
        return [
            f"{name}: {made}" if isinstance(made, str) else {"name": name, "ends": ends, **made}
            for name, made in found
        ]  # fmt: skip

    def _heard(self, number: int, name: str) -> str:
        """What a bar says to those who do not see it."""
        symbol, region = self.sliders[number].symbol, self.regions.get(name)
        if region is not None:
            return f"{name} is stable {region.where(symbol)}"
        return f"The verdicts on {name} along the slider of {symbol}"

    def _stops(self) -> list[dict[str, Any]]:
        """The break points of the first slider, as buttons lead to them."""
        slider = self.sliders[0]
        seen: dict[Any, list[str]] = {}
        for name, region in self.regions.items():
            for x in region.breaks if region and name in self.pieces.learners else ():
                seen.setdefault(x, []).append(name)
        return [
            {
                "to": round(slider.index_of(x)),
                "text": f"{'' if x.is_Rational else 'near '}{end_text(x)}, where {_listed(names)} change{'s' * (len(names) == 1)}",
            }
            for x, names in sorted(seen.items())
        ]

    @property
    def notes(self) -> list[str]:
        """What a reader has to know of the numbers."""
        return notes_of(self)

    def save(self, path: str | Path) -> Path:
        """Write the page; InputError where the place cannot be written."""
        from obliquetd.report.rendering import write_page

        return write_page(self.html, path)

    def to_data(self) -> dict[str, Any]:
        """What the script reads: places, formulas as integer polynomials, regions."""
        out = _Data(self.pieces)
        one = len(self.sliders) == 1
        learners = []
        for name, pieces in self.pieces.learners.items():
            region = self.regions.get(name)
            learner = self.learners[name]
            found: dict[str, Any] = {
                "name": visible(name),
                "color": learner.color,
                "cells": [[*self._where(out, p), out.of_learner(p.found)] for p in pieces],
                "region": None if region is None else region.to_data(self.sliders[0]),
            }
            learners.append(found)
        limits = limits_data(self.problem, list(self.learners.values()))
        everything = FieldArithmetic(out.table.symbols)
        bounds = [
            [
                out.add(everything.scalar(x.formula), everything), *_end(x.domain.inf), *_end(x.domain.sup),
                bool(x.domain.left_open), bool(x.domain.right_open),
            ]
            for x in limits
        ]  # fmt: skip
        special = {
            str(i): {visible(k): self._special(out, v) for k, v in there.items()}
            for i, there in self.pieces.special.items()
        }
        valid = self.sliders[0].valid
        return {
            "sliders": [
                {
                    "name": visible(s.symbol), "letter": letter(s.symbol), "start": s.start,
                    "places": [str(x) for x in s.places],
                    "ends": [str(s.domain.inf), str(s.domain.sup)],
                }
                for s in self.sliders
            ],
            "learners": learners,
            "shared": out.of_shared(self.pieces.shared),
            "special": special,
            "guards": self.pieces.guards,
            "limits": bounds,
            "invalid": [i for i, x in enumerate(self.sliders[0].places) if not holds(valid, x)] if one else [],
            "states": [visible(s) for s in self.problem.states],
            "table": out.table.to_data(),
        }  # fmt: skip

    def _where(self, out: _Data, piece: Piece) -> list[Any]:
        """The first and last place strictly inside a piece; for several symbols, formulas and their signs."""
        if len(self.sliders) > 1:
            return [[[out.add(x, piece.found.arithmetic), sign] for x, sign in piece.signs], None]
        inside = [i for i, x in enumerate(self.sliders[0].places) if piece.left < x < piece.right]
        return [inside[0], inside[-1]] if inside else [0, -1]

    @staticmethod
    def _special(out: _Data, found: Quantities | Shared | str) -> Any:
        if isinstance(found, str):
            return {"why": visible(found)}
        return out.of_shared(found) if isinstance(found, Shared) else out.of_learner(found)

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html_text(self.title)}" srcdoc="{_attribute(self.html)}" width="100%" '
            f'height="{HEIGHT}" style="border: 0" loading="lazy"></iframe>'
        )

    def __repr__(self) -> str:
        names = ", ".join(str(s.symbol) for s in self.sliders)
        return f"Exploration of {', '.join(self.pieces.learners)} over {names}"


class _Data:
    """Numbers of formulas in place of native scalars."""

    def __init__(self, pieces: Pieces) -> None:
        self.table = pieces.table

    def add(self, scalar: Any, arithmetic: Any) -> int:
        return self.table.add(scalar, arithmetic)

    def of_shared(self, found: Shared) -> dict[str, Any]:
        add = functools.partial(self.add, arithmetic=found.arithmetic)
        return {
            "xi": [add(x) for x in found.xi], "Phi": [[add(x) for x in row] for row in found.Phi],
            "v": [add(x) for x in found.v], "best": [add(x) for x in found.best],
            "error": add(found.best_error),
        }  # fmt: skip

    def of_learner(self, found: Quantities) -> dict[str, Any]:
        add = functools.partial(self.add, arithmetic=found.arithmetic)

        def each(scalars: Any) -> Any:
            return None if scalars is None else [add(x) for x in scalars]

        return {
            "A": [each(row) for row in found.A], "b": each(found.b), "p": each(found.p),
            "theta": each(found.theta), "normal": each(found.normal), "why": visible(found.why),
            "error": None if found.error is None else add(found.error),
            "projected": None if found.projected is None else add(found.projected),
            "verdict": found.verdict, "guards": self.guards(found),
        }  # fmt: skip

    def guards(self, found: Quantities) -> list[int]:
        """For several symbols: where the span of the updates may be smaller."""
        symbols = self.table.symbols
        return (
            [self.table.polynomial(p) for p in span_guards(found, symbols)]
            if len(symbols) > 1
            else []
        )


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence has them."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _end(x: Any) -> list[Any]:
    return [str(x) if x.is_finite else None]


def _embedded(data: Any) -> Markup:
    """JSON inside a script element: no text of a model ends it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


LETTERS = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
           "theta": "θ", "kappa": "κ", "lam": "λ", "lambda": "λ", "lamda": "λ", "mu": "μ", "nu": "ν",
           "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω"}  # fmt: skip


def letter(symbol: Any) -> str:
    """A symbol as a label has it: a Greek letter for its name.

    Examples
    --------
    >>> letter(sp.Symbol("gamma")), letter(sp.Symbol("p"))
    ('γ', 'p')
    """
    return LETTERS.get(str(symbol), visible(symbol))


def explore(
    problem: PolicyEvaluation,
    path: str | Path | None = None,
    *,
    learners: Learner | Iterable[Learner] = (),
    ranges: Mapping[Any, tuple[Any, Any]] | None = None,
    title: str = "model",
) -> Exploration:
    """A page with a slider for each symbol, on which the closed forms move the picture.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact or with symbols. Where neither it nor a learner has a symbol, its discount gets the slider.
    path : str or Path, optional
        Where to write the page.
    learners : Learner or iterable of them
        Shown in place of TD, SETD and ETD. Their numbers may be symbols, too.
    ranges : mapping of symbol, or name, to (low, high)
        Where a slider runs; the range of what the symbol stands for unless given.
    title : str

    Returns
    -------
    Exploration
        ``.html`` is the page, ``.save(path)`` writes it, and a notebook shows it.

    Raises
    ------
    KindError
        For floats: the numbers on the page are exact.
    InputError
        For a model that is too large, or a range that is none.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> found = explore(two_state(reward=1))
    >>> found, found.regions["TD"].found
    (Exploration of TD, SETD, ETD over gamma, Interval.Ropen(0, 5/6))
    >>> found.html.count('<input type="range"')
    1
    """
    if problem.arithmetic == "float":
        raise KindError(
            "the numbers of an exploration are exact, and the problem is in floats; give "
            'arithmetic="exact" (--arithmetic exact)'
        )
    chosen = list(require_learners(learners)) or list(SHOWN)
    named = _named(chosen)
    symbols = in_sliders_order(problem, chosen)
    start: dict[sp.Symbol, Any] = {}
    if not symbols:
        symbol = sp.Symbol("gamma")
        start[symbol] = sp.sympify(public_number(problem.discount))
        problem, symbols = problem.replace(discount=symbol), [symbol]
    _check_size(problem, symbols)
    sliders = sliders_of(problem, chosen, symbols, ranges or {}, start)
    regions: dict[str, Region | None] = {}
    if len(sliders) == 1:
        regions = {name: region_of(problem, x, sliders[0]) for name, x in named.items()}
        for region in regions.values():
            sliders[0].include(region.breaks if region else [])
    pieces = pieces_of(problem, named, sliders)
    if not pieces.learners:
        why = "; ".join(f"{name}: {text}" for name, text in pieces.left_out.items())
        raise InputError(f"none of the learners can be put in formulas ({why})")
    found = Exploration(problem, named, tuple(sliders), regions, pieces, title)
    if path is not None:
        found.save(path)
    return found


def _named(learners: Sequence[Learner]) -> dict[str, Learner]:
    out: dict[str, Learner] = {}
    for learner in learners:
        name, k = learner.label, 2
        while name in out:
            name, k = f"{learner.label} ({k})", k + 1
        out[name] = learner
    return out


def _check_size(problem: PolicyEvaluation, symbols: Sequence[sp.Symbol]) -> None:
    n, d = problem.native.Phi.shape
    most = LARGEST if len(symbols) == 1 else SEVERAL
    if n > most[0] or d > most[1]:
        raise InputError(
            f"{n} states and {d} features are too many for formulas on a page; expected at most "
            f"{most[0]} states and {most[1]} features in {len(symbols)} symbol{'s' * (len(symbols) > 1)}. "
            "obliquetd report has room for more, and --set NAME=VALUE makes a symbol a number"
        )
