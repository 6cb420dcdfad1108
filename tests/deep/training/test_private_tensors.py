"""Tensors behind a permit."""

from __future__ import annotations

from typing import Any

import torch

from discreet.core.budget import Budget
from discreet.core.mechanism import SecretSample
from discreet.deep.training.private_tensors import PrivateTensors
from tests.conformance.test_door import shows_the_mark
from tests.trust.holding import MARK, HolderTrial

TRIAL = HolderTrial(
    lambda: PrivateTensors(torch.full((9, 2), MARK), torch.full((9,), MARK), Budget(1.0)),
    {"sample": SecretSample(1.0), "size": 8, "device": torch.device("cpu")},
)

PLAIN = {"PrivateTensors": "it is printed with the shape of a record alone"}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""


def test_it_says_how_large_a_record_is_and_not_what_it_holds() -> None:
    tensors: Any = TRIAL.made()
    assert f"{MARK:.0f}" not in repr(tensors)
    held = tensors._curator._view
    assert shows_the_mark(held.chunks(**TRIAL.given))  # so that the walk would see a public member that shows them
