"""Values by class: the contingency table of each column with the classes."""

from __future__ import annotations

import numpy as np

from discreet.questions.tables.class_marginals import class_marginals_of
from discreet.questions.tables.contingency import contingency_of
from tests.questions.trial import SCHEMA, Trial, summed

START = {"columns": ("x", "two"), "bins": (4, 0), "target": "kind", "norm": "l2"}
TRIALS = {
    "class_marginals": Trial(
        START,
        "269ba62fa175",
        forged=[{"bins": (4,)}, {"bins": (0, 0)}, {"norm": "linf"}, {"target": "x"}, {"columns": ("kind", "two")}],
    )
}


def test_the_tables_are_those_of_each_column_and_the_classes() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.uniform(-10, 110, 300), rng.integers(0, 2, 300), rng.integers(0, 3, 300)])
    records[:9, 0] = records[5:14, 1] = records[10:19, 2] = np.nan
    found = summed(class_marginals_of(SCHEMA, ("x", "two"), (4, 0), "kind", "l1"), records)
    first = summed(contingency_of(SCHEMA, ("x", "kind"), (4, 0)), records[:, [0, 2]])
    second = summed(contingency_of(SCHEMA, ("two", "kind"), (0, 0)), records[:, [1, 2]])
    np.testing.assert_array_equal(found, np.concatenate([first, second]))
