"""Every exception and warning that the package raises on purpose.

Two families, one root. :class:`InputError` says that what came in cannot be
right; :class:`MathematicalError` says that the input is fine and the quantity
that was asked for does not exist, or is not unique. Each message names the
culprit, its value, what was expected and the way out; the structured facts
(labels, null vectors, partial answers) are attributes, so that nothing already
computed is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = [
    "BackendError",
    "ConvergenceError",
    "CoverageError",
    "DiscountError",
    "EpisodesEndError",
    "FeatureError",
    "FormatWarning",
    "HypothesisError",
    "InputError",
    "KindError",
    "LabelError",
    "LearnerError",
    "LongWorkWarning",
    "MathematicalError",
    "ModelFileError",
    "NoSolutionError",
    "NotUniqueError",
    "NumberError",
    "ObliqueTDError",
    "PrecisionWarning",
    "ProbabilityError",
    "ResultsError",
    "SignUndecidedError",
    "SingularError",
    "SizeError",
    "StationaryError",
    "UndefinedError",
    "UndiscountedError",
    "UnstableError",
]


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """The question whether a near name was meant, with a blank behind it; "" where none is near.

    Examples
    --------
    >>> did_you_mean("TDD", ["td", "setd"]), did_you_mean("sarsa", ["td"])
    ("did you mean 'td'? ", '')
    """
    import difflib

    by_text = {str(x).lower(): x for x in known}
    near = difflib.get_close_matches(str(name).lower(), by_text, 1, 0.6)
    return f"did you mean {by_text[near[0]]!r}? " if near else ""


def how_to_install(requirement: str, extra: str) -> str:
    """How to come by a package that an extra asks for, in an environment and in a clone.

    Examples
    --------
    >>> how_to_install("pandas>=2.2", "frames")
    "install it with pip install 'pandas>=2.2', or in a clone of obliquetd with pip install -e '.[frames]'"
    """
    return (
        f"install it with pip install '{requirement}', or in a clone of obliquetd with "
        f"pip install -e '.[{extra}]'"
    )


class ObliqueTDError(Exception):
    """Root of every error that obliquetd raises on purpose; survives pickle with its attributes."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception calls the class with args alone; many of these need more than a message.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[ObliqueTDError], args: tuple[Any, ...], facts: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(facts)
    return error


class InputError(ObliqueTDError, ValueError):
    """What came in cannot be right."""


class NumberError(InputError):
    """Not a number the package can use: NaN, infinite, ``"1/0"``, a stray word."""


class KindError(InputError):
    """Exact, symbolic and floating numbers were mixed without saying how."""


class LearnerError(InputError):
    """A rule that is not what a learner has to be, or a class where a learner was meant."""


class ProbabilityError(InputError):
    """Probabilities that are negative, above one, or do not sum to one.

    Attributes
    ----------
    total : object
        The sum that was found, or the offending probability.
    state, action : hashable or None
        Where it was found.
    """

    def __init__(
        self, message: str, *, state: Any = None, action: Any = None, total: Any = None
    ) -> None:
        super().__init__(message)
        self.state, self.action, self.total = state, action, total


class LabelError(InputError, KeyError):
    """A state or action that the MDP does not have, or one that is missing."""

    def __str__(self) -> str:
        # KeyError shows repr(args[0]); a sentence should be shown as a sentence.
        return str(self.args[0])


class FeatureError(InputError):
    """Feature rows that are missing, ragged, or of the wrong number."""


class DiscountError(InputError):
    """A discount outside [0, 1]."""


class CoverageError(InputError):
    """The target takes an action that the behaviour policy never takes.

    Attributes
    ----------
    pairs : tuple of (state, action)
        Every uncovered pair.
    """

    def __init__(self, message: str, pairs: Sequence[tuple[Any, Any]]) -> None:
        super().__init__(message)
        self.pairs = tuple(pairs)


class SizeError(InputError):
    """The problem is too large for the arithmetic that was asked for."""


class ModelFileError(InputError):
    """A model file that cannot be read; the message gives the path inside it."""


