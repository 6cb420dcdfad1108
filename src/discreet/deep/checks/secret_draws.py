"""Random numbers that a model or an augmentation draws by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from discreet.core.bits import Bits

WORDS = 624  # of the state of torch's generator on a processor: MT19937
FIRST = 3  # where they begin in it, in units of 8 bytes: after its seed and its places


@contextmanager
def secret_draws(bits: Bits, device: torch.device) -> Iterator[None]:
    """Inside, dropout and augmentation draw from secret bits; outside, torch's generators are where they were.

    Who knows the seed of a program would know which part of whom is dropped, by places in a batch, which shift with one
    record more. From secret bits all places are alike, and so it does not matter who is at which.

    Parameters
    ----------
    bits : Bits
        Where the states of generators come from: all words of that of the processor, and the key of a device's.
    device : torch.device
        Public. Where the model is.
    """
    devices = [] if device.type == "cpu" else [device]
    kind = "cuda" if device.type == "cpu" else device.type
    with torch.random.fork_rng(devices=devices, device_type=kind):
        if devices:
            torch.get_device_module(device).manual_seed(bits.integer(63))
        torch.set_rng_state(_state(bits))
        yield


def _state(bits: Bits) -> torch.Tensor:
    """A fresh state of the processor's generator: a seed would give it 32 bits alone."""
    state = torch.Generator().manual_seed(0).get_state()
    words = bits.words(WORDS // 2).view(np.uint32).astype(np.int64)
    state.view(torch.int64)[FIRST : FIRST + WORDS] = torch.from_numpy(words)
    return state
