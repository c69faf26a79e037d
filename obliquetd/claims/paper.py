"""The claims, registered in the order of the paper by importing them in it."""

# ruff: noqa: F401, I001
from obliquetd.claims import projections
from obliquetd.claims import best
from obliquetd.claims import existence
from obliquetd.claims import criterion
from obliquetd.claims import rank_one
from obliquetd.claims import weights
from obliquetd.claims import estimates
from obliquetd.claims import rho
from obliquetd.claims import traces
from obliquetd.claims import emphatic
from obliquetd.claims import order
from obliquetd.claims import two_state
from obliquetd.claims import table_one
from obliquetd.claims import sampled
from obliquetd.claims import stability
from obliquetd.claims import dissipation
from obliquetd.claims import stable_learners
from obliquetd.claims import emphasis_window
from obliquetd.claims import gradient
from obliquetd.claims import smallest
from obliquetd.claims import noise
from obliquetd.claims import noise_on_boyan
from obliquetd.claims import experiments
