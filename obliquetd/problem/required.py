"""Whether a problem came where one is needed."""

from __future__ import annotations

from typing import Any

from obliquetd.errors import InputError
from obliquetd.mdp import MDP
from obliquetd.problem.evaluation import PolicyEvaluation

__all__ = ["require_problem"]


def require_problem(value: Any) -> PolicyEvaluation:
    """The problem itself.

    Raises
    ------
    InputError
        For anything else: a model alone, a name, a function that was not called.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> require_problem(two_state()).states
    ('left', 'right')
    """
    if isinstance(value, PolicyEvaluation):
        return value
    if isinstance(value, MDP):
        way_out = "an MDP says no policy; PolicyEvaluation(mdp, target=..., discount=...) does"
    elif isinstance(value, str):
        way_out = f"a model file is read by otd.load_model({value!r})"
    elif callable(value):
        way_out = "a function has to be called, as in otd.domains.two_state()"
    else:
        way_out = "otd.PolicyEvaluation, otd.load_model and otd.domains make one"
    raise InputError(f"{_shown(value)} is no problem; {way_out}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
