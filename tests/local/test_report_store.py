"""The store: what is acknowledged is counted once, whatever is sent again, wrong, or crashes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import KeyReused, ParameterError
from discreet.local import report_store
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.report_store import Acknowledged, Envelope, ReportStore
from discreet.noise.deterministic import DeterministicBits

SURVEY = GeneralizedRandomizedResponse(1.0, 4)


def sent(count: int, first: int = 0) -> list[Envelope]:
    """Messages with identifiers."""
    reports = SURVEY.reports(np.arange(count) % 4, DeterministicBits(first))
    return [Envelope((first + i).to_bytes(16, "big"), SURVEY.encode(one)) for i, one in enumerate(reports)]


def test_what_is_sent_again_is_counted_once_before_and_after_folding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_store, "FOLDED", 10)
    store, messages = ReportStore(tmp_path / "reports", SURVEY), sent(35)
    for start in range(0, 35, 7):
        assert store.add(messages[start : start + 7]) == Acknowledged(7, 0)
        assert store.add(messages[: start + 7]) == Acknowledged(0, start + 7)
    store.close()
    again = ReportStore(tmp_path / "reports")
    assert again.randomizer == SURVEY
    assert again.add(messages[:3] + sent(2, 100)) == Acknowledged(2, 3)
    expected = SURVEY.tallied(SURVEY.decoded([one.message for one in messages + sent(2, 100)]))
    assert np.array_equal(again.aggregator().tally, expected)
    assert again.aggregator().n == 37


def test_threads_and_stores_that_share_a_file_count_each_message_once(tmp_path: Path) -> None:
    path, messages = tmp_path / "reports", sent(120)
    stores = [ReportStore(path, SURVEY) for _ in range(2)]
    batches = [messages[start : start + 40] for start in range(0, 81, 10)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda i: stores[i % 2].add(batches[i % 9]), range(36)))
    assert sum(one.new for one in done) == 120
    assert [store.aggregator().n for store in stores] == [120, 120]
    assert np.array_equal(stores[0].aggregator().tally, SURVEY.tallied(SURVEY.decoded([m.message for m in messages])))


def test_a_batch_with_one_mistake_is_not_counted_at_all(tmp_path: Path) -> None:
    store, (first, second, third) = ReportStore(tmp_path / "reports", SURVEY), sent(3)
    store.add([first])
    other = Envelope(first.id, SURVEY.encode(np.asarray(3 - SURVEY.decode(first.message))))
    with pytest.raises(KeyReused, match="came with another message"):
        store.add([second, other])
    for wrong in (Envelope(b"short", third.message), Envelope(third.id, third.message[:-1])):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            store.add([second, wrong])
    assert store.aggregator().n == 1
    assert store.add([second, third, third]) == Acknowledged(2, 1)


def test_a_file_of_another_protocol_or_none_is_refused(tmp_path: Path) -> None:
    ReportStore(tmp_path / "reports", SURVEY).close()
    with pytest.raises(ParameterError, match="not of"):
        ReportStore(tmp_path / "reports", GeneralizedRandomizedResponse(2.0, 4))
    with pytest.raises(ParameterError, match="no such file"):
        ReportStore(tmp_path / "nothing")
    (tmp_path / "text").write_text("this is not a database, and long enough to be read as one" * 20)
    (tmp_path / "text").chmod(0o600)
    with pytest.raises(ParameterError, match="not a database"):
        ReportStore(tmp_path / "text", SURVEY)
