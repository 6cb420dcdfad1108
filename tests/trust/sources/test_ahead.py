"""Reading ahead changes when a batch is read, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from discreet.trust.sources.ahead import AHEAD, ahead


def test_the_batches_come_whole_and_in_order_from_another_thread() -> None:
    readers = set()

    def batches() -> Iterator[int]:
        for batch in range(100):
            readers.add(threading.get_ident())
            yield batch

    assert list(ahead(batches())) == list(range(100))
    assert readers.isdisjoint({threading.get_ident()})
    assert list(ahead([])) == []


def test_a_few_batches_are_held_in_advance_and_no_more() -> None:
    read: list[int] = []

    def batches() -> Iterator[int]:
        for batch in range(100):
            read.append(batch)
            yield batch

    before = threading.active_count()
    coming = ahead(batches())
    assert next(coming) == 0
    coming.close()  # type: ignore[attr-defined]
    assert 1 <= len(read) <= 1 + AHEAD
    assert threading.active_count() == before


def test_an_error_of_the_reader_reaches_whoever_asks_in_its_turn() -> None:
    def batches() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    coming = ahead(batches())
    assert next(coming) == 1
    with pytest.raises(OSError, match="gone"):
        next(coming)
