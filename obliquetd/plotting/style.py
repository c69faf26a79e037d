"""What every picture shares: colours, marks and fresh axes; nothing global is touched."""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from obliquetd.display import MADE_BY, mathtext, visible
from obliquetd.experiments.grid import label, setting_text, settings_of
from obliquetd.learners import LEARNERS, Learner

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "COLORS",
    "HEAT",
    "OTHER",
    "SHADE",
    "SHADE_LINES",
    "curve_labels",
    "drawn",
    "equation_text",
    "fresh_axes",
    "kind_called",
    "labels",
    "looks",
    "shaded",
    "symbol_text",
]

COLORS = {kind.name: kind.color for kind in LEARNERS.values()}
"""One colour a learner, in every figure: the palette of Okabe and Ito (2008), which the
common kinds of colour blindness tell apart. The mark beside it is for print in grey."""

OTHER = Learner.color

SHADE, SHADE_LINES = "#C46D6D", "#8A3B3B"
"""Where a learner is unstable: a fill, and the lines that hatch it, which grey print keeps."""
HEAT = "#2171b5"
"""The one colour of heat maps, see-through where there is little: it shows on a light page and on a dark one."""

GREEK = re.compile("(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lamda|mu|nu|xi|rho|sigma|tau|phi|"
                   "chi|psi|omega|[A-Za-z])(?:_?[0-9]+)?")  # fmt: skip
