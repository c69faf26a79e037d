"""What notebooks and papers get: valid LaTeX, escaped HTML, and no crash for what does not exist."""

import json
import re
import sys
from decimal import Decimal, localcontext
from html.parser import HTMLParser

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation, compare, mean_dynamics, simulate, verify
from obliquetd.algebra import decimal_text
from obliquetd.display import html_table, html_text, latex_label, latex_of
from obliquetd.domains import baird_star, dense_random_mdp, random_problem, two_state
from obliquetd.errors import InputError, SizeError
from obliquetd.learners import SETD, TD
from obliquetd.report.analysis import analyze
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
    for body in re.findall(r"\\begin\{(?:bmatrix|array\}\{[rc|]+)\}(.*?)\\end\{", text, re.DOTALL):
        rows = re.split(r"(?<!\\)\\\\(?!\\)", body)
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
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


def long_problem(bits, reward=1):
    """Leave s with probability 2^-bits."""
    p = sp.Rational(1, sp.Integer(2) ** bits)
    rows = [("s", "a", "t", p, reward), ("s", "a", "s", 1 - p, 0), ("t", "a", "s", 1, 0)]
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10")


@pytest.mark.parametrize("bits", [2000, 8000, 20000])
def test_long_numbers_end_no_display(bits):
    """Python refuses to write integers of more than 4300 digits; nothing global is changed."""
    before = sys.get_int_max_str_digits()
    problem = long_problem(bits)
    shown = [
        problem.to_latex(),
        problem.fixed_point("setd").to_latex(),
        compare(problem).to_latex(),
    ]
    assert all(map(balanced, shown))
    assert re.search(r"\\text\{ \(exact, \d+ digits\)\}", shown[0])
    assert well_formed(problem.mdp._repr_html_())
    assert f"(exact, {len_of(2**bits)} digits)" in problem.mdp._repr_html_()
    assert balanced(mean_dynamics(problem, TD()).to_latex())
    for matrix in (problem.xi, problem.P_pi, problem.X_star, problem.v_pi, problem.L_pi):
        for text in (str(matrix), repr(matrix), sp.latex(matrix), sp.pretty(matrix)):
            assert text
    assert repr(problem)
    assert repr(problem.fixed_point("td"))
    assert repr(problem.target)
    assert sys.get_int_max_str_digits() == before


def len_of(integer):
    return int(sp.floor(sp.log(integer, 10).evalf(30))) + 1


def test_a_matrix_says_how_many_digits_it_hides_and_stays_itself():
    problem = long_problem(20000)
    assert repr(problem.xi) == (
        "Matrix([[1 (exact, 6021 digits)], [2.51239e-6021 (exact, 6021 digits)]])"
    )
    assert isinstance(problem.xi, sp.ImmutableDenseMatrix)
    assert sum(problem.xi) == 1
    assert problem.xi.T * problem.P_pi == problem.xi.T
    assert str(two_state().xi) == "Matrix([[1/2], [1/2]])"


def test_case_c07():
    """Leave 0 with 2^-20000 and 1 with 3^-12618."""
    p, q = (sp.Rational(1, sp.Integer(b) ** e) for b, e in ((2, 20000), (3, 12618)))
    rows = [(0, "a", 1, p, 0), (0, "a", 0, 1 - p, 0), (1, "a", 0, q, 1), (1, "a", 1, 1 - q, 0)]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    assert problem.xi[0] == sp.Integer(2) ** 20000 / (
        sp.Integer(2) ** 20000 + sp.Integer(3) ** 12618
    )
    for text in (str(problem.xi), problem.to_latex(), latex_of(problem.xi)):
        assert "0.657856" in text
        assert "6021 digits" in text


