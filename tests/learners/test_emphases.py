"""ETD, SETD and WeightedTD with all their settings, against closed forms in the problem's matrices."""

import itertools
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics.efficiency import efficiency
from obliquetd.dynamics.follow_on import second_moment_kernel
from obliquetd.errors import InputError, LearnerError, UndefinedError
from obliquetd.learners import ETD, SETD, TD, WeightedTD, check, emphases, omega
from obliquetd.learners.evaluate import PlainRule, as_array
from obliquetd.learners.words import Transition
from tests.strategies import problems

F = Fraction
HALF = sp.Rational(1, 2)


def restarts(**kinds):
    """Problems with stationary weights and a discount that can be divided by."""
    return problems(
        closed=True, most_states=4, most_actions=2, discounts=(F(9, 10), F(1, 2)), **kinds
    )


def own_kernel(problem):
    """P_pi with each row times its own discount, before gamma."""
    return (sp.eye(len(problem.states)) - problem.L_pi) / problem.discount


def closed(problem, m, lam):
    """Phi' diag(m) (I - lam P_gamma)^-1 (L_pi Phi, r_pi)."""
    n = len(problem.states)
    decayed = sp.eye(n) - lam * (sp.eye(n) - problem.L_pi)
    X = (problem.Phi.T * sp.diag(*m) * decayed.inv()).T
    return X.T * problem.L_pi * problem.Phi, X.T * sp.Matrix(list(problem.r_pi))


def dynamics(problem, learner):
    found = otd.mean_dynamics(problem, learner)
    return found.A, found.b


LAMS = st.sampled_from([sp.Integer(0), HALF, sp.Integer(1)])


@settings(max_examples=8, deadline=None)
@given(restarts(), LAMS, st.sampled_from([None, 0, HALF]), st.booleans())
def test_etd_with_beta_and_interest(problem, lam, beta, dependent):
    each = itertools.cycle((2, 0, HALF))
    interest = dict(zip(problem.states, each, strict=False)) if dependent else sp.Rational(2, 3)
    i = [interest[s] if dependent else interest for s in problem.states]
    decay = own_kernel(problem) * (problem.discount if beta is None else beta)
    arrived = sp.Matrix([w * x for w, x in zip(problem.xi, i, strict=True)])
    f = (sp.eye(len(i)) - decay.T).LUsolve(arrived)
    m = lam * arrived + (1 - lam) * f
    learner = ETD(lam=lam, beta=beta, interest=interest)
    assert dynamics(problem, learner) == closed(problem, m, lam)


@settings(max_examples=8, deadline=None)
@given(restarts(), LAMS, st.integers(0, 3), st.sampled_from([None, HALF]))
def test_etd_truncated(problem, lam, k, beta):
    """f_k is the power series cut after its term of order k."""
    decay = own_kernel(problem) * (problem.discount if beta is None else beta)
    xi = sp.Matrix(list(problem.xi))
    f = sum((((decay.T) ** j) * xi for j in range(k + 1)), sp.zeros(*xi.shape))
    m = lam * xi + (1 - lam) * f
    learner = ETD(lam=lam, beta=beta, truncate=k)
    assert dynamics(problem, learner) == closed(problem, m, lam)
    if beta is None and lam == 0:
        series = WeightedTD(emphasis=emphases.power_series(k))
        assert dynamics(problem, series) == dynamics(problem, learner)
    if k == 0:
        assert dynamics(problem, learner) == dynamics(problem, TD(lam=lam))
        assert dynamics(problem, ETD(lam=lam, beta=0)) == dynamics(problem, TD(lam=lam))


def test_the_power_series_lies_between_td_and_etd():
    problem = random_problem(3, 2, seed=1, discount="1/2")
    ends = [otd.mean_dynamics(problem, learner()).A for learner in (TD, ETD)]
    found = [
        otd.mean_dynamics(problem, WeightedTD(emphasis=emphases.power_series(k))).A
        for k in (0, 1, 5, 30)
    ]
    gaps = [(A - ends[1]).norm() for A in found]
    assert found[0] == ends[0]
    assert sorted(gaps, reverse=True) == gaps
    assert gaps[-1] < gaps[0] / 10**6
    assert emphases.power_series(2) == emphases.power_series(2)
    assert (
        WeightedTD(emphasis=emphases.power_series(2)).label
        == "WeightedTD emphasis=power_series(order=2)"
    )
    for bad in (-1, 1.5, "two", True):
        with pytest.raises(InputError, match="order"):
            emphases.power_series(bad)


