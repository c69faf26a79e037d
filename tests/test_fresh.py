"""No call depends on what was imported, asked or kept before it."""

import re

import pytest

import obliquetd as otd
from tests import fresh
from tests.turn import part
from tests.zygote import answers

QUICK = ("README.md", "index.md", "start.md")
"""The pages that are asked in the default run; the others take a minute of a processor together."""


def wrong(calls):
    """What is not answered as it is shown, by name."""
    found = {call.name: call.failure(*answer) for call, answer in answers(calls)}
    assert len(found) == len(calls)
    return {name: failure for name, failure in found.items() if failure}


def pages():
    for path in fresh.PAGES:
        if fresh.of_page(path):
            marks = () if path.name in QUICK else pytest.mark.slow
            yield pytest.param(path, id=path.name, marks=marks)


@pytest.mark.parametrize("path", [*pages()])
def test_each_call_on_a_page_works_as_the_first(path):
    assert wrong(fresh.of_page(path)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("room", sorted({*otd.ROOMS, "cli", "__init__"}))
def test_each_call_in_a_docstring_works_as_the_first(room):
    assert wrong(part(fresh.of_room(room), 3)) == {}


def test_what_is_said_before_a_call_is_what_it_needs():
    page = """
    >>> import math, json
    >>> x, y = [1], 2
    >>> math.sqrt(4)
    2.0
    >>> _ = open("f", "w").write("1")
    >>> x.append(y)
    >>> z = x
    >>> z, json.load(open("f"))
    ([1, 2], 1)
    >>> 1 / 0
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    """
    calls = {call.source.strip(): call for call in fresh.calls_of("page", page)}
    said = calls['z, json.load(open("f"))'].before
    assert [s.strip() for s in said] == [
        "import math, json", "x, y = [1], 2", '_ = open("f", "w").write("1")', "x.append(y)", "z = x"
    ]  # fmt: skip
    assert [s.strip() for s in calls["math.sqrt(4)"].before] == ["import math, json"]
    assert calls["1 / 0"].before == ()
    assert wrong(list(calls.values())) == {}
    for shown, other in (("([1, 2], 1)", "([1], 1)"), ("ZeroDivisionError: d", "KeyError: d")):
        broken = list(fresh.calls_of("page", page.replace(shown, other)))
        assert len(wrong(broken)) == 1


def test_every_example_is_a_call():
    """None is lost on the way: a page's calls are its statements that are no imports."""
    for path in fresh.PAGES:
        shown = re.findall(
            r"^>>> (?!import |from |.*doctest: \+SKIP)", path.read_text(), re.MULTILINE
        )
        calls = [c for c in fresh.of_page(path) if c.example is not None]
        assert len(calls) == len(shown), path


# --- every door, with every kind of thing -------------------------------------------------------

MADE = (
    "import obliquetd as otd\n",
    "p, g = otd.domains.two_state('9/10', reward=1), otd.domains.two_state('gamma', reward=1)\n",
)
DOORS = (
    "p.fixed_point({})", "print(otd.compare(p, [{}], quantities=['rmse', 'rate']))", "otd.efficiency(p, {}).averaged",
    "otd.stability_region(g, {}, 'gamma')", "otd.mean_dynamics(p, {}).A", "otd.step_size_limit(p, {})",
    "print(otd.bounds(p, {}))", "otd.iteration(p, {}).factor", "otd.projection_analysis(p, {})",
    "otd.exact_moments(p, {}, 1).mean", "otd.stationary_moments(p, {}).mean", "otd.learners.check({}).ok",
    "otd.learners.table({})", "otd.improvement_region(g, {}, 'gamma')", "otd.crossover(p, {}, otd.LSETD())",
    "print(otd.find_unstable({}, 2, 1, walks=2, workers=1))", "otd.verify({})",
)  # fmt: skip
KINDS = (
    "otd.TD('1/100')", "'td'", "otd.TD", "otd.LSTD()", "'lstd'", "otd.LSTD", "otd.FQI()", "otd.FQI",
    "{'left': 1, 'right': 2}", "otd.domains",
)  # fmt: skip
ROOMS = "for room in otd.ROOMS: getattr(otd, room)\n"
ASKED = (
    "for x in (otd.TD('1/100'), otd.LSTD(), otd.FQI(), otd.GTD2(), otd.BRM(), 'setd'):\n"
    "    for ask in (lambda: p.fixed_point(x), lambda: otd.compare(p, [x]), lambda: otd.efficiency(p, x).averaged,\n"
    "                lambda: otd.mean_dynamics(p, x).A, lambda: otd.stability_region(g, x, 'gamma')):\n"
    "        try: ask()\n"
    "        except otd.ObliqueTDError: pass\n"
)


def asked_of(doors, kinds):
    return [door.format(kind) for door in doors for kind in kinds]


def first_and_later(sources):
    """The answers to questions as the first ones, and after all was loaded and much was asked."""
    for before in (MADE, (*MADE, ROOMS, ASKED)):
        calls = [fresh.Call(source, before, source) for source in sources]
        found = {call.name: answer for call, answer in answers(calls)}
        yield {k: (a.shown, a.error.strip().rpartition("\n")[2]) for k, a in found.items()}


QUICKLY = (
    *asked_of(DOORS[:2], KINDS[:3]),
    *asked_of(DOORS[:5], ["otd.LSTD()"]),
    *asked_of(DOORS[2:8], KINDS[:1]),
)
EVERY = [f"otd.{kind.__name__}()" for kind in otd.learners.LEARNERS.values()]
ESTIMATORS = [f"otd.{kind.__name__}()" for kind in otd.estimators.ESTIMATORS]


@pytest.mark.parametrize(
    "sources",
    [
        pytest.param(QUICKLY, id="some"),
        pytest.param(part(asked_of(DOORS, KINDS), 3), id="kinds", marks=pytest.mark.slow),
        pytest.param(part(asked_of(DOORS[:4], [*EVERY, *ESTIMATORS]), 3), id="learners", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_door_answers_the_first_question_as_it_does_a_later_one(sources):
    first, later = first_and_later(sources)
    assert first == later
    assert all(shown or error for shown, error in first.values())


def test_the_fixed_point_of_a_learner_is_the_first_that_is_asked():
    """The learner's fixed point is found by its mean dynamics, which nothing has loaded."""
    sources = [
        "p.fixed_point(otd.TD())",
        "p.fixed_point(otd.GTD2()).theta",
        "p.fixed_point(otd.WeightedTD()).theta",
    ]
    calls = [fresh.Call(source, MADE, source) for source in sources]
    found = {call.source: answer for call, answer in answers(calls)}
    assert found[sources[0]] == ("FixedPoint('TD', theta = (-15/2))\n", "")
    assert [found[s] for s in sources[1:]] == [("Matrix([[-15/2]])\n", "")] * 2
