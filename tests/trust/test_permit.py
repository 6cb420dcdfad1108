"""Permits shared by threads, retried with a key, or left by an error: paid once, for one question, and no more."""

from __future__ import annotations

import copy
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import numpy as np
import pytest

import discreet
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, KeyReused, NotPermitted, ParameterError, UnplannedRelease
from discreet.core.events import Repeated
from discreet.core.identity import identity
from discreet.core.neighbors import Neighbors
from discreet.learners.clusters.kmeans import KMeans
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.total import count_of
from discreet.questions.question import AllRecords, BoundedSum
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.tables.conversation import Conversation
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.permit import KEPT, RECENT, REPLAYED, Digests
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of

THREADS = 16
NOISE = Laplace(2.0)
SCHEMA = Schema({"x0": Number(0, 1), "x1": Number(0, 1)})
PEOPLE = {"x0": np.linspace(0, 1, 400), "x1": np.linspace(1, 0, 400)}


def heads(value: float = 1.0) -> BoundedSum:
    return BoundedSum(lambda records: np.full((len(records), 1), value), Bound("l1", 1.0), ("x0",))


def opened(folder: Path, records: Any = PEOPLE, schema: Schema = SCHEMA) -> PrivateData:
    budget = Budget(50.0, 1e-6)
    ledger = SqliteLedger.create(folder / "people.ledger", budget, name="people", neighbors=Neighbors.ADD_REMOVE)
    return PrivateData.of(records, schema, ledger)


def at_once(work: Callable[[], Any]) -> list[Any]:
    """What threads get that all start together: results and errors."""
    barrier = threading.Barrier(THREADS)

    def one() -> Any:
        barrier.wait()
        try:
            return work()
        except DiscreetError as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        return [future.result() for future in [pool.submit(one) for _ in range(THREADS)]]


class Slow(Counter[Any]):
    """Leaves other threads time between the check and the payment."""

    def __isub__(self, other: Any) -> Any:  # type: ignore[misc]
        time.sleep(0.01)
        return super().__isub__(other)


def test_a_permit_says_how_many_of_its_releases_were_made(tmp_path: Path) -> None:
    said: list[tuple[int, int, str]] = []
    with opened(tmp_path).permit(Repeated(NOISE.event, 3), "heads") as permit:
        permit.progress = lambda *told: said.append(told)
        for _ in range(2):
            permit.ask(heads(), NOISE)
    assert said == [(1, 3, "heads"), (2, 3, "heads"), (3, 3, "heads")]


def test_threads_get_as_many_releases_from_a_permit_as_it_paid_for(tmp_path: Path) -> None:
    with opened(tmp_path).permit(Repeated(NOISE.event, 5), "counts") as permit:
        permit._unspent = Slow(permit._unspent)
        found = at_once(lambda: permit.ask(heads(), NOISE))
    assert sum(isinstance(one, np.ndarray) for one in found) == 5
    assert sum(isinstance(one, UnplannedRelease) for one in found) == THREADS - 5


def test_threads_measure_no_more_in_a_conversation_than_was_paid_for() -> None:
    schema = Schema({"sex": Category(("f", "m", "x"))})
    data = PrivateData.of({"sex": ["f"] * 90_000}, schema, Budget(1.0))
    with Conversation(data, ("sex",), epsilon=1.0, updates=1) as talk:
        found = at_once(lambda: [talk.ask({"sex": sex}).source for sex in ("f", "m", "x")])
    assert sum(source == "measured" for sources in found for source in sources) <= 1


