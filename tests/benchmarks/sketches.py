"""Peers that do the same work as a line of the table by the shortest way known, without its checks and its words.

Each takes what a problem has of its outcomes and ends with the numbers that are asked for: no rule is run, so
that each serves one learner only; rationals are FLINT's, floats have no bounds on their errors, and a region is
known to within a millionth and not to its exact ends.
"""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
from scipy.linalg import solve_continuous_lyapunov


def _floats(values):
    return np.array([float(int(x.numerator) / int(x.denominator)) for x in values])


def _row_major(matrix):
    return [x for row in matrix.rows() for x in row]


def exact_sums(ops, xi, *, emphatic=False):
    """A and b of TD, or of ETD with its emphasis solved for, from the outcomes of a problem in FLINT."""
    n, d = ops.Phi.shape
    Phi = flint.fmpq_mat(n, d, _row_major(ops.Phi))
    weights = flint.fmpq_mat(n, 1, list(xi.entries()))
    states, nexts = ops.state.tolist(), ops.next_state.tolist()

    def sums():
        mass, reward = [0] * n, [0] * n
        kernel = [0] * (n * n)
        outcomes = zip(
            states, nexts, ops.pi.tolist(), ops.probability.tolist(), ops.row_discount.tolist(),
            ops.reward.tolist(), strict=True,
        )  # fmt: skip
        for s, t, pi, p, g, r in outcomes:
            w = pi * p
            mass[s] += w
            reward[s] += w * r
            kernel[s * n + t] += w * g
        K = flint.fmpq_mat(n, n, kernel)
        left = weights
        if emphatic:
            unit = flint.fmpq_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
            left = (unit - K.transpose()).solve(weights)
        rows = Phi.tolist()
        Z = flint.fmpq_mat(
            [[left[s, 0] * x for x in row] for s, row in enumerate(rows)]
        ).transpose()
        weighed = flint.fmpq_mat([[mass[s] * x for x in row] for s, row in enumerate(rows)])
        return Z * (weighed - K * Phi), Z * flint.fmpq_mat(n, 1, reward)

    return sums


def float_sums(ops, Phi, xi):
    """A and b of TD in numpy, from the outcomes of a problem in floats."""
    n = len(xi)

    def sums():
        w = ops.pi * ops.probability
        K = np.bincount(ops.state * n + ops.next_state, w * ops.row_discount, n * n).reshape(n, n)
        mass, reward = (np.bincount(ops.state, x, n) for x in (w, w * ops.reward))
        Z = (xi[:, None] * Phi).T
        return Z @ (mass[:, None] * Phi - K @ Phi), Z @ reward

    return sums


def region_by_boxes(ops, *, setd):
    """Where TD or SETD is stable in the discount, by intervals and one Lyapunov matrix for each, to 10^-6.

    The weight of an outcome on an interval lies between the ends of its numerator over those of its
    denominator; it is 1 for a transition that stays. One discount for all outcomes is taken for granted.
    """
    states, nexts, d = ops.state, ops.next_state, ops.Phi.shape[1]

    def stable_ranges():
        Phi = _floats(_row_major(ops.Phi)).reshape(-1, d)
        w = _floats(ops.pi) * _floats(ops.probability) * _floats(ops.xi.entries())[states]
        stays = (states == nexts) if setd else np.zeros(len(w), dtype=bool)
        fixed = Phi[states[stays]].T @ (w[stays, None] * Phi[states[stays]])
        w, u, v = w[~stays], Phi[states[~stays]], Phi[nexts[~stays]]
        uu, uv, vv = (np.einsum("ij,ij->i", *pair) for pair in ((u, u), (u, v), (v, v)))

        def weights(a, b):
            if not setd:
                return np.ones(len(w)), np.zeros(len(w))
            up = np.sort([uu - a * uv, uu - b * uv], axis=0)
            down = np.sort([uu - 2 * g * uv + g * g * vv for g in (a, b)], axis=0)
            least = np.divide(uv, vv, out=np.full(len(w), -1.0), where=vv > 0)
            inside = (a < least) & (least < b)
            down[0, inside] = (uu - uv * least)[inside]
            if (down[0] <= 1e-13).any():
                return None
            low, high = np.maximum(up[0], 0) / down[1], np.maximum(up[1], 0) / down[0]
            return (low + high) / 2, (high - low) / 2 + 1e-12

        def side(a, b):
            found = weights(a, b)
            if found is None:
                return None
            m, r = found
            middle, half = (a + b) / 2, (b - a) / 2
            gap = u - middle * v
            A = fixed + u.T @ ((w * m)[:, None] * gap)
            size = np.abs(u).T
            spread = size @ ((w * r)[:, None] * np.abs(gap)) + size @ (
                (w * (m + r) * half)[:, None] * np.abs(v)
            )
            K = solve_continuous_lyapunov(A.T, np.eye(d))
            R = np.abs(K) @ spread
            S = A.T @ K + K @ A
            if np.linalg.eigvalsh(S)[0] <= np.linalg.norm(R + R.T) + 1e-12 * d:
                return None
            return bool(np.linalg.eigvalsh((K + K.T) / 2)[0] > 0)

        waiting, done = [(0.0, 1.0)], []
        while waiting:
            a, b = waiting.pop()
            found = side(a, b)
            if found is None and b - a > 1e-6:
                waiting += [((a + b) / 2, b), (a, (a + b) / 2)]
            elif done and done[-1][2] == found:
                done[-1] = (done[-1][0], b, found)
            else:
                done.append((a, b, found))
        return done

    return stable_ranges


