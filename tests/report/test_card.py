"""The counterexample on one page, and the proof in a line."""

import json
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.dynamics.certificate import make_certificate
from obliquetd.dynamics.one_line import minor_sums, one_line_proof
from obliquetd.errors import InputError, MathematicalError
from obliquetd.formats import model_from_dict
from obliquetd.report import card_page, write_page
from obliquetd.report.card import spelling
from tests.report.test_page import Checker, downloads

SMALL = st.integers(-3, 3)


@given(
    st.integers(1, 4).flatmap(
        lambda m: st.lists(st.lists(SMALL, min_size=m, max_size=m), min_size=m, max_size=m)
    )
)
@settings(max_examples=25)
def test_minors_are_the_coefficients_of_the_characteristic_polynomial(rows):
    z = sp.Symbol("z")
    expected = sp.Matrix(rows).applyfunc(lambda x: -x).charpoly(z).all_coeffs()[1:]
    assert minor_sums([[Fraction(x) for x in row] for row in rows]) == [
        Fraction(int(x)) for x in expected
    ]


PLAIN = otd.domains.two_state("9/10", reward=1)


def certificate_of(rows):
    """A certificate for a matrix of numbers, by the package's own maker."""
    matrix = PLAIN.native.arithmetic.matrix(
        [[PLAIN.native.arithmetic.scalar(sp.Rational(x)) for x in row] for row in rows],
        (len(rows),) * 2,
    )
    identity = PLAIN.native.arithmetic.identity(len(rows))
    values = np.linalg.eigvals(np.array([[float(Fraction(x)) for x in row] for row in rows])).real
    verdict = "stable" if values.min() > 1e-9 else "unstable"
    return make_certificate(matrix, identity, matrix, verdict)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([[-2]], "A = -2 < 0"),
        ([[1, 2], [3, 1]], "det A = -5 < 0, so one eigenvalue is negative"),
        ([[-1, -2], [3, -1]], "trace A = -2 < 0, so one eigenvalue has a negative real part"),
        # eigenvalues 1 and a pair with real part -1/8: det and trace are positive, the minors of size 2 are not
        ([[1, 0, 0], [0, "-1/8", 1], [0, "-1/16", "-1/8"]], "the principal minors of A of size 2 sum to -11/64 < 0"),
        ([[2, 1], [0, 1]], "trace A = 3 > 0 and det A = 2 > 0, so both eigenvalues have positive real parts"),
        ([[1, 0, 0], [0, 2, 0], [0, 0, 3]], "K and A'K + KA are positive definite"),
    ],
)  # fmt: skip
def test_the_proof_in_a_line(rows, line):
    assert one_line_proof(certificate_of(rows)).startswith(line)


def test_where_no_coefficient_is_negative_the_witness_is_named():
    """x^3 + x^2 + x + 6 has positive coefficients and roots with a positive real part."""
    rows = [
        [1, 0, 6],
        [-1, 0, 1],
        [0, -1, 0],
    ]  # -(companion): eigenvalues with real parts of both signs
    sums = minor_sums([[Fraction(x) for x in row] for row in rows])
    assert min(sums) > 0
    assert min(np.linalg.eigvals(np.array(rows, dtype=float)).real) < 0
    assert "v'Kv < 0" in one_line_proof(certificate_of(rows))


def test_a_line_on_the_directions_that_data_moves():
    star = otd.mean_dynamics(otd.domains.baird_star(), otd.TD()).certificate()
    assert one_line_proof(star).endswith("Q is A on the 7 directions that data moves")
    edge = otd.mean_dynamics(otd.domains.two_state("5/6"), otd.TD()).certificate()
    assert one_line_proof(edge) == "A v = 0 for v = (1)"
    with pytest.raises(MathematicalError, match="does not prove"):
        one_line_proof({**star, "claim": "stable"})


@pytest.fixture(scope="module")
def setd():
    """The three states and two features on which SETD is unstable and TD is stable."""
    return otd.find_unstable(otd.SETD(), 3, 2, stable=[otd.TD()], seed=0, workers=1).problem


@pytest.fixture(scope="module")
def card(setd):
    return card_page(setd, otd.SETD())


