"""A claim, and what was found of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from obliquetd.algebra import serial_number
from obliquetd.claims.claim import Outcome, Verdict
from obliquetd.claims.formal import Kernel
from obliquetd.claims.setting import Dropped, Setting
from obliquetd.display import HtmlTable
from obliquetd.frames import Row

__all__ = ["ORIGINS", "Claim", "ClaimResult", "Origin"]

Origin = Literal["paper", "ours"]

ORIGINS: tuple[Origin, ...] = ("paper", "ours")
"""Whether the paper says it, or we ask it."""


@dataclass(frozen=True)
class Claim:
    """A statement, and a check that can fail.

    Attributes
    ----------
    id : str
    where : str
        The place in the paper.
    title : str
        The statement in a short sentence.
    statement : str
        The statement as LaTeX.
    check : callable
        Called without arguments it decides the statement as it stands. Keyword
        arguments replace parts of the statement, so that a broken one can be fed in.
    origin : {"paper", "ours"}
        Whether the paper says it, or we ask it.
    setting : Setting
        What the statement assumes; empty for a statement on one example.
    scope : str
        For a statement that is not proved for every size: why not.
    beside : str
        What holds besides, such as modulo what no data moves.
    formal : str
        For a proved statement that Coq accepts: "words", where its file is made from the
        rewriting, else the name of the file that ships.
    informal : str
        For a proved statement without such a file: why it has none.
    topic : str
        The section of its pack's page.
    cites : tuple of str
        The keys, in its pack's bibliography, of those who say it.
    """

    id: str
    where: str
    title: str
    statement: str
    check: Callable[..., Outcome] = field(repr=False)
    origin: Origin = "ours"
    setting: Setting = field(default_factory=Setting)
    scope: str = ""
    beside: str = ""
    formal: str = ""
    informal: str = ""
    topic: str = ""
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class ClaimResult(HtmlTable, Row):
    """One line of :func:`verify`; ``failed`` where the check itself could not be completed."""

    claim: Claim
    outcome: Outcome
    seconds: float
    failed: bool = False
    dropped: tuple[Dropped, ...] = ()
    kernel: Kernel | None = None
    """The file that a kernel accepted, where the statement is proved and has one."""

    @property
    def id(self) -> str:
        """The claim's id."""
        return self.claim.id

    @property
    def setting(self) -> Setting:
        """What the statement assumes."""
        return self.outcome.setting or self.claim.setting

    @property
    def statement(self) -> str:
        """The claim as LaTeX, with its assumptions."""
        given = r",\ ".join(a.latex for a in self.setting.assumptions)
        return (
            rf"{self.claim.statement}\quad\text{{assuming }}{given}"
            if given
            else self.claim.statement
        )

    @property
    def origin(self) -> str:
        """Either "paper", where the paper says it, or "ours", where we ask it."""
        return self.claim.origin

    @property
    def said(self) -> str:
        """Who says it, as a clause."""
        if self.origin == "ours":
            return "we ask it"
        return "discussed there" if self.claim.cites else "the paper says it"

    @property
    def assumptions(self) -> list[Dropped]:
        """Each assumption, with what is known of the statement without it."""
        return list(self.dropped)

    @property
    def verdict(self) -> str:
        """proved, verified, refuted, corrected or open."""
        return str(self.outcome.verdict)

    @property
    def evidence(self) -> str:
        """The sentences that decide."""
        parts = [self.outcome.evidence]
        if self.outcome.counterexample is not None and self.setting.assumptions:
            names = ", ".join(a.name for a in self.setting.assumptions)
            parts.append(f"The counterexample meets every hypothesis: {names}")
        if self.outcome.verdict is Verdict.VERIFIED and self.claim.scope:
            parts.append(f"Not proved for every size: {self.claim.scope}")
        if self.claim.beside:
            parts.append(self.claim.beside)
        return ". ".join(p.rstrip(".") for p in parts) + ("." if len(parts) > 1 else "")

    @property
    def verdict_text(self) -> str:
        """The verdict, with "(kernel)" where Coq accepted the proof."""
        return f"{self.verdict} (kernel)" if self.kernel is not None else self.verdict

    def assumed(self) -> str:
        """The assumptions in a line, each with whether it is needed; "" where there are none."""
        return "; ".join(f"{a.name} ({a.needed})" for a in self.assumptions)

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [["claim", self.claim.title], ["where", f"{self.claim.where}; {self.said}"]]
        rows += [["verdict", self.verdict_text], ["evidence", self.evidence]]
        if self.kernel is not None:
            rows.append(["kernel", str(self.kernel)])
        if self.outcome.correction:
            rows.append(["right is", self.outcome.correction])
        rows += [
            [f"assumes {a.name}", f"{a.statement}; {a.needed}: {a.evidence}"]
            for a in self.assumptions
        ]
        return self.id, ["", ""], rows

    def __repr__(self) -> str:
        return f"ClaimResult({self.id!r}, {self.verdict})"

    def __str__(self) -> str:
        right = f" Right is: {self.outcome.correction}" if self.outcome.correction else ""
        given = f" Assumes: {self.assumed()}." if self.assumptions else ""
        return f"{self.id}: {self.verdict_text}. {self.evidence}{right}{given}"

    def _heading(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "origin": self.origin,
            "where": self.claim.where,
            "title": self.claim.title,
            "statement": self.statement,
        }

    def row(self) -> dict[str, Any]:
        """The claim in the table of :func:`verify`."""
        return {
            **self._heading(),
            "assumes": self.assumed(),
            "verdict": self.verdict,
            "kernel": None if self.kernel is None else str(self.kernel),
            "evidence": self.evidence,
            "correction": self.outcome.correction or None,
            "failed": self.failed,
            "seconds": self.seconds,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        example = self.outcome.counterexample
        return {
            **self._heading(),
            "assumptions": [a.to_dict() for a in self.assumptions],
            "verdict": self.verdict,
            "kernel": self.kernel and self.kernel.to_dict(),
            "informal": self.claim.informal or None,
            **(
                {"topic": self.claim.topic, "cites": list(self.claim.cites)}
                if self.claim.topic
                else {}
            ),
            "evidence": self.evidence,
            "correction": self.outcome.correction or None,
            "numbers": {k: _serial(v) for k, v in self.outcome.numbers.items()},
            "counterexample": example and example.to_dict(),
            "failed": self.failed,
            "seconds": round(self.seconds, 3),
        }


def _serial(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return [[serial_number(x) for x in row] for row in value.tolist()]
    return serial_number(value)
