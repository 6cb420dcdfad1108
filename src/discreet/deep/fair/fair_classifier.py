"""A fair classifier with scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.knob import check_one_of, check_whole
from discreet.core.ledger import Ledger
from discreet.deep.fair.attribute_training import AttributeTraining
from discreet.deep.fair.constraint import constraint_of
from discreet.deep.fair.descent import Descent
from discreet.deep.fair.fair_plan import FairPlan, Protects
from discreet.deep.fair.pf_ld import PFLDPlan, PFLDTraining
from discreet.deep.fair.record_training import RecordTraining
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute, checked_groups, coded
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.trust.sources.columns.raw_values import array_of, numbers_in, unlisted

ASKED = "fair classifier"
FARTHEST = 1e4  # features are cut to it, so that no record makes a network overflow
STEPS_OF_EPOCH = 5  # by default

Method = Literal["histogram", "pf_ld"]
Training = AttributeTraining | RecordTraining


class FairClassifier(ClassifierMixin, BaseEstimator):
    """A network of two classes that treats groups alike, trained without giving away who is in which group.

    Parameters
    ----------
    constraint : {"demographic_parity", "equalized_odds", "accuracy_parity"}
        Public. What groups have to have in common: how often the second class is predicted, how often it is in each
        class, or how often predictions are right.
    protects : {"attribute", "record"}
        Public. "attribute": the group of one person; features, classes and who is there at all are taken as known.
        "record": all about one person, and whether the person is there.
    groups : sequence
        Public. All groups, at least two. A record of another group counts nowhere in the constraint (with
        `protects="attribute"`, as an equal part of every group).
    classes : sequence of two
        Public. The classes. A record of another class is left out.
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
    multipliers_, multipliers_stddev_ : array of shape (strata, groups)
        Released. The multipliers of the constraint, and how far noise may have moved them.
    classes_ : array of shape (2,)
        As declared.
    event_, receipt_ : Event, Receipt
        What the fit cost.
    n_features_in_ : int
        How many features there are.

    Guarantee
    ---------
    `event_`, for neighbors that differ in the group of one record (`AttributeTraining`, `PFLDTraining`), or by one
    record (`RecordTraining`). Features are used as they are: scale them by public numbers, or by a private scaler.

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

    def __init__(
        self,
        constraint: str = "demographic_parity",
        *,
        protects: Protects = "attribute",
        groups: Sequence[Any] | None = None,
        classes: Sequence[Any] | None = None,
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

    def fit(self, X: Any, y: Any, *, sensitive_features: Any, ledger: Ledger | None = None) -> Self:
        """Learn.

        Parameters
        ----------
        X : array of shape (n, n_features)
            Features: known where the attribute is protected, secret where the record is. What is no finite number is 0.
        y : array of shape (n,)
            Classes.
        sensitive_features : array of shape (n,)
            The group of each record.
        ledger : Ledger, optional
            The account that pays; by default one for this fit alone. It was opened for replaced values of
            `Unit("attribute", column="sensitive_features")`, or for records that are added or removed.
        """
        check_one_of(ASKED, "protects", self.protects, ("attribute", "record"))
        check_one_of(ASKED, "method", self.method, ("histogram", "pf_ld"))
        groups, classes = checked_groups(ASKED, self.groups), self._classes()
        rows = self._rows(X, reset=True)
        labels, sensitive = coded(y, classes), array_of(sensitive_features)
        if not len(rows) == len(labels) == len(sensitive):
            raise ParameterError(ASKED, "X, y and sensitive_features differ in length", "Give one of each per record.")
        there = labels >= 0
        inputs = torch.from_numpy(_finite(rows[there])).float()
        training = self._training(inputs, labels[there], sensitive[there], groups, ledger)
        self.receipt_ = training.run()
        self.event_, self.classes_ = self.receipt_.event, np.asarray(classes)
        self.network_, self.multipliers_ = training.model, training.multipliers.signed
        self.multipliers_stddev_ = training.multipliers_stddev
        return self

    def decision_function(self, X: Any) -> Array:
        """The logit of the second class."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        with torch.no_grad():
            return self.network_(torch.from_numpy(_finite(rows)).float())[:, 0].double().numpy()

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(np.int64)]

    def predict_proba(self, X: Any) -> Array:
        """The probabilities of both classes."""
        second = 1 / (1 + np.exp(-np.clip(self.decision_function(X), -500, 500)))
        return np.column_stack([1 - second, second])

    def _rows(self, X: Any, *, reset: bool) -> Array:
        """The features as numbers, nan where one is none."""
        found = validate_data(
            self, unlisted(X), dtype=None, ensure_all_finite=False, ensure_min_samples=0 if reset else 1, reset=reset
        )
        return numbers_in(found, found.shape)

    def _training(
        self, inputs: Tensor, labels: NDArray[np.int64], sensitive: NDArray[Any], groups: tuple[Any, ...], ledger: Any
    ) -> Training:
        budget, constraint = Budget(self.epsilon, self.delta), constraint_of(ASKED, self.constraint)
        descent = Descent(self.learning_rate, self.multiplier_rate, self.tolerance, self.clip, self.smallest_share)
        model, account = self._network(inputs.shape[1]), budget if ledger is None else ledger
        size = self._size(len(inputs))
        batch = max(1, size // STEPS_OF_EPOCH) if self.batch_size is None else self.batch_size
        if self.protects == "record":
            plan = FairPlan.of(budget, protects="record", batch=batch, size=size, epochs=self.epochs)
            targets = torch.from_numpy(np.column_stack([labels, coded(sensitive, groups)])).float()
            data = PrivateTensors(inputs, targets, account)
            return RecordTraining(model, constraint, data, len(groups), plan, descent, size)
        attribute = SensitiveAttribute(sensitive, groups, account, name="sensitive_features")
        kinds = {"histogram": AttributeTraining, "pf_ld": PFLDTraining}
        found: Any = (
            FairPlan.of(budget, protects="attribute", batch=batch, size=size, epochs=self.epochs)
            if self.method == "histogram"
            else PFLDPlan.of(budget, batch=batch, size=size, epochs=self.epochs)
        )
        known = torch.from_numpy(labels).float()
        return kinds[self.method](model, constraint, inputs, known, attribute, found, descent, self.random_state)

    def _size(self, n: int) -> int:
        """The number of records that plans are made for: public."""
        if self.protects == "attribute":
            if n == 0:
                raise ParameterError(ASKED, "there are no records of the declared classes", "Give some.")
            return n
        if self.method != "histogram":
            raise ParameterError(ASKED, 'method is "pf_ld", which protects the attribute alone', 'Use "histogram".')
        if self.expected_size is None:
            obstacle = "expected_size is not given, and the number of records is secret"
            raise ParameterError(ASKED, obstacle, "Give it, from what you know without the data.")
        check_whole(ASKED, "expected_size", self.expected_size)
        return int(self.expected_size)

    def _classes(self) -> tuple[Any, ...]:
        classes = () if self.classes is None else tuple(array_of(self.classes).tolist())
        if len(set(classes)) != 2 or len(classes) != 2:
            raise ParameterError(ASKED, f"the classes are {list(classes)}", "Declare two, from what you know.")
        return classes

    def _network(self, features: int) -> nn.Module:
        """Linear layers with tanh between them, whose first weights are public."""
        sizes = [features, *self.hidden_layer_sizes]
        with torch.random.fork_rng():
            torch.manual_seed(self.random_state)
            hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.Tanh())]
            return nn.Sequential(*hidden, nn.Linear(sizes[-1], 1))


def _finite(rows: Array) -> Array:
    return np.clip(np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0), -FARTHEST, FARTHEST)
