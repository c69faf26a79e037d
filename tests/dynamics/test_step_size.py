"""Step-size limits: of any scale, with slow modes, exact and in floats, and in agreement with how data is sampled."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import random_problem, random_walk, two_state, w_to_2w
from obliquetd.dynamics import (
    exact_moments,
    mean_dynamics,
    stationary_moments,
    step_size_limit,
)
from obliquetd.errors import InputError, MathematicalError, ObliqueTDError
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC, ResidualGradient
from tests.strategies import problems

R = sp.Rational


def rebuilt(problem, features=None, **fields):
    given = {
        "target": problem.target, "behavior": problem.behavior, "discount": problem.discount,
        "features": problem.Phi if features is None else features,
    }  # fmt: skip
    return PolicyEvaluation(problem.mdp, **{**given, **fields})


def in_floats(problem, scales=1.0):
    return rebuilt(
        problem, np.array(problem.Phi, dtype=float) * scales, discount=float(problem.discount)
    )


class TestScales:
    @pytest.mark.parametrize("scale", [5000.0, 1e4, 1e-4, 1e-30, 1e40])
    def test_the_limit_scales_with_the_features(self, scale):
        """TD's update is quadratic in them: alpha goes with 1 / scale^2."""
        found = step_size_limit(in_floats(random_walk(), scale), TD())
        assert found * scale**2 == pytest.approx(1.1433546152113, rel=1e-10)

    @pytest.mark.parametrize("slow", ["1/10000", "1/1000000", "1/100"])
    def test_a_slow_weight_beside_fast_ones(self, slow):
        walk = random_walk()
        exact = rebuilt(walk, walk.Phi * sp.diag(R(slow), 1, 1, 1, 1))
        floats = in_floats(walk, [float(R(slow)), 1, 1, 1, 1])
        assert step_size_limit(floats, TD()) == pytest.approx(
            step_size_limit(exact, TD()), rel=1e-9
        )
        # the slow weight is nearly frozen, so that the limit is above the one of the equal scales
        assert 1.14335 < step_size_limit(floats, TD()) < 1.2

    def test_the_limit_of_a_slow_mode_itself(self):
        """E[(1 - a g)^2] < 1 iff a < 2 E g / E g^2, g = 1 and -1 + 1e-6 by turns: a limit of 1e-6."""
        tiny = R(1, 10**6)
        rows = [
            ("s", "go", "s", "1/2", 0, 0),
            ("s", "go", "t", "1/2", 0),
            ("t", "go", "s", 1, 0, 0),
        ]
        mdp = MDP.from_transitions(rows)
        for kind in (lambda v: v, float):
            problem = PolicyEvaluation(
                mdp, target=Policy.uniform(mdp), discount=1,
                features={"s": [kind(R(1))], "t": [kind(2 - tiny)]}, xi={"s": 1, "t": 0},
            )  # fmt: skip
            # g = phi (phi - gamma phi'): 1, and 1 - (2 - 1e-6) = -1 + 1e-6
            mean, square = tiny / 2, (1 + (1 - tiny) ** 2) / 2
            found = step_size_limit(problem, TD(), sampling="iid")
            assert float(found) == pytest.approx(float(2 * mean / square), rel=1e-6)

    @pytest.mark.slow
    @pytest.mark.parametrize("sampling", ["iid", "trajectory"])
    @pytest.mark.parametrize("seed", range(3))
    def test_floats_agree_with_the_exact_root(self, seed, sampling):
        exact = random_problem(3, 2, seed=seed)
        for learner in (TD(), SETD(), ResidualGradient(), TDC(mu=2)):
            for sense in ("mean", "mean square"):
                try:
                    a = step_size_limit(exact, learner, sampling=sampling, sense=sense)
                except MathematicalError:
                    continue
                b = step_size_limit(in_floats(exact), learner, sampling=sampling, sense=sense)
                assert b == pytest.approx(float(a), rel=1e-6), (learner, sense)

    @pytest.mark.parametrize("scale", [1.0, 5000.0])
    def test_the_error_dies_out_below_and_grows_above(self, scale):
        problem = in_floats(random_walk(), scale)
        limit = step_size_limit(problem, TD())
        sizes = {
            side: exact_moments(problem, TD(side * limit), 1500).covariance[-1]
            for side in (0.9, 1.1)
        }
        assert np.abs(sizes[0.9]).max() * scale**2 < 1e3
        assert not np.abs(sizes[1.1]).max() * scale**2 < 1e12


