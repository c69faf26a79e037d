"""Gymnasium's toy-text environments by name."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["load_gym"]


def load_gym(name: str, **fields: Any) -> PolicyEvaluation:
    """The uniform policy on a toy-text environment, tabular.

    Parameters
    ----------
    name : str
        As ``gymnasium.make`` takes it; options follow a question mark, as in
        ``FrozenLake-v1?map_name=8x8&is_slippery=false``.
    **fields
        ``discount`` (default 1), ``arithmetic``.

    Raises
    ------
    InputError
        Where gymnasium is not installed, or makes no such environment.
    """
    try:
        import gymnasium
    except ImportError:
        raise InputError(
            "gym: models need gymnasium; install it with pip install 'obliquetd[gym]'"
        ) from None
    plain, _, query = name.partition("?")
    options = {k: _value(v) for k, v in parse_qsl(query, keep_blank_values=True)}
    try:
        env = gymnasium.make(plain, **options)
    except Exception as error:  # gymnasium raises many kinds, also from the environment itself
        raise InputError(f"gymnasium makes no {name!r}: {error}") from None
    mdp = MDP.from_gymnasium(env)
    env.close()
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), **fields)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