def test_threads_share_a_relation_of_one_connection(tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT range / 1e5 AS x0, 0.5 AS x1 FROM range(100000)")
    data = opened(tmp_path, connection.table("people"))
    for found in at_once(lambda: discreet.mean(data, "x0", epsilon=0.5)):
        assert found.value == pytest.approx(0.5, abs=0.01)


class Twice(Laplace):
    """Costs what its like costs, and releases something else."""

    def release(self, answer: Any, bits: Any) -> Any:
        return 2 * super().release(answer, bits)


def test_a_key_stands_for_the_question_and_the_mechanism_that_it_paid_for(tmp_path: Path) -> None:
    data = opened(tmp_path)

    def asked(question: Any, mechanism: Any = NOISE) -> Any:
        with data.permit(NOISE.event, "count", key="monday") as permit:
            return permit.ask(question, mechanism)

    first = asked(heads())
    assert asked(heads()) == first
    for other in (heads(0.5), AllRecords(("x0",)), BoundedSum(heads().of, Bound("l1", 2.0), ("x0",))):
        with pytest.raises(KeyReused, match="another question") as refusal:
            asked(other)
        assert refusal.value.consequence == REPLAYED
    with pytest.raises(KeyReused, match="another question"):
        asked(heads(), Twice(2.0))
    assert len(data.ledger.entries()) == 1


def test_a_key_stands_for_one_schema(tmp_path: Path) -> None:
    data = opened(tmp_path)
    discreet.count(data, "x0", epsilon=0.5, key="monday")
    other = PrivateData.of(PEOPLE, Schema({"x0": Number(0, 2), "x1": Number(0, 1)}), data.ledger)
    with pytest.raises(KeyReused):
        discreet.count(other, "x0", epsilon=0.5, key="monday")


def test_the_same_key_with_another_function_is_refused(tmp_path: Path) -> None:
    data = opened(tmp_path)
    options: dict[str, Any] = {"lower": 0, "upper": 1, "blocks": 4, "seconds": 2.0, "key": "monday"}
    first = discreet.sample_and_aggregate(data, lambda rows: rows.mean(), ["x0"], **options)
    again = discreet.sample_and_aggregate(data, lambda rows: rows.mean(), ["x0"], **options)
    assert first.values == again.values
    with pytest.raises(KeyReused):
        discreet.sample_and_aggregate(data, lambda rows: rows.max(), ["x0"], **options)


def test_releases_are_found_again_in_any_order(tmp_path: Path) -> None:
    data, plan = opened(tmp_path), Repeated(NOISE.event, 3)
    with data.permit(plan, "counts", key="monday") as permit:
        first = [permit.ask(heads(value), NOISE) for value in (1.0, 0.5, 1.0)]
    with data.permit(plan, "counts", key="monday") as permit:
        again = [permit.ask(heads(value), NOISE) for value in (0.5, 1.0, 1.0)]
    assert again == [first[1], first[0], first[2]]


def test_public_choices_are_the_same_in_a_retry(tmp_path: Path) -> None:
    data = opened(tmp_path)
    first, again = (KMeans(2, epsilon=1.0).fit(data, key="monday").cluster_centers_ for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_an_error_that_leaves_an_open_permit_says_what_was_charged(tmp_path: Path) -> None:
    data = opened(tmp_path)

    def fails(records: Any) -> Any:
        raise ParameterError("count", "it cannot be done", "Ask for something else.")

    with pytest.raises(ParameterError) as failed, data.permit(NOISE.event, "count") as permit:
        permit.ask(BoundedSum(fails, Bound("l1", 1.0), ("x0",)), NOISE)
    with pytest.raises(ParameterError) as later, data.permit(NOISE.event, "count"):
        raise ParameterError("count", "it cannot be drawn", "Draw it otherwise.")
    for error in (failed.value, later.value, pickle.loads(pickle.dumps(later.value))):
        assert error.consequence == KEPT
        assert KEPT in str(error)
        assert "Nothing was released or spent" not in str(error)


def test_a_function_that_fails_on_one_record_gives_the_release_without_it() -> None:
    """Whether it failed would be one exact bit, after the charge."""

    def fails(records: Any) -> Any:
        if (records[:, 0] > 99).any():
            raise ValueError(f"{records}")
        return np.ones((len(records), 1))

    question, schema = BoundedSum(fails, Bound("l1", 1.0), ("x0",)), Schema.numeric(0, 100, 1)
    for trust in (Curator, Local):
        for odd, expected in (([100.0], 50), ([98.0], 51)):
            source: Any = source_of(np.array([[1.0]] * 50 + [odd]), schema)
            data = PrivateData(trust(source), MemoryLedger(Budget(1e9)))
            with data.permit(Laplace(1e-6).event, "own") as permit:
                assert round(float(permit.ask(question, Laplace(1e-6))[0])) == expected


def test_a_function_that_fails_on_made_up_records_says_why() -> None:
    def broken(records: Any) -> Any:
        if len(records):
            raise KeyError("typo")
        return np.ones((0, 1))

    question = BoundedSum(broken, Bound("l1", 1.0), ("x0",))
    for trust in (Curator, Local):
        source: Any = source_of(np.ones((9, 1)), Schema.numeric(0, 100, 1))
        data = PrivateData(trust(source), MemoryLedger(Budget(1e9)))
        with (
            pytest.raises(DiscreetError, match=r"made-up records \(KeyError in broken.*typo") as failed,
            data.permit(NOISE.event, "own") as permit,
        ):
            permit.ask(question, NOISE)
        assert failed.value.consequence == KEPT


def test_a_permit_that_was_left_answers_no_more(tmp_path: Path) -> None:
    with opened(tmp_path).permit(Repeated(NOISE.event, 2), "counts") as permit:
        permit.ask(heads(), NOISE)
    with pytest.raises(NotPermitted, match="is not open"):
        permit.ask(heads(), NOISE)


def test_a_permit_is_not_copied(tmp_path: Path) -> None:
    with opened(tmp_path).permit(NOISE.event, "count") as permit:
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="neither copied nor pickled"):
                duplicate(permit)


def test_what_was_committed_pays_for_nothing_more(tmp_path: Path) -> None:
    with opened(tmp_path).permit(Repeated(NOISE.event, 2), "counts") as permit:
        permit.ask(heads(), NOISE)
        permit.commit(b"one count")
        with pytest.raises(UnplannedRelease):
            permit.ask(heads(), NOISE)
        with pytest.raises(NotPermitted, match="its charge was committed before"):
            permit.commit(b"another")


def test_what_a_plan_pays_for_is_known_before_it_is_asked_and_taken_by_asking_alone(tmp_path: Path) -> None:
    with opened(tmp_path).permit(Repeated(NOISE.event, 2), "counts") as permit:
        permit.check_pays(Repeated(NOISE.event, 2))
        permit.ask(heads(), NOISE)
        permit.check_pays(NOISE.event)
        with pytest.raises(UnplannedRelease):
            permit.check_pays(Repeated(NOISE.event, 2))
    with pytest.raises(NotPermitted, match="is not open"):
        permit.check_pays(NOISE.event)


def test_what_is_asked_again_is_walked_once_and_known_by_all_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    digests, other = Digests(), Schema({"x0": Number(0, 2), "x1": Number(0, 1)})
    asked = [
        (schema, (count_of(schema, column), Laplace(multiplier)))
        for schema in (SCHEMA, other)
        for column in ("x0", "x1")
        for multiplier in (2.0, 3.0)
    ]
    found = [digests.of(one) for one in asked]
    assert found == [identity(one) for one in asked]
    assert len({*found}) == len(asked)
    walks = Mock(wraps=identity)
    monkeypatch.setattr("discreet.trust.permit.identity", walks)
    assert [digests.of(one) for one in asked] == found
    assert walks.call_count == 0
    own = SCHEMA, (heads(), NOISE)  # a function of one's own may use what changes
    assert [digests.of(own), digests.of(own)] == [identity(own)] * 2
    assert walks.call_count == 2
    for number in range(2 * RECENT):
        fresh = SCHEMA, (asked[0][1][0], Laplace(4.0 + number))  # another may come to lie where the last one lay
        assert digests.of(fresh) == identity(fresh)
    assert len(digests._found) == RECENT
