"""Whoever asks for the sum: which questions make a task, what is opened, and what a lying leader cannot pass off."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.events import Composed, Event, LaplaceLoss
from discreet.core.grid import Array
from discreet.crypto.errors import Malformed
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.additive.share_of import is_shared
from discreet.questions.recipe import Recipe
from discreet.schema.schema import Category, Schema
from discreet.trust.aggregation.collected import Collected, task_for
from discreet.trust.aggregation.dap import Collection
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import sealed_reports
from discreet.trust.aggregation.share_aggregator import Reports
from discreet.trust.private_data import PrivateData
from tests.trust.aggregation.surveyed import ASKER, NOW, Pair, Silent, account, published
from tests.trust.aggregation.unproved import UnprovedTask
from tests.trust.trial import SCHEMA, TrustTrial

SHM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def survey(recipe: Recipe, event: Event) -> PublishedTask:
    """A task of numbers that nobody proves anything about: the noise is the same."""
    return published(UnprovedTask("t", recipe, event, SCHEMA, 2, 1))


class Rehearsed(Collected):
    """Has a task for each question, and aggregators in this process; the leader deviates, and adds no noise."""

    secret = once = False
    reports = 1.0

    def __init__(self, rows: Array, bits: Bits) -> None:
        super().__init__(survey(Recipe("count", {"column": "x0"}), LaplaceLoss(1.0)), ASKER)
        self._rows, self._bits = rows, bits

    def keeps(self, event: Event) -> bool:
        return is_shared(event)

    def ask(self, question: Any, mechanism: Any) -> Any:
        if getattr(question, "recipe", None) is not None and hasattr(mechanism, "share"):
            self.published = survey(question.recipe, mechanism.share(1).event)
        with tempfile.TemporaryDirectory(dir=SHM) as folder:
            pair = Pair(Path(folder), self.published, [account(1e9), account(1e9)], self._bits)
            pair.leader._account = Silent(pair.leader._account)  # type: ignore[assignment]
            made = Reports.of(self.published.task, self._rows, self._bits)
            pair.upload(sealed_reports(self.published, made, pair.keys, self.published.rounded(NOW)))
            self._leader = Direct(pair)  # type: ignore[assignment]
            try:
                return super().ask(question, mechanism)
            finally:
                for one in (pair.leader, pair.helper):
                    one.store.close()


class Direct:
    """A line to a leader of this process."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair

    def told(self, method: str, path: str, body: bytes | None = None) -> bytes:
        return self._pair.leader.collect().written()


TRIAL = TrustTrial(Rehearsed)
PLAIN = {"Collected": "the name of a task in quotation marks, and an address that was checked"}


def test_a_statistic_of_one_sum_makes_a_task_and_no_other_does() -> None:
    schema = Schema.numeric(0.0, 4.0, 2)
    assert task_for(lambda phones: discreet.mean(phones, "x0", epsilon=1.0), schema, "m").recipe.name == "moments"
    several = [
        lambda phones: [discreet.mean(phones, "x0", epsilon=1.0), discreet.mean(phones, "x1", epsilon=1.0)],
        lambda phones: None,
    ]
    for ask in several:
        with pytest.raises(NotPermitted):
            task_for(ask, schema, "several")


class Keeping(Collected):
    """Takes any noise for that which was promised, and counts what is asked of it."""

    asked = 0

    def keeps(self, event: Event) -> bool:
        return True

    def ask(self, question: Any, mechanism: Any) -> Any:
        self.asked += 1
        return super().ask(question, mechanism)


def test_what_asks_several_times_is_refused_before_the_batch_is_opened() -> None:
    """The first question would open it, and the second be refused."""
    digits = Schema({name: Category(tuple("0123456789")) for name in "abcdefgh"})
    devices = UnprovedTask("t", Recipe("count", {"column": "a"}), LaplaceLoss(1.0), digits, 2, 1)
    trust = Keeping(published(devices), ASKER)
    data = PrivateData(trust, account(10.0))
    head = data.ledger.head
    for asked in (data, data.where("a = '1'")):
        with pytest.raises(NotPermitted, match=r"several questions.*Nothing was released or spent"):
            discreet.frequent_cells(asked, tuple("abcdefgh"), epsilon=1.0)
        with pytest.raises(NotPermitted, match="several questions"):
            asked.permit(Composed((LaplaceLoss(1.0), LaplaceLoss(2.0))), "two")
    assert (trust.asked, data.ledger.head) == (0, head)


class Changing(Direct):
    """A leader that changes what it hands on."""

    def __init__(self, pair: Pair, change: Any) -> None:
        super().__init__(pair)
        self._change = change

    def told(self, method: str, path: str, body: bytes | None = None) -> bytes:
        found: Collection = self._change(self._pair.leader.collect())
        return found.written()


def test_a_leader_that_changes_what_it_hands_on_is_found_out(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    pair.upload(pair.reports())
    question, noise = pair.published.task.question, Laplace(2.0**-8)
    trust = Collected(pair.published, ASKER)
    changes = [
        lambda found: dataclasses.replace(found, reports=6),
        lambda found: dataclasses.replace(found, reports=1),
        lambda found: dataclasses.replace(found, helper=found.leader),
        lambda found: dataclasses.replace(found, leader=dataclasses.replace(found.leader, payload=b"")),
    ]
    for change in changes:
        trust._leader = Changing(pair, change)  # type: ignore[assignment]
        with pytest.raises(Malformed):
            trust.ask(question, noise)
    trust._leader = Direct(pair)  # type: ignore[assignment]
    assert np.rint(trust.ask(question, noise)).tolist() == [1.0, 2.0, 0.0, 1.0]
