"""The loss at the client, and how it grows with the outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import ParameterError
from discreet.crypto.gelu_net.activation import Numbers
from discreet.crypto.gelu_net.gelu_net import ASKED, GeluNet


def deltas_and_loss(net: GeluNet, outputs: Numbers, targets: ArrayLike) -> tuple[Numbers, float]:
    """How the loss of each record grows with its outputs, and the mean loss.

    Parameters
    ----------
    net : GeluNet
        Public. Says which loss.
    outputs : array of shape (records, outputs)
        What the last layer gives.
    targets : array
        The class of each record, or with squared errors what its outputs should be.

    Examples
    --------
    >>> from discreet.crypto.gelu_net.layers import DenseLayer
    >>> deltas_and_loss(GeluNet((DenseLayer(2, 2, "identity"),)), np.zeros((1, 2)), [0])[0]
    array([[-0.5,  0.5]])
    """
    wanted = np.asarray(targets)
    if net.loss == "squares":
        off = outputs - wanted.reshape(outputs.shape)
        return off, float(0.5 * (off**2).sum(axis=1).mean())
    if wanted.dtype.kind not in "iu" or wanted.shape != outputs.shape[:1] or not _within(wanted, outputs.shape[1]):
        raise ParameterError(ASKED, "the targets are no classes", f"Give integers below {outputs.shape[1]}.")
    chances = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    own = np.arange(len(wanted)), wanted
    loss = float(-np.log(np.maximum(chances[own], 1e-300)).mean())
    chances[own] -= 1
    return chances, loss


def _within(classes: NDArray[Any], count: int) -> bool:
    return bool(classes.size == 0 or (classes.min() >= 0 and classes.max() < count))
