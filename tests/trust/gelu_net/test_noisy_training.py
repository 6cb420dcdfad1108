"""Updates that a ledger pays for: the price, the bound, the noise, what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted, ParameterError
from discreet.core.events import GaussianLoss, Repeated
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.crypto.gelu_net.gelu_message import GeluBody
from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.layers import DenseLayer
from discreet.crypto.gelu_net.updates import ClearUpdates, NoisedUpdates
from discreet.crypto.messages import Signed
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.schema.schema import Schema
from discreet.trust.gelu_net.noisy_training import NoisyTraining, _question
from discreet.trust.private_data import PrivateData
from tests.crypto.gelu_net.two_sides import SMALL, Sides, batch, sides
from tests.deep.trial import Part, TrainingTrial

SCHEMA = Schema.numeric([0.0] * 17, [1.0] * 16 + [3.0], 17)


def table(records: int = 20) -> np.ndarray:
    inputs, classes = batch(SMALL, records)
    return np.column_stack([inputs, classes])


def private(rows: np.ndarray, budget: Budget | None = None, neighbors: Neighbors = Neighbors.REPLACE) -> PrivateData:
    return PrivateData.of(rows, SCHEMA, budget or Budget(50.0, 1e-6), neighbors=neighbors)


def noisy(net: GeluNet = SMALL) -> Sides:
    return sides(net, "plain", NoisedUpdates())


def sent(own: Sides) -> list[np.ndarray]:
    """What the server sees of updates."""
    bodies = [one.message.body for one in own.said if one.message.kind == "update"]
    return [np.frombuffer(GeluBody.from_bytes(one, number=int).payload, "<i4") / 2**20 for one in bodies]


class HalfTheNoise(NoisyTraining):
    """Adds the noise that hides one who comes, and not one who takes another's place."""

    @property
    def mechanism(self) -> Gaussian:
        return Gaussian(self.multiplier / 2)


TINY = GeluNet((DenseLayer(2, 2, "identity"),))


def released(kind: type[Any], noise: Gaussian, side: int, bits: Bits) -> Array:
    """What the server sees of a person of one class, or of the other: gradients of the length of the clip, opposite."""
    schema, own = Schema.numeric([0.0] * 3, [1.0] * 3, 3), noisy(TINY)
    rows = np.array([[0.5, 0.25, 0.0], [1.0, 0.75, float(side)]])
    data = PrivateData.of(rows, schema, Budget(1e9, 0.5), neighbors=Neighbors.REPLACE)
    kind(1, noise.multiplier, clip=0.25).run(own.client, data)
    return np.concatenate(sent(own))


@dataclass
class Begun:
    """A run with what it trains and on what."""

    plan: NoisyTraining
    sides: Sides
    data: PrivateData

    @property
    def model(self) -> Begun:
        return self

    def parameters(self) -> list[torch.Tensor]:
        return [torch.from_numpy(one) for one in self.sides.server.weights.copied_values()]

    def run(self) -> None:
        self.plan.run(self.sides.client, self.data)


def begun(kind: type[Any], budget: Budget) -> tuple[Begun, PrivateData]:
    data = private(table(), budget)
    return Begun(kind(2, 4.0), noisy(), data), data


TRIAL = TrainingTrial({"update": Part(released)}, begun, [("update", HalfTheNoise)])


def test_all_steps_are_paid_for_before_the_first() -> None:
    training = NoisyTraining(3, 2.0)
    assert training.event == Repeated(GaussianLoss(2.0), 3)
    data, own = private(table()), noisy()
    training.run(own.client, data)
    assert isinstance(data.ledger, MemoryLedger)
    [entry] = data.ledger.entries()
    assert (entry.event, entry.purpose) == (training.event, "noisy training")
    assert len(sent(own)) == 3
    poor, other = private(table(), Budget(0.1, 1e-6)), noisy()
    with pytest.raises(BudgetExceeded):
        training.run(other.client, poor)
    assert [one.message.kind for one in other.said] == ["open"]


def test_what_is_sent_is_the_clipped_sum_with_noise_of_its_size() -> None:
    """172 numbers: the deviation of the noise is that of the clip, over the records, within four standard errors."""
    rows, own = table(), noisy()
    weights = own.server.weights.copied_values()
    NoisyTraining(1, 5.0, clip=0.5).run(own.client, private(rows))
    [update] = sent(own)
    again = sides(SMALL, "plain", ClearUpdates())
    for one, other in zip(again.server.weights.copied_values(), weights, strict=True):
        np.testing.assert_array_equal(one, other)
    each = again.client.record_gradients(rows[:, :-1], rows[:, -1].astype(int))
    norms = np.linalg.norm(each, axis=1, keepdims=True)
    assert (norms > 0.5).any()
    noise = update * 20 - (each * np.minimum(1, 0.5 / norms)).sum(axis=0)
    # two records that replace each other are two clips apart
    assert noise.std() == pytest.approx(5.0 * 2 * 0.5, rel=4 / (2 * 172) ** 0.5)


