"""Mutants that change no answer, by module and name, each with the reason why."""

EQUIVALENT: dict[str, dict[str, str]] = {}
