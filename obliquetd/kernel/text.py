"""What Coq reads: names, numbers and remarks, and the files that ship."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

import sympy as sp

from obliquetd.errors import InputError

__all__ = [
    "PRELUDE",
    "Names",
    "certificate_head",
    "comment",
    "denominators",
    "proof_text",
    "scalar_text",
    "shipped",
]

PRELUDE = "prelude"
"""How words are checked: the head of every generated file."""

RESERVED = frozenset(
    [
        "as",
        "at",
        "cofix",
        "else",
        "end",
        "exists",
        "exists2",
        "fix",
        "for",
        "forall",
        "fun",
        "if",
        "IF",
        "in",
        "let",
        "match",
        "mod",
        "of",
        "Prop",
        "return",
        "Set",
        "SProp",
        "then",
        "Type",
        "using",
        "where",
        "with",
        "is",
        "by",
        "have",
        "suff",
        "pose",
        "set",
        "wlog",
        "move",
        "apply",
        "exact",
        "rewrite",
        "case",
        "elim",
        "At",
        "Zero",
        "Add",
        "Opp",
        "Scale",
        "eval",
        "coef",
        "total",
        "zeros",
        "linearly",
        "carrier",
        "fadd",
        "fmul",
        "fopp",
        "fsub",
        "finv",
        "fdiv",
        "f0",
        "f1",
        "between",
        "after",
        "before",
        "use_step",
        "nat",
        "O",
        "S",
        "seq",
        "cons",
        "nil",
        "invmx",
        "trmx",
        "mulmx",
    ]
)
"""Words of Coq and of the prelude, which no matrix may be called."""


class Names:
    """Names that Coq accepts, one for each key, none twice.

    Examples
    --------
    >>> names = Names()
    >>> [names(x) for x in ("Phi", "L^-1", "(X'Phi)^-1", "in", "L^-1", "gamma P_pi")]
    ['Phi', 'L_inv', 'X_tr_Phi_inv', 'in_', 'L_inv', 'gamma_P_pi']
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = {}
        self._taken = {*RESERVED, *taken}

    def __call__(self, key: str, wanted: str = "") -> str:
        """The name of a key; ``wanted`` is what it is made of, the key itself by default."""
        if key not in self._names:
            base = (
                (wanted or key).replace("^-1", "_inv").replace("'", "_tr_").replace("*", "_star_")
            )
            base = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", base)).strip("_") or "x"
            base = base if base[0].isalpha() else f"x_{base}"
            name, count = base, 1
            while name in self._taken:
                name = f"{base}_" if count == 1 else f"{base}_{count}"
                count += 1
            self._taken.add(name)
            self._names[key] = name
        return self._names[key]


def comment(text: str) -> str:
    """A remark that Coq skips, whatever stands in it.

    Examples
    --------
    >>> print(comment('by (X*)"'))
    (* by (X* )' *)
    """
    quiet = text.replace('"', "'").replace("(*", "( *").replace("*)", "* )")
    return f"(* {quiet} *)"


def denominators(number: sp.Expr) -> set[int]:
    """The whole numbers that a coefficient divides by."""
    return {int(x.q) for x in sp.sympify(number).atoms(sp.Rational) if x.q != 1}


def scalar_text(number: Any, symbols: Mapping[sp.Symbol, str]) -> str:
    """A polynomial with rational coefficients in mathcomp's notation for a field.

    Parameters
    ----------
    number : sympy expression
    symbols : mapping of symbol to the name it has in the file

    Raises
    ------
    InputError
        For anything else, such as a root or a quotient of symbols.

    Examples
    --------
    >>> c = sp.Symbol("c")
    >>> scalar_text(1 - 2 * c**2 / 3, {c: "c"})
    '(1 + - 2%:R / 3%:R * c * c)'
    """
    expr = sp.expand(sp.sympify(number))
    if expr.is_Add:
        parts = [scalar_text(x, symbols) for x in expr.as_ordered_terms()]
        return "(" + " + ".join(parts) + ")"
    head, factors = expr.as_coeff_Mul()
    if not head.is_Rational:
        raise _unwritable(number)
    size = abs(head)
    texts = [] if size == 1 and factors != 1 else [_whole(size.p)]
    if size.q != 1:
        texts[-1] += f" / {_whole(size.q)}"
    for base, power in () if factors == 1 else (x.as_base_exp() for x in sp.Mul.make_args(factors)):
        if base not in symbols or not power.is_Integer or power < 0:
            raise _unwritable(number)
        texts += [symbols[base]] * int(power)
    return ("- " if head < 0 else "") + " * ".join(texts)


def _whole(n: int) -> str:
    return str(n) if n in (0, 1) else f"{n}%:R"


def _unwritable(number: Any) -> InputError:
    return InputError(
        f"the coefficient {number} cannot be written for Coq; expected a polynomial with rational "
        "numbers. Give a root or a quotient a symbol of its own"
    )


def shipped() -> list[str]:
    """The names of the proofs that ship, the prelude apart.

    Examples
    --------
    >>> PRELUDE in shipped()
    False
    """
    folder = files("obliquetd.kernel") / "proofs"
    names = sorted(p.name.removesuffix(".v") for p in folder.iterdir() if p.name.endswith(".v"))
    return [name for name in names if name != PRELUDE]


def proof_text(name: str) -> str:
    """The text of a file that ships."""
    place = files("obliquetd.kernel") / "proofs" / f"{name}.v"
    if not place.is_file():
        raise InputError(f"no proof is called {name!r}; there are {', '.join(shipped())}")
    return place.read_text(encoding="utf-8")


def certificate_head(claim: str) -> str:
    """What stands before the numbers of a certificate: definitions, and why its check suffices.

    Parameters
    ----------
    claim : {"stable", "unstable", "singular", "convergent"}
    """
    folder = files("obliquetd.kernel") / "certificates"
    parts = [folder / f"{name}.v" for name in ("forms", "tables", claim)]
    if claim in ("forms", "tables") or not parts[-1].is_file():
        raise InputError(f"no certificate claims {claim!r}")
    return "\n".join([proof_text(PRELUDE), *(part.read_text(encoding="utf-8") for part in parts)])
