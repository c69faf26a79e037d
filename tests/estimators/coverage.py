"""How often the intervals of a log hold the truth: the table of the documentation.

    python -m tests.estimators.coverage [--runs 1000] [--seed 0] [--level 0.95]

Each setting draws as many logs of a chain with a known answer, asks for the intervals of each, and counts, weight by
weight, how many logs were refused and how many intervals of the others held the answer. That is some minutes of one
processor for 1,000 runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from obliquetd import MDP, LoggedData, PolicyEvaluation, replay
from obliquetd.errors import InputError, SingularError
from obliquetd.estimators import LSTD
from obliquetd.formats.log import Log
from obliquetd.formats.logged_steps import LoggedStep
from obliquetd.mdp import Policy

GAMMA, STOP = 0.8, 0.2
REWARD = np.array([1.0, -1, 2])
PHI = np.array([[1.0, 0], [0.5, 1], [0, 1]])
FAST = np.array([[0.1, 0.9, 0], [0.2, 0.3, 0.5], [0.6, 0, 0.4]])
OTHER = np.array([[0.4, 0.6, 0], [0.6, 0.3, 0.1], [0.3, 0, 0.7]])
"""What a target policy would do where ``FAST`` is what the behaviour does: each move is an action."""
SLOW = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
ROUND = 0.9 * np.eye(3) + 0.1 * np.roll(np.eye(3), 1, axis=1)
RATIO = np.divide(OTHER, FAST, out=np.ones((3, 3)), where=FAST > 0)


def moves(P: Any, steps: int, rng: np.random.Generator, s: int) -> Any:
    """The states of a walk."""
    sums, found = P.cumsum(axis=1).tolist(), [s]
    for u in rng.random(steps).tolist():
        a, b, _ = sums[found[-1]]
        found.append((u >= a) + (u >= b))
    return np.array(found)


def trajectory(P: Any, steps: int, rng: np.random.Generator) -> LoggedData:
    """One walk, from its stationary distribution on, with noise in the rewards."""
    xi = np.linalg.matrix_power(P, 1000)[0]
    s = moves(P, steps, rng, int(rng.choice(3, p=xi / xi.sum())))
    reward = REWARD[s[:-1]] + rng.normal(size=steps)
    return LoggedData(PHI[s[:-1]], PHI[s[1:]], reward, GAMMA)


def episodes(
    count: int, rng: np.random.Generator, P: Any = FAST, stop: float = STOP, ratio: Any = None
) -> LoggedData:
    """Walks from state 0 that end after each row with chance ``stop``, undiscounted."""
    before, after, lengths = [], [], rng.geometric(stop, size=count)
    for length in lengths.tolist():
        s = moves(P, length, rng, 0)
        before.append(s[:-1])
        after.append(s[1:])
    s, t = np.concatenate(before), np.concatenate(after)
    last = np.zeros(len(s), dtype=bool)
    last[lengths.cumsum() - 1] = True
    first = np.concatenate([[True], last[:-1]])
    reward = REWARD[s] + rng.normal(size=len(s))
    rho = {} if ratio is None else {"rho": ratio[s, t]}
    return LoggedData(PHI[s], PHI[t], reward, 1.0 - last, first=first, **rho)


def limit(P: Any, stop: float | None = None, lam: float = 0.0, target: Any = None) -> Any:
    """The weights that infinite data leads to, from the definition: A = Phi' Xi (I - lam G)^-1 (I - G) Phi."""
    goes_on = GAMMA if stop is None else 1 - stop
    G = goes_on * (P if target is None else target)
    if stop is None:
        xi = np.linalg.matrix_power(P, 1000)[0]
    else:  # how often each state is visited in an episode from state 0
        xi = np.linalg.solve((np.eye(3) - goes_on * P).T, np.eye(3)[0])
    left = PHI.T @ np.diag(xi) @ np.linalg.inv(np.eye(3) - lam * G)
    return np.linalg.solve(left @ (np.eye(3) - G) @ PHI, left @ REWARD)


class Counted(NamedTuple):
    """Hits by log and number, the log's refusal in place of them where there is one."""

    hits: Any
    refused: int


