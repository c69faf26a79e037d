"""Where an answer can come by more than one way, each way is forced on the same problems, and all answers compared.

The ways are read from the code (:mod:`tests.forced`), and so is what is none: every other number with a name has to be
listed here with what it is. The problems are those with character (:mod:`tests.character`), and what is asked of them,
number by number, is in :mod:`tests.questions`.
"""

import ast
import contextlib
import os
import random
from functools import cache

import pytest

import obliquetd as otd
from obliquetd.dynamics import at_rest, expectation, symbol
from tests import forced
from tests.forced import (
    HUGE,
    Seen,
    chooses_by_exception,
    declared,
    modules,
    other_numbers,
)
from tests.questions import (
    Said,
    counted,
    differences,
    mean,
    problem_of,
    questions,
    searched,
    settings,
    special,
)

WAYS = {way.key: way for way in declared(modules())}
FRESH = int(os.environ.get("WAYS_SEED", 0))
"""The first seed of the longest runs; a failure names it."""

NOT_WAYS = {
    "tolerance": """
        algebra.float_solve.SURELY algebra.krylov.PART algebra.krylov.ROUGHLY algebra.krylov.AT_ROUNDING algebra.krylov.AT_MOST
        algebra.krylov.FLOOR algebra.large_chain.SETTLED algebra.large_chain.FORGOTTEN algebra.rounding.SAFETY
        algebra.rounding.FEW_DIGITS algebra.rounding.SAME algebra.rounding.STATIONARY algebra.rounding.UNSTABLE
        algebra.rounding.NO_DESCENT algebra.rounding.NEARLY_REAL algebra.rounding.EIGENVALUE learners.active.FORGOTTEN
        learners.check.CLOSE dynamics.at_rest.SAFETY dynamics.block_margins.INVERTIBLE dynamics.block_margins.SPANNED
        dynamics.block_margins.ROUNDING dynamics.block_margins.SURELY dynamics.block_means.NEARLY_SINGULAR
        dynamics.block_means.ROUNDING dynamics.certified_step.WITHIN dynamics.certified_step.NEAR
        dynamics.certified_step.CLOSE dynamics.float_stability.SAFETY dynamics.mean_step_size.SLOWEST
        dynamics.pencil.ROUNDED dynamics.plane.NEAR dynamics.products.CLOSE dynamics.scalars.LEAST
        dynamics.steady.FAR_BELOW dynamics.trace_step_size.MARGIN dynamics.trace_step_size.SLACK search.scores.CLOSE
        search.walk.CLEAR dynamics.covariances.ENOUGH
        dynamics.float_step_size.ENOUGH problem.spans.APART problem.spans.ENOUGH""",
    "budget, beyond which there is no answer or an open one": """
        algebra.boxes.BISECTIONS algebra.expressions.MAX_TEXT algebra.expressions.MAX_DECIMAL_EXPONENT
        algebra.expressions.MAX_BITS algebra.expressions.MAX_TERMS algebra.expressions.MAX_DEGREE
        algebra.expressions.MAX_SYMBOLS algebra.field.LARGEST_EXACT algebra.field.LARGEST_SYMBOLIC
        algebra.float_solve.LARGEST_NULL_VECTOR algebra.floating.LARGEST_DECOMPOSED algebra.sign_cases.MOST_CASES
        algebra.signs.HALVINGS algebra.signs.MOST_BOXES algebra.signs.MOST_COEFFICIENTS algebra.storage.LARGEST_DENSE
        mdp.imports.DEEPEST learners.degree.MOST_DEGREE problem.rounding.LARGEST
        dynamics.bounds.theorems.trajectory.LONGEST_LAG dynamics.certificate.LARGEST_EXACT dynamics.check.LONGEST
        dynamics.fitting.MOST_UPDATES dynamics.float_step_size.LARGEST dynamics.mean_step_size.LARGEST
        dynamics.moments.MOST_KEPT dynamics.steady.LARGEST dynamics.trace_step_size.ROUNDS
        dynamics.trace_step_size.LARGEST dynamics.trace_step_size.MOST_RUNS dynamics.trace_step_size.HUGE
        search.stream.MOST atlas.family.MOST_CHAINS atlas.family.MOST_CODES atlas.questions.LONGEST
        atlas.questions.DEEPEST""",
    "effort: of tries, steps and digits on one way": """
        algebra.intervals.FINE dynamics.rounded.MOST_WAYS problem.spans.PASSES
        algebra.boxes.PIECES algebra.centred.POINTS algebra.enclosures.PRECISION algebra.integer_solve.SAMPLE
        algebra.krylov.BASIS algebra.krylov.RESTARTS algebra.krylov.REFINEMENTS algebra.large_chain.REST
        algebra.lifting.SMALL algebra.pencil.LARGEST algebra.roots.DIGITS algebra.roots.GUARD algebra.singular.SWEEPS
        algebra.stationary.POWER_STEPS algebra.writing.GUARD mdp.environments.STEPS_TRIED learners.active.WIDE
        learners.candidates.TRIES learners.check.STATES learners.check.STEPS dynamics.at_rest.GOLDEN
        dynamics.blocks.HELD dynamics.bounds.outward.DIGITS dynamics.bounds.outward.BITS
        dynamics.certified_step.STEPS dynamics.float_span.ATTEMPTS dynamics.mean_step_size.WORK dynamics.plane.DECIMALS
        dynamics.rule.PROBE search.scores.HELD search.scores.TRIED search.search.AT_MOST
        search.search.GROWTH search.stream.AT_A_TIME search.walk.WALK search.walk.MORE atlas.build.PART""",
    "inside a function that is declared a way": """
        search.scores.MOST_NUMBERS""",
    "fact of the machine or of a format": """
        algebra.field_matrix.PRINTED algebra.float_rank.DIGITS learners.state.LINE learners.active.ENDED
        learners.active.FULL problem.places.NOBODY algebra.error_free.SPLITTER dynamics.provenance.FORMAT
        dynamics.rounded.UNIT dynamics.rounded.DYADIC dynamics.rounded.SMALLEST dynamics.rounded.NORMAL
        dynamics.rounded.SAFE""",
    "how a text or a float is read": """
        algebra.numbers.WRITTEN algebra.numbers.SMALL learners.evaluate.SHORT""",
    "display": """
        algebra.float_solve.FRAMES dynamics.covariances.FRAMES algebra.waiting.SOON algebra.waiting.LONG algebra.writing.LONGEST_SHOWN
        mdp.substitution.MOST_NAMED problem.matrices.MOST_NAMED dynamics.float_step_size.FRAMES
        dynamics.one_line.LARGEST dynamics.one_line.LONGEST atlas.questions.SHOWN""",
}
"""What every other number is."""

