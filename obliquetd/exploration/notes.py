"""What a page of an exploration says of itself: how it gets its numbers, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obliquetd.exploration.page import Exploration

__all__ = ["notes_of"]

DRAWN = {
    "plane": "The picture is in units of the length of v, so that v stays on the circle while its values grow; the "
    "numbers beside it are not scaled.",
    "field": "The field and the paths in it are drawn in doubles; nothing that is written as a number comes from them.",
    "curves": "There is no picture of a plane: that needs two states with one feature, or a learner with two weights. The "
    "curves are for any size.",
}


def notes_of(exploration: Exploration) -> list[str]:
    """The notes, in order."""
    one = len(exploration.sliders) == 1
    out = [
        "A number is exact where a fraction or a root stands; what stands behind = is all of it, what stands behind ≈ is "
        "rounded to six digits, correctly. Eigenvalues of three and more dimensions are shown with the digits that are "
        "proved: discs around approximations hold all of them (Smith 1970).",
        DRAWN[exploration.shape],
        "The eigenvalues are those of A on the span of all updates, where weights move.",
    ]
    if one:
        out += _regions(exploration)
        out.append(
            "At the ends of the slider, where a probability is 0, where signs change and where a formula divides by "
            "zero, the problem was solved anew in numbers; the page shows that solution, not a limit."
        )
    else:
        out.append(
            "The verdict is decided at the place of the sliders by the table of Routh in exact numbers. The bars "
            "show it at up to 200 places of the slider that was moved last; between them it may change twice."
        )
        out.append(
            "Where a probability is 0, where the span of the updates may be smaller or a formula divides by zero, "
            "the page says so and shows no number; obliquetd analyze with --set does."
        )
    if exploration.problem.native.r_pi.is_zero():
        out.append(
            "The target policy's expected reward is zero in every state, so all values are zero, and so are all fixed points "
            "and errors; eigenvalues and verdicts do not depend on rewards."
        )
    out += [f"{name} is left out: {why}." for name, why in exploration.pieces.left_out.items()]
    return out


def _regions(exploration: Exploration) -> list[str]:
    symbol = exploration.sliders[0].symbol
    told = []
    for name in exploration.pieces.learners:
        region = exploration.regions.get(name)
        if region is None:
            told.append(
                f"{name}: no exact region was found, so the bar shows the verdict at 200 places of the slider."
            )
        else:
            told.append(f"{name} is stable {region.where(symbol)}, exactly.")
    return told
