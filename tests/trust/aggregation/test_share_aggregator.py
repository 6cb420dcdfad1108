"""What devices, aggregators and fuzzed bytes can do: spoil a sum, and learn nothing that was not paid for."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.crypto.errors import Disagreement, Malformed, OutOfOrder, RoundReused, TooFewReports
from discreet.crypto.prio3.shares import Sharded
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.recipe import Recipe
from discreet.schema.schema import Schema
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.share_aggregator import Batch, Reports, Said, ShareAggregator, verified_together

SCHEMA = Schema.numeric(0.0, 4.0, 1)
KEY = bytes(range(32))
HISTOGRAM = Recipe("contingency", {"columns": ("x0",), "bins": (4,)})
ROWS = np.array([[0.5], [1.5], [1.5], [3.5], [np.nan]])


def task(
    least: int = 2, noise: Any = None, recipe: Recipe = HISTOGRAM, name: str = "t", several: int = 2
) -> AggregationTask:
    return AggregationTask(name, recipe, noise or LaplaceLoss(2.0**-8), SCHEMA, several, least)


def pair(of: AggregationTask, **how: Any) -> list[ShareAggregator]:
    return [ShareAggregator(k, of, KEY, bits=DeterministicBits(k), **how) for k in range(of.aggregators)]


def reports(of: AggregationTask, rows: Any = ROWS, seed: int = 9) -> Reports:
    return Reports.of(of, rows, DeterministicBits(seed))


def opened(those: list[ShareAggregator]) -> list[float]:
    accepted = those[0].batch.accepted
    found = those[0].task.opened([one.share(accepted) for one in those], accepted)
    return np.rint(found).tolist()


def changed(sent: Reports, row: int, which: int, at: int) -> Reports:
    """The same reports, one of them with another byte in an aggregator's share."""
    inputs = [one.copy() for one in sent.shares.inputs]
    inputs[which][row, at] ^= 1
    return Reports(sent.nonces, Sharded(sent.shares.public, inputs))


def joined(*several: Reports) -> Reports:
    shares = [one.shares for one in several]
    inputs = [np.concatenate(each) for each in zip(*(one.inputs for one in shares), strict=True)]
    public = np.concatenate([one.public for one in shares])
    return Reports(np.concatenate([one.nonces for one in several]), Sharded(public, inputs))


def test_honest_reports_are_added_up_and_a_missing_value_is_in_no_cell() -> None:
    for several in (2, 3, 5):
        verified_together(those := pair(task(several=several)), reports(those[0].task))
        assert opened(those) == [1.0, 2.0, 0.0, 1.0]
        assert those[0].batch == Batch(5, 0, 0)


def test_false_measurements_count_for_nothing_and_the_batch_says_how_many() -> None:
    asked = task()
    those = pair(asked)
    sent = reports(asked)
    verified_together(those, changed(changed(sent, 0, 0, 3), 3, 1, 1))
    assert opened(those) == [0.0, 2.0, 0.0, 0.0]
    assert [one.batch for one in those] == [Batch(3, 2, 0)] * 2


def test_a_device_that_votes_a_thousand_times_is_refused() -> None:
    asked, liar = task(), task()
    circuit = type("Heavy", (type(asked.circuit),), {"encoded": lambda self, given: 1000 * _one_hot(self, given)})
    own = circuit(**{name: getattr(asked.circuit, name) for name in asked.circuit.__dataclass_fields__})
    object.__setattr__(liar, "vdaf", replace(asked.vdaf, circuit=own))
    verified_together(those := pair(asked), joined(reports(asked), reports(liar, seed=10)))
    assert opened(those) == [1.0, 2.0, 0.0, 1.0]
    assert those[1].batch == Batch(5, 5, 0)


def _one_hot(circuit: Any, given: Any) -> Any:
    return (np.asarray(given)[:, None] == np.arange(circuit.length)).astype(np.int64)


def test_a_report_that_is_sent_twice_counts_once() -> None:
    asked = task()
    those = pair(asked)
    sent = reports(asked)
    verified_together(those, joined(sent, sent))
    verified_together(those, sent)
    assert opened(those) == [1.0, 2.0, 0.0, 1.0]
    assert those[0].batch == Batch(5, 0, 10)


