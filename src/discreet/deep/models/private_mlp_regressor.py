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

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Public. How many units each hidden layer has.
    activation : {"tanh", "relu"}
        Public. Between the layers. The former keeps gradients short (Papernot et al. 2021).
    sampling_rate : float
        Public. The chance of each record to be in the sample of a step. More of it costs time and needs less noise.
    max_iter : int
        Public. How often each record is looked at, on average: there are `max_iter / sampling_rate` steps.
    learning_rate_init : float
        Public. The step size of Adam.
    clip : float
        Public. The greatest length of the gradient of a record.
    target : str, optional
        Public. The column to predict, of `PrivateData`.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    target_bounds : (lower, upper), optional
        Public. Of the target; not for `PrivateData`, whose schema has them.
    epsilon, delta : float
        Public. What one fit costs.
    random_state : int, RandomState instance or None
        Public. Seeds the weights that training starts with; never samples or noise.

    Attributes
    ----------
    coefs_ : list of arrays
        Released. The weights of each layer, for records scaled to [-1, 1]: an average over the last steps.
    intercepts_ : list of arrays
        Released. The biases of each layer.
    target_ : Number
        Public. The bounds of the target.
    n_iter_ : int
        Public. `max_iter`.
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    schema_ : Schema
        Public. The features and their bounds.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

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
        activation: str = "tanh",
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
