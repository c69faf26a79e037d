"""Random problems on and off-policy, with episodes that begin anew; their matrices, row by row."""

import sympy as sp
from hypothesis import strategies as st

from tests.strategies import problems

LAMBDAS = st.sampled_from([0, "1/2", 1])


def walks(on_policy=None, tabular=False):
    """Problems with stationary weights, whose matrices are not large."""
    found = problems(closed=True, most_states=4, most_actions=2, on_policy=on_policy)
    return found.map(lambda problem: problem.replace(features=None)) if tabular else found


def visited(problem, values):
    """The values of the states that are ever visited."""
    return [v for v, weight in zip(values, problem.xi, strict=True) if weight]


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
                ends = after in problem.mdp.terminal
                g = 0 if ends else problem.discount * sp.Rational(own)
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
