"""PrivBayes: a dependence on two columns at once is found, and families stay small."""

from __future__ import annotations

import numpy as np

from discreet.microdata.synthetic.privbayes_method import FAMILY_CELLS, MOST_FAMILIES, candidates
from discreet.questions.tables.coded_tables import TableCodes
from tests.microdata.synthetic.made_up import made, opened


def test_a_column_that_depends_on_two_others_gets_both() -> None:
    held = 0
    for seed in range(5):
        table = made("privbayes", opened(seed), 3.0, columns=["a", "d", "c", "kind"])
        differ = (table["a"] == "v") != (table["d"] == "v")
        held += bool(np.mean((table["c"] == "v") == differ) > 0.85)  # 0.9 in the data, 0.5 in any tree
    assert held >= 4


def test_with_one_parent_each_it_is_a_tree() -> None:
    table = made("privbayes", opened(1), degree=1)
    assert [len(axes) for axes in table.model.families] == [1, 2, 2, 2, 2]  # type: ignore[attr-defined]
    assert table.model.measured((1, 4)) is not None  # the strongest


def test_families_are_few_however_many_columns_there_are() -> None:
    for size in (2, 40):
        wide = TableCodes(tuple(map(str, range(60))), ((),) * 60, (size,) * 60)
        found = candidates(list(range(50)), wide, 8)
        assert sum(len(family) == 2 for family in found) == 500
        larger = [family for family in found if len(family) > 2]
        assert 0 < len(larger) <= MOST_FAMILIES
        assert sum(map(wide.cells, larger)) <= FAMILY_CELLS
        assert all(family[-1] >= 50 and max(family[:-1]) < 50 for family in found)
