"""Prio3 without proofs: exact shares of what is measured, for trials of the noise, in which nobody lies."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.grid import Steps
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.expansion import SEED
from discreet.crypto.prio3.prio3 import Prio3
from discreet.crypto.prio3.shares import Decision, Sharded, Verification
from discreet.trust.aggregation.aggregated import Aggregated
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.share_aggregator import ShareAggregator


class Unproved(Prio3):
    """Reports have shares of measurements and nothing else; whatever is sent is accepted."""

    public = verifier = 0  # bytes

    def input(self, aggregator: int) -> int:
        return SEED if aggregator else self._measured

    def shard(self, measurements: Any, nonces: Bytes, randomness: Bytes) -> Sharded:
        own = [randomness[:, SEED * k : SEED * (k + 1)] for k in range(self.shares - 1)]
        parts = [self._made.measurement(k + 1, seed) for k, seed in enumerate(own)]
        return Sharded(np.empty((len(nonces), 0), np.uint8), [self._less(self._as_elements(measurements), parts), *own])

    def verified(self, aggregator: int, key: bytes, nonces: Bytes, public: Bytes, inputs: Bytes) -> Verification:
        measurements = self._made.measurement(aggregator, inputs) if aggregator else inputs
        none = np.empty((len(nonces), 0), np.uint8)
        said = np.zeros((len(nonces), self.verifier), np.uint8)
        return Verification(measurements, none, np.ones(len(nonces), dtype=bool), said)

    def verdict(self, verifiers: Any) -> Decision:
        many = len(verifiers[0])
        return Decision(np.empty((many, 0), np.uint8), np.ones(many, dtype=bool))


class UnprovedTask(AggregationTask):
    scheme = Unproved


class QuickAggregated(Aggregated):
    """The same noise, on sums that nobody proves anything about: a proof of 8192 numbers takes a second."""

    task = UnprovedTask


class Deviating(ShareAggregator):
    """The leader adds no noise; the last aggregator is the only honest one."""

    def _noise(self) -> Steps:
        return super()._noise() if self.number else np.zeros(self.task.question.size, dtype=np.int64)


class OneHonest(QuickAggregated):
    """What an aggregator that deviates sees: the noise of the honest one alone, which is a curator's."""

    aggregator = Deviating

    @property
    def reports(self) -> float:
        return 1.0
