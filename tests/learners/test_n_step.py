"""n-step TD against the n-step return, and regularised TD with its two regions."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import ABTD, MDP, TD, NStepTD, Policy, PolicyEvaluation, RegularizedTD, mean_dynamics
from obliquetd.domains import two_state
from obliquetd.errors import InputError
from obliquetd.learners.check import qq
from obliquetd.learners.evaluate import PlainRule
from obliquetd.learners.words import Transition
from tests.learners.closed_forms import kernel, ratio, rewards, td, visited, walks

F = Fraction
Q = sp.Rational


@settings(max_examples=12)
@given(walks(), st.sampled_from([1, 2, 3, 4]))
def test_the_matrix_and_the_tabular_fixed_point(problem, n):
    """A_n = Phi' Xi (I - P^n) Phi, with P the target's discounted chain."""
    P, r = kernel(problem, ratio), rewards(problem, ratio)
    size = P.rows
    dyn, X = mean_dynamics(problem, NStepTD(n=n)), sp.diag(*problem.xi) * problem.Phi
    assert sp.Matrix(dyn.A) == X.T * (sp.eye(size) - P**n) * problem.Phi
    assert sp.Matrix(list(dyn.b)) == X.T * sum((P**k for k in range(n)), sp.zeros(size)) * r
    tabular = problem.replace(features=None)
    found = mean_dynamics(tabular, NStepTD(n=n)).fixed_point()
    assert visited(problem, found) == visited(problem, tabular.v_pi)


fractions = st.fractions(-2, 2, max_denominator=3)
steps = st.tuples(
    st.integers(0, 3), fractions, st.sampled_from([F(0), F(1, 2), F(9, 10), F(1)]),
    st.fractions(0, 2, max_denominator=3),
)  # fmt: skip


@given(
    st.lists(steps, min_size=1, max_size=9),
    st.integers(1, 4),
    st.lists(fractions, min_size=2, max_size=2),
)
def test_each_visit_is_credited_with_its_n_step_return(path, n, theta):
    """Sutton and Barto's Equation 7.13, by its own recursion, at fixed weights; exactly.

    A discount of 0 in the path ends an episode: what comes after it is another one, with an
    emptied memory, and the return of a visit near the end stops there.
    """
    features = np.array([[F(1), F(2)], [F(-1), F(1)], [F(0), F(3)], [F(2), F(2)]], dtype=object)
    states = [s for s, *_ in path] + [0]
    value = [features[s].dot(np.array(theta, dtype=object)) for s in states]

    def target(t, h):
        if t == h:
            return value[t]
        _, reward, g, rho = path[t]
        beyond = target(t + 1, h) if g else 0
        return rho * (reward + g * beyond) + (1 - rho) * value[t]

    wanted = sum(
        (target(t, min(t + n, len(path))) - value[t]) * features[s]
        for t, (s, *_) in enumerate(path)
    )
    rule = PlainRule(NStepTD(n=n), 2, qq, {"n": n})
    total, memory = np.array([F(0), F(0)], dtype=object), [F(0)] * rule.memory_size
    for t, (s, reward, g, rho) in enumerate(path):
        u = Transition(
            features, s, states[t + 1], reward, g, F(int(g != 0)), rho, F(1), rho, 0, g, rho
        )
        after, memory, _ = rule.run(u, theta, memory, F(1))
        total = total + np.array(after, dtype=object) - np.array(theta, dtype=object)
        if not g:
            assert not any(memory)
    assert list(total) == list(wanted)


def test_one_step_is_td_in_every_respect():
    problem = two_state(reward=1)
    one, td = NStepTD("1/50", 1), TD("1/50")
    assert not one.has_memory
    assert NStepTD().has_memory
    assert (
        otd.exact_moments(problem, one, 3, [1]).mean == otd.exact_moments(problem, td, 3, [1]).mean
    )
    found = otd.simulate(problem, [one, td], 200, seed=4)
    assert np.allclose(found["NStepTD"].theta, found["TD"].theta, rtol=1e-12)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (NStepTD("1/50", 3), r"NStepTD n=3 carries a memory \(slots\)"),
        (ABTD("1/50"), r"ABTD carries a memory \(e\)"),
        (otd.HTD("1/50", 1, "1/2"), "HTD with lam = 1/2 carries a trace"),
        (otd.ETD("1/50"), "follow_on_second_moment"),
    ],
)
def test_why_there_are_no_moments(learner, words):
    with pytest.raises(InputError, match=words):
        otd.exact_moments(two_state(), learner, 2)


def test_the_two_state_example():
    """TD is unstable at discount 9/10, n-step TD stable from n = 2; the memory is floats' and symbols' too."""
    verdicts = {n: mean_dynamics(two_state(), NStepTD(n=n)).is_stable() for n in (1, 2, 3, 4, 5)}
    assert verdicts == {1: False, 2: True, 3: True, 4: True, 5: True}
    floating = mean_dynamics(two_state().replace(arithmetic="float"), NStepTD(n=3))
    assert np.allclose(
        floating.A, np.array(mean_dynamics(two_state(), NStepTD(n=3)).A, dtype=float)
    )
    gamma = sp.Symbol("gamma")
    symbolic = mean_dynamics(two_state("gamma"), NStepTD(n=3)).A[0]
    assert sp.expand(symbolic - (Q(5, 2) - 3 * gamma**3)) == 0
    region = otd.stability_region(two_state("gamma"), NStepTD(), "gamma")
    assert region == sp.Interval.Ropen(0, sp.sqrt(Q(5, 6)))


def test_an_episode_never_leaks_into_the_next():
    """A walk that ends: A is that of the absorbed chain, simulated as it is averaged."""
    mdp = MDP.from_transitions([(0, "a", 1, 1, 1), (1, "a", 2, 1, 5)])
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=None, discount="1/2", start={0: 1}
    )
    for n in (1, 2, 3, 7):
        assert list(mean_dynamics(problem, NStepTD(n=n)).fixed_point())[:2] == [Q(7, 2), 5]
        for stream in ("trajectory", "episodes"):
            run = otd.simulate(problem, NStepTD(0.2, n), 2000, seed=1, stream=stream)["NStepTD"]
            assert np.allclose(run.theta[0][:2], [3.5, 5], atol=1e-9)


@settings(max_examples=10)
@given(walks(), st.sampled_from([0, "1/3", 2]))
def test_a_regulariser_is_added_to_the_matrix(problem, eta):
    A, b, _ = td(problem, 0)
    dyn = mean_dynamics(problem, RegularizedTD(eta=eta))
    assert sp.Matrix(dyn.A) == A + Q(eta) * sp.eye(A.rows)
    assert sp.Matrix(list(dyn.b)) == b


def example():
    """Rewards 0 for leaving the left state and 1 for leaving the right one: v = (9, 10)."""
    problem = two_state()
    states = problem.mdp.states
    rows = [(*row[:4], int(row[0] == states[1]), *row[5:]) for row in problem.mdp.transitions]
    return PolicyEvaluation(
        MDP.from_transitions(rows), target=problem.target, behavior=problem.behavior,
        features=problem.Phi, discount="9/10",
    )  # fmt: skip


class TestTheTwoRegionsOfARegulariser:
    def test_by_hand(self):
        problem, learner, eta = example(), RegularizedTD(eta="eta"), sp.Symbol("eta")
        assert list(problem.v_pi) == [9, 10]
        assert (
            sp.simplify(mean_dynamics(problem, learner).fixed_point()[0] - 5 / (5 * eta - 1)) == 0
        )
        assert otd.stability_region(problem, learner, "eta") == sp.Interval.open(Q(1, 5), sp.oo)
        better = otd.improvement_region(problem, learner, "eta")
        assert better == sp.Interval.open(Q(83, 290), sp.oo)

    @pytest.mark.parametrize("theta0", [None, [1], [5], ["20"]])
    @pytest.mark.parametrize("eta", ["1/6", "1/5", "83/290", "3/10", "1", "7/3", "100"])
    def test_against_the_errors_themselves(self, theta0, eta):
        problem = example()
        found = otd.improvement_region(problem, RegularizedTD(eta="eta"), "eta", theta0=theta0)
        dyn = mean_dynamics(problem, RegularizedTD(eta=eta))

        def error(theta):
            gap = problem.Phi * sp.Matrix([theta]) - sp.Matrix(problem.v_pi)
            return (gap.T * sp.diag(*problem.xi) * gap)[0]

        better = dyn.is_stable() and error(dyn.fixed_point()[0]) < error(
            Q(theta0[0]) if theta0 else 0
        )
        assert (Q(eta) in found) == better

    def test_another_symbol_and_another_learner(self):
        """In the discount; SETD's signs split its range; an irrational end is exact."""
        problem = example().replace(discount="gamma")
        learner = RegularizedTD(eta="1/2")
        found = otd.improvement_region(problem, learner, "gamma")
        assert found.is_subset(otd.stability_region(problem, learner, "gamma"))
        others = (otd.SETD(), NStepTD(n=3), ABTD())
        regions = {kind: otd.improvement_region(problem, kind, "gamma") for kind in others}
        for value in ("1/10", "1/2", "2/3", "9/10", "19/20"):
            there = problem.subs({"gamma": value})
            for kind, region in {learner: found, **regions}.items():
                theta = mean_dynamics(there, kind).fixed_point()[0]
                gap = there.Phi * sp.Matrix([theta]) - sp.Matrix(there.v_pi)
                best = sum(
                    w * (a**2 - v**2) for w, a, v in zip(there.xi, gap, there.v_pi, strict=True)
                )
                stable = mean_dynamics(there, kind).is_stable()
                assert (Q(value) in region) == (stable and best < 0), (value, kind)
        assert regions[ABTD()].end == (sp.sqrt(1441) - 9) / 34

    def test_errors_name_the_symbol(self):
        with pytest.raises(InputError, match="eps"):
            otd.improvement_region(example(), RegularizedTD(eta="eta"), "eps")
        with pytest.raises(InputError, match="theta"):
            otd.improvement_region(example(), RegularizedTD(eta="eta"), "eta", theta0=[1, 2])


