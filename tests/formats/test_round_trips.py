"""Every format gives back what it was given, exactly; a rational stays a rational."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings

from obliquetd import MDP, LoggedData, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.domains import baird_star, boyan_chain, random_mdp, two_state
from obliquetd.errors import FormatWarning, InputError, LabelError, ModelFileError
from obliquetd.formats import read_log, to_arrays
from obliquetd.formats.drn import read_drn, write_drn
from obliquetd.formats.explicit import label_text, policy_chain, text_label
from obliquetd.formats.prism import read_prism, write_prism
from tests.formats.test_model import same
from tests.strategies import mdps, problems

WHOLE = (".json", ".npz", ".graphml")
SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("suffix", WHOLE)
@SETTINGS
@given(problem=problems())
def test_problems(suffix, problem, tmp_path):
    save_model(problem, tmp_path / f"m{suffix}")
    same(problem, load_model(tmp_path / f"m{suffix}"))


@pytest.mark.parametrize("suffix", WHOLE)
@pytest.mark.parametrize(
    "problem",
    [two_state("gamma", reward="r"), baird_star(), two_state(0.9), boyan_chain()],
    ids=str,
)
def test_named_problems(suffix, problem, tmp_path):
    save_model(problem, tmp_path / f"m{suffix}")
    same(problem, load_model(tmp_path / f"m{suffix}"))


@pytest.mark.parametrize("suffix", WHOLE)
@pytest.mark.parametrize(
    ("state", "action"),
    [(None, "a"), (True, "a"), (0, None), (0, False), ((None, 1), "a"), (0.5, "a"), ("null", "true"),
     ("", "1"), ("1", 1), (-0.0, (1, "x"))],
)  # fmt: skip
def test_labels_come_back_or_are_refused_by_name(suffix, state, action, tmp_path):
    mdp = MDP.from_transitions([(state, action, "t", 1, 1), ("t", action, state, 1, 0)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    lost = [x for x in (state, action) if x is None or isinstance(x, bool)]
    if suffix == ".graphml" and lost:
        with pytest.raises(LabelError, match=f"{lost[0]!r} would be read back"):
            save_model(problem, tmp_path / f"m{suffix}")
        return
    save_model(problem, tmp_path / f"m{suffix}")
    found = load_model(tmp_path / f"m{suffix}")
    assert repr((found.mdp.states, found.mdp.actions)) == repr((mdp.states, mdp.actions))
    same(problem, found)


def without_discounts(mdp):
    """What explicit-state files can hold: no discounts, one reward for each state, action, next state."""
    merged = {}
    for s, a, t, p, r, _ in mdp.transitions:
        total, _ = merged.get((s, a, t), (0, 0))
        merged[s, a, t] = total + p, r
    rows = [(s, a, t, p, r) for (s, a, t), (p, r) in merged.items()]
    return MDP.from_transitions(rows, states=mdp.states)


@SETTINGS
@given(mdp=mdps())
def test_prism_files(mdp, tmp_path):
    mdp = without_discounts(mdp)
    write_prism(mdp, tmp_path / "m.tra")
    assert read_prism(tmp_path / "m.tra") == mdp


@SETTINGS
@given(mdp=mdps())
def test_drn_files(mdp, tmp_path):
    rows = [
        (s, a, t, p, Fraction(a + 1, s + 2))
        for s, a, t, p, *_ in without_discounts(mdp).transitions
    ]
    mdp = MDP.from_transitions(rows, states=mdp.states)
    write_drn(mdp, tmp_path / "m.drn")
    assert read_drn(tmp_path / "m.drn") == mdp


@SETTINGS
@given(mdp=mdps())
def test_arrays(mdp):
    mdp = without_discounts(mdp)
    P, R = to_arrays(mdp)
    assert MDP.from_arrays(P, R, states=mdp.states, actions=mdp.actions) == mdp
    Q, _ = to_arrays(mdp, "SAS")
    assert np.array_equal(Q.transpose(1, 0, 2), P)


LABELS = [
    "s",
    "0",
    0,
    -3,
    (1, "a"),
    "two words",
    "true",
    "null",
    'quo"te',
    "",
    "ä",
    "a:b",
    "[1]",
    "@x",
    1.5,
]


@pytest.mark.parametrize("label", LABELS, ids=repr)
def test_labels_come_back_with_their_type(label, tmp_path):
    assert text_label(label_text(label)) == label
    assert type(text_label(label_text(label))) is type(label)
    assert not any(c.isspace() for c in label_text(label))
    other = "t" if label != "t" else "u"
    mdp = MDP.from_transitions([(label, label, other, 1, 2), (other, "go", label, 1, 2)])
    for write, read, name in ((write_prism, read_prism, "m.tra"), (write_drn, read_drn, "m.drn")):
        write(mdp, tmp_path / name)
        assert read(tmp_path / name) == mdp
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    for suffix in WHOLE:
        save_model(problem, tmp_path / f"m{suffix}")
        same(problem, load_model(tmp_path / f"m{suffix}"))


def test_symbols_are_parameters(tmp_path):
    mdp = MDP.from_transitions(
        [("s", "a", "t", "p", "r"), ("s", "a", "s", "1 - p", "r"), ("t", "a", "s", 1, 0)]
    )
    write_drn(mdp, tmp_path / "m.drn")
    assert "@parameters\np r\n" in (tmp_path / "m.drn").read_text()
    assert read_drn(tmp_path / "m.drn") == mdp
    write_prism(mdp, tmp_path / "m.tra")
    assert read_prism(tmp_path / "m.tra") == mdp


def test_terminal_states_survive_and_have_no_value(tmp_path):
    """Storm needs a loop at a deadlock; read back, it is terminal, not a loop that collects reward."""
    mdp = MDP.from_transitions([(0, "a", 1, 1, 2)])
    for write, read, name in ((write_prism, read_prism, "m.tra"), (write_drn, read_drn, "m.drn")):
        write(mdp, tmp_path / name)
        assert read(tmp_path / name) == mdp
        assert read(tmp_path / name).terminal == (1,)
    problem = load_model(tmp_path / "m.drn")
    assert list(problem.v_pi) == [2, 0]


def test_files_from_elsewhere(tmp_path):
    """Written by hand after the formats' descriptions: a chain, state rewards, a labelled deadlock loop."""
    (tmp_path / "c.tra").write_text("3 4\n0 1 0.5\n0 2 0.5\n1 0 1\n2 2 1\n")
    (tmp_path / "c.srew").write_text("3 2\n0 1\n1 1/3\n")
    (tmp_path / "c.trew").write_text("3 1\n0 2 5\n")
    (tmp_path / "c.lab").write_text('0="init" 1="deadlock" 2="goal"\n0: 0\n2: 1 2\n')
    (tmp_path / "c.sta").write_text("(x)\n0:(0)\n1:(1)\n2:(2)\n")
    v = load_model(tmp_path / "c.tra").values
    half = sp.Rational(1, 2)
    assert v[2] == 0
    assert v[0] == 1 + half * v[1] + half * 5
    assert v[1] == sp.Rational(1, 3) + v[0]
    (tmp_path / "s.drn").write_text(
        "// Exported by storm\n@type: DTMC\n@value_type: rational\n@parameters\n\n@reward_models\n"
        "steps\n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0 [1] init\n//[s=0]\n\taction 0 [0]\n"
        "\t\t0 : 0.5\n\t\t1 : 1/2\nstate 1 [0] deadlock done\n\taction 0 [0]\n\t\t1 : 1\n"
    )
    assert load_model(tmp_path / "s.drn").values == {0: 2, 1: 0}


