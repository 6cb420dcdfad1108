"""DP-LUSN: why no epsilon describes it, and that only a waiver lets it pass."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.as_published.dp_lusn import dp_lusn
from discreet.as_published.fast_newman import FastNewman, fast_newman
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.events import NoPromise
from discreet.graphs import graph_data

# Florentine families (Padgett and Ansell 1993): marriages among 15 of them
MARRIAGES = np.array(
    [
        *[(0, 8), (1, 5), (1, 6), (1, 8), (2, 4), (2, 8), (3, 6), (3, 10), (3, 13), (4, 10)],
        *[(4, 13), (6, 7), (6, 14), (8, 11), (8, 12), (8, 14), (9, 12), (10, 13), (11, 13), (11, 14)],
    ]
)


def test_one_edge_changes_the_communities_and_so_what_is_published() -> None:
    whole = fast_newman(MARRIAGES, 15)
    changed = [
        k for k in range(len(MARRIAGES)) if not np.array_equal(fast_newman(np.delete(MARRIAGES, k, axis=0), 15), whole)
    ]
    assert len(changed) >= 10, "half of all edges are betrayed"
    without = np.delete(MARRIAGES, changed[0], axis=0)
    shown = [
        {
            tuple(dp_lusn(graph_data(edges, 15, Budget(1.0), unit="edge"), waiver="public").groups.tolist())
            for _ in range(20)
        }
        for edges in (MARRIAGES, without)
    ]
    assert len(shown[0]) == len(shown[1]) == 1
    assert not shown[0] & shown[1], "always told apart: the loss is infinite"


def test_it_promises_nothing_and_needs_a_waiver() -> None:
    assert isinstance(FastNewman().event, NoPromise)
    graph = graph_data(MARRIAGES, 15, Budget(1.0), unit="edge")
    with pytest.raises(NotPermitted, match="waiver"):
        dp_lusn(graph, waiver="")
    made = dp_lusn(graph, waiver="these marriages are published", epsilon=1.0)
    assert made.receipt.epsilon == math.inf
    assert "not private" in made.name
    assert "NOT PRIVATE" in (dp_lusn.__doc__ or "")


def test_communities_are_merged_while_that_raises_the_modularity() -> None:
    cliques = np.array([(i, j) for j in range(12) for i in range(j) if i // 4 == j // 4] + [(3, 4), (7, 8)])
    assert fast_newman(cliques, 12).tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert fast_newman(np.empty((0, 2), np.int64), 3).tolist() == [0, 1, 2]
