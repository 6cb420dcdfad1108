"""Values by node and class: the tables of the records of each node."""

from __future__ import annotations

import numpy as np

from discreet.questions.tables.class_marginals import class_marginals_of
from discreet.questions.trees.node_marginals import node_marginals_of
from tests.questions.trial import SCHEMA, Trial, summed

FEATURES, CUTS = np.array([[0.0, 1.0, 1.0]]), np.array([[50.0, 0.5, 0.25]])
START = {"columns": ("x", "y"), "bins": 4, "target": "kind", "features": FEATURES, "cuts": CUTS, "norm": "l2"}
TRIALS = {
    "node_marginals": Trial(
        START,
        "fe069216bac7",
        forged=[{"features": FEATURES + 1}, {"cuts": CUTS[:, :2]}, {"norm": "linf"}],
    )
}


def test_the_tables_of_a_node_are_those_of_its_records() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.uniform(-10, 110, 300), rng.uniform(0, 1, 300), rng.integers(0, 3, 300)])
    missing = np.array([[np.nan, 0.5, 1.0], [30.0, 0.5, np.nan]])
    found = summed(
        node_marginals_of(SCHEMA, ("x", "y"), 4, "kind", FEATURES, CUTS, "l1"), np.vstack([records, missing])
    ).reshape(4, -1)
    x, y, _ = records.T
    nodes = np.where(x > 50, 2 + (y > 0.25), (y > 0.5) * 1)
    for node in range(4):
        own = class_marginals_of(SCHEMA, ("x", "y"), (4, 4), "kind", "l1")
        np.testing.assert_array_equal(found[node], summed(own, records[nodes == node]))
