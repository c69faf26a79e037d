"""From a template to a page, and from a page to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from obliquetd.display import MADE_BY, visible
from obliquetd.errors import InputError
from obliquetd.experiments.results import version_of
from obliquetd.experiments.store import write_atomically
from obliquetd.report.formulas import prose

__all__ = ["render", "write_page"]


def render(template: str, package: str = "obliquetd.report", **values: Any) -> str:
    """A template of a package as HTML text; it may extend those of the reports."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(name) for name in dict.fromkeys((package, "obliquetd.report"))]
    environment = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_finalize,
    )  # fmt: skip
    environment.filters["prose"] = prose
    made_by = f"{MADE_BY} {version_of('obliquetd')}"
    return environment.get_template(template).render(made_by=made_by, **values)


def _finalize(value: Any) -> Any:
    """What is no markup becomes text without control characters; jinja escapes the rest."""
    return value if isinstance(value, Markup) else visible(value)


def write_page(text: str, path: str | Path) -> Path:
    """Write a page; InputError where the place cannot be written."""
    target = Path(path)
    if target.is_dir():
        raise InputError(
            f"{target} is a folder; give a file name, such as {target / 'report.html'}"
        )
    write_atomically(target, lambda file: file.write(text.encode("utf-8")))
    return target
