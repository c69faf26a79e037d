"""Random problems for hypothesis: every draw is a valid problem, and shrinks to a small one.

They are the problems of :mod:`tests.character`, and where a property needs more than a valid problem, it says so in the
settings of :func:`tests.character.drawn`, or filters.
"""

from fractions import Fraction
from types import SimpleNamespace

from hypothesis import note
from hypothesis import strategies as st

from tests.character import drawn


@st.composite
def distributions(draw, size, full=False):
    weights = draw(st.lists(st.integers(int(full), 3), min_size=size, max_size=size).filter(any))
    return [Fraction(w, sum(weights)) for w in weights]


@st.composite
def characters(draw, **kinds):
    """A problem with character in plain data; ``kinds`` as in :func:`tests.character.drawn`."""
    return drawn(SimpleNamespace(pick=lambda things: draw(st.sampled_from(things))), **kinds)


@st.composite
def mdps(draw, **kinds):
    """The model of one."""
    plain = draw(characters(**kinds))
    note(repr(plain))
    return plain.mdp()


@st.composite
def problems(draw, **kinds):
    """The problem of one, off- or on-policy; where its chain may have several classes, weights are given."""
    plain = draw(characters(**kinds))
    note(repr(plain))
    return plain.problem()
