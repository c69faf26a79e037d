"""Logs for the tests: all transitions of a problem with their chances, and random ones of rationals."""

import sympy as sp
from hypothesis import strategies as st

from obliquetd import LoggedData
from tests import strategies

R = sp.Rational
HALF = R(1, 2)
RATIONALS = st.sampled_from([R(k, m) for k in range(-3, 4) for m in (1, 2, 3)])
PLACE = st.sampled_from(["error", "target"])
LAM = st.sampled_from([0, HALF, 1])
CHANCES = st.sampled_from([R(0), R(1, 3), R(1, 2), R(9, 10), R(1)])


def problems(**kinds):
    """Problems whose states are all visited, with independent features, without terminal states."""
    usual = {"closed": True, "most_states": 4, "endings": ("never", "discount")}
    found = strategies.problems(**{**usual, **kinds})
    return found.filter(lambda p: all(p.xi) and p.Phi.rank() == p.Phi.cols)


def transitions(problem):
    """(s, s', reward, g, rho, xi mu p) of each row of the table that the behaviour takes."""
    for s, a, t, p, reward, *own in problem.mdp.transitions:
        mu = problem.behavior[s].get(a, 0)
        if mu:
            i, j = problem.states.index(s), problem.states.index(t)
            g = problem.discount * (own[0] if own else 1)
            chance = problem.xi[i] * mu * sp.nsimplify(p)
            yield i, j, reward, g, problem.target[s].get(a, 0) / mu, chance


def every_transition(problem):
    """The rows as a log, each an episode of its own, and their chances."""
    i, j, reward, g, rho, chance = zip(*transitions(problem), strict=True)
    phi = problem.Phi.tolist()
    log = LoggedData(
        [phi[k] for k in i], [phi[k] for k in j], reward, g, rho=rho, first=[True] * len(i)
    )
    return log, chance


@st.composite
def logs(draw, d=2, most=7):
    """A random walk through random features, with terminations, cuts and ratios."""
    steps = draw(st.integers(d, most))
    vectors = st.lists(RATIONALS, min_size=d, max_size=d)
    phi = [draw(vectors) for _ in range(steps + 1)]
    first = [draw(st.booleans()) for _ in range(steps)]
    after = [draw(vectors) if t + 1 < steps and first[t + 1] else phi[t + 1] for t in range(steps)]
    return LoggedData(
        phi[:steps],
        after,
        [draw(RATIONALS) for _ in range(steps)],
        [draw(CHANCES) for _ in range(steps)],
        rho=[draw(st.sampled_from([R(0), HALF, R(1), R(2)])) for _ in range(steps)],
        first=first,
    )


def rows_of(log):
    """(phi, phi', r, g, rho, first) of each row, phi as columns, in sympy."""
    n = log.numbers
    rows = zip(n.phi, n.phi_next, n.reward, n.discount, n.rho, log.first, strict=True)
    return [
        (column(p), column(q), number(r), number(g), number(rho), bool(f))
        for p, q, r, g, rho, f in rows
    ]


def number(x):
    return R(int(x.numerator), int(x.denominator))


def column(values):
    return sp.Matrix([number(x) for x in values])


def decay(rows, lam, j, k):
    """The product over l = j .. k-1 of g_l lam rho_l; 0 where an episode begins in between."""
    product = R(1)
    for step in range(j, k):
        product *= rows[step][3] * lam * rows[step][4] * (0 if rows[step + 1][5] else 1)
    return product


def error_parts(row, place):
    """(scale, y, Delta) of an error scale (y - Delta . theta)."""
    phi, after, r, g, rho, _ = row
    return (rho, r, phi - g * after) if place == "error" else (R(1), rho * r, phi - rho * g * after)
