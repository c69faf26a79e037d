"""A pack: the claims of one source, with what they cite.

A pack has a registry of claims, a bibliography, and the sections in which its page shows them. The
package's own are in :data:`PACKS`, by name; each is imported when it is first asked for. A pack of
the user's own is an object, or a Python file that makes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from obliquetd.claims.claim import Outcome
from obliquetd.claims.registry import Registry, claim
from obliquetd.claims.result import Claim
from obliquetd.errors import InputError, LearnerError

__all__ = ["PACKS", "Pack", "Reference", "pack_of"]

PACKS: Mapping[str, str] = MappingProxyType(
    {"lyu-2018": "obliquetd.claims.lyu_2018", "folklore": "obliquetd.folklore"}
)
"""The package's own packs, and the module that each is the ``PACK`` of; the first is the default."""


@dataclass(frozen=True)
class Reference:
    """A work that claims cite.

    Attributes
    ----------
    key : str
        By which claims cite it: authors and year.
    authors : str
    year : int
    title, where : str
        Its title; the journal, conference or publisher.
    """

    key: str
    authors: str
    year: int
    title: str
    where: str

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}). {self.title}. {self.where}."


def _by_topic(one: Claim) -> str:
    """The topic of a claim."""
    return one.topic


def _as_registered(_one: Claim) -> float | None:
    """No place of its own."""
    return None


@dataclass(frozen=True)
class Pack:
    """The claims of one source.

    Attributes
    ----------
    name : str
        Short, for the command line.
    title : str
        The heading of its page.
    whose : str
        Who says what it judges, as in "of the paper".
    told : str
        How its statements are met with, as in "false as printed".
    bibliography : tuple of Reference
    topics : mapping of str to str
        The sections of its page in their order, by their short names; "" is of claims in none.
    registry : Registry
        Its claims.
    section_of : callable
        The short name of a claim's section: its topic, unless said otherwise.
    place_of : callable
        Where in its section a claim stands; None is after the one that was registered before it.

    Examples
    --------
    >>> from obliquetd.claims import Outcome, Verdict, verify
    >>> mine = Pack("mine", "My note", "of my note",
    ...             (Reference("Me 2024", "M. Me", 2024, "A note", "Unpublished"),))
    >>> @mine.claim("one", cites=("Me 2024",), where="page 1", title="1 = 1", statement="1 = 1")
    ... def check(left=1):
    ...     return Outcome(Verdict.VERIFIED if left == 1 else Verdict.OPEN, "looked")
    >>> [(r.claim.where, r.verdict) for r in verify(pack=mine)]
    [('Me 2024, page 1', 'verified')]
    """

    name: str
    title: str
    whose: str = "of the paper"
    bibliography: tuple[Reference, ...] = ()
    topics: Mapping[str, str] = field(default_factory=lambda: {"": "Claims"})
    registry: Registry = field(default_factory=Registry)
    section_of: Callable[[Claim], str] = _by_topic
    place_of: Callable[[Claim], float | None] = _as_registered
    told: str = "printed"

    def __post_init__(self) -> None:
        keys = [r.key for r in self.bibliography]
        twice = sorted({k for k in keys if keys.count(k) > 1})
        if twice:
            raise InputError(f"the bibliography of {self.name!r} has {twice[0]!r} twice")

    def claim(
        self,
        id: str,  # noqa: A002 - the word for it
        *,
        title: str,
        statement: str,
        cites: Iterable[str] = (),
        where: str = "",
        topic: str = "",
        **more: Any,
    ) -> Callable[[Callable[..., Outcome]], Claim]:
        """Register a check in this pack; what is not here is as for :func:`obliquetd.claims.claim`.

        Parameters
        ----------
        id, title, statement : str
        cites : iterable of str
            The keys of those who say it. Without any, it is you who ask.
        where : str
            The place there.
        topic : str
            One of the pack's topics.

        Raises
        ------
        InputError
            For a key that the bibliography does not have, or a topic that the pack does not.
        """
        keys, known = tuple(cites), {r.key for r in self.bibliography}
        for key in keys:
            if key not in known:
                raise InputError(
                    f"the claim {id!r} cites {key!r}, which is not in the bibliography of {self.name!r}; it has "
                    f"{', '.join(sorted(known)) or 'nothing'}. Add a Reference, or cite one of these"
                )
        if topic not in self.topics:
            raise InputError(
                f"the claim {id!r} is on {topic!r}, which is no topic of {self.name!r}; expected one of "
                f"{', '.join(map(repr, self.topics))}"
            )
        place = ", ".join(filter(None, ("; ".join(keys), where)))
        more.setdefault("origin", "paper" if keys else "ours")
        return claim(
            id, where=place, title=title, statement=statement, topic=topic, cites=keys,
            registry=self.registry, **more,
        )  # fmt: skip

    def reference(self, key: str) -> Reference:
        """The work of that key."""
        for one in self.bibliography:
            if one.key == key:
                return one
        raise InputError(f"{key!r} is not in the bibliography of {self.name!r}")

    def __str__(self) -> str:
        return f"{self.name}: {len(self.registry)} claims, {len(self.bibliography)} references"


def pack_of(given: str | Pack) -> Pack:
    """A pack by its name, from a Python file that makes one, or as it is.

    Raises
    ------
    InputError
        For another name, or a file that makes no pack, or several.

    Examples
    --------
    >>> pack_of("lyu-2018").title
    'Stable and Efficient Policy Evaluation'
    """
    if isinstance(given, Pack):
        return given
    if isinstance(given, str) and given in PACKS:
        found: Pack = import_module(PACKS[given]).PACK
        return found
    if isinstance(given, str) and given.endswith(".py"):
        return _from_file(given)
    raise InputError(
        f"no pack of claims is called {given!r}; expected {', '.join(PACKS)}, or a Python file that makes a "
        "Pack, as in my_pack.py"
    )


def _from_file(path: str) -> Pack:
    from obliquetd.learners.files import names_in

    try:
        made = names_in(path)
    except LearnerError as error:
        raise InputError(str(error)) from error
    packs = {id(x): x for x in made.values() if isinstance(x, Pack)}
    if len(packs) != 1:
        raise InputError(
            f"{path} makes {len(packs) or 'no'} packs of claims; expected one, as in PACK = obliquetd.claims.Pack(...)"
        )
    return next(iter(packs.values()))
