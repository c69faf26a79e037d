"""Formulas as MathML: browsers show it with no script, no font and no network.

An extension of Sphinx with the renderer of mathematics ``mathml``, which is the package's own, that of
its reports; and words for the pictures of notebooks, for who cannot see them.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes

from obliquetd.report.mathml import lines_of, mathml


MATRICES = {
    r"\left[\begin{matrix}": r"\begin{bmatrix}",
    r"\end{matrix}\right]": r"\end{bmatrix}",
    r"\displaystyle ": "",
}
"""How sympy writes a matrix, and how our converter knows it; its brackets then grow."""


def formula(node: Any, *, block: bool = False) -> str:
    """The text of a node of mathematics as MathML; an aligned block is one formula for each of its lines."""
    latex = node.astext()
    for theirs, ours in MATRICES.items():
        latex = latex.replace(theirs, ours)
    return "".join(str(mathml(line, block=block)) for line in lines_of(latex))


def inline(translator: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(formula(node))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, which scrolls where it is wider than the page."""
    body = formula(node, block=True)
    translator.body.append(f'<div class="formula" tabindex="0">{body}</div>\n')
    raise nodes.SkipNode


def describe_pictures(app: Any, tree: nodes.document) -> None:
    """Say of each picture without words which section draws it."""
    for image in tree.findall(nodes.image):
        if not image.get("alt"):
            section = next((n for n in ancestors(image) if isinstance(n, nodes.section)), None)
            title = section[0].astext() if section is not None else "this page"
            image["alt"] = f"The picture that the code above draws, in: {title}"


def ancestors(node: nodes.Node) -> Any:
    """A node's parents, the nearest first."""
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app: Any) -> dict[str, Any]:
    """Make the renderer known to Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("doctree-read", describe_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
