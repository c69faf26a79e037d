r"""Sentences in which mathematics is written as plain text, typeset: ``Phi'Xi Phi`` becomes MathML.

Claims and their evidence are written to be read in a terminal as well. The conventions are those of
their text: a prime is a transpose (of a state, ``s'``, it is the next one), a star after a letter is
the sign ``*``, ``[a, b; c, d]`` is a matrix, and letters side by side are a product.

A sentence is cut into tokens; a run of tokens that are no words is a formula, if there is a symbol, a
fraction or a matrix in it. What is not understood stays the text that it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import NamedTuple

from markupsafe import Markup, escape

from obliquetd.display import visible
from obliquetd.report.mathml import mathml

__all__ = ["is_long", "latex_of_text", "typeset"]

GREEK = "alpha|beta|gamma|delta|theta|kappa|lambda|mu|xi|pi|rho|sigma|phi|omega|Gamma|Delta|Lambda|Xi|Pi|Sigma|Phi|Omega"
NAMES = {"v_hat": r"\hat v", "oo": r"\infty", "X_star": "X^*"}
FUNCTIONS = ("det", "lim", "max", "min", "rank", "span", "diag", "ker", "Re", "acos")
LONGEST_PIECE = 10
"""Tokens of a formula up to which it is kept on one line; a longer one may break at its signs."""
LONGEST_FRACTION = 14
"""Letters of a fraction up to which it is shown as one; a longer one is a decimal, with the fraction at hand."""

NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
ENTRY = r"-?(?:\d+(?:\.\d+)?(?:/\d+)?)(?:e[+-]?\d+)?"
SIGN = r"(?:\*(?!\*|\s*[\d(])|_\{[^{}]*\}|_[A-Za-z0-9]+|\^\{[^{}]*\}|\^-?[A-Za-z0-9*]+|'(?!s\b))*"
TOKEN = re.compile(
    "|".join(
        (
            r"(?P<problem>PolicyEvaluation\([^()]*\))",
            r"(?P<interval>Interval(?:\.(?:open|Lopen|Ropen))?\([^(),]+, [^(),]+\))",
            r"(?P<code>`[^`]*`)",
            rf"(?P<span>(?<=\bin )\[{ENTRY}, {ENTRY}\])",
            rf"(?P<matrix>(?<![A-Za-z_])\[{ENTRY}(?:[,;] {ENTRY})*\])",
            rf"(?P<sympy>-?(?:\d+\*)?(?:(?:sqrt|acos)\((?:[^()]|\([^()]*\))*\)|{NUMBER}\*[a-z]+(?:\*\*\d+)?)(?:/\d+)?)",
            rf"(?P<named>(?:{'|'.join(NAMES)})\b{SIGN})",
            rf"(?P<word>(?!(?:{GREEK})'s|(?:Xi|Phi|Pi|Omega)-)(?:[A-Za-z]{{2,}}'s\b|'s\b|(?:[A-Z]+TD|TD|GTD2|TDC|RMSE|RMSPBE|MDP)\b|[A-Za-z][A-Za-z0-9]+(?:-[A-Za-z0-9]+)+"
            rf"|[A-Za-z](?:-[A-Za-z0-9]+){{2,}}|(?:Table|Sections?) [IVX]+(?:-[A-D])?|[IV]+-[A-D]))",
            rf"(?P<function>(?:{'|'.join(FUNCTIONS)})\b(?=[ (])|trace(?=\())",
            rf"(?P<symbol>(?:{GREEK})(?![a-z]){SIGN}|[A-Za-z](?![A-Za-z0-9]){SIGN}|[rp]\d\b|[a-z](?=[a-z]'(?!s))|[A-Z](?=1\b)|[A-Z](?=(?:Phi|Xi|Pi|Omega)\b)|[A-Z](?=[A-Z](?:'|_|\^|\b)[ ,.;]?[=<>+-]){SIGN}"
            rf"|(?:[A-Z](?=[vw]\b)|(?<=[ACFGP])[vw]\b){SIGN}|[a-z](?=[A-Z]\b))",
            rf"(?P<size>\d+x\d+\b)|(?P<fraction>\d+/\d+)|(?P<number>{NUMBER})",
            r"(?P<letters>[A-Za-z]+)",
            r"(?P<relation><=|>=|!=|=|<|>|~)",
            r"(?P<sign>[+\-/]| \. | \| |\|(?=s\)))",
            rf"(?P<open>[(\[{{])|(?P<close>[)\]}}]{SIGN})|(?P<bar>(?:\|\|(?![A-Za-z(])|(?<![A-Za-z)])\|\||\|)(?:_[A-Za-z]+)?(?:\^\d)?)|(?P<comma>, ?)|(?P<dots>\.\.\.)|(?P<space>\s+)|(?P<other>.)",
        )
    )
)
DECIDING = frozenset({"interval", "span", "matrix", "sympy", "named", "symbol", "fraction"})
"""What makes a formula."""
MATHEMATICS = DECIDING | {
    "function", "number", "relation", "sign", "open", "close", "bar", "comma", "dots", "space",
}  # fmt: skip
"""What a formula may hold."""
SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "!=": r"\neq ", "~": r"\sim ", " . ": r"\cdot ", " | ": r"\mid ",
    "||": r"\Vert ", "|": r"\vert ", "...": r"\dots ",
    "{": r"\{", "}": r"\}",
}  # fmt: skip
AFTER_A = frozenset(("of", "is", "at", "non-singular", "stable", "maps"))
"""Words after which an A that begins a sentence is the matrix, and no article."""


class Token(NamedTuple):
    """A piece of a sentence and what it is."""

    kind: str
    text: str


def typeset(text: str, known: Collection[str] = ()) -> Markup:
    """A sentence with its formulas as MathML; names of claims that are known become links to them.

    Examples
    --------
    >>> shown = typeset("the rule has Phi'Xi Phi <= 9/10 there")
    >>> shown.count("<math"), "<mfrac>" in shown, str(shown).startswith("the rule has ")
    (1, True, True)
    >>> str(typeset("No <tag> here"))
    'No &lt;tag&gt; here'
    """
    tokens = [Token(found.lastgroup or "", found[0]) for found in TOKEN.finditer(visible(text))]
    tokens = [_read(tokens, k) for k in range(len(tokens))]
    out = Markup("")
    runs = list(_runs(tokens))
    for k, run in enumerate(runs):
        if not _is_formula(run):
            out += Markup("").join(_plain(t, known) for t in run)
            continue
        *pieces, last = map(_formula, _pieces(run))
        follows = runs[k + 1][0].text if k + 1 < len(runs) else ""
        if follows[:1] in tuple(".,;:)\u201d") or follows == "'s":  # stays with its formula
            last = Markup('<span class="nobr">{}{}</span>').format(last, follows.rstrip())
            runs[k + 1] = [Token("other", follows[len(follows.rstrip()) :])]
        out += Markup(" ").join([*pieces, last])
    return out


def _read(tokens: list[Token], k: int) -> Token:
    """The token, as a word where a letter is an article, or a number of something."""
    token = tokens[k]
    if token.kind == "symbol" and token.text in ("a", "A"):
        before = [t for t in tokens[:k] if t.kind != "space"][-1:]
        after = [t for t in tokens[k + 1 : k + 3] if t.kind != "space"][:1]
        beside = {t.kind for t in (*before, *after)} & {"relation", "sign", "bar"}
        begins = not before or before[0].text in (".", ":")
        is_word = token.text == "a" or (begins and after and after[0].kind in ("letters", "word"))
        if token.text == "A":
            is_word = is_word and after[0].text not in AFTER_A
        elif before and after and before[0].kind == after[0].kind == "comma":
            is_word = False
        if not beside and is_word:
            return Token("letters", token.text)
    if token.kind == "sign" and token.text == "-" and not _is_minus(tokens, k):
        return Token("other", "-")
    return token


def _is_minus(tokens: list[Token], k: int) -> bool:
    """A hyphen of text has a word on one side."""
    beside = [tokens[i].kind for i in (k - 1, k + 1) if 0 <= i < len(tokens)]
    return not {"letters", "word", "other"} & set(beside)


def _runs(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens in runs that are a formula or none; brackets of a formula are in it, both."""
    k = 0
    while k < len(tokens):
        end = _end(tokens, k)
        yield tokens[k : max(end, k + 1)]
        k = max(end, k + 1)


