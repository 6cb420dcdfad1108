"""The base of all private learners: opens the data, pays, learns, and says what it cost."""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.accounting.calibration import LEAST, MOST
from discreet.core.budget import Budget
from discreet.core.checks import check_positive, check_seed, check_whole, is_number
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.inherited_docs import inherit_docs
from discreet.core.parameters import check_parameters
from discreet.core.receipt import Receipt
from discreet.display.notebook import carded, facts, folded
from discreet.fitting.task import Task, check_order, task_of_arrays, task_of_private
from discreet.schema.schema import Category, Column, Number
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.raw_values import unlisted
from discreet.trust.stored import Artefact
from discreet.trust.telling import telling

WHOLE = {"max_iter", "n_iter", "steps", "n_clusters", "n_components", "n_estimators"}
LARGEST = 2**20  # of these: longer loops have no end
WEIGHT = "weight"  # the column of the weights of arrays, whose columns have no names


class PrivateEstimator(BaseEstimator, ABC):
    """What supervised and unsupervised learners have in common.

    A learner has the parameters `bounds`, `epsilon` and `delta`; with a target also `target`, and `target_bounds` or
    `classes`. It defines `check`, `plan` and `learn`, and this base does the rest: `fit` of arrays, data frames or
    private data sets the same attributes, charges before it asks, and stores the artefact that `learn` gives. What is
    said here of parameters and attributes is shown with each learner that has them (`inherit_docs`).

    Parameters
    ----------
    expected_size : int
        Public. The number of records, about; of use where it is secret.
    columns : str or sequence of str, optional
        Public. The columns of `PrivateData` to learn from, numbers. By default all, of which none may be a category.
    target : str, optional
        Public. The column to predict, of `PrivateData`.
    classes : sequence, optional
        Public. All classes, in order, at least two; not for `PrivateData`, whose schema has them.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    target_bounds : (lower, upper), optional
        Public. Of the target; not for `PrivateData`, whose schema has them.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.
    """

    purpose: ClassVar[str]
    """What is written in the ledger."""
    supervised: ClassVar[bool] = False
    """Whether there is a target."""
    categories: ClassVar[bool] = False
    """Whether categories are features, and not only numbers."""
    texts: bool = False
    """Whether columns of text are features, whose values a fit buys."""
    others: tuple[str, ...] = ()
    """Columns that a fit reads, and that are neither features nor the target."""
    local: ClassVar[bool] = False
    """Whether the rows of arrays are those of people who trust nobody, and not of a curator."""
    free: bool = False
    """Whether a fit asks nothing, and so costs nothing."""

    event_: Event
    receipt_: Receipt
    n_features_in_: int

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, PrivateEstimator)

    def check(self) -> None:
        """Refuse invalid parameters, before any data are read."""

    def check_all(self) -> None:
        """Refuse parameters that are not what their annotations say, too large, or invalid, before data are read."""
        given = self.get_params(deep=False)
        check_parameters(self.purpose, type(self).__init__, given)
        for name in WHOLE & {*given}:
            if is_number(given[name]):
                check_whole(self.purpose, name, given[name], least=0, most=LARGEST)
        check_positive(self.purpose, "epsilon", given["epsilon"], LEAST, MOST)
        seed = given.get("random_state")
        if not isinstance(seed, np.random.RandomState):
            check_seed(self.purpose, seed)
        self.check()

    @abstractmethod
    def plan(self, task: Task) -> Any:
        """What will be asked, with its `event`: from public facts alone."""

    @abstractmethod
    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        """Ask what was planned, and give the fitted attributes by name."""

    def learning(self, plan: Any) -> Callable[[Task, Any, Permit], Artefact]:
        """What learns by this plan: `learn`, or what it would call."""
        return self.learn

    def asked_of(self, permit: Permit, task: Task) -> Permit:
        """What questions are asked of, once the permit was paid for."""
        return permit

    def fit(self, X: Any, y: Any = None, *, key: str | None = None) -> Self:
        """Learn.

        Parameters
        ----------
        X : PrivateData, array of shape (n, n_features), or data frame
            The records.
        y : array of shape (n,), optional
            The target; not for private data, whose target is a column, nor for learners without one.
        key : str, optional
            Public. Makes a retry safe; see `PrivateData.permit`. It gives the same model again, from the ledger; one of
            more than a megabyte is kept beside it.
        """
        with self._telling(X) if getattr(X, "elsewhere", False) else nullcontext():
            self.check_all()
            task = self._checked_task(X, y)
            plan = self.plan(task)
            with task.data.permit(plan.event, self.purpose, key=key) as permit:
                read = task.columns if task.weight is None else (*task.columns, task.weight)
                about = (type(self).__name__, self.get_params(), read)
                fitted = permit.artefact(partial(self.learning(plan), task, plan, self.asked_of(permit, task)), about)
            self.adopt(task, fitted)
            self.event_, self.receipt_ = plan.event, permit.receipt
        return self

    def _telling(self, X: Any) -> AbstractContextManager[None]:
        """What tells an account that is elsewhere what is fitted."""
        said = {"learner": type(self).__name__, "parameters": self.said()}
        return telling(X, said, Budget(self.epsilon, self.delta))

    def said(self) -> dict[str, Any]:
        """The parameters that are not as they are by default, beside the price."""
        defaults = inspect.signature(type(self)).parameters
        given = self.get_params(deep=False).items()
        return {
            name: one for name, one in given if name not in ("epsilon", "delta") and one is not defaults[name].default
        }

    def _checked_task(self, X: Any, y: Any) -> Task:
        """What is learned from, if this learner can."""
        task = X if isinstance(X, Task) else self._task(X, y, Budget(self.epsilon, self.delta))
        if is_classifier(self) and task.classes < 2:
            raise ParameterError(self.purpose, "there is one class", "Name at least two classes.")
        if is_regressor(self):
            task.schema.number(str(task.target))
        for name in task.columns:
            if isinstance(column := task.schema.columns[name], Number):
                column.check_scale(name)
        return task

    def adopt(self, task: Task, fitted: Artefact) -> None:
        """Set the attributes of a fit: what is public about its task, and what was learned."""
        self.n_features_in_ = len(task.features)
        if self.categories:
            self.columns_ = tuple(task.schema.columns[name] for name in task.features)
        if is_classifier(self):
            given = self.classes if self.classes is not None else task.schema.category(str(task.target)).values
            self.classes_ = np.asarray(given)
        for name, value in fitted.items():
            setattr(self, name, value)

    def _task(self, X: Any, y: Any, budget: Budget, weights: Any = None) -> Task:
        """What is learned from; of private data, weights are the name of their column."""
        if isinstance(X, PrivateData):
            if y is not None:
                raise ParameterError(self.purpose, "private data have their target among their columns", "Set target.")
            for name in ("bounds", "classes", "target_bounds"):
                if getattr(self, name, None) is not None:
                    known = name.replace("_", " ")
                    raise ParameterError(self.purpose, f"the data set's schema has {known} already", "Leave them out.")
            target = getattr(self, "target", None)
            weight = () if weights is None else (_weight_column(self.purpose, X, weights, target),)
            how = (self.categories, self.texts, (*self.others, *weight), getattr(self, "columns", None))
            task = task_of_private(self.purpose, X, target, self.supervised, budget, *how)
            self.feature_names_in_: NDArray[Any] = np.array(task.features, dtype=object)
            return task if weights is None else task.weighted_by(weights)
        if getattr(self, "columns", None) is not None:
            raise ParameterError(self.purpose, "columns are named, and X is all there is", "Give those columns as X.")
        if self.supervised and y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        bounds = self._bounds()
        check_order(self.purpose, X, bounds)
        X = validate_data(self, unlisted(X), dtype=None, ensure_all_finite=False, ensure_min_samples=0)
        column = self._target_column() if self.supervised else None
        target = y if self.supervised else None
        more = {} if weights is None else {WEIGHT: (weights, Number(0.0, 1.0))}
        task = task_of_arrays(self.purpose, X, target, column, bounds, budget, self.categories, self.local, more)
        return task if weights is None else task.weighted_by(task.others[-1])

    def _bounds(self) -> Any:
        """The bounds of the features of arrays: from parameters, never from the data."""
        return self.bounds

    def _target_column(self) -> Column:
        """What is known of the target of arrays: from parameters, never from the data."""
        if is_classifier(self):
            if self.classes is None:
                raise ParameterError(
                    self.purpose,
                    "the classes are not given, and taking them from the data would give a record away",
                    "Pass classes=[...] from what you know without the data.",
                )
            return Category(tuple(np.asarray(self.classes).tolist()))
        if self.target_bounds is None:
            raise ParameterError(
                self.purpose,
                "the bounds of the target are not given, and taking them from the data would give a record away",
                "Pass target_bounds=(lower, upper) from what you know without the data.",
            )
        return Number(*self.target_bounds)

    def _rows(self, X: Any) -> Array:
        """The rows of records to predict for."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False))

    def _html_repr(self) -> str:
        """What notebooks show: the parameters, and what a fit cost."""
        with warnings.catch_warnings():  # scikit-learn reads docstrings, and knows no section "Guarantee"
            warnings.filterwarnings("ignore", message="Unknown section", category=UserWarning)
            shown = str(super()._html_repr())
        if not hasattr(self, "receipt_"):
            return shown
        return shown + carded(folded(self.receipt_.cost, facts(self.receipt_.lines())))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.supervised
        return tags


def _weight_column(asked: str, data: PrivateData, weights: Any, target: str | None) -> str:
    """The name of a column of numbers, which is not the target."""
    if not isinstance(weights, str) or weights == target:
        remedy = f"Name one of the columns {', '.join(data.schema.columns)}, other than the target."
        raise ParameterError(asked, "the weights of private data are one of their columns", remedy)
    data.schema.number(weights)
    return weights
