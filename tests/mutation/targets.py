"""What is mutated, the quick tests that judge it, and how many mutants a run without ``--all`` takes."""

from dataclasses import dataclass

RULES = (
    "tests/learners/test_rules.py::test_gradient_rules_with_a_nonzero_secondary_vector",
    "tests/learners/test_rules.py::test_every_rule_by_vectors",
    "tests/learners/test_rules.py::test_an_emphasis_of_your_own",
    "tests/learners/test_rules.py::test_omega_after_a_termination_and_where_it_is_undefined",
)

EMPHASES = (
    "tests/learners/test_emphases.py::test_setd_with_a_cap_and_with_capped_ratios",
    "tests/learners/test_emphases.py::test_the_state_conditional_weight",
    "tests/learners/test_emphases.py::test_tabular_fixed_points",
)
PAIRS = ("tests/learners/test_variable_trace.py::test_a_step_by_vectors",)
PROOFS = tuple(
    f"tests/words/test_front.py::test_{name}"
    for name in (
        "stochastic_rows",
        "invertible_letters",
        "given_that_is_no_list_of_pairs",
        "what_a_derivation_says_of_itself",
        "the_inverse_of_an_inverse_cancels_by_both_names",
    )
)
GRADIENTS = ("tests/learners/test_gradient_family.py::test_every_step_by_vectors",)


@dataclass(frozen=True)
class Target:
    """A module, the tests that judge its mutants, and the size of the sample; None for all."""

    module: str
    tests: tuple[str, ...]
    sample: int | None = None


TARGETS = (
    Target("obliquetd.dynamics.check", ("tests/dynamics/test_check.py",)),
    Target("obliquetd.words.theory", ("tests/words/test_words.py", *PROOFS), 40),
    Target("obliquetd.dynamics.certificate", ("tests/dynamics/test_certificate.py",), 40),
    Target(
        "obliquetd.dynamics.stability",
        ("tests/dynamics/test_verdicts.py", "tests/algebra/test_enclosures.py"),
        40,
    ),
    Target("obliquetd.reproduction.evidence", ("tests/reproduction/test_evidence.py",), 30),
    Target("obliquetd.problem.projection", ("tests/problem/test_projection.py",), 20),
    Target("obliquetd.learners.words", (*RULES, *PAIRS), 20),
    Target("obliquetd.learners.emphatic", (*RULES, *EMPHASES), 10),
    Target("obliquetd.learners.gradient", (*RULES, *GRADIENTS), 20),
    Target("obliquetd.learners.residual", RULES, 10),
)
