"""The registry of claims, and :func:`verify`, which judges them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from obliquetd.claims.claim import Outcome, Verdict
from obliquetd.claims.formal import accepted
from obliquetd.claims.result import ORIGINS, Claim, ClaimResult, Origin
from obliquetd.claims.setting import Setting
from obliquetd.errors import InputError, did_you_mean
from obliquetd.frames import Table

if TYPE_CHECKING:
    from obliquetd.claims.pack import Pack

__all__ = ["REGISTRY", "Registry", "claim", "tally", "verify"]


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
            some = ", ".join(list(self._claims)[:MOST_NAMED])
            more = f" and {len(self) - MOST_NAMED} more; obliquetd verify --brief lists all" * (
                len(self) > MOST_NAMED
            )
            raise InputError(
                f"no claim is called {id!r}; {did_you_mean(id, self._claims)}the claims are {some}{more}"
            ) from None


MOST_NAMED = 8
"""Claims that an error names."""
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
    formal: str = "",
    informal: str = "",
    topic: str = "",
    cites: tuple[str, ...] = (),
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
    formal, informal : str
        For a statement proved for every size: "words" where its rewriting is a proof for Coq, or the
        name of a file that ships; else why it has no such file.
    topic, cites : optional
        The section of its pack's page, and the keys of those who say it: see
        :class:`obliquetd.claims.Pack`.
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
            id, where, title, statement, check, origin, setting or Setting(), scope, beside, formal, informal,
            topic, cites,
        )  # fmt: skip
        (REGISTRY if registry is None else registry).add(new)
        return new

    return register


def verify(
    ids: str | Iterable[str] | None = None,
    *,
    registry: Registry | None = None,
    pack: str | Pack | None = None,
    progress: Callable[[Claim], None] | None = None,
) -> Table[ClaimResult]:
    """Check claims: by default every claim of the paper, and ours beside them.

    Parameters
    ----------
    ids : str or iterable of str, optional
    registry : Registry, optional
        The paper's, unless you keep your own.
    pack : str or Pack, optional
        In place of a registry: "lyu-2018" (the paper's, which None means too), "folklore", a pack of
        your own, or a Python file that makes one.
    progress : callable, optional
        Called with each claim before it is checked.

    Returns
    -------
    Table of ClaimResult
        A list. Each has ``id``, ``statement``, ``verdict``, ``evidence``, ``assumptions`` and
        ``origin``; ``.rows()`` and ``.to_frame()`` have one row a claim.

    Examples
    --------
    >>> [(r.id, r.verdict) for r in verify(["table-1-setd", "table-1-etd"])]
    [('table-1-setd', 'verified'), ('table-1-etd', 'corrected')]
    >>> [(r.id, r.verdict) for r in verify(["v-trace-fixed-point"], pack="folklore")]
    [('v-trace-fixed-point', 'corrected')]
    """
    known = _claims_of(registry, pack)
    if ids is not None and not isinstance(ids, Iterable):
        raise InputError(f"ids is {ids!r}; expected the names of claims, as in verify(['lemma-1'])")
    wanted = [ids] if isinstance(ids, str) else ids
    chosen = list(known) if wanted is None else [known[i] for i in wanted]
    results: Table[ClaimResult] = Table()
    for one in chosen:
        if progress is not None:
            progress(one)
        results.append(_judge(one))
    return results


def _claims_of(registry: Registry | None, pack: str | Pack | None) -> Registry:
    if pack is None:
        return REGISTRY if registry is None else registry
    if registry is not None:
        raise InputError("registry and pack both say which claims are meant; give one of the two")
    from obliquetd.claims.pack import pack_of

    return pack_of(pack).registry


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
    kernel = accepted(one, outcome)
    return ClaimResult(one, outcome, time.perf_counter() - start, dropped=dropped, kernel=kernel)


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
    """The number of claims by origin and verdict.

    Examples
    --------
    >>> tally(verify(["table-1-setd", "table-1-etd", "omega-positive"]))
    {'paper': {'verified': 1, 'corrected': 1}, 'ours': {'refuted': 1}}
    """
    found = Counter((r.origin, r.verdict) for r in results)
    return {
        origin: {str(v): found[origin, v] for v in Verdict if found[origin, v]}
        for origin in ORIGINS
    }
