"""README's recipes for developers, each followed on a copy of the registry it speaks of."""

import re

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.claims import Outcome, Registry, Verdict, claim, verify
from obliquetd.formats.files import FORMATS
from obliquetd.formats.format import Contents, Format
from obliquetd.learners import LEARNERS, check, learner_class
from obliquetd.problem.weightings import WEIGHTINGS
from tests.learners.test_own_rules import FAMILY
from tests.readme import README
from tests.test_cli import run, strict


def recipes():
    text = README.read_text().split("<!-- recipes -->\n")[1].split("\n\n")[0]
    found = re.findall(r"^\* \*\*(.*?)\*\*: (.*?)(?=^\* |\Z)", text, re.DOTALL | re.MULTILINE)
    return {name: steps.strip().splitlines() for name, steps in found}


def test_there_is_a_recipe_for_each_family():
    assert list(recipes()) == ["A learner", "A weighting", "A claim", "A format", "A domain"]


@pytest.mark.parametrize("name", recipes())
def test_a_recipe_has_three_lines_and_names_files_that_exist(name):
    steps = recipes()[name]
    assert len(steps) == 3
    for path in re.findall(r"`((?:tests/|\w+/)[\w/]+\.py)`", " ".join(steps)):
        places = (README.parent / path, README.parent / "obliquetd" / path)
        assert any(place.exists() for place in places), path


def test_a_learner(tmp_path, monkeypatch):
    file = tmp_path / "family.py"
    file.write_text(FAMILY)
    kind = learner_class(f"{file}:CappedSETD")
    monkeypatch.setitem(LEARNERS, kind.key, kind)
    assert check(LEARNERS["cappedsetd"]()).ok
    otd.save_model(otd.domains.two_state(reward=1), tmp_path / "m.json")
    data = strict(run("analyze", tmp_path / "m.json", "--json").stdout)
    assert [row["learner"] for row in data["learners"]][-1] == "cappedsetd"
    assert "cappedsetd" in run("analyze", tmp_path / "m.json", "--learner", "no", expect=2).stderr


def test_a_weighting(monkeypatch):
    monkeypatch.setitem(WEIGHTINGS, "twice", lambda ops: ops.Xi_Phi.scale_rows(ops.xi))
    problem = otd.domains.two_state(reward=1)
    expected = problem.fixed_point(X=sp.diag(*problem.xi) ** 2 * problem.Phi)
    assert problem.fixed_point("twice").theta == expected.theta


def test_a_claim():
    mine = Registry()

    @claim("rows-sum-to-one", where="mine", title="t", statement="P 1 = 1", registry=mine)
    def rows_sum_to_one(total=1):
        P = otd.domains.two_state().P_pi
        if all(sum(P[i, :]) == total for i in range(2)):
            return Outcome(Verdict.VERIFIED, f"rows sum to {total}")
        return Outcome(Verdict.OPEN, "they do not")

    (result,) = verify(registry=mine)
    assert result.verdict == "verified"
    assert rows_sum_to_one.check(2).verdict == "open"


def test_a_format(tmp_path, monkeypatch):
    def read(path, reading):
        return Contents(reading.mdp(line.split() for line in path.read_text().splitlines()))

    def write(problem, path):
        rows = (" ".join(map(str, row[:5])) for row in problem.mdp.transitions)
        path.write_text("\n".join(rows))

    monkeypatch.setitem(FORMATS, ".rows", Format(".rows", "a row a line", read=read, write=write))
    problem = otd.domains.two_state(reward=1)
    with pytest.warns(otd.errors.FormatWarning, match="the features"):
        otd.save_model(problem, tmp_path / "m.rows")
    back = otd.load_model(tmp_path / "m.rows", discount="9/10")
    assert (back.P_b, back.discount) == (problem.P_b, problem.discount)
    assert ".rows" in run("analyze", tmp_path / "m.nothing", expect=2).stderr


def test_a_domain():
    def loop(discount="9/10"):
        """One state that pays 1 a step: v = 1 / (1 - gamma)."""
        mdp = otd.MDP.from_transitions([("s", "a", "s", 1, 1)])
        return otd.PolicyEvaluation(mdp, target=otd.Policy.uniform(mdp), discount=discount)

    assert loop().v_pi[0] == 10
    assert otd.mean_dynamics(loop(), otd.TD()).is_stable()
