"""The small language of questions, against Python's own and, or and not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.atlas.questions import parse
from obliquetd.atlas.verdicts import VERDICTS
from obliquetd.errors import InputError

LEARNERS = ["TD", "TD lam=1/2", "SETD"]

ATOMS = st.tuples(st.just("is"), st.sampled_from(LEARNERS), st.sampled_from(VERDICTS))
TREES = st.recursive(
    ATOMS,
    lambda part: st.one_of(
        st.tuples(st.just("not"), part),
        st.tuples(st.just("and"), part, part),
        st.tuples(st.just("or"), part, part),
    ),
    max_leaves=8,
)


def spoken(tree):
    kind, *parts = tree
    if kind == "is":
        return f"{parts[0]} {parts[1]}"
    if kind == "not":
        return f"not ({spoken(parts[0])})"
    return f"({spoken(parts[0])}) {kind} ({spoken(parts[1])})"


def meant(tree, verdicts):
    kind, *parts = tree
    if kind == "is":
        return verdicts[parts[0]] == parts[1]
    if kind == "not":
        return not meant(parts[0], verdicts)
    values = [meant(part, verdicts) for part in parts]
    return all(values) if kind == "and" else any(values)


@given(TREES)
def test_a_question_holds_where_its_words_do(tree):
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(4, size=30).astype(np.uint8) for name in LEARNERS}
    holds = parse(spoken(tree), LEARNERS).holds(columns, 30)
    told = [{name: VERDICTS[columns[name][k]] for name in LEARNERS} for k in range(30)]
    assert holds.tolist() == [meant(tree, verdicts) for verdicts in told]


def test_and_binds_closer_than_or_and_the_longest_name_is_meant():
    tree = parse("TD stable or TD lam=1/2 is not unstable AND setd nothing moves", LEARNERS).tree
    assert tree == (
        "or",
        ("is", "TD", "stable"),
        ("and", ("not", ("is", "TD lam=1/2", "unstable")), ("is", "SETD", "nothing moves")),
    )
    assert parse("not not TD stable", LEARNERS).tree == ("not", ("not", ("is", "TD", "stable")))
    assert parse(None, LEARNERS).holds({}, 2).tolist() == [True, True]
    assert parse("SETD stable or TD stable and SETD stable", LEARNERS).learners == ["SETD", "TD"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has nothing where a learner of the atlas"),
        ("Q stable", "has 'Q' where a learner of the atlas .SETD, TD, TD lam=1/2., 'not' or"),
        ("TD bad", "has 'bad' where a verdict on TD"),
        ("TD and SETD unstable", "has 'and' where a verdict on TD"),
        ("TD stable SETD stable", "has 'SETD' where 'and', 'or' or the end was expected, at character 11"),
        ("(TD stable", r"has nothing where '\)'"),
        ("TD stable)", r"has '\)' where 'and'"),
        ("TD unstablest", "has 'unstablest'"),
        ("__import__('os')", "has '__import__'"),
        ("(" * 300 + "TD stable", "nests more than"),
        ("not " * 300 + "TD stable", "nests more than"),
        ("TD stable or " * 1000, "has 13,000 characters"),
        (7, "the question is 7"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_named(text, told):
    with pytest.raises(InputError, match=told):
        parse(text, LEARNERS)
