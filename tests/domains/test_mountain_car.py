import numpy as np
import pytest

from obliquetd.domains import MountainCar
from obliquetd.errors import InputError
from obliquetd.experiments import LoggedData


def test_without_chance_the_values_are_counted_steps():
    """A deterministic policy: the return is -(1 - g^T)/(1 - g), T counted along the trajectory."""
    car = MountainCar(epsilon=0)
    before, after, ends, first = car.trajectory(400, seed=1)
    finish = int(np.flatnonzero(ends)[0])
    states = before[[0, finish - 10, finish]]
    mean, error = car.values(states, runs=3, seed=0)
    left = np.array([finish + 1, 11, 1])
    assert np.allclose(mean, -(1 - 0.99**left) / 0.01)
    assert np.allclose(error, 0)
    assert after[finish, 0] >= 0.5
    assert first[0]
    assert first[finish + 1]


def test_logs_repeat_and_cut_episodes_keep_their_discount():
    car = MountainCar(horizon=50)
    log = car.log(200, seed=3)
    assert np.array_equal(log.phi, car.log(200, seed=3).phi)
    assert not np.array_equal(log.phi, car.log(200, seed=4).phi)
    assert log.first.tolist() == [t % 50 == 0 for t in range(200)]
    assert set(log.discount) == {0.99}
    assert np.array_equal(log.phi_next[:49], log.phi[1:50])
    assert LoggedData(**log._asdict()).first.sum() == 4


def test_the_standard_error_is_that_of_the_mean():
    car = MountainCar(epsilon=0.5)
    start = np.array([[-0.5, 0.0]])
    many = np.array([car.values(start, runs=20, seed=k) for k in range(20)])[:, :, 0]
    spread = many[:, 0].std(ddof=1)
    assert spread / 2 < many[:, 1].mean() < spread * 2


def test_features_are_the_fourier_basis():
    car = MountainCar(order=1)
    low, high = [-1.2, -0.07], [0.6, 0.07]
    assert np.allclose(
        car.features(np.array([low, high])), [[1, 1, 1, 1], [1, -1, -1, 1]], atol=1e-6
    )


@pytest.mark.parametrize(
    ("name", "value"), [("order", 0), ("epsilon", 2), ("horizon", 1.5), ("discount", -1)]
)
def test_bad_settings_are_named(name, value):
    with pytest.raises(InputError, match=f"{name} is {value}"):
        MountainCar(**{name: value})