def test_a_record_moves_the_sum_by_its_clip_and_no_other_records_part() -> None:
    """Rows that are huge, missing or no class too: each contribution is as long as the clip, and depends on its row."""
    rows, own = table(), noisy()
    question = _question(own.client, private(rows), 0.5)
    odd = np.array([[np.nan] * 17, [1e300] * 17, [-np.inf] * 17, [0.5] * 16 + [2.4]])
    found = question.of(np.vstack([rows, odd]))
    cut = question.bound.clip(found)
    assert (np.linalg.norm(cut, axis=1) <= 0.5 * (1 + 1e-9)).all()
    np.testing.assert_array_equal(found[:20], question.of(rows))
    assert question.of(np.empty((0, 17))).shape == (0, SMALL.weights)
    assert question.size == SMALL.weights


def test_more_records_than_a_message_takes_are_asked_in_parts() -> None:
    own = noisy()
    NoisyTraining(2, 5.0).run(own.client, private(table(150)))
    asked = [GeluBody.from_bytes(one.message.body, **FACTS).facts for one in own.said if one.message.kind == "product"]
    first = [one for one in asked if (one["place"], one["direction"]) == (0, "forward")]
    assert [one["rows"] for one in first] == [1, 64, 64, 22] * 2  # a curator tries a question on a made-up record
    assert [one["sent"] for one in first] == [1, 1, 1, 1, 0, 0, 0, 0]


def told_by_products(rows: np.ndarray) -> list[tuple[object, int]]:
    """What each product says in the clear, and how long it is."""
    own = noisy()
    NoisyTraining(2, 5.0).run(own.client, private(rows))
    bodies = [GeluBody.from_bytes(one.message.body, **FACTS) for one in own.said if one.message.kind == "product"]
    return [(one.facts, len(one.payload)) for one in bodies]


def test_neighbors_are_told_alike_also_where_records_repeat_themselves() -> None:
    """Which batches have the same records is no release: 64 records twice, and with one replaced; a made-up record."""
    twice = np.vstack([table(64)] * 2)
    other = twice.copy()
    other[70] = 0.0
    assert told_by_products(twice) == told_by_products(other)
    alone = table(65)
    made_up = alone.copy()
    made_up[64] = 0.0  # the first that a question is tried on
    assert told_by_products(alone) == told_by_products(made_up)


FACTS = {"number": int, "place": int, "direction": str, "rows": int, "batch": int, "sent": int}


def test_data_whose_number_of_records_is_secret_and_other_sessions_are_refused() -> None:
    training = NoisyTraining(1, 5.0)
    with pytest.raises(NotPermitted, match="the server sees how many records"):
        training.run(noisy().client, private(table(), neighbors=Neighbors.ADD_REMOVE))
    for own in (sides(SMALL, "plain", ClearUpdates()), sides(SMALL, "plain", NoisedUpdates(), "predict")):
        with pytest.raises(ParameterError, match="other updates"):
            training.run(own.client, private(table()))
    wide = PrivateData.of(np.zeros((3, 5)), Schema.numeric(0.0, 1.0, 5), Budget(9.0, 1e-6), neighbors=Neighbors.REPLACE)
    with pytest.raises(ParameterError, match="there are 5 columns"):
        training.run(noisy().client, wide)
    for steps, multiplier, clip in ((0, 1.0, 1.0), (1, 0.0, 1.0), (1, 1.0, 0.0)):
        with pytest.raises(ParameterError):
            NoisyTraining(steps, multiplier, clip)


def test_a_line_that_breaks_leaves_what_was_charged() -> None:
    data, own = private(table()), noisy()
    line, heard = own.client._line, list[int]()

    def breaking(said: Signed) -> Signed:
        heard.append(1)
        if len(heard) > 6:
            raise ConnectionError("it hung up")
        return line(said)

    own.client._line = breaking
    with pytest.raises(ConnectionError):
        NoisyTraining(3, 5.0).run(own.client, data)
    assert isinstance(data.ledger, MemoryLedger)
    assert [entry.event for entry in data.ledger.entries()] == [Repeated(GaussianLoss(5.0), 3)]