def test_without_a_regulariser_it_is_td():
    problem = two_state(reward=1)
    found = otd.simulate(problem, [RegularizedTD(0.01, 0), TD(0.01)], 200, seed=4)
    assert np.allclose(found["RegularizedTD"].theta, found["TD"].theta, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        *[(lambda n=n: NStepTD(0.1, n), f"n is {n}") for n in (0, -1, 1.5, "3/2")],
        (lambda: NStepTD(0.1, "n"), "no symbol"),
        (lambda: NStepTD(0.1, float("nan")), "n is nan"),
        (lambda: RegularizedTD(0.1, -1), "eta is -1"),
        (lambda: RegularizedTD(0.1, float("inf")), "eta is inf"),
    ],
)
def test_bad_settings(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("n", [2, "2", 2.0, np.int64(2), sp.Integer(2)])
def test_a_whole_number_however_it_is_written(n):
    assert mean_dynamics(two_state(), NStepTD(n=n)).A[0] == Q(7, 100)
    assert otd.simulate(two_state(reward=1), NStepTD(0.01, n), 5)["NStepTD"].diverged == 0


@pytest.mark.parametrize("feature", ["z", "z**2 - 2"])
def test_a_point_where_the_updates_span_less_is_compared_with_its_own_fixed_point(feature):
    """Where the feature of the state that pays vanishes, all that is learned is the 0 of the other one."""
    z, point = sp.Symbol("z"), sp.Integer(0) if feature == "z" else sp.sqrt(2)
    for reward, better in (([0, 1], False), ([1, 0], True)):
        problem = otd.PolicyEvaluation.from_chain(
            [[0, 1], [1, 0]], reward, features=[[1, 0], [0, feature]], discount="1/2"
        )
        found = otd.improvement_region(problem, otd.TD(), z)
        assert otd.stability_region(problem, otd.TD(), z) == sp.S.Reals
        assert found.contains(point) == better
        assert found.contains(point + sp.Rational(1, 1000)) == sp.true