@settings(max_examples=8, deadline=None)
@given(restarts(on_policy=True, endings=("never",)))
def test_on_policy_etd_is_td(problem):
    """With one discount: interest 1 - gamma gives TD's A, interest 1 that over 1 - gamma."""
    A, b = dynamics(problem, TD())
    left = 1 - problem.discount
    assert dynamics(problem, ETD()) == (A / left, b / left)
    for interest in (left, lambda p: 1 - p.discount, dict.fromkeys(problem.states, left)):
        assert dynamics(problem, ETD(interest=interest)) == (A, b)


def test_beta_on_the_two_states():
    """Stable exactly for beta > 1/3; the follow-on's second moment is finite exactly for 2 beta^2 < 1."""
    problem = two_state(discount="9/10", reward=1)
    assert otd.stability_region(problem, ETD(beta="beta"), "beta") == sp.Interval.open(
        sp.Rational(1, 3), 1
    )
    beta = sp.Symbol("beta")
    assert set(second_moment_kernel(problem, "beta").eigenvals()) == {0, 2 * beta**2}
    for b in ("1/10", "2/5", "7/10", "707/1000", "708/1000", "9/10"):
        finite = 2 * sp.Rational(b) ** 2 < 1
        assert otd.second_moment_is_finite(problem, b) == finite
        if sp.Rational(b) > sp.Rational(1, 3):
            assert efficiency(problem, ETD(beta=b)).is_finite == finite
        infinite = otd.follow_on_second_moment(problem, b)[0] == sp.oo
        assert infinite != finite
    assert list(otd.follow_on_second_moment(problem, "1/2")) == [1, 11]
    assert otd.follow_on_second_moment(problem, "9/10") == otd.follow_on_second_moment(problem)
    assert efficiency(problem, ETD(truncate=4)).is_finite


def test_the_interest_may_hold_the_symbol_of_a_region():
    """f = (I - P_gamma')^-1 (xi i) = (1/2, (9 + 10 i) / 2) and A = f . phi (phi - gamma phi')."""
    learner = ETD(interest={"left": 1, "right": "i"})
    A = otd.mean_dynamics(two_state(), learner).A[0]
    i = sp.Symbol("i")
    assert (
        sp.expand(A - (HALF * (1 - sp.Rational(9, 5)) + (9 + 10 * i) / 2 * 2 * sp.Rational(1, 5)))
        == 0
    )
    assert otd.stability_region(two_state(), learner, "i") == sp.Interval(0, sp.oo)


@pytest.mark.parametrize("lam", [0, F(1, 2)])
def test_a_clip(lam):
    """F_t = min(i + gamma rho F, clip), which has no A and b."""
    learner = ETD(lam=lam, clip=2, interest="3/2")
    with pytest.raises(LearnerError, match="not affine in the memory"):
        otd.mean_dynamics(two_state(), learner)
    features = as_array([[F(1), F(2)], [F(2), F(1)]], (2, 2))
    t = Transition(features, 0, 1, F(1), F(9, 10), F(1), F(1), F(1, 2), F(2), 0, 0, 0)
    numbers = {"lam": F(lam), "interest": F(3, 2), "clip": F(2)}
    rule, memory, expected, trace = PlainRule(learner, 2, F, numbers), [F(0)] * 3, F(0), [F(0)] * 2
    for _ in range(4):
        expected = min(F(3, 2) + F(9, 5) * expected, 2)
        m = lam * F(3, 2) + (1 - lam) * expected
        trace = [
            F(9, 10) * lam * 2 * (e + m * phi) for e, phi in zip(trace, features[0], strict=True)
        ]
        memory = rule.run(t, [F(0)] * 2, memory, F(1, 2))[1]
        assert memory == [*trace, F(9, 5) * expected]


