"""Every problem of a small family, judged exactly for every learner.

``otd.atlas(states, features)`` is :func:`build`; ``otd.atlas.load`` reads a folder that it wrote. The way is

===================  =================================================================
``family``           the problems, one for each orbit of the symmetries
``tables``           each learner's own rule, run exactly on every pair of feature vectors
``expected``         A of many problems at once, by looking it up and adding
``verdicts``         the package's verdict, from characteristic polynomials in integers
``integers``         arrays with a bound on each entry, so that no number overflows
``storage``          Parquet files; ``questions`` what can be asked
===================  =================================================================

Examples
--------
>>> import obliquetd as otd
>>> atlas = otd.atlas(2, 1, largest=1, learners=[otd.TD(), otd.SETD()], workers=1)
>>> atlas.count("TD stable"), len(atlas)
(32, 32)
"""

import sys
import types
from typing import Any

from obliquetd.atlas.atlas import Atlas, Found
from obliquetd.atlas.build import DEFAULT, build, load
from obliquetd.atlas.family import Family

__all__ = ["DEFAULT", "Atlas", "Family", "Found", "build", "load"]


class Room(types.ModuleType):
    """The module itself, which can be called as :func:`build`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Atlas:
        """The same as :func:`build`."""
        return build(*args, **kwargs)


sys.modules[__name__].__class__ = Room
