"""Plans: what is counted beforehand is what is sent."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.gelu_net.gelu_plan import plan_prediction, plan_training
from discreet.crypto.gelu_net.updates import ClearUpdates, MaskedUpdates, WeightUpdates
from tests.crypto.gelu_net.two_sides import SMALL, SQUARES, batch, sides


def test_ciphertexts_and_bytes_of_training_are_those_that_are_sent() -> None:
    for net in (SMALL, SQUARES):
        inputs, classes = batch(net, 40)
        for kind in ("clear", "masked"):
            updates: WeightUpdates = ClearUpdates() if kind == "clear" else MaskedUpdates(net)
            own = sides(net, "paillier", updates)
            planned = plan_training(net, 40, 20, 3, kind, key_bits=512)
            own.client.fit(inputs, classes, 3, 20, np.random.default_rng(0))
            spent = own.client.traffic.sent + own.client.traffic.received
            assert planned.bytes == pytest.approx(spent, rel=0.1), (net, kind)
            assert planned.slots == 0


def test_predictions_are_counted_in_slots_and_ciphertexts() -> None:
    found = plan_prediction(SMALL, 100, key_bits=2048)
    assert (found.slots, found.sent, found.received) == (100, 2 * 16 + 2 * 8, 2 * 8 + 2 * 4)
    assert found.server_seconds > 0
    assert "ciphertexts are sent" in str(found)
    masked = plan_prediction(SMALL, 100, "masked")
    assert masked.sent > found.sent


def test_plans_of_nothing_are_refused() -> None:
    for wrong in ((0, 1, 1), (10, 0, 1), (10, 1, 0)):
        with pytest.raises(ParameterError):
            plan_training(SMALL, *wrong)
