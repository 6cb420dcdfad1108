"""Gaussian noise that is drawn on a device."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

import torch
from torch import Tensor

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.deep.noise.exact_sum import DeviceAnswer
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.permit import KEPT

PIECE = 2**18  # numbers that a processor draws at a time


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
        """One sum in float32, each number with a draw of its own."""
        return self.added({"": whole}, stddev)[""]

    def added(self, sums: dict[str, Tensor], stddev: float) -> dict[str, Tensor]:
        """The sums in float32, each number with a draw of its own."""
        if self.generator.device.type == "cpu":
            return {name: self._added_in_pieces(one, stddev) for name, one in sums.items()}
        return self._added_at_once(sums, stddev)

    def _added_in_pieces(self, one: Tensor, stddev: float) -> Tensor:
        """A sum with noise that does not leave the cache of a processor before it is added."""
        whole = one.to(torch.float32, copy=True, memory_format=torch.contiguous_format)
        noise = torch.empty(min(PIECE, whole.numel()))
        for part in torch.split(whole.view(-1), PIECE):
            part.add_(noise[: len(part)].normal_(generator=self.generator), alpha=stddev)
        return whole

    def _added_at_once(self, sums: dict[str, Tensor], stddev: float) -> dict[str, Tensor]:
        """All sums with noise, by few calls of a device, however many sums there are."""
        sizes, device = [one.numel() for one in sums.values()], self.generator.device
        noise = torch.randn(sum(sizes), generator=self.generator, device=device)
        whole = torch.empty_like(noise)
        parts = [part.view_as(one) for part, one in zip(torch.split(whole, sizes), sums.values(), strict=True)]
        torch._foreach_copy_(parts, list(sums.values()))
        whole.add_(noise, alpha=stddev)
        return dict(zip(sums, parts, strict=True))


def device_gaussian(multiplier: float, device: torch.device) -> Gaussian:
    """Gaussian noise on a sum that is on a device, drawn there.

    Parameters
    ----------
    multiplier : float
        Public. Noise standard deviation in units of the l2 sensitivity.
    device : torch.device
        Public. Where the sum is.

    Guarantee
    ---------
    `GaussianLoss(multiplier)`, as `Gaussian`, but for float32: the noise is not rounded to a grid.
    """
    return _DeviceGaussian(multiplier, DeviceNoise(device))


@dataclass(frozen=True)
class _DeviceGaussian(Gaussian):
    device: DeviceNoise = field(default_factory=lambda: DeviceNoise(torch.device("cpu")), repr=False)

    def release(self, answer: DeviceAnswer, bits: Bits) -> Tensor:  # type: ignore[override]
        """The sum with noise, in float32."""
        if not isinstance(answer, DeviceAnswer):
            obstacle = f"it adds noise to a sum on a device, and was given a {type(answer).__name__}"
            raise NotPermitted("noise on a device", obstacle, "Use Gaussian noise on a processor.", KEPT)
        return self.device.one_added(answer.sums, self.multiplier * answer.sensitivity)
