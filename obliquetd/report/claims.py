"""The report on the paper's claims: the paper annotated, section by section."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp
from markupsafe import Markup, escape

from obliquetd.claims import ClaimResult, Pack, Verdict
from obliquetd.claims.claim import told, value_text
from obliquetd.claims.formal import Kernel
from obliquetd.claims.lyu_2018 import PACK as LYU_2018
from obliquetd.report.links import data_link, text_link
from obliquetd.report.mathml import mathml
from obliquetd.report.prose import is_long, typeset

__all__ = ["FALSE", "MARKS", "ClaimSection", "PaperSection", "paper_sections"]

MARKS = {
    Verdict.PROVED: "\u2713", Verdict.VERIFIED: "\u2713", Verdict.CORRECTED: "\u2260", Verdict.REFUTED: "\u2717",
    Verdict.OPEN: "?",
}  # fmt: skip
"""A sign for each verdict, so that none is told by its colour alone."""
QUOTED = re.compile(r"(?<![A-Za-z])'(.*?)'(?=[),:]|$)")
BARE = re.compile(r"(?:(?<![\\A-Za-z{_])|(?<=\\\{))([A-Z]*TD\d?|TDC)(?![A-Za-z}])")
"""Names of learners that stand by themselves in a formula."""
WORDS = re.compile(r"(\\(?:text|mathrm|operatorname|mbox)\{[^{}]*\})")
LEARNER = re.compile(r"_\{([A-Z]{2,}\d?)\}")
ROMAN = re.compile(r"[IVX]+(-[A-Z])?$")
"""Numbers of sections that are told with their titles."""
FALSE = (str(Verdict.REFUTED), str(Verdict.CORRECTED))
LONG = 40
"""Letters of a value that stands in a text because it is meant."""
DECIMAL = re.compile(r"-?\d+\.\d+")
DIGITS = 4
"""Digits of a decimal that is the number it rounds, and no other."""


@dataclass(frozen=True)
class Seen:
    """Something observed on a counterexample; ``exact`` is its text where only decimals are shown."""

    name: Markup
    value: Markup
    exact: str


@dataclass(frozen=True)
class Hypothesis:
    """An assumption, and what is known of the statement without it."""

    name: Markup
    statement: Markup
    needed: str
    evidence: Markup


@dataclass(frozen=True)
class ClaimSection:
    """One claim, typeset: what is printed, what is right, why, and the counterexample as a link.

    ``told`` is the evidence in two parts: before what was observed on the counterexample, which stands
    in ``observed`` and nowhere else, and after it.
    """

    id: str
    title: Markup
    words: str
    where: Markup
    formula: Markup
    verdict: str
    told: tuple[Markup, Markup]
    notes: list[Markup]
    correction: Markup
    counterexample: str
    observed: list[Seen]
    origin: str
    assumptions: list[Hypothesis]
    said: str = "the paper says it"
    proof: Kernel | None = None
    """The file that Coq accepted."""

    @property
    def mark(self) -> str:
        """The sign of its verdict."""
        return MARKS[Verdict(self.verdict)]

    @property
    def proof_link(self) -> str:
        """The file that Coq accepted, as a link that holds it."""
        return text_link(self.proof.text) if self.proof else ""

    @property
    def is_false(self) -> bool:
        """Whether the statement is wrong as it stands."""
        return self.verdict in FALSE


@dataclass(frozen=True)
class PaperSection:
    """A section of the paper and the claims on it, in the order of the paper."""

    number: str
    title: str
    claims: list[ClaimSection]

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"section-{self.number or 'elsewhere'}"

    @property
    def name(self) -> str:
        """Its number and title."""
        return f"{self.number} {self.title}" if ROMAN.match(self.number) else self.title

    @property
    def counts(self) -> Counter[str]:
        """Its claims by verdict."""
        return Counter(c.verdict for c in self.claims)


def paper_sections(results: list[ClaimResult], pack: Pack = LYU_2018) -> list[PaperSection]:
    """The sections that have claims, in the order of the paper; what is not on the paper comes last.

    In a section the claims are in the order of what they name, where the pack says it. One that names nothing with a number follows
    the one that was registered before it.
    """
    known = {r.id for r in results}
    found: dict[str, list[tuple[float, ClaimSection]]] = {n: [] for n in pack.topics}
    for result in results:
        inside = found[pack.section_of(result.claim)]
        place = pack.place_of(result.claim)
        before = inside[-1][0] if inside else 0.0
        inside.append((before if place is None else place, _claim(result, known)))
    return [
        PaperSection(
            n, pack.topics[n], [claim for _, claim in sorted(inside, key=lambda pair: pair[0])]
        )
        for n, inside in found.items()
        if inside
    ]


def _claim(result: ClaimResult, known: Collection[str]) -> ClaimSection:
    claim, outcome = result.claim, result.outcome
    example = outcome.counterexample
    observed: Mapping[str, Any] = example.observed if example else {}
    before, after = _around(outcome.evidence, told(observed) if example else "")
    said = " ".join((before, after, outcome.correction))
    observed = {name: value for name, value in observed.items() if not _is_told(name, value, said)}
    notes = []
    if outcome.verdict is Verdict.VERIFIED and claim.scope:
        notes.append(f"Not proved for every size: {claim.scope}.")
    if claim.beside:
        notes.append(_sentence(claim.beside))
    return ClaimSection(
        id=result.id,
        title=typeset(claim.title),
        words=claim.title,
        where=typeset(QUOTED.sub("\u201c\\1\u201d", claim.where)),
        formula=mathml(_printed(claim.statement), block=True),
        verdict=result.verdict,
        told=(typeset(before, known), typeset(after, known)),
        notes=[typeset(note, known) for note in notes],
        correction=typeset(outcome.correction, known),
        counterexample=data_link(example.to_dict()["model"]) if example else "",
        observed=list(_observed(observed.items())),
        origin=result.origin,
        assumptions=[
            Hypothesis(typeset(a.name), typeset(a.statement), a.needed, typeset(a.evidence, known))
            for a in result.assumptions
        ],
        said=result.said,
        proof=result.kernel,
    )


def _observed(items: Collection[tuple[str, object]]) -> Iterator[Seen]:
    for name, value in items:
        if name == "printed":  # it stands beside, typeset
            continue
        text = value_text(value)
        yield Seen(typeset(name), typeset(text), text if is_long(text) else "")


def _around(evidence: str, phrase: str) -> tuple[str, str]:
    """What the evidence says before and after the phrase, each as sentences; all of it where the phrase is part of one."""
    before, found, after = evidence.partition(phrase) if phrase else (evidence, "", "")
    if not found or after.startswith(" where ") or phrase in after:
        return _sentence(evidence), ""
    if before.endswith("(") and after.startswith(")"):
        before, after = before[:-1], after[1:]
    before = before.rstrip(" ,;:")
    return _sentence(f"{before}:" if before else ""), _sentence(after.lstrip(".,;: "))


def _is_told(name: str, value: Any, text: str) -> bool:
    """Whether a text has the value under its name, or its value is like no other: a long one, or a decimal of it.

    "Where x = 0" says of no example that x is 0.
    """
    shown = value_text(value)
    named = rf"(?<![\w'])(?<!where ){re.escape(name)}(?: =|:)? {re.escape(shown)}(?![\w/]|\.\d)"
    if re.search(named, text) or (len(shown) > LONG and shown in text):
        return True
    try:
        exact = isinstance(value, sp.Rational)
        number = Fraction(int(value.p), int(value.q)) if exact else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return False
    decimals = (d for d in DECIMAL.findall(text) if len(d.strip("-0.").replace(".", "")) >= DIGITS)
    return any(
        abs(number - Fraction(d)) <= Fraction(1, 2 * 10 ** len(d.partition(".")[2]))
        for d in decimals
    )


def _sentence(text: str) -> str:
    """With a capital where a word begins it, and a mark that ends it."""
    begin = re.match(r"[a-z]{2,}(?:-[a-z]+)*(?=[\s,:])|a(?= [a-z])", text)
    if begin is not None and "<math" not in typeset(begin[0]):
        text = text[0].upper() + text[1:]
    return text if not text or text[-1] in ".:!?" else f"{text}."


def _printed(statement: str) -> str:
    """The statement with the names of learners upright."""
    upright = LEARNER.sub(r"_{\\text{\1}}", statement)
    parts = WORDS.split(upright)  # what is text already stands at the odd places
    parts[::2] = [BARE.sub(r"\\text{\1}", part) for part in parts[::2]]
    upright = "".join(parts)
    return upright.replace(r"\arg\min", r"\argmin")


def summary(section: PaperSection) -> Markup:
    """How many of a section's claims have which verdict, in words."""
    return escape(
        ", ".join(f"{section.counts[v]} {v}" for v in map(str, Verdict) if section.counts[v])
    )
