"""Gaussian noise that is drawn on a device."""

from __future__ import annotations

import secrets

import torch
from torch import Tensor


class DeviceNoise:
    """Gaussian noise by the device's counter-based generator (Philox), with a key from the operating system.

    It is drawn in float32, and so it is not exact: the last digits of a sum with noise depend on the sum. On a
    processor `Trainer` draws exact noise, which is as fast there.

    Parameters
    ----------
    device : torch.device
        Public. Where noise is drawn.
    """

    def __init__(self, device: torch.device) -> None:
        self.generator = torch.Generator(device).manual_seed(secrets.randbits(63))

    def one_added(self, whole: Tensor, stddev: float) -> Tensor:
        """The same for one tensor."""
        return self.added({"": whole}, stddev)[""]

    def added(self, sums: dict[str, Tensor], stddev: float) -> dict[str, Tensor]:
        """The sums, each number with a draw of its own: all in one call."""
        sizes = [one.numel() for one in sums.values()]
        whole = torch.randn(sum(sizes), generator=self.generator, device=self.generator.device)
        parts = torch.split(whole.mul_(stddev), sizes)
        return {name: part.view_as(one).add_(one) for part, (name, one) in zip(parts, sums.items(), strict=True)}
