"""Reading ahead: a thread decodes the next batches while one is in use."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Batch = TypeVar("Batch")

AHEAD = 4  # batches: the first of a row group takes as long as several others


def ahead(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same batches in the same order, none of them None; `AHEAD` of them are read in advance.

    Examples
    --------
    >>> list(ahead(range(3)))
    [0, 1, 2]
    """
    source, reader = iter(batches), ThreadPoolExecutor(1)
    try:
        coming = deque(reader.submit(next, source, None) for _ in range(AHEAD))
        while (batch := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, source, None))
            yield batch
    finally:
        reader.shutdown(cancel_futures=True)
