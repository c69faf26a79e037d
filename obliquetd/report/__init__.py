"""Reports as single HTML files."""

from typing import Any

__all__ = ["card_page", "claims_page", "model_page", "write_page"]


def __getattr__(name: str) -> Any:
    """The functions of :mod:`obliquetd.report.page`, which the analysis of a model does not need."""
    if name in __all__:
        from obliquetd.report import page

        return getattr(page, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
