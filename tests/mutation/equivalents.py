"""Mutants that change no answer, by module and name, each with the reason why."""

STRICT = "refused all the same: vectors of different length have no product (zip is strict)"
SHAPES = "the shapes have been compared before"
SQUARE = "Q is square: it has as many columns as rows"
NO_GAP = "where the gap is 0, its product with phi is 0 too, and 0 is returned below"

SIDES = (
    "balls only spare a check by fractions, which would say the same; a vector is proposed because "
    "K is negative on it"
)
ROUTE = "from which size on balls are asked first: the other route gives the same verdict"

EQUIVALENT: dict[str, dict[str, str]] = {
    "obliquetd.dynamics.check": {
        "check_certificate: except (KeyError, TypeError, ValueError, ZeroDivisionError):": (
            "every index stays in a shape that has been compared; it is caught for whoever edits"
        ),
        "_check: if False:": STRICT,
        "_check: if all((len(row) != d for row in A)):": STRICT,
        "_check: if m == 0:": "Q with other columns has a product B Q that differs from A B, or none",
        "_check: if m == 0 or all((len(row) != m for row in Q)):": (
            "Q with other columns has a product B Q that differs from A B, or none"
        ),
        "_check: if any((len(row) != m for row in B)) or not _independent(B, m):": STRICT,
        "_check: if len(B) != d or not _independent(B, m):": STRICT,
        "_check: if len(B) != d or all((len(row) != m for row in B)) or (not _independent(B, m)):": (
            STRICT
        ),
        "_check: return any(v) and (not any((_dot(row, v) for row in Q)))": STRICT,
        "_check: if any((len(row) != m for row in K)) or _transpose(K) != K:": (
            "a symmetric K is square, and its product with Q exists for its size alone"
        ),
        "_check: if len(K) != m or _transpose(K) != K:": "a symmetric K with m rows has m columns",
        "_check: if len(K) != m or all((len(row) != m for row in K)) or _transpose(K) != K:": (
            "a symmetric K with m rows has m columns"
        ),
        "_check: falls = _dot(v, [_dot(row, v) for row in K]) < 0": STRICT,
        "_dot: return sum((x * y for x, y in zip(u, v, strict=False)), Fraction(0))": SHAPES,
        "_transpose: return [list(column) for column in zip(*A, strict=False)]": SHAPES,
        "_positive_definite: without: S = [row[:] for row in S]": (
            "what it is asked of is not used afterwards"
        ),
        "_independent: if False:": (
            "then the pivot is None, which is no index: a TypeError, and the answer False"
        ),
        "_independent: rows[i] = [x - factor * y for x, y in zip(rows[i], rows[j], strict=False)]": (
            SHAPES
        ),
    },
    "obliquetd.learners.words": {
        "omega: if False:": NO_GAP,
        "omega: if down == -1:": NO_GAP,
        "omega: if up >= 0:": "0 / down and 0 * up are both 0",
    },
    "obliquetd.learners.emphatic": {
        "SETD.derives: return {'expected': (1, '1/2', -2, 2)} if self.omega == 'expected' else {}": (
            "stand-ins, on which the guard tries the rule: any numbers will do"
        ),
        "td: return emphatic(x.theta, m.e, t, 1 - 0 * t.g, alpha, p.lam)": "minus zero is plus zero: 1 either way",
    },
    "obliquetd.words.theory": {
        "Theory.__init__: _ = left + right": "a sum has the shapes of the difference",
        "module: MOST_STEPS = 501": "how many steps are enough to give up is a choice",
        "Theory._step: for i in range(len(product) + len(left) + 1):": (
            "a slice that begins too late is shorter than the left side, and so another"
        ),
    },
    "obliquetd.reproduction.evidence": {
        "Part.decisions: sign = 1 if self.side == 'below' else -2": (
            "both sides of each comparison are multiplied by it"
        ),
        **dict.fromkeys(
            (
                "ratio_of_spreads: if reach > 699:",
                "ratio_of_spreads: if reach >= 700:",
                "ratio_of_spreads: return Interval(top / bottom, 1.0, math.inf, "
                "'the jackknife finds no limit')",
            ),
            "no reach is near: left-out spreads differ by a factor of 1e8 at most, or are 0",
        ),
    },
    "obliquetd.problem.projection": {
        "solve_in_row_space: if not null.shape[0]:": "without null vectors the rest changes nothing",
        "_free_states: names = ops.names(seen[:5])": "how many states a message names",
        "_beside: rows = [[*a, *b] for a, b in zip(left.rows(), right.rows(), strict=False)]": (
            "both are null vectors of as many features, and have a row for each"
        ),
    },
    "obliquetd.dynamics.certificate": {
        "make_certificate: if Q.shape[-1] == 0:": "Q is square: it has as many columns as rows",
        "make_certificate: vector = [serial_number(v) for v in null.submatrix("
        "range(null.shape[0]), [-1]).public_list()]": "any null vector proves the same claim",
        "_exact_lyapunov: identity = Q.arithmetic.identity(Q.shape[1])": SQUARE,
        "_exact_lyapunov: identity = Q.arithmetic.identity(Q.shape[-1])": SQUARE,
        "make_certificate: if -2 in (falls, positive):": SIDES,
        "make_certificate: without: continue": SIDES,
        "make_certificate: if falls == positive == 1 and check_certificate(found):": SIDES,
        "make_certificate: if falls == positive == 1:": SIDES,
        "make_certificate: if check_certificate(found):": SIDES,
        "_unstable: if falls == -2:": SIDES,
        "_unstable: if falls == -0:": SIDES,
        "_unstable: if check_certificate(found):": SIDES,
        "_unstable: if falls == 2 and _value(K, vector) < 0 or check_certificate(found):": SIDES,
        "_unstable: if falls == 1 and _value(K, vector) >= 0 or check_certificate(found):": SIDES,
        "_unstable: if falls == 1 and _value(K, vector) < 1 or check_certificate(found):": SIDES,
        "_unstable: if falls == 1 and _value(K, vector) < -1 or check_certificate(found):": SIDES,
        "_value: terms = (a * fraction(k) + b for a, row in zip(v, K, strict=True) for k, b in zip(row, v, strict=True))": SIDES,
        "_value: terms = ((a + fraction(k)) * b for a, row in zip(v, K, strict=True) for k, b in zip(row, v, strict=True))": SIDES,
        "_value: terms = (a * fraction(k) * b for a, row in zip(v, K, strict=False) for k, b in zip(row, v, strict=True))": SIDES,
    },
    "obliquetd.dynamics.stability": {
        "routh_conditions: determinants = [arithmetic.public(arithmetic.matrix([row(i, k) for i in range(k)], "
        "(k, k)).det()) for k in range(0, n + 1)]": "the determinant of nothing is 1, which is positive and left out",
        "verdict_of: small = len(exact) <= SMALL + 2": ROUTE,
        "verdict_of: small = len(exact) <= SMALL + 0": ROUTE,
        "verdict_on: if matrix.arithmetic.kind == 'another text' and matrix.shape[0] > SMALL:": ROUTE,
        "verdict_on: if matrix.arithmetic.kind == 'exact' or matrix.shape[0] > SMALL:": ROUTE,
        "verdict_on: if matrix.arithmetic.kind == 'exact' and matrix.shape[0] <= SMALL:": ROUTE,
        "definiteness: if S.arithmetic.kind == 'exact' and S.shape[1] > SMALL:": ROUTE,
        "routh_is_positive: lower = [c * lead for c in coefficients[1::2]]": (
            "a row of Routh's table may be multiplied by a positive number, here lead squared"
        ),
        "routh_is_positive: upper, lower = (lower, [u - ratio * v for u, v in "
        "zip(upper[1:], padded[1:], strict=False)])": "padded has the length of upper",
        "definiteness: signs = [S.arithmetic.sign(c) * (-2) ** i for i, c in "
        "enumerate(S.charpoly())]": "only the sign of the power counts",
        "routh_is_positive: padded = lower + [lower[-1] * 0] * (len(upper) - len(lower))": (
            "zero times any coefficient is the same zero"
        ),
        "_reflected: n = len(coefficients) + 1": "only whether n is even counts",
        "_reflected: return [c * (-1) ** (n + i) for i, c in enumerate(coefficients)]": (
            "n + i is even where n - i is"
        ),
    },
}

PROPOSES = (
    "what it proposes is returned only if the checker accepts it; that one is found is tested"
)
WORDING = "it says what an error says, in words"

EXEMPT: dict[str, dict[str, str]] = {
    "obliquetd.dynamics.certificate": {
        "": "how finely a proposed K is rounded: " + PROPOSES,
        "_lyapunov": PROPOSES,
        "rounded": PROPOSES,
        "_falling": PROPOSES,
        "_power_of_two": PROPOSES,
        "_ratio": PROPOSES,
    },
    "obliquetd.problem.projection": {"_told": WORDING},
}
"""Functions none of whose mutants changes an answer, by module and name, each with the reason."""