def test_storms_own_explicit_files(tmp_path):
    """No counts, no first line of rewards, labels after a declaration; the same model as PRISM's."""
    (tmp_path / "s.tra").write_text("dtmc\n0 1 0.5\n0 2 0.5\n1 0 1\n2 2 1\n")
    (tmp_path / "s.srew").write_text("0 1\n1 1/3\n")
    (tmp_path / "s.lab").write_text("#DECLARATION\ninit deadlock\n#END\n0 init\n2 deadlock\n")
    (tmp_path / "p.tra").write_text("3 4\n0 1 0.5\n0 2 0.5\n1 0 1\n2 2 1\n")
    (tmp_path / "p.srew").write_text('# Reward structure "r"\n# State rewards\n3 2\n0 1\n1 1/3\n')
    (tmp_path / "p.lab").write_text('0="init" 1="deadlock"\n0: 0\n2: 1\n')
    assert read_prism(tmp_path / "s.tra") == read_prism(tmp_path / "p.tra")
    assert read_prism(tmp_path / "s.tra").terminal == (2,)
    (tmp_path / "m.tra").write_text("mdp\n0 0 1 1\n0 1 0 1\n1 0 0 1\n")
    assert read_prism(tmp_path / "m.tra").offered == {0: (0, 1), 1: (0,)}


