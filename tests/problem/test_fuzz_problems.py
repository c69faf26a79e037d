"""Five hundred random problems in three arithmetics: right, or an honest error or warning.

The exact answer is the truth. A float answer may miss it by the stated relative error, or say so
with a PrecisionWarning, or refuse with an error of the package where the system that it solves is
nearly singular; it is never nan, never infinite where the truth is finite, and a bare exception is
never honest. A symbolic answer, with the number put in, *is* the exact one.
"""

import functools
import itertools
import math
import random
import warnings
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, mean_dynamics
from obliquetd.errors import ObliqueTDError, PrecisionWarning
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC, ResidualGradient
from tests.pool import run_limited
from tests.turn import part

PROBLEMS = 500
SECONDS = 10

PRODUCT = 1e-9
"""Relative error of sums of products: no system is solved but that of the weights xi."""
SOLVED = 1e-6
"""Relative error of solutions; one that keeps fewer digits has to warn."""
HARD = 1e8
"""Condition from which on floats may refuse to solve."""

LEARNERS = {
    "TD": TD(), "TD(1/2)": TD(lam="1/2"), "SETD": SETD(), "ETD": ETD(), "GTD2": GTD2(), "TDC": TDC(),
    "RG": ResidualGradient(),
}  # fmt: skip
POINTS = ("td", "rg", "setd", "etd", "best")
MATRICES = (
    "P_pi", "P_b", "r_pi", "xi", "L_pi", "Phi", "C", "Lambda", "v_pi", "X_star", "Y_star", "Pi",
    "best", "Omega_star", "Omega_S", "Omega_S_batch", "Omega_E",
)  # fmt: skip
PRODUCTS = ("P_pi", "P_b", "r_pi", "xi", "L_pi", "Phi", "C", "Lambda")
ERRORS = ("rmse", "rmspbe", "rmsbe", "worst_case")


class Draw:
    """The numbers of one random problem, as fractions."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        n, k = rng.choice([1, 2, 2, 3, 3, 4]), rng.choice([1, 2, 2, 3])
        self.states, actions = list(range(n)), [f"a{i}" for i in range(k)]
        ends = n > 1 and rng.random() < 0.1  # the last state is terminal
        size, mixed = self.exponent(), rng.random() < 0.3
        self.rows = []
        for s in range(n - ends):
            for a in actions:
                weights = [rng.choice([0, 0, 1, 1, 2, 5]) for _ in range(n)]
                if a == "a0" and rng.random() < 0.8:
                    weights[(s + 1) % n] += 1  # most chains have one class
                if not any(weights):
                    weights[rng.randrange(n)] = 1
                for t, w in enumerate(weights):
                    if w:
                        own = rng.choice([1, 1, 1, 1, 1, 0, Fraction(1, 2)])
                        reward = Fraction(rng.randint(-5, 5), rng.choice([1, 1, 3, 7]))
                        reward *= Fraction(10) ** (self.exponent() if mixed else size)
                        self.rows.append((s, a, t, Fraction(w, sum(weights)), reward, own))
        acting = self.states[: n - ends]
        self.behavior = {s: self.distribution(actions, 1) for s in acting}
        self.target = {s: self.distribution(actions, 0) for s in acting}
        if rng.random() < 0.25:
            self.target = self.behavior
        self.discount = Fraction(
            rng.choice(["0", "1/2", "5/6", "9/10", "9/10", "99/100", "999999/1000000", "1"])
        )
        self.features = self.feature_rows(n, rng.randint(1, n))
        self.xi = None
        if rng.random() < 0.2:
            scale = Fraction(10) ** self.exponent()
            self.xi = [rng.randint(0 if i else 1, 4) * scale for i in range(n)]

    def exponent(self):
        return self.rng.choice([0, 0, self.rng.randint(-15, 15)])

    def distribution(self, actions, least):
        weights = [self.rng.randint(least, 3) for _ in actions]
        if not any(weights):
            weights[0] = 1
        return {a: Fraction(w, sum(weights)) for a, w in zip(actions, weights, strict=True)}

    def feature_rows(self, n, d):
        """One size for all, a size for each column, or, now and then, for each entry."""
        how = self.rng.choice(["all", "all", "all", "column", "column", "entry"])
        columns = [self.exponent()] * d if how == "all" else [self.exponent() for _ in range(d)]
        return [
            [
                self.rng.randint(-3, 3)
                * Fraction(10) ** (self.exponent() if how == "entry" else columns[j])
                for j in range(d)
            ]
            for _ in range(n)
        ]

    def problem(self, number, discount=None):
        """With every number made by ``number``, so that the three arithmetics see the same ones."""

        def policy(rows):
            return Policy({s: {a: number(p) for a, p in row.items()} for s, row in rows.items()})

        mdp = MDP.from_transitions(
            [(s, a, t, number(p), number(r), number(g)) for s, a, t, p, r, g in self.rows],
            states=self.states,
        )
        target = policy(self.target)
        return PolicyEvaluation(
            mdp,
            target=target,
            behavior=None if self.target is self.behavior else policy(self.behavior),
            features=[[number(x) for x in row] for row in self.features],
            discount=number(self.discount) if discount is None else discount,
            xi=None if self.xi is None else [number(x) for x in self.xi],
        )


class Subject:
    """A problem that is asked several questions, and what was made of it for them."""

    def __init__(self, problem):
        self.problem, self.warned = problem, False
        self.point = functools.cache(problem.fixed_point)
        self.dynamics = functools.cache(
            lambda name: mean_dynamics(problem, LEARNERS[name], sampling=sampling(problem))
        )


def questions():
    """Every quantity, as a function of a subject, by name."""
    found = {name: lambda s, k=name: getattr(s.problem, k) for name in MATRICES}
    for point in POINTS:
        found[f"{point}.v_hat"] = lambda s, k=point: determined(s.point(k))
        for error in ERRORS:
            found[f"{point}.{error}"] = lambda s, k=point, e=error: getattr(s.point(k), e)
    for name in LEARNERS:
        found[f"{name}.A"] = lambda s, k=name: s.dynamics(k).A
        found[f"{name}.b"] = lambda s, k=name: s.dynamics(k).b
        found[f"{name}.verdict"] = lambda s, k=name: s.dynamics(k).stability.verdict
        found[f"{name}.v_hat"] = lambda s, k=name: s.dynamics(k).v_hat
    return found


def sampling(problem):
    return "trajectory" if problem.inputs.xi is None else "iid"


def determined(point):
    """Values of the states, None for those that the equation leaves open."""
    return [None if s in point.undetermined else v for s, v in point.values.items()]


QUESTIONS = questions()


def flat(value):
    """Entries of whatever came, as a list."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, sp.MatrixBase | np.ndarray):
        return list(value) if isinstance(value, sp.MatrixBase) else value.ravel().tolist()
    return list(value) if isinstance(value, list | tuple) else [value]


