"""The count of slots."""

from __future__ import annotations

import pickle
import threading

import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.crypto.gelu_net.slot_allowance import SlotAllowance


def test_every_client_and_layer_has_its_own_count_up_to_the_limit_exactly() -> None:
    own = SlotAllowance(10)
    own.spend("ann", 0, 6)
    own.spend("ann", 1, 10)
    assert own.left("ann") == 0  # the layer that was asked most
    own.spend("bob", 0, 10)
    own.spend("ann", 0, 4)
    assert (own.left("ann"), own.left("bob"), own.left("eve")) == (0, 0, 10)
    with pytest.raises(NotPermitted, match="1 slots are asked, and 'ann' has 0 left of 10"):
        own.spend("ann", 0, 1)


def test_what_is_refused_is_not_counted() -> None:
    own = SlotAllowance(10)
    with pytest.raises(NotPermitted):
        own.spend("ann", 0, 11)
    assert own.left("ann") == 10


def test_counts_are_kept_before_anything_is_answered_and_read_again() -> None:
    kept: list[str] = []
    own = SlotAllowance(10, keep=kept.append)
    own.spend("ann", 0, 7)
    again = SlotAllowance(10, kept[-1])
    assert again.left("ann") == 3
    for wrong in ("", "[]", '{"ann": 3}', '{"ann": {"x": 1}}'):
        with pytest.raises(ParameterError):
            SlotAllowance(10, wrong)


def test_what_cannot_be_kept_is_not_answered() -> None:
    def full(_: str) -> None:
        raise OSError("no room")

    own = SlotAllowance(10, keep=full)
    with pytest.raises(OSError, match="no room"):
        own.spend("ann", 0, 7)
    assert own.left("ann") == 10


def test_threads_together_get_no_more_than_the_limit() -> None:
    own, granted = SlotAllowance(100), []

    def ask() -> None:
        for _ in range(50):
            try:
                own.spend("ann", 0, 1)
                granted.append(1)
            except NotPermitted:
                pass

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(granted) == 100


def test_it_is_not_copied() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(SlotAllowance(1))
