"""A problem as plain data, ready for JSON: what model files hold, and certificates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from obliquetd.algebra import parse_number, public_number, serial_number
from obliquetd.mdp import Policy
from obliquetd.mdp.imports import check_json_labels
from obliquetd.problem.evaluation import PolicyEvaluation
from obliquetd.problem.required import require_problem

__all__ = ["model_to_dict"]


def model_to_dict(problem: PolicyEvaluation) -> dict[str, Any]:
    """A JSON-ready model from which the same problem is read back."""
    mdp = require_problem(problem).mdp
    check_json_labels((*mdp.states, *mdp.actions))
    given, scalar, public = (
        problem.inputs,
        problem.native.arithmetic.scalar,
        problem.native.arithmetic.public,
    )

    def texts(numbers: Iterable[Any]) -> list[Any]:
        return [serial_number(public(scalar(x))) for x in numbers]

    data: dict[str, Any] = {
        **mdp.to_dict(),
        "discount": serial_number(problem.discount),
        "target": _policy_rows(problem.target),
    }
    if given.behavior is not None:
        data["behavior"] = _policy_rows(given.behavior)
    if given.features is not None:
        data["features"] = [
            [serial_number(public_number(x)) for x in row] for row in given.features
        ]
    if given.xi is not None:
        data["xi"] = given.xi if isinstance(given.xi, str) else texts(given.xi)
    if given.start is not None:
        begins, zero = mdp.states if given.start.chooses else problem.states, parse_number(0)
        data["start"] = texts(given.start.chances.get(x, zero) for x in begins)
    if given.places.late:
        data["over"] = given.places.over
    data["arithmetic"] = problem.arithmetic
    return data


def _policy_rows(policy: Policy) -> list[list[Any]]:
    return [[s, a, serial_number(p)] for s in policy for a, p in policy[s].items()]
