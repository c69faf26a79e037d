"""What a terminal of 80 columns shows: nothing cut, ids whole, what is false last, what fails marked."""

import re
from types import SimpleNamespace

import pytest

import obliquetd as otd
from obliquetd.claims import pack_of
from obliquetd.cli import terminal
from obliquetd.cli.found import found_lines
from obliquetd.cli.paper import table1
from obliquetd.domains import random_problem, two_state
from obliquetd.learners import LEARNERS
from obliquetd.report.analysis import analyze
from obliquetd.reproduction.evidence import Interval, Part


@pytest.fixture
def said(monkeypatch, request):
    """A console of 80 columns, or as many as a test asks for, and what it has said."""
    width = getattr(request, "param", 80)
    console = terminal.Terminal(width=width, record=True, force_terminal=False, emoji=False)
    monkeypatch.setattr(terminal, "out", console)
    monkeypatch.setattr("obliquetd.cli.paper.out", console)
    return lambda: console.export_text(clear=False)


def listed():
    return {key: kind() for key, kind in LEARNERS.items() if kind.listed}


@pytest.mark.parametrize("problem", [two_state(reward=1), random_problem(4, 2, seed=3)])
def test_nothing_of_an_analysis_is_cut(said, problem):
    found = analyze(problem, learners=listed())
    terminal.show_analysis(found, 24)
    text = said()
    assert "…" not in text
    assert max(len(line) for line in text.split("\n") if line[:1] in "│┃") <= 80
    for key in listed():
        assert re.search(rf"│ {key} +│", text)
    for row in found.comparison.cells(width=10)[1:]:
        for cell in row:
            assert cell in text


def test_a_root_has_its_decimal_beside_it_in_every_table(said):
    terminal.show_analysis(analyze(two_state(reward=1), learners=listed()), 24)
    roots = re.findall(r"sqrt\(\d+\)(?:/\d+)?( = )?", said())
    assert len(roots) > 4
    assert all(roots)


def test_columns_that_do_not_fit_stand_below(said):
    cells = [["name", *"abcdef"], ["x" * 30, *(str(k) * 20 for k in range(6))]]
    terminal.print_cells(cells)
    text = said()
    assert text.count("x" * 30) == 3
    assert all(str(k) * 20 in text for k in range(6))
    terminal.print_cells([["name", "b"], ["y", "z" * 200]])
    assert said().count("z") == 200


def test_claims_end_with_what_is_false(said, judged):
    for evidence in (True, False):
        terminal.show_claims(judged, evidence, pack_of("lyu-2018"), 1.0)
        text = said()
        for claim in judged:
            assert claim.id in text
        *_, last = re.split(r"\n\d+ claims? in 1.0 s\n", text)
        ends = " ".join(last.split())
        for verdict in ("refuted", "corrected"):
            false = [r.id for r in judged if r.verdict == verdict]
            assert false
            assert all(re.search(rf"\b{re.escape(name)}(,| |$)", ends) for name in false)


def is_whole(text):
    """Whether every line of a table has its right border, which a table that is too wide loses."""
    lines = [line.rstrip() for line in text.split("\n") if line[:1] in set("│┃┏┡├└")]
    return bool(lines) and all(line[-1] in "│┃┓┩┤┘" for line in lines) and "…" not in text


@pytest.mark.parametrize("said", [80, 60], indirect=True)
def test_ids_and_places_are_whole_on_a_narrow_terminal(said, judged):
    terminal.show_claims(judged, False, pack_of("lyu-2018"), 1.0)
    text = said()
    assert is_whole(text)
    for claim in judged:
        assert re.search(rf"│ {re.escape(claim.id)} +│", text)


def test_one_claim_is_no_claims(said, judged):
    one = next(r for r in judged if r.origin == "paper" and r.verdict == "proved")
    terminal.show_claims([one], False, pack_of("lyu-2018"), 0.1)
    assert "1 claim of the paper: 1 proved" in said()
    assert "claims" not in said()
    assert terminal.counted(0, "class") == "0 classes"


def test_the_ratio_that_fails_is_marked(said):
    part = Part(
        "final RMSE", "below", 1.0,
        {"SETD / TD": Interval(0.55, 0.5, 0.6), "SETD / ETD": Interval(1.3, 1.2, 1.4), "SETD / TDC": Interval(1.0, 0.9, 1.1)},
    )  # fmt: skip
    assert part.decisions == ["holds", "does not hold", "cannot be decided"]
    sentences = [
        SimpleNamespace(
            says="it is smallest", where="V", parts=(part,), silent="", remark="",
            verdict="does not hold", finding="does not hold",
        )
        for _ in range(2)
    ]  # fmt: skip
    found = SimpleNamespace(sentences=sentences, choices=[], runs=1, seeds=5, files=[])
    terminal.show_reproduction(found, "out")
    text = " ".join(re.sub(r"[│\n]", " ", said()).split())
    assert text.count("<- does not") == 2
    assert text.count("<- undecided") == 2
    assert "2 sentences, 1 run for each of 5 seeds: 2 do not hold" in text


def test_printed_stands_beside_recomputed(said):
    table1(discount="9/10", as_json=False)
    text = said()
    assert "…" not in text
    assert re.search(r"│ setd +│ +0\.25 │ +1/4 │ +4\.5277 │ +sqrt\(82\)/2 │", text)
    assert re.search(r"│ td +│ +7\.29 │ +729/100 │ +13\.5 │ +27/2 │", text)


@pytest.mark.parametrize("said", [72, 60, 50], indirect=True)
def test_no_number_of_table_1_is_broken(said):
    table1(discount="9/10", as_json=False)
    text = said()
    assert is_whole(text)
    for exact in (
        "729/100",
        "81/100",
        "sqrt(82)/2",
        "4.52769",
        "sqrt(401)/4",
        "5.00625",
        "~0.00816",
    ):
        assert re.search(rf"[│ ]{re.escape(exact)} ", text)
    assert text.index("criterion") < text.index("distance") < text.index("angle")
    assert re.search(r"│ td +│ +13\.5 │ +27/2 │", text)


def test_a_search_shows_behaviour_matrix_and_eigenvalue():
    found = otd.find_unstable(otd.SETD(), 3, 2, walks=5)
    lines = found_lines(found.problem, otd.SETD())
    text = "\n".join(lines)
    assert sum("behaviour to" in line for line in lines) == 3
    dynamics = otd.mean_dynamics(found.problem, otd.SETD())
    for entry in dynamics.A:
        assert str(entry) in text
    value = float(re.search(r"smallest real part is (-[\d.]+)", lines[-1])[1])
    assert value == pytest.approx(min(z.real for z in dynamics.spectrum()), rel=1e-4)
    assert str(dynamics.A.det()) in lines[-1]
    turning = found_lines(random_problem(4, 3, seed=2).replace(arithmetic="float"), otd.TD())
    assert "the eigenvalue with the smallest real part is" in turning[-1]
