"""Synthetic tables: what they keep of the data, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta as delta_of
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError, SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.synthetic.synthesize import synthesize
from discreet.microdata.synthetic.widened_tree import WidenedTree
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.dates import Date
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial(
    {"columns": ("x", "kind"), "bins": 4, "rows": 40, "random_state": 1},
    extreme={"constraints": [["x >= 1e300"], ["x < x"], [""], ["x >"], [5], 5, "x > 1", [None]]},
)

SCHEMA = Schema(
    {
        "age": Number(0, 100, step=1),
        "income": Number(0.0, 1e6),
        "sex": Category(("f", "m")),
        "ill": Category(("no", "yes")),
        "seen": Date("2020-01-01", "2024-12-31"),
    }
)


def people(n: int = 20_000) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, n).astype(float)
    income = np.where(rng.random(n) < 0.4, 0.0, rng.exponential(40_000, n))
    ill = np.where(rng.random(n) < age / 120, "yes", "no")
    seen = np.datetime64("2020-01-01") + rng.integers(0, 1800, n)
    sex = rng.choice(["f", "m"], n).astype(object)
    sex[rng.random(n) < 0.1] = None
    return {"age": age, "income": income, "sex": sex.tolist(), "ill": ill.tolist(), "seen": seen}


PEOPLE = people()


def made(seed: int, price: float = 2.0, delta: float = 1e-6, **options: Any) -> PublishedTable:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(price, delta), bits=DeterministicBits(seed))
    return synthesize(data, epsilon=price, delta=delta, random_state=seed, **options)


def test_columns_and_a_dependence_are_kept_and_missing_values_stay_missing() -> None:
    table = made(1)
    assert abs(len(table) - 20_000) < 600
    assert np.mean(table["income"] == 0) == pytest.approx(0.4, abs=0.03)
    assert np.median(table["age"]) == pytest.approx(53, abs=3)
    old, young = table["ill"][table["age"] > 75] == "yes", table["ill"][table["age"] < 35] == "yes"
    assert old.mean() - young.mean() > 0.3  # 0.45 in the data
    assert np.mean([value is None for value in table["sex"]]) == pytest.approx(0.1, abs=0.03)
    assert not any(value is None for value in table["ill"])
    assert np.datetime64("2020-01-01") <= table["seen"].min()


def test_records_are_in_a_random_order() -> None:
    rows = made(1).records
    for values in rows.T:
        there = values[~np.isnan(values)]
        assert abs(np.corrcoef(there[1:], there[:-1])[0, 1]) < 0.05


def test_cells_are_counted_out_and_not_drawn() -> None:
    """As many as there should be, up to one for each group of the column before: 20,000 draws would miss by 70."""
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1e5, 1e-6), bits=DeterministicBits(3))
    table = synthesize(data, ["sex", "ill"], epsilon=1e5, delta=1e-6, rows=20_000, random_state=1)
    exact = sum(value == "yes" for value in PEOPLE["ill"])
    assert abs(int((table["ill"] == "yes").sum()) - exact) <= 4


def test_the_price_is_the_one_that_was_asked_for() -> None:
    for price, delta in ((1.0, 1e-6), (1.0, 0.0)):
        receipt = made(5, price, delta).receipt
        assert receipt.epsilon == pytest.approx(price, rel=1e-3)
        assert delta_of(receipt.event, price) <= delta + 1e-12


def test_one_column_or_two_and_fixed_rows_and_pure_prices_will_do() -> None:
    for columns in (["age"], ["sex", "ill"], ["income", "seen"]):
        for delta in (0.0, 1e-6):
            table = made(7, delta=delta, columns=columns, rows=50)
            assert [len(table), list(table.schema.columns)] == [50, columns]


def test_without_a_delta_frequent_values_are_found_too() -> None:
    """A record adds one to each of three sums of its column: in l1 its bound is 3, whatever the number of sums."""
    table = made(7, 0.1, delta=0.0, columns=["income"])
    assert np.mean(table["income"] == 0) == pytest.approx(0.4, abs=0.03)
    assert np.median(table["income"][table["income"] > 0]) == pytest.approx(40_000 * np.log(2), rel=0.1)


def test_the_same_key_gives_the_same_records() -> None:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(2.0, 1e-6))
    first, again = (synthesize(data, epsilon=2.0, delta=1e-6, key="table") for _ in range(2))
    assert first.records.tobytes() == again.records.tobytes()
    assert again.receipt.replayed
    with pytest.raises(BudgetExceeded):
        synthesize(data, epsilon=0.5, delta=0.0)


def test_people_with_several_rows_pay_for_all_of_them_in_noise() -> None:
    unit = Unit("user", "who", 3)
    rows = {"who": np.repeat(np.arange(4000), 3).astype(str), "ill": ["no", "no", "yes"] * 4000, "sex": ["f"] * 12_000}
    schema = Schema({"ill": Category(("no", "yes")), "sex": Category(("f", "m"))})
    data = PrivateData.of(rows, schema, Budget(2.0, 1e-6), unit=unit)
    table = synthesize(data, epsilon=2.0, delta=1e-6)
    assert np.mean(table["ill"] == "yes") == pytest.approx(1 / 3, abs=0.03)


def test_where_n_is_public_there_are_so_many_records() -> None:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0, 1e-6), neighbors=Neighbors.REPLACE)
    assert len(synthesize(data, ["sex", "ill"], epsilon=1.0, delta=1e-6)) == 20_000


def test_rows_are_in_no_order_and_a_unique_record_is_hardly_ever_in_the_table() -> None:
    """Of 80 tables, records that were unique come back as often as those of nobody do; a twin that keeps them does not.

    At epsilon .5 a chance of p may become 1.65 p; 12 tables are more than four deviations beyond that, at p = .03.
    """
    schema = Schema({name: Category(tuple("abcdefgh")) for name in "xyz"})
    rows = {name: ["a"] * 999 + ["h"] for name in "xyz"}
    there = np.zeros((2, 2), dtype=int)
    for seed in range(80):
        for place, values in enumerate((rows, {name: own[:-1] for name, own in rows.items()})):
            data = PrivateData.of(values, schema, Budget(0.5, 1e-6), bits=DeterministicBits(seed))
            table = synthesize(data, epsilon=0.5, delta=1e-6, random_state=seed)
            found = bool(((table["x"] == "h") & (table["y"] == "h") & (table["z"] == "h")).any())
            there[place] += [found, found or "h" in values["x"]]
    honest, keeping = there.T
    assert honest[0] <= np.exp(0.5) * honest[1] + 12
    assert keeping[0] > np.exp(0.5) * keeping[1] + 12


def test_records_fulfil_public_constraints_whatever_the_data_say() -> None:
    """Half of the data contradict the first constraint, and all of them the last."""
    rng = np.random.default_rng(1)
    start = rng.integers(0, 50, 5000).astype(float)
    rows = {"start": start, "end": start + rng.integers(-9, 30, 5000), "sex": ["m"] * 5000, "pregnant": ["yes"] * 5000}
    yes_no, sex = Category(("no", "yes")), Category(("f", "m"))
    numbers = {"start": Number(0, 100, step=1), "end": Number(0, 100, step=1)}
    data = PrivateData.of(rows, Schema({**numbers, "sex": sex, "pregnant": yes_no}), Budget(9.0, 1e-6))
    constraints = ["end >= start", "sex == 'f' or pregnant == 'no'"]
    table = synthesize(data, ["start", "end"], constraints=constraints[:1], epsilon=2.0, delta=1e-6, rows=2000)
    assert len(table) == 2000
    assert (table["end"] >= table["start"]).all()
    assert np.corrcoef(table["start"], table["end"])[0, 1] > 0.7  # the pair was counted
    table = synthesize(data, constraints=constraints, epsilon=5.0, delta=1e-6, rows=100)
    assert not ((table["sex"] == "m") & (table["pregnant"] == "yes")).any()
    for wrong in ("end >= begin", "start"):
        with pytest.raises(ParameterError):
            synthesize(data, constraints=[wrong], epsilon=1.0, delta=1e-6)
    with pytest.raises(SchemaError, match="'end' is none of its columns"):
        synthesize(data, ["start", "sex"], constraints=constraints, epsilon=1.0, delta=1e-6)


def test_a_constraint_names_pairs_that_are_counted_first() -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(list("ab"), 4000).tolist() for name in "uvw"}
    columns["w"] = columns["v"]
    schema = Schema({name: Category(("a", "b")) for name in "uvw"})
    for seed in range(8):  # without the constraint either of two pairs would be the other one, by chance
        data = PrivateData.of(columns, schema, Budget(1.0, 1e-6), bits=DeterministicBits(seed))
        table = synthesize(data, constraints=["u == 'a' or w == 'b'"], epsilon=1.0, delta=1e-6)
        assert isinstance(table.model, WidenedTree)
        assert {(0, 2), (1, 2)} == set(table.model.tree.pairs)


@pytest.mark.parametrize("method", ["tree", "adaptive"])
def test_next_to_nothing_is_paid_for_with_noise_and_not_with_an_error(method: str) -> None:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0), neighbors=Neighbors.REPLACE)
    assert len(synthesize(data, ["sex", "ill", "age"], method=method, epsilon=1e-10, delta=0.0, rows=5)) == 5


def test_what_cannot_be_made_is_refused_before_a_charge() -> None:
    wide = Schema({name: Category(tuple(map(str, range(3000)))) for name in "ab"})
    data = PrivateData.of({"a": ["1"], "b": ["1"]}, wide, Budget(1.0, 1e-6))
    with pytest.raises(ParameterError, match=r"b and a have 3001 x 3001 cells.*Leave out b"):
        synthesize(data, epsilon=1.0, delta=1e-6)
    texts = PrivateData.of({"a": ["1"]}, {"a": Text()}, Budget(1.0, 1e-6))
    with pytest.raises(SchemaError, match=r"all columns are text.*buy_categories"):
        synthesize(texts, epsilon=1.0, delta=1e-6)
    with pytest.raises(SchemaError, match=r"column 'a': its values are not public.*buy_categories"):
        synthesize(texts, ["a"], epsilon=1.0, delta=1e-6)
    with pytest.raises(ParameterError, match=r"method is tre\..*Did you mean 'tree'"):
        synthesize(data, method="tre", epsilon=1.0, delta=1e-6)
    for one in (data, texts):
        assert not one.ledger.entries()
