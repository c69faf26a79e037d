"""Exploration: one page with a slider for each symbol, on which the closed forms move the picture."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obliquetd.exploration.page import Exploration, explore

__all__ = ["Exploration", "explore"]


if not TYPE_CHECKING:  # or a type checker would take every name for anything

    def __getattr__(name: str) -> Any:
        """The names of :mod:`obliquetd.exploration.page`, which is read when one of them is used."""
        if name in __all__:
            from obliquetd.exploration import page

            return getattr(page, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
