"""Statements on convergence and on experiments that nothing here decides yet."""

from __future__ import annotations

from obliquetd.claims.claim import Outcome, Verdict, claim

__all__: list[str] = []


def _open(id_: str, where: str, title: str, statement: str, missing: str) -> None:
    @claim(id_, where=where, title=title, statement=statement)
    def check() -> Outcome:
        return Outcome(Verdict.OPEN, missing)


_open(
    "setd-off-policy-stable",
    "Section I ('The off-policy stability is rigorously proved'), Conclusion",
    "SETD is off-policy stable",
    r"\forall\,(\pi,\pi_b,\Phi):\ \mathrm{Re}\,\lambda(A_{SETD}) > 0",
    "the paper's text holds no proof; deciding it needs the expected update of the sampled rule",
)
_open(
    "setd-on-policy-stable",
    "Section V ('on-policy efficiency')",
    "SETD is stable on-policy",
    r"\pi = \pi_b \implies \mathrm{Re}\,\lambda(A_{SETD}) > 0",
    "deciding it needs the expected update of the sampled rule",
)
_open(
    "td-on-policy-stable",
    "Section I ('TD converges when samples are drawn on-policy')",
    "TD is stable on-policy",
    r"\pi = \pi_b \implies \Phi^\top\Xi L_\pi\Phi \succ 0",
    "Tsitsiklis and Van Roy (1997) prove it; not yet re-proved here",
)
_open(
    "etd-off-policy-stable",
    "Abstract ('emphatic TD algorithms are off-policy stable')",
    "ETD is off-policy stable",
    r"\Phi^\top \mathrm{diag}(f) L_\pi\Phi \succ 0",
    "Sutton, Mahmood and White (2016) prove it; not yet re-proved here",
)
_open(
    "gradient-td-off-policy-stable",
    "Abstract ('gradient TD ... off-policy stable')",
    "GTD2 and TDC are off-policy stable",
    r"\mathrm{Re}\,\lambda(A_{GTD2}), \mathrm{Re}\,\lambda(A_{TDC}) > 0",
    "deciding it, and from which ratio of step sizes, needs their joint expected update",
)