BY_EXCEPTION = {
    "mdp.environments._replay": "an environment that is not the package's",
    "learners.weighted.is_of_the_problem": "a function of the user's own, which the check of the rule runs again",
    "dynamics.expectation.sums_of": "declared",
    "dynamics.products.products_of": "declared",
    "dynamics.symbol._at_rest": "forced below",
    "search.scores._together": "forced below",
    "search.scores._made_table": "table_of is declared",
    "search.scores.runs_in_blocks": "declared",
}
"""Where an exception may choose a way, and what holds it."""

FORCED = {
    "algebra.boxes.HALVINGS": (0,),  # a number of bits
    "algebra.boxes.MOST": (0,),
    "algebra.rounding.BLOCK": (1,),  # sizes of parts
    "algebra.watched.AT_ONCE": (1,),
    "dynamics.columns.STRETCH": (1,),
    "search.scores.LARGEST_BLOCK": (1,),
    "algebra.integer_solve.FEW": (1, HUGE),
}
"""What a number is forced to where 0 and more than anything make no sense."""

SPARSE = {"algebra.storage.SPARSE_FROM": 0}
ITERATED = {**SPARSE, "algebra.krylov.LARGEST_FACTORED": 0, "algebra.krylov.CHEAP_BAND": 0}
WALKED = {**SPARSE, "algebra.stationary.MOST_UPDATES": 0}
SLOW = {**WALKED, "algebra.stationary.CHEAP_BAND": 0}
LAST = {**WALKED, "algebra.large_chain.eliminated": None, "algebra.large_chain.walked": None}
TOGETHER = {
    "algebra.functions.LARGEST_NUMERATOR": {"algebra.boxes.HALVINGS": 0},
    "algebra.enclosures.side_of_axis": {"dynamics.stability.SMALL": 0},
    "algebra.enclosures.form_side": {"dynamics.stability.SMALL": 0},
    "algebra.evaluation._by_primes": {"algebra.evaluation.LARGE": 0},
    "algebra.krylov.LARGEST_FACTORED": SPARSE,
    "algebra.krylov.CHEAP_BAND": {**SPARSE, "algebra.krylov.LARGEST_FACTORED": 0},
    "algebra.krylov.LARGEST_BAND": ITERATED,
    "algebra.krylov.LARGEST_FILL": ITERATED,
    "algebra.krylov.SHAPE": ITERATED,
    "algebra.stationary.MOST_UPDATES": SPARSE,
    "algebra.stationary.CHEAP_BAND": WALKED,
    "algebra.stationary.LARGEST_DENSE_CHAIN": LAST,
    "algebra.large_chain.eliminated": WALKED,
    "algebra.large_chain.MOST_OPERATIONS": WALKED,
    "algebra.large_chain.MOST_ENTRIES": WALKED,
    "algebra.large_chain.walked": SLOW,
    "algebra.large_chain.MOST_STEPS": SLOW,
    "algebra.tall.ONE_THREAD": {"algebra.float_solve.TALL": 0},
    "dynamics.certified_step.first_root": {"dynamics.float_step_size.SMALL": 0},
}
"""Ways that are met only where others are forced too."""


