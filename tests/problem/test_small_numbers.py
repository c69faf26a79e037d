"""Zeros that are zeros, weights next to the smallest float, and features of unlike sizes."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
import sympy as sp

from obliquetd import (
    ETD,
    GTD2,
    MDP,
    TD,
    TDC,
    Policy,
    PolicyEvaluation,
    mean_dynamics,
    stability_region,
)
from obliquetd.algebra.floating import FloatMatrix
from obliquetd.algebra.singular import scales
from obliquetd.errors import (
    NoSolutionError,
    NotUniqueError,
    NumberError,
    PrecisionWarning,
    SingularError,
)


def chain(P, r=None, features=None, discount="9/10", number=str, **more):
    """A Markov chain whose numbers are all exact, or all floats."""

    def read(rows):
        return [[number(sp.Rational(x)) for x in row] for row in rows]

    rewards = read([r or range(1, len(P) + 1)])[0]
    if features is not None:
        more["features"] = read(features)
    if "xi" in more:
        more["xi"] = read([more["xi"]])[0]
    return PolicyEvaluation.from_chain(
        read(P), rewards, discount=number(sp.Rational(discount)), **more
    )


TRANSIENT = {
    "into a loop": ([["1/3", "1/3", "1/3"], ["5/7", "1/7", "1/7"], [0, 0, 1]], [[-2], [-1], [-2]], 0),
    "from outside": ([["5/6", "1/6", 0], [1, 0, 0], ["6/11", 0, "5/11"]], [[-1, 1], [-2, 3], [2, 0]], "1/2"),
    "into a cycle": ([[0, 1, 0], [1, 0, 0], ["1/2", 0, "1/2"]], [[1], [2], [3]], "9/10"),
    "through two": ([["1/2", "1/2", 0], [0, "1/2", "1/2"], [0, 0, 1]], None, "99/100"),
}  # fmt: skip


@pytest.mark.parametrize("case", TRANSIENT)
@pytest.mark.parametrize("learner", [TD(lam="1/2"), ETD(), ETD(lam="1/2")], ids=repr)
def test_a_trace_on_a_chain_with_transient_states(case, learner):
    """Their weight is 0, and no bound on its rounding makes a state of weight 0 count."""
    P, features, discount = TRANSIENT[case]
    exact, floats = (
        mean_dynamics(chain(P, None, features, discount, number), learner)
        for number in (str, float)
    )
    assert np.array(floats.A, dtype=float) == pytest.approx(np.array(exact.A, dtype=float))
    assert floats.b == pytest.approx([float(x) for x in exact.b])
    assert floats.stability.verdict == exact.stability.verdict


def test_no_rounding_gives_a_transient_state_a_weight():
    problem = chain(*TRANSIENT["through two"][:2], number=float)
    P = [["1/2", "1/2", 0], [0, "1/2", "1/2"], [0, 0, 1]]
    weights = chain(P, number=float).native.xi
    assert weights.entries() == [0, 0, 1]
    assert np.asarray(weights.error).ravel()[:2].tolist() == [0, 0]
    assert problem.native.unvisited == (0, 1)


RESTLESS = [["1/2", "1/2", 0], [0, "1/3", "2/3"], ["3/4", 0, "1/4"]]


@pytest.mark.parametrize("learner", [GTD2(), TDC(), GTD2(mu="1/3")], ids=repr)
@pytest.mark.parametrize(
    "features",
    [
        [[-2, 2, -2000], [-1, 0, -3000], [-2, -3, -1000]],
        [[1, 0, 2], [0, 1, 1], [3, 1, 0]],
        [[10, 20, 1], [-7, 3, 5], [2, 2, "1/9"]],
    ],
    ids=["unlike", "small", "fractions"],
)
def test_an_eigenvalue_that_is_zero_by_structure_is_no_stability(learner, features):
    """A state of weight 0 is stepped into: theta moves in more directions than w, so A is singular."""
    exact, floats = (
        mean_dynamics(chain(RESTLESS, None, features, "1/2", number, xi=[3, 0, 2]), learner)
        for number in (str, float)
    )
    assert exact.stability.verdict == "marginal"
    assert floats.stability.verdict in ("undecided", "marginal")


UNLIKE = [["3e14", "-3e-6", "-1e-11"], ["-2e14", 0, "-3e-11"], [0, "1e-6", "3e-11"]]
MIXING = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/3", "1/3", "1/3"]]


@pytest.mark.parametrize(
    "features",
    [
        UNLIKE,
        [row[::-1] for row in UNLIKE],
        UNLIKE[::-1],
        [["1e20", 1, 0], ["1e20", 2, 0], [0, 1, "1e-20"]],
        [["1e-9", "1e9", 0], ["1e-9", "2e9", 1], [0, "1e9", 3]],
    ],
)
@pytest.mark.parametrize("point", ["td", "etd", "rg", "best"])
def test_features_of_unlike_sizes_are_no_dependence(features, point):
    """By the largest of each row first, two rows would become equal: rank 2, where it is 3."""
    exact, floats = (
        chain(MIXING, None, features, "1/2", number).fixed_point(point) for number in (str, float)
    )
    assert floats.native.Phi.rank() == 3
    assert floats.v_hat == pytest.approx([float(x) for x in exact.v_hat], rel=1e-9)
    assert floats.worst_case == pytest.approx(float(exact.worst_case), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_scales_do_not_depend_on_units(seed):
    """D M E with diagonal D and E of any size is scaled to what M is scaled to, within a few powers."""
    rng = np.random.default_rng(seed)
    M = rng.uniform(1, 4, (6, 4)) * (rng.random((6, 4)) < 0.8)
    D, E = 10.0 ** rng.integers(-60, 60, 6), 10.0 ** rng.integers(-60, 60, 4)
    up, along = scales(D[:, None] * M * E)
    core = D[:, None] * M * E / (up[:, None] * along)
    assert core.max() <= 2
    assert core[M > 0].min() > 1e-3


def test_scales_of_nothing_and_of_zeros():
    assert [x.tolist() for x in scales(np.zeros((2, 1)))] == [[1, 1], [1]]
    assert [x.tolist() for x in scales(np.zeros((0, 0)))] == [[], []]


@pytest.mark.parametrize(
    "features",
    [
        [["-3e7", 3000, 0], ["2e7", -2000, 0], ["3e7", -3000, "1e-6"]],
        [["1e12", 1, 0], ["1e12", 1, 0], ["1e12", 1, "1e-9"]],
        [[1, "1e-9", 0], [2, "2e-9", 0], [1, "1e-9", "1e12"]],
    ],
)
@pytest.mark.parametrize("point", ["td", "etd", "best"])
def test_a_free_state_is_seen_beside_large_features(features, point):
    """The last feature moves the last state alone, which has no weight."""
    P = [["1/2", "1/2", 0], ["1/2", "1/2", 0], [0, "1/2", "1/2"]]
    exact, floats = (
        chain(P, None, features, 0, number).fixed_point(point) for number in (str, float)
    )
    assert exact.undetermined == floats.undetermined == (2,)
    assert floats.v_hat[:2] == pytest.approx([float(x) for x in exact.v_hat[:2]])


TINY = [["-3e-9", "3e-10"], [-3, 3], [0, "-1e-9"]]


@pytest.mark.parametrize("learner", [TD(), GTD2(), ETD()], ids=repr)
def test_what_floats_cannot_tell_names_the_arithmetic_that_can(learner):
    floats = chain(MIXING, None, TINY, "1/2", float)
    with pytest.raises(
        NoSolutionError, match=r"precision of floats \(arithmetic='exact' decides\)"
    ):
        mean_dynamics(floats, learner).fixed_point()
    exact = chain(MIXING, None, TINY, "1/2")
    assert np.isfinite([float(x) for x in mean_dynamics(exact, learner).fixed_point()]).all()


def test_a_singular_system_of_floats_names_the_arithmetic_that_can():
    third = FloatMatrix(np.array([[0.1, 0.2], [0.3, 0.6]]))
    with pytest.raises(SingularError, match=r"arithmetic='exact' decides"):
        third.solve(FloatMatrix(np.ones((2, 1))))


def steep_walk(n, up):
    P = np.zeros((n, n))
    for k in range(n):
        P[k, min(k + 1, n - 1)] += up
        P[k, max(k - 1, 0)] += 1 - up
    return PolicyEvaluation.from_chain(P, [float(k % 3) for k in range(n)], discount=0.9)


@pytest.mark.parametrize(("n", "up"), [(40, 1e-10), (110, 1e-3), (700, 0.2)])
def test_a_walk_whose_weights_leave_the_floats(n, up):
    """States whose weight underflows count as never visited, and that is said."""
    problem = steep_walk(n, up)
    with pytest.warns(PrecisionWarning, match="taken as 0, so that these states count as never"):
        unvisited = [s for s, w in zip(problem.states, problem.xi, strict=True) if w == 0]
    assert 0 < len(unvisited) < n
    best = problem.fixed_point("best")
    assert list(best.undetermined) == unvisited
    seen = n - len(unvisited)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", PrecisionWarning
        )  # of a value of 1e-9 beside others near 10
        assert best.v_hat[:seen] == pytest.approx(problem.v_pi[:seen], rel=1e-9)
    for point in ("td", "setd"):
        with pytest.raises(NotUniqueError, match="arithmetic='exact' decides"):
            problem.fixed_point(point)


def test_the_way_out_of_weights_that_underflow_works():
    exact = steep_walk(40, 1e-10).replace(arithmetic="exact")
    assert exact.fixed_point("td").v_hat == exact.v_pi


@pytest.mark.parametrize("size", [1e-310, 1e-320])
@pytest.mark.parametrize("what", ["features", "one feature", "rewards", "xi"])
def test_numbers_that_have_lost_their_digits_are_named(size, what):
    mdp = MDP.from_transitions(
        [("a", 0, "b", 1, size if what == "rewards" else 1.0), ("b", 0, "a", 1, 0.0)]
    )
    features = {"features": [[size], [2 * size]], "one feature": [[1.0, size], [2.0, 0.0]]}
    name = {"features": "feature 0", "one feature": "feature 1", "xi": "the weights xi"}
    given = {
        "features": features.get(what, [[1.0], [2.0]]),
        "xi": [size, size] if what == "xi" else None,
    }
    with pytest.raises(
        NumberError, match=f"{name.get(what, 'the rewards')}: .* below the smallest"
    ):
        PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0.5, **given)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["array", "sparse"])
@pytest.mark.parametrize(
    ("column", "lost"),
    [([0, -1e-310], True), ([1e-310, 1e-312], True), ([0, -2], False), ([1e-310, 2], False), ([0, 0], False)],
)  # fmt: skip
def test_a_feature_of_an_array_is_as_large_as_its_largest(make, column, lost):
    n = 512  # states from which a matrix may stay sparse
    features = np.zeros((n, 60))
    features[:, 0], features[[0, n - 1], 7] = 1, column
    P = sparse.csr_array(np.roll(np.eye(n), 1, axis=1))
    if lost:
        with pytest.raises(NumberError, match=r"feature 7: the largest size is 1\.0e-310, below"):
            PolicyEvaluation.from_chain(P, np.ones(n), discount=0.5, features=make(features))
    else:
        PolicyEvaluation.from_chain(P, np.ones(n), discount=0.5, features=make(features))


def test_one_small_number_beside_others_is_none_of_them():
    """A radial basis underflows far from its centre, and that is no harm."""
    mdp = MDP.from_transitions([("a", 0, "b", 1, 1.0), ("b", 0, "a", 1, 1e-320)])
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), discount=0.5, features=[[1.0], [1e-320]]
    )
    assert math.isfinite(problem.fixed_point("td").theta[0])


@pytest.mark.parametrize("rare", [1e-310, 1e-320, 5e-324])
def test_given_weights_that_underflow_count_as_zero(rare):
    P, features = [[0.5, 0.5], [0.5, 0.5]], [[1.0], [2.0]]
    some = PolicyEvaluation.from_chain(P, [1.0, 0.0], discount=0.5, features=features)
    with pytest.warns(PrecisionWarning, match="weights xi of 1 states"):
        got = some.replace(xi=[1.0, rare]).fixed_point("td").theta
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert got == some.replace(xi=[1.0, 0.0]).fixed_point("td").theta


def test_the_door_lets_symbols_pass():
    problem = chain(MIXING, None, [[1], [2], [3]], "1/2").replace(discount="gamma")
    assert stability_region(problem, TD(), "gamma").contains(sp.Rational(1, 2)) == sp.true
