"""Pages that are parts of README.md and CHANGELOG.md, which stand once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    "questions.md": ("What you can ask",),
    "about/experiments.md": ("The paper's experiments",),
    "about/developers.md": ("For developers",),
    "about/dependencies.md": ("Dependencies",),
    "about/sources.md": ("Sources",),
}
"""Which sections of the README make which page."""


def sections() -> dict[str, str]:
    """The text of each section of the README by its heading."""
    parts = re.split(r"^## (.+)$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def pages() -> dict[str, str]:
    """The text of each page by its path below the site's root."""
    found = sections()
    made = {}
    for path, names in PAGES.items():
        made[path] = "\n".join(f"# {name}\n{readable(found[name])}" for name in names)
    made["about/changes.md"] = (ROOT / "CHANGELOG.md").read_text()
    return made


def readable(text: str) -> str:
    """Without the marks that tools and tests look for."""
    return re.sub(r"^<!-- .*? -->\n", "", text, flags=re.MULTILINE)