class ResultsError(InputError):
    """A results folder that cannot be used: unreadable, unwritable, or of another experiment.

    Attributes
    ----------
    path : str
        The file or folder.
    """

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


class BackendError(InputError):
    """Workers that cannot be reached, or that keep dying; finished tasks are kept."""


class MathematicalError(ObliqueTDError, ArithmeticError):
    """The input is fine, but the quantity does not exist or is not unique."""


class StationaryError(MathematicalError):
    """The chain has several recurrent classes, so no unique stationary distribution.

    Attributes
    ----------
    classes : tuple of tuple
        The state labels of each closed class.
    """

    def __init__(self, message: str, classes: Sequence[Sequence[Any]]) -> None:
        super().__init__(message)
        self.classes = tuple(tuple(c) for c in classes)


class EpisodesEndError(StationaryError):
    """Episodes end and never begin anew, so that stationary weights sit on terminal states.

    The way out is ``PolicyEvaluation(..., start={state: probability})``, or weights ``xi``.
    """


class UndiscountedError(MathematicalError):
    """Discount 1 on a closed class that never terminates: the return is infinite.

    Attributes
    ----------
    classes : tuple of tuple
        The closed classes without a way out.
    values : dict
        The values of the states that never enter such a class; they are finite.
    """

    def __init__(
        self, message: str, classes: Sequence[Sequence[Any]], values: Mapping[Any, Any]
    ) -> None:
        super().__init__(message)
        self.classes = tuple(tuple(c) for c in classes)
        self.values = dict(values)


class SingularError(MathematicalError):
    """A matrix that has to be invertible is not.

    Attributes
    ----------
    null_vector : object or None
        A vector that the matrix sends to zero, in the public number kind.
    """

    def __init__(self, message: str, null_vector: Any = None) -> None:
        super().__init__(message)
        self.null_vector = null_vector


class NotUniqueError(SingularError):
    """The equation has more than one solution, and the values differ."""


class NoSolutionError(SingularError):
    """The equation has no solution at all."""


class UndefinedError(MathematicalError):
    """A formula divides by zero at the named states.

    Attributes
    ----------
    states : tuple
        The labels of those states.
    """

    def __init__(self, message: str, states: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.states = tuple(states)


class HypothesisError(MathematicalError):
    """A theorem says nothing here: one of its hypotheses fails.

    Attributes
    ----------
    theorem : str
        The name of the bound that was asked for.
    hypothesis : str
        The name of the hypothesis that fails.
    value : object
        What was found where it requires something else.
    """

    def __init__(self, message: str, theorem: str, hypothesis: str, value: Any) -> None:
        super().__init__(message)
        self.theorem, self.hypothesis, self.value = theorem, hypothesis, value


class UnstableError(MathematicalError):
    """The question is about weights that stay near the fixed point, and these do not.

    Attributes
    ----------
    verdict : str
        "unstable" or "marginal".
    """

    def __init__(self, message: str, verdict: str) -> None:
        super().__init__(message)
        self.verdict = verdict


class SignUndecidedError(MathematicalError):
    """A sign depends on the value of a symbol, so the question has no one answer.

    Attributes
    ----------
    expression : object
        The expression whose sign decides.
    factor : object
        The irreducible polynomial in it whose sign is not known, where there is one.
    """

    def __init__(self, message: str, expression: Any = None, factor: Any = None) -> None:
        super().__init__(message)
        self.expression, self.factor = expression, factor


class ConvergenceError(MathematicalError):
    """An iteration for a large sparse problem of floats did not come to an answer that holds.

    Attributes
    ----------
    residual : float or None
        How far it came, in the units that the message names.
    """

    def __init__(self, message: str, residual: float | None = None) -> None:
        super().__init__(message)
        self.residual = residual


class PrecisionWarning(UserWarning):
    """A floating-point solve kept few correct digits; the message says how many."""


class LongWorkWarning(UserWarning):
    """What was begun will take many minutes; the message says how many, and what makes it shorter."""


class FormatWarning(UserWarning):
    """A file was written in a format that does not keep all of the problem; names what it leaves."""
