"""Derivations as files for Coq with mathcomp.

A file stands by itself: how words are checked (the same in every file), then one section for
each equation, with its matrices of any size over any field, its assumptions as hypotheses, the
equation as its author wrote it, and one line for each step of the engine's trace. Coq multiplies out
itself, so it trusts neither the engine's products nor its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from obliquetd.errors import InputError
from obliquetd.kernel import PRELUDE, Names, comment, proof_text, scalar_text
from obliquetd.kernel.text import denominators
from obliquetd.words.letters import Letter, Node, Product, Word
from obliquetd.words.theory import Derivation, Step

__all__ = ["coq_file"]

FIELD = "kk"
"""The field of the entries."""

ATOMS = ("letter", "identity", "zero", "transpose")

HEAD = (
    "Matrices of any size over any field. Written by obliquetd from the trace of its own rewriting.\n"
    "Check it with coqc and mathcomp's algebra; after each theorem Coq says what it rests on."
)


def coq_file(derivations: Sequence[tuple[str, Derivation]], *, title: str = "") -> str:
    """A file with a theorem for each derivation.

    Parameters
    ----------
    derivations : sequence of (name, Derivation)
    title : str
        A remark at the top.

    Raises
    ------
    InputError
        Where one of them is no proof, or a coefficient is not a polynomial with rational numbers.

    Examples
    --------
    >>> from obliquetd.words import inverse, letter, prove
    >>> A = letter("A", "n n")
    >>> text = coq_file([("twice", prove(inverse(A) @ A @ A, A))])
    >>> print(text[text.index("Theorem twice"):])
    Theorem twice : A_inv *m A *m A = A.
    Proof.
    (* by A^-1 A = I: 0 *)
    apply: (use_step 1 (before A A_inv_left)).
    expand; linear kk.
    Qed.
    End Any.
    End Proof_1.
    Print Assumptions Proof_1.twice.
    """
    if not derivations:
        raise InputError("there is no derivation to write; give at least one")
    theorems = Names()
    parts = [comment(f"{title}\n\n{HEAD}" if title else HEAD), proof_text(PRELUDE)]
    for number, (name, derivation) in enumerate(derivations, 1):
        if not derivation.proved:
            raise InputError(
                f"{name} is not proved: rewriting leaves {derivation.rest}. Give the assumption that is "
                "missing, or mend the equation"
            )
        parts.append(_Section(number, theorems(f"{name} {number}", name), derivation).text())
    return "\n".join(parts)


class _Section:
    """One equation with its assumptions, and its proof."""

    def __init__(self, number: int, theorem: str, derivation: Derivation) -> None:
        self.number, self.theorem, self.derivation = number, theorem, derivation
        self.letters = derivation.alphabet()
        self.names = Names([FIELD, theorem])
        self.symmetric: list[str] = []
        self.rules: dict[int, str] = {}
        for name in self.letters:
            self.names(name)
        numbers = [c for w in derivation.words() for c in _numbers(w.tree)]
        numbers += [s.factor for s in derivation.steps]
        self.divisors = sorted(set().union(*map(denominators, numbers)))
        self.symbols = {
            s: self.names(f"the number {s}", str(s))
            for s in sorted({s for c in numbers for s in c.free_symbols}, key=str)
        }

    def text(self) -> str:
        """The section."""
        d = self.derivation
        lines = [
            f"\nModule Proof_{self.number}.",
            "Section Any.",
            f"Variable {FIELD} : fieldType.",
            f"Add Field field_of_{self.number} : (field_field {FIELD}).",
            *self._variables(),
            *self._hypotheses(),
            f"Theorem {self.theorem} : {self.word(d.left)} = {self.word(d.right)}.",
            "Proof.",
        ]
        for step in d.steps:
            lines.append(comment(str(step)))
            factor = scalar_text(step.factor, self.symbols)
            factor = factor if factor.isalnum() else f"({factor})"
            lines.append(f"apply: (use_step {factor} {self._applied(step)}).")
        home = f"Proof_{self.number}"
        end = ["Qed.", "End Any.", f"End {home}.", f"Print Assumptions {home}.{self.theorem}."]
        return "\n".join([*lines, self._finish(), *end, ""])

    def _variables(self) -> list[str]:
        sizes = {x: self._size(x) for one in self.letters.values() for x in (one.rows, one.columns)}
        named = " ".join(name for size, name in sizes.items() if size != "1")
        lines = [f"Variables ({named} : nat)."] if named else []
        for x in self.letters.values():
            shape = f"({sizes[x.rows]}, {sizes[x.columns]})"
            lines.append(f"Variable {self.names(x.name)} : 'M[{FIELD}]_{shape}.")
        if self.symbols:
            lines.append(f"Variables ({' '.join(self.symbols.values())} : {FIELD}).")
        return lines + [f"Hypothesis nonzero_{q} : {q}%:R != 0 :> {FIELD}." for q in self.divisors]

    def _hypotheses(self) -> list[str]:
        given = self.derivation.given
        inverses = {g.inverse for g in given if g.inverse}
        lines = []
        for x in self.letters.values():
            if x.symmetric and x.name not in inverses:
                name = self.names(x.name)
                lines.append(f"Hypothesis {name}_sym : {name}^T = {name}.")
                self.symmetric.append(f"{name}_sym")
        defined: set[str] = set()
        for name in dict.fromkeys(g.inverse for g in given if g.inverse):
            lines += self._inverse(name, inverses, defined)
        for number, one in enumerate(given):
            if one.inverse:
                (product, _one), *_ = one.left.terms
                side = "left" if product[0].name == one.inverse else "right"
                self.rules[number] = f"{self.names(one.inverse)}_{side}"
                continue
            self.rules[number] = name = self.names(f"given {number}", f"given_{number + 1}")
            if one.stochastic:
                column = self.word(one.right)
                lines.append(f"Hypothesis {name}_ones : {column} = const_mx 1.")
            lines.append(f"Hypothesis {name} : {self.word(one.left)} = {self.word(one.right)}.")
        return lines

    def _inverse(self, name: str, inverses: set[str], defined: set[str]) -> Iterator[str]:
        """What is assumed of an inverse, and what follows; of those it is made of first."""
        if name in defined:
            return
        defined.add(name)
        one = self.letters[name]
        assert one.inverts is not None
        for other in one.inverts.alphabet():
            if other in inverses:
                yield from self._inverse(other, inverses, defined)
        G, word = self.names(name), self._within(one.inverts.tree)
        yield f"Hypothesis {G}_exists : {word} \\in unitmx."
        yield f"Hypothesis {G}_def : {G} = invmx {word}."
        yield f"Lemma {G}_left : {G} *m {word} = 1%:M. Proof. by rewrite {G}_def mulVmx. Qed."
        yield f"Lemma {G}_right : {word} *m {G} = 1%:M. Proof. by rewrite {G}_def mulmxV. Qed."
        if one.symmetric:
            turned = f"rewrite {G}_def trmx_inv; congr (invmx _); {self._finish()}"
            yield f"Lemma {G}_sym : {G}^T = {G}. Proof. {turned} Qed."
            self.symmetric.append(f"{G}_sym")

    def _finish(self) -> str:
        turned = f" rewrite ?({', '.join(self.symmetric)});" if self.symmetric else ""
        return f"expand;{turned} linear {FIELD}."

    def _applied(self, step: Step) -> str:
        """The equation of a rule, with what stands on either side in this step."""
        rule = self.rules[step.rule.number]
        if step.rule.transposed:
            rule = f"(congr1 trmx {rule})"
        before, after = self._product(step.before), self._product(step.after)
        if before and after:
            return f"(between {before} {after} {rule})"
        if before or after:
            return f"(after {before} {rule})" if before else f"(before {after} {rule})"
        return rule

    def _product(self, product: Product) -> str:
        return self._within(Word.of({product: 1}).tree) if product else ""

    def _size(self, dimension: str) -> str:
        return "1" if dimension == "1" else self.names(f"the size {dimension}", dimension)

    def word(self, word: Word) -> str:
        """A word as it was written."""
        return self._node(word.tree)

    def _node(self, node: Node) -> str:
        parts = node.parts
        match node.op:
            case "letter":
                (one,) = parts
                assert isinstance(one, Letter)
                name = self.names(one.name)
                return f"{name}^T" if one.transposed else name
            case "identity":
                return "1%:M"
            case "zero":
                return "0"
            case "transpose":
                return f"{self._within(parts[0])}^T"
            case "scale":
                number, of = parts[0], self._within(parts[1])
                if number == -1:
                    return f"- {of}"
                factor = scalar_text(number, self.symbols)
                return f"{factor if factor.isalnum() else f'({factor})'} *: {of}"
            case "product":
                left, right = parts
                return f"{self._within(left, 'product')} *m {self._within(right)}"
        sign = "+" if node.op == "sum" else "-"
        left, right = parts
        return f"{self._within(left, 'product', 'sum', 'minus')} {sign} {self._within(right, 'product')}"

    def _within(self, node: Node, *bare: str) -> str:
        """A part of a formula, in brackets unless it is one symbol or of a kind that needs none."""
        text = self._node(node)
        return text if node.op in (*ATOMS, *bare) else f"({text})"


def _numbers(node: Node) -> Iterator[sp.Expr]:
    """The coefficients of a tree."""
    for part in node.parts:
        if isinstance(part, Node):
            yield from _numbers(part)
        elif isinstance(part, sp.Expr):
            yield part