def test_arrays_from_elsewhere(tmp_path):
    P = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    R = np.array([[1.0, 2.0], [3.0, 4.0]])
    pi = np.array([[0.5, 0.5], [1.0, 0.0]])
    np.savez(
        tmp_path / "a.npz", P=P, R=R, gamma=0.5, policy=pi, Phi=np.ones((2, 1)), states=["s", "t"]
    )
    np.savez(
        tmp_path / "b.npz",
        Q=P.transpose(1, 0, 2),
        R=R,
        discount=0.5,
        target=pi,
        features=np.ones((2, 1)),
        states=["s", "t"],
    )
    one, other = load_model(tmp_path / "a.npz"), load_model(tmp_path / "b.npz")
    same(one, other)
    assert one.states == ("s", "t")
    r = np.array([0.5 * 1 + 0.5 * 2, 3])
    P_pi = np.array([[0.25, 0.75], [0, 1]])
    assert np.allclose(np.ravel(one.v_pi), np.linalg.solve(np.eye(2) - 0.5 * P_pi, r))
    np.savez(
        tmp_path / "c.npz",
        P=np.array([[["1/3", "2/3"], ["0", "1"]]]),
        R=np.array(["1/7", "0"]),
        target=np.array([0, 0]),
    )
    exact = load_model(tmp_path / "c.npz", discount="1/2")
    assert exact.arithmetic == "exact"
    assert exact.v_pi[0] == sp.Rational(1, 7) / (1 - sp.Rational(1, 6))


