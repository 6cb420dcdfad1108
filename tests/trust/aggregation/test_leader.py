"""Leader and helper on disk: each report counts once whatever happens, and a batch is opened once."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import BudgetExceeded, EngineFailure, KeyReused
from discreet.core.events import LaplaceLoss
from discreet.crypto.errors import Disagreement, Malformed, TooFewReports
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.recipe import Recipe
from discreet.trust.aggregation import leader as leaders
from discreet.trust.aggregation.aggregator_store import AggregatorStore
from discreet.trust.aggregation.dap import (
    FINISHED,
    REJECTED,
    UNOPENABLE,
    Counted,
    HelperAnswer,
    Rejected,
    read_answers,
    written_accepted,
    written_answers,
)
from discreet.trust.aggregation.helper import Helper
from discreet.trust.aggregation.leader import Leader
from discreet.trust.aggregation.sealed_report import SealedReport, sealed_reports
from discreet.trust.aggregation.share_aggregator import Batch, Reports
from tests.trust.aggregation.surveyed import NOW, ROWS, SHARED, SUMS, Pair, Silent, account, published, task


def refused(kind: str, action: Callable[[], Any]) -> None:
    with pytest.raises(Rejected) as found:
        action()
    assert found.value.kind == kind  # type: ignore[attr-defined]


def test_what_devices_send_is_added_up_and_each_aggregator_pays_once(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    assert pair.leader.verify() == 5
    assert pair.leader.verify() == 0
    found = pair.leader.collect()
    assert pair.opened(found) == [1.0, 2.0, 0.0, 1.0]
    assert [one.batch for one in (pair.leader, pair.helper)] == [Batch(5, 0, 0)] * 2
    assert pair.leader.collect() == found  # the same shares again, which cost nothing more
    assert [len(ledger.entries()) for ledger in pair.ledgers] == [1, 1]


def test_a_report_counts_once_however_often_it_is_sent_and_over_restarts(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    sent = pair.reports()
    pair.upload([*sent, *sent])
    pair.upload(sent[:1])
    pair.leader.verify()
    pair.upload(sent)
    pair = pair.restarted()
    pair.upload(sent)
    assert pair.leader.verify() == 0
    assert pair.opened(pair.leader.collect()) == [1.0, 2.0, 0.0, 1.0]
    assert pair.leader.batch == Batch(5, 0, 16)


def test_a_report_that_failed_cannot_be_tried_again(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    sent = pair.reports()
    spoilt = dataclasses.replace(sent[0], shares=(sent[0].shares[0], sent[1].shares[1]))
    pair.upload([spoilt, *sent[1:]])
    pair.leader.verify()
    pair.upload(sent[:1])
    assert pair.leader.verify() == 0
    assert [one.batch for one in (pair.leader, pair.helper)] == [Batch(4, 1, 1), Batch(4, 1, 0)]
    assert pair.opened(pair.leader.collect()) == [0.0, 2.0, 0.0, 1.0]


class Cut(Exception):
    """The power goes."""


CUTS = [
    (Leader, "_asked"),
    (Helper, "begin"),
    (Helper, "finish"),
    (Helper, "share"),
    (AggregatorStore, "set_job"),
    (AggregatorStore, "count"),
    (AggregatorStore, "close_batch"),
    (AggregatorStore, "keep_share"),
]


@pytest.mark.parametrize("where", CUTS, ids=lambda one: f"{one[0].__name__}.{one[1]}")
def test_a_power_cut_anywhere_loses_no_report_and_counts_none_twice(
    where: tuple[type, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each of these steps, and after it before anybody hears; at its first and its second time."""
    kind, name = where
    step = getattr(kind, name)
    for after in (False, True):
        for time in (1, 2):
            calls = 0

            def cut(*given: Any, after: bool = after, time: int = time, **named: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls == time and not after:
                    raise Cut
                found = step(*given, **named)
                if calls == time:
                    raise Cut
                return found

            folder = tmp_path / f"{after} {time}"
            folder.mkdir()
            pair = Pair(folder)
            pair.upload(pair.reports())
            with monkeypatch.context() as patched:
                patched.setattr(kind, name, cut)
                with contextlib.suppress(Cut):
                    pair.leader.collect()
            pair = pair.restarted()
            pair.upload(pair.reports())  # as a device does that heard nothing: known ones change nothing
            assert pair.opened(pair.leader.collect()) == [1.0, 2.0, 0.0, 1.0]
            assert pair.helper.batch == Batch(5, 0, 0)
            assert [len(ledger.entries()) for ledger in pair.ledgers] == [1, 1]


def test_a_store_that_was_set_back_opens_nothing_a_second_time(tmp_path: Path) -> None:
    """Whoever restores the files of an aggregator from before the batch was opened finds its account charged."""
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    pair.leader.collect()
    for name in ("0.reports", "1.reports"):
        (tmp_path / name).unlink()
    again = Pair(tmp_path, pair.published, pair.ledgers)
    again.upload(again.reports(ROWS[:4]))
    with pytest.raises(KeyReused):
        again.leader.collect()


def test_fewer_reports_than_the_least_batch_are_not_opened_and_more_may_come(tmp_path: Path) -> None:
    pair = Pair(tmp_path, published(task(least=6)))
    pair.upload(pair.reports())
    with pytest.raises(TooFewReports, match="5 reports are valid, and a batch has at least 6"):
        pair.leader.collect()
    assert [ledger.entries() for ledger in pair.ledgers] == [(), ()]
    pair.upload(pair.reports(ROWS[:1], seed=3))
    assert pair.opened(pair.leader.collect()) == [2.0, 2.0, 0.0, 1.0]


def test_an_open_batch_takes_no_more_reports(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    pair.leader.collect()
    refused("reportRejected", lambda: pair.upload(pair.reports(seed=4)))
    refused("batchMismatch", lambda: pair.helper.begin(bytes(16), b""))


def test_a_batch_is_not_split_in_two(tmp_path: Path) -> None:
    """A leader that has the helper open some reports, and then more, or the same ones under another name."""
    pair = Pair(tmp_path)
    sent = pair.reports()
    pair.upload(sent[:3])
    pair.leader.collect()
    refused("batchMismatch", lambda: pair.helper.begin(b"next", b""))
    other = tmp_path / "other"
    other.mkdir()
    named = Pair(other, published(task(name="u")))
    for store in (named.leader.store, named.helper.store):  # even with the keys of the first task
        keys = (pair.leader if store.path.name == "0.reports" else pair.helper).store.keys()
        with store.transaction() as db:
            db.execute("UPDATE keys SET secret = ?", (keys[1].secret,))
    named.upload(sent)
    named.leader.verify()
    assert named.leader.batch == Batch(0, 5, 0)


def test_times_keys_and_tasks_that_are_not_right_are_refused_whole(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    good = pair.reports()
    hour = pair.published.rounded(NOW)
    for kind, time in (
        ("reportTooEarly", hour + 2 * 3600),
        ("reportRejected", hour - 24 * 3600),
        ("reportRejected", hour + 1),
    ):
        refused(kind, partial(pair.upload, [*good, *pair.reports(seed=2, time=time)]))
    late = pair.reports(time=hour + 2 * 365 * 24 * 3600)
    refused("reportRejected", lambda: pair.upload(late, now=hour + 3e8))
    pair.leader.store.renew_key(keep=0)
    refused("outdatedConfig", lambda: pair.upload(good))
    pair.upload(pair.reports(seed=6))
    pair.helper.store.renew_key(keep=0)
    pair.leader.verify()
    assert pair.leader.batch == Batch(0, 5, 0)
    for wrong in (b"", good[0].written()[:-1], good[0].written() + b"x"):
        with pytest.raises(Malformed):
            pair.leader.upload(wrong, NOW)


def test_reports_sealed_for_the_last_key_are_still_taken(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    sent = pair.reports()
    for one in (pair.leader, pair.helper):
        one.store.renew_key()
    pair.upload(sent)
    pair.leader.verify()
    assert pair.leader.batch == Batch(5, 0, 0)


def test_only_so_many_reports_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaders, "MOST_WAITING", 7)
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    refused("busy", lambda: pair.upload(pair.reports(seed=2)))
    assert pair.leader.store.waiting() == 5
    pair.upload(pair.reports())  # those that wait already take no room
    pair.leader.verify()
    pair.upload(pair.reports(seed=2))


class Lying(Helper):
    """A helper that deviates, in one of several ways."""

    way = 0

    def begin(self, job: bytes, request: bytes) -> bytes:
        answers = read_answers(super().begin(job, request))
        if self.way == 0:
            answers = [dataclasses.replace(one, verifier=bytes(len(one.verifier))) for one in answers]
        if self.way == 1:
            answers = [dataclasses.replace(one, verifier=one.verifier[:-1]) for one in answers]
        if self.way == 2:
            answers = answers[::-1]
        return written_answers(answers)

    def finish(self, job: bytes, request: bytes) -> bytes:
        told = read_answers(super().finish(job, request))
        return written_answers([HelperAnswer(one.nonce, FINISHED) for one in told] if self.way == 3 else told[1:])


def test_a_helper_that_deviates_has_no_false_report_counted_and_learns_nothing(tmp_path: Path) -> None:
    for way, valid in ((0, 0), (1, 0), (2, None), (3, 4), (4, None)):
        folder = tmp_path / str(way)
        folder.mkdir()
        pair = Pair(folder)
        lying = Lying(pair.published, SHARED, pair.helper.store, pair.ledgers[1])
        lying.way = way
        leader = Leader(pair.published, SHARED, pair.leader.store, pair.ledgers[0], lying)
        sent = pair.reports()
        spoilt = dataclasses.replace(sent[0], shares=(sent[0].shares[0], sent[1].shares[1]))
        pair.upload([spoilt, *sent[1:]])
        if valid is None:
            with pytest.raises(Malformed, match="other reports"):
                leader.verify()
        else:
            leader.verify()
            assert leader.batch == Batch(valid, 5 - valid, 0)
    assert not pair.ledgers[0].entries()


def test_a_leader_that_drops_or_invents_reports_meets_the_helpers_count(tmp_path: Path) -> None:
    """It is refused while its batch differs; a batch that it has chosen is opened once, with the helper's noise."""
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    pair.leader.verify()
    tally = pair.leader.store.tally()
    honest = Counted(5, tally.checksum)
    for told in (dataclasses.replace(honest, reports=4), dataclasses.replace(honest, checksum=bytes(32))):
        refused("batchMismatch", partial(pair.helper.share, told.written()))
    assert not pair.ledgers[1].entries()
    assert not pair.helper.store.closed
    pair.helper.share(honest.written())
    assert len(pair.ledgers[1].entries()) == 1


def test_a_leader_that_asks_for_a_small_batch_meets_the_helpers_least(tmp_path: Path) -> None:
    """An honest leader counts before it asks; the helper does not rely on that."""
    pair = Pair(tmp_path, published(task(least=6)))
    pair.upload(pair.reports())
    pair.leader.verify()
    told = Counted(5, pair.leader.store.tally().checksum)
    with pytest.raises(TooFewReports, match="5 reports are valid, and a batch has at least 6"):
        pair.helper.share(told.written())
    assert not pair.ledgers[1].entries()
    assert not pair.helper.store.closed


def test_what_an_aggregator_cannot_open_is_refused_as_such_and_not_taken_for_zeros(tmp_path: Path) -> None:
    pair, answers = Pair(tmp_path), []

    class Heard(Helper):
        def begin(self, job: bytes, request: bytes) -> bytes:
            answer = super().begin(job, request)
            answers.extend(read_answers(answer))
            return answer

    heard = Heard(pair.published, SHARED, pair.helper.store, pair.ledgers[1])
    leader = Leader(pair.published, SHARED, pair.leader.store, pair.ledgers[0], heard)
    sent = pair.reports()
    spoilt = dataclasses.replace(sent[0], shares=(sent[0].shares[0], sent[1].shares[1]))
    pair.upload([spoilt, *sent[1:]])
    leader.verify()
    refusals = [one for one in answers if not one.verifier]
    assert refusals == [HelperAnswer(spoilt.metadata.nonce, REJECTED, reason=UNOPENABLE)]


def test_a_leader_cannot_have_the_helper_count_what_the_helper_refuses(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    sent = pair.reports()
    spoilt = dataclasses.replace(sent[0], shares=(sent[0].shares[0], sent[1].shares[1]))

    class Eager(Leader):
        def _agreed(self, own: Any, other: Any, present: Any) -> Any:
            return np.ones(len(other), dtype=bool)

    eager = Eager(pair.published, SHARED, pair.leader.store, pair.ledgers[0], pair.helper)
    pair.upload([spoilt, *sent[1:]])
    eager.verify()
    assert pair.helper.batch == Batch(4, 1, 0)
    assert pair.helper.batch == eager.batch


def test_devices_that_lie_with_the_leader_still_meet_all_of_the_helpers_noise(tmp_path: Path) -> None:
    """All devices but one are the leader's, and it adds no noise: the helper's share is as noisy as promised."""
    wide = Recipe("contingency", {"columns": ("x0",), "bins": (1000,)})
    pair = Pair(tmp_path, published(task(noise=LaplaceLoss(8.0), recipe=wide)))
    pair.leader._account = Silent(pair.leader._account)  # type: ignore[assignment]
    pair.upload(pair.reports(ROWS[:2]))
    seen = pair.opened(pair.leader.collect())
    promised = 8.0 * 2 * 2**0.5  # Laplace noise of multiplier 8 on a sensitivity of two cells
    assert np.std(seen) == pytest.approx(promised, rel=5 * (5 / 4) ** 0.5 / len(seen) ** 0.5)


def test_an_account_that_cannot_pay_opens_nothing(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    poor = Pair(tmp_path, pair.published, [account(), account(300.0)])
    poor.ledgers[1].reserve(LaplaceLoss(1 / 100), "something else", request="")
    with pytest.raises(BudgetExceeded):
        Pair(tmp_path, pair.published, poor.ledgers)
    with pytest.raises(BudgetExceeded):
        poor.leader.collect()
    assert not poor.ledgers[0].entries()


def test_a_helper_out_of_reach_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(tmp_path)
    pair.upload(pair.reports())

    def away(*_: Any) -> bytes:
        raise EngineFailure("helper", "it could not be reached")

    with monkeypatch.context() as patched:
        patched.setattr(Helper, "begin", away)
        with pytest.raises(EngineFailure):
            pair.leader.collect()
    assert pair.opened(pair.leader.collect()) == [1.0, 2.0, 0.0, 1.0]


def test_a_job_is_said_in_the_same_words_or_not_at_all(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    kept: dict[str, bytes] = {}

    class Heard(Helper):
        def begin(self, job: bytes, request: bytes) -> bytes:
            kept.update(job=job, first=request)
            return super().begin(job, request)

        def finish(self, job: bytes, request: bytes) -> bytes:
            kept["second"] = request
            return super().finish(job, request)

    heard = Heard(pair.published, SHARED, pair.helper.store, pair.ledgers[1])
    leader = Leader(pair.published, SHARED, pair.leader.store, pair.ledgers[0], heard)
    pair.upload(pair.reports())
    leader.verify()
    job, first, second = kept["job"], kept["first"], kept["second"]
    answer = heard.begin(job, first)
    told = heard.finish(job, second)
    assert heard.begin(job, first) == answer
    assert heard.finish(job, second) == told
    assert heard.batch == Batch(5, 0, 0)
    with pytest.raises(Disagreement):
        heard.begin(job, first[:-1])
    with pytest.raises(Disagreement):
        heard.finish(job, written_accepted([]))
    refused("unrecognizedAggregationJob", lambda: heard.finish(b"another", second))
    total = heard.store.tally().total
    for number, accepted in enumerate((written_accepted([]), second), 1):  # the same reports in another job
        heard.begin(b"once more %d" % number, first)
        heard.finish(b"once more %d" % number, accepted)
        assert heard.batch == Batch(5, 0, 5 * number)
        assert heard.store.tally().total == total


def test_a_device_that_shows_the_aggregators_different_reports_is_refused_by_both(tmp_path: Path) -> None:
    pair = Pair(tmp_path, published(task(recipe=SUMS)))
    one, other = (Reports.of(pair.published.task, ROWS[:1], DeterministicBits(k)) for k in (1, 2))
    hour = pair.published.rounded(NOW)
    first, second = (sealed_reports(pair.published, made, pair.keys, hour)[0] for made in (one, other))
    mixed = [
        SealedReport(first.metadata, first.public, (first.shares[0], second.shares[1])),
        SealedReport(second.metadata, first.public, second.shares),
    ]
    pair.upload(mixed)
    pair.leader.verify()
    assert [one.batch for one in (pair.leader, pair.helper)] == [Batch(0, 2, 0)] * 2


def test_secrets_are_in_no_repr(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    shown = repr([pair.leader, pair.helper, pair.leader.store.tally(), SHARED, pair.leader.store.first_waiting(0)])
    for secret in (SHARED.verification, SHARED.token, pair.leader.store.keys()[1].secret):
        assert secret.hex() not in shown
        assert repr(secret) not in shown
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert os.listdir(tmp_path)
