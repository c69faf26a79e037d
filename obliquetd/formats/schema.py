"""The JSON Schema of model files, for editors and for other programs."""

from __future__ import annotations

from typing import Any

from obliquetd.problem.places import OVER

__all__ = ["MODEL_SCHEMA"]

_NUMBER: dict[str, Any] = {
    "description": "A number, or text such as '9/10', '0.9' or 'gamma*p', which stays exact.",
    "anyOf": [{"type": "number"}, {"type": "string", "minLength": 1}],
}
_LABEL: dict[str, Any] = {
    "description": "Text, a number, or a list of those (a tuple).",
    "anyOf": [
        {"type": ["string", "number"]},
        {"type": "array", "items": {"$ref": "#/$defs/label"}},
    ],
}
_ROW: dict[str, Any] = {
    "anyOf": [
        {
            "description": "[state, action, next_state, probability, reward] or with a discount.",
            "type": "array",
            "prefixItems": [
                *({"$ref": "#/$defs/label"} for _ in range(3)),
                *({"$ref": "#/$defs/number"} for _ in range(3)),
            ],
            "items": False,
            "minItems": 5,
        },
        {
            "type": "object",
            "properties": {
                **{name: {"$ref": "#/$defs/label"} for name in ("state", "action", "next_state")},
                **{
                    name: {"$ref": "#/$defs/number"}
                    for name in ("probability", "reward", "discount")
                },
            },
            "required": ["state", "action", "next_state", "probability", "reward"],
            "additionalProperties": False,
        },
    ],
}
_POLICY: dict[str, Any] = {
    "description": "'uniform', {state: {action: probability}}, {state: action}, or "
    "[[state, action, probability], ...].",
    "anyOf": [
        {"const": "uniform"},
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/number"}},
                    {"$ref": "#/$defs/label"},
                ]
            },
        },
        {
            "type": "array",
            "items": {
                "type": "array",
                "prefixItems": [
                    {"$ref": "#/$defs/label"},
                    {"$ref": "#/$defs/label"},
                    {"$ref": "#/$defs/number"},
                ],
                "items": False,
                "minItems": 3,
            },
        },
    ],
}
_VECTOR = {"type": "array", "items": {"$ref": "#/$defs/number"}}
_LABELS = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/label"}}]}

MODEL_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "obliquetd model",
    "description": "A finite MDP with two policies, features, a discount and state weights.",
    "type": "object",
    "required": ["transitions"],
    "additionalProperties": False,
    "properties": {
        "transitions": {"type": "array", "items": {"$ref": "#/$defs/row"}, "minItems": 1},
        "states": {"description": "An order of the states.", **_LABELS},
        "actions": {"description": "An order of the actions.", **_LABELS},
        "terminal": {"description": "States whose rewardless self-loops are taken out.", **_LABELS},
        "discount": {"$ref": "#/$defs/number"},
        "gamma": {"description": "Another name for discount.", "$ref": "#/$defs/number"},
        "target": {"$ref": "#/$defs/policy"},
        "policy": {"description": "Another name for target.", "$ref": "#/$defs/policy"},
        "behavior": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/policy"}]},
        "over": {
            "description": "What features and xi are by: 'states', or 'pairs' (state, action), whose "
            'keys are their text, \'["s", "go"]\'.',
            "enum": [None, *OVER],
        },
        "features": {
            "description": "{state: vector}, or a list of rows in the order of the states.",
            "anyOf": [
                {"type": "null"},
                {"type": "object", "additionalProperties": _VECTOR},
                {"type": "array", "items": _VECTOR},
            ],
        },
        "xi": {
            "description": "{state: weight}, a list of weights, or 'occupancy'.",
            "anyOf": [
                {"type": "null"},
                {"const": "occupancy"},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/number"}},
                _VECTOR,
            ],
        },
        "start": {
            "description": "{state: probability}, or a list: where episodes begin anew.",
            "anyOf": [
                {"type": "null"},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/number"}},
                _VECTOR,
            ],
        },
        "arithmetic": {"enum": [None, "exact", "symbolic", "float"]},
        "title": {},
    },
    "$defs": {"number": _NUMBER, "label": _LABEL, "row": _ROW, "policy": _POLICY},
}
"""JSON Schema, draft 2020-12; ``obliquetd schema`` prints it."""
