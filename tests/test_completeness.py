"""A registered learner, format or domain without a case of its own fails here.

Claims have theirs in tests/claims (a verdict, a statement that fares otherwise, a place).
"""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings

import obliquetd as otd
from obliquetd.formats.files import FORMATS, endings
from obliquetd.learners import LEARNERS, check, parameters
from tests.readme import BLOCKS, README, block
from tests.strategies import problems
from tests.turn import quick_ones


def expected(problem, weight, chance_of=lambda pi, mu: pi):
    """The sum over outcomes of xi pi p weight(phi, difference), phi a column."""
    total = None
    for row in problem.mdp.transitions:
        s, action, n, chance = row[:4]
        i, j = problem.states.index(s), problem.states.index(n)
        phi = problem.Phi[i, :].T
        difference = phi - discount_of(problem, row) * problem.Phi[j, :].T
        pi = problem.target[s].get(action, 0)
        pi = chance_of(pi, problem.behavior[s].get(action, 0))
        part = problem.xi[i] * pi * sp.nsimplify(chance) * weight(phi, difference)
        total = part if total is None else total + part
    return sp.Matrix(total)


def discount_of(problem, row):
    """That of one transition; a move into a terminal state has none."""
    next_state, own = row[2], row[5]
    return 0 if next_state in problem.mdp.terminal else problem.discount * own


def td(problem):
    return problem.Phi.T * sp.diag(*problem.xi) * problem.L_pi * problem.Phi


def setd(problem):
    def weight(phi, difference):
        size = difference.dot(difference)
        omega = max(difference.dot(phi) / size, 0) if size else 0
        return omega * phi * difference.T

    return expected(problem, weight)


def etd(problem):
    follow = problem.L_pi.T.LUsolve(sp.Matrix(list(problem.xi)))
    return problem.Phi.T * sp.diag(*follow) * problem.L_pi * problem.Phi


def joint(corner):
    def matrix(problem):
        A, C = td(problem), problem.Phi.T * sp.diag(*problem.xi) * problem.Phi
        upper = [sp.zeros(*A.shape), -A.T] if corner == 0 else [A, C - A.T]
        return sp.Matrix(sp.BlockMatrix([upper, [A, C]]))

    return matrix


def blocks(rows):
    return sp.Matrix(sp.BlockMatrix(rows))


def behaviors(problem):
    """A of the behaviour's own TD."""
    return td(problem.replace(target=problem.behavior, behavior=None))


def capped(pi, mu):
    return min(pi, mu)


def abtd(problem):
    """psi is 1 over the largest chance of an action; the trace is cut by min(psi, 1/m) pi."""
    pairs = {
        (row[0], row[1]): [policy[row[0]].get(row[1], 0) for policy in (problem.target, problem.behavior)]
        for row in problem.mdp.transitions
    }  # fmt: skip
    pairs = {key: (pi, mu) for key, (pi, mu) in pairs.items() if mu}
    largest = max(max(pair) for pair in pairs.values())
    kernel = sp.zeros(len(problem.states))
    for row in problem.mdp.transitions:
        s, action, n, chance, *_ = row
        if (s, action) not in pairs:
            continue
        pi, mu = pairs[s, action]
        i, j = problem.states.index(s), problem.states.index(n)
        kept = min(1 / largest, 1 / max(pi, mu)) * pi
        kernel[i, j] += mu * sp.nsimplify(chance) * discount_of(problem, row) * kept
    credited = (sp.eye(kernel.rows) - kernel.T).LUsolve(sp.diag(*problem.xi) * problem.Phi)
    return credited.T * problem.L_pi * problem.Phi


CLOSED_FORMS = {
    "td": td,
    "setd": setd,
    "etd": etd,
    "gtd2": joint(0),
    "tdc": joint(1),
    "residual-gradient": lambda p: expected(p, lambda _, difference: difference * difference.T),
    "double-sampled-residual-gradient": lambda p: (
        (p.L_pi * p.Phi).T * sp.diag(*p.xi) * (p.L_pi * p.Phi)
    ),
    "true-online-td": td,
    "true-online-setd": setd,
    "true-online-etd": etd,
    "true-online-gtd": joint(1),
    "weighted-td": td,
    "gtd": lambda p: blocks([[0 * td(p), -td(p).T], [td(p), sp.eye(td(p).rows)]]),
    "htd": lambda p: blocks([[td(p), (behaviors(p) - td(p)).T], [td(p), behaviors(p).T]]),
    "tdrc": lambda p: blocks([[td(p), p.C - td(p).T], [td(p), p.C + sp.eye(td(p).rows)]]),
    "gtd2-mp": joint(0),
    "tdc-mp": joint(1),
    "retrace": td,
    "tree-backup": td,
    "v-trace": lambda p: expected(p, lambda phi, gap: phi * gap.T, capped),
    "abtd": abtd,
    "n-step-td": lambda p: (
        p.Phi.T
        * sp.diag(*p.xi)
        * (sp.eye(p.L_pi.rows) - (sp.eye(p.L_pi.rows) - p.L_pi) ** 2)
        * p.Phi
    ),
    "regularized-td": lambda p: td(p) + sp.eye(td(p).rows),
}
"""A of each learner with its defaults, from the matrices of the problem and not from its rule."""


