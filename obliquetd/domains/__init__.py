"""Ready-made problems."""

from obliquetd.domains.baird import baird_star
from obliquetd.domains.random_problem import random_mdp, random_problem
from obliquetd.domains.two_state import two_state

__all__ = ["baird_star", "random_mdp", "random_problem", "two_state"]