def test_a_report_that_failed_cannot_be_tried_again() -> None:
    asked = task()
    those = pair(asked)
    sent = reports(asked)
    verified_together(those, changed(sent, 0, 0, 3))
    verified_together(those, sent)
    assert those[0].batch == Batch(4, 1, 5)


def test_reports_of_another_task_are_refused_by_their_proof() -> None:
    for other in (task(name="u"), task(least=3), task(noise=LaplaceLoss(1.0))):
        verified_together(those := pair(task()), reports(other))
        assert those[0].batch == Batch(0, 5, 0)


def test_fewer_valid_reports_than_the_least_batch_are_not_opened_and_not_paid_for() -> None:
    ledgers = [MemoryLedger(Budget(1000.0), Neighbors.REPLACE, RECORD) for _ in range(2)]
    asked = task(least=5)
    those = [ShareAggregator(k, asked, KEY, ledger=ledger) for k, ledger in enumerate(ledgers)]
    verified_together(those, changed(reports(asked), 0, 0, 3))
    for one in those:
        with pytest.raises(TooFewReports, match="4 reports are valid, and a batch has at least 5"):
            one.share(4)
    assert [ledger.entries() for ledger in ledgers] == [(), ()]
    verified_together(those, reports(asked, ROWS[:1], seed=11))
    assert opened(those) == [1.0, 2.0, 0.0, 1.0]


def test_a_batch_is_opened_once_and_takes_no_more_reports() -> None:
    asked = task()
    those = pair(asked)
    verified_together(those, reports(asked))
    opened(those)
    for one in those:
        with pytest.raises(RoundReused, match="opened before"):
            one.share(5)
        with pytest.raises(OutOfOrder, match="opened once"):
            one.begin(*_given(reports(asked, seed=12), one.number))


def test_a_batch_cannot_be_split_in_two_to_subtract_one_from_the_other() -> None:
    """A leader that leaves a report out, and asks the helper for its share of either sum."""
    asked = task(least=2)
    _, helper = pair(asked)
    whole = reports(asked)
    mine = ShareAggregator(0, asked, KEY)
    said = [mine.begin(*_given(whole, 0)), helper.begin(*_given(whole, 1))]
    helper.decide(said)
    helper.count([np.array([True, True, True, True, False])])
    helper.share(4)
    with pytest.raises(RoundReused):
        helper.share(5)
    again = pair(asked, ledger=(ledger := MemoryLedger(Budget(1000.0), Neighbors.REPLACE, RECORD)))[1]
    verified_together([ShareAggregator(0, asked, KEY), again], whole)
    again.share(5)
    restarted = pair(asked, ledger=ledger)[1]
    verified_together([ShareAggregator(0, asked, KEY), restarted], whole)
    with pytest.raises(RoundReused, match="paid for and run before"):
        restarted.share(5)


def _given(sent: Reports, number: int) -> tuple[Any, Any, Any]:
    return sent.nonces, sent.shares.public, sent.shares.inputs[number]


def test_a_helper_that_deviates_spoils_the_sum_and_learns_nothing_more() -> None:
    asked = task()
    for way in range(3):
        leader, helper = pair(asked)
        sent = reports(asked)
        true = helper.begin(*_given(sent, 1))
        spoilt = [
            Said(true.verifiers ^ np.uint8(1), true.fresh),
            Said(np.zeros_like(true.verifiers), true.fresh),
            Said(true.verifiers, np.zeros_like(true.fresh)),
        ]
        said = [leader.begin(*_given(sent, 0)), spoilt[way]]
        assert not leader.decide(said).any()
        leader.count([np.ones(5, dtype=bool)])  # it says that it accepts them all
        assert leader.batch == Batch(0, 5, 0)
        with pytest.raises(TooFewReports):
            leader.share(5)


def test_a_leader_that_changes_what_was_said_here_is_noticed() -> None:
    asked = task()
    leader, helper = pair(asked)
    sent = reports(asked)
    said = [leader.begin(*_given(sent, 0)), helper.begin(*_given(sent, 1))]
    with pytest.raises(Disagreement, match="not what was said here"):
        helper.decide([said[0], said[0]])
    helper.decide(said)
    helper.count([])
    with pytest.raises(Disagreement, match="here 5 reports"):
        helper.share(6)


