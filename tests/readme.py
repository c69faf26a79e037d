"""The tables of README.md that are made from the package: ``python -m tests.readme`` writes them."""

import re
from pathlib import Path

from obliquetd.formats.files import FORMATS
from obliquetd.learners import LEARNERS
from obliquetd.learners.listing import entry

README = Path(__file__).parents[1] / "README.md"


def learners():
    rows = [
        "| learner | on the command line | numbers | converges to | exact | source |",
        "|---|---|---|---|---|---|",
    ]
    for found in map(entry, LEARNERS.values()):
        numbers = ", ".join(f"`{p.name}={p.default}`" for p in found.numbers)
        rows.append(
            f"| `{found.name}` | `{found.key}` | {numbers} | {found.solves} | {found.exact} | {found.source} |"
        )
    return rows


def formats():
    rows = ["| ending | what it is | written | holds |", "|---|---|---|---|"]
    for found in FORMATS.values():
        whole = "a whole problem" if found.holds else "the MDP"
        written = "yes" if found.write else "no"
        rows.append(f"| `{found.ending}` | {found.summary} | {written} | {whole} |")
    return rows


BLOCKS = {"learners": learners, "formats": formats}


def block(name, text):
    """What stands in the README between the marks of a block."""
    found = re.search(rf"<!-- made: {name} -->\n(.*?)\n<!-- end -->", text, re.DOTALL)
    assert found, f"README.md has no block {name}"
    return found


if __name__ == "__main__":
    text = README.read_text()
    for name, rows in BLOCKS.items():
        place = block(name, text)
        text = text[: place.start(1)] + "\n".join(rows()) + text[place.end(1) :]
    README.write_text(text)