def test_a_clip_that_never_binds_changes_nothing():
    problem = random_problem(3, 2, seed=2, discount="1/2")
    runs = otd.simulate(
        problem, {"etd": ETD(0.01), "high": ETD(0.01, clip=1e9), "low": ETD(0.01, clip=1)}, 200
    )
    assert runs["high"].theta == pytest.approx(runs["etd"].theta)
    assert runs["low"].theta != pytest.approx(runs["etd"].theta)


def outcomes(problem):
    """Each row: state, next state, mu p, rho, discount, phi, Delta phi, reward."""
    index = {s: k for k, s in enumerate(problem.states)}
    for s, a, n, p, r, *own in problem.mdp.transitions:
        mu, pi = (
            sp.nsimplify(policy[s].get(a, 0)) for policy in (problem.behavior, problem.target)
        )
        ends = n in problem.mdp.terminal
        g = 0 if ends else problem.discount * sp.nsimplify(own[0] if own else 1)
        phi, onward = (sp.Matrix(problem.Phi.row(index[x])).T for x in (s, n))
        if mu:
            yield (
                index[s],
                index[n],
                mu * sp.nsimplify(p),
                pi / mu,
                g,
                phi,
                phi - g * onward,
                sp.nsimplify(r),
            )


def projected(phi, gap, cap):
    size = gap.dot(gap)
    weight = max(gap.dot(phi) / size, 0) if size else sp.Integer(0)
    return weight if cap is None else min(weight, cap)


@settings(max_examples=8, deadline=None)
@given(restarts(), LAMS, st.sampled_from([None, HALF, 1]), st.sampled_from(["full", "capped"]))
@example(two_state("1/2", reward=1), HALF, None, "capped")  # its ratios are 2 and 0
def test_setd_with_a_cap_and_with_capped_ratios(problem, lam, cap, ratios):
    """z(s') = sum of mu p gamma lam c (z(s) + xi omega phi) with c = rho or min(1, rho), and
    A = sum of mu p rho (z(s) + xi omega phi) Delta phi'."""
    n, d = problem.Phi.shape
    rows = list(outcomes(problem))
    M, source = sp.eye(n * d), sp.zeros(n * d, 1)
    for s, t, chance, rho, g, phi, gap, _ in rows:
        decay = chance * g * lam * (rho if ratios == "full" else min(rho, 1))
        for i in range(d):
            M[t * d + i, s * d + i] -= decay
            source[t * d + i] += decay * problem.xi[s] * projected(phi, gap, cap) * phi[i]
    z = M.LUsolve(source)
    A, b = sp.zeros(d, d), sp.zeros(d, 1)
    for s, _, chance, rho, _, phi, gap, reward in rows:
        e = z[s * d : (s + 1) * d, :] if n * d else z
        e = sp.Matrix(e) + problem.xi[s] * projected(phi, gap, cap) * phi
        A, b = A + chance * rho * e * gap.T, b + chance * rho * reward * e
    learner = SETD(lam=lam, cap=cap, ratios=ratios)
    assert dynamics(problem, learner) == (A, b)
    if lam == 0:
        assert dynamics(problem, learner) == dynamics(problem, SETD(cap=cap))


@settings(max_examples=5, deadline=None)
@given(restarts(on_policy=True), LAMS)
def test_capped_ratios_change_nothing_on_policy(problem, lam):
    assert dynamics(problem, SETD(lam=lam, ratios="capped")) == dynamics(problem, SETD(lam=lam))


@pytest.mark.parametrize("lam", [0, "1/2", "9/10"])
def test_tabular_fixed_points(lam):
    """Transitions and target are deterministic here, so that omega is one of the state."""
    table = two_state("1/2", reward=1).replace(features=None)
    for learner in (
        SETD(lam=lam, cap="1/2"),
        SETD(lam=lam, ratios="capped"),
        ETD(lam=lam, beta="1/4", interest={"left": 2, "right": 1}),
        ETD(lam=lam, truncate=2),
        WeightedTD(lam=lam, emphasis={"left": 2, "right": 1}),
    ):
        assert sp.Matrix(otd.mean_dynamics(table, learner).fixed_point()) == table.v_pi


