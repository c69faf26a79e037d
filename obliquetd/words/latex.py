"""Words and derivations as LaTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import sympy as sp

from obliquetd.words.letters import Letter, Node, Product, Word

if TYPE_CHECKING:
    from obliquetd.words.theory import Derivation

__all__ = ["derivation_latex", "letter_latex", "node_latex", "word_latex"]

GREEK = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "pi",
        "rho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Pi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
    ]
)
ATOMS = ("letter", "identity", "zero", "transpose")


def _name(name: str) -> str:
    """A name as LaTeX: Greek letters as such, what follows an underscore as an index."""
    head, _, index = name.partition("_")
    if " " in name or not re.fullmatch(r"[A-Za-z0-9^*-]+", head):
        return rf"\mathrm{{{re.sub(r'[^A-Za-z0-9 ]', ' ', name)}}}"
    head = f"\\{head}" if head in GREEK else head if len(head) == 1 else rf"\mathrm{{{head}}}"
    head = r"\mathbf{1}" if head == "1" else head
    index = f"\\{index}" if index in GREEK else index
    return f"{head}_{{{index}}}" if index else head


def letter_latex(one: Letter) -> str:
    r"""A letter; an inverse by what it inverts.

    Examples
    --------
    >>> from obliquetd.words import L, inverse
    >>> letter_latex(inverse(L).T.terms[0][0][0])
    'L^{-\\top}'
    """
    if one.inverts is None:
        return _name(one.name) + (r"^\top" if one.transposed else "")
    power = r"^{-\top}" if one.transposed else "^{-1}"
    of = node_latex(one.inverts.tree)
    return of + power if re.fullmatch(r"\\?[A-Za-z]+", of) else f"({of}){power}"


def node_latex(node: Node) -> str:
    """A formula as it was written."""
    parts = node.parts
    match node.op:
        case "letter":
            return letter_latex(parts[0])
        case "identity":
            return "I"
        case "zero":
            return "0"
        case "transpose":
            (of,) = parts
            if of.op == "letter":
                one: Letter = of.parts[0]
                return letter_latex(one if one.symmetric else one.T)
            return rf"{_within(of)}^\top"
        case "scale":
            number, of = parts
            if number == -1:
                return f"-{_within(of, 'product')}"
            text = sp.latex(number)
            return f"{rf'({text})' if number.is_Add else text} {_within(of, 'product')}"
        case "product":
            return f"{_within(parts[0], 'product', 'scale')} {_within(parts[1], 'product')}"
    sign = "+" if node.op == "sum" else "-"
    return f"{_within(parts[0], 'product', 'sum', 'minus', 'scale')} {sign} {_within(parts[1], 'product')}"


def _within(node: Node, *bare: str) -> str:
    text = node_latex(node)
    return text if node.op in (*ATOMS, *bare) else f"({text})"


def word_latex(word: Word) -> str:
    """A word multiplied out."""
    return node_latex(Word(word.terms).tree)


def derivation_latex(derivation: Derivation) -> str:
    """The equation, and below it each step from the difference of its sides on, with its rule."""
    d = derivation
    lines = [rf"&{d.left.latex()} = {d.right.latex()}:\\"]
    lines.append(rf"&{word_latex(d.left - d.right)}\\")
    for step in d.steps:
        rule = f"{word_latex(_product(step.rule.product))} = {word_latex(step.rule.word)}"
        lines.append(rf"&\quad= {word_latex(step.word)} && \text{{by }} {rule}\\")
    return "\n".join([r"\begin{aligned}", *lines, r"\end{aligned}"])


def _product(product: Product) -> Word:
    return Word.of({product: 1})
