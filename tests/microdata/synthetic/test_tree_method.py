"""The tree and its further pairs: what is asked, when pairs are worth their noise, and how wide cliques get."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon as epsilon_of
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.microdata.synthetic.synthesis import TableLayout
from discreet.microdata.synthetic.synthesize import synthesize
from discreet.microdata.synthetic.synthetic_table import SyntheticTable
from discreet.microdata.synthetic.tree_method import WIDEST, TreeMethod
from discreet.microdata.synthetic.tree_model import TreeModel
from discreet.microdata.synthetic.widened_tree import WidenedTree
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.joint_plan import JointPlan
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData


def rows_of(columns: int, n: int = 4000) -> dict[str, Any]:
    """All columns depend on one hidden number, and so each on every other."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=n)
    found = (hidden + rng.normal(0, 0.7, n) > 0 for _ in range(columns))
    return {f"c{place}": np.where(own, "v", "u").tolist() for place, own in enumerate(found)}


def made(epsilon: float, columns: int = 3, **options: Any) -> SyntheticTable:
    values = rows_of(columns)
    schema = Schema({name: Category(("u", "v")) for name in values})
    data = PrivateData.of(values, schema, Budget(epsilon, 1e-6), bits=DeterministicBits(1))
    return synthesize(data, epsilon=epsilon, delta=1e-6, random_state=1, **options)


def together(table: SyntheticTable, one: str, other: str) -> float:
    """How often two columns are the same."""
    return float(np.mean(table[one] == table[other]))


def test_pairs_beyond_the_tree_are_counted_where_noise_lets_them() -> None:
    """Of three columns a tree has two pairs: what it says of the third is that it follows from these."""
    exact, table = rows_of(3), made(5.0)
    assert isinstance(table.model, WidenedTree)
    for one, other in combinations(exact, 2):
        truth = np.mean(np.array(exact[one]) == np.array(exact[other]))
        assert together(table, one, other) == pytest.approx(truth, abs=0.02)  # .76; by a tree, one pair is .64
        assert table.count(f"{one} == 'u' and {other} == 'u'").name.endswith("(measured)")
    assert isinstance(made(0.02).model, TreeModel)


def test_cliques_have_few_columns() -> None:
    model = made(50.0, columns=9).model
    assert isinstance(model, WidenedTree)
    assert len(model.tree.pairs) == 8
    assert len(model.more) > 3
    assert max(map(len, model.cliques.cliques)) == WIDEST


def test_shares_of_the_price_add_up_and_nothing_is_chosen_where_nobody_holds_all_records() -> None:
    schema = Schema({name: Category(("u", "v")) for name in "abcd"})
    for pure in (True, False):
        for columns in ("a", "ab", "abc", "abcd"):
            method = TreeMethod.of(TableLayout(schema, tuple(columns), 16, pure, True))
            parts = method.parts(1.0)
            assert len(parts) == (5 if len(columns) > 2 else len(columns))
            if pure:
                assert epsilon_of(JointPlan(parts).event, 0.0) == pytest.approx(1.0)
    assert len(TreeMethod.of(TableLayout(schema, tuple("abcd"), 16, False, False)).parts(1.0)) == 2


def test_both_models_are_read_again_from_what_a_ledger_kept() -> None:
    layout = TableLayout(Schema({name: Category(("u", "v")) for name in "abc"}), tuple("abc"), 16, False, True)
    for epsilon in (0.02, 5.0):
        model = made(epsilon).model
        again = TreeMethod.of(layout).kept(model.codes, model.to_notes())
        assert type(again) is type(model)
        np.testing.assert_allclose(again.table((0,)), model.table((0,)))


def test_columns_are_counted_again_where_hardly_more_than_noise_is_seen_of_pairs() -> None:
    """The budget of the second count is then for what is known: what a column's count says is nearer."""
    for epsilon, again in ((0.002, True), (5.0, False)):
        table = made(epsilon)
        model = table.model.tree if isinstance(table.model, WidenedTree) else table.model
        assert isinstance(model, TreeModel)
        ledger = Budget(epsilon, 1e-6)
        layout = TableLayout(table.schema, tuple(table.schema.columns), 16, False, True)
        joint = calibrate(JointPlan(TreeMethod.of(layout).parts(1.0)), ledger)
        first, second = joint.mechanisms[0].multiplier * 3**0.5, joint.mechanisms[4].multiplier
        both = (1 / first**2 + 1 / (second**2 * 5)) ** -0.5  # two pairs and three columns in one sum
        assert model.one == pytest.approx(both if again else first, rel=1e-6)