def _end(tokens: list[Token], start: int) -> int:
    """The end of the longest formula from here; the start where there is none."""
    if (
        tokens[start].kind in ("space", "comma", "close", "dots")
        or tokens[start].kind not in MATHEMATICS
    ):
        return start
    if tokens[start].kind == "relation":  # "the criterion = 1/4": the sign is the sentence's
        return start
    depth, end, bars = 0, start, 0
    for k in range(start, len(tokens)):
        kind = tokens[k].kind
        if kind not in MATHEMATICS or (kind == "comma" and depth == 0 and bars % 2 == 0):
            break
        depth += (kind == "open") - (kind == "close")
        if depth < 0:
            break
        bars += kind == "bar"
        if (
            depth == 0
            and bars % 2 == 0
            and kind not in ("space", "comma", "relation", "sign", "open", "function")
        ):
            end = k + 1
    return end


def _is_formula(run: list[Token]) -> bool:
    return any(t.kind in DECIDING for t in run)


def _pieces(run: list[Token]) -> Iterator[list[Token]]:
    """A long formula in pieces between which a line may break: before its signs, outside brackets."""
    if len([t for t in run if t.kind != "space"]) <= LONGEST_PIECE:
        yield run
        return
    depth, bars, piece = 0, 0, list[Token]()
    for k, token in enumerate(run):
        inside = depth or bars % 2
        binary = token.kind == "relation" or (
            token.text in "+-" and k and run[k - 1].kind == "space"
        )
        if binary and not inside and any(t.kind not in ("relation", "space") for t in piece):
            yield piece
            piece = []
        depth += (token.kind == "open") - (token.kind == "close")
        bars += token.kind == "bar"
        piece.append(token)
    yield piece


