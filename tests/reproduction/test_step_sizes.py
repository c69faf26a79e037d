"""Every step size that is used is the one that the paper prints.

The paper's sentences stand here word for word, with their places; the numbers are read out of them.
"""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from obliquetd.experiments.grid import TABLE_2
from obliquetd.learners import SETD
from obliquetd.reproduction.studies import LARGE, LARGER, STUDIES

PRINTED = {
    "boyan-0.4": (
        "V-A1",
        r"For $\lambda=0.4$, constant stepsizes are $\alpha_{TD}=0.2$, $\alpha_{SETD}=0.4$, $\alpha_{ETD}=0.04$, "
        r"$\alpha_{GTD2}=0.5$, $\mu_{GTD2}=1$,$\alpha_{TDC}=0.3$, $\mu_{TDC}=0.001$.",
    ),
    "boyan-0.8": (
        "V-A1",
        r"For $\lambda=0.8$, constant stepsizes are $\alpha_{TD}=0.2$, $\alpha_{SETD}=0.3$, $\alpha_{ETD}=0.04$, "
        r"$\alpha_{GTD2}=0.3$, $\mu_{GTD2}=1$,$\alpha_{TDC}=0.3$, $\mu_{TDC}=0.001$.",
    ),
    "mountain-car": (
        "V-A2",
        r"The constant stepsizes are chosen as  $\alpha_{TD}=0.1$, $\alpha_{{ETD}} = 0.002$, $\alpha_{{SETD}} = 0.4$, "
        r"$\alpha_{{GTD2}} = 0.05$, $\mu_{{GTD2}} = 1$, $\alpha_{{TDC}} = 0.04$, $\mu_{{TDC}} = 0.05$.",
    ),
    "baird": (
        "V-B1",
        r"Constant stepsizes $\alpha_{{SETD}} = 0.006$, $\alpha_{{GTD2}} = 0.005$, $\mu_{{GTD2}} = 1$, "
        r"$\alpha_{{TDC}} = 0.006$, $\mu_{{TDC}} = 16$, which are chosen via comparison studies as in",
    ),
    "random": (
        "V-B2",
        r"The constant stepsizes are chosen as $\alpha_{{ETD}} = 2.5*10^{-6}$, $\alpha_{{SETD}} = 0.0008$, "
        r"$\alpha_{{GTD2}} = 0.002$, $\mu_{{GTD2}} = 1$, $\alpha_{{TDC}} = 0.002$, $\mu_{{TDC}} = 0.05$.",
    ),
}
"""Case: place in the paper, and its sentence."""

LENGTHS = {
    "baird": ("V-B1", "curve of GTD2, SETD, TDC of $4000$ steps averaged over $20$ runs.", 4000),
    "random": ("V-B2", "averaged over 20 runs, and each run has $10,000$ time steps.", 10_000),
}
TABLE_II = {
    "alpha": r"$1*10^{-7}, 1*10^{-6},1*10^{-5}, 1*10^{-4}, 0.001, 0.01, 0.1,$ "
    r"$3*10^{-6}, 5*10^{-6}, 7*10^{-6}, 9*10^{-6},2*10^{-6},$ "
    r"$ 2.5*10^{-6}, 2*10^{-4}, 4*10^{-4}, 6*10^{-4}, 8*10^{-4},$ "
    r"$0.002,...,0.009, 0.02,...,0.09, 0.2, 0.3, 0.4, 0.5, 0.6$",
    "mu": r"$1*10^{-4}, 1*10^{-3}, 0.01, 0.1, 1, 4, 8, 16, 0.005, 0.05, 0.5$",
    "lam": r"$0.4, 0.8$",
}
CASES = {case.name: case for study in STUDIES.values() for case in study.cases}