@dataclass(frozen=True)
class Setting:
    """A way to draw a log, with what is asked of it and what the answer is."""

    name: str
    truth: Callable[[], Any]
    ask: Callable[[np.random.Generator, float], tuple[Any, Any]]

    def count(self, runs: int, seed: int, level: float = 0.95) -> Counted:
        """How the intervals of as many logs did; each log has a stream of its own."""
        truth, hits = self.truth(), []
        for k in range(runs):
            try:
                low, high = self.ask(np.random.default_rng([seed, k]), level)
            except (InputError, SingularError):
                continue
            hits.append((low <= truth) & (truth <= high))
        return Counted(np.array(hits), runs - len(hits))


def of_weights(draw: Callable[[np.random.Generator], LoggedData], lam: Any = 0) -> Any:
    """The question for the weights of LSTD."""

    def ask(rng: np.random.Generator, level: float) -> tuple[Any, Any]:
        found = replay(draw(rng), LSTD(lam=lam)).confidence(level)
        return found.lower, found.upper

    return ask


CHANCE, PAY = {"a": {"a": 0.7, "b": 0.3}, "b": {"a": 0.8, "b": 0.2}}, {"a": 1.0, "b": -2.0}


def model() -> Any:
    """Values and state weights of the chain that the delta method is asked about."""
    mdp = MDP.from_transitions(
        [(s, "go", t, p, PAY[t]) for s, row in CHANCE.items() for t, p in row.items()]
    )
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=GAMMA)
    return np.array([*problem.v_pi, *problem.xi], dtype=float)


def of_model(steps: int) -> Any:
    """The question for values and state weights of a model that is counted from a log."""

    def ask(rng: np.random.Generator, level: float) -> tuple[Any, Any]:
        rows, s = [], "a"
        for k, (u, noise) in enumerate(zip(rng.random(steps), rng.normal(size=steps), strict=True)):
            t = "a" if u < CHANCE[s]["a"] else "b"
            rows.append(LoggedStep(s, "go", t, PAY[t] + noise, False, k == 0, None, None, k))
            s = t
        found = Log(tuple(rows)).confidence(methods=[], discount=GAMMA, level=level)
        asked = [found.interval(x, s) for x in ("v_pi", "xi") for s in "ab"]
        return np.array([x.lower for x in asked]), np.array([x.upper for x in asked])

    return ask


SETTINGS = [
    Setting(
        "30 episodes of a slow chain",
        lambda: limit(ROUND, 0.05),
        of_weights(lambda rng: episodes(30, rng, ROUND, 0.05)),
    ),
    Setting(
        "60 episodes of a fast chain",
        lambda: limit(FAST, STOP),
        of_weights(lambda rng: episodes(60, rng)),
    ),
    Setting(
        "60 episodes off-policy, ratios up to 4, lambda 1/2",
        lambda: limit(FAST, STOP, 0.5, OTHER),
        of_weights(lambda rng: episodes(60, rng, ratio=RATIO), "1/2"),
    ),
    Setting(
        "150 rows of a slow chain",
        lambda: limit(SLOW),
        of_weights(lambda rng: trajectory(SLOW, 150, rng)),
    ),
    Setting(
        "600 rows of a slow chain",
        lambda: limit(SLOW),
        of_weights(lambda rng: trajectory(SLOW, 600, rng)),
    ),
    Setting("60 rows, values and weights of the counted model", model, of_model(60)),
]


def too_narrow(hits: Any, level: float) -> bool:
    """Whether some number was held so seldom that less than one coin of 700 with that chance falls so."""
    far = 3 * np.sqrt(level * (1 - level) / len(hits))
    return bool((hits.mean(axis=0) < level - far).any())


def table(runs: int, seed: int, level: float) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    yield from ("| log | refused | held, of the others | wrong, of all |", "|---|---|---|---|")
    for setting in SETTINGS:
        hits, refused = setting.count(runs, seed, level)
        held = hits.mean(axis=0)
        wrong = (1 - held) * len(hits) / runs
        cells = [setting.name, f"{100 * refused / runs:.1f} %"]
        cells += [", ".join(f"{100 * x:.1f}" for x in share) + " %" for share in (held, wrong)]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--level", type=float, default=0.95)
    asked = parser.parse_args()
    for line in table(asked.runs, asked.seed, asked.level):
        print(line, flush=True)
