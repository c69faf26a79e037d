"""Every picture. Each function takes and returns matplotlib Axes and sets nothing global."""

from obliquetd.plotting.curves import learning_curves, sensitivity
from obliquetd.plotting.style import COLORS

__all__ = ["COLORS", "learning_curves", "sensitivity"]
