"""Exploration: one page with a slider for each symbol, on which the closed forms move the picture."""

from typing import Any

__all__ = ["Exploration", "explore"]


def __getattr__(name: str) -> Any:
    """The names of :mod:`obliquetd.exploration.page`, which is read when one of them is used."""
    if name in __all__:
        from obliquetd.exploration import page

        return getattr(page, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
