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

What a family says is proved for that family, and a conjecture for all others. The families here have
features that are integers up to a size, a deterministic target, and off-policy uniform weights xi.

* *TD and SETD are never both unstable.* So it is for 3 states, 2 features up to 2 and the discount 9/10 (405,648
  problems). With features up to 3 it is false (96 of 3,131,136), at the discount 99/100 as well (3,936 of 405,648), and
  on 4 states with features of -1, 0 and 1 (1,152 of 1,597,440).
* *On-policy every learner of the paper but SETD is stable.* So it is for 3 states, 2 features up to 2: SETD is unstable in 1,200
  of 30,048 problems. Of TD and ETD it is proved for all problems.
* *GTD2 is marginal only where TD is.* So it is for 3 states and features up to 2. It is proved in general that GTD2 is stable
  where A is non-singular.
* *GTD2 and TDC, with mu = 1, are stable on the same problems.* So it is there. With uniform weights it is proved for a discount
  below 2 over the square root of the number of states: then C + (A + A')/2 is positive definite.

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