class TestInTheMean:
    def test_a_trajectory_of_25_unknowns(self):
        """Squared, its matrix has 325 unknowns; the crossing is at z = -1."""
        assert step_size_limit(random_walk(), TD(), sense="mean") == R(3, 2)
        assert step_size_limit(in_floats(random_walk()), TD(), sense="mean") == pytest.approx(1.5)

    def test_independent_samples_by_hand(self):
        """|1 - a lambda| < 1 iff a < 2 Re lambda / |lambda|^2; a rotation has complex ones."""
        ring = MDP.from_transitions([(k, 0, (k + 1) % 3, 1, 0) for k in range(3)])
        problem = PolicyEvaluation(ring, target=Policy.uniform(ring), discount="1/2")
        found = step_size_limit(problem, TD(), sampling="iid", sense="mean")
        values = np.linalg.eigvals(np.array(mean_dynamics(problem, TD()).A, dtype=float))
        assert float(found) == pytest.approx((2 * values.real / np.abs(values) ** 2).min())
        assert found.is_Rational

    @settings(max_examples=25, deadline=None)
    @given(problems(most_states=4), st.sampled_from([TD(), SETD(), GTD2(mu=2), TDC(mu=2)]))
    def test_the_radius_is_one_at_the_limit(self, problem, learner):
        dyn = mean_dynamics(problem, learner, sampling="iid")
        if dyn.stability.verdict != "stable":
            return
        limit = float(step_size_limit(problem, learner, sampling="iid", sense="mean"))
        values = np.linalg.eigvals(np.array(dyn.A, dtype=float))
        values = values[np.abs(values) > 1e-9]
        assert np.abs(1 - limit * values).max() == pytest.approx(1, abs=1e-8)
        assert np.abs(1 - 0.9 * limit * values).max() < 1


def weighted(problem, xi):
    return rebuilt(problem, xi=xi)


class TestSamplingAndWeights:
    """Weights that are not stationary mean independent transitions, or an error that names them."""

    CASES = (
        weighted(two_state(), ["1/10", "9/10"]),
        w_to_2w("99/100"),
        weighted(random_problem(3, 2, seed=1), [1, 0, 0]),
        weighted(two_state(0.9), [0.1, 0.9]),
    )

    @pytest.mark.parametrize("problem", CASES, ids=["two states", "w to 2w", "random", "floats"])
    @pytest.mark.parametrize("sampling", [None, "trajectory"])
    def test_what_depends_on_the_sampling_asks_for_it(self, problem, sampling):
        for call in (
            lambda: step_size_limit(problem, TD(), sampling=sampling),
            lambda: stationary_moments(problem, TD("1/1000"), sampling=sampling),
            lambda: exact_moments(problem, TD("1/1000"), 2, sampling=sampling),
            lambda: mean_dynamics(problem, TD(lam="1/2" if problem.arithmetic == "exact" else 0.5), sampling=sampling).A,
            lambda: mean_dynamics(problem, ETD(), sampling=sampling).A,
        ):  # fmt: skip
            with pytest.raises(InputError, match=r"not stationary.*sampling='iid'"):
                call()
        with pytest.raises(InputError, match="not stationary"):
            _ = mean_dynamics(problem, TD(), sampling="trajectory").A

    @pytest.mark.parametrize("problem", CASES, ids=["two states", "w to 2w", "random", "floats"])
    def test_both_ways_out_of_the_error_work(self, problem):
        free = rebuilt(problem)
        for way in (
            lambda: step_size_limit(problem, TD(), sampling="iid"),
            lambda: step_size_limit(free, TD()),
            lambda: mean_dynamics(problem, ETD(), sampling="iid").A,
            lambda: mean_dynamics(free, ETD()).A,
        ):
            way()
        assert mean_dynamics(problem, TD()).sampling == "iid"
        assert mean_dynamics(free, TD()).sampling == "trajectory"

    def test_the_trajectories_of_the_two_examples(self):
        assert step_size_limit(two_state(), TD()) == 0
        assert step_size_limit(rebuilt(w_to_2w("99/100")), TD()) == 50

    def test_tiny_weights_are_compared_relatively(self):
        tiny = weighted(two_state(0.9), [1e-10, 5e-10])
        with pytest.raises(InputError, match="not stationary"):
            step_size_limit(tiny, TD())
        alike = weighted(two_state(0.9), [1e-10, 1e-10])
        assert mean_dynamics(alike, TD()).sampling == "trajectory"

    def test_a_variance_is_not_negative(self):
        found = stationary_moments(self.CASES[0], SETD("1/1000"), sampling="iid")
        assert found.covariance[0][0] >= 0

    def test_weights_that_do_not_sum_to_one_are_sampled_in_proportion(self):
        one = weighted(two_state(reward=1), ["1/2", "1/2"])
        two = weighted(two_state(reward=1), [1, 1])
        for sampling in ("iid", "trajectory"):
            a, b = (exact_moments(p, SETD("1/10"), 3, sampling=sampling) for p in (one, two))
            assert a.mean == b.mean
            assert a.second == b.second
            assert step_size_limit(one, SETD(), sampling=sampling) == step_size_limit(
                two, SETD(), sampling=sampling
            )


