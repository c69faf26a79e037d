"""Packs: by name, of one's own, from a file; what they refuse; how they are told."""

import json
import re

import pytest
from typer.testing import CliRunner

import obliquetd as otd
from obliquetd.claims import PACKS, REGISTRY, Outcome, Pack, Reference, Registry, Verdict, pack_of
from obliquetd.cli import app
from obliquetd.errors import InputError
from obliquetd.report import claims_page

ME = Reference("Me 2024", "M. Me", 2024, "A note", "Unpublished")
SOURCE = """
from obliquetd.claims import Outcome, Pack, Reference, Verdict

PACK = Pack("mine", "My note", "of my note", (Reference("Me 2024", "M. Me", 2024, "A note", "Unpublished"),))


@PACK.claim("sum", cites=("Me 2024",), where="page 1", title="2 + 2 = 4", statement="2 + 2 = 4")
def total(right=4):
    return Outcome(Verdict.VERIFIED if 2 + 2 == right else Verdict.OPEN, "added up")


@PACK.claim("asked", title="1 = 1", statement="1 = 1")
def asked():
    return Outcome(Verdict.VERIFIED, "looked")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my_pack.py"
    path.write_text(SOURCE)
    return str(path)


def run(*arguments, expect=0):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == expect, done.output
    return done


def test_the_papers_pack_is_the_first_and_the_default():
    assert next(iter(PACKS)) == "lyu-2018"
    assert pack_of("lyu-2018").registry is REGISTRY
    asked = ["table-1-etd", "projection-idempotent"]
    plain, named = (otd.verify(asked, **given) for given in ({}, {"pack": "lyu-2018"}))
    for a, b in zip(plain, named, strict=True):
        left, right = a.to_dict(), b.to_dict()
        left.pop("seconds"), right.pop("seconds")
        assert left == right
        assert "cites" not in left


@pytest.mark.parametrize("name", PACKS)
def test_a_pack_of_the_package_has_its_own_name(name):
    assert pack_of(name).name == name


def test_a_pack_from_a_file(file):
    results = otd.verify(pack=file)
    assert [(r.id, r.verdict, r.origin) for r in results] == [
        ("sum", "verified", "paper"), ("asked", "verified", "ours"),
    ]  # fmt: skip
    assert results[0].claim.where == "Me 2024, page 1"
    assert results[0].said == "discussed there"
    assert "0 claims" not in claims_page(results[:1], file)
    page = claims_page(results, file)
    assert "<h1>My note, claim by claim</h1>" in page
    assert "M. Me (2024). A note. Unpublished." in page
    assert "Lyu" not in page


def test_the_command_line_takes_a_pack(file):
    told = run("verify", "--pack", file).stdout
    assert "1 claim of my note: 1 verified" in told
    records = json.loads(run("verify", "sum", "--pack", file, "--json").stdout)
    assert [r["id"] for r in records] == ["sum"]
    refused = CliRunner().invoke(app, ["verify", "--pack", "folk"])
    assert isinstance(refused.exception, InputError)
    assert "'folk'" in str(refused.exception)


def test_the_command_line_judges_folklore(tmp_path):
    page = tmp_path / "page.html"
    names = ("etd-finite-variance", "td-small-discount-stable")
    told = run("verify", *names, "--pack", "folklore", "--html", str(page)).stdout
    assert "of the folklore" in told
    text = page.read_text()
    assert "Bibliography" in text
    assert "false as said" in text
    assert "1 claim of the folklore: 1 refuted. 1 claim of ours: 1 refuted." in " ".join(
        re.sub("<[^>]+>", "", text).split()
    )
    assert '<p class="label">Said</p>' in text
    assert "printed" not in text.casefold()
    assert "Sutton, A. Mahmood, M. White (2016)" in text
    assert "Baird" not in text.split("Bibliography")[1]  # what these do not cite is left out


def test_what_a_pack_refuses(tmp_path):
    mine = Pack("mine", "My note", bibliography=(ME,), topics={"a": "Topic"})
    with pytest.raises(InputError, match="cites 'You 2023', which is not in the bibliography"):
        mine.claim("one", cites=("You 2023",), topic="a", title="", statement="")
    with pytest.raises(InputError, match="'b', which is no topic of 'mine'; expected one of 'a'"):
        mine.claim("one", topic="b", title="", statement="")
    with pytest.raises(InputError, match="'Me 2024' twice"):
        Pack("mine", "", bibliography=(ME, ME))
    with pytest.raises(InputError, match="'You 2023' is not in"):
        mine.reference("You 2023")
    assert mine.reference("Me 2024") is ME
    with pytest.raises(
        InputError, match="no pack of claims is called 'other'; expected lyu-2018, folklore"
    ):
        otd.verify(pack="other")
    with pytest.raises(InputError, match="give one of the two"):
        otd.verify(pack="folklore", registry=Registry())
    with pytest.raises(InputError, match="there is no file"):
        pack_of(str(tmp_path / "none.py"))
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    with pytest.raises(InputError, match="makes no packs of claims; expected one"):
        pack_of(str(empty))


def test_two_packs_keep_their_claims_apart():
    a, b = Pack("a", "A"), Pack("b", "B")
    for pack in (a, b):
        pack.claim("one", title="", statement="")(lambda: Outcome(Verdict.OPEN, ""))
    assert len(a.registry) == len(b.registry) == 1
    assert "one" not in {c.id for c in REGISTRY}
