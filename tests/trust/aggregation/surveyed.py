"""A task, its secrets, and aggregators on disk that are objects of this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.events import LaplaceLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.recipe import Recipe
from discreet.schema.schema import Schema
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.aggregator_store import AggregatorStore
from discreet.trust.aggregation.dap import Collection, HpkeConfig
from discreet.trust.aggregation.helper import Helper
from discreet.trust.aggregation.leader import Leader
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import SealedReport, about_sum, sealed_reports
from discreet.trust.aggregation.share_aggregator import Reports
from discreet.trust.aggregation.stored_aggregator import drawn_secrets

SCHEMA = Schema.numeric(0.0, 4.0, 1)
HISTOGRAM = Recipe("contingency", {"columns": ("x0",), "bins": (4,)})
SUMS = Recipe("moments", {"column": "x0", "degree": 2, "counted": False})
"""Whose reports have a public share."""
ROWS = np.array([[0.5], [1.5], [1.5], [3.5], [np.nan]])
NOW = 1_700_000_000
SHARED, ASKER = drawn_secrets(DeterministicBits(5))


def task(least: int = 2, noise: Any = None, recipe: Recipe = HISTOGRAM, name: str = "t") -> AggregationTask:
    return AggregationTask(name, recipe, noise or LaplaceLoss(2.0**-8), SCHEMA, 2, least)


def published(of: AggregationTask | None = None, **how: Any) -> PublishedTask:
    return PublishedTask(
        of or task(), "http://127.0.0.1:1", "http://127.0.0.1:2", ASKER.key.public, how.pop("start", NOW), **how
    )


def account(cap: float = 1000.0) -> MemoryLedger:
    return MemoryLedger(Budget(cap), Neighbors.REPLACE, RECORD)


class Pair:
    """A leader and a helper whose files are in a folder; `restarted` is what is left of them after a power cut."""

    def __init__(
        self, folder: Path, of: PublishedTask | None = None, ledgers: Any = None, bits: Bits | None = None
    ) -> None:
        self.folder, self.published = folder, of or published()
        self.ledgers = ledgers or [account(), account()]
        stores = [AggregatorStore(folder / f"{k}.reports", self.published, k) for k in (0, 1)]
        self.helper = Helper(self.published, SHARED, stores[1], self.ledgers[1], bits=bits or DeterministicBits(1))
        self.leader = Leader(self.published, SHARED, stores[0], self.ledgers[0], self.helper, bits=DeterministicBits(0))

    def restarted(self) -> Pair:
        for one in (self.leader, self.helper):
            one.store.close()
        return Pair(self.folder, self.published, self.ledgers)

    @property
    def keys(self) -> list[HpkeConfig]:
        both = [one.store.keys() for one in (self.leader, self.helper)]
        return [HpkeConfig(max(keys), keys[max(keys)].public) for keys in both]

    def reports(self, rows: Any = ROWS, seed: int = 9, time: int | None = None) -> list[SealedReport]:
        made = Reports.of(self.published.task, np.asarray(rows), DeterministicBits(seed))
        return sealed_reports(self.published, made, self.keys, self.published.rounded(NOW) if time is None else time)

    def upload(self, reports: list[SealedReport], now: float = NOW) -> None:
        self.leader.upload(b"".join(one.written() for one in reports), now)

    def opened(self, found: Collection) -> list[float]:
        """The sum, to the nearest count."""
        sealed = enumerate((found.leader, found.helper))
        shares = [ASKER.key.opened(one, about_sum(self.published, k, found.reports)) for k, one in sealed]
        rows = [np.frombuffer(one or b"", np.uint8)[None] for one in shares]
        return np.rint(self.published.task.opened(rows, found.reports)).tolist()


class Silent:
    """An account that pays, with no noise."""

    def __init__(self, true: Any) -> None:
        self._true = true

    def __getattr__(self, name: str) -> Any:
        return getattr(self._true, name)

    def noise(self) -> Any:
        return 0 * self._true.noise()