def two_classes(discount="9/10"):
    """The two-state example beside a copy of its own whose features stand the other way round."""
    rows = []
    for side in "xy":
        for s in ("l", "r"):
            rows += [(side + s, "left", side + "l", 1, 1), (side + s, "right", side + "r", 1, 1)]
    mdp = MDP.from_transitions(rows)
    target = Policy.deterministic(dict.fromkeys(mdp.states, "right"))
    features = {"xl": [1], "xr": [2], "yl": [5], "yr": [5]}
    return PolicyEvaluation(
        mdp, target=target, behavior=Policy.uniform(mdp), features=features, discount=discount,
        xi=dict.fromkeys(mdp.states, "1/4"),
    )  # fmt: skip


class TestSeveralClasses:
    def test_each_is_judged_alone(self):
        problem = two_classes()
        dyn = mean_dynamics(problem, TD())
        assert [each.stability.verdict for each in dyn.classes] == ["unstable", "stable"]
        assert dyn.stability.verdict == "unstable"
        assert mean_dynamics(problem, TD(), sampling="iid").stability.verdict == "stable"
        assert step_size_limit(problem, TD()) == 0
        assert step_size_limit(problem, TD(), sampling="iid") > 0

    @pytest.mark.parametrize("learner", [SETD(), ResidualGradient(), TDC(mu=20)])
    def test_the_limit_is_the_least_of_theirs(self, learner):
        problem = two_classes("1/2")
        alone = [
            step_size_limit(rebuilt(problem, xi=each), learner)
            for each in problem.chain.stationary_by_class
        ]
        assert step_size_limit(problem, learner) == min(alone, key=float)

    def test_there_is_no_one_fixed_point_and_no_one_certificate_of_stability(self):
        problem = two_classes("1/2")
        dyn = mean_dynamics(problem, TD())
        with pytest.raises(MathematicalError, match=r"dyn.classes\[k\]"):
            dyn.fixed_point()
        with pytest.raises(MathematicalError, match=r"dyn.classes\[k\]"):
            dyn.certificate()
        assert [each.certificate()["claim"] for each in dyn.classes] == ["stable"] * 2
        assert [each.fixed_point()[0] for each in dyn.classes] == [
            mean_dynamics(rebuilt(problem, xi=w), TD()).fixed_point()[0]
            for w in problem.chain.stationary_by_class
        ]
        with pytest.raises(MathematicalError, match="stationary_by_class"):
            stationary_moments(problem, TD("1/1000"))
        assert mean_dynamics(problem, TD(), sampling="iid").fixed_point() is not None
        unstable = mean_dynamics(two_classes(), TD())
        assert unstable.certificate()["claim"] == "unstable"

    def test_a_region_is_where_all_are_stable(self):
        from obliquetd.dynamics import stability_region

        assert stability_region(two_classes("g"), TD(), "g") == sp.Interval.Ropen(0, R(5, 6))


def test_every_error_here_is_one_of_the_package():
    for problem in (two_state("g"),):
        with pytest.raises(ObliqueTDError):
            step_size_limit(problem, TD())


@pytest.mark.parametrize("seed", [0, 3])
def test_a_root_that_is_far_out_keeps_nobody_waiting(seed):
    """Seed 0 has a root at -1e11 beside the limit; sympy takes steps in proportion to that."""
    problem = random_problem(4, 2, seed=seed)
    exact = step_size_limit(problem, ResidualGradient())
    floats = step_size_limit(problem.replace(arithmetic="float"), ResidualGradient())
    assert float(exact) == pytest.approx(floats, rel=1e-6)
    assert exact.is_algebraic
