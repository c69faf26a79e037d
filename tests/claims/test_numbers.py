"""The numbers of claims that the documents print are those of the claims."""

import re
from pathlib import Path

import pytest

from obliquetd.claims import REGISTRY, tally

ROOT = Path(__file__).parents[2]


def test_the_first_screen_counts_the_claims(results):
    text = (ROOT / "README.md").read_text()
    for origin, verdicts in tally(results.values()).items():
        whose = "of the paper" if origin == "paper" else "of ours"
        told = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items())
        assert f"\n{sum(verdicts.values())} claims {whose}: {told}\n" in text


@pytest.mark.parametrize(
    "path", ["README.md", *sorted(p.name for p in (ROOT / "tutorials").glob("*.py"))]
)
def test_no_document_prints_another_number_of_claims(path):
    file = ROOT / path if path == "README.md" else ROOT / "tutorials" / path
    allowed = {len(REGISTRY), *(sum(c.origin == o for c in REGISTRY) for o in ("paper", "ours"))}
    for number in re.findall(r"(\d+) claims", file.read_text()):
        assert int(number) in allowed, f"{path} speaks of {number} claims"
