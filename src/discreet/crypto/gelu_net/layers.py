"""The linear parts of a network: what one multiplies by, and how gradients follow from what goes in and comes back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.crypto.gelu_net.activation import Activation, Numbers, activation_named

MOST = 2**16  # inputs or outputs of a layer
Matrix = NDArray[Any]


@dataclass(frozen=True)
class KernelGradient:
    """How the loss grows with each weight and each bias of a layer."""

    kernel: Numbers
    bias: Numbers


@dataclass(frozen=True)
class DenseLayer:
    """Every output is a weighted sum of all inputs.

    Parameters
    ----------
    inputs, outputs : int
        Public.
    activation : str
        Public. What the client applies to the outputs: "gelu", "relu", "tanh", "sigmoid" or "identity".
    """

    inputs: int
    outputs: int
    activation: str = "gelu"

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs"):
            check_whole("dense layer", name, getattr(self, name), 1, MOST)
        activation_named(self.activation)

    @property
    def applied(self) -> Activation:
        return activation_named(self.activation)

    @property
    def fan_in(self) -> int:
        """How many inputs are in an output."""
        return self.inputs

    @property
    def fan_out(self) -> int:
        """How many outputs an input is in, at most."""
        return self.outputs

    @property
    def channels(self) -> int:
        """How many columns of weights there are."""
        return self.outputs

    @property
    def uses(self) -> int:
        """How often each column of weights is used for one record."""
        return 1

    def spread(self, kernel: Matrix) -> Matrix:
        """The weights as a matrix of shape (inputs, outputs)."""
        return kernel

    def spread_bias(self, bias: Matrix) -> Matrix:
        """The bias of each output."""
        return bias

    def gradient(self, given: Numbers, deltas: Numbers) -> KernelGradient:
        """The gradient by what went in and how the loss grows with what came out, added over records."""
        return KernelGradient(given.T @ deltas, deltas.sum(axis=0))

    def gradients(self, given: Numbers, deltas: Numbers) -> Numbers:
        """The gradient of each record: weights, then biases."""
        products = given[:, :, None] * deltas[:, None, :]
        return np.concatenate([products.reshape(len(given), -1), deltas], axis=1)


@dataclass(frozen=True)
class ConvolutionLayer:
    """Every output is a weighted sum of a square of inputs, with the same weights everywhere; no padding.

    Parameters
    ----------
    shape : tuple of int
        Public. Channels, height and width of what goes in.
    filters : int
        Public. How many channels come out.
    side : int
        Public. Of the square.
    stride : int
        Public. From one square to the next.
    activation : str
        Public. As of a dense layer.

    Examples
    --------
    >>> layer = ConvolutionLayer((1, 8, 8), filters=4, side=3, stride=2)
    >>> layer.inputs, layer.outputs, layer.uses
    (64, 36, 9)
    """

    shape: tuple[int, int, int]
    filters: int
    side: int
    stride: int = 1
    activation: str = "gelu"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        for length in (*self.shape, self.filters, self.side, self.stride):
            check_whole("convolution layer", "size", length, 1, MOST)
        if len(self.shape) != 3 or self.side > min(self.shape[1:]):
            obstacle = f"squares of {self.side} do not fit into shape {self.shape}"
            raise ParameterError("convolution layer", obstacle, "Give channels, height and width, and a smaller side.")
        if max(self.inputs, self.outputs) > MOST:
            obstacle = f"it would have {self.inputs} inputs and {self.outputs} outputs"
            raise ParameterError("convolution layer", obstacle, f"Take at most {MOST} of each.")
        activation_named(self.activation)

    @property
    def applied(self) -> Activation:
        return activation_named(self.activation)

    @property
    def inputs(self) -> int:
        return math.prod(self.shape)

    @property
    def outputs(self) -> int:
        return self.filters * self.uses

    @property
    def fan_in(self) -> int:
        return self.shape[0] * self.side**2

    @property
    def fan_out(self) -> int:
        return self.filters * min(self.uses, self.side**2)

    @property
    def channels(self) -> int:
        return self.filters

    @property
    def uses(self) -> int:
        return math.prod(self.grid)

    @property
    def grid(self) -> tuple[int, int]:
        """How many squares there are, down and across."""
        _, height, width = self.shape
        return (height - self.side) // self.stride + 1, (width - self.side) // self.stride + 1

    @cached_property
    def squares(self) -> NDArray[np.int64]:
        """The inputs of each square: of shape (uses, fan_in)."""
        numbered = np.arange(self.inputs).reshape(self.shape)
        step, side = self.stride, self.side
        down, across = self.grid
        return np.array(
            [
                numbered[:, y * step : y * step + side, x * step : x * step + side].ravel()
                for y in range(down)
                for x in range(across)
            ]
        )

    def spread(self, kernel: Matrix) -> Matrix:
        matrix = np.zeros((self.uses, self.inputs, self.filters), dtype=kernel.dtype)
        matrix[np.arange(self.uses)[:, None], self.squares] = kernel
        return matrix.transpose(1, 2, 0).reshape(self.inputs, self.outputs)

    def spread_bias(self, bias: Matrix) -> Matrix:
        return np.repeat(bias, self.uses)

    def gradient(self, given: Numbers, deltas: Numbers) -> KernelGradient:
        by_filter = deltas.reshape(len(deltas), self.filters, self.uses)
        kernel = np.einsum("buf,bcu->fc", given[:, self.squares], by_filter)
        return KernelGradient(kernel, by_filter.sum(axis=(0, 2)))

    def gradients(self, given: Numbers, deltas: Numbers) -> Numbers:
        by_filter = deltas.reshape(len(deltas), self.filters, self.uses)
        kernels = np.einsum("buf,bcu->bfc", given[:, self.squares], by_filter)
        return np.concatenate([kernels.reshape(len(given), -1), by_filter.sum(axis=2)], axis=1)


Layer = DenseLayer | ConvolutionLayer
