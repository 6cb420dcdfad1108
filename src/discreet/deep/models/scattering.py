"""Wavelet scattering: features of images that no data determine."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError

ASKED = "scattering"
WIDTH, CENTER = 0.8, 0.75 * math.pi  # of the finest wavelet: its standard deviation in pixels, its frequency


class Scattering(nn.Module):
    """Averages of the moduli of wavelets, and of wavelets of these: a fixed public transform without parameters.

    Bruna and Mallat 2013: an image is convolved with oriented Morlet wavelets, the modulus is taken, and the same is
    done once more with the wavelets of greater scales; all results are averaged over about `2**scales` pixels. A model
    on top of it needs no private budget for its features (Tramèr and Boneh 2021).

    Parameters
    ----------
    height, width : int
        Public. Of the images in pixels, each a multiple of `2**scales`.
    scales : int
        Public. How many scales the wavelets have, each of twice the size.
    angles : int
        Public. How many orientations, over half a turn.

    Examples
    --------
    >>> transform = Scattering(28, 28)
    >>> transform(torch.rand(5, 28, 28)).shape
    torch.Size([5, 81, 7, 7])
    """

    def __init__(self, height: int, width: int, *, scales: int = 2, angles: int = 8) -> None:
        super().__init__()
        for name, value in (("height", height), ("width", width), ("scales", scales), ("angles", angles)):
            check_whole(ASKED, name, value)
        self.step = 2**scales
        if height % self.step or width % self.step:
            obstacle = f"{height} and {width} pixels are no multiples of {self.step}"
            raise ParameterError(ASKED, obstacle, "Pad the images, or take fewer scales.")
        self.height, self.width, self.scales, self.angles = height, width, scales, angles
        padded = height + 2 * self.step, width + 2 * self.step
        for scale in range(scales):
            found = np.stack([_morlet(padded, scale, angle, angles) for angle in range(angles)])
            self.register_buffer(f"wavelets_{scale}", torch.from_numpy(found).to(torch.complex64), persistent=False)
            for axis, length in zip("yx", padded, strict=True):
                low = torch.from_numpy(_averages(length, scale, scales)).float()
                self.register_buffer(f"average_{axis}_{scale}", low, persistent=False)

    @property
    def channels(self) -> int:
        """How many averages for each place and color."""
        first = self.scales * self.angles
        return 1 + first + self.angles**2 * (self.scales * (self.scales - 1) // 2)

    def forward(self, images: Tensor) -> Tensor:
        """The averages, of shape (samples, channels, height / 2**scales, width / 2**scales).

        Parameters
        ----------
        images : Tensor of shape (samples, height, width) or (samples, colors, height, width)
            Each is transformed by itself, and each of its colors.
        """
        if images.shape[-2:] != (self.height, self.width) or images.dim() not in (3, 4):
            expected = f"(samples, {self.height}, {self.width})"
            raise ParameterError(ASKED, f"images of shape {tuple(images.shape)} are not {expected}", "Reshape them.")
        flat = images.reshape(-1, 1, self.height, self.width).float()
        before, after = self.step // 2, self.step + self.step // 2  # so that averages lie around the image's middle
        flat = functional.pad(flat, (before, after, before, after), mode="reflect")
        found = [self._averaged(flat[:, 0], 0)[:, None]]
        layers = self._moduli(torch.fft.fft2(flat[:, 0]), 0, 0)
        found += [self._averaged(one, scale) for scale, one in layers.items()]
        for scale, one in layers.items():
            second = self._moduli(torch.fft.fft2(one), scale + 1, scale)
            found += [self._averaged(moduli, greater).flatten(1, 2) for greater, moduli in second.items()]
        whole = torch.cat(found, dim=1)
        return whole.reshape(len(images), -1, *whole.shape[2:])

    def _moduli(self, spectra: Tensor, first: int, at: int) -> dict[int, Tensor]:
        """The moduli of all wavelets from a scale on, each with the pixels that its scale needs.

        `at` is the scale of the spectra: they have every `2**at`-th pixel.
        """
        found = {}
        for scale in range(first, self.scales):
            wavelets = _folded(self.get_buffer(f"wavelets_{scale}"), 2**at)
            found[scale] = torch.fft.ifft2(_folded(spectra[..., None, :, :] * wavelets, 2 ** (scale - at))).abs()
        return found

    def _averaged(self, values: Tensor, scale: int) -> Tensor:
        down, across = self.get_buffer(f"average_y_{scale}"), self.get_buffer(f"average_x_{scale}")
        return down @ values @ across.T


def _folded(spectra: Tensor, step: int) -> Tensor:
    """The spectrum of every `step`-th pixel."""
    if step == 1:
        return spectra
    for axis in (-2, -1):
        first, *rest = spectra.chunk(step, dim=axis)
        spectra = first + rest[0]
        for other in rest[1:]:
            spectra += other
    return spectra / step**2


def _morlet(shape: tuple[int, int], scale: int, angle: int, angles: int) -> NDArray[np.complex128]:
    """The spectrum of a Morlet wavelet, whose mean is zero."""
    turn, frequency = math.pi * angle / angles, CENTER / 2**scale
    wave = _gabor(shape, WIDTH * 2**scale, turn, frequency, 4 / angles)
    envelope = _gabor(shape, WIDTH * 2**scale, turn, 0.0, 4 / angles)
    return np.fft.fft2(wave - envelope * (wave.sum() / envelope.sum()))


def _gabor(
    shape: tuple[int, int], stddev: float, turn: float, frequency: float, slant: float
) -> NDArray[np.complex128]:
    """A plane wave under a Gaussian bell, repeated with the period of the image."""
    height, width = shape
    y, x = np.mgrid[-2 * height : 2 * height, -2 * width : 2 * width].astype(float)
    along, across = math.cos(turn) * x + math.sin(turn) * y, math.cos(turn) * y - math.sin(turn) * x
    bell = np.exp(-(along**2 + (slant * across) ** 2) / (2 * stddev**2) + 1j * frequency * along)
    repeated: NDArray[np.complex128] = bell.reshape(4, height, 4, width).sum(axis=(0, 2))
    return repeated * (slant / (2 * math.pi * stddev**2))


def _averages(length: int, scale: int, scales: int) -> NDArray[np.float64]:
    """Averages under Gaussian bells at every `2**scales`-th pixel of the image inside its padding.

    They are applied to every `2**scale`-th pixel.
    """
    step, stddev = 2**scales, WIDTH * 2 ** (scales - 1)
    places, centers = np.arange(0, length, 2**scale), np.arange(step, length - step, step)
    bells = np.exp(-((centers[:, None] - places) ** 2) / (2 * stddev**2))
    return bells / bells.sum(axis=1, keepdims=True)