def test_leader_and_all_other_devices_together_meet_the_helper_s_whole_noise() -> None:
    """They know every report but one and add no noise: what is left is that one and noise that keeps the promise."""
    noise = GaussianLoss(4.0)
    wide = Recipe("contingency", {"columns": ("x0",), "bins": (1000,)})
    asked = task(noise=noise, recipe=wide)
    leader, helper = pair(asked)
    sent = reports(asked, np.array([[0.5], [1.5]]))
    verified_together([leader, helper], sent)
    exact = asked.noisy(leader._total, np.zeros(1000, dtype=np.int64))
    seen = asked.opened([exact, helper.share(2)], 2)
    promised = noise.multiplier * asked.question.bound.sensitivity("l2", 1000, Neighbors.REPLACE)
    assert seen.std() == pytest.approx(promised, rel=5 / 2000**0.5)


def test_steps_out_of_order_are_refused_and_change_nothing() -> None:
    asked = task()
    leader, helper = pair(asked)
    sent = reports(asked)
    for early in (lambda: leader.decide([]), lambda: leader.count([])):
        with pytest.raises(OutOfOrder):
            early()
    said = leader.begin(*_given(sent, 0))
    with pytest.raises(OutOfOrder, match="not decided"):
        leader.begin(*_given(sent, 0))
    with pytest.raises(OutOfOrder, match="not decided"):
        leader.share(0)
    for wrong in ([said], [said, Said(said.verifiers, said.fresh[:1])]):
        with pytest.raises(Malformed):
            leader.decide(wrong)
    both = [said, helper.begin(*_given(sent, 1))]
    leader.decide(both)
    with pytest.raises(Malformed):
        leader.count([np.ones(4, dtype=bool)])
    helper.decide(both)
    for one in (leader, helper):
        one.count([])
    assert opened([leader, helper]) == [1.0, 2.0, 0.0, 1.0]


def test_no_reports_at_all_change_nothing() -> None:
    asked = task()
    those = pair(asked)
    verified_together(those, reports(asked, ROWS[:0]))
    verified_together(those, reports(asked))
    verified_together(those, reports(asked, ROWS[:0]))
    assert opened(those) == [1.0, 2.0, 0.0, 1.0]


def test_odd_aggregators_are_refused() -> None:
    asked = task()
    wrong = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, RECORD)
    for make in (
        lambda: ShareAggregator(2, asked, KEY),
        lambda: ShareAggregator(0, asked, b"short"),
        lambda: ShareAggregator(0, asked, KEY, ledger=wrong),
        lambda: task(least=0),
    ):
        with pytest.raises(ParameterError):
            make()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(0, 300))
def test_fuzzed_bytes_never_end_an_aggregator_nor_spoil_the_others_reports(seed: int, row: int, cut: int) -> None:
    asked = task()
    those = pair(asked)
    draw = np.random.default_rng(seed)
    sent = reports(asked)
    inputs = [one.copy() for one in sent.shares.inputs]
    public = sent.shares.public.copy()
    for one in (*inputs, public):
        one[row] = draw.integers(0, 256, one.shape[1], np.uint8)
    with pytest.raises(DiscreetError):
        those[0].begin(sent.nonces, public[:, :cut], inputs[1])
    verified_together(those, Reports(sent.nonces, Sharded(public, inputs)))
    left = np.delete(np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0] * 4]), row, axis=0)
    assert opened(those) == left.sum(axis=0).tolist()
    assert those[0].batch == Batch(4, 1, 0)


def test_secrets_are_in_no_repr_log_or_error(caplog: pytest.LogCaptureFixture) -> None:
    asked = task(least=50)
    those = pair(asked)
    sent = reports(asked)
    shown = [repr(sent), *map(repr, those)]
    with caplog.at_level(logging.DEBUG):
        said = [one.begin(*_given(sent, one.number)) for one in those]
        shown += map(repr, said)
        for one in those:
            one.decide(said)
            one.count([])
            with pytest.raises(TooFewReports) as told:
                one.share(5)
            shown.append(str(told.value))
    everything = " ".join([*shown, caplog.text])
    secrets = [KEY, *(row.tobytes() for one in sent.shares.inputs for row in one)]
    for secret in secrets:
        assert secret.hex()[:16] not in everything
        assert str(list(secret[:4]))[1:-1] not in everything
        assert repr(secret)[2:12] not in everything