def test_the_tilted_kernel_knows_the_cap():
    problem = random_problem(3, 2, seed=4, discount="1/2")
    for cap in (None, "1/2"):
        found = otd.mean_dynamics(problem, SETD(cap=cap))
        K, m = found.tilted_kernel, found.tilted_weights
        gap = (sp.eye(3) - problem.discount * K) * problem.Phi
        assert problem.Phi.T * sp.diag(*problem.xi) * sp.diag(*m) * gap == found.A


SHIPPED = {
    "Omega_star": emphases.omega_star,
    "Omega_S_batch": emphases.batch_minimizer,
}


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_shipped_emphases_have_the_fixed_points_of_their_matrices(name, seed):
    problem = random_problem(4, 2, seed=seed)
    Omega, learner = getattr(problem, name), WeightedTD(emphasis=SHIPPED[name])
    wanted = problem.Phi.T * sp.diag(*problem.xi) * Omega * problem.L_pi * problem.Phi
    assert wanted == otd.mean_dynamics(problem, learner).A
    assert problem.fixed_point(learner).theta == problem.fixed_point(Omega=Omega).theta
    lam = WeightedTD(lam="1/2", emphasis=SHIPPED[name])
    m = [w * x for w, x in zip(problem.xi, Omega.diagonal(), strict=True)]
    assert dynamics(problem, lam) == closed(problem, m, HALF)
    floats = problem.replace(arithmetic="float")
    assert (
        pytest.approx(sp.matrix2numpy(wanted, dtype=float), rel=1e-8)
        == otd.mean_dynamics(floats, learner).A
    )


@pytest.mark.parametrize("cap", [None, "1/2"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_state_conditional_weight(cap, seed):
    """Omega_S(s) is omega of the expected Delta phi; SETD's, of the sampled one: they differ."""
    problem = random_problem(4, 2, seed=seed)
    learner = SETD(omega="expected", cap=cap)
    found = otd.mean_dynamics(problem, learner)
    weights = [x if cap is None else min(x, HALF) for x in problem.Omega_S.diagonal()]
    m = [w * x for w, x in zip(problem.xi, weights, strict=True)]
    assert (found.A, found.b) == closed(problem, m, 0)
    lam = SETD(omega="expected", cap=cap, lam="1/2")
    assert dynamics(problem, lam) == closed(problem, m, HALF)
    assert found.A != otd.mean_dynamics(problem, SETD(cap=cap)).A
    assert list(found.tilted_weights) == weights
    if all(weights):
        assert found.tilted_kernel == problem.P_pi
    if cap is None:
        assert problem.fixed_point(learner).theta == problem.fixed_point("setd").theta


def test_the_state_conditional_weight_over_a_symbol():
    """Its sign changes where the problem's cells do: the region is that of each cell's own A."""
    gamma = sp.Symbol("gamma")
    for problem in (two_state("gamma"), random_problem(3, 1, seed=1).replace(discount="gamma")):
        region = otd.stability_region(problem, SETD(omega="expected"), "gamma")
        for value in (sp.Rational(k, 8) for k in range(1, 8, 2)):
            there = problem.subs({gamma: value})
            assert (value in region) == otd.mean_dynamics(there, SETD(omega="expected")).is_stable()
            Omega = WeightedTD(emphasis=lambda p: list(p.Omega_S.diagonal()))
            assert (value in region) == otd.mean_dynamics(there, Omega).is_stable()
    undefined = otd.stability_region(two_state("gamma"), SETD(omega="expected"), "gamma")
    assert HALF not in undefined  # there Lambda of the left state is 0
    table = random_problem(3, 1, seed=1).replace(features=None)
    assert sp.Matrix(otd.mean_dynamics(table, SETD(omega="expected")).fixed_point()) == table.v_pi


def test_an_emphasis_in_any_form():
    problem = two_state()
    A = otd.mean_dynamics(problem, WeightedTD(emphasis={"right": 3, "left": 2})).A
    for emphasis in (
        lambda p: {s: 2 + k for k, s in enumerate(p.states)},
        lambda p: [2, len(p.states) + 1],
        lambda p: sp.Matrix([2, 3]),
        lambda t: 1 + t.features[t.s, 0],
    ):
        assert otd.mean_dynamics(problem, WeightedTD(emphasis=emphasis)).A == A
    assert otd.mean_dynamics(problem, WeightedTD(emphasis=omega)).A[0] == 2
    assert WeightedTD(emphasis={"a": 1}) == WeightedTD(emphasis={"a": 1})
    assert hash(WeightedTD(emphasis={"a": 1})) != hash(WeightedTD(emphasis={"a": 2}))
    run = otd.simulate(problem, WeightedTD(0.001, emphasis={"left": 1, "right": 19}), 2000)
    assert abs(run["WeightedTD"].theta[0, 0]) < 1e-9


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: WeightedTD(emphasis={"left": 1}), "no number for the state 'right'"),
        (lambda: WeightedTD(emphasis={"left": 1, "right": 1, "up": 1}), "'up', which is no state"),
        (lambda: WeightedTD(emphasis=lambda p: p.discount), "gave 1 numbers for 2 states"),
        (lambda: WeightedTD(emphasis=lambda p: p.Omega_star), "give its diagonal"),
        (lambda: WeightedTD(emphasis=lambda p: p.states[7]), "raises IndexError"),
        (lambda: WeightedTD(emphasis=lambda t: t.gamma), "a transition may read features, s, n"),
        (lambda: ETD(interest=lambda p: [1, -1]), "interest is -1"),
        (lambda: ETD(interest=lambda p: [1, 2, 3]), "gave 3 numbers for 2 states"),
        (lambda: ETD(interest={"left": 1, "right": -1}), "interest is -1"),
        (lambda: ETD(interest=-1), "interest is -1"),
        (lambda: ETD(beta=2), "beta is 2"),
        (lambda: ETD(clip=0), "clip is 0"),
        (lambda: ETD(truncate=-1), "truncate is -1"),
        (lambda: ETD(truncate="3/2"), "truncate is 3/2"),
        (lambda: ETD(truncate="k"), "truncate is k; expected a whole number"),
        (lambda: SETD(cap=0), "cap is 0"),
        (lambda: SETD(ratios="none"), "'full' or 'capped'"),
    ],
)
def test_bad_settings(make, words):
    with pytest.raises(InputError, match=words):
        otd.mean_dynamics(two_state(), make())