def chosen(count, seed):
    return random.Random(seed).sample(list(settings()), count)


@cache
def asked(first, seeds, count):
    """Questions with their answers, and which ways each of them meets."""
    listed = [q for s in range(first, first + seeds) for q in questions(s, chosen(count, s))]
    listed += special()
    found = []
    with forced.watched(list(WAYS.values())) as seen:
        for question in listed:
            forced.forget()
            for each in seen.values():
                each.asked = False
            answers = question.ask()
            found.append((question, answers, {w.key for w, each in seen.items() if each.asked}))
    return found


def met(way, first, seeds, count):
    """The questions that meet a way, or else those that meet the one that it comes after."""
    found = asked(first, seeds, count)
    for key in (way.key, *TOGETHER.get(way.key, {})):
        reached = [(q, a) for q, a, keys in found if key in keys]
        if reached:
            return random.Random(first).sample(reached, len(reached))
    return []


@contextlib.contextmanager
def taken(way, value, seen):
    """The package on one way, with what it needs beside."""
    with contextlib.ExitStack() as stack:
        for key, other in TOGETHER.get(way.key, {}).items():
            stack.enter_context(forced.forced(WAYS[key], other))
        stack.enter_context(forced.forced(way, value, seen))
        yield


def disagreements(way, value, pairs, enough):
    """What comes out otherwise on another way, and whether any of it did come by that way."""
    seen, wrong = Seen(), []
    for k, (question, usual) in enumerate(pairs):
        if k >= (enough if seen.changed else 4 * enough):
            break
        with taken(way, value, seen):
            answers = question.ask()
        wrong += [(question.name, n, usual[n], answers[n]) for n in differences(usual, answers)]
    return wrong, seen.changed


