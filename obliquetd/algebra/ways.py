"""How a number or a function says that it chooses between two ways to one answer.

>>> FEW: Way[int] = 64

is a size up to which one way is taken and beyond which another, and a function whose result is ``Way[bool]`` or
``Way[... | None]`` chooses by a yes, or leaves the answer to another way by None. At run time the annotation is
nothing. The tests read all of them from the code, force each both ways on the same problems, and compare every answer,
number by number; a way that no such problem reaches fails there.
"""

from typing import Annotated, TypeVar

__all__ = ["Way"]

T = TypeVar("T")
Way = Annotated[T, "chooses between ways to one answer"]