def test_json_keeps_every_digit():
    problem = long_problem(20000, reward=sp.Integer(7) ** 5000)
    data = json.loads(json.dumps(analyze(problem, ["td", "setd"], {"td": TD()}).to_dict()))
    p, q = data["by_state"][1]["xi"].split("/")
    assert len(q) == 6021
    import flint

    assert flint.fmpq(flint.fmpz(p), flint.fmpz(q)) == flint.fmpq(1, 2**20000 + 1)
    roots = [row["distance"] for row in data["fixed_points"]]
    assert all(text.startswith("sqrt(") for text in roots)


def test_roots_and_formulas_of_long_numbers():
    long = sp.Rational(sp.Integer(3) ** 20000, sp.Integer(2) ** 31000 + 1)
    x = sp.Symbol("x")
    for number in (
        long,
        sp.sqrt(5) * long,
        long * x + 1,
        sp.Pow(long, sp.Rational(1, 2), evaluate=False),
    ):
        assert re.fullmatch(r"\\approx .*\\text\{ \(exact, 9\d\d\d digits\)\}", latex_of(number))
        assert balanced(latex_of(number))
        assert len(latex_of(number)) < 200


def test_rows_of_matrices_are_named():
    """In the order in which they stand, also where names would end a line of LaTeX."""
    first = two_state("gamma", reward=1).to_latex().split("\n")[0]
    assert first == "% Rows and columns that stand for states are in this order: left, right."
    odd = PolicyEvaluation.from_chain(
        [[0, 1], [1, 0]], [0, 0], discount="1/2", states=["a\n\\input{x}", "b"]
    )
    assert (
        odd.to_latex()
        .split("\n")[0]
        .endswith(r"this order: a\\n\\input{x}, b.".replace("\\\\", "\\"))
    )
    many = PolicyEvaluation.from_chain(
        [[1 if j == i else 0 for j in range(60)] for i in range(60)],
        [0] * 60,
        discount="1/2",
        xi=[1] + [0] * 59,
    )
    assert many.remarks()[0].endswith("39, and 20 more.")


@given(st.fractions(), st.integers(1, 30))
def test_digits_round_as_one_division_does(x, digits):
    with localcontext(prec=digits):
        wanted = Decimal(x.numerator) / Decimal(x.denominator)
    text = latex_of(sp.Rational(x), digits=digits)
    mantissa, _, power = text.partition(r" \cdot 10^{")
    assert Decimal(f"{mantissa}e{power.rstrip('}') or 0}") == wanted
    assert len(mantissa.strip("-").replace(".", "").strip("0")) <= digits


def test_digits_of_roots_matrices_and_tables():
    assert latex_of(sp.sqrt(2) / 10, digits=4) == "0.1414"
    assert (
        latex_of(sp.Matrix([[sp.Rational(1, 3), 2]]), digits=2)
        == r"\begin{bmatrix} 0.33 & 2 \end{bmatrix}"
    )
    assert latex_of(0.123456789, digits=3) == "0.123"
    assert latex_of(sp.oo, digits=3) == r"\infty"
    gamma = sp.Symbol("gamma")
    assert latex_of(gamma / 3, digits=3) == r"0.333 \gamma"
    table = compare(two_state(), ["td"], quantities=["criterion", "distance"])
    assert r"$7.29$ & $13.5$" in table.to_latex(digits=3)
    assert r"$\frac{729}{100}$ & $\frac{27}{2}$" in table.to_latex()
    point = two_state(reward=1).fixed_point("td")
    assert rf"\mathrm{{RMSE}} &= {float(point.rmse):.3g} " in point.to_latex(digits=3)


