"""Gymnasium's toy-text environments by name."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from obliquetd.errors import InputError, how_to_install
from obliquetd.formats.format import Contents, known_fields
from obliquetd.formats.model import evaluation
from obliquetd.mdp import MDP
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
        As for :func:`obliquetd.load_model`.

    Raises
    ------
    InputError
        Where gymnasium is not installed, or makes no such environment.
    """
    try:
        import gymnasium
    except ImportError:
        raise InputError(
            "models named gym:NAME need the package gymnasium, which is not installed; "
            + how_to_install("gymnasium>=1.0", "gym")
        ) from None
    reading, chosen = known_fields(fields, where=f"gym:{name}", chooses_reward=False)
    plain, _, query = name.partition("?")
    options = {k: _value(v) for k, v in parse_qsl(query, keep_blank_values=True)}
    try:
        env = gymnasium.make(plain, **options)
    except Exception as error:  # gymnasium raises many kinds, also from the environment itself
        raise InputError(f"gymnasium makes no {name!r}: {error}") from None
    try:
        mdp = MDP.from_gymnasium(env, **reading.checks)
    finally:
        env.close()
    if reading.terminal:
        mdp = reading.mdp(mdp.transitions, states=mdp.states, actions=mdp.actions)
    return evaluation(Contents(mdp), chosen, reading)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
