"""DiffGen: columns are cut where classes differ, each stretch again and again, and leaves stay few."""

from __future__ import annotations

import numpy as np

from discreet.core.budget import Budget
from discreet.microdata.synthetic.diffgen_method import MOST_LEAVES, splits_of
from discreet.microdata.synthetic.leaf_model import LeafModel
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.coded_tables import TableCodes
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.microdata.synthetic.made_up import made

ROWS = 6000


def banded(seed: int) -> PrivateData:
    """The class is that of a band of x; z says nothing."""
    rng = np.random.default_rng(1)
    x, z = rng.uniform(0, 100, ROWS), rng.choice(["u", "v"], ROWS)
    kind = np.where((x > 30) & (x < 60), "v", "u")
    kind = np.where(rng.random(ROWS) < 0.05, "u", kind)
    schema = Schema({"x": Number(0, 100), "z": Category(("u", "v")), "kind": Category(("u", "v"))})
    return PrivateData.of({"x": x, "z": z, "kind": kind}, schema, Budget(2.0, 1e-6), bits=DeterministicBits(seed))


def test_a_band_is_cut_on_both_sides() -> None:
    for delta in (1e-6, 0.0):
        table = made("diffgen", banded(1), 2.0, delta)
        inside = (table["x"] > 33) & (table["x"] < 57)
        outside = (table["x"] < 27) | (table["x"] > 63)
        assert np.mean(table["kind"][inside] == "v") > 0.85  # 0.95 in the data
        assert np.mean(table["kind"][outside] == "v") < 0.1
        assert isinstance(table.model, LeafModel)
        cuts = np.array(table.model.codes.edges[0])[list(table.model.starts[0][1:])]
        assert np.abs(cuts[:, None] - [30.0, 60.0]).min(axis=0).max() < 6


def test_splits_are_of_stretches_and_end_where_leaves_would_be_too_many() -> None:
    codes = TableCodes(("x", "y", "kind"), ((), (), ()), (5, 3, 2))
    found = splits_of(((0, 2), (0,), (0, 1)), codes, 2)
    assert {(one.column, one.first, one.cut, one.end) for one in found} == {
        (0, 0, 1, 2),
        (0, 2, 3, 5),
        (0, 2, 4, 5),
        (1, 0, 1, 3),
        (1, 0, 2, 3),
    }
    wide = TableCodes(("x", "kind"), ((), ()), (MOST_LEAVES, 2))
    assert not splits_of((tuple(range(MOST_LEAVES // 2)), (0, 1)), wide, 1)
