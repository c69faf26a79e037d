"""Random problems on and off-policy, with episodes that begin anew; their matrices, row by row."""

from fractions import Fraction

import sympy as sp
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation

LAMBDAS = st.sampled_from([0, "1/2", 1])
END = 3


@st.composite
def walks(draw, on_policy=False, tabular=False):
    """Three states, two actions; state 2 may end the episode, and rows have discounts of their own."""
    episodic = draw(st.booleans())
    rows = []
    for s in range(3):
        likely = draw(st.sampled_from(["1/3", "3/4"]))
        own = draw(st.sampled_from([1, "1/2", 0]))
        rows += [
            (s, "a", (s + 1) % 3, likely, draw(st.integers(-2, 3))),
            (s, "a", s, 1 - Fraction(likely), 1, own),
            (s, "b", END if episodic and s == 2 else 0, 1, draw(st.integers(-2, 3))),
        ]
    mdp = MDP.from_transitions(rows)

    def policy(shares):
        chances = [Fraction(draw(st.sampled_from(shares))) for _ in range(3)]
        return Policy({s: {"a": p, "b": 1 - p} for s, p in enumerate(chances)})

    target = policy(["1/4", "2/3", "1"])
    behavior = None if on_policy else policy(["1/4", "1/2", "4/5"])
    if on_policy:
        target = policy(["1/4", "2/3"])
    d = 2
    entries = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    features = None if tabular else {s: draw(entries) for s in mdp.states}
    return PolicyEvaluation(
        mdp,
        target=target,
        behavior=behavior,
        features=features,
        discount=draw(st.sampled_from(["1/2", "9/10"])),
        start={0: "1/2", 1: "1/2"} if episodic else None,
    )


def behavior_of(problem):
    return problem.target if problem.behavior is None else problem.behavior


def kernel(problem, share, *, discounted=True):
    """K(s, s'): the sum over outcomes of mu p share(pi, mu), times the discount if wanted."""
    n, behavior = len(problem.states), behavior_of(problem)
    K = sp.zeros(n, n)
    for row in problem.mdp.transitions:
        s, action, after, chance = row[:4]
        own = row[5] if len(row) > 5 else 1
        pi, mu = (policy[s].get(action, 0) for policy in (problem.target, behavior))
        if mu:
            i, j = problem.states.index(s), problem.states.index(after)
            g = 1
            if discounted:
                g = 0 if after == END else problem.discount * sp.Rational(own)
            K[i, j] += mu * sp.Rational(chance) * g * sp.sympify(share(pi, mu))
    return K


def rewards(problem, share):
    """r(s): the sum over outcomes of mu p share(pi, mu) times the reward."""
    r = sp.zeros(len(problem.states), 1)
    for s, action, _, chance, reward, *_ in problem.mdp.transitions:
        pi, mu = (policy[s].get(action, 0) for policy in (problem.target, behavior_of(problem)))
        if mu:
            part = mu * sp.Rational(chance) * sp.Rational(reward) * sp.sympify(share(pi, mu))
            r[problem.states.index(s)] += part
    return r


def credited(problem, decay):
    """Z = (I - K')^-1 Xi Phi: the mean of the trace in each state, times its weight."""
    n = len(problem.states)
    return (sp.eye(n) - decay.T).LUsolve(sp.diag(*problem.xi) * problem.Phi)


def traced(problem, cut, error):
    """A and b of e = c gamma e + phi, theta += alpha k delta e, with c = cut(pi, mu), k = error(pi, mu)."""
    mass = kernel(problem, error, discounted=False) * sp.ones(len(problem.states), 1)
    for s in problem.mdp.terminal:
        mass[problem.states.index(s)] = 1
    Z = credited(problem, kernel(problem, cut))
    A = Z.T * (sp.diag(*mass) - kernel(problem, error)) * problem.Phi
    return A, Z.T * rewards(problem, error)


def ratio(pi, mu):
    return pi / mu


def td(problem, lam):
    """A and b of TD(lambda), and A_mu, that of the behaviour's own."""
    lam = sp.Rational(lam)
    A, b = traced(problem, lambda pi, mu: lam * pi / mu, ratio)
    return A, b, traced(problem, lambda *_: lam, lambda *_: 1)[0]


def blocks(rows):
    return sp.Matrix(sp.BlockMatrix(rows))
