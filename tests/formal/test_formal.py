"""Every proved claim has a file that Coq accepts, or says why it has none."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from obliquetd import kernel, verify
from obliquetd.claims import PACKS, REGISTRY, pack_of
from obliquetd.claims.formal import (
    WORDS,
    digest,
    file_name,
    formal_text,
    recorded,
    shipped_text,
    theorem_name,
)
from obliquetd.errors import BackendError, InputError
from tests.turn import part

needs_coq = pytest.mark.skipif(kernel.find_coqc() is None, reason="there is no coqc here")
FORMAL = [c for name in PACKS for c in pack_of(name).registry if c.formal]


def test_each_proved_claim_has_a_file_or_a_reason(judged):
    for result in judged:
        claim = result.claim
        said = bool(claim.formal) + bool(claim.informal)
        assert said == (result.verdict == "proved"), (result.id, result.verdict)


def test_each_file_is_the_one_that_was_accepted(judged):
    """A changed statement, proof or head has another hash; python -m tests.formal.record --write checks anew."""
    for result in judged:
        if result.claim.formal:
            assert result.kernel is not None, result.id
            assert result.verdict == "proved"
            assert result.verdict_text == "proved (kernel)"
            assert result.to_dict()["kernel"]["sha256"] == digest(result.kernel.text)
        else:
            assert result.kernel is None
            assert result.verdict_text == result.verdict
    assert set(recorded()) == {c.id for c in FORMAL}


def test_each_file_of_the_folklore_is_the_one_that_was_accepted():
    claims = [c for c in pack_of("folklore").registry if c.formal]
    assert len(claims) >= 20
    for claim in claims:
        assert digest(formal_text(claim)) == recorded()[claim.id]["sha256"], claim.id
    (result,) = verify(["realizable-exact"], pack="folklore")
    assert result.verdict_text == "proved (kernel)"


def test_the_first_screen_counts_the_proofs():
    said = {}
    for name in PACKS:
        claims = list(pack_of(name).registry)
        said[name] = (
            sum(bool(c.formal) for c in claims),
            sum(bool(c.formal or c.informal) for c in claims),
        )
    text = " ".join((Path(kernel.__file__).parents[2] / "README.md").read_text().split())
    assert "has Coq check proofs of {} of the {} that are proved".format(*said["lyu-2018"]) in text
    assert (
        "--pack folklore` of {} of the {} that are proved below".format(*said["folklore"]) in text
    )


def test_a_proof_that_stands_on_another_holds_it():
    text = shipped_text("norms")
    assert text.index("Lemma sum_pos") < text.index("Theorem td_bound_pythagoras")
    assert "Print Assumptions td_on_policy_stable." not in text


def test_a_file_that_changed_is_not_called_accepted(monkeypatch):
    claim = REGISTRY["delta-recursion"]
    monkeypatch.setitem(recorded(), claim.id, {"sha256": "0" * 64, "coq": "8.16.1"})
    from obliquetd.claims.formal import accepted

    assert accepted(claim, claim.check()) is None


def test_each_theorem_is_asked_what_it_rests_on():
    for claim in FORMAL:
        if claim.formal != WORDS:
            text = shipped_text(claim.formal)
            assert f"Theorem {theorem_name(claim.id)} " in text.replace("\n", " ")
            assert f"Print Assumptions {theorem_name(claim.id)}." in text
            assert file_name(claim) == f"{claim.formal}.v"
    assert {c.formal for c in FORMAL} - {WORDS} == set(kernel.shipped())


def test_a_claim_without_a_file_says_why():
    with pytest.raises(InputError, match=r"power-series has no file for Coq: .*limit"):
        formal_text(REGISTRY["power-series"])
    with pytest.raises(InputError, match="not proved for every size"):
        formal_text(REGISTRY["table-1-etd"])


def test_without_coqc_the_way_out_is_named(monkeypatch):
    monkeypatch.setenv("COQC", "/nowhere/coqc")
    with pytest.raises(BackendError, match=r"coqc was not found.*apt install coq libcoq-mathcomp"):
        kernel.check_text("Print Assumptions x.")


def command(*arguments, **env):
    done = subprocess.run(
        [sys.executable, "-m", "obliquetd", "prove", *arguments],
        capture_output=True, text=True, check=False, env={**__import__("os").environ, **env},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_command_writes_without_coq_and_says_that_nothing_was_checked(tmp_path):
    code, out, _ = command("delta-recursion", "lemma-1", "-o", str(tmp_path), COQC="/nowhere/coqc")
    assert code == 0
    assert "Nothing was checked" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lemma_1.v", "traces.v"]
    assert digest((tmp_path / "lemma_1.v").read_text()) == recorded()["lemma-1"]["sha256"]


def test_the_command_refuses_what_has_no_file(tmp_path):
    code, _, err = command("power-series", "-o", str(tmp_path / "new"))
    assert code == 2
    assert "limit" in err
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@needs_coq
def test_the_command_has_coq_check(tmp_path):
    code, out, _ = command("delta-recursion", "trace-unrolled", "-o", str(tmp_path), "--json")
    rows = json.loads(out)["files"]
    assert code == 0
    assert [(r["id"], r["accepted"]) for r in rows] == [
        ("delta-recursion", True),
        ("trace-unrolled", True),
    ]


HEAD = "Section S. Variable a b : nat.\nTheorem t : "
CHEATS = [
    HEAD + "a = b. Proof. Admitted. End S. Print Assumptions t.",
    "Axiom f : False. Theorem t : 0 = 1. Proof. destruct f. Qed. Print Assumptions t.",
    "Hypothesis f : 0 = 1.\nTheorem t : 0 = 1. Proof. exact f. Qed.\nPrint Assumptions t.",
    "Theorem t : 0 = 0. Proof. reflexivity. Qed.",
    "Theorem t : 0 = 0. Proof. reflexivity. Qed. (* Print Assumptions t. *)",
    "Theorem t : 0 = 1. Proof. reflexivity. Qed.\nPrint Assumptions t.",
]


@needs_coq
@pytest.mark.parametrize("text", CHEATS)
def test_a_file_that_proves_nothing_is_refused(text):
    answer = kernel.check_text(text)
    assert not answer.accepted
    assert answer.message


@needs_coq
def test_a_small_proof_is_accepted_and_time_is_limited():
    text = "Theorem t : 0 = 0. Proof. reflexivity. Qed.\nPrint Assumptions t.\n"
    answer = kernel.check_text(text)
    assert answer.accepted
    assert answer.theorems == ("t",)
    assert answer.version
    with pytest.raises(BackendError, match="neither accepted nor refused"):
        kernel.check_text(text, timeout=0.001)


MUTANTS = [
    ("projection-idempotent", "= Phi *m G *m X^T.", "= Phi *m G *m Phi^T."),
    ("projection-range-and-null-space", "*m Phi = Phi.", "*m Phi = - Phi."),
    ("least-squares-projection-is-oblique", "(Xi *m Phi)^T.", "Phi^T."),
    ("rmspbe-two-forms", "Hypothesis Xi_sym : Xi^T = Xi.", "Hypothesis Xi_sym : Xi^T = L."),
    ("lemma-1-identity", "(L *m V +", "(V +"),
    ("lemma-1", "Hypothesis L_inv_exists : L \\in unitmx.", ""),
    ("y-td", "(r + Phi", "(r - Phi"),
    ("lemma-2-sufficient", "invmx (X^T *m Phi)", "invmx (Phi^T *m X)"),
    ("criterion-of-x-star", "Theorem criterion_of_x_star : (L *m Phi)^T", "Theorem criterion_of_x_star : (Phi)^T"),
    ("delta-recursion", "(rho - 1) * x.", "(rho + 1) * x."),
    ("importance-weighting", "(rho s a *: y s a)", "(rho s a *: - y s a)"),
    ("gtd2-off-policy-stable", "A \\in unitmx -> 0 < mu -> (forall w, w != 0 -> 0 < dot w (C *m w)) ->\n  let M := block_mx 0",
     "0 < mu -> (forall w, w != 0 -> 0 < dot w (C *m w)) ->\n  let M := block_mx 0"),
    ("td-on-policy-stable", "Hypothesis gamma_small : gamma < 1.", "Hypothesis gamma_small : gamma <= 1."),
    ("etd-off-policy-stable", "Hypothesis G_rows : forall i, \\sum_j G i j <= 1.", "Hypothesis G_rows : forall i, \\sum_j G i j <= 2%:R."),
    ("etd-lambda-off-policy-stable", "\\in unitmx -> 0 <= lam <= 1 -> x != 0 ->", "\\in unitmx -> 0 <= lam -> x != 0 ->"),
    ("etd-beta-window", "((forall i, gamma ^+ 2 * (1 - xi", "((forall i, gamma * (1 - xi"),
    ("setd-two-states-never-unstable", "(x != 0) || (y != 0) -> 0 <= a.", "(x != 0) || (y != 0) -> 0 < a."),
    ("realizable-exact", "unitmx -> V = Phi *m t ->", "unitmx -> L *m V = Phi *m t ->"),
    ("aggregation-stable", "Hypothesis gamma_small : gamma < 1.", "Hypothesis gamma_small : gamma <= 1."),
    ("td-bound-pythagoras", "(1 - kappa ^+ 2) * norm2 (Phi *m theta - V) <=", "(1 - kappa ^+ 3) * norm2 (Phi *m theta - V) <="),
    ("fqi-on-policy", "|| (y != 0) -> a ^+ 2 + b ^+ 2 < 1.", "|| (y != 0) -> a ^+ 2 + b ^+ 2 < gamma ^+ 2."),
]  # fmt: skip


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(("name", "old", "new"), part(MUTANTS, 3), ids=lambda x: x[:30])
def test_a_mutated_statement_is_refused(name, old, new):
    text = formal_text(next(c for c in FORMAL if c.id == name))
    assert old in text, re.findall(r"^(?:Theorem|Hypothesis).*", text, re.M)
    answer = kernel.check_text(text.replace(old, new), name, timeout=600)
    assert not answer.accepted
    assert "Error" in answer.message
