"""Markov decision processes and policies."""

from obliquetd.mdp.model import MDP, Transition
from obliquetd.mdp.policy import Policy

__all__ = ["MDP", "Policy", "Transition"]