def compare(way, first, seeds, count, enough):
    """Fail where a forced way answers otherwise, or none of its values is met."""
    changed = False
    for value in FORCED.get(way.key, way.values):
        wrong, once = disagreements(way, value, met(way, first, seeds, count), enough)
        assert not wrong, f"{way.key} = {value}, seeds from {first}: {wrong[:3]}"
        changed |= once
    assert changed or way.key in SELDOM, f"no question meets {way.key}"


ELSEWHERE = {key: "tests/algebra/test_large_chains.py" for key in WAYS if ".krylov." in key}
"""Ways that systems of this size do not take, and the test that forces them on larger ones."""
SELDOM = {
    key for key in WAYS if key.startswith(("algebra.large_chain.", "algebra.stationary."))
} | {
    "algebra.factored.MOST_FLOATS",
    "algebra.float_proofs.WELL_SPREAD",
    "algebra.float_solve.surely_independent",
    "algebra.function_matrix.FunctionMatrix._by_factor",
    "algebra.functions.LARGEST_NUMERATOR",
    "algebra.roots.FAR",
    "algebra.roots.LONG",
    "algebra.tall.FEW_ROWS",
    "algebra.tall.is_tall",
    "algebra.tall.rows_of_product",
}
"""Ways that problems of this size seldom meet: they are compared where they are met."""
OF_SEARCHES = {key for key in WAYS if key.startswith(("search.", "atlas."))}


# --- what the code declares -------------------------------------------------------------------


def test_every_number_is_a_way_or_said_to_be_something_else():
    listed = [name for names in NOT_WAYS.values() for name in names.split()]
    assert sorted(listed) == sorted(f"{module}.{name}" for module, name in other_numbers(modules()))


def test_every_exception_that_may_choose_a_way_is_listed():
    assert set(chooses_by_exception(modules())) == set(BY_EXCEPTION)


def test_what_is_said_of_ways_is_said_of_ways():
    assert {*FORCED, *TOGETHER, *SELDOM} <= set(WAYS)


def test_ways_and_numbers_are_read_from_the_code():
    text = """
FEW: Way[int] = 3
A, B = 4, 1e-3
OTHER = 2**4
TEXT = "x"
class C:
    def f(self) -> Way[int | None]: ...
def g() -> Way[bool]:
    try: ...
    except Exception: return False
"""
    tree = [("room.file", ast.parse(text))]
    assert [(w.key, w.values) for w in declared(tree)] == [
        ("room.file.FEW", (0, HUGE)), ("room.file.C.f", (None,)), ("room.file.g", (False,)),
    ]  # fmt: skip
    assert [n for _, n in other_numbers(tree)] == ["A", "B", "OTHER"]
    assert list(chooses_by_exception(tree)) == ["room.file.g"]


# --- every way --------------------------------------------------------------------------------


@pytest.mark.slow
def test_outcome_by_outcome_answers_as_all_at_once():
    compare(WAYS["dynamics.expectation.sums_of"], 0, 3, 4, 12)


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(WAYS.keys() - OF_SEARCHES - ELSEWHERE.keys()))
def test_each_way_answers_the_same(key):
    compare(WAYS[key], 0, 3, 4, 2)


@pytest.mark.slow
@pytest.mark.skipif(
    "WAYS_SEED" not in os.environ, reason="asked for by WAYS_SEED: it takes an hour"
)
@pytest.mark.parametrize("key", sorted(WAYS.keys() - OF_SEARCHES - ELSEWHERE.keys()))
def test_each_way_answers_the_same_on_fresh_problems(key):
    compare(WAYS[key], FRESH, 8, 6, 10)


SEARCHES = {
    "search.scores.LARGEST_BLOCK": (1,),
    "search.scores.table_of": (None,),
    "search.scores.runs_in_blocks": (False,),
    "search.stream.STEPPED": (0, HUGE),
}


