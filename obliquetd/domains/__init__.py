"""Ready-made problems."""

from obliquetd.domains.baird import baird_star
from obliquetd.domains.two_state import two_state

__all__ = ["baird_star", "two_state"]
