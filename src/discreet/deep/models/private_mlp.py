"""What private multi-layer perceptrons have in common: plan, pay, train, keep the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.knob import check_knob, check_one_of, check_whole
from discreet.core.ledger import Ledger
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.core.secret_sample import SecretSample
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.bits import system_bits
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.trust.curated_records import CuratedRecords
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.decoding import decoded
from discreet.trust.sources.columns.raw_values import unlisted
from discreet.trust.sources.matrix import Matrix

if TYPE_CHECKING:  # torch is loaded by the first fit: predictions do without it
    from discreet.deep.clipping.clipped_sum import Losses
    from discreet.deep.training.private_tensors import PrivateTensors
    from discreet.deep.training.training_plan import TrainingPlan

ACTIVATIONS = ("tanh", "relu")
DECAY = 0.95  # of the average of weights: about the last twenty steps


class PrivateMLP(BaseEstimator, ABC):
    """Layers of weights, trained by `Trainer` with Adam on records in a public box.

    Adam does not change when all gradients are multiplied by the same number: so the number of records, which is
    secret, is not needed to divide sums by it.
    """

    purpose: ClassVar[str]
    """What errors call it."""
    coefs_: list[NDArray[np.float32]]
    intercepts_: list[NDArray[np.float32]]
    event_: Event
    receipt_: Receipt
    n_features_in_: int
    schema_: Schema

    def fit(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> Self:
        """Train.

        Parameters
        ----------
        X : PrivateData, array of shape (n, n_features), or data frame
            The records. One with a missing value counts for nothing.
        y : array of shape (n,), optional
            The targets; not for private data, whose target is a column.
        ledger : Ledger, optional
            The account that pays for arrays. By default one of its own, of epsilon and delta, for this fit alone.
            Private data have an account.
        """
        self._check()
        budget = Budget(self.epsilon, self.delta)
        if isinstance(X, PrivateData):
            columns, plan = self._columns(X, y, ledger), self._plan(budget)
            with X.permit(plan.event, self.purpose) as permit:
                records: CuratedRecords = permit.records(*columns)
                self._train(self._held(records, X.ledger), plan, permit)
        else:
            data = self._held(self._of_arrays(X, y), budget if ledger is None else ledger)
            plan = self._plan(budget)
            with data.permit(plan.event, self.purpose) as permit:
                self._train(data, plan, permit)
        return self

    def _held(self, records: CuratedRecords, ledger: Ledger | Budget) -> PrivateTensors:
        """Records without missing values, in the box from -1 to 1, and then their targets."""
        from discreet.deep.training.private_tensors import PrivateTensors

        inputs, targets = self._scaled(records.values[:, :-1]), records.values[:, -1]
        known = np.isfinite(inputs).all(axis=1) & np.isfinite(targets)
        return PrivateTensors(*self._tensors(inputs[known], targets[known]), ledger, bits=records.bits)

    def _columns(self, data: PrivateData, y: Any, ledger: Ledger | None) -> tuple[str, ...]:
        """The numbers of private data, and then their target; refused where they cannot be sampled."""
        known = (y, ledger, self.bounds, getattr(self, "classes", None), getattr(self, "target_bounds", None))
        if any(given is not None for given in known):
            obstacle = "private data have their target, its values, their bounds and their account already"
            raise ParameterError(self.purpose, obstacle, "Give the data and the name of the target alone.")
        columns = data.schema.columns
        if self.target not in columns:
            remedy = f"Set target to one of {', '.join(columns)}."
            raise ParameterError(self.purpose, f"there is no column {self.target!r}", remedy)
        features = [name for name, one in columns.items() if isinstance(one, Number) and name != self.target]
        if not features:
            raise ParameterError(self.purpose, "the schema has no number to learn from", "Describe at least one.")
        self.schema_ = Schema({name: columns[name] for name in features})
        self._take_target(columns[str(self.target)])
        self.feature_names_in_, self.n_features_in_ = np.array(features, dtype=object), len(features)
        data.check_curated(self.purpose)
        if data.neighbors is not Neighbors.ADD_REMOVE or data.unit != RECORD:
            raise NotPermitted(
                self.purpose,
                f"it samples records that are added or removed, and the data set is for {data.neighbors.value} and"
                f" {data.unit.kind}",
                "Open the data set for records that are added or removed.",
            )
        return (*features, str(self.target))

    def _of_arrays(self, X: Any, y: Any) -> CuratedRecords:
        """Features inside their bounds, and then the target."""
        if self.bounds is None:
            raise ParameterError(
                self.purpose,
                "the bounds are not given, and taking them from the data would give a record away",
                "Pass bounds=(lower, upper) from what you know without the data.",
            )
        target = self._target()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = validate_data(self, unlisted(X), dtype=None, ensure_all_finite=False, ensure_min_samples=0)
        lower, upper = (np.asarray(end, dtype=np.float64).tolist() for end in self.bounds)
        self.schema_ = Schema.numeric(lower, upper, X.shape[1])
        self._take_target(target)
        inputs, targets = self._inside(X), decoded(column_or_1d(unlisted(y), warn=True), target)
        if len(inputs) != len(targets):
            obstacle = f"X has {len(inputs)} rows and y has {len(targets)}"
            raise ParameterError(self.purpose, obstacle, "Give one target for each.")
        return CuratedRecords(np.column_stack([inputs, targets]), system_bits())

    @abstractmethod
    def _take_target(self, column: Column) -> None:
        """Keep what is public about the target, or refuse a column that cannot be one."""

    @abstractmethod
    def _target(self) -> Number | Category:
        """What is public about the target: from parameters, never from the data."""

    @abstractmethod
    def _tensors(self, inputs: Array, targets: Array) -> tuple[Any, Any]:
        """The records as the loss wants them."""

    @abstractmethod
    def _outputs(self) -> int:
        """How many numbers the network gives."""

    @abstractmethod
    def _losses(self) -> Losses:
        """One loss for each record."""

    def _check(self) -> None:
        """Refuse parameters that cannot be, before any data are looked at."""
        check_one_of(self.purpose, "activation", self.activation, ACTIVATIONS)
        for size in self._hidden:
            check_whole(self.purpose, "hidden_layer_sizes", size)
        check_whole(self.purpose, "max_iter", self.max_iter)
        check_knob(self.purpose, "rate", self.rate, least=2.0**-20, most=1.0)
        check_knob(self.purpose, "clip", self.clip)
        check_knob(self.purpose, "learning_rate_init", self.learning_rate_init)

    def _plan(self, budget: Budget) -> TrainingPlan:
        """As many steps as show each record `max_iter` times on average, with the least noise that fits."""
        from discreet.deep.training.training_plan import TrainingPlan

        sample, steps = SecretSample(self.rate), max(1, round(self.max_iter / self.rate))
        noise = calibrate(Gaussian, budget, times=steps, sample=sample)
        return TrainingPlan(sample, noise, steps, float(self.clip), 1.0)

    def _train(self, data: PrivateTensors, plan: TrainingPlan, permit: Permit) -> None:
        """Train a network under a permit, and keep its averaged weights and what they cost."""
        import torch

        from discreet.deep.training.digest import digest
        from discreet.deep.training.trainer import Trainer

        model = self._network((self.n_features_in_, *self._hidden, self._outputs()))
        optimizer = torch.optim.Adam(model.parameters(), lr=self.learning_rate_init)
        trainer = Trainer(model, optimizer, self._losses(), data, plan, decay=DECAY, permit=permit)
        trainer.run()
        layers = [one for one in trainer.average.children() if isinstance(one, torch.nn.Linear)]
        self.coefs_ = [one.weight.detach().numpy().T.copy() for one in layers]
        self.intercepts_ = [one.bias.detach().numpy().copy() for one in layers]
        self.n_iter_, self.event_ = int(self.max_iter), plan.event
        permit.commit(digest(dict(trainer.average.named_parameters())))
        self.receipt_ = permit.receipt

    def _network(self, sizes: Sequence[int]) -> Any:
        """Linear layers, started as Glorot and Bengio 2010 say, with the activation between them."""
        import torch
        from torch import nn

        state = check_random_state(self.random_state)
        generator = torch.Generator().manual_seed(int(state.randint(2**31 - 1)))
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
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        values = np.nan_to_num(self._scaled(self._inside(X)))
        for place, (coefs, intercepts) in enumerate(zip(self.coefs_, self.intercepts_, strict=True)):
            if place:
                values = np.tanh(values) if self.activation == "tanh" else np.maximum(values, 0.0)
            values = values @ coefs + intercepts
        return np.asarray(values, dtype=np.float64)

    def _inside(self, X: Any) -> Array:
        """Records moved inside the bounds; what is not finite becomes nan."""
        return Matrix(np.asarray(X), self.schema_).everything(self.schema_.features)

    def _scaled(self, inside: Array) -> Array:
        """The bounds become -1 and 1."""
        numbers = [self.schema_.number(name) for name in self.schema_.features]
        middle = np.array([(one.lower + one.upper) / 2 for one in numbers])
        return (inside - middle) / np.array([(one.upper - one.lower) / 2 for one in numbers])

    @property
    def _hidden(self) -> tuple[int, ...]:
        given = self.hidden_layer_sizes
        return tuple(map(int, given)) if isinstance(given, Sequence | np.ndarray) else (int(given),)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.non_deterministic = True
        return tags