@cache
def found(on_policy, learner):
    forced.forget()
    return searched(on_policy, learner)


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(SEARCHES))
def test_each_way_of_a_search_finds_the_same(key):
    seen = Seen()
    for on_policy, learner in ((False, otd.ETD(lam="1/2")), (True, otd.TD()), (False, otd.TDC())):
        usual = found(on_policy, learner)
        for value in SEARCHES[key]:
            with forced.forced(WAYS[key], value, seen):
                assert not differences(usual, searched(on_policy, learner))
    assert seen.changed


def test_an_atlas_counts_the_same_in_machine_integers_and_in_long_ones():
    learners, seen = [otd.TD(), otd.SETD(), otd.GTD2()], Seen()
    usual = counted(learners)
    with forced.forced(WAYS["atlas.integers.LIMIT"], 0, seen):
        assert not differences(usual, counted(learners))
    assert seen.changed
    assert OF_SEARCHES - {"atlas.integers.LIMIT", "search.search.WORTH_PROCESSES"} == set(SEARCHES)


# --- the one way of what is shipped -----------------------------------------------------------


def refuse(*_, **__):
    raise AssertionError("outcome by outcome")


AVERAGEABLE = [x for x in settings() if getattr(x, "clip", None) is None]  # a clip is not affine


@pytest.mark.parametrize("learner", AVERAGEABLE, ids=str)
def test_no_shipped_learner_goes_outcome_by_outcome(learner, monkeypatch):
    monkeypatch.setattr(expectation.Expectation, "samples", property(refuse))
    monkeypatch.setattr(symbol, "_by_outcomes", refuse)
    for kind in ("exact", "float", "symbolic"):
        for seed in (3, 8):
            problem = problem_of(seed, kind)
            dyn = otd.mean_dynamics(problem, learner, sampling="iid")
            with contextlib.suppress(otd.errors.SignUndecidedError):
                assert dyn.A.shape == (dyn.b.shape[0],) * 2
                assert dyn.expectation.sums is not None


@pytest.mark.parametrize("learner", chosen(5, 1), ids=str)
@pytest.mark.parametrize("seed", [5])
def test_outcome_by_outcome_is_what_all_outcomes_at_once_are(learner, seed):
    way = WAYS["dynamics.expectation.sums_of"]
    for kind in ("exact", "float", "symbolic"):
        usual = mean(problem_of(seed, kind), learner)
        with forced.forced(way, None):
            assert not differences(usual, mean(problem_of(seed, kind), learner)), (kind, seed)


# --- what is remembered, and what kind the numbers are ----------------------------------------


@pytest.mark.slow
def test_no_answer_depends_on_what_was_asked_before():
    """The same questions in another order, nothing forgotten in between."""
    pairs = [(q, a) for q, a, _ in asked(0, 3, 4)]
    forced.forget()
    for question, usual in random.Random(0).sample(pairs, len(pairs) // 3):
        assert not differences(usual, question.ask()), question.name


def test_an_explicit_zero_that_spans_is_noticed(monkeypatch):
    """The fault that no test noticed: a reward of 0 left an entry in a row of constants."""
    monkeypatch.setattr(at_rest, "_without_zeros", lambda rows: [dict(r) for r in rows if r])
    rows = [(s, 0, (s + 1) % 4, 1, int(s == 3), int(s < 3)) for s in range(4)]
    mdp = otd.MDP.from_transitions(rows)
    policy = otd.Policy.uniform(mdp)

    def asked() -> dict:
        problem = otd.PolicyEvaluation(mdp, target=policy, discount="gamma")
        return mean(problem, otd.SETD())

    with forced.forced(WAYS["dynamics.expectation.sums_of"], None):
        usual = asked()
    assert {"span", "fixed point"} <= set(differences(usual, asked()))


def test_a_wrong_number_is_noticed():
    assert differences({"A": otd.MDP}, {"A": Said("warned")}) == []
    assert differences({"A": 1.0}, {"A": 1.0 + 1e-5}) == ["A"]
    assert differences({"A": Said("InputError")}, {"A": 1.0}) == ["A"]
