"""Mutants that change no answer, by module and name, each with the reason why."""

STRICT = "refused all the same: vectors of different length have no product (zip is strict)"
SHAPES = "the shapes have been compared before"
NO_GAP = "where the gap is 0, its product with phi is 0 too, and 0 is returned below"

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
}