GAMMA, P = sp.symbols("gamma p")
FORMULAS = [
    GAMMA / 3, 3 / (5 - 6 * GAMMA), sp.Rational(1234567, 7) * GAMMA**2 - P / 3, sp.sqrt(2) * GAMMA,
    sp.sqrt(GAMMA / 7 + 1), (GAMMA / 3 - 1) ** -2, 10**9 * GAMMA + sp.Rational(1, 10**9) * P, -GAMMA,
    sp.Abs(GAMMA - sp.Rational(1, 7)), sp.acos(P * sp.sqrt(5) / 5), sp.Rational(2, 3) * (GAMMA - 1) * (P + sp.pi),
]  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
@pytest.mark.parametrize("digits", [2, 6])
def test_digits_of_formulas(formula, digits):
    """Read back, the formula has the same values to these digits, powers as they were, and no fraction."""
    from obliquetd.display.latex import _with_decimals

    text = latex_of(formula, digits=digits)
    assert balanced(text)
    assert not re.search(r"\\frac\{\d+\}\{\d+\}", text)
    near = _with_decimals(formula, digits)
    assert {x.exp for x in near.atoms(sp.Pow)} <= {x.exp for x in formula.atoms(sp.Pow)}
    rounded = near.replace(lambda x: x.is_Float, lambda x: sp.Float(decimal_text(x, digits)))
    at = {GAMMA: sp.Rational(3, 10), P: sp.Rational(1, 5)}
    wanted = float(formula.subs(at))
    assert float(rounded.subs(at)) == pytest.approx(wanted, rel=30 * 10.0**-digits)
    for number in (abs(x) for x in near.atoms(sp.Float)):
        mantissa = decimal_text(number, digits).split("e")[0]
        assert mantissa in text


def test_digits_leave_the_conditions_of_cases_exact():
    text = two_state("gamma", reward="1/3").fixed_point("setd").to_latex(digits=3)
    assert r"\frac{1}{2}" in text  # gamma < 1/2
    assert r"\frac{1}{3}" not in text
    assert "0." in text


def test_states_stand_beside_the_matrices():
    problem = two_state("gamma", reward=1)
    text = problem.to_latex()
    assert (
        r"P_\pi &= \begin{array}{r|cc} & \text{left} & \text{right} \\ \hline \text{left} & 0 & 1 \\ "
        r"\text{right} & 0 & 1 \end{array}"
    ) in text
    assert r"\xi &= \begin{array}{r|c} \text{left} & \frac{1}{2} \\ \text{right}" in text
    point = problem.fixed_point("td").to_latex()
    assert r"\hat v &= \begin{array}{r|c} \text{left}" in point
    assert r"\theta &= \begin{bmatrix}" in point  # weights have no names
    pieces = problem.fixed_point("setd").to_latex()
    assert pieces.count(r"\begin{array}{r|c} \text{left}") == 2  # in each case
    pairs = PolicyEvaluation.of_actions(problem.mdp, target=problem.target, discount="1/2")
    assert r"\text{('left', 'left')}" in pairs.to_latex()


@pytest.mark.parametrize(
    "name", ["a_b", "50%", "$x$", "<b>", "a\\b", "{x}", "#1", "x & y", r"\\", "é", "\n", "x" * 90]
)
def test_names_beside_matrices_are_shown_and_never_obeyed(name):
    from obliquetd.report.formulas import equation

    names = ([name, "q"], [name, "q"])
    shown = name if len(name) < 50 else "x" * 37 + "..."
    text = latex_of(sp.eye(2), names=names)
    assert balanced(text)
    assert text.count(rf"\text{{{latex_label(shown)}}}") == 2
    page = str(equation("P", sp.Matrix([[1, 2], [3, 4]]), None, names))
    assert re.findall("<mtext>(.*?)</mtext>", page) == [html_text(shown), "q"] * 2


def test_names_of_the_wrong_number_are_left_out():
    assert latex_of(sp.eye(2), names=(["a"], ["b", "c", "d"])) == latex_of(sp.eye(2))
    assert latex_of(sp.eye(2), names=([], ["b", "c"])).startswith(r"\begin{array}{cc} \text{b} & ")


@pytest.mark.parametrize("digits", [0, -1, 2.5, "3", True])
def test_digits_are_a_positive_integer(digits):
    with pytest.raises(InputError, match=r"digits is .*; expected a positive integer"):
        latex_of(sp.Rational(1, 3), digits=digits)
