import json

import pytest
import sympy as sp

from obliquetd import check_certificate
from obliquetd.claims.stability import shipped_model
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import InputError, ModelFileError
from obliquetd.learners import ETD, SETD, TD
from obliquetd.search import find_unstable
from obliquetd.search.families import FAMILIES


@pytest.mark.parametrize("on_policy", [False, True])
@pytest.mark.parametrize("seed", [11, 12])
def test_three_states_and_two_features_break_setd_where_td_is_stable(on_policy, seed):
    found = find_unstable(SETD(), 3, 2, on_policy=on_policy, stable=[TD()], seed=seed, workers=1)
    problem = found.problem
    assert problem is not None
    assert problem.arithmetic == "exact"
    assert problem.discount == sp.Rational(9, 10)
    assert problem.on_policy is on_policy
    dyn = mean_dynamics(problem, SETD())
    assert dyn.stability.verdict == "unstable"
    assert mean_dynamics(problem, TD()).is_stable()
    assert min(complex(x).real for x in dyn.spectrum()) < 0  # a second opinion, in floats
    assert found.certificate["claim"] == "unstable"
    assert check_certificate(json.loads(json.dumps(found.certificate)))
    assert max(abs(x) for x in problem.Phi) <= 3
    if not on_policy:
        assert set(problem.xi) == {sp.Rational(1, 3)}
        assert all(x in (0, 1) for x in problem.P_pi)


def test_the_answer_depends_on_the_seed_and_not_on_the_workers():
    one, two = (find_unstable(SETD(), 3, 2, seed=3, workers=n) for n in (1, 2))
    assert one.problem.mdp == two.problem.mdp
    assert one.problem.Phi == two.problem.Phi
    assert (one.tried, one.walks) == (two.tried, two.walks)


def test_none_found_is_said_with_the_number_of_candidates():
    """ETD's key matrix is positive definite: there is nothing to find."""
    found = find_unstable(ETD(), 2, 1, walks=4, workers=1)
    assert found.problem is None
    assert found.certificate is None
    assert (found.tried, found.walks) == (600, 4)
    assert str(found) == "none found among 600 candidates in 4 walks"


def test_a_stopped_search_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "search.json"
    find_unstable(ETD(), 2, 1, walks=4, workers=1, checkpoint=path)
    assert json.loads(path.read_text())["walks"] == 4
    more = find_unstable(ETD(), 2, 1, walks=6, workers=1, checkpoint=path)
    assert (more.tried, more.walks) == (900, 6)
    with pytest.raises(ModelFileError, match="another search"):
        find_unstable(ETD(), 2, 1, walks=6, workers=1, seed=9, checkpoint=path)
    path.write_text("{")
    with pytest.raises(ModelFileError, match="not JSON"):
        find_unstable(ETD(), 2, 1, walks=6, workers=1, checkpoint=path)


@pytest.mark.parametrize("name", ["setd_off_policy", "setd_on_policy"])
def test_shipped_counterexamples(name):
    problem = shipped_model(name)
    dyn = mean_dynamics(problem, SETD())
    assert dyn.stability.verdict == "unstable"
    assert mean_dynamics(problem, TD()).is_stable()
    assert check_certificate(dyn.certificate())
    # the formula of the deterministic case is a second route to A
    assert problem.Phi.T * problem.Xi * problem.Omega_S * problem.L_pi * problem.Phi == dyn.A


def test_families_have_a_unique_stationary_distribution_or_say_so():
    import numpy as np

    rng = np.random.default_rng(0)
    for name, family in FAMILIES.items():
        made = [family(3, 2, "1/2").build(family(3, 2, "1/2").draw(rng)) for _ in range(30)]
        kept = [p for p in made if p is not None]
        assert kept, name
        assert all(len(p.xi) == 3 and min(p.xi) > 0 for p in kept)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"states": 1}, "states is 1"),
        ({"features": 0}, "features is 0"),
        ({"features": 5}, "dependent"),
        ({"walks": 0}, "walks is 0"),
        ({"largest": 0}, "largest is 0"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        find_unstable(TD(), **{"states": 3, "features": 2, **change})