def test_a_graph_of_networkx_and_of_an_editor(tmp_path):
    mdp = random_mdp(3, 2, 0)
    graph = nx.MultiDiGraph()
    for s, a, t, p, r, _ in mdp.transitions:
        graph.add_edge(str(s), str(t), action=str(a), probability=str(p), reward=str(r))
    nx.write_graphml(graph, tmp_path / "g.graphml")
    problem = load_model(tmp_path / "g.graphml", discount="9/10")
    assert problem.on_policy
    assert sorted(map(str, problem.v_pi)) == sorted(
        map(str, PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10").v_pi)
    )


def test_the_chain_of_a_policy_has_the_same_values():
    problem = baird_star()
    walk = two_state(reward=3)
    for p in (problem, walk):
        chain = policy_chain(p)
        again = PolicyEvaluation(chain, target=Policy.uniform(chain), discount=p.discount)
        assert again.v_pi == p.v_pi
        assert again.P_pi == p.P_pi
    assert policy_chain(walk, "behavior").actions == ("behavior",)
    with pytest.raises(InputError, match="'target' or 'behavior'"):
        policy_chain(walk, "best")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("s", "a", "s", 1, 0, "1/2")], "discount 1/2"),
        ([("s", "a", "s", "1/2", 0), ("s", "a", "s", "1/2", 1)], "two outcomes"),
    ],
)
def test_what_explicit_files_cannot_hold(rows, words, tmp_path):
    mdp = MDP.from_transitions(rows)
    for write, name in ((write_prism, "m.tra"), (write_drn, "m.drn")):
        with pytest.raises(InputError, match=words):
            write(mdp, tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(InputError, match=r"discount of its own|two outcomes"):
        to_arrays(mdp)


def test_rewards_by_outcome_in_drn(tmp_path):
    mdp = MDP.from_transitions([(0, "a", 1, "1/4", 8), (0, "a", 0, "3/4", 0), (1, "a", 0, 1, 0)])
    with pytest.raises(InputError, match="expected_rewards=True"):
        write_drn(mdp, tmp_path / "m.drn")
    write_drn(mdp, tmp_path / "m.drn", expected_rewards=True)
    a, b = (
        PolicyEvaluation(m, target=Policy.uniform(m), discount="1/2")
        for m in (mdp, read_drn(tmp_path / "m.drn"))
    )
    assert a.v_pi == b.v_pi
    assert a.return_variance != b.return_variance


def test_stormpy_finds_the_same_values(tmp_path):
    """Expected total reward until the end, by Storm in exact arithmetic."""
    stormpy = pytest.importorskip("stormpy")
    for seed in range(3):
        mdp = random_mdp(5, 1, seed, restarts=True)
        rows = [(s, a, "end" if not d else t, p, 1 + s) for s, a, t, p, _, d in mdp.transitions]
        chain = MDP.from_transitions(rows, states=[*range(5), "end"])
        write_drn(chain, tmp_path / "m.drn")
        (formula,) = stormpy.parse_properties('R=? [F "deadlock"]')
        text = (tmp_path / "m.drn").read_text().replace("@type: MDP", "@type: DTMC")
        (tmp_path / "m.drn").write_text(text)
        model = stormpy.build_model_from_drn[stormpy.Rational](str(tmp_path / "m.drn"))
        found = stormpy.model_checking(model, formula)
        ours = PolicyEvaluation(chain, target=Policy.uniform(chain), discount=1).values
        for k, s in enumerate(chain.states):
            assert Fraction(str(found.get_value(k))) == Fraction(str(ours[s])), s


# Logs


def test_a_log_is_counted(tmp_path):
    lines = ["state,action,next_state,reward,done", "0,go,1,1/2,0", "1,go,0,2,1", "0,go,0,0,0", "0,stay,0,1,0",
             "0,go,1,1/2,0", "1,go,0,2,1"]  # fmt: skip
    (tmp_path / "log.csv").write_text("\n".join(lines))
    log = read_log(tmp_path / "log.csv")
    assert log.counts() == {(0, "go"): 3, (1, "go"): 2, (0, "stay"): 1}
    assert log.behavior()[0] == {"go": sp.Rational(3, 4), "stay": sp.Rational(1, 4)}
    assert log.start() == {0: 1}
    third = sp.Rational(1, 3)
    assert [tuple(r) for r in log.model().transitions if r.action == "go" and r.state == 0] == [
        (0, "go", 0, third, 0, 1), (0, "go", 1, 2 * third, sp.Rational(1, 2), 1)
    ]  # fmt: skip
    problem = load_model(tmp_path / "log.csv", discount="9/10")
    assert problem.on_policy
    assert problem.values[1] == 2
    fixed = log.problem(Policy.deterministic({0: "go", 1: "go"}), discount="9/10")
    assert not fixed.on_policy


@pytest.mark.slow
def test_an_estimate_approaches_the_model(tmp_path):
    """20,000 logged steps of a random chain: each frequency within 5 standard errors."""
    mdp = random_mdp(4, 2, 3)
    rng = np.random.default_rng(0)
    rows = {
        (s, a): [r for r in mdp.transitions if (r.state, r.action) == (s, a)]
        for s in range(4)
        for a in range(2)
    }
    lines, s = ["state,action,next_state,reward"], 0
    for _ in range(20_000):
        a = int(rng.integers(2))
        options = rows[s, a]
        r = options[int(rng.choice(len(options), p=[float(o.probability) for o in options]))]
        lines.append(f"{s},{a},{r.next_state},{r.reward}")
        s = r.next_state
    (tmp_path / "log.csv").write_text("\n".join(lines))
    log = read_log(tmp_path / "log.csv")
    found = {
        (r.state, r.action, r.next_state): float(r.probability) for r in log.model().transitions
    }
    for s, a, t, p, *_ in mdp.transitions:
        error = np.sqrt(float(p * (1 - p)) / log.counts()[s, a]) + 1e-12
        assert abs(found.get((s, a, t), 0) - float(p)) < 5 * error


def test_a_log_feeds_the_learners(tmp_path):
    lines = [
        "state,action,next_state,reward,done,target,behavior",
        "0,go,1,1,0,1,1/2",
        "1,go,0,2,1,1,1/2",
        "0,go,1,1,0,1,1/2",
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    log = read_log(tmp_path / "log.csv")
    data = LoggedData.from_log(log, {0: [1, 0], 1: [0, 1]}, discount=0.9)
    assert data.outcomes.rho.tolist() == [2, 2, 2]
    assert data.outcomes.discount.tolist() == [0.9, 0, 0.9]
    assert data.first.tolist() == [True, False, True]
    policies = LoggedData.from_log(
        log,
        {0: [1], 1: [1]},
        discount=0.9,
        target=Policy({0: {"go": 1}, 1: {"go": 1}}),
        behavior=log.behavior(),
    )
    assert policies.outcomes.rho.tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="state 1"):
        LoggedData.from_log(log, {0: [1]}, discount=0.9)


def test_endings_that_are_not_known(tmp_path):
    with pytest.raises(ModelFileError, match=r"'\.xyz'.*\.json"):
        load_model(tmp_path / "m.xyz")
    with pytest.raises(InputError, match=r"'none'"):
        save_model(two_state(), tmp_path / "m")
    with pytest.raises(InputError, match=r"'\.csv'"):
        save_model(two_state(), tmp_path / "m.csv")


@pytest.mark.parametrize("suffix", [*WHOLE, ".tra", ".drn"])
def test_where_episodes_begin_is_kept_or_said(suffix, tmp_path):
    mdp = MDP.from_transitions([("a", "go", "b", 1, 2), ("b", "go", "end", 1, 3)])
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), start={"a": "1/3", "b": "2/3"}, xi="occupancy", discount=1
    )
    if suffix in WHOLE:
        save_model(problem, tmp_path / f"m{suffix}")
        again = load_model(tmp_path / f"m{suffix}")
    else:
        with pytest.warns(FormatWarning, match=r"weights xi, the start distribution"):
            save_model(problem, tmp_path / f"m{suffix}")
        again = load_model(tmp_path / f"m{suffix}", start={"a": "1/3", "b": "2/3"}, xi="occupancy")
    assert again.xi == problem.xi
    assert again.v_pi == problem.v_pi
    other = load_model(tmp_path / f"m{suffix}", start=["1/2", "1/2", 0], xi="occupancy")
    assert other.xi != problem.xi
