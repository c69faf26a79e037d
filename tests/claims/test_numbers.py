"""The numbers of claims that the documents print are those of the claims."""

import re
from pathlib import Path

from obliquetd.claims import REGISTRY, tally

ROOT = Path(__file__).parents[2]


def test_the_first_screen_counts_the_claims(results):
    text = (ROOT / "README.md").read_text()
    for origin, verdicts in tally(results.values()).items():
        whose = "of the paper" if origin == "paper" else "of ours"
        told = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items())
        assert f"\n{sum(verdicts.values())} claims {whose}: {told}\n" in text


def test_the_first_screen_prints_no_other_number_of_claims():
    allowed = {len(REGISTRY), *(sum(c.origin == o for c in REGISTRY) for o in ("paper", "ours"))}
    found = re.findall(r"(\d+) claims", (ROOT / "README.md").read_text())
    assert {int(number) for number in found} <= allowed