def number(x):
    """A float of an exact number of any length."""
    return float(x) if not isinstance(x, sp.Basic) or x.is_Rational else float(sp.N(x, 30))


def ask(question, subject):
    """("value", v), ("refused", error), or ("fault", text); and whether it warned of precision.

    What is computed once for several questions warns once, and for all of them.
    """
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = "value", question(subject)
        except ObliqueTDError as error:
            found = "refused", error
        except Exception as error:
            found = "fault", f"bare {type(error).__name__}: {str(error)[:80]}"
    other = [w for w in heard if not issubclass(w.category, PrecisionWarning)]
    if other and found[0] != "fault":
        found = "fault", f"bare warning: {other[0].category.__name__} {str(other[0].message)[:80]}"
    subject.warned |= len(heard) > len(other)
    return *found, subject.warned


class Scales:
    """The natural size of each quantity: what it would be if nothing in it cancelled."""

    def __init__(self, draw, exact):
        self.draw, self.exact = draw, exact
        self.columns = [
            max(abs(row[j]) for row in draw.features) or 1 for j in range(len(draw.features[0]))
        ]
        self.reward = float(max((abs(r) for *_, r, _ in draw.rows), default=0))
        self.value = self.reward
        self.weight = self.attempt(lambda: max(number(x) for x in exact.xi), 1.0)
        self.ratio = max(
            number(draw.target[s].get(a, 0) / p) for s, row in draw.behavior.items() for a, p in row.items()
        )  # fmt: skip
        positive = Draw.__new__(Draw)
        vars(positive).update(vars(draw))
        positive.rows = [(s, a, t, p, abs(r), g) for s, a, t, p, r, g in draw.rows]
        self.value = self.attempt(
            lambda: max(number(v) for v in positive.problem(str).v_pi), self.reward
        )
        self.horizon = self.attempt(self.longest, 1.0)

    @staticmethod
    def attempt(function, otherwise):
        try:
            return function() or otherwise
        except ObliqueTDError:
            return otherwise

    def longest(self):
        L = self.exact.L_pi
        return max(number(x) for x in L.solve(sp.ones(L.rows, 1))) if L.det() else 1.0

    def of(self, name):
        size, top = name.split(".")[-1], float(max(self.columns))
        known = {
            "r_pi": self.reward, "v_pi": self.value, "best": self.value, "v_hat": self.value,
            "Phi": top, "Lambda": top, "C": self.weight * top**2,
            "X_star": self.weight * top * self.horizon, "Y_star": top * self.horizon,
            "rmse": math.sqrt(self.weight) * self.value, "rmsbe": math.sqrt(self.weight) * self.value,
            "rmspbe": math.sqrt(self.weight) * self.value, "b": self.weight * self.ratio * self.reward,
            "A": self.weight * self.ratio,
        }  # fmt: skip
        return known.get(size, 1.0)

    def scaled(self, name, entries):
        """Entries of A and b with the size of each feature taken out."""
        learner, _, what = name.partition(".")
        if what not in ("A", "b"):
            return entries
        columns = [float(c) for c in self.columns] * LEARNERS[learner].size(1)
        sizes = columns if what == "b" else [a * b for a in columns for b in columns]
        return [x / c for x, c in zip(entries, sizes, strict=True)]


