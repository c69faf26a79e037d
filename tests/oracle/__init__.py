"""An oracle in plain fractions: what every learner does on a problem of numbers, by its rule as published.

Nothing of the package, nothing of sympy, and no linear algebra but what :mod:`tests.oracle.linear` writes out.
:mod:`tests.oracle.run` holds the package's answers against it.
"""
