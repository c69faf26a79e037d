"""Published bounds held against the truth, which says how loose each is on a problem of your own.

========================  ====================================================================
:mod:`.setting`           what theorems speak of, computed: kappa, omega, the fixed point, ...
:mod:`.hypotheses`        what theorems require, as data
:mod:`.bound`             one theorem on one problem
:mod:`.squared_errors`    the exact curve
:mod:`.theorems`          one file a kind of theorem, and the one list of them
========================  ====================================================================
"""

from obliquetd.dynamics.bounds.bound import Bound, Curve
from obliquetd.dynamics.bounds.hypotheses import Hypothesis
from obliquetd.dynamics.bounds.overlay import Bounds, bounds

__all__ = ["Bound", "Bounds", "Curve", "Hypothesis", "bounds"]
