"""All small databases: each once, with as many orders as it has."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.mechanisms.online.small_databases import databases, orders


@pytest.mark.parametrize(("cells", "size"), [(1, 4), (2, 5), (3, 4), (4, 3)])
def test_each_database_is_listed_once_with_the_share_of_its_orders(cells: int, size: int) -> None:
    sequences = Counter(
        tuple(Counter(sequence)[cell] for cell in range(cells))
        for sequence in itertools.product(range(cells), repeat=size)
    )
    listed = databases(cells, size)
    assert len(listed) == len(sequences) == math.comb(size + cells - 1, cells - 1)
    for row, share in zip(listed.tolist(), orders(listed), strict=True):
        assert share == pytest.approx(sequences[tuple(row)] / cells**size, rel=1e-12)


def test_too_many_are_refused_with_their_number() -> None:
    with pytest.raises(ParameterError, match=r"there are 4\.26e\+12 of 100 records over 10 cells"):
        databases(10, 100)
    with pytest.raises(ParameterError, match="size is 0"):
        databases(3, 0)


def test_a_long_list_is_made_fast_enough_to_use() -> None:
    listed = databases(4, 80)
    assert len(listed) == 91_881
    assert (listed.sum(axis=1) == 80).all()
    assert len(np.unique(listed, axis=0)) == len(listed)