SPELLED = {"lam": "lamda", "lambda": "lamda"}
LONGEST_EQUATION = 48
"""Letters of an equation that fit a title."""
DASHES = ("-", (0, (6, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
"""The lines of a family, in turn."""
LETTERS = {"lam": "λ", "alpha": "α", "mu": "μ", "beta": "β", "eta": "η", "kappa": "κ", "zeta": "ζ"}
"""How settings are written in a picture."""


def kind_called(name: str) -> type[Learner]:
    """The learner of a name, or of a label that begins with it; the plain one for others."""
    named = {kind.name: kind for kind in LEARNERS.values()}
    return named.get(name.split(" ")[0], Learner)


def _letter(symbol: Any) -> str | None:
    """A symbol as mathematics, if it has a letter and no more than an index."""
    name = SPELLED.get(str(symbol), str(symbol))
    return sp.latex(sp.Symbol(name)) if GREEK.fullmatch(name) else None


def symbol_text(symbol: Any) -> str:
    r"""A symbol as matplotlib shows it: a Greek letter for its name, other names word for word.

    Examples
    --------
    >>> symbol_text("gamma"), symbol_text("lam"), symbol_text("p_1"), symbol_text("left")
    ('$\\gamma$', '$\\lambda$', '$p_{1}$', 'left')
    """
    letter = _letter(symbol)
    return mathtext(symbol) if letter is None else f"${letter}$"


def equation_text(polynomial: Any, symbols: Sequence[Any]) -> str:
    r"""Polynomial = 0 as matplotlib shows it; its degrees where it is long.

    Examples
    --------
    >>> g, l = sp.symbols("gamma lam")
    >>> equation_text(g * l - 6 * g + 5, [g, l])
    '$\\gamma \\lambda - 6 \\gamma + 5 = 0$'
    """
    letters = {s: letter for s in symbols if (letter := _letter(s))}
    if len(str(polynomial)) <= LONGEST_EQUATION and len(letters) == len(symbols):
        return f"${sp.latex(polynomial, symbol_names=letters)} = 0$"
    degrees = [f"{sp.degree(polynomial, s)} in {symbol_text(s)}" for s in symbols]
    return f"a polynomial of degree {' and '.join(degrees)} is 0"


def labels(learners: Sequence[Learner], omit: Sequence[Any] = ()) -> list[str]:
    """What learners of one picture are called: by what differs between them, or from a default.

    A step size is named where learners of one kind have several; settings that are a symbol of
    ``omit``, which an axis shows, are left out.

    Examples
    --------
    >>> from obliquetd.learners import ETD, GTD2, TD
    >>> labels([TD(), TD(lam="1/2"), ETD(0.1)])
    ['TD', 'TD, λ 1/2', 'ETD']
    >>> labels([GTD2(0.1, mu=1), GTD2(0.1, mu=4)])
    ['GTD2, μ 1', 'GTD2, μ 4']
    """
    every = [settings_of(learner) for learner in learners]
    out = []
    for learner, own in zip(learners, every, strict=True):
        alike = [s for x, s in zip(learners, every, strict=True) if type(x) is type(learner)]
        plain = settings_of(type(learner)())
        shown = [
            f"{LETTERS.get(k, k)} {setting_text(value)}"
            for k, value in own.items()
            if value is not None
            and setting_text(value) not in map(str, omit)
            and (
                len({setting_text(s[k]) if k in s else None for s in alike}) > 1
                or (
                    k != "alpha"
                    and (k not in plain or setting_text(plain[k]) != setting_text(value))
                )
            )
        ]
        out.append(mathtext(", ".join([learner.name, *shown])))
    return out


def curve_labels(named: Mapping[str, Learner]) -> dict[str, str]:
    """What curves are called: as the caller named them, else by what differs between them.

    Examples
    --------
    >>> from obliquetd.learners import TD
    >>> curve_labels({"TD lam=1/2": TD(0.1, lam="1/2"), "slow": TD(0.01)})
    {'TD lam=1/2': 'TD, α 0.1, λ 1/2', 'slow': 'slow'}
    >>> curve_labels({"TD": TD(0.1), "TD 2": TD(0.2)})
    {'TD': 'TD, α 0.1', 'TD 2': 'TD, α 0.2'}
    """
    short = dict(zip(named, labels(list(named.values())), strict=True))
    own = {}
    kinds = Counter(type(x) for x in named.values())
    for name, x in named.items():
        base = re.sub(r" \d+$", "", name)  # one that was taken got a number
        listed = {name, base} & {x.name, x.label, label(x)}
        plain = name == x.name and kinds[type(x)] == 1
        own[name] = short[name] if listed and not plain else mathtext(name)
    return own if len(set(own.values())) == len(own) else {name: mathtext(name) for name in named}


def looks(learners: Sequence[Learner]) -> list[tuple[str, Any]]:
    """A colour and a dash for each: one hue a family, and in it lightness and dash that differ."""
    seen: Counter[str] = Counter()
    out = []
    for learner in learners:
        k = seen[learner.color]
        seen[learner.color] += 1
        share = 0.0 if k == 0 else 0.4 if k % 2 else -0.4
        out.append((shaded(learner.color, share), DASHES[k % len(DASHES)]))
    return out


def shaded(color: str, share: float) -> str:
    """A colour moved by a share towards white, or, below 0, towards black.

    Examples
    --------
    >>> shaded("#336699", 0.5), shaded("#336699", -0.5)
    ('#99b2cc', '#19334c')
    """
    if not share:
        return color
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    end = 255 if share > 0 else 0
    return "#" + "".join(f"{int(x + abs(share) * (end - x)):02x}" for x in parts)


def fresh_axes(ax: Axes | None, **size: Any) -> Axes:
    """The given axes, or the axes of a new figure that no global list holds."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **size).subplots()


def drawn(ax: Axes, kind: str, salt: str = "obliquetd") -> bytes:
    """The figure of the axes as a PNG or SVG file, the same bytes every time.

    ``salt`` makes the names inside an SVG, which have to differ where two share a page.

    Warns
    -----
    UserWarning
        Once, where a name has letters that the font lacks.
    """
    about: dict[str, Any] = (
        {"Creator": MADE_BY, "Date": None} if kind == "svg" else {"Software": MADE_BY}
    )
    import matplotlib

    buffer = io.BytesIO()
    style: Any = {"svg.hashsalt": salt, "svg.fonttype": "path"}
    figure: Any = ax.figure
    with warnings.catch_warnings(record=True) as heard, matplotlib.rc_context(style):
        warnings.simplefilter("always")
        figure.savefig(buffer, format=kind, metadata=about, dpi=150, bbox_inches="tight")
    lacking: dict[str, None] = {}
    for warning in heard:
        found = re.match(r"Glyph (\d+) ", str(warning.message))
        if found:
            lacking[chr(int(found[1]))] = None
        else:
            warnings.warn(warning.message, warning.category, stacklevel=2)
    if lacking:
        warnings.warn(
            f"the font of the pictures has no {', '.join(map(visible, list(lacking)[:10]))}; boxes stand there",
            stacklevel=2,
        )
    return buffer.getvalue()
