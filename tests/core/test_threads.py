import time
from threading import Event

import numpy as np
import pytest

from biselect.core.threads import OutOfTimeError, run_until


def test_work_that_ends_in_time_is_given_back_and_its_errors_too():
    assert run_until(np.inf, lambda stop: 3) == 3 == run_until(time.perf_counter() + 60, lambda stop: 3)
    with pytest.raises(ZeroDivisionError):
        run_until(time.perf_counter() + 60, lambda stop: 1 / 0)


def test_work_that_never_looks_is_left_behind_and_told_to_stop():
    begin, go_on, seen = time.perf_counter(), Event(), []

    def deaf(stop):
        go_on.wait(30)
        seen.append(int(stop[0]))
        go_on.clear()

    with pytest.raises(OutOfTimeError):
        run_until(begin + 0.05, deaf)
    assert time.perf_counter() - begin < 5 and seen == []
    go_on.set()
    while go_on.is_set():
        time.sleep(0.001)
    assert seen == [1]


@pytest.mark.parametrize("deadline", [0.05, 60])
def test_a_deadline_or_another_byte_ends_work_that_looks(deadline):
    outer = np.full(1, deadline == 60, dtype=np.uint8)

    def endless(stop):
        while True:
            if stop[0]:
                raise OutOfTimeError

    with pytest.raises(OutOfTimeError):
        run_until(time.perf_counter() + deadline, endless, outer)


def test_work_that_begins_too_late_sees_so_at_its_first_look_and_may_still_answer():
    assert run_until(0.0, lambda stop: int(stop[0]), grace=60) == 1
    assert run_until(np.inf, lambda stop: int(stop[0]), np.ones(1, dtype=np.uint8), grace=60) == 1
