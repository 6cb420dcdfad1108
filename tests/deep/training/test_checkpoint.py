"""Checkpoints: all of one is taken, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from discreet.core.errors import ParameterError
from discreet.deep.training.checkpoint import load_checkpoint


class Refusing:
    """Takes no state but its own."""

    def state_dict(self) -> str:
        return "mine"

    def load_state_dict(self, state: Any) -> None:
        if state != "mine":
            raise RuntimeError("another state")


def test_where_one_part_does_not_fit_all_keep_what_they_had() -> None:
    first, second = nn.Linear(2, 1), Refusing()
    before = first.weight.detach().clone()
    other = {"weight": torch.full((1, 2), 7.0), "bias": torch.zeros(1)}
    with pytest.raises(ParameterError, match="the checkpoint does not fit: another state"):
        load_checkpoint({"model": other, "last": other}, {"model": first, "last": second})
    assert torch.equal(first.weight, before)
    load_checkpoint({"model": other}, {"model": first})
    assert torch.equal(first.weight, other["weight"])