def numbers(text):
    """{(letter, learner): number} of a sentence of the paper."""
    found = re.findall(r"\\(alpha|mu)_\{+(\w+?)\}+ *= *([0-9.]*[0-9])(?:\*10\^\{(-?\d+)\})?", text)
    return {
        (letter, learner): Fraction(digits) * Fraction(10) ** int(power or 0)
        for letter, learner, digits, power in found
    }


def used(learners):
    out = {}
    for name, learner in learners.items():
        out["alpha", name] = Fraction(str(learner.alpha))
        if hasattr(learner, "mu"):
            out["mu", name] = Fraction(str(learner.mu))
    return out


def test_the_reader_of_numbers_reads_them():
    assert numbers(PRINTED["random"][1])["alpha", "ETD"] == Fraction(25, 10_000_000)
    assert numbers(PRINTED["baird"][1])["mu", "TDC"] == 16
    assert len(numbers(PRINTED["boyan-0.4"][1])) == 7


@pytest.mark.parametrize("case", PRINTED)
def test_the_step_sizes_are_the_printed_ones(case):
    place, text = PRINTED[case]
    assert used(CASES[case].learners) == numbers(text), place


def test_no_case_is_without_its_sentence():
    tried = {f"random-steps-x{factor}": factor for factor in (LARGER, LARGE)}
    assert set(CASES) == set(PRINTED) | set(tried)
    for name, factor in tried.items():  # for sensitivity: a multiple of what is printed
        printed = numbers(PRINTED["random"][1])
        for key, value in used(CASES[name].learners).items():
            assert value == factor * printed[key]


@pytest.mark.slow
@pytest.mark.parametrize("case", LENGTHS)
def test_the_runs_are_as_long_as_printed(case):
    _, text, steps = LENGTHS[case]
    assert f"{steps:,}" in text or str(steps) in text
    assert CASES[case].build(0, 1000).steps == steps


def test_traces_and_grids_are_the_printed_ones():
    """Table II; lambda = 0.4, 0.8 (V-A1), and no trace elsewhere."""
    for name, case in CASES.items():
        lam = Fraction(name.partition("-")[2]) if name.startswith("boyan") else 0
        assert {Fraction(str(L.lam)) for L in case.learners.values()} == {lam}
        if case.grid:
            assert Fraction(str(case.lam)) == lam
            for (letter, _), value in used(case.learners).items():
                assert float(value) in TABLE_2[letter]


def listed(text):
    """The values of a row of Table II; "a,...,b" goes on in steps of a's last digit."""
    text = text.replace("$", ",").replace(" ", "")
    for first, last in re.findall(r"([0-9.]+),\.\.\.,([0-9.]+)", text):
        step = Fraction(10) ** -len(first.partition(".")[2])
        count = int((Fraction(last) - Fraction(first)) / step)
        run = ",".join(str(float(Fraction(first) + k * step)) for k in range(count + 1))
        text = text.replace(f"{first},...,{last}", run)
    found = re.findall(r"([0-9.]*[0-9])(?:\*10\^\{(-?\d+)\})?(?:,|$)", text)
    return sorted(float(f"{digits}e{power or 0}") for digits, power in found)


@pytest.mark.parametrize("letter", TABLE_II)
def test_table_2_is_the_printed_one(letter):
    assert sorted(TABLE_2[letter]) == listed(TABLE_II[letter])


def test_a_changed_step_size_is_seen():
    changed = {**CASES["baird"].learners, "SETD": SETD(0.0061)}
    assert used(changed) != numbers(PRINTED["baird"][1])


def test_the_tutorials_take_the_step_sizes_from_here():
    """Tutorial 06 marks the paper's choice; 03 runs SETD on the same star with it."""
    folder = Path(__file__).parents[2] / "tutorials"
    assert "case.learners" in (folder / "06_the_papers_experiments.py").read_text()
    alpha = numbers(PRINTED["baird"][1])["alpha", "SETD"]
    assert f"otd.SETD({float(alpha)})" in (folder / "03_off_policy_divergence.py").read_text()