def test_a_power_series_needs_weight_where_it_puts_some():
    problem = two_state().replace(xi={"left": 1, "right": 0})
    with pytest.raises(UndefinedError, match="'right'"):
        otd.mean_dynamics(problem, WeightedTD(emphasis=emphases.power_series(1)))
    found = otd.mean_dynamics(problem, WeightedTD(emphasis=emphases.power_series(0)))
    assert found.A == otd.mean_dynamics(problem, TD()).A


@pytest.mark.parametrize(
    "learner",
    [
        ETD(lam="1/2", beta="1/3", interest={"a": 1, "b": 2}, truncate=2),
        ETD(truncate=0, interest=lambda p: 2),
        SETD(lam="1/2", cap=2, ratios="capped", omega="expected"),
        WeightedTD(lam="1/2", emphasis=emphases.omega_star),
    ],
    ids=lambda learner: learner.label,
)
def test_each_form_compiles_to_what_it_evaluates_to(learner):
    assert check(learner).ok


def test_settings_at_the_command_line():
    from obliquetd.cli.learners import made

    numbers = {"beta": "1/2", "truncate": "2", "interest": "3", "cap": "2", "ratios": "capped"}
    found = made(["etd", "setd"], numbers)
    assert found == [ETD(beta="1/2", truncate="2", interest="3"), SETD(cap="2", ratios="capped")]
    assert check(found[0], compiled=False).ok


def test_settings_by_state_in_a_sweep():
    from obliquetd.experiments import grid

    made = grid([ETD], alpha=[0.001], interest=[1, {"left": 1, "right": 2}])
    found = otd.sweep(two_state(reward=1), made, 100, 2, workers=1)
    named = "ETD alpha=0.001 interest={'left': 1, 'right': 2}"
    assert list(found.curves) == ["ETD alpha=0.001", named]
    assert {row["interest"] for row in found.rows()} == {1.0, "{'left': 1, 'right': 2}"}
    alike = otd.simulate(two_state(reward=1), made[1], 100, runs=2)
    assert (found[named].theta == alike["ETD"].theta).all()
