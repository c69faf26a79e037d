"""Pages: one HTML file each, with no script and nothing to load from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from obliquetd.claims import ClaimResult, Pack, Reference, pack_of, tally
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.claims import FALSE, MARKS, paper_sections, summary
from obliquetd.report.model import LONG_TABLE, ModelReport, report_on
from obliquetd.report.rendering import render, write_page
from obliquetd.report.sketch import SKETCHED

__all__ = ["card_page", "claims_page", "model_page", "write_page"]


def model_page(
    problem: PolicyEvaluation,
    title: str = "model",
    learners: Learner | Iterable[Learner] = (),
    remarks: Sequence[str] = (),
) -> str:
    """The report on a model as HTML text; learners of the reader's own stand beside the package's.

    ``remarks`` are sentences under the title on where the model comes from.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> page = model_page(two_state(reward=1), "two states")
    >>> page.startswith("<!doctype html>"), "<script" in page, page.count("<svg")
    (True, False, 5)
    """
    return page_of(report_on(problem, title, learners, remarks))


def page_of(report: ModelReport) -> str:
    """A report that was gathered before, as HTML text."""
    return render("model.html.j2", report=report, long=LONG_TABLE, sketched=SKETCHED)


def claims_page(results: list[ClaimResult], pack: str | Pack = "lyu-2018") -> str:
    """The verdicts on the claims of a pack, the paper's unless given, as HTML text."""
    source = pack_of(pack)
    sections = paper_sections(results, source)
    found = [claim for section in sections for claim in section.claims if claim.is_false]
    wrong = sorted(found, key=lambda c: (c.origin != "paper", FALSE.index(c.verdict)))
    return render(
        "claims.html.j2", sections=sections, counts=tally(results), marks=MARKS, summary=summary,
        wrong=wrong, pack=source, cited=_cited(results, source),
        proofs=any(claim.proof for section in sections for claim in section.claims),
    )  # fmt: skip


def _cited(results: list[ClaimResult], pack: Pack) -> list[Reference]:
    """The works that these claims cite, in the order of the bibliography; all of it where none cites any."""
    keys = {key for r in results for key in r.claim.cites}
    return [r for r in pack.bibliography if r.key in keys] or list(pack.bibliography)


def card_page(problem: PolicyEvaluation, learner: Learner, spelled: str | None = None) -> str:
    """A counterexample on one printable page as HTML text: the problem, the proof, how to check it.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact, with at most 14 states.
    learner : Learner
        Unstable on it.
    spelled : str, optional
        How the command line names the learner.

    Raises
    ------
    InputError
        Where the learner is not unstable on the problem, or the problem fits no page.
    """
    from obliquetd.report.card import card_of

    return render("card.html.j2", card=card_of(problem, learner, spelled))
