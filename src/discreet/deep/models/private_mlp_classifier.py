"""A private multi-layer perceptron that tells classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from discreet.core.grid import Array
from discreet.deep.models.private_mlp import PrivateMLP
from discreet.fitting.task import Task
from discreet.schema.schema import Column

if TYPE_CHECKING:
    from discreet.deep.clipping.clipped_sum import Losses


class PrivateMLPClassifier(ClassifierMixin, PrivateMLP):
    """A multi-layer perceptron for classes, trained by private gradient descent on the cross entropy.

    Records are moved inside their bounds, which become -1 and 1. One with a missing value, or of a class that is not
    listed, counts for nothing. `Trainer` trains any other network.

    Parameters
    ----------
    classes : sequence, optional
        Public. The values of the target, at least two; not for `PrivateData`, whose schema has them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Public. The classes.

    Guarantee
    ---------
    `event_`, for neighbors that differ by one record, or by one user who has one row, added or removed; their number is
    secret. Released: `coefs_` and `intercepts_`. Abadi et al. 2016, with the price of Poisson samples as the accountant
    has it; see `Trainer`, also for what float32 leaves open. A curator alone can fit it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (6000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = PrivateMLPClassifier([16], sampling_rate=0.2, bounds=(-1, 1), classes=[False, True], epsilon=3.0)
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "train a multi-layer perceptron"

    def __init__(
        self,
        hidden_layer_sizes: Any = (32,),
        *,
        activation: str = "relu",
        sampling_rate: float = 0.1,
        max_iter: int = 20,
        learning_rate_init: float = 0.03,
        clip: float = 1.0,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.sampling_rate = sampling_rate
        self.max_iter = max_iter
        self.learning_rate_init = learning_rate_init
        self.clip = clip
        self.target = target
        self.bounds = bounds
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta
        self.random_state = random_state

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        return np.asarray(softmax(self._raw(X), axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the greatest probability."""
        places = self._raw(X).argmax(axis=1)
        return np.asarray(self.classes_[places])

    def _tensors(self, target: Column, inputs: Array, targets: Array) -> tuple[Any, Any]:
        import torch

        return torch.from_numpy(inputs).float(), torch.from_numpy(targets).long()

    def _outputs(self, task: Task) -> int:
        return task.classes

    def _losses(self) -> Losses:
        from torch import nn

        return nn.CrossEntropyLoss(reduction="none")
