"""What a permit hands over: taken once, by one process and one thread."""

from __future__ import annotations

import copy
import threading

import pytest

from discreet.core.errors import NotPermitted
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.system_bits import system_bits
from discreet.sequential import TreeCounter
from discreet.trust.grant import Grant
from tests.conformance.forks import in_a_fork


def grant() -> Grant:
    return Grant(TreeCounter(8, Laplace(1.0)), system_bits(), None)


def test_it_is_taken_once_also_by_threads() -> None:
    one, taken = grant(), list[bool]()

    def take() -> None:
        try:
            one.take()
        except NotPermitted:
            taken.append(False)
        else:
            taken.append(True)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [False] * 7 + [True]


def test_forks_and_copies_have_none() -> None:
    one = grant()
    assert in_a_fork(one.take) == "refused"
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        copy.copy(one)
