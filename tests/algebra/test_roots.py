"""Real roots by enclosures against sympy's, by signs where sympy does not end, and what they let through."""

import pickle
import random

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.algebra.roots import RealRoot, enclosures, real_roots

x = sp.Symbol("x")


def coefficients_of(f):
    return tuple(int(c) for c in f.all_coeffs()[::-1])


@pytest.mark.parametrize("seed", range(30))
def test_the_roots_near_one_are_sympys_and_so_is_their_order(seed):
    rng = random.Random(seed)
    f = sp.Poly([rng.choice([1, 2, 3]), *(rng.randint(-5, 5) for _ in range(rng.randint(3, 7)))], x)
    wanted = f.real_roots()
    found = real_roots(f)
    assert [sp.N(a - b, 20, chop=True) for a, b in zip(found, wanted, strict=True)] == [0] * len(
        wanted
    )
    for factor, _ in f.factor_list()[1]:
        if factor.degree() > 2:
            numbered = [
                RealRoot(sp.PurePoly(factor), k)
                for k in range(len(enclosures(coefficients_of(factor), 53)))
            ]
            assert [r.n(30) for r in numbered] == [r.n(30) for r in factor.real_roots()]


@pytest.mark.parametrize("seed", range(20))
def test_each_root_far_out_or_near_zero_has_a_change_of_sign_around_it(seed):
    rng = random.Random(seed)
    sizes = sorted(rng.sample(range(-30, 30, 3), 5))
    f = sp.Poly(sp.prod((x * 10 ** max(-k, 0) - 3 * 10 ** max(k, 0)) for k in sizes) + 1, x)
    found = real_roots(f)
    assert found == sorted(found)
    for root in found:
        low, high = (sp.Rational(root.n(30)) * (1 + sp.Rational(e, 10**25)) for e in (-1, 1))
        assert f.eval(low) * f.eval(high) < 0
    assert len(found) == len(f.intervals(fast=True))


def test_a_root_is_a_number_of_sympys():
    small, large = real_roots(sp.Poly((x - 10**12) * (10**12 * x - 1) * (x - 3) + 1, x))[::2]
    assert isinstance(small, RealRoot)
    assert 0 < small < sp.Rational(2, 10**12) < large
    assert small == real_roots(sp.Poly((x - 10**12) * (10**12 * x - 1) * (x - 3) + 1, x))[0]
    assert small != large
    assert pickle.loads(pickle.dumps(large)) == large
    assert sp.N(small * large - 1, 5) < 1e-10
    assert sp.sqrt(large).is_real
    assert not small.free_symbols
    assert sp.latex(small).startswith(r"\operatorname{CRootOf}")


@pytest.mark.parametrize("sampling", ["trajectory", "iid"])
@pytest.mark.parametrize("k", [4, 6, 12])
def test_a_step_size_limit_of_features_of_very_different_sizes(sampling, k):
    """There is a stationary second moment just below the limit, and none just above."""
    P = [["2/7", "4/7", "1/7"], [0, "3/7", "4/7"], ["1/2", 0, "1/2"]]
    small = sp.Rational(1, 10**k)
    problem = otd.PolicyEvaluation.from_chain(
        sp.Matrix(3, 3, lambda i, j: sp.Rational(P[i][j])),
        [1, 0, 0],
        discount="9/10",
        features=sp.Matrix([[-2 * small, -1], [-3 * small, -2], [small, 2]]),
    )
    limit = sp.Rational(
        str(sp.N(otd.step_size_limit(problem, otd.TD(), sampling=sampling).exact, 30))
    )
    below, above = (otd.TD(limit * sp.Rational(factor)) for factor in ("999/1000", "1001/1000"))
    otd.stationary_moments(problem, below, sampling=sampling)
    with pytest.raises(otd.errors.ObliqueTDError, match="step size"):
        otd.stationary_moments(problem, above, sampling=sampling)
