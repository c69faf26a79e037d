"""The oracle itself, and a slice of what it is asked in each run of CI."""

import ast
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from obliquetd.learners import LEARNERS, parameters
from tests.character import Character
from tests.oracle import settings
from tests.oracle.answers import Truth
from tests.oracle.cases import BY_STATE, SOME, case
from tests.oracle.linear import ONE, ZERO, charpoly, contracts, product, solve, verdict
from tests.oracle.none import Endless, Infinite, Many
from tests.oracle.questions import Held
from tests.oracle.run import first_seed, hold
from tests.oracle.settings import RULES

F = Fraction
HALF = F(1, 2)

TWO_STATE = Character(
    n=2, ends=0, actions=2,
    rows=tuple((s, a, a, ONE, F(a), ONE) for s in range(2) for a in range(2)),
    target=((ZERO, ONE), (ZERO, ONE)), behavior=((HALF, HALF), (HALF, HALF)),
    features=((ONE,), (F(2),)), discount=F(9, 10),
)  # fmt: skip
"""The two-state example of Sutton, Mahmood and White (2016), with a reward of 1 on the way to the right state."""

BY_HAND = {
    ("td", ()): (F(-1, 5), F(3, 2)),  # (1 (1 - 1.8) + 2 (2 - 1.8)) / 2
    ("td", (("lam", HALF),)): (F(1, 22), None),
    ("setd", ()): (F(2), F(10)),  # omega is 0 in the left state, 10 in the right one
    ("setd", (("cap", F(2)),)): (F(2, 5), F(2)),
    ("etd", ()): (F(17, 5), F(39, 2)),  # f = (1/2, 19/2): -8/10 / 2 + 19/2 * 4/10
    ("n-step-td", (("n", 1),)): (F(-1, 5), F(3, 2)),
    ("n-step-td", ()): (F(7, 100), None),
    ("v-trace", ()): (F(-1, 10), F(3, 4)),
    ("regularized-td", ()): (F(4, 5), F(3, 2)),
}


def test_nothing_of_what_is_held_is_imported():
    rooms = list(Path(__file__).parent.glob("*.py"))
    holding = {"cases.py", "questions.py", "run.py", Path(__file__).name}
    for path in rooms:
        if path.name in holding:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = (
                    [node.module]
                    if isinstance(node, ast.ImportFrom)
                    else [n.name for n in node.names]
                )
                for name in names:
                    assert name in {"__future__", "typing", "fractions", "collections.abc", "dataclasses",
                                    "functools", "itertools", "tests.oracle"} or name.startswith("tests.oracle.")  # fmt: skip


def test_every_learner_has_a_rule_with_its_settings():
    assert set(RULES) == set(LEARNERS)
    for key, rule in RULES.items():
        names = {p.name for p in parameters(LEARNERS[key])}
        assert names - {"clip"} == set(rule.defaults), key  # a clipped F has no affine memory
        assert set(rule.defaults) <= set(SOME) | set(BY_STATE)


@pytest.mark.parametrize(("asked", "right"), BY_HAND.items(), ids=lambda x: str(x)[:40])
def test_the_two_state_example_by_hand(asked, right):
    key, given = asked
    ((A,),), (b,) = Truth(TWO_STATE, key, dict(given)).mean
    assert right[0] == A
    assert right[1] is None or b == right[1]


def test_the_noise_of_a_table_with_one_state_by_hand():
    """A reward of 0 or 2 with chances 1/2: each update at the fixed point is r - 1, independent of the others."""
    coin = Character(
        n=1, ends=0, actions=2, rows=((0, 0, 0, ONE, ZERO, ZERO), (0, 1, 0, ONE, F(2), ZERO)),
        target=((HALF, HALF),), behavior=None, features=None, discount=ZERO,
    )  # fmt: skip
    for key in ("td", "etd", "retrace", "true-online-td", "residual-gradient"):
        truth = Truth(coin, key, {})
        assert (truth.theta, truth.noise) == ([ONE], [[ONE]])


def test_what_has_no_answer_is_told():
    assert Truth(TWO_STATE, "etd", {}).verdict == "stable"
    with pytest.raises(Infinite):
        _ = Truth(TWO_STATE, "etd", {}).noise  # gamma^2 rho^2 / 2 > 1
    forever = replace(TWO_STATE, discount=ONE)
    with pytest.raises(Endless):
        _ = Truth(forever, "td", {"lam": ONE}).mean
    same = replace(TWO_STATE, features=((ONE,), (ONE,)), discount=ONE)
    assert Truth(same, "td", {}).verdict == "nothing moves" or Truth(same, "td", {}).mean[0] == [
        [ZERO]
    ]
    with pytest.raises(Many):
        _ = Truth(same, "td", {}).theta


VERDICTS = [
    ([[1, 5], [0, 2]], "stable"),
    ([[1, 0], [0, -1]], "unstable"),
    ([[0, 1], [-1, 0]], "marginal"),
    ([[0, 1], [0, 0]], "marginal"),
    ([[3, 0, 0], [0, 0, 2], [0, -2, 0]], "marginal"),
    ([[-3, 0, 0], [0, 0, 2], [0, -2, 0]], "unstable"),
    ([[0, 1, 0, 0], [-1, 0, 1, 0], [0, 0, 0, 1], [0, 0, -1, 0]], "marginal"),
    ([[1, 1, 0, 0], [-1, 1, 0, 0], [0, 0, -1, 1], [0, 0, -1, -1]], "unstable"),
    ([], "nothing moves"),
]


@pytest.mark.parametrize(("A", "right"), VERDICTS, ids=str)
def test_verdicts_by_hand(A, right):
    assert verdict([[F(x) for x in row] for row in A]) == right


def test_the_linear_algebra_by_its_equations():
    A = [[F(1, i + 2 * j + 1) for j in range(6)] for i in range(6)]
    p, power, total = charpoly(A), [[F(i == j) for j in range(6)] for i in range(6)], None
    for c in reversed(p):  # Cayley and Hamilton
        term = [[c * x for x in row] for row in power]
        total = term if total is None else [[x + y for x, y in zip(*rows, strict=True)]
                                            for rows in zip(total, term, strict=True)]  # fmt: skip
        power = product(A, power)
    assert not any(x for row in total for x in row)
    x = solve([{j: v for j, v in enumerate(row) if v} for row in A], [[F(i)] for i in range(6)])
    assert product(A, x) == [[F(i)] for i in range(6)]
    assert contracts([{1: F(9)}, {0: F(1, 10)}])
    assert not contracts([{1: F(10)}, {0: F(1, 10)}])


@pytest.mark.parametrize("key", sorted(RULES))
def test_every_learner_on_small_problems(key):
    said = []
    held = Held(said.append)
    for seed in (2, 4):
        hold(held, case(first_seed(f"{key} {seed}"), key, most_states=3))
    assert not said, said
    assert held.tried["exact A"] == 2


def test_a_wrong_rule_is_noticed(monkeypatch):
    """TD held against the rule of residual gradients: most answers differ, and are said to."""
    wrong = replace(
        settings.RULES["td"], step=settings.rules.residual_gradient, memory=lambda d, p: 0
    )
    monkeypatch.setitem(settings.RULES, "td", wrong)
    said = []
    held = Held(said.append)
    for seed in range(4):
        hold(held, case(seed, "td", most_states=3))
    assert {"exact A", "float A"} <= set(held.wrong)
    assert len(said) == sum(held.wrong.values()) > 8
