"""Inner products of many rows at a time against a loop over their entries."""

from fractions import Fraction

import numpy as np
import pytest

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.algebra.factors import Factored
from obliquetd.dynamics import columns
from obliquetd.dynamics.rounded_columns import datum


def floats(rng, n=6, d=5):
    P = rng.dirichlet(np.ones(n), size=n)
    mdp = MDP.from_arrays([P], rng.normal(size=n))
    features = rng.normal(size=(n, d))
    features[1] = features[0] * (1 + 1e-9)  # what a gap leaves of these has few digits
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=features, discount=0.9)


@pytest.mark.parametrize("stretch", [1, 12, 10**6])
def test_entries_are_added_one_by_one_and_the_bounds_hold(stretch, monkeypatch):
    """Of phi - g phi' with itself and with phi: the floats of a loop, and the exact sums within the bounds."""
    monkeypatch.setattr(columns, "STRETCH", stretch)
    rng = np.random.default_rng(0)
    ops = floats(rng).native
    places = {"s": np.repeat(np.arange(6), 6), "n": np.tile(np.arange(6), 6)}
    made = columns.columns_of(ops, places)
    for g in (datum([0.9]), datum(rng.random(36)), datum([1.0])):
        now, late = (("features", "now", x) for x in ("s", "n"))
        phi = [(now, made.constant(1))]
        gap = [*phi, (late, -g)]
        for u, v in ((gap, phi), (gap, gap), (phi, phi)):
            found = made.dots(u, v)
            for k, (s, t) in enumerate(zip(*places.values(), strict=True)):
                by = float(g.value[k if len(g) > 1 else 0])
                rows = [[float(x) for x in ops.Phi.dense()[i]] for i in (s, t)]
                left, right = (_combined(rows, by, x is gap) for x in (u, v))
                total = 0.0
                for a, b in zip(left, right, strict=True):
                    total += a * b
                assert total == found.value[k]
                exact = [[Fraction(x) for x in row] for row in rows]
                left, right = (_combined(exact, Fraction(by), x is gap) for x in (u, v))
                true = sum(a * b for a, b in zip(left, right, strict=True))
                assert abs(float(true - Fraction(total))) <= found.error[k]


def _combined(rows, by, gap):
    return [a - by * b for a, b in zip(*rows, strict=True)] if gap else rows[0]


def test_growths_of_columns_are_those_of_each():
    """Hager's estimate of the columns together, one that is 0 and one that settles late among them."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(70, 70)) + 9 * np.eye(70)
    weights = np.abs(rng.normal(size=(70, 6)))
    weights[:, 2] = 0.0
    weights[3, 4] = 1e6
    factored = Factored.of(A)
    together = factored.largest_growths(weights)
    alone = [factored.largest_growth(w) for w in weights.T]
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    true = (np.abs(np.linalg.inv(A)) @ weights).max(axis=0)
    assert (together <= true * (1 + 1e-12)).all()
    assert (together >= 0.5 * true).all()
