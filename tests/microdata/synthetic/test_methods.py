"""What every method of making up records keeps, whatever it asks: price, bounds, secrets, intervals and refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon as epsilon_of
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError, UnplannedRelease
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.microdata.synthetic.synthesize import METHODS, synthesize
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.frame import Frame
from tests.microdata.synthetic.made_up import (
    NAMES,
    OTHERS,
    RECORDS,
    ROWS,
    SCHEMA,
    asked,
    cells,
    layout_of,
    made,
    opened,
    queries,
    rows_of,
)


def plain(notes: Any) -> str:
    """Notes as text."""
    return json.dumps(notes, default=lambda own: own.tolist() if hasattr(own, "tolist") else repr(own))


class Shown:
    """What a question sees of some records."""

    unit = RECORD

    def __init__(self, rows: np.ndarray, neighbors: Neighbors) -> None:
        self.rows, self.neighbors = rows, neighbors

    def batches(self, columns: object) -> list[np.ndarray]:
        return [self.rows]


def test_the_price_is_the_one_that_was_asked_for() -> None:
    for method in METHODS:
        for delta in (1e-6, 0.0):
            event = made(method, opened(1), 0.7, delta).receipt.event
            assert epsilon_of(event, delta) == pytest.approx(0.7, rel=1e-3)


def test_a_plan_pays_for_every_question_and_for_no_more() -> None:
    """As many questions are asked as are paid for, and without any one of the payments one is refused."""
    for method in METHODS:
        for pure in (True, False):
            parts = METHODS[method].of(layout_of(method, opened(1), pure)).parts(1.0)
            assert len(asked(method, opened(1), pure=pure)[1].questions) == len(parts)
            for unpaid in {0, len(parts) // 2, len(parts) - 1} if len(parts) > 1 else ():
                with pytest.raises(UnplannedRelease):
                    asked(method, opened(1), pure=pure, unpaid=unpaid)


def test_nothing_but_releases_decides_what_is_made() -> None:
    """What was said about some records is said again about others, fewer by half: the model is the same."""
    other = rows_of(cells(1500, seed=7))
    for method in METHODS:
        first, permit = asked(method, opened(1))
        again, _ = asked(method, opened(2, other), permit.said)
        assert plain(first) == plain(again)


def test_no_neighbor_moves_an_answer_farther_than_its_bound() -> None:
    """Every question of every method, with one record less and with one replaced."""
    rng = np.random.default_rng(1)
    few = RECORDS[:60].copy()
    few[rng.random(few.shape) < 0.1] = np.nan
    farthest = 0.0
    for method in METHODS:
        for pure in (True, False):
            for neighbors in Neighbors:
                _, permit = asked(method, opened(1, neighbors=neighbors), pure=pure)
                for question in permit.questions:
                    for _ in range(3):
                        other = few[1:] if neighbors is Neighbors.ADD_REMOVE else few.copy()
                        if neighbors is Neighbors.REPLACE:
                            other[0] = rng.integers(0, 2, 5)
                        moved, bound = _moved(question, few, other, neighbors, pure)
                        assert moved <= bound
                        farthest = max(farthest, moved if not isinstance(question, BoundedSum) else 0.0)
                        few = few[rng.permutation(len(few))]
    assert farthest > 1  # a score of a replaced record: a bound of 1 would be broken


def _moved(question: Any, one: np.ndarray, other: np.ndarray, neighbors: Neighbors, pure: bool) -> tuple[float, float]:
    """How far the answers are apart, and how far they may be."""
    if isinstance(question, BoundedSum):
        norm = "l1" if pure else "l2"
        apart = question.grid.values(question.total(one) - question.total(other))  # type: ignore[misc]
        moved = np.abs(apart).sum() if pure else np.sqrt(np.square(apart).sum())
        return float(moved), question.bound.sensitivity(norm, question.size, neighbors)  # type: ignore[arg-type]
    first, second = (question.answer(Shown(own, neighbors)) for own in (one, other))
    return float(np.abs(first.grid.values(first.steps - second.steps)).max()), first.sensitivity("linf")


def test_the_same_key_gives_the_same_records_and_the_same_model() -> None:
    for method in METHODS:
        data = opened(1)
        first, again = (made(method, data, key="table") for _ in range(2))
        assert first.records.tobytes() == again.records.tobytes()
        assert again.receipt.replayed
        assert plain(first.model.to_notes()) == plain(again.model.to_notes())


def test_columns_are_kept_missing_values_too_and_n_where_it_is_public() -> None:
    records = RECORDS.copy()
    records[np.random.default_rng(1).random(len(records)) < 0.2, 1] = np.nan
    for method in OTHERS:
        for delta in (1e-6, 0.0):
            table = made(method, opened(2, rows_of(records), Neighbors.REPLACE), 4.0, delta)
            assert len(table) == len(records)
            assert np.mean([value is None for value in table["b"]]) == pytest.approx(0.2, abs=0.05)
            assert np.mean(table["kind"] == "v") == pytest.approx(np.mean(records[:, 4]), abs=0.05)
            assert not any(value is None for value in table["a"])


def test_few_columns_and_no_records_and_one_will_do() -> None:
    none: dict[str, list[Any]] = {name: [] for name in NAMES}
    one = {name: ["u"] for name in NAMES}
    for method in METHODS:
        for columns in (["kind"], ["a", "kind"]):
            for delta in (1e-6, 0.0):
                assert len(made(method, opened(1), delta=delta, columns=columns, rows=40)) == 40
        for rows in (none, one):
            assert list(made(method, opened(3, rows)).schema.columns) == list(NAMES)


def test_people_with_several_rows_pay_for_all_of_them_in_noise() -> None:
    who = np.repeat(np.arange(1000), 3).astype(str).tolist()
    for method in OTHERS:
        data = opened(1, {**ROWS, "who": who}, unit=Unit("user", "who", 3))
        table, alone = made(method, data), made(method, opened(1))
        error, less = (one.count("a == 'u'").standard_error or 0.0 for one in (table, alone))
        assert error == pytest.approx(3 * less, rel=0.35)


def test_numbers_have_cells_of_their_own() -> None:
    rng = np.random.default_rng(1)
    x = rng.exponential(10, 4000)
    rows = {"x": x, "far": np.where(x > 10, 1.0, 0.0) + rng.normal(0, 0.1, 4000), "kind": np.where(x > 10, "v", "u")}
    schema = Schema({"x": Number(0, 1000), "far": Number(-10, 10), "kind": Category(("u", "v"))})
    for method in OTHERS:
        data = PrivateData.of(rows, schema, Budget(2.0, 1e-6), bits=DeterministicBits(1))
        table = made(method, data, 2.0, bins=8)
        assert np.median(table["x"]) == pytest.approx(np.median(x), rel=0.2)
        assert np.mean((table["x"] > 12) == (table["kind"] == "v")) > 0.85  # 0.96 in the data


def holds(found: Any, exact: int) -> bool:
    return bool(found.low <= exact <= found.high)


def test_intervals_hold_measured_counts() -> None:
    """Of 90 queries some are measured: were 23 apart, fewer than 85 % of them would have a probability below 0.03."""
    for method in (*OTHERS, "tree"):
        held = []
        for seed, delta in enumerate((1e-6, 0.0, 1e-6)):
            table = made(method, opened(seed), delta=delta, random_state=seed)
            for axes, where, exact in queries(seed, 30):
                if table.model.measured(axes) is not None:
                    held.append(holds(table.count(where), exact))
        assert len(held) > 20
        assert np.mean(held) > 0.85


def test_a_cell_without_made_up_records_is_counted_all_the_same() -> None:
    """Ten records leave most cells empty."""
    exact = int(((RECORDS[:, 0] == 0) & (RECORDS[:, 1] == 1)).sum())
    table = made("contingency", opened(1), rows=10)
    found = table.count("a == 'u' and b == 'v'")
    assert abs(found.value - exact) < 5 * (found.standard_error or 0.0)


def test_what_was_not_counted_together_is_inferred() -> None:
    where = "a == 'u' and b == 'u' and c == 'u' and d == 'u'"
    exact = (RECORDS[:, :4] == 0).all(axis=1).sum()
    for method in OTHERS:
        found = made(method, opened(1)).count(where)
        assert found.name.endswith("(inferred)")
        assert 0 < (found.standard_error or 0.0) < 100
        assert found.value == pytest.approx(exact, rel=0.6)


@pytest.mark.filterwarnings("error")
def test_where_noise_is_all_there_is_an_inferred_count_still_has_an_error() -> None:
    """Records may be as good as impossible in a model of other noise: their weights are compared, not their sizes."""
    where = "a == 'u' and b == 'u' and c == 'u' and d == 'u'"
    for method in METHODS:
        for seed in range(3):
            found = made(method, opened(seed), 0.003, 0.0).count(where)
            assert np.isfinite([found.value, found.standard_error or 0.0]).all()
        empty = made(method, opened(1), rows=0)
        assert empty.count("a == 'u'").value > 0
        with pytest.raises(ParameterError, match="no records"):
            empty.count(where)


@pytest.mark.slow
def test_intervals_of_measured_counts_hold_as_often_as_they_say() -> None:
    """93 to 97 %, give or take two standard errors of the mean over tables, within which queries go together."""
    for method in OTHERS:
        for delta in (1e-6, 0.0):
            shares = []
            for seed in range(120):
                table = made(method, opened(seed), delta=delta, random_state=seed)
                some = [one for one in queries(seed, 16) if table.model.measured(one[0]) is not None]
                shares += [np.mean([holds(table.count(where), exact) for _, where, exact in some])] if some else []
            error = np.std(shares) / np.sqrt(len(shares))
            assert error < 0.015
            assert 0.93 - 2 * error <= np.mean(shares) <= 0.97 + 2 * error, (method, delta)


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", Neighbors)
def test_intervals_of_a_tree_hold_as_often_as_they_say_whether_n_is_secret_or_not(neighbors: Neighbors) -> None:
    """The same of the tree, with a secret n and a public one: some 2500 queries of columns and pairs each time."""
    for epsilon in (0.3, 1.0):
        for delta in (1e-6, 0.0):
            shares = []
            for seed in range(150):
                table = made("tree", opened(seed, neighbors=neighbors), epsilon, delta, random_state=seed)
                some = [one for one in queries(seed, 24, most=2) if table.model.measured(one[0]) is not None]
                shares += [np.mean([holds(table.count(where), exact) for _, where, exact in some])]
            error = np.std(shares) / np.sqrt(len(shares))
            assert error < 0.015
            assert 0.93 - 2 * error <= np.mean(shares) <= 0.97 + 2 * error, (epsilon, delta)


def test_methods_that_choose_are_refused_where_nobody_holds_all_records() -> None:
    local = PrivateData(Local(Frame(ROWS, SCHEMA), bits=DeterministicBits(1)), MemoryLedger(Budget(9.0)))
    for method in ("mwem", "privbayes", "diffgen"):
        with pytest.raises(NotPermitted, match=rf"{method} chooses what it counts.*tree or contingency"):
            made(method, local, delta=0.0)
    assert not local.ledger.entries()


@pytest.mark.parametrize("method", ["tree", "contingency"])
def test_where_counts_alone_are_asked_parties_and_people_can_answer(method: str) -> None:
    local = PrivateData(Local(Frame(ROWS, SCHEMA), bits=DeterministicBits(1)), MemoryLedger(Budget(50.0)))
    table = made(method, local, 50.0, 0.0)
    assert np.mean(table["kind"] == "v") == pytest.approx(0.5, abs=0.1)
    assert np.mean(table["d"] == table["kind"]) == pytest.approx(0.8, abs=0.1)
    halves = {f"p{i}": {name: column[i::3] for name, column in ROWS.items()} for i in range(3)}
    with SecureSum.rehearsal(halves, SCHEMA, threshold=2) as trust:
        table = made(method, PrivateData(trust, MemoryLedger(Budget(2.0, 1e-6))), 2.0)
    assert np.mean(table["c"][table["a"] == "u"] == "v") == pytest.approx(0.5, abs=0.1)
    assert np.mean(table["d"] == table["kind"]) == pytest.approx(0.8, abs=0.05)


def test_what_cannot_be_made_is_refused_before_a_charge() -> None:
    data = opened(1)
    wide = Schema({name: Category(tuple(map(str, range(3000)))) for name in "ab"})
    large = PrivateData.of({"a": ["1"], "b": ["1"]}, wide, Budget(1.0, 1e-6))
    mistakes: list[tuple[PrivateData, dict[str, Any], str]] = [
        (data, {"method": "diffgen"}, r"no class to keep.*target="),
        (large, {"method": "contingency"}, r"has 9.01e\+06 cells, and contingency holds at most.*Leave out b"),
        (large, {"method": "mwem"}, r"has 9.01e\+06 cells, and mwem holds at most.*Leave out b"),
        (large, {"method": "privbayes"}, "have 3001 x 3001 cells"),
        (large, {"method": "diffgen", "target": "a"}, "more than 128 values"),
        (data, {"method": "mwme"}, "mwem"),
    ]
    mistakes += [
        (data, {"method": method, "degree": degree}, "degree")
        for method in ("contingency", "mwem", "privbayes")
        for degree in (0, -1, 2.5, float("nan"), 2**60)
    ]
    for of, options, says in mistakes:
        with pytest.raises(ParameterError, match=says):
            synthesize(of, epsilon=1.0, delta=1e-6, **options)
    many = PrivateData.of(
        {f"c{i}": ["u"] for i in range(17)}, Schema({f"c{i}": Category(("u",)) for i in range(17)}), Budget(1.0, 1e-6)
    )
    with pytest.raises(DiscreetError, match=r"tables of 8 of 17 columns.*lower degree"):
        synthesize(many, method="mwem", degree=8, epsilon=1.0, delta=1e-6)
    for one in (data, large, many):
        assert not one.ledger.entries()


def test_a_number_is_no_class() -> None:
    data = PrivateData.of({"x": [1.0], "a": ["u"]}, {"x": Number(0, 1), "a": Category(("u", "v"))}, Budget(1.0))
    with pytest.raises(ParameterError, match="the target x is a number"):
        synthesize(data, method="diffgen", target="x", epsilon=1.0, delta=0.0)