@np.errstate(all="ignore")
def hard(scales, exact, name):
    """Whether the system behind a quantity is so close to singular that floats may refuse it.

    Conditions are those of the scaled system: with features of size 1, in whatever units they are.
    """
    owner, _, what = name.partition(".")
    try:
        if np.linalg.cond(floats(exact.L_pi)) > HARD:
            return True
        if name == "Omega_S_batch":  # its norm adds up features of all sizes, so units count here
            Phi, Lambda = floats(exact.Phi), floats(exact.Lambda)
            normal = (Lambda @ Lambda.T) * (Phi @ Phi.T)
            root = np.sqrt(np.diag(normal))
            used = root > 0
            scaled = normal[used][:, used] / np.outer(root[used], root[used])
            return not used.any() or np.linalg.cond(scaled) > HARD
        if what == "v_hat" and owner in LEARNERS:
            dynamics = mean_dynamics(exact, LEARNERS[owner], sampling=sampling(exact))
            size = dynamics.A.shape[0]
            entries = scales.scaled(f"{owner}.A", [number(x) for x in flat(dynamics.A)])
            return condition(np.array(entries).reshape(size, size)) > HARD
        if owner in POINTS or name == "Pi":
            Phi = floats(exact.Phi) / [float(c) for c in scales.columns]
            L, xi = floats(exact.L_pi), np.array([number(x) for x in exact.xi])[:, None]
            left = {"rg": L @ Phi, "best": np.linalg.solve(L.T, xi * Phi) / xi.max()}.get(
                owner, Phi
            )
            return max(condition(left.T @ (xi * (L @ Phi))), condition(Phi)) > HARD
    except (ObliqueTDError, np.linalg.LinAlgError):
        return True
    return False


def condition(matrix):
    """Of a matrix, zero singular values left out; infinite where nothing is left."""
    values = np.linalg.svd(matrix, compute_uv=False)
    values = values[values > 1e-13 * values.max(initial=0)]
    return values.max() / values.min() if values.size else math.inf


def floats(matrix):
    return np.array([[number(x) for x in row] for row in matrix.tolist()])


def check_float(subject, scales, exact, name, truth):
    """What is wrong with the float answer to one question, or None."""
    how, value, warned = ask(QUESTIONS[name], subject)
    if how == "fault":
        return value
    if truth[0] == "refused":
        unsure = isinstance(value, str) and value == "undecided"
        if how == "value" and not warned and not unsure:
            return f"a value where there is none ({type(truth[1]).__name__}: {str(truth[1])[:60]})"
        return None
    if how == "refused":
        # It says that floats cannot tell, and what can: honest, though a better float route might.
        honest = "to the precision of floats (arithmetic='exact' decides)" in str(value)
        return (
            None
            if honest or hard(scales, exact, name)
            else f"refused: {type(value).__name__} {str(value)[:80]}"
        )
    if name.endswith("verdict"):
        return (
            None
            if value in (truth[1], "undecided") or warned
            else f"{value}, the truth is {truth[1]}"
        )
    wanted, got = flat(truth[1]), flat(value)
    if len(wanted) != len(got):
        return f"{len(got)} entries, the truth has {len(wanted)}"
    if [x is None for x in wanted] != [x is None for x in got]:
        return f"the states that are left open are not those of {wanted}"
    wanted, got = ([number(x) for x in side if x is not None] for side in (wanted, got))
    if any(math.isnan(x) for x in got):
        return "nan"
    wanted, got = scales.scaled(name, wanted), scales.scaled(name, got)
    size = max([abs(x) for x in wanted if math.isfinite(x)] + [scales.of(name)])
    limit = size * (PRODUCT if name.endswith((".A", ".b")) or name in PRODUCTS else SOLVED)
    worst = max(
        (0.0 if a == b else abs(a - b) for a, b in zip(got, wanted, strict=True)), default=0.0
    )
    if worst <= limit or warned:
        return None
    return f"off by {worst / size:.1e} of {size:.1e}"


