"""Linear parts: what they multiply by, and their gradients, against loops and differences."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.gelu_net.layers import ConvolutionLayer, DenseLayer, Layer

LAYERS: list[Layer] = [
    DenseLayer(7, 3),
    ConvolutionLayer((1, 5, 5), 2, 3),
    ConvolutionLayer((2, 6, 5), 3, 2, stride=2),
    ConvolutionLayer((3, 4, 4), 2, 4),
]


def convolved(layer: ConvolutionLayer, image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """By loops."""
    channels, height, width = layer.shape
    image, step, side = image.reshape(layer.shape), layer.stride, layer.side
    weights = kernel.reshape(channels, side, side, layer.filters)
    down, across = (height - side) // step + 1, (width - side) // step + 1
    found = np.zeros((layer.filters, down, across))
    for f in range(layer.filters):
        for y in range(down):
            for x in range(across):
                patch = image[:, y * step : y * step + side, x * step : x * step + side]
                found[f, y, x] = (patch * weights[..., f]).sum()
    return found.ravel()


def test_a_convolution_is_a_matrix_with_the_same_weights_everywhere() -> None:
    draw = np.random.default_rng(1)
    for layer in LAYERS[1:]:
        assert isinstance(layer, ConvolutionLayer)
        kernel, images = draw.normal(size=(layer.fan_in, layer.channels)), draw.normal(size=(3, layer.inputs))
        found = images @ layer.spread(kernel)
        np.testing.assert_allclose(found, [convolved(layer, one, kernel) for one in images], atol=1e-12)
        assert (np.count_nonzero(layer.spread(kernel), axis=0) == layer.fan_in).all()
        assert np.count_nonzero(layer.spread(kernel), axis=1).max() <= layer.fan_out


def test_gradients_are_differences_of_the_loss() -> None:
    draw, step = np.random.default_rng(2), 1e-6
    for layer in LAYERS:
        kernel, bias = draw.normal(size=(layer.fan_in, layer.channels)), draw.normal(size=layer.channels)
        given, deltas = draw.normal(size=(4, layer.inputs)), draw.normal(size=(4, layer.outputs))

        def loss(kernel: np.ndarray, bias: np.ndarray) -> float:
            return float(((given @ layer.spread(kernel) + layer.spread_bias(bias)) * deltas).sum())  # noqa: B023

        found = layer.gradient(given, deltas)
        for place in np.ndindex(kernel.shape):
            moved = kernel.copy()
            moved[place] += step
            assert (loss(moved, bias) - loss(kernel, bias)) / step == pytest.approx(found.kernel[place], abs=1e-6)
        for at in range(len(bias)):
            moved = bias.copy()
            moved[at] += step
            assert (loss(kernel, moved) - loss(kernel, bias)) / step == pytest.approx(found.bias[at], abs=1e-6)


def test_gradients_of_records_add_up_and_depend_on_their_own_record_alone() -> None:
    draw = np.random.default_rng(3)
    for layer in LAYERS:
        given, deltas = draw.normal(size=(4, layer.inputs)), draw.normal(size=(4, layer.outputs))
        each, total = layer.gradients(given, deltas), layer.gradient(given, deltas)
        np.testing.assert_allclose(each.sum(axis=0), np.append(total.kernel.ravel(), total.bias), atol=1e-12)
        np.testing.assert_array_equal(layer.gradients(given[2:3], deltas[2:3])[0], each[2])


def test_layers_that_cannot_be_are_refused() -> None:
    for wrong in (
        lambda: DenseLayer(0, 3),
        lambda: DenseLayer(2**17, 3),
        lambda: DenseLayer(3, 3, "step"),
        lambda: ConvolutionLayer((1, 4, 4), 2, 5),
        lambda: ConvolutionLayer((1, 4), 2, 2),  # type: ignore[arg-type]
        lambda: ConvolutionLayer((64, 64, 64), 2, 2),
    ):
        with pytest.raises(ParameterError, match="Nothing was released"):
            wrong()
