"""A learner replayed on a log of rationals: by hand, and beside the compiled rule in floats."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings

from obliquetd import GTD2, SETD, TD, TDC, LoggedData, replay, simulate
from obliquetd.errors import InputError, UndefinedError
from obliquetd.learners import LEARNERS, RobbinsMonro
from tests.estimators.logs import HALF, R, decay, logs, rows_of

FEW = settings(max_examples=10)


@FEW
@given(logs())
def test_td_by_hand(log):
    """theta += alpha rho delta z, z the sum of the decayed features."""
    rows, theta, alpha, lam = rows_of(log), sp.Matrix([1, 0]), R(1, 10), R(1, 3)
    found = replay(log, TD(alpha, lam), theta0=[1, 0])
    for k, (phi, after, r, g, rho, _) in enumerate(rows):
        z = sum((decay(rows, lam, j, k) * rows[j][0] for j in range(k + 1)), sp.zeros(2, 1))
        theta = theta + alpha * rho * (r - ((phi - g * after).T * theta)[0]) * z
        assert found.path[k] == (k + 1, theta)
    assert found.theta == theta
    assert found.arithmetic == "exact"


LOG = LoggedData(
    [[1, "1/2"], [0, 1], [2, 1]], [[0, 1], [2, 1], [1, 1]], [1, 0, "1/3"], "9/10",
    target=["1/2", 1, "1/4"], behavior=["1/2", "1/2", "1/2"],
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("key", LEARNERS)
def test_every_learner_replays_as_it_is_simulated(key):
    learner = LEARNERS[key](0.25)
    try:
        simulated = simulate(None, {"it": learner}, LOG.length, stream=LOG)["it"]
    except InputError as error:
        with pytest.raises(type(error)):
            replay(LOG, learner)
        return
    exact = replay(LOG, learner).theta
    assert np.allclose(simulated.theta[0], np.array(exact, dtype=float).ravel(), rtol=1e-9)
    assert np.allclose(simulated.theta[0], replay(LOG, learner, arithmetic="float").theta)


def test_symbols_of_a_step_size_and_of_a_trace():
    found = replay(LOG, TD("a", lam="l"))
    assert found.arithmetic == "symbolic"
    fixed = found.theta.subs({"a": HALF, "l": R(1, 4)})
    assert fixed == replay(LOG, TD(HALF, R(1, 4))).theta
    with_signs = replay(LOG, SETD("a"))
    assert with_signs.theta.subs({"a": HALF}) == replay(LOG, SETD(HALF)).theta


def test_schedules_and_secondary_weights():
    log = LoggedData([[1], [1]], [[0], [0]], [1, 3], 0)
    assert replay(log, TD(RobbinsMonro(1, 1))).theta == sp.Matrix([2])
    assert len(replay(LOG, GTD2(HALF, 2)).theta) == 2
    assert len(replay(LOG, TDC(HALF, 2)).path) == 3


def test_bad_input():
    with pytest.raises(InputError, match="no step size"):
        replay(LOG, TD())
    with pytest.raises(InputError, match="is a class"):
        replay(LOG, TD)
    with pytest.raises(InputError, match="weights came"):
        replay(LOG, TD(0.1), weights=[1, 1, 1])
    with pytest.raises(InputError, match="twin came"):
        replay(LOG, TD(0.1), twin=LOG)
    with pytest.raises(UndefinedError, match="no sums"):
        _ = replay(LOG, TD(0.1)).A
    assert "TD" in repr(replay(LOG, TD(0.1)))
    assert replay(LOG, TD(0.1))._repr_latex_()
