"""The claims with their verdicts: judged when the site is built, and typeset as in the package's report."""

from __future__ import annotations

from jinja2 import Environment, StrictUndefined

import obliquetd
from obliquetd.claims import ClaimResult, Verdict, pack_of, tally
from obliquetd.report.claims import MARKS, ClaimSection, PaperSection, paper_sections, summary

MEANS = {
    Verdict.PROVED: "true for every size, by rewriting or by an argument in the check's docstring",
    Verdict.VERIFIED: "true exactly on problems of stated sizes, and not proved for every size",
    Verdict.REFUTED: "false, with a counterexample that you can run again",
    Verdict.CORRECTED: "false as {}, and what is right is given",
    Verdict.OPEN: "not decided here",
}
CARD = """<div class="claim {{ claim.verdict }}">
<p class="soft">{{ claim.where }} · {{ claim.said }} ·
<code>{{ claim.id }}</code> · <span class="verdict {{ claim.verdict }}">{{ claim.mark }} {{ claim.verdict }}</span></p>
<div class="formula" tabindex="0">{{ claim.formula }}</div>
{% if claim.correction %}<p><strong>Right is:</strong> {{ claim.correction }}</p>{% endif %}
{% if claim.told[0] %}<p>{{ claim.told[0] }}</p>{% endif %}
{% if claim.observed %}<dl class="seen">
{% for s in claim.observed %}<div><dt>{{ s.name }}</dt><dd>{{ s.value }}{% if s.exact %}<details><summary>exactly</summary>
<code>{{ s.exact }}</code></details>{% endif %}</dd></div>
{% endfor %}</dl>{% endif %}
{% if claim.told[1] %}<p>{{ claim.told[1] }}</p>{% endif %}
{% for note in claim.notes %}<p class="soft">{{ note }}</p>
{% endfor %}
{% if claim.assumptions %}<details><summary>{{ "The counterexample meets every hypothesis" if claim.is_false else "It assumes" }}:
{% for a in claim.assumptions %}{{ a.name }}{{ ", " if not loop.last }}{% endfor %}</summary><ul>
{% for a in claim.assumptions %}<li><strong>{{ a.name }}</strong> ({{ a.statement }}): {{ a.needed }}; {{ a.evidence }}</li>
{% endfor %}</ul></details>{% endif %}
{% if claim.counterexample %}<p><a download="{{ claim.id }}.json" href="{{ claim.counterexample }}">The counterexample as a model file</a></p>{% endif %}
</div>"""


PACKS = {"claims": "lyu-2018", "folklore": "folklore"}
"""The packs by the folder of their pages."""
PREFACE = {
    "claims": "Each statement of Lyu et al. (2018) that can be checked is a check that can fail, and so are some questions of our own. "
    "`obliquetd.verify()` judges them, and these pages are made from its answers.",
    "folklore": "Sentences that are said of linear TD, in our words, each with works that discuss it. Where one is false, that is no "
    'reproach to them: many of them show it. `obliquetd.verify(pack="folklore")` judges the sentences, and these pages are made from its '
    "answers. [Tutorial 13](../tutorials/13_your_own_pack.ipynb) makes such a pack for a paper of your own.",
}


def pages() -> dict[str, str]:
    """The text of each page by its path below the site's root; judges every claim of every pack."""
    made = {}
    for folder, name in PACKS.items():
        made |= pages_of(obliquetd.verify(pack=name), folder)
    return made


def pages_of(results: list[ClaimResult], folder: str = "claims") -> dict[str, str]:
    """The pages of some results of the pack in that folder."""
    pack = pack_of(PACKS[folder])
    sections = paper_sections(results, pack)
    made = {f"{folder}/index.md": index(results, sections, folder)}
    places = {claim.id: section.anchor for section in sections for claim in section.claims}
    for section in sections:
        text = page(section)
        for claim, anchor in places.items():  # a claim names others, on whichever page they stand
            text = text.replace(f'href="#{claim}"', f'href="{anchor}.html#{claim.lower()}"')
        made[f"{folder}/{section.anchor}.md"] = text
    return made


def index(results: list[ClaimResult], sections: list[PaperSection], folder: str) -> str:
    """How many have which verdict, what the verdicts mean, every claim by its section, and the bibliography."""
    pack = pack_of(PACKS[folder])
    heading = (
        "The claims and their verdicts" if folder == "claims" else f"{pack.title}: the folklore"
    )
    lines = [f"# {heading}", "", PREFACE[folder], ""]
    lines += [f"| verdict | {pack.whose} | of ours | it means |", "|---|---|---|---|"]
    counts = tally(results)
    for verdict, meaning in MEANS.items():
        numbers = [str(counts.get(o, {}).get(str(verdict), 0)) for o in ("paper", "ours")]
        lines.append(
            f"| {told(str(verdict))} | {' | '.join(numbers)} | {meaning.format(pack.told)} |"
        )
    lines += ["", "```{toctree}", ":hidden:", ""]
    lines += [s.anchor for s in sections] + ["```", ""]
    for section in sections:
        lines += [f"## {section.name}", "", str(summary(section)) + ".", ""]
        lines += ["| verdict | claim |", "|---|---|"]
        for claim in section.claims:
            link = f"[{cell(claim)}](#{claim.id})"
            lines.append(f"| {told(claim.verdict)} | {link} |")
        lines.append("")
    if folder != "claims":
        lines += ["## Bibliography", "", *[f"- {escaped(str(work))}" for work in pack.bibliography]]
    return "\n".join(lines) + "\n"


def told(verdict: str) -> str:
    """A verdict with its sign, so that none is told by its colour alone."""
    return f"{MARKS[Verdict(verdict)]}\u00a0{verdict}"


def cell(claim: ClaimSection) -> str:
    """A claim's title inside a table of Markdown."""
    return escaped(claim.words).replace("|", "\\|")


def escaped(text: str) -> str:
    """Text that Markdown would read as marks, as it stands."""
    for mark in "\\`*_{}[]<>$#":
        text = text.replace(mark, f"\\{mark}")
    return text


def page(section: PaperSection) -> str:
    """The claims of one section of the paper."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    card = environment.from_string(CARD)
    lines = [f"# {escaped(section.name)}", "", str(summary(section)) + ".", ""]
    for claim in section.claims:
        lines += [f"({claim.id})=", f"## {escaped(claim.words)}", ""]
        body = "\n".join(line for line in card.render(claim=claim).splitlines() if line.strip())
        lines += ["````{raw} html", body, "````", ""]
    return "\n".join(lines) + "\n"
