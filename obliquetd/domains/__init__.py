"""Ready-made problems: the paper's, and the field's other standards."""

from obliquetd.domains.baird import baird_star
from obliquetd.domains.chains import boyan_chain, collision, corrupted_chain, random_walk
from obliquetd.domains.counterexamples import kolter, w_to_2w
from obliquetd.domains.dense_random import dense_random_mdp
from obliquetd.domains.four_rooms import four_rooms
from obliquetd.domains.mountain_car import MountainCar
from obliquetd.domains.random_problem import random_mdp, random_problem
from obliquetd.domains.two_state import two_state

__all__ = [
    "MountainCar",
    "baird_star",
    "boyan_chain",
    "collision",
    "corrupted_chain",
    "dense_random_mdp",
    "four_rooms",
    "kolter",
    "random_mdp",
    "random_problem",
    "random_walk",
    "two_state",
    "w_to_2w",
]