def _formula(run: list[Token]) -> Markup:
    """The run as MathML, with what was shortened as a title."""
    exact = [t.text for t in run if t.kind in ("matrix", "fraction", "sympy") and is_long(t.text)]
    latex = "".join(map(_latex, run)).strip()
    shown = mathml(latex)
    if exact:
        return Markup('<span class="rounded" title="exactly {}">{}</span>').format(
            ", ".join(exact), shown
        )
    return shown


def is_long(text: str) -> bool:
    """Whether there is a number in the text that is shown as a decimal."""
    return any(len(part) > LONGEST_FRACTION for part in re.findall(r"[\d/]+", text))


def _plain(token: Token, known: Collection[str]) -> Markup:
    text = token.text
    if token.kind == "problem":
        return escape(_told(text))
    if token.kind == "size":
        return escape(text.replace("x", "\u00d7"))
    if token.kind == "code":
        return Markup("<code>{}</code>").format(text[1:-1])
    if token.kind == "word" and text in known:
        return Markup('<a href="#{0}">{0}</a>').format(text)
    return escape(text)


def _told(text: str) -> str:
    """``PolicyEvaluation(2 states, 1 features, off-policy, discount 9/10, exact)`` in words."""
    parts = [
        p
        for p in text[len("PolicyEvaluation(") : -1].split(", ")
        if p not in ("exact", "symbolic", "float")
    ]
    parts = [re.sub(r"^1 (feature|state)s$", r"1 \1", p) for p in parts]
    return f"a problem ({', '.join(parts)})"


def latex_of_text(text: str) -> str:
    r"""A formula in plain text as LaTeX.

    Examples
    --------
    >>> latex_of_text("X_E'L Phi")
    'X_{E}^{\\top} L \\Phi '
    """
    tokens = [Token(found.lastgroup or "", found[0]) for found in TOKEN.finditer(text)]
    return "".join(map(_latex, tokens))


