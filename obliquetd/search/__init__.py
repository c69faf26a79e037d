"""The hunt for counterexamples."""

from obliquetd.search.search import SearchResult, find_unstable

__all__ = ["SearchResult", "find_unstable"]
