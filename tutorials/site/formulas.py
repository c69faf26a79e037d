"""Formulas as MathML: browsers show it with no script, no font and no network.

An extension of Sphinx with the renderer of mathematics ``mathml``, which is the package's own, that of
its reports; and words for the pictures of notebooks, for who cannot see them.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes

from obliquetd.report.mathml import mathml


def inline(translator: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(str(mathml(node.astext())))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, which scrolls where it is wider than the page."""
    body = mathml(node.astext(), block=True)
    translator.body.append(f'<div class="formula" tabindex="0">{body}</div>\n')
    raise nodes.SkipNode


def describe_pictures(app: Any, tree: nodes.document) -> None:  # noqa: ARG001
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
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("doctree-read", describe_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
