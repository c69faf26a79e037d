"""Every picture. Each function takes and returns matplotlib Axes and sets nothing global."""

from obliquetd.plotting.curves import learning_curves, sensitivity
from obliquetd.plotting.fields import vector_field
from obliquetd.plotting.geometry import projections
from obliquetd.plotting.graph import mdp_graph
from obliquetd.plotting.regions import stability_regions, stability_regions_2d
from obliquetd.plotting.spectrum import eigenvalues
from obliquetd.plotting.style import COLORS

__all__ = [
    "COLORS",
    "eigenvalues",
    "learning_curves",
    "mdp_graph",
    "projections",
    "sensitivity",
    "stability_regions",
    "stability_regions_2d",
    "vector_field",
]