@pytest.mark.parametrize(
    "key",
    quick_ones(LEARNERS, slice(None, None, 3)),
)
def test_every_learner_is_whole(key):
    assert key in CLOSED_FORMS, f"give {key} a closed form of A in tests/test_completeness.py"
    kind = LEARNERS[key]
    learner = kind()
    assert check(learner).ok
    assert kind.key == key
    assert kind.name == kind.__name__
    assert kind.key.replace("-", "") == kind.name.lower()
    assert kind.source != otd.learners.Learner.source
    assert getattr(otd, kind.name) is kind
    assert learner.label == kind.name
    assert all(p.meaning for p in parameters(kind))


def test_learners_are_told_apart():
    looks = [(kind.color, kind.mark) for kind in LEARNERS.values()]
    assert len(set(looks)) == len(looks)
    assert set(CLOSED_FORMS) == set(LEARNERS)


@settings(max_examples=10)
@given(problems(closed=True, most_states=3, most_actions=2))
def test_the_closed_forms(problem):
    for key, closed in CLOSED_FORMS.items():
        assert sp.Matrix(otd.mean_dynamics(problem, LEARNERS[key]()).A) == closed(problem), key


MODEL = {
    ".json": {"discount": "9/10", "features": 1},
    ".npz": {"discount": "9/10", "features": 1},
    ".graphml": {"discount": "9/10", "features": 1},
    ".tra": {"discount": 1, "features": 2},
    ".drn": {"discount": 1, "features": 2},
    ".csv": None,
}
"""What comes back of the two-state example; None where a format is only read."""


@pytest.mark.filterwarnings("ignore::obliquetd.errors.FormatWarning")
@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_back_what_it_holds(ending, tmp_path):
    assert ending in MODEL, f"give {ending} a case in tests/test_completeness.py"
    problem, path = otd.domains.two_state(reward=1), tmp_path / f"m{ending}"
    found, case = FORMATS[ending], MODEL[ending]
    assert (found.write is None) == (case is None)
    if case is None:
        path.write_text("state,action,next_state,reward\ns,a,t,1\nt,a,s,0\n")
        assert otd.load_model(path, discount="1/2").v_pi[0] == sp.Rational(4, 3)
        return
    otd.save_model(problem, path)
    back = otd.load_model(path)
    assert back.discount == sp.nsimplify(case["discount"])
    assert back.Phi.shape[1] == case["features"]
    assert bool(found.holds) == (back.target == problem.target)
    assert len(back.mdp.table) == len(problem.mdp.table)


def test_help_names_every_format():
    assert set(MODEL) == set(FORMATS)
    for function in (otd.load_model, otd.save_model):
        assert all(f"``{f.ending}``: {f.summary}" in function.__doc__ for f in FORMATS.values())
    assert all(ending in endings() for ending in FORMATS)


def sizes(problem):
    return len(problem.states), problem.Phi.shape[1]


DOMAINS = {
    "MountainCar": lambda d: d.MountainCar(order=1).features(np.zeros((3, 2))).shape == (3, 4),
    "baird_star": lambda d: sizes(d.baird_star()) == (7, 8),
    "boyan_chain": lambda d: sizes(d.boyan_chain()) == (14, 4),
    "collision": lambda d: sizes(d.collision()) == (8, 6),
    "corrupted_chain": lambda d: len(d.corrupted_chain().states) == 20,
    "dense_random_mdp": lambda d: sizes(d.dense_random_mdp(5, 2, 3, seed=1)) == (5, 3),
    "four_rooms": lambda d: len(d.four_rooms().states) == 104,
    "kolter": lambda d: len(d.kolter().states) == 2,
    "random_mdp": lambda d: len(d.random_mdp(3, 2, 0).states) == 3,
    "random_problem": lambda d: sizes(d.random_problem(4, 2, seed=0)) == (4, 2),
    "random_walk": lambda d: float(d.random_walk(5).values[3]) == 0.5,
    "two_state": lambda d: sizes(d.two_state()) == (2, 1),
    "w_to_2w": lambda d: sizes(d.w_to_2w()) == (2, 1),
}
"""Each ready-made problem, and the sizes that its source gives."""


@pytest.mark.parametrize("name", otd.domains.__all__)
def test_every_domain_is_what_its_source_gives(name):
    if name == "MountainCar":
        pytest.importorskip("gymnasium")
    assert name in DOMAINS, f"give {name} a case in tests/test_completeness.py"
    assert DOMAINS[name](otd.domains)
    assert set(DOMAINS) == set(otd.domains.__all__)


@pytest.mark.parametrize("name", BLOCKS)
def test_the_tables_of_the_readme_are_made_from_the_package(name):
    made = "\n".join(BLOCKS[name]())
    assert block(name, README.read_text())[1] == made, "run python -m tests.readme"


def test_colours_are_read_from_the_classes():
    from obliquetd.plotting import COLORS, learning_curves

    assert {kind.name: kind.color for kind in LEARNERS.values()} == COLORS
    found = otd.simulate(otd.domains.two_state(reward=1), {"mine": otd.SETD(0.01)}, 20, 2)
    assert learning_curves(found).get_lines()[0].get_color() == otd.SETD.color
    assert np.isfinite(found["mine"].rmse).all()
