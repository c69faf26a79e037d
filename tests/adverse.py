"""Problems that are adverse for floats, and whether a float answer is right, refused, or said to be in doubt.

The reference is the exact answer for the numbers that the floats are: every float is a rational with a power of
two for its denominator. Probabilities are such that the rows of these rationals sum to one. "Right" means entry
by entry: |x - x*| <= 1e-6 |x*| with x* the exact entry, so that a 0 has to come out as 0 and what cancels has to
keep its digits; no other entry, and no norm, excuses one. Where the two readings of a float differ in kind, as 0.1 of
features that are dependent as decimals and not as binary fractions, the answer for what ``arithmetic="exact"`` reads
is right too.
"""

import random
import warnings
from fractions import Fraction

import numpy as np
import sympy as sp

import obliquetd as otd
from obliquetd.errors import MathematicalError, ObliqueTDError, PrecisionWarning

KINDS = ("sizes", "near one", "dependent", "alike", "rare", "range", "mixed")
TOLERANCE = Fraction(1, 10**6)


def _probabilities(draw, count, rare):
    """Floats that sum to one as the rationals that they are; with ``rare`` some as small as 2^-50."""
    left, out = Fraction(1), []
    for _ in range(count - 1):
        share = (
            Fraction(1, 2 ** draw.choice([20, 30, 40, 50]))
            if rare and draw.random() < 0.6
            else (Fraction(draw.randint(1, 7), 8))
        )
        p = left * share if not rare else min(share, left / 2)
        if float(left - p) != left - p or float(p) != p:
            p = left / 2
        out.append(p)
        left -= p
    return [float(p) for p in (*out, left)]


def draw_problem(seed):
    """Its kind, and a function of a reading of floats that makes the problem in the arithmetic of that reading."""
    draw = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    has = {kind} if kind != "mixed" else set(draw.sample(KINDS[:-1], 3))
    n, d = draw.randint(1, 4), draw.randint(1, 3)
    actions = draw.randint(1, 2)

    def size(low=-15, high=15):
        return 10.0 ** draw.uniform(low, high)

    rows = []
    reward_unit = (
        size() if "sizes" in has else draw.choice([1e300, 1e-300, 1.0]) if "range" in has else 1.0
    )
    for s in range(n):
        for a in range(actions):
            ends = sorted({(s + 1) % n, *draw.sample(range(n), draw.randint(1, n))})
            chances = _probabilities(draw, len(ends), "rare" in has)
            draw.shuffle(chances)
            for t, p in zip(ends, chances, strict=True):
                reward = draw.choice([0, 0, 1, 2, -1, 0.1]) * reward_unit
                rows.append((s, a, t, p, reward))
    features = [[draw.choice([0.0, 1.0, 2.0, -1.0, 0.1, 0.3, draw.uniform(-2, 2)]) for _ in range(d)]
                for _ in range(n)]  # fmt: skip
    if "sizes" in has:
        units = [size() for _ in range(d)]
        features = [[x * u for x, u in zip(row, units, strict=True)] for row in features]
        if draw.random() < 0.5:
            k, u = draw.randrange(n), size()
            features[k] = [x * u for x in features[k]]
    if "range" in has:
        unit = draw.choice([1e155, 1e300, 1e-155, 1e-200, 1e-300])
        features = [[x * unit for x in row] for row in features]
    if "dependent" in has:
        gap = 2.0 ** -draw.choice([20, 30, 40, 44, 48, 52])
        features = [[*row, row[0] * (1 + gap * draw.choice([0, 1, 2]))] for row in features]
    if "alike" in has and n > 1:
        features[1] = list(features[0])
        if draw.random() < 0.5:
            features = [list(features[0]) for _ in features]
    discount = draw.choice([0.5, 0.9, 0.99])
    if "near one" in has:
        discount = 1 - 2.0 ** -draw.choice([10, 20, 26, 30, 40, 50, 52])

    def policy():
        return [
            _probabilities(draw, actions, "rare" in has and draw.random() < 0.5) for _ in range(n)
        ]

    target, behavior = policy(), policy()
    xi = None if draw.random() < 0.8 else [draw.choice([0.25, 0.5, 1.0, size()]) for _ in range(n)]

    def make(read, arithmetic):
        mdp = otd.MDP.from_transitions([(s, a, t, read(p), read(r)) for s, a, t, p, r in rows])
        policies = [
            otd.Policy({s: {a: read(p) for a, p in enumerate(row)} for s, row in enumerate(rows_)})
            for rows_ in (target, behavior)
        ]
        return otd.PolicyEvaluation(
            mdp, target=policies[0], behavior=policies[1],
            features=[[read(x) for x in row] for row in features], discount=read(discount),
            xi=xi and [read(x) for x in xi], arithmetic=arithmetic,
        )  # fmt: skip

    return kind, make


def both(make):
    """The problem in floats, and in the rationals that these are."""
    return make(float, "float"), make(Fraction, "exact")