def fixed_point_by_values(P, r, xi, Phi):
    """theta(gamma) of TD: solved at d + 1 discounts and interpolated, as reduced fractions."""
    n, d = Phi.nrows(), Phi.ncols()

    def theta():
        rows = [[xi[s, 0] * x for x in row] for s, row in enumerate(Phi.tolist())]
        X = flint.fmpq_mat(rows).transpose()
        A0, A1, b = X * Phi, X * (P * Phi), X * r
        points = list(range(2, d + 3))
        below, above = [], []
        for x in points:
            A = A0 - A1 * flint.fmpq(x)
            det = A.det()
            below.append(det)
            above.append([y * det for y in A.solve(b).entries()])
        return _reduced(points, below, above)

    assert n == P.nrows()
    return theta


def emphatic_point_by_values(P, r, xi, Phi):
    """theta(gamma) of ETD: f by Krylov vectors and the characteristic polynomial, then as :func:`fixed_point_by_values`."""
    n, d = Phi.nrows(), Phi.ncols()

    def theta():
        den = flint.fmpq_poly(list(P.charpoly().coeffs())[::-1])  # det(I - gamma P)
        PT, vectors = P.transpose(), [xi]
        while len(vectors) < n:
            vectors.append(PT * vectors[-1])
        # f det(I - gamma P) is a polynomial of degree below n, so A and b are some of degree n
        f = flint.fmpq_mat(
            [
                _padded((flint.fmpq_poly([v[s, 0] for v in vectors]) * den).coeffs(), n)
                for s in range(n)
            ]
        )
        PPhi, rows = P * Phi, Phi.tolist()
        points = list(range(1, d * n + 2))
        below, above = [], []
        for x in points:
            weights = f * flint.fmpq_mat(n, 1, [flint.fmpq(x) ** k for k in range(n)])
            X = flint.fmpq_mat(
                [[weights[s, 0] * y for y in row] for s, row in enumerate(rows)]
            ).transpose()
            A = X * Phi - (X * PPhi) * flint.fmpq(x)
            det = A.det()
            below.append(det)
            above.append([y * det for y in A.solve(X * r).entries()])
        return _reduced(points, below, above)

    return theta


def _padded(coefficients, n):
    return [*coefficients[:n], *[flint.fmpq(0)] * (n - len(coefficients))]