def _latex(token: Token) -> str:
    kind, text = token
    if kind == "matrix":
        return _matrix(text)
    if kind == "span":
        low, high = map(_entry, text[1:-1].split(", "))
        return rf"[{low},\ {high}]"
    if kind == "fraction":
        return _fraction(text)
    if kind == "sympy":
        return _expression(text)
    if kind == "interval":
        return _interval(text)
    if kind == "named":
        name = next(n for n in NAMES if text.startswith(n))
        return f"{{{NAMES[name]}}}{_signs(text[len(name) :], '')} "
    if kind == "symbol":
        return _symbol(text)
    if kind == "function":
        return rf"\operatorname{{{text}}} "
    if kind in ("letters", "word"):
        return rf"\text{{{text}}}"
    if kind == "comma":
        return r",\ "
    if kind == "space":
        return " "
    if kind in ("close", "bar"):
        bracket = re.match(r"\|\||.", text)
        assert bracket is not None
        return SIGNS.get(bracket[0], bracket[0]) + _signs(text[bracket.end() :], "")
    return SIGNS.get(text, text)


def _symbol(text: str) -> str:
    found = re.match(rf"(?:{GREEK})(?![a-z])|[A-Za-z]", text)
    assert found is not None
    name = found[0]
    letter = rf"\{name}" if len(name) > 1 else name
    signs = text[len(name) :]
    return f"{letter}{_signs(f'_{signs}' if signs.isdigit() else signs, name)} "


def _signs(signs: str, name: str) -> str:
    r"""Subscripts, and everything above the line in one superscript: ``L^-1'`` is ``L^{-\top}``."""
    below, above = "", ""
    for part in re.findall(r"\*|_\{[^{}]*\}|_[A-Za-z0-9]+|\^\{[^{}]*\}|\^-?[A-Za-z0-9*]+|'", signs):
        if part == "'":
            above = (
                "-" + r"\top" if above == "-1" else above + (r"\prime" if name == "s" else r"\top")
            )
        elif part == "*":
            above += "*"
        else:
            inner = part[1:].strip("{}")
            shown = latex_of_text(inner) if not inner.isdigit() else inner
            if inner == "-T":
                shown = r"-\top"
            elif re.fullmatch(r"[A-Za-z]{2,}", inner) and not re.fullmatch(GREEK, inner):
                shown = rf"\text{{{inner}}}" if inner != "ij" else "ij"
            if part[0] == "_":
                below = shown.strip()
            else:
                above += shown.strip()
    return (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _fraction(text: str) -> str:
    p, q = text.split("/")
    if is_long(text) and int(q):
        return f"{Decimal(p) / Decimal(q):.6g}"
    return rf"\frac{{{p}}}{{{q}}}"


def _entry(text: str) -> str:
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    return sign + (_fraction(digits) if "/" in digits else digits)


def _matrix(text: str) -> str:
    rows = [row.split(", ") for row in text[1:-1].split("; ")]
    if len(rows) == len(rows[0]) == 1:
        return _entry(rows[0][0])
    body = r" \\ ".join(" & ".join(map(_entry, row)) for row in rows)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


def _expression(text: str) -> str:
    """A product of a number, a root or an angle, and a letter, over a number."""
    found = re.fullmatch(r"(-?)(.*?)(?:/(\d+))?", text)
    assert found is not None
    sign, top, bottom = found.groups()
    factors = re.match(r"(?:(\d+(?:\.\d+)?)\*)?(.*)", top)
    assert factors is not None
    number, rest = factors.groups()
    function = re.fullmatch(r"(sqrt|acos)\((.*)\)", rest)
    if function is None:
        shown = latex_of_text(rest.replace("**", "^"))
    elif function[1] == "sqrt":
        shown = rf"\sqrt{{{latex_of_text(function[2])}}}"
    else:
        shown = rf"\operatorname{{arccos}}({latex_of_text(function[2])})"
    shown = f"{number or ''} {shown}".strip()
    return sign + (rf"\frac{{{shown}}}{{{bottom}}}" if bottom else shown)


def _interval(text: str) -> str:
    kind, _, inner = text.removeprefix("Interval").partition("(")
    left, right = (latex_of_text(x) for x in inner[:-1].split(", "))
    opens = "(" if kind in (".open", ".Lopen") else "["
    closes = ")" if kind in (".open", ".Ropen") else "]"
    return rf"{opens}{left},\ {right}{closes}"
