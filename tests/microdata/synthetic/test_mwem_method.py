"""MWEM: the noise of a table does not shrink with the number of its columns, and dependences of three are found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.neighbors import Neighbors
from discreet.microdata.synthetic.mwem_method import ONES, TABLES, MwemMethod
from discreet.questions.tables.coded_tables import TableCodes
from tests.microdata.synthetic.made_up import NAMES, RECORDS, SCHEMA, asked, layout_of, made, opened


def test_the_noise_of_a_table_is_that_of_its_price_whatever_its_columns_are() -> None:
    """The scale of one peer's noise was divided by the number of columns: here it would be a third of this.

    Of 10 tables 5 are counted, each with epsilon 0.6 / 5; their 27 cells and more, 5 times, have a mean square
    within 10 % of that of Laplace noise, whose kurtosis is 6, but for a chance below 1e-2.
    """
    codes = TableCodes.of(SCHEMA, NAMES, ((),) * 5)
    off: list[np.ndarray] = []
    ones: list[np.ndarray] = []
    for seed in range(8):
        notes, _ = asked("mwem", opened(seed))
        for axes, table, stddev in zip(notes["sets"], notes["numbers"], notes["stddevs"], strict=True):
            exact = np.bincount(codes.codes(RECORDS.astype(int), tuple(axes)), minlength=table.size)
            (off if len(axes) == 3 else ones).append(table.ravel() - exact)
            if len(axes) == 3:
                assert stddev == pytest.approx(math.sqrt(2) * 5 / TABLES, rel=0.01)
    assert np.std(np.concatenate(off)) == pytest.approx(math.sqrt(2) * 5 / TABLES, rel=0.1)
    assert np.std(np.concatenate(ones)) == pytest.approx(math.sqrt(2) * 5 / ONES, rel=0.2)


def test_a_dependence_that_no_pair_shows_is_kept() -> None:
    table = made("mwem", opened(1))
    differ = (table["a"] == "v") != (table["d"] == "v")
    assert np.mean((table["c"] == "v") == differ) > 0.85  # 0.9 in the data
    pairs = made("contingency", opened(1))
    differ = (pairs["a"] == "v") != (pairs["d"] == "v")
    assert np.mean((pairs["c"] == "v") == differ) < 0.7


def test_where_all_tables_are_counted_none_is_chosen() -> None:
    layout = layout_of("mwem", opened(1))
    assert MwemMethod(layout).chooses
    for degree, rounds in ((5, 1), (4, 5), (1, 0)):
        method = MwemMethod(type(layout)(layout.schema, NAMES, 16, True, True, degree=degree))
        assert (method.chooses, method.rounds) == (False, rounds)
        table = made("mwem", opened(1), degree=degree)
        assert table.model.measured(tuple(range(min(degree, 5)))) is not None


def test_columns_that_a_constraint_names_are_counted() -> None:
    for method in ("mwem", "privbayes"):
        table = made(method, opened(1), constraints=["b == 'u' or c == 'u'"], degree=2)
        assert table.model.measured((1, 2)) is not None


def test_noise_of_any_size_fails_nothing_after_the_charge() -> None:
    for method in ("mwem", "privbayes"):
        for epsilon in (1e-10, 20.0):
            assert len(made(method, opened(1, neighbors=Neighbors.REPLACE), epsilon, 0.0, rows=10)) == 10
