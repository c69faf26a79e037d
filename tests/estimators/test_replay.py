"""Every estimator on a log: number kinds, singular data and its way out, bad input."""

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd import BRM, FPKF, LSETD, LSPE, LSTD, Averager, LoggedData, replay
from obliquetd.errors import (
    FeatureError,
    InputError,
    KindError,
    NoSolutionError,
    NotUniqueError,
    NumberError,
    SingularError,
)
from obliquetd.estimators import ESTIMATORS
from obliquetd.formats.log import Log, LoggedStep
from tests.estimators.logs import HALF, R

PHI = [[HALF, 0], [0, 1], [HALF, HALF], [HALF, 0]]
LOG = LoggedData(PHI[:3], PHI[1:], [1, "1/3", 0], "1/2", rho=["1/2", 1, 2])


def floats(log):
    n = log.numbers
    return LoggedData(
        [[float(x.numerator) / float(x.denominator) for x in row] for row in n.phi],
        [[float(x.numerator) / float(x.denominator) for x in row] for row in n.phi_next],
        log.outcomes.reward, log.outcomes.discount, rho=log.outcomes.rho,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_number_kinds_agree(kind):
    exact = replay(LOG, kind())
    assert isinstance(exact.theta, sp.ImmutableDenseMatrix)
    assert exact.arithmetic == "exact"
    for found in (replay(LOG, kind(), arithmetic="float"), replay(floats(LOG), kind())):
        assert found.arithmetic == "float"
        assert np.allclose(found.theta, np.array(exact.theta, dtype=float).ravel(), rtol=1e-9)
        assert np.allclose(found.A, np.array(exact.A, dtype=float), rtol=1e-9)
    assert replay(LOG, kind(), arithmetic="exact").theta == exact.theta
    assert kind.name in repr(exact)
    assert r"\theta" in exact._repr_latex_()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_it_is_described(kind):
    assert kind.key
    assert kind.source
    assert kind.solves
    assert kind().label == kind.name
    assert getattr(otd, kind.__name__) is kind


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("arithmetic", ["exact", "float"])
def test_singular_data_is_one_error_and_its_way_out_works(kind, arithmetic):
    log = LoggedData([[1, 0], [1, 0]], [[1, 0], [1, 0]], [1, "1/3"], "9/10")
    with pytest.raises(NotUniqueError, match="feature 1 is 0 in all of them") as told:
        replay(log, kind(), arithmetic=arithmetic)
    assert np.array(told.value.null_vector, dtype=float).ravel().tolist() == [0, 1]
    assert f"as in {kind.__name__}(ridge='1/1000')" in str(told.value)
    found = replay(log, kind(ridge="1/1000"), arithmetic=arithmetic, theta0=[0, 5])
    assert found.theta[1] == 5
    fewer = LoggedData([[1], [1]], [[1], [1]], [1, "1/3"], "9/10")
    assert len(replay(fewer, kind(), arithmetic=arithmetic).theta) == 1


def test_data_without_any_solution():
    log = LoggedData([[1]], [[1]], [1], 1)
    with pytest.raises(NoSolutionError, match="no theta solves"):
        replay(log, LSTD())
    with pytest.raises(NoSolutionError, match="to the precision of floats"):
        replay(log, LSTD(), arithmetic="float")
    assert replay(log, LSTD(ridge="1/1000")).theta[0] == 1000


def test_nearly_singular_floats_are_said():
    tiny = 1e-17
    log = LoggedData([[1.0, 1.0], [1.0, 1.0 + tiny]], [[0.0, 0.0]] * 2, [1.0, 2.0], 0.0)
    for estimator in (LSTD(), LSTD(recursive=True), LSPE(), FPKF(), BRM()):
        with pytest.raises(SingularError):
            replay(log, estimator)


def test_weights_count_rows():
    twice = LoggedData([[1], [1], [2]], [[2], [2], [1]], [1, 1, 0], HALF, first=[True] * 3)
    once = LoggedData([[1], [2]], [[2], [1]], [1, 0], HALF, first=[True] * 2)
    for estimator in (LSTD(), LSETD(), BRM()):
        assert replay(once, estimator, weights=[2, 1]).theta == replay(twice, estimator).theta
    with pytest.raises(InputError, match=r"weights\[1\] is -1"):
        replay(once, LSTD(), weights=[1, -1])
    with pytest.raises(InputError, match="all weights are 0"):
        replay(once, LSTD(), weights=[0, 0])
    with pytest.raises(FeatureError, match="weights has shape"):
        replay(once, LSTD(), weights=[1, 1, 1])


def test_bad_input():
    with pytest.raises(InputError, match="is a class"):
        replay(LOG, LSTD)
    with pytest.raises(InputError, match="no estimator"):
        replay(LOG, "lstd")
    with pytest.raises(InputError, match="expected LoggedData"):
        replay([[1]], LSTD())
    step = LoggedStep("s", "a", "s", 1, False, True, None, None, 2)
    with pytest.raises(InputError, match="from_log"):
        replay(Log((step,)), LSTD())
    with pytest.raises(InputError, match="theta0 has 3 entries"):
        replay(LOG, LSPE(), theta0=[1, 2, 3])
    with pytest.raises(KindError, match="expected 'exact'"):
        replay(LOG, LSTD(), arithmetic="decimal")
    with pytest.raises(KindError, match="the estimator"):
        replay(LOG, LSTD("lam"), arithmetic="exact")
    with pytest.raises(KindError, match="arithmetic='symbolic'"):
        replay(floats(LOG), LSTD("lam"))
    assert replay(floats(LOG), LSTD("lam"), arithmetic="symbolic").arithmetic == "symbolic"
    with pytest.raises(InputError, match=r"no PolicyEvaluation.*replay"):
        LSTD().limit(LOG)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LSTD(2), InputError, "lam is 2; expected a number in"),
        (lambda: LSTD(ridge=-1), InputError, "ridge is -1"),
        (lambda: LSTD(rho="both"), InputError, "'error' or 'target'"),
        (lambda: LSTD(recursive=1), InputError, "expected True or False"),
        (lambda: LSETD(interest=0), InputError, "no state would count"),
        (lambda: LSPE(0), InputError, "alpha is 0"),
        (lambda: LSPE(float("nan")), NumberError, "nan"),
        (lambda: Averager(ridge="x/0"), NumberError, "divides by zero|zero"),
    ],
)
def test_settings_are_checked(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_labels_say_what_differs():
    assert (
        LSTD(HALF, recursive=True, ridge=R(1, 3)).label == "LSTD ridge=1/3 lam=1/2 recursive=True"
    )
    assert [row.name for row in otd.compare(problem(), [LSTD(), LSTD(HALF)])] == [
        "LSTD", "LSTD lam=1/2",
    ]  # fmt: skip


def problem():
    return otd.PolicyEvaluation.from_chain([[0, 1], [1, 0]], [1, 0], discount="1/2")


def test_a_log_is_exact_where_no_number_of_it_is_a_float():
    given = {"phi": [[1], ["1/2"]], "phi_next": [["1/2"], [1]], "reward": [1, 0], "discount": HALF}
    assert LoggedData(**given).is_exact
    assert LoggedData(**{**given, "phi": np.array([[1], [2]]), "phi_next": [[2], [1]]}).is_exact
    for name, value in {
        "phi": [[1.0], ["1/2"]], "phi_next": np.array([[0.5], [1.0]]), "reward": [1, 0.5], "discount": 0.5,
    }.items():  # fmt: skip
        assert not LoggedData(**{**given, name: value}).is_exact
        assert replay(LoggedData(**{**given, name: value}), LSTD()).arithmetic == "float"
    assert not LoggedData(**given, rho=[1, 0.5]).is_exact
    assert not LoggedData(**given, target=[1, 0.5], behavior=[1, 1]).is_exact
