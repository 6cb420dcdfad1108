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
        """The sums in float32, each number with a draw of its own: all in few calls, however many sums there are."""
        sizes, device = [one.numel() for one in sums.values()], self.generator.device
        noise = torch.randn(sum(sizes), generator=self.generator, device=device)
        whole = torch.empty_like(noise)
        parts = [part.view_as(one) for part, one in zip(torch.split(whole, sizes), sums.values(), strict=True)]
        torch._foreach_copy_(parts, list(sums.values()))
        whole.add_(noise, alpha=stddev)
        return dict(zip(sums, parts, strict=True))
