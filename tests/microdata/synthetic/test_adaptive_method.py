"""Tables that fit worst are chosen, and the model agrees with what was counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta as delta_of
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors, Unit
from discreet.microdata.synthetic.adaptive_method import AdaptiveMethod
from discreet.microdata.synthetic.junction_model import JunctionModel, NoisyCounts
from discreet.microdata.synthetic.synthesis import TableLayout
from discreet.microdata.synthetic.synthesize import synthesize
from discreet.microdata.synthetic.synthetic_table import SyntheticTable
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.coded_tables import TableCodes
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData

SCHEMA = Schema({name: Category(("no", "yes")) for name in "abcd"})


def parity(n: int = 8000) -> dict[str, list[str]]:
    """Any two columns are independent; c is whether a and b differ."""
    rng = np.random.default_rng(2)
    a, b, d = rng.random((3, n)) < [[0.5], [0.5], [0.3]]
    return {name: np.where(own, "yes", "no").tolist() for name, own in zip("abcd", (a, b, a ^ b, d), strict=True)}


PARITY = parity()


def made(seed: int = 1, price: float = 1.0, delta: float = 1e-6, **options: Any) -> SyntheticTable:
    data = PrivateData.of(PARITY, SCHEMA, Budget(price, delta), bits=DeterministicBits(seed))
    return synthesize(data, method="adaptive", epsilon=price, delta=delta, random_state=seed, **options)


def test_three_columns_that_depend_on_one_another_are_found() -> None:
    for delta in (1e-6, 0.0):
        table = made(delta=delta)
        assert isinstance(table.model, JunctionModel)
        assert (0, 1, 2) in table.model.sets
        odd = (table["a"] == "yes") ^ (table["b"] == "yes")
        assert np.mean((table["c"] == "yes") == odd) > 0.95
        pairs = made(delta=delta, degree=2)
        odd = (pairs["a"] == "yes") ^ (pairs["b"] == "yes")
        assert np.mean((pairs["c"] == "yes") == odd) < 0.6


def test_the_price_is_the_one_that_was_asked_for() -> None:
    for delta in (1e-6, 0.0):
        receipt = made(delta=delta).receipt
        assert receipt.epsilon == pytest.approx(1.0, rel=1e-3)
        assert delta_of(receipt.event, 1.0) <= delta + 1e-12


def test_people_with_several_rows_pay_for_all_of_them_in_noise() -> None:
    """Three times the noise on every count; choices are by distances that three rows can move."""
    rows = {**PARITY, "who": [str(place // 3) for place in range(8000)]}
    data = PrivateData.of(rows, SCHEMA, Budget(1.0, 1e-6), unit=Unit("user", "who", 3), bits=DeterministicBits(1))
    users, records = synthesize(data, method="adaptive", epsilon=1.0, delta=1e-6), made()
    assert isinstance(users.model, JunctionModel)
    assert isinstance(records.model, JunctionModel)
    for own, other in zip(users.model.noisy[:5], records.model.noisy[:5], strict=True):  # columns, and the first choice
        assert own.stddev == pytest.approx(3 * other.stddev, rel=1e-6)
    assert users.receipt.unit.rows == 3


def test_what_was_counted_is_said_with_its_noise_alone() -> None:
    """Of 10 tables, the interval of a count of three columns that were counted together holds at least 8 times."""
    exact = sum(row == ("yes", "no", "yes") for row in zip(PARITY["a"], PARITY["b"], PARITY["c"], strict=True))
    counts = [made(seed).count("a == 'yes' and b == 'no' and c == 'yes'") for seed in range(10)]
    assert sum(abs(own.value - exact) <= (own.half_width or 0.0) for own in counts) >= 8
    assert all("(measured)" in own.name for own in counts)
    assert "(inferred)" in made().count("a == 'yes' and b == 'no' and d == 'yes'").name


def test_the_same_key_gives_the_same_records_and_counts() -> None:
    data = PrivateData.of(PARITY, SCHEMA, Budget(1.0, 1e-6))
    first, again = (synthesize(data, method="adaptive", epsilon=1.0, delta=1e-6, key="table") for _ in range(2))
    assert first.records.tobytes() == again.records.tobytes()
    assert first.count("a == 'yes' and b == 'no'").value == again.count("a == 'yes' and b == 'no'").value


def test_a_model_is_fitted_to_tables_that_overlap() -> None:
    rng = np.random.default_rng(3)
    whole = rng.dirichlet(np.ones(24)).reshape(2, 3, 4) * 5000
    codes = TableCodes(("a", "b", "c"), ((), (), ()), (2, 3, 4))
    tables = [NoisyCounts((0, 1), whole.sum(axis=2), 1.0), NoisyCounts((1, 2), whole.sum(axis=0), 1.0)]
    model = JunctionModel.start(codes, tables, 5000.0, (2, 3, 4)).fitted(500)
    for own in tables:
        np.testing.assert_allclose(model.table(own.axes), own.counts, atol=2)


def test_a_column_without_missing_values_has_none() -> None:
    assert not any(value is None for name in "abcd" for value in made()[name])


def test_noise_on_one_set_that_was_counted_twice_is_averaged() -> None:
    codes = TableCodes(("a",), ((),), (2,))
    tables = [NoisyCounts((0,), np.array([60.0, 40.0]), 1.0), NoisyCounts((0,), np.array([80.0, 20.0]), 2.0)]
    known = JunctionModel.start(codes, tables, 100.0, (2,)).known((0,))
    np.testing.assert_allclose(known.counts, [64, 36])
    assert known.stddev == pytest.approx(np.sqrt(0.8))
    codes = TableCodes(("a", "b"), ((), ()), (2, 4))
    tables = [NoisyCounts((0,), np.array([60.0, 40.0]), 1.0), NoisyCounts((0, 1), np.full((2, 4), 20.0), 1.0)]
    known = JunctionModel.start(codes, tables, 100.0, (2, 4)).known((0,))
    np.testing.assert_allclose(known.counts, [(60 + 80 / 4) / 1.25, (40 + 80 / 4) / 1.25])
    assert known.stddev == pytest.approx(np.sqrt(0.8))


def test_a_table_in_which_noise_alone_is_far_off_is_not_chosen_first() -> None:
    """The pair of many cells is farther from what is expected by chance, and noise would add four times as much."""
    rng = np.random.default_rng(4)
    a = rng.random(2000) < 0.5
    b = np.where(rng.random(2000) < 0.56, a, ~a)
    wide = rng.integers(0, 10, (2, 2000)).astype(str)
    rows = {"a": np.where(a, "1", "0").tolist(), "b": np.where(b, "1", "0").tolist()}
    digits, bit = Category(tuple("0123456789")), Category(("0", "1"))
    schema = Schema({"a": bit, "b": bit, "v": digits, "w": digits})
    for seed in range(3):
        given = rows | {"v": wide[0].tolist(), "w": wide[1].tolist()}
        data = PrivateData.of(given, schema, Budget(1.0, 1e-6), bits=DeterministicBits(seed))
        model = synthesize(data, method="adaptive", degree=2, epsilon=1.0, delta=1e-6).model
        assert isinstance(model, JunctionModel)
        assert model.noisy[4].axes == (0, 1)


def test_weights_favour_tables_with_the_target_and_are_never_above_one() -> None:
    plain, kept = (
        AdaptiveMethod.of(TableLayout(SCHEMA, tuple("abcd"), 16, False, True, target=at)) for at in (None, 0)
    )
    assert plain.weights.max() == kept.weights.max() == 1.0
    for axes, before, now in zip(plain.candidates, plain.weights, kept.weights, strict=True):
        assert now == pytest.approx(before if 0 in axes else before / 2)


@pytest.mark.parametrize("neighbors", Neighbors)
def test_one_column_will_do_under_either_relation(neighbors: Neighbors) -> None:
    data = PrivateData.of(PARITY, SCHEMA, Budget(1.0, 1e-6), neighbors=neighbors)
    assert abs(len(synthesize(data, ["a"], method="adaptive", epsilon=1.0, delta=1e-6)) - 8000) < 100


def test_what_cannot_be_made_is_refused_before_a_charge() -> None:
    data = PrivateData.of(PARITY, SCHEMA, Budget(1.0, 1e-6))
    for wrong in (0, 5, True):
        with pytest.raises(ParameterError, match="degree"):
            synthesize(data, method="adaptive", degree=wrong, epsilon=1.0, delta=1e-6)
    with pytest.raises(ParameterError, match="adaptive"):
        synthesize(data, method="adaptve", epsilon=1.0, delta=1e-6)
    with pytest.raises(NotPermitted, match="nobody holds all records"):
        AdaptiveMethod.of(TableLayout(SCHEMA, tuple("abcd"), 16, False, False))
    wide = Schema({name: Category(tuple(map(str, range(2000)))) for name in "ab"})
    with pytest.raises(ParameterError, match="Leave out a"):
        AdaptiveMethod.of(TableLayout(wide, ("a", "b"), 16, False, True))
    assert not data.ledger.entries()
