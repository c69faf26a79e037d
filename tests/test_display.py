"""What notebooks and papers get: valid LaTeX, escaped HTML, and no crash for what does not exist."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import sympy as sp
from hypothesis import given

from obliquetd import MDP, Policy, PolicyEvaluation, compare, mean_dynamics, simulate, verify
from obliquetd.display import html_table, latex_of
from obliquetd.domains import baird_star, dense_random_mdp, random_problem, two_state
from obliquetd.errors import SizeError
from obliquetd.learners import SETD, TD
from tests.strategies import problems


def balanced(text):
    """Braces close, environments close in order, and each row of a matrix has the same width."""
    assert text.count("{") == text.count("}")
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    for body in re.findall(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", text, re.DOTALL):
        assert len({row.count("&") for row in body.split(r"\\")}) == 1
    return True


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def well_formed(text):
    parser = Tags()
    parser.feed(text)
    assert not parser.open
    return parser.seen


def test_a_problem_in_symbols_as_an_author_writes_it():
    text = two_state("gamma", reward=1).to_latex()
    assert r"P_\pi &= \begin{bmatrix} 0 & 1 \\ 0 & 1 \end{bmatrix}" in text
    assert r"\xi &= \begin{bmatrix} \frac{1}{2} \\ \frac{1}{2} \end{bmatrix}" in text
    assert r"v_\pi &=" in text
    assert r"\gamma" in text
    assert balanced(text)
    assert two_state()._repr_latex_().startswith("$$\n\\begin{aligned}")


@given(problems())
def test_every_problem_has_valid_latex(problem):
    assert balanced(problem.to_latex())
    for name in ("td", "best"):
        try:
            point = problem.fixed_point(name)
        except ArithmeticError:
            continue
        assert balanced(point.to_latex())


def test_what_does_not_exist_is_a_remark():
    loop = MDP.from_transitions([("s", "a", "s", 1, 1)])
    text = PolicyEvaluation(loop, target=Policy.uniform(loop), discount=1).to_latex()
    assert r"% v_\pi: " in text
    assert balanced(text)
    assert "%" not in PolicyEvaluation(loop, target=Policy.uniform(loop), discount=1)._repr_latex_()


def test_other_objects():
    problem = two_state(reward=1)
    assert r"\theta &= \begin{bmatrix}" in problem.fixed_point("td").to_latex()
    assert "A &= " in mean_dynamics(problem, SETD()).to_latex()
    table = compare(problem, ["setd", "td"], quantities=["criterion", "distance"])
    text = table.to_latex()
    assert r"setd & $\frac{1}{4}$ & $\frac{\sqrt{82}}{2}$ \\" in text
    assert balanced(text)
    assert "toprule" in text


def test_numbers_of_any_size():
    assert latex_of(sp.Rational(1, 3**5000)).startswith(r"\approx ")
    assert r"\cdot 10^{" in latex_of(sp.Integer(7) ** 20000)
    assert latex_of(1.5e-9) == r"1.5 \cdot 10^{-9}"
    assert latex_of(np.array([1.0, 2.0])) == r"\begin{bmatrix} 1 \\ 2 \end{bmatrix}"
    with pytest.raises(SizeError, match="20 by 20"):
        latex_of(np.zeros((20, 20)))
    large = dense_random_mdp(30, 2, 3)
    assert "% " in large.to_latex()
    assert balanced(large.to_latex())


def test_tables_are_well_formed_and_escaped():
    odd = MDP.from_transitions([("<script>", "a&b", "<script>", 1, 0)])
    text = odd._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert well_formed(text).count("tr") == 2
    for thing in (
        two_state().target, compare(two_state()), verify(["lemma-1"])[0],
        simulate(two_state(reward=1), [TD(0.01)], 50, 3),
    ):  # fmt: skip
        assert (
            "caption" in well_formed(thing._repr_html_())
            or thing.__class__.__name__ == "Comparison"
        )
    assert "... 9 more" in baird_star().mdp._repr_html_()
    assert 'scope="col"' in html_table("", ["x"], [])


def test_a_simulation_is_a_table_in_a_terminal():
    text = str(simulate(random_problem(3, 2, seed=4), [TD(0.01), SETD(0.01)], 200, 3))
    assert text.startswith("200 steps, mean of 3 runs\nlearner  RMSE, first")
    assert len(text.splitlines()) == 4