SYMBOLIC = (
    "v_pi",
    "X_star",
    "td.v_hat",
    "rg.v_hat",
    "etd.v_hat",
    "TD.A",
    "TD.b",
    "ETD.A",
    "GTD2.A",
)


def check_symbolic(subject, discount, name, truth):
    """The symbolic answer with the discount put in, against the exact one."""
    symbol = sp.Symbol("g")
    how, value, _ = ask(QUESTIONS[name], subject)
    if how == "fault":
        return value
    if how == "refused" or truth[0] == "refused":
        return None  # formulas may fail for every g, and numbers at a pole
    at = {symbol: sp.Rational(discount.numerator, discount.denominator)}
    put = [x if x is None else sp.sympify(x).subs(at) for x in flat(value)]
    # what this discount leaves open a formula may give as the limit of others
    pairs = [(a, b) for a, b in zip(put, flat(truth[1]), strict=True) if b is not None]
    if any(a is None for a, _ in pairs):
        return "a state is left open that the exact problem determines"
    if any(a.has(sp.zoo, sp.nan, sp.oo) for a, _ in pairs):
        return "a pole where the exact problem has a value"
    wrong = [(a, b) for a, b in pairs if sp.simplify(a - b) != 0]
    return f"an entry is {wrong[0][0]}, the truth is {wrong[0][1]}" if wrong else None


def faults_of(seed):
    """Everything wrong with one random problem, as lines of text."""
    draw = Draw(seed)
    exact = draw.problem(str)
    scales, known = Scales(draw, exact), Subject(exact)
    found = []
    for _, group in itertools.groupby(QUESTIONS, lambda name: name.split(".")[0]):
        floats, names = Subject(draw.problem(float)), list(group)
        formulas = None
        if len(draw.states) <= 3 and not set(SYMBOLIC).isdisjoint(names):
            formulas = Subject(draw.problem(str, discount="g"))
        for name in names:
            truth = ask(QUESTIONS[name], known)
            lines = {"exact": truth[1] if truth[0] == "fault" else None}
            if truth[0] != "fault":
                lines["float"] = check_float(floats, scales, exact, name, truth)
                if formulas and name in SYMBOLIC:
                    lines["symbolic"] = check_symbolic(formulas, draw.discount, name, truth)
            found += [f"{seed} {name} {kind}: {line}" for kind, line in lines.items() if line]
    return found


def all_faults(seeds):
    for outcome in run_limited(faults_of, seeds, seconds=SECONDS):
        if outcome.how == "done":
            yield from outcome.value
        else:
            last = str(outcome.value).strip().splitlines()[-1:]
            yield f"{outcome.task} {outcome.how}: {' '.join(last)}"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("v_pi", lambda v: [x * (1 + 2e-6) for x in flat(v)]),
        ("xi", lambda v: [math.nan for _ in flat(v)]),
        ("td.v_hat", lambda v: [*v, 0.0]),
        ("td.v_hat", lambda v: [*v[1:], None]),
        ("TD.A", lambda A: [x + 1e-8 for x in flat(A)]),
        ("TD.verdict", lambda v: {"stable": "unstable", "unstable": "stable"}[v]),
        ("Pi", lambda P: 1 / 0),
    ],
)
def test_the_oracle_sees_a_wrong_answer(monkeypatch, name, wrong):
    draw = Draw(2)
    exact = draw.problem(str)
    scales, plain = Scales(draw, exact), QUESTIONS[name]
    truth, floats = ask(plain, Subject(exact)), Subject(draw.problem(float))
    assert check_float(floats, scales, exact, name, truth) is None
    monkeypatch.setitem(QUESTIONS, name, lambda s: wrong(plain(s)))
    assert check_float(floats, scales, exact, name, truth)


@pytest.mark.slow
def test_random_problems_in_three_arithmetics():
    found = list(all_faults(part(range(PROBLEMS), 3)))
    seeds = sorted({int(line.split()[0]) for line in found})
    assert not found, f"{len(found)} faults in problems {seeds}:\n" + "\n".join(found[:40])
