"""A fair classifier with scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from sklearn.utils.validation import validate_data
from torch import Tensor, nn

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.ledger import Ledger
from discreet.deep.fair.attribute_training import AttributeTraining
from discreet.deep.fair.constraint import Codes, constraint_of
from discreet.deep.fair.descent import Descent
from discreet.deep.fair.fair_plan import FairPlan, Protects
from discreet.deep.fair.pf_ld import PFLDPlan, PFLDTraining
from discreet.deep.fair.record_training import RecordTraining
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute, checked_groups, coded
from discreet.deep.questions.records_as_tensors import RecordsAsTensors
from discreet.fitting.scored_classifier import ScoredClassifier
from discreet.fitting.task import Task, task_of_arrays
from discreet.schema.schema import Category
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.raw_values import array_of, numbers_in, unlisted
from discreet.trust.stored import Artefact

FARTHEST = 1e4  # features are cut to it, so that no record makes a network overflow
STEPS_OF_EPOCH = 5  # by default
SENSITIVE = "sensitive_features"

Method = Literal["histogram", "pf_ld"]


class FairClassifier(ScoredClassifier):
    """A network of two classes that treats groups alike, trained without giving away who is in which group.

    Parameters
    ----------
    constraint : {"demographic_parity", "equalized_odds", "accuracy_parity"}
        Public. What groups have to have in common: how often the second class is predicted, how often it is in each
        class, or how often predictions are right.
    protects : {"attribute", "record"}
        Public. "attribute": the group of one person; features, classes and who is there at all are taken as known.
        "record": all about one person, and whether the person is there.
    groups : sequence, optional
        Public. All groups, at least two; not for `PrivateData`, whose schema has them. A record of another group counts
        nowhere in the constraint (with `protects="attribute"`, as an equal part of every group).
    classes : sequence of two, optional
        Public. The classes; not for `PrivateData`. A record of another class is left out.
    target, sensitive : str, optional
        Public. The columns of the class and of the group, of `PrivateData`.
    bounds : (lower, upper), optional
        Public. Of the features, for arrays of which records are protected; by default 10,000 on both sides of zero. Not
        for `PrivateData`, whose schema has them.
    method : {"histogram", "pf_ld"}
        Public. Noisy histograms of every sample; or PF-LD (Tran, Fioretto and Van Hentenryck 2021), with its traps
        repaired, for `protects="attribute"` alone.
    hidden_layer_sizes : sequence of int
        Public. Empty for a linear model.
    epsilon, delta : float
        Public. What a fit costs, in all.
    expected_size : int, optional
        Public. How many records there are, about: needed for `protects="record"`, where their number is secret.
    batch_size : int, optional
        Public. How many records a step looks at, on average; by default a fifth of them.
    epochs : int
        Public. How often each record is looked at, on average.
    learning_rate, multiplier_rate, tolerance, clip, smallest_share : float
        Public. See `Descent`.
    random_state : int
        Public. Of the first weights, and of the records that the loss is computed on where features are known.

    Attributes
    ----------
    network_ : Module
        Released. One logit for each record.
    multipliers_ : array of shape (strata, groups)
        Released. The multipliers of the constraint.
    multipliers_stddev_ : array of shape (strata, groups)
        Released. How far noise may have moved them.
    classes_ : array of shape (2,)
        Public. As declared.
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`, for neighbors that differ in the group of one record (`AttributeTraining`, `PFLDTraining`), or by one
    record, or one user who has one row, added or removed (`RecordTraining`). Released: `network_`, `multipliers_` and
    `multipliers_stddev_`. After RaCO-DP, arXiv 2505.22703, and Tran, Fioretto and Van Hentenryck 2021. Features are
    used as they are: scale them by public numbers, or by a private scaler, as in a `PrivatePipeline`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 4000)
    >>> X = rng.normal(0, 1, (4000, 3)) + 0.5 * (sex == "m")[:, None]
    >>> y = X[:, 0] + X[:, 1] + rng.normal(0, 1, 4000) > 0.5
    >>> model = FairClassifier(groups=("f", "m"), classes=(False, True), epochs=20, hidden_layer_sizes=())
    >>> model.fit(X, y, sensitive_features=sex).predict(X[:3]).shape
    (3,)
    >>> model.receipt_.lines()["protects"][:13]
    'one attribute'
    """

    purpose: ClassVar[str] = "fair classifier"
    network_: nn.Module
    multipliers_: Array
    multipliers_stddev_: Array

    def __init__(
        self,
        constraint: str = "demographic_parity",
        *,
        protects: Protects = "attribute",
        groups: Any = None,
        classes: Any = None,
        target: str | None = None,
        sensitive: str | None = None,
        bounds: Any = None,
        method: Method = "histogram",
        hidden_layer_sizes: Sequence[int] = (16,),
        epsilon: float = 1.0,
        delta: float = 1e-5,
        expected_size: int | None = None,
        batch_size: int | None = None,
        epochs: int = 100,
        learning_rate: float = 0.05,
        multiplier_rate: float = 0.05,
        tolerance: float = 0.02,
        clip: float = 1.0,
        smallest_share: float = 0.05,
        random_state: int = 0,
    ) -> None:
        self.constraint = constraint
        self.protects = protects
        self.groups = groups
        self.classes = classes
        self.target = target
        self.sensitive = sensitive
        self.bounds = bounds
        self.method = method
        self.hidden_layer_sizes = hidden_layer_sizes
        self.epsilon = epsilon
        self.delta = delta
        self.expected_size = expected_size
        self.batch_size = batch_size
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.multiplier_rate = multiplier_rate
        self.tolerance = tolerance
        self.clip = clip
        self.smallest_share = smallest_share
        self.random_state = random_state

    @property
    def others(self) -> tuple[str, ...]:  # type: ignore[override]
        """The column of the groups, of private data."""
        return () if self.sensitive is None else (self.sensitive,)

    def check(self) -> None:
        """Refuse parameters that cannot be, before any data are looked at."""
        constraint_of(self.purpose, self.constraint)
        for size in self.hidden_layer_sizes:
            check_whole(self.purpose, "hidden_layer_sizes", size, most=2**14)
        self._descent()
        if self.protects == "record":
            self._expected_size()

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        ledger: Ledger | None = None,
        key: str | None = None,
    ) -> Self:
        """Learn.

        Parameters
        ----------
        X : PrivateData, array of shape (n, n_features), or data frame
            Features: known where the attribute is protected, secret where the record is. What is no finite number is 0.
            Private data protect records, and have class and group among their columns.
        y : array of shape (n,), optional
            Classes; not for private data.
        sensitive_features : array of shape (n,), optional
            The group of each record; not for private data.
        ledger : Ledger, optional
            The account that pays where the attribute is protected; by default one for this fit alone. It was opened for
            replaced values of `Unit("attribute", column="sensitive_features")`.
        key : str, optional
            Public. Makes a retry safe where records are protected; see `PrivateData.permit`. Where the attribute is, it
            is refused, since nothing is stored that could be given again.
        """
        self.check_all()
        if isinstance(X, PrivateData):
            if sensitive_features is not None or ledger is not None or self.groups is not None:
                obstacle = "private data have their groups and their account already"
                raise ParameterError(self.purpose, obstacle, "Name the column of the groups: sensitive.")
            if self.sensitive is None:
                raise self._no_groups()
            return super().fit(X, y, key=key)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if sensitive_features is None:
            raise ParameterError(self.purpose, "the group of each record is not given", "Pass sensitive_features.")
        groups, column = Category(checked_groups(self.purpose, self.groups)), self._target_column()
        assert isinstance(column, Category)
        if len(column.values) != 2:
            raise self._not_two(len(column.values))
        if self.protects == "attribute":
            account = Budget(self.epsilon, self.delta) if ledger is None else ledger
            return self._fit_attribute(X, coded(y, column.values), sensitive_features, groups.values, account, key)
        if ledger is not None:
            obstacle = "an account of records is that of private data"
            raise ParameterError(self.purpose, obstacle, "Give PrivateData, which pays from its own.")
        X = validate_data(self, unlisted(X), dtype=None, ensure_all_finite=False, ensure_min_samples=0)
        bounds = (-FARTHEST, FARTHEST) if self.bounds is None else self.bounds
        budget, others = Budget(self.epsilon, self.delta), {SENSITIVE: (sensitive_features, groups)}
        task = task_of_arrays(self.purpose, X, y, column, bounds, budget, others=others)
        return super().fit(task, key=key)

    def _no_groups(self) -> ParameterError:
        obstacle = "it is not said which column holds the groups"
        return ParameterError(self.purpose, obstacle, "Set sensitive to a column of private data.")

    def plan(self, task: Task) -> FairPlan:
        """Counts once, then a histogram and a gradient of every sample of records, with the least noise that fits."""
        if self.protects != "record":
            raise NotPermitted(
                self.purpose,
                'protects is "attribute", which takes features and classes as known, and this data set hides records',
                'Set protects="record", or fit arrays with sensitive_features.',
            )
        if len(task.others) != 1:
            raise self._no_groups()
        checked_groups(self.purpose, task.schema.category(task.others[0]).values)
        if task.classes != 2:
            raise self._not_two(task.classes)
        task.data.check_curated(self.purpose)
        size = self._expected_size()
        return FairPlan.of(task.budget, protects="record", batch=self._batch(size), size=size, epochs=self.epochs)

    def learn(self, task: Task, plan: FairPlan, permit: Permit) -> Artefact:
        """Train on secret samples of records, and keep the weights."""
        groups = len(task.schema.category(task.others[0]).values)
        model, constraint = self._network(len(task.features)), constraint_of(self.purpose, self.constraint)
        like = _tensors(np.zeros((0, len(task.columns))))
        about = type(self).__name__, self.get_params(), task.columns
        data = RecordsAsTensors(
            lambda view: _tensors(view.everything(task.columns)), like, task.data.ledger, task.columns, about
        )
        given = model, constraint, data, groups, plan, self._descent(), self._expected_size()
        training = RecordTraining(*given)
        training.run(permit)
        return {
            "weights": [one.detach().numpy().copy() for one in model.parameters()],
            "multipliers_": training.multipliers.signed,
            "multipliers_stddev_": training.multipliers_stddev,
        }

    def adopt(self, task: Task, fitted: Artefact) -> None:
        """Set the network, and the multipliers."""
        super().adopt(task, {name: value for name, value in fitted.items() if name != "weights"})
        self.network_ = self._network(len(task.features))
        with torch.no_grad():
            for one, weights in zip(self.network_.parameters(), fitted["weights"], strict=True):
                one.copy_(torch.from_numpy(np.asarray(weights)))

    def decision_function(self, X: Any) -> Array:
        """The logit of the second class; a missing value counts as 0."""
        rows = _finite(self._rows(X))
        with torch.no_grad():
            return np.asarray(self.network_(torch.from_numpy(rows).float())[:, 0].double().numpy())

    def predict_proba(self, X: Any) -> Array:
        """The probabilities of both classes."""
        second = 1 / (1 + np.exp(-np.clip(self.decision_function(X), -500, 500)))
        return np.column_stack([1 - second, second])

    def _fit_attribute(
        self, X: Any, labels: Codes, sensitive: Any, groups: tuple[Any, ...], account: Ledger | Budget, key: str | None
    ) -> Self:
        """Learn where all but the groups is known."""
        if key is not None:
            obstacle = "a network that protects the attribute is not stored, so that no key can give it again"
            raise ParameterError(self.purpose, obstacle, "Leave out the key, and keep the model.")
        found = validate_data(self, unlisted(X), dtype=None, ensure_all_finite=False, ensure_min_samples=0)
        rows, secret, there = numbers_in(found, found.shape), array_of(sensitive), labels >= 0
        if not len(rows) == len(labels) == len(secret):
            obstacle = "X, y and sensitive_features differ in length"
            raise ParameterError(self.purpose, obstacle, "Give one of each per record.")
        if not there.any():
            raise ParameterError(self.purpose, "there are no records of the declared classes", "Give some.")
        attribute = SensitiveAttribute(secret[there], groups, account, name=SENSITIVE)
        inputs, known = torch.from_numpy(_finite(rows[there])).float(), torch.from_numpy(labels[there]).float()
        training = self._attribute_training(inputs, known, attribute)
        self.receipt_ = training.run()
        self.event_, self.classes_ = self.receipt_.event, np.asarray(self.classes)
        self.network_, self.multipliers_ = training.model, training.multipliers.signed
        self.multipliers_stddev_ = training.multipliers_stddev
        return self

    def _attribute_training(self, inputs: Tensor, labels: Tensor, attribute: SensitiveAttribute) -> AttributeTraining:
        budget, size = Budget(self.epsilon, self.delta), len(inputs)
        how: dict[str, Any] = {"batch": self._batch(size), "size": size, "epochs": self.epochs}
        model, constraint = self._network(inputs.shape[1]), constraint_of(self.purpose, self.constraint)
        given = model, constraint, inputs, labels, attribute
        if self.method == "histogram":
            plan = FairPlan.of(budget, protects="attribute", **how)
            return AttributeTraining(*given, plan, self._descent(), self.random_state)
        return PFLDTraining(*given, PFLDPlan.of(budget, **how), self._descent(), self.random_state)

    def _batch(self, size: int) -> int:
        return max(1, size // STEPS_OF_EPOCH) if self.batch_size is None else self.batch_size

    def _descent(self) -> Descent:
        return Descent(self.learning_rate, self.multiplier_rate, self.tolerance, self.clip, self.smallest_share)

    def _expected_size(self) -> int:
        """The number of records that plans are made for, where it is secret."""
        if self.method != "histogram":
            obstacle = 'method is "pf_ld", which protects the attribute alone'
            raise ParameterError(self.purpose, obstacle, 'Use "histogram".')
        if self.expected_size is None:
            obstacle = "expected_size is not given, and the number of records is secret"
            raise ParameterError(self.purpose, obstacle, "Give it, from what you know without the data.")
        check_whole(self.purpose, "expected_size", self.expected_size)
        return int(self.expected_size)

    def _not_two(self, classes: int) -> ParameterError:
        there = "there is one class" if classes == 1 else f"there are {classes} classes"
        return ParameterError(self.purpose, there, "Declare two, from what you know.")

    def _network(self, features: int) -> nn.Module:
        """Linear layers with tanh between them, whose first weights are public."""
        sizes = [features, *map(int, self.hidden_layer_sizes)]
        with torch.random.fork_rng():
            torch.manual_seed(self.random_state)
            hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.Tanh())]
            return nn.Sequential(*hidden, nn.Linear(sizes[-1], 1))


def _tensors(records: Array) -> tuple[Tensor, Tensor]:
    """Features, and the class and the group; a record without a class is left out."""
    known = records[np.isfinite(records[:, -2])]
    targets = torch.from_numpy(np.nan_to_num(known[:, -2:], nan=-1.0)).float()
    return torch.from_numpy(_finite(known[:, :-2])).float(), targets


def _finite(rows: Array) -> Array:
    return np.clip(np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0), -FARTHEST, FARTHEST)
