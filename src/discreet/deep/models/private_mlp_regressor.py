"""A private multi-layer perceptron that predicts numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.grid import Array
from discreet.deep.models.private_mlp import PrivateMLP
from discreet.fitting.task import Task
from discreet.schema.schema import Column, Number
from discreet.trust.stored import Artefact

if TYPE_CHECKING:
    from torch import Tensor

    from discreet.deep.clipping.clipped_sum import Losses


class PrivateMLPRegressor(RegressorMixin, PrivateMLP):
    """A multi-layer perceptron for numbers, trained by private gradient descent on squared errors.

    Records are moved inside their bounds, which become -1 and 1, and so are targets. One with a missing value counts
    for nothing. `Trainer` trains any other network.

    Attributes
    ----------
    target_ : Number
        Public. The bounds of the target.

    Guarantee
    ---------
    `event_`, for neighbors that differ by one record, or by one user who has one row, added or removed; their number is
    secret. Released: `coefs_` and `intercepts_`. Abadi et al. 2016, with the price of Poisson samples as the accountant
    has it; see `Trainer`, also for what float32 leaves open. A curator alone can fit it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (6000, 2))
    >>> y = np.abs(X[:, 0])
    >>> model = PrivateMLPRegressor([16], sampling_rate=0.2, bounds=(-1, 1), target_bounds=(0, 1), epsilon=3.0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
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
        target_bounds: Any = None,
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
        self.target_bounds = target_bounds
        self.epsilon = epsilon
        self.delta = delta
        self.random_state = random_state

    def predict(self, X: Any) -> Array:
        """The number for each row, inside the target's bounds."""
        scaled = np.clip(self._raw(X)[:, 0], -1, 1)
        lower, upper = self.target_.lower, self.target_.upper
        return np.asarray(lower + (upper - lower) * (scaled + 1) / 2)

    def adopt(self, task: Task, fitted: Artefact) -> None:
        """Set the weights, and what is public about features and target."""
        super().adopt(task, fitted)
        self.target_ = task.schema.number(str(task.target))

    def _tensors(self, target: Column, inputs: Array, targets: Array) -> tuple[Any, Any]:
        import torch

        assert isinstance(target, Number)
        scaled = 2 * (np.clip(targets, target.lower, target.upper) - target.lower) / (target.upper - target.lower) - 1
        return torch.from_numpy(inputs).float(), torch.from_numpy(scaled).float()

    def _outputs(self, task: Task) -> int:
        return 1

    def _losses(self) -> Losses:
        return _squares


def _squares(given: Tensor, wanted: Tensor) -> Tensor:
    return (given[:, 0] - wanted) ** 2
