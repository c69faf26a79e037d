"""Rational numbers and functions that survive pickle and deepcopy.

sympy's function fields and rings fill caches in their own ``__dict__`` while they are
hashed, so that the default way of pickling them fails. They are determined by their
symbols, domain and order; that is what is kept. QQ comes back as the one object that it
is, because it is asked for by identity.
"""

from __future__ import annotations

import copyreg
from typing import Any

from sympy import QQ
from sympy.polys.domains import FractionField
from sympy.polys.fields import FracField
from sympy.polys.rings import PolyRing

__all__: list[str] = []


def _field(field: Any) -> tuple[Any, ...]:
    return FracField, (field.symbols, field.domain, field.order)


def _ring(ring: Any) -> tuple[Any, ...]:
    return PolyRing, (ring.symbols, ring.domain, ring.order)


def _domain(domain: Any) -> tuple[Any, ...]:
    return _function_field, (domain.domain, domain.symbols)


def _function_field(base: Any, symbols: tuple[Any, ...]) -> Any:
    return base.frac_field(*symbols)


def _rationals(_: Any) -> tuple[Any, ...]:
    return _the_rationals, ()


def _the_rationals() -> Any:
    return QQ


copyreg.pickle(type(QQ), _rationals)
copyreg.pickle(FracField, _field)
copyreg.pickle(PolyRing, _ring)
copyreg.pickle(FractionField, _domain)
