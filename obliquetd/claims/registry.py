"""Claims, their registry, and :func:`verify`, which judges them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from obliquetd.algebra import serial_number
from obliquetd.claims.claim import Outcome, Verdict
from obliquetd.claims.setting import Dropped, Setting
from obliquetd.display import HtmlTable
from obliquetd.errors import InputError

__all__ = ["REGISTRY", "Claim", "ClaimResult", "Registry", "claim", "tally", "verify"]

Origin = Literal["paper", "ours"]

ORIGINS: tuple[Origin, ...] = ("paper", "ours")


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
    """

    id: str
    where: str
    title: str
    statement: str
    check: Callable[..., Outcome] = field(repr=False)
    origin: Origin = "ours"
    setting: Setting = Setting()
    scope: str = ""
    beside: str = ""


@dataclass(frozen=True, repr=False)
class ClaimResult(HtmlTable):
    """One line of :func:`verify`; ``failed`` where the check itself could not be completed."""

    claim: Claim
    outcome: Outcome
    seconds: float
    failed: bool = False
    dropped: tuple[Dropped, ...] = ()

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
        names = [a.name for a in self.setting.assumptions]
        if not names:
            return self.claim.statement
        return rf"{self.claim.statement}\quad\text{{(assuming {_plain(names)})}}"

    @property
    def origin(self) -> str:
        """ "paper" where the paper says it, "ours" where we ask it."""
        return self.claim.origin

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

    def assumed(self) -> str:
        """The assumptions in a line, each with whether it is needed; "" where there are none."""
        return "; ".join(f"{a.name} ({a.needed})" for a in self.assumptions)

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        said = "the paper says it" if self.origin == "paper" else "we ask it"
        rows = [["claim", self.claim.title], ["where", f"{self.claim.where}; {said}"]]
        rows += [["verdict", self.verdict], ["evidence", self.evidence]]
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
        return f"{self.id}: {self.verdict}. {self.evidence}{right}{given}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        example = self.outcome.counterexample
        return {
            "id": self.id,
            "origin": self.origin,
            "where": self.claim.where,
            "title": self.claim.title,
            "statement": self.statement,
            "assumptions": [a.to_dict() for a in self.assumptions],
            "verdict": self.verdict,
            "evidence": self.evidence,
            "correction": self.outcome.correction or None,
            "numbers": {k: _serial(v) for k, v in self.outcome.numbers.items()},
            "counterexample": example and example.to_dict(),
            "failed": self.failed,
            "seconds": round(self.seconds, 3),
        }


def _plain(names: list[str]) -> str:
    r"""Names for \text{...}: only what every LaTeX reader takes there."""
    joined = ", ".join(names)
    for sign, words in ((">", "$>$"), ("!=", r"$\neq$"), ("<", "$<$"), ("_", r"\_")):
        joined = joined.replace(sign, words)
    return joined


def _serial(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return [[serial_number(x) for x in row] for row in value.tolist()]
    return serial_number(value)


class Registry:
    """Claims by id, in the order in which they were registered."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def add(self, new: Claim) -> None:
        """Register a claim; an id can be used once."""
        if new.id in self._claims:
            raise InputError(f"the claim id {new.id!r} is taken")
        if new.origin not in ORIGINS:
            raise InputError(f"origin is {new.origin!r}; expected 'paper' or 'ours'")
        self._claims[new.id] = new

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, id: str) -> Claim:  # noqa: A002 - the word for it
        try:
            return self._claims[id]
        except KeyError:
            raise InputError(
                f"no claim is called {id!r}; the claims are {', '.join(self._claims)}"
            ) from None


REGISTRY = Registry()
"""The claims of the paper, and those that we ask beside them."""


def claim(
    id: str,  # noqa: A002 - the word for it
    *,
    where: str,
    title: str,
    statement: str,
    origin: Origin = "ours",
    setting: Setting | None = None,
    scope: str = "",
    beside: str = "",
    registry: Registry | None = None,
) -> Callable[[Callable[..., Outcome]], Claim]:
    """Register a check as a claim.

    Parameters
    ----------
    id : str
        Unique in its registry.
    where, title, statement : str
        Place, short sentence, LaTeX.
    origin : {"paper", "ours"}
        Whether the text at hand says it, or you ask it.
    setting : Setting, optional
        What is assumed; each assumption is dropped in turn, and a counterexample must meet
        them all.
    scope, beside : str
        Why it is not proved for every size; what holds besides.
    registry : Registry, optional
        The paper's, unless you keep your own.

    Examples
    --------
    >>> mine = Registry()
    >>> @claim("one", where="here", title="1 = 1", statement="1 = 1", registry=mine)
    ... def check(left=1):
    ...     return Outcome(Verdict.VERIFIED if left == 1 else Verdict.OPEN, "looked")
    >>> [result.verdict for result in verify(registry=mine)]
    ['verified']
    """

    def register(check: Callable[..., Outcome]) -> Claim:
        new = Claim(
            id, where, title, statement, check, origin, setting or Setting(), scope, beside
        )
        (REGISTRY if registry is None else registry).add(new)
        return new

    return register


def verify(
    ids: Iterable[str] | None = None,
    *,
    registry: Registry | None = None,
    progress: Callable[[Claim], None] | None = None,
) -> list[ClaimResult]:
    """Check claims: by default every claim of the paper, and ours beside them.

    Parameters
    ----------
    ids : iterable of str, optional
    registry : Registry, optional
        The paper's, unless you keep your own.
    progress : callable, optional
        Called with each claim before it is checked.

    Returns
    -------
    list of ClaimResult
        Each has ``id``, ``statement``, ``verdict``, ``evidence``, ``assumptions`` and
        ``origin``.

    Examples
    --------
    >>> [(r.id, r.verdict) for r in verify(["table-1-setd", "table-1-etd"])]
    [('table-1-setd', 'verified'), ('table-1-etd', 'corrected')]
    """
    known = REGISTRY if registry is None else registry
    chosen = list(known) if ids is None else [known[i] for i in ids]
    results = []
    for one in chosen:
        if progress is not None:
            progress(one)
        results.append(_judge(one))
    return results


def _judge(one: Claim) -> ClaimResult:
    """Run the check; run its counterexample through every hypothesis; drop each assumption."""
    start = time.perf_counter()
    try:
        outcome = one.check()
        _check_hypotheses(one, outcome)
        dropped = tuple((outcome.setting or one.setting).dropped())
    except Exception as error:  # one broken check must not lose the others' verdicts
        outcome = Outcome(Verdict.OPEN, f"{type(error).__name__}: {error}")
        plain = replace(one, setting=Setting(), beside="")
        return ClaimResult(plain, outcome, time.perf_counter() - start, failed=True)
    return ClaimResult(one, outcome, time.perf_counter() - start, dropped=dropped)


def _check_hypotheses(one: Claim, outcome: Outcome) -> None:
    """InputError where the counterexample misses a hypothesis of the statement."""
    example = outcome.counterexample
    if example is not None:
        missed = (outcome.setting or one.setting).unmet(example.problem(), example.learner)
        if missed:
            raise InputError(
                f"the counterexample is none, since it does not meet: {', '.join(missed)}"
            )


def tally(results: Iterable[ClaimResult]) -> dict[str, dict[str, int]]:
    """The number of claims by origin and verdict, as in ``{"paper": {"proved": 20}, "ours": ...}``."""
    found = Counter((r.origin, r.verdict) for r in results)
    return {
        origin: {str(v): found[origin, v] for v in Verdict if found[origin, v]}
        for origin in ORIGINS
    }
