"""Models whose reports are made once for all tests of them."""

from collections.abc import Mapping

import pytest

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import baird_star, boyan_chain, dense_random_mdp, two_state
from obliquetd.report import claims_page
from obliquetd.report.model import report_on
from obliquetd.report.page import page_of

HOSTILE = "<math><script>alert(1)</script>\"'&"
ESCAPES = "\x1b\ud800$\\frac{$"


def hostile():
    rows = [(HOSTILE, HOSTILE, ESCAPES, 1, 1), (ESCAPES, ESCAPES, HOSTILE, 1, 0)]
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", features=[[1], [2]])


def two_symbols():
    """Three states, two features, off-policy, with a chance p and the discount gamma."""
    names = "abc"
    rows = []
    for i, s in enumerate(names):
        rows += [(s, "go", names[(i + 1) % 3], "p", 1), (s, "go", s, "1 - p", 0)]
        rows.append((s, "back", names[i - 1], 1, i))
    mdp = MDP.from_transitions(rows)
    target = Policy({s: {"go": "3/4", "back": "1/4"} for s in names})
    return PolicyEvaluation(
        mdp, target=target, behavior=Policy.uniform(mdp), discount="gamma",
        features=[[1, 0], [1, 1], [0, 2]],
    )  # fmt: skip


MODELS = {
    "two": two_state(reward=1),
    "symbols": two_state("gamma", reward="r"),
    "baird": baird_star(),
    "boyan": boyan_chain(),
    "floats": dense_random_mdp(20, 2, 3),
    "hostile": hostile(),
    "two symbols": two_symbols(),
}


class Pages(Mapping):
    """Each page is made when it is first asked for."""

    def __init__(self, judged):
        self.judged, self.made, self.reports = judged, {}, {}

    def report(self, name):
        """What a page of a model is made of."""
        if name not in self.reports:
            self.reports[name] = report_on(MODELS[name], f"{name} <b>")
        return self.reports[name]

    def __iter__(self):
        return iter([*MODELS, "claims"])

    def __len__(self):
        return len(MODELS) + 1

    def __getitem__(self, name):
        if name not in self.made:
            self.made[name] = (
                claims_page(self.judged) if name == "claims" else page_of(self.report(name))
            )
        return self.made[name]


@pytest.fixture(scope="session")
def pages(judged):
    return Pages(judged)