@pytest.mark.slow
def test_a_card_has_all_that_it_should(card, setd):
    checker = Checker()
    checker.feed(card)
    assert not checker.stack
    assert card.count("<svg") == 3  # graph, field, curve
    A = otd.mean_dynamics(setd, otd.SETD()).A
    assert str(A.det().p).removeprefix("-") in card[: card.index("<h2")]
    assert "so one eigenvalue is negative" in card
    assert f"{float(A[0]):.4g}" in card
    assert "it escapes along this line" in card
    assert "direction along which it leaves" in card
    assert "obliquetd check certificate.json --model model.json --learner setd" in card
    seen = re.sub(r'(alttext|href|d|style|id)="[^"]*"', "", card[card.index("<body>") :])
    assert "\\" not in re.sub(r"<svg.*?</svg>", "", seen, flags=re.DOTALL)


def test_the_files_of_a_card_prove_it(card, setd):
    files = downloads(card)
    problem = model_from_dict(files["model.json"])
    assert problem.Phi == setd.Phi
    assert otd.check_certificate(files["certificate.json"], problem, otd.SETD())


@pytest.mark.slow
def test_the_command_of_a_card_checks_it(card, tmp_path):
    for name, data in downloads(card).items():
        (tmp_path / name).write_text(json.dumps(data))
    command = re.search(r'<pre class="scroll"><code>obliquetd (.*?)</code>', card)[1].split()
    done = subprocess.run(
        [sys.executable, "-m", "obliquetd", *command], cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "valid" in done.stdout


def test_who_gets_no_card(setd):
    with pytest.raises(InputError, match="TD is stable on this problem"):
        card_page(setd, otd.TD())
    with pytest.raises(InputError, match="a card needs exact numbers"):
        card_page(setd.replace(arithmetic="float"), otd.SETD())
    with pytest.raises(InputError, match="states fit no card"):
        card_page(otd.domains.random_problem(15, 2, seed=0), otd.TD())


def test_spelling():
    assert spelling(otd.SETD()) == "setd"
    assert spelling(otd.TD(lam="1/2")) == "td --lam 1/2"
    assert spelling(otd.TDC(mu="1/25")) == "tdc --mu 1/25"
    assert spelling(otd.TD(lam="1/2"), "my rule.py:Mine") == "'my rule.py:Mine' --number lam=1/2"


@pytest.mark.slow
def test_cards_of_other_shapes():
    """One feature has no field; a learner with two kinds of weights has one; TD is not compared with itself."""
    card = card_page(otd.domains.two_state(reward=1), otd.TD())
    assert card.count("<svg") == 2
    assert "for comparison" not in card
    setting = otd.verify(["tdc-off-policy-stable"])[0].outcome.counterexample
    two = card_page(setting.problem(), setting.learner)
    assert two.count("<svg") == 3
    assert "--learner tdc --mu 1/25" in two


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_card_is_one_page_and_fits_a_phone(browser, tmp_path, setd, card):
    star = card_page(otd.domains.baird_star(), otd.TD())
    for k, text in enumerate((card, star, card_page(PLAIN, otd.TD()))):
        page = browser.new_page(viewport={"width": 360, "height": 800})
        page.goto(write_page(text, tmp_path / f"{k}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        pdf = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) == 1
        page.close()


@pytest.mark.slow
def test_the_command_that_searches(tmp_path):
    from tests.test_cli import run

    run(
        "search",
        "td",
        "--states",
        "2",
        "--features",
        "1",
        "--walks",
        "20",
        "--card",
        tmp_path / "s.html",
    )
    assert "TD is <span" in (tmp_path / "s.html").read_text()


@pytest.mark.slow
def test_the_command_that_reports(tmp_path, setd):
    from tests.test_cli import run

    otd.save_model(setd, tmp_path / "m.json")
    given = ("report", tmp_path / "m.json", "-o", tmp_path / "r.html")
    run(*given, "--card", tmp_path / "c.html", "--learner", "setd")
    assert "--learner setd" in (tmp_path / "c.html").read_text()
    assert "TD is stable" in run(*given, "--card", tmp_path / "d.html", expect=2).stderr
