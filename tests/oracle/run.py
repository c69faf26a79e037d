"""Hold the package against the oracle: ``python -m tests.oracle.run COUNT SEED``.

The seed is a number, or any text, such as a commit; the figure is printed last, and the exit status is 1 where anything was
wrong or refused that the oracle answers. A single case is run again with ``--only SEED``, the number that its line names;
``--seed TEXT`` prints the number that a text stands for.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Sequence

from tests.oracle.cases import Case, case
from tests.oracle.none import Undefined
from tests.oracle.questions import Held


def first_seed(text: str) -> int:
    """A number as it is; of any other text, a number that follows from it."""
    if text.isdigit() and len(text) < 12:
        return int(text)
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def hold(held: Held, one: Case) -> None:
    """All that is asked of one case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if one.points:
                held.symbol(one)
                one = one.at(one.points[0])
            held.numbers(one)
            held.numbers(one, float)
        except Undefined:
            return
        except Exception as error:
            held.fault("case failed", one.where, type(error).__name__, error)


def main(arguments: Sequence[str]) -> int:
    what, seed = arguments[0], first_seed(arguments[1])
    if what == "--seed":
        print(seed)
        return 0
    seeds = range(seed, seed + (1 if what == "--only" else int(what)))
    held = Held(lambda line: print(line, flush=True))
    for number in seeds:
        hold(held, case(number))
    print(f"{held.told()}; {len(seeds)} problems from seed {seed}")
    return int(bool(held.wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
