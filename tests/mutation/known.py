"""Faults that the tests did not notice at one time, each with the tests that do now."""

from dataclasses import dataclass

MOMENTS = "tests/dynamics/test_moments.py::test_a_trajectory_starts_with_the_weights_of_its_states"
POLE = "tests/dynamics/test_stability.py::TestRegions::test_a_pole_of_a_coefficient_is_looked_at"
SPAN = "tests/problem/test_projection.py::test_a_span_of_another_dimension_is_refused"
OTHERWISE = "tests/claims/test_claims.py::test_a_check_can_come_out_otherwise"


@dataclass(frozen=True)
class Fault:
    """One piece of a module's text, what stands in its place, and the tests that tell."""

    module: str
    old: str
    new: str
    tests: tuple[str, ...]


KNOWN = (
    Fault(
        "obliquetd.words.theory",
        "return self.derive(left, right).proved",
        "return self.derive(left, right).proved or self.derive(left, -1 * right).proved",
        ("tests/words/test_words.py::test_a_proof_tells_a_word_from_its_negative",),
    ),
    Fault(
        "obliquetd.algebra.polynomials",
        "u // u.gcd(u.derivative()) if u.degree() > 0 else u",
        "u",
        ("tests/dynamics/test_verdicts.py",),
    ),
    Fault(
        "obliquetd.dynamics.moments",
        "[self.ops.arithmetic.one] if self.iid else self.chances",
        "[self.ops.arithmetic.one / self.groups] * self.groups",
        (MOMENTS,),
    ),
    Fault(
        "obliquetd.dynamics.function_field",
        "candidates = [common, cleared[-1]]",
        "candidates = [cleared[-1]]",
        (POLE,),
    ),
    Fault(
        "obliquetd.algebra.cells",
        "in sp.fraction(sp.together(expression)):",
        "in sp.fraction(sp.together(expression))[:1]:",
        ("tests/dynamics/test_stability.py::TestRegions::test_a_pole_splits_a_range",),
    ),
    Fault(
        "obliquetd.problem.projection",
        "if onto.shape[1] != along.shape[1]:",
        "if onto.shape[1] > along.shape[1]:",
        (SPAN,),
    ),
    Fault(
        "obliquetd.claims.dissipation",
        "if term != 0:",
        "if False:",
        (f"{OTHERWISE}[dissipation-identity]",),
    ),
    Fault(
        "obliquetd.claims.dissipation",
        "if gap != 0:",
        "if False:",
        (f"{OTHERWISE}[dissipation-identity-per-transition]",),
    ),
)
