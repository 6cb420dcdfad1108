"""Many small networks, trained at the same time on different halves of the same records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.progress_bar import tracked

ASKED = "SmallNetworks"
DECAYS, TINY = (0.9, 0.999), 1e-8  # of Adam
BYTES = 5 * 2**19  # of the networks that are trained at a time, with what a step computes: what a processor keeps near
Floats = NDArray[np.float32]
Layers = list[Floats]  # weights and offsets, in turn


@dataclass(frozen=True)
class SmallNetwork:
    """One trained network: layers of rectified sums, and the probabilities of classes.

    Parameters
    ----------
    layers : list of array
        Weights and offsets of each layer, in turn.
    classes_ : array
        The labels of the columns of probabilities.

    Examples
    --------
    >>> network = SmallNetwork([np.eye(2), np.zeros(2)], np.array(["no", "yes"]))
    >>> network.predict_proba([[0.0, 0.0]])
    array([[0.5, 0.5]])
    """

    layers: Layers = field(repr=False)
    classes_: NDArray[Any]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """A row of probabilities for each row."""
        *_, scores = _forward(self.layers, np.asarray(X, dtype=np.float32))
        powers = np.exp(scores.astype(np.float64) - scores.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable label of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@dataclass(frozen=True)
class SmallNetworks:
    """How small networks are trained, one or many at a time: as scikit-learn's `MLPClassifier`, with fewer options.

    Parameters
    ----------
    hidden : tuple of int
        Units of each hidden layer; none for multinomial logistic regression.
    max_iter : int
        Passes over the records.
    learning_rate : float
        Of Adam (Kingma and Ba 2015).
    batch_size : int
        Records of a step.
    random_state : int
        For the first weights and the order of records.

    Notes
    -----
    Features are numbers, of about unit size. First weights are uniform (Glorot and Bengio 2010). Networks that are
    trained at the same time make equally many steps; where they have different numbers of records, those with more
    leave a random few out in each pass.

    Examples
    --------
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"]
    >>> SmallNetworks((8,), max_iter=100).trained(X, y).predict([[0.05], [0.95]]).tolist()
    ['low', 'high']
    """

    hidden: tuple[int, ...] = (64,)
    max_iter: int = 60
    learning_rate: float = 0.01
    batch_size: int = 200
    random_state: int = 0

    def __post_init__(self) -> None:
        for units in self.hidden:
            check_whole(ASKED, "a number of hidden units", units)
        check_whole(ASKED, "max_iter", self.max_iter)
        check_whole(ASKED, "batch_size", self.batch_size)
        check_positive(ASKED, "learning_rate", self.learning_rate)
        check_whole(ASKED, "random_state", self.random_state, 0)

    def trained(self, X: ArrayLike, y: ArrayLike) -> SmallNetwork:
        """One network, trained on all records."""
        return self.trained_on(X, y, np.ones((1, len(np.asarray(y))), dtype=bool), self.random_state)[0]

    def trained_on(
        self, X: ArrayLike, y: ArrayLike, inside: NDArray[np.bool_], random_state: int = 0
    ) -> list[SmallNetwork]:
        """A network for each row of `inside`, which says of each record whether it is trained on it."""
        rows, (classes, labels) = _numbers(X), np.unique(np.asarray(y), return_inverse=True)
        rng = np.random.default_rng((int(self.random_state), random_state))
        sizes = (rows.shape[1], *map(int, self.hidden), len(classes))
        weights = sum((before + 1) * after for before, after in pairwise(sizes))
        group = max(1, BYTES // (16 * weights + 8 * int(self.batch_size) * sum(sizes)))
        parts = [inside[start : start + group] for start in range(0, len(inside), group)]
        steps = iter(tracked(len(parts) * int(self.max_iter), "passes over the records"))
        trained: list[SmallNetwork] = []
        for part in parts:
            layers = self._trained(rows, np.eye(len(classes), dtype=np.float32)[labels], part, sizes, rng, steps)
            trained += [SmallNetwork([own[place] for own in layers], classes) for place in range(len(part))]
        return trained

    def _trained(
        self,
        rows: Floats,
        targets: Floats,
        inside: NDArray[np.bool_],
        sizes: tuple[int, ...],
        rng: np.random.Generator,
        passes: Iterator[int],
    ) -> Layers:
        layers = list(_first_weights(len(inside), sizes, rng))
        adam = _Adam(layers, self.learning_rate)
        own = [np.flatnonzero(mask) for mask in inside]
        least = min(map(len, own))
        for _ in range(int(self.max_iter)):
            next(passes)
            order = np.stack([rng.permutation(places)[:least] for places in own])
            for start in range(0, least, int(self.batch_size)):
                batch = order[:, start : start + int(self.batch_size)]
                adam.step(layers, _gradients(layers, rows.take(batch, axis=0), targets.take(batch, axis=0)))
        return layers


class _Adam:
    """Steps by running means of gradients, over the roots of those of their squares.

    Both means are kept as sums, of which they are fixed shares: the shares go into the rate, not into every weight.
    """

    def __init__(self, layers: Layers, rate: float) -> None:
        self._rate, self._steps = rate, 0
        self._sums, self._squares = ([np.zeros_like(own) for own in layers] for _ in range(2))

    def step(self, layers: Layers, gradients: Layers) -> None:
        self._steps += 1
        first, second = DECAYS
        root = np.sqrt(1 - second)
        rate = self._rate * np.sqrt(1 - second**self._steps) / (1 - first**self._steps) * (1 - first) / root
        for own, gradient, sums, squares in zip(layers, gradients, self._sums, self._squares, strict=True):
            sums *= first
            sums += gradient
            gradient *= gradient
            squares *= second
            squares += gradient
            np.sqrt(squares, out=gradient)
            gradient += np.float32(TINY / root)
            np.divide(sums, gradient, out=gradient)
            gradient *= np.float32(rate)
            own -= gradient


def _forward(layers: Layers, rows: Floats) -> list[Floats]:
    """The rows, the values of each hidden layer, and the scores of the classes."""
    values = [rows]
    for place in range(0, len(layers), 2):
        sums = np.matmul(values[-1], layers[place])
        sums += layers[place + 1]
        values.append(sums if place + 2 == len(layers) else np.maximum(sums, 0, out=sums))
    return values


def _gradients(layers: Layers, rows: Floats, targets: Floats) -> Layers:
    """Of the mean cross-entropy, by the chain rule; each network has its own rows.

    Products with ones are fast sums; the highest of few columns is found fast where each column is in one piece.
    """
    values = _forward(layers, rows)
    errors = values.pop()
    columns = np.ascontiguousarray(errors.reshape(-1, errors.shape[-1]).T)
    errors -= columns.max(axis=0).reshape(*errors.shape[:-1], 1)
    np.exp(errors, out=errors)
    errors /= np.matmul(errors, np.ones((errors.shape[-1], 1), dtype=np.float32))
    errors -= targets
    errors /= np.float32(rows.shape[-2])
    found: Layers = []
    ones = np.ones((1, rows.shape[-2]), dtype=np.float32)
    for place in range(len(layers) - 2, -1, -2):
        found = [np.matmul(values[-1].swapaxes(-1, -2), errors), np.matmul(ones, errors), *found]
        if place:
            errors = np.matmul(errors, layers[place].swapaxes(-1, -2))
            errors *= values.pop() > 0
    return found


def _first_weights(networks: int, sizes: tuple[int, ...], rng: np.random.Generator) -> Iterator[Floats]:
    for before, after in pairwise(sizes):
        limit = np.sqrt(6 / (before + after))
        yield rng.uniform(-limit, limit, (networks, before, after)).astype(np.float32)
        yield np.zeros((networks, 1, after), dtype=np.float32)


def _numbers(X: ArrayLike) -> Floats:
    try:
        rows = np.asarray(X, dtype=np.float32)
    except (TypeError, ValueError):
        rows = np.array([np.nan], dtype=np.float32)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ParameterError(ASKED, "the features are not rows of finite numbers", "Encode and impute them before.")
    return rows