def _reduced(points, below, above):
    """The fractions through values of their numerators and of their one denominator."""
    D = _through(points, below)
    out = []
    for i in range(len(above[0])):
        N = _through(points, [values[i] for values in above])
        common = N.gcd(D)
        out.append((N // common, D // common))
    return out


def _through(points, values):
    """Newton's divided differences."""
    c = list(values)
    for j in range(1, len(points)):
        for i in range(len(points) - 1, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (points[i] - points[i - j])
    p = flint.fmpq_poly([c[-1]])
    for x, y in zip(points[-2::-1], c[-2::-1], strict=True):
        p = p * flint.fmpq_poly([-x, 1]) + y
    return p


def setd_scores(n, discount):
    """For genomes (3 n, B), successors and then pairs of features, SETD's smallest real part over the norm of A."""

    def scores(genomes):
        count = genomes.shape[1]
        phi = genomes[n:].reshape(n, 2, count).astype(float)
        x, y = phi[:, 0], phi[:, 1]
        to = genomes[:n] * count + np.arange(count)
        u, v = (z - discount * z.ravel().take(to) for z in (x, y))
        up, down = u * x + v * y, u * u + v * v
        omega = np.maximum(up, 0) / np.where(down > 0, down, 1)
        p, q = omega * x, omega * y
        a, b, c, d = (np.einsum("sb,sb->b", *pair) for pair in ((p, u), (p, v), (q, u), (q, v)))
        root = np.sqrt(np.maximum(((a - d) / 2) ** 2 + b * c, 0))
        size = np.sqrt(a * a + b * b + c * c + d * d)
        return ((a + d) / 2 - root) / np.where(size > 0, size, 1)

    return scores


def setd_walks(n, walks, *, discount, changes=150, seed=0, together=600):
    """A search for SETD's counterexamples off-policy with two features: walks side by side, in numpy.

    Each walk begins at random integers, draws one or two of them anew at each change, and keeps what lowers the
    score. It draws from a generator of its own, so that it is the same whatever is walked beside it. Several changes
    of each walk are judged at a time. Gives the genomes and scores that the walks end at.
    """
    genes = 3 * n
    low = np.array([0] * n + [-3] * 2 * n)
    span = np.array([n] * n + [7] * 2 * n, dtype=np.uint64)
    scores = setd_scores(n, discount)

    def below(halves, bound):
        return ((halves * bound) >> np.uint64(32)).astype(int)

    def run():
        words = (genes + 6 * changes) // 2 + 1
        raw = np.array([np.random.PCG64([seed, k]).random_raw(words) for k in range(walks)])
        halves = raw.view(np.uint32)
        genomes = low[:, None] + below(halves[:, :genes], span).T
        places, values = (np.empty((2, walks, changes), dtype=int) for _ in range(2))
        for k in range(0, walks, 64):  # parts that stay in a processor's cache
            some = slice(k, k + 64)
            drawn = halves[some, genes : genes + 5 * changes].reshape(-1, changes, 5)
            first, second = (below(drawn[..., j], np.uint64(genes)) for j in (0, 1))
            second = np.where(drawn[..., 4] >> np.uint32(31), second, first)
            for j, place in enumerate((first, second)):
                places[j, some] = place
                values[j, some] = below(drawn[..., 2 + j], span.take(place)) + low.take(place)
        places, values = places.reshape(2, -1), values.reshape(2, -1)
        best, tried = scores(genomes), np.zeros(walks, dtype=int)
        since = np.zeros(walks, dtype=int)
        active = np.arange(walks)
        while active.size:
            ahead = np.minimum(
                changes - tried[active], np.maximum(since[active], 1 + together // len(active))
            )
            who = np.repeat(active, ahead)
            first = np.cumsum(ahead) - ahead
            which = np.arange(len(who)) + np.repeat(tried[active] - first, ahead)
            at = who * changes + which
            tests, columns = genomes.take(who, axis=1), np.arange(len(who))
            for k in (0, 1):
                tests[places[k].take(at), columns] = values[k].take(at)
            found = scores(tests)
            better = np.flatnonzero(found < best[who])
            new = np.ones(len(better), dtype=bool)
            new[1:] = who[better[1:]] != who[better[:-1]]
            better = better[new]
            tried[active] += ahead
            since[active] += ahead
            kept = who[better]
            tried[kept], since[kept] = which[better] + 1, 0
            genomes[:, kept], best[kept] = tests[:, better], found[better]
            active = active[tried[active] < changes]
        return genomes, best

    return run


def setd_shrunk(n, genome, *, discount):
    """The integers of an unstable genome brought towards 0 while SETD's score is negative; det A and its trace, exact."""
    scores, gamma = setd_scores(n, float(discount)), discount

    def run():
        small, changed = list(genome), True
        while changed:
            changed = False
            for k in range(3 * n):
                tests = [
                    [*small[:k], value, *small[k + 1 :]]
                    for value in sorted(range(0 if k < n else -3, n if k < n else 4), key=abs)
                    if abs(value) < abs(small[k])
                ]
                if not tests:
                    continue
                found = scores(np.array(tests).T)
                if found.min() < -1e-4:
                    small, changed = tests[int((found < -1e-4).argmax())], True
        phi = [small[n + 2 * s : n + 2 * s + 2] for s in range(n)]
        A = [[Fraction(0)] * 2 for _ in range(2)]
        for s in range(n):
            gap = [x - gamma * y for x, y in zip(phi[s], phi[small[s]], strict=True)]
            up, down = sum(x * y for x, y in zip(gap, phi[s], strict=True)), sum(x * x for x in gap)
            omega = up / down if up > 0 else 0
            A = [[A[i][j] + omega * phi[s][i] * gap[j] for j in range(2)] for i in range(2)]
        return small, A[0][0] * A[1][1] - A[0][1] * A[1][0], A[0][0] + A[1][1]

    return run
