"""What private multi-layer perceptrons have in common: the plan, the network, the training run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.fitting.private_estimator import LARGEST, PrivateEstimator
from discreet.fitting.task import Task
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.schema.schema import Column, Schema
from discreet.trust.permit import Permit
from discreet.trust.sources.matrix import Matrix
from discreet.trust.stored import Artefact

if TYPE_CHECKING:  # torch is loaded by the first plan: predictions do without it
    from discreet.deep.clipping.clipped_sum import Losses
    from discreet.deep.training.training_plan import TrainingPlan

ACTIVATIONS = ("tanh", "relu")
DECAY = 0.95  # of the average of weights: about the last twenty steps
WIDEST = 2**14  # units of a layer


class PrivateMLP(PrivateEstimator):
    """Layers of weights, trained by `Trainer` with Adam on records in a public box.

    Adam does not change when all gradients are multiplied by the same number: so the number of records, which is
    secret, is not needed to divide sums by it.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Public. How many units each hidden layer has.
    activation : {"relu", "tanh"}
        Public. Between the layers. The latter keeps gradients short (Papernot et al. 2021); on tables the former learns
        more (benchmarks/tuning_networks.py).
    sampling_rate : float
        Public. The chance of each record to be in the sample of a step. More of it costs time and needs less noise.
    max_iter : int
        Public. How often each record is looked at, on average: there are `max_iter / sampling_rate` steps.
    learning_rate_init : float
        Public. The step size of Adam.
    clip : float
        Public. The greatest length of the gradient of a record.
    random_state : int, RandomState instance or None
        Public. Seeds the weights that training starts with; never samples or noise.

    Attributes
    ----------
    coefs_ : list of arrays
        Released. The weights of each layer, for records scaled to [-1, 1]: an average over the last steps.
    intercepts_ : list of arrays
        Released. The biases of each layer.
    n_iter_ : int
        Public. `max_iter`.
    schema_ : Schema
        Public. The features and their bounds.
    """

    supervised: ClassVar[bool] = True
    coefs_: list[NDArray[np.float32]]
    intercepts_: list[NDArray[np.float32]]
    schema_: Schema

    @abstractmethod
    def _tensors(self, target: Column, inputs: Array, targets: Array) -> tuple[Any, Any]:
        """Scaled features, and targets of such a column, as the loss wants them."""

    @abstractmethod
    def _outputs(self, task: Task) -> int:
        """How many numbers the network gives."""

    @abstractmethod
    def _losses(self) -> Losses:
        """One loss for each record."""

    def check(self) -> None:
        """Refuse parameters that cannot be, before any data are looked at."""
        check_one_of(self.purpose, "activation", self.activation, ACTIVATIONS)
        for size in self._hidden:
            check_whole(self.purpose, "hidden_layer_sizes", size, most=WIDEST)
        check_whole(self.purpose, "max_iter", self.max_iter)
        check_positive(self.purpose, "sampling_rate", self.sampling_rate, least=2.0**-20, most=1.0)
        check_whole(self.purpose, "max_iter / sampling_rate", self._steps, most=LARGEST)
        check_positive(self.purpose, "clip", self.clip)
        check_positive(self.purpose, "learning_rate_init", self.learning_rate_init)

    def plan(self, task: Task) -> TrainingPlan:
        """As many steps as show each record `max_iter` times on average, with the least noise that fits."""
        from discreet.deep.training.training_plan import TrainingPlan

        task.data.check_curated(self.purpose)
        sample = SecretSample(self.sampling_rate)
        noise = calibrate(Gaussian, task.budget, times=self._steps, sample=sample)
        return TrainingPlan(sample, noise, self._steps, float(self.clip), 1.0)

    def learn(self, task: Task, plan: TrainingPlan, permit: Permit) -> Artefact:
        """Train a network by steps that ask the permit, and keep its averaged weights."""
        import torch

        from discreet.deep.questions.records_as_tensors import RecordsAsTensors
        from discreet.deep.training.trainer import Trainer

        sizes = (len(task.features), *map(int, self._hidden), self._outputs(task))
        model = self._network(sizes, permit.random_state(self.random_state))
        schema = Schema({name: task.schema.columns[name] for name in task.features})

        def tensors(records: Array) -> tuple[Any, Any]:
            known = records[np.isfinite(records).all(axis=1)]
            scale = scaled(known[:, :-1], schema)
            return self._tensors(task.schema.columns[str(task.target)], scale, known[:, -1])

        nobody = tensors(np.zeros((0, len(task.columns))))
        about = type(self).__name__, self.get_params(), task.columns
        data = RecordsAsTensors(
            lambda view: tensors(view.everything(task.columns)), nobody, task.data.ledger, task.columns, about
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=float(self.learning_rate_init))
        trainer = Trainer(model, optimizer, self._losses(), data, plan, ema_decay=DECAY, permit=permit)
        trainer.run()
        layers = [one for one in trainer.average.children() if isinstance(one, torch.nn.Linear)]
        coefs = [one.weight.detach().numpy().T.copy() for one in layers]
        return {"coefs_": coefs, "intercepts_": [one.bias.detach().numpy().copy() for one in layers]}

    def adopt(self, task: Task, fitted: Artefact) -> None:
        """Set the weights, and what is public about the features."""
        super().adopt(task, fitted)
        self.schema_ = Schema({name: task.schema.columns[name] for name in task.features})
        self.n_iter_ = int(self.max_iter)

    def _network(self, sizes: Sequence[int], seed: Any) -> Any:
        """Linear layers, started as Glorot and Bengio 2010 say, with the activation between them."""
        import torch
        from torch import nn

        generator = torch.Generator().manual_seed(int(check_random_state(seed).randint(2**31 - 1)))
        between = nn.Tanh if self.activation == "tanh" else nn.ReLU
        parts: list[Any] = []
        for given, made in pairwise(sizes):
            layer = nn.Linear(given, made)
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
            parts += [layer, between()]
        return nn.Sequential(*parts[:-1])

    def _raw(self, X: Any) -> Array:
        """What the network gives for each row; a missing value counts as the middle of its bounds."""
        inside = Matrix(self._rows(X), self.schema_).everything(self.schema_.features)
        values = np.nan_to_num(scaled(inside, self.schema_))
        for place, (coefs, intercepts) in enumerate(zip(self.coefs_, self.intercepts_, strict=True)):
            if place:
                values = np.tanh(values) if self.activation == "tanh" else np.maximum(values, 0.0)
            values = values @ coefs + intercepts
        return np.asarray(values, dtype=np.float64)

    @property
    def _steps(self) -> int:
        return max(1, round(self.max_iter / self.sampling_rate))

    @property
    def _hidden(self) -> tuple[Any, ...]:
        given = self.hidden_layer_sizes
        return tuple(given) if isinstance(given, Sequence) or getattr(given, "ndim", 0) == 1 else (given,)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def scaled(inside: Array, schema: Schema) -> Array:
    """Features inside their bounds, which become -1 and 1."""
    numbers = [schema.number(name) for name in schema.features]
    middle = np.array([(one.lower + one.upper) / 2 for one in numbers])
    return np.asarray((inside - middle) / np.array([(one.upper - one.lower) / 2 for one in numbers]))