QUANTITIES = (
    "v_pi",
    "xi",
    "f",
    "C",
    "Lambda",
    "X_star",
    "Omega_star",
    "Omega_S",
    "Omega_S_batch",
    "Omega_E",
    "Pi",
    "best",
)
METHODS = ("td", "rg", "setd", "etd", "best")
LEARNERS = tuple(
    (name, settings)
    for name in ("TD", "SETD", "ETD", "GTD", "GTD2", "TDC", "HTD", "TDRC", "GTD2MP", "TDCMP", "ResidualGradient",
                 "Retrace", "TreeBackup", "VTrace", "ABTD", "TrueOnlineTD", "TrueOnlineETD", "TrueOnlineSETD",
                 "TrueOnlineGTD", "WeightedTD", "NStepTD", "RegularizedTD")
    for settings in ({}, {"lam": 0.5})
    if not settings or "lam" in getattr(otd, name).__dataclass_fields__
)  # fmt: skip


def questions(draw, learners):
    """Names of answers, each with a function of a problem that gives it."""
    for name in QUANTITIES:
        yield name, lambda problem, name=name: getattr(problem, name)
    for method in METHODS:
        for part in ("theta", "v_hat", "X", "projection"):
            yield (
                f"{method}.{part}",
                lambda problem, m=method, part=part: getattr(problem.fixed_point(m), part),
            )
    for name, settings in draw.sample(LEARNERS, learners):
        learner, known = getattr(otd, name)(**settings), {}
        for part in ("A", "b", "fixed_point", "v_hat"):

            def of(problem, learner=learner, known=known, part=part):
                if problem not in known:
                    known[problem] = otd.mean_dynamics(problem, learner)
                found = getattr(known[problem], part)
                return found() if part == "fixed_point" else found

            yield f"{learner.label}.{part}", of


def entries(value):
    """All entries as fractions."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    listed = value if isinstance(value, sp.MatrixBase) else np.asarray(value).ravel().tolist()
    return [Fraction(x) if isinstance(x, float) else Fraction(int(x.p), int(x.q)) for x in listed]


def judge(of, problem, exact):
    """ "right", "refused", "warned", or what is wrong with the float answer."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = of(problem)
        except ObliqueTDError:
            return "refused"
    if any(issubclass(w.category, PrecisionWarning) for w in told):
        return "warned"
    if told:
        return f"an unknown warning: {told[0].message}"
    wrong = _unlike(entries(found), of, exact)
    if wrong and not _unlike(entries(found), of, problem.replace(arithmetic="exact")):
        return "right"  # for the decimals that were written, of which 0.1 is 1/10
    return wrong or "right"


def _unlike(found, of, exact):
    """Which entry is far from the exact one, if one is."""
    try:
        wanted = entries(of(exact))
    except MathematicalError as error:
        return f"{found} without a word; exact: {error}"
    for k, (x, y) in enumerate(zip(found, wanted, strict=True)):
        if abs(x - y) > TOLERANCE * abs(y):
            return f"entry {k} is {float(x):.9g}, right is {_short(y)}"
    return ""


def _short(y):
    try:
        return f"{float(y):.9g}"
    except OverflowError:
        return f"about 1e{len(str(abs(y.numerator))) - len(str(y.denominator))}"


def draw_ordinary(seed):
    """A problem as people have them, in floats: decimals, thirds, walks, groups, features that are dependent."""
    draw = random.Random(seed)
    n, actions, rows = draw.randint(2, 6), draw.randint(1, 2), []
    walk, decimals = draw.random() < 0.5, draw.random() < 0.6

    def chances(count):
        weights = [draw.randint(1, 4) for _ in range(count)]
        dyadic = {1: [1.0], 2: [0.5, 0.5], 3: [0.25, 0.25, 0.5], 4: [0.25] * 4}
        return [w / sum(weights) for w in weights] if decimals else dyadic[count]

    for s in range(n):
        for a in range(actions):
            near = {max(s - 1, 0), min(s + 1, n - 1)}
            far = {(s + 1) % n, *draw.sample(range(n), min(n, draw.randint(1, 3)))}
            ends = sorted(near if walk else far)
            for t, p in zip(ends, chances(len(ends)), strict=True):
                rows.append((s, a, t, p, draw.choice([0.0, 0.0, 0.0, 1.0, -1.0, 0.1, 0.3])))
    mdp = otd.MDP.from_transitions(rows)
    middle = (n - 1) / 2
    tenths = [[draw.randint(0, 10) / 10 for _ in range(2)] for _ in range(n)]
    features = draw.choice([
        None,
        [[1.0, s - middle, (s - middle) ** 2][:n] for s in range(n)],
        [[float(s % 2 == 0), float(s % 2)] for s in range(n)],
        [[draw.choice([0.1, 0.2, 0.3, 0.7, 1.0, 2.0, 0.0, -1.0]) for _ in range(2)] for _ in range(n)],
        [[a, b, round(a + b, 1)] for a, b in tenths],
    ])  # fmt: skip
    policies = [
        otd.Policy({s: dict(enumerate(chances(actions))) for s in range(n)}) for _ in range(2)
    ]
    return otd.PolicyEvaluation(
        mdp, target=policies[0], behavior=policies[draw.randint(0, 1)], features=features,
        discount=draw.choice([0.9, 0.5, 0.99, 0.8]),
    )  # fmt: skip
