"""A device: what it sends is a report in two sealed shares, and it sends it until that is acknowledged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.accounting.accountant import epsilon
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array
from discreet.noise.system_bits import system_bits
from discreet.schema.schema import Schema
from discreet.trust.aggregation.aggregator_line import ATTEMPTS, AggregatorLine
from discreet.trust.aggregation.dap import HpkeConfig, Rejected
from discreet.trust.aggregation.device_account import DeviceAccount
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import SealedReport, sealed_reports
from discreet.trust.aggregation.share_aggregator import Reports
from discreet.trust.sources.source_of import source_of

TOGETHER = 1000  # reports in a request
WEAKEST = Budget(2.0, 1e-6)


@dataclass(frozen=True)
class PrioReporter:
    """Reports a record to the two aggregators of a task.

    The record is split into two shares, each of them random by itself, with a proof that it is in range. Each share is
    sealed for its aggregator, and both go to the leader, who can open its own alone. A report has a random identifier;
    it may be sent any number of times, and counts once.

    Parameters
    ----------
    published : PublishedTask
        Public. What is asked, and where; from `read_task`.
    most : Budget
        Public. The weakest promise that this device takes part in: what one honest aggregator's noise keeps. Where no
        account is given, that of all reports of this object together.
    trusted : str, optional
        Public. A file of certificates to trust in place of the system's.
    attempts : int
        Public. How often a request is tried while nobody answers.
    bits : Bits, optional
        Where shares come from; the operating system's where not given.
    account : DeviceAccount, optional
        What this device has reported to all tasks, and may. Give one with a path: others end with the process.
    """

    published: PublishedTask
    most: Budget = WEAKEST
    trusted: str | None = None
    attempts: int = ATTEMPTS
    bits: Bits | None = None
    account: DeviceAccount | None = None

    def __post_init__(self) -> None:
        price = epsilon(self.published.task.event, self.most.delta)
        if price > self.most.epsilon:
            obstacle = f"it promises epsilon {price:.3g} at delta {self.most.delta:g}, and this device takes part in"
            obstacle += f" what promises {self.most.epsilon:g} or less"
            raise NotPermitted(f"task {self.published.task.name!r}", obstacle, "Ask with more noise.", price=price)

    def report(self, record: Mapping[str, Any]) -> None:
        """Report one record, once; when this returns, the leader has it on disk.

        To report it again, after an error or a crash, sends the same report, which counts once.
        """
        row = self.rows({name: [value] for name, value in record.items()})
        made = self._own.report(self.published, row, self._source)
        if made is not None:
            self._send_made(made)
            self._own.arrived(self.published)

    def report_all(self, records: Any) -> None:
        """Report many people's records, one row each, as a simulation or a proxy does, beside the device's account.

        They are an array, a data frame or a mapping.
        """
        rows = self.rows(records)
        for start in range(0, len(rows), TOGETHER):
            self._send_made(Reports.of(self.published.task, rows[start : start + TOGETHER], self._source))

    def _send_made(self, made: Reports) -> None:
        try:
            self.send(self.sealed(made))
        except Rejected as refusal:
            if getattr(refusal, "kind", "") != "outdatedConfig":
                raise
            self.send(self.sealed(made))  # the same reports, with the keys that are in use now

    def sealed(self, made: Reports) -> list[SealedReport]:
        """Reports ready to be sent, now or later, once or again: each counts once."""
        return sealed_reports(self.published, made, self._keys, self.published.rounded(time.time()))

    def send(self, reports: Sequence[SealedReport]) -> None:
        """Hand reports to the leader; when this returns, it has them on disk."""
        self._leader.told("POST", "reports", b"".join(one.written() for one in reports))

    def rows(self, records: Any) -> Array:
        """Records in numbers, one column for each that the question has, in its order; missing ones are nan."""
        task = self.published.task
        asked = Schema({name: task.schema.columns[name] for name in task.question.columns})
        source: Any = source_of(records, asked)
        return np.concatenate(list(source.batches(task.question.columns)))

    @cached_property
    def _own(self) -> DeviceAccount:
        return DeviceAccount(self.most) if self.account is None else self.account

    @property
    def _source(self) -> Bits:
        return system_bits() if self.bits is None else self.bits

    @cached_property
    def _leader(self) -> AggregatorLine:
        return AggregatorLine(self.published, self.published.leader, trusted=self.trusted, attempts=self.attempts)

    @property
    def _keys(self) -> list[HpkeConfig]:
        """The keys of both, from each of them."""
        helper = AggregatorLine(self.published, self.published.helper, trusted=self.trusted, attempts=self.attempts)
        return [one.configs()[0] for one in (self._leader, helper)]

    def __repr__(self) -> str:
        return f"PrioReporter({self.published.task.name!r}; {self.published.leader})"
