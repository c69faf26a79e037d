"""Workers leave an interrupt to the process that began them."""

import signal
import sys
import warnings

import pytest
from joblib import delayed

from obliquetd.processes import in_processes


def blocked(_):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_workers_do_not_hear_an_interrupt_and_their_maker_does():
    calls = (delayed(blocked)(k) for k in range(4))
    assert list(in_processes(calls, n_jobs=2)) == [True] * 4
    assert not blocked(None)


def test_results_come_in_order():
    calls = (delayed(divmod)(k, 3) for k in range(20))
    assert list(in_processes(calls, n_jobs=2)) == [divmod(k, 3) for k in range(20)]


def test_a_worker_that_ended_is_no_error_in_the_thread_that_minds_it():
    """With warnings as errors that thread died, and a sweep waited for ever."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(in_processes([delayed(abs)(-1)], n_jobs=1)) == [1]
        warnings.warn(
            "A worker stopped while some jobs were given to the executor. This can be caused by a "
            "too short worker timeout or by a memory leak.",
            UserWarning, stacklevel=1,
        )  # fmt: skip
