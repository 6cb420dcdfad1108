"""A pipeline that is private from end to end and pays once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from discreet.core.checks import check_positive, shown
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.mechanism import Mechanism
from discreet.fitting.task import Task
from discreet.learners.selection.meta_estimator import MetaEstimator, last_has
from discreet.learners.selection.pipeline_plan import PipelinePlan, calibrated, chained, check_step
from discreet.learners.selection.score_cells import values_of
from discreet.questions.filtered import OfListed
from discreet.questions.question import Question
from discreet.questions.transformation import Transformation
from discreet.questions.transformed import transformed
from discreet.schema.schema import Category, Column, Schema
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

Release = TypeVar("Release")
BEFORE = 0.1  # the part of each step before the last, whose part is 1: scores on made-up data hardly depend on it


class TransformedPermit(Permit):
    """Another permit, for questions about its records after a transformation. It pays for nothing by itself.

    Parameters
    ----------
    permit : Permit
        Of the records before it.
    by : Transformation
        Public. Of each record by itself.
    """

    def __init__(self, permit: Permit, by: Transformation) -> None:
        self._permit, self._by = permit, by

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question about transformed records, if the plan pays for it."""
        return self._permit.ask(transformed(question, self._by), mechanism)

    def check_pays(self, event: Event) -> None:
        self._permit.check_pays(event)

    def random_state(self, given: Any) -> Any:
        return self._permit.random_state(given)


class ListedPermit(Permit):
    """Another permit, for questions that need the values of columns of text. It pays for nothing by itself.

    Parameters
    ----------
    permit : Permit
        Of the records as they are.
    lists : mapping of str to Category
        Public. The values of each column, released before.
    """

    def __init__(self, permit: Permit, lists: Mapping[str, Category]) -> None:
        self._permit, self._lists = permit, tuple(lists.items())

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question about these records, if the plan pays for it."""
        return self._permit.ask(OfListed(question, self._lists), mechanism)

    def check_pays(self, event: Event) -> None:
        self._permit.check_pays(event)

    def random_state(self, given: Any) -> Any:
        return self._permit.random_state(given)


class PrivatePipeline(_BaseComposition, MetaEstimator):
    """Transformers and a learner that are fitted one after another, within one budget and with one receipt.

    All steps are planned before anything is asked, and what they cost together is charged once. Each step learns from
    the records as the steps before make them. What a step makes lies between public bounds, which it passes on to the
    next: only the pipeline has `bounds`, `classes` and a `target`. A step of another library is refused, since whatever
    it learned from the records would be released unpaid.

    Parameters
    ----------
    steps : sequence of (str, PrivateEstimator)
        Public. Names and steps: all but the last have a `transformation`. Their own epsilon and delta are not used.
    parts : mapping of str to float, optional
        Public. The parts of the budget that steps get, by their names: of the squares of 1 / multiplier. By default 1
        for the last step and 0.1 for every other; a step that asks nothing gets nothing.

    Attributes
    ----------
    steps_ : list of (str, PrivateEstimator)
        Released. The fitted steps, with the attributes that each of them releases.

    Guarantee
    ---------
    `event_`: the composed events of all steps, for the neighbors and the unit of the data set; add or remove one record
    for arrays. Released: what the steps release. A step after another asks about records that were transformed one by
    one by what was released before, so neighbors stay neighbors: adaptive composition, Dwork, McSherry, Nissim and
    Smith 2006; Dong, Roth and Su 2022 for Gaussian noise.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.learners import LogisticRegression, StandardScaler
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([50.0, 3.0], [5.0, 0.1], (20_000, 2))
    >>> y = X @ [0.2, -10.0] + 20 + rng.logistic(0, 0.2, 20_000) > 0
    >>> steps = [("scale", StandardScaler()), ("classify", LogisticRegression())]
    >>> pipeline = PrivatePipeline(steps, bounds=([0, 0], [200, 10]), classes=[False, True], epsilon=1.0).fit(X, y)
    >>> bool(pipeline.score(X, y) > 0.8), pipeline.receipt_.delta
    (True, 1e-06)
    """

    purpose: ClassVar[str] = "pipeline"
    categories: ClassVar[bool] = True
    steps_: list[tuple[str, Any]]
    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = {"transform"}

    def __init__(
        self,
        steps: Sequence[tuple[str, Any]] = (),
        *,
        parts: Any = None,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.steps = steps
        self.parts = parts
        self.target, self.bounds, self.classes, self.target_bounds = target, bounds, classes, target_bounds
        self.epsilon, self.delta = epsilon, delta

    @property
    def texts(self) -> bool:  # type: ignore[override]
        """Whether the first step buys the values of text columns."""
        return bool(self.steps) and bool(getattr(self.steps[0][1], "texts", False))

    @property
    def last(self) -> Any:
        return self.steps[-1][1] if self.steps else None

    @property
    def supervised(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.last, "supervised", False))

    def check(self) -> None:
        """Refuse steps that would leak, or that could not follow one another, before any data are read."""
        names = [name for name, _ in self.steps]
        if not names or len(set(names)) != len(names):
            raise ParameterError(self.purpose, f"its steps are {names}", "Give (name, step) pairs, each name once.")
        for place, (name, step) in enumerate(self.steps):
            check_step(self.purpose, name, step)
            if place < len(names) - 1 and not hasattr(step, "transformation"):
                obstacle = f"step {name!r}, a {type(step).__name__}, does not say what it makes of each record"
                raise ParameterError(self.purpose, obstacle, "Put it last, or use a transformer of discreet.learners.")
            if place > 0 and getattr(step, "texts", False):
                obstacle = f"step {name!r} buys categories, and the steps before it would have to read their text"
                raise ParameterError(self.purpose, obstacle, "Put it first.")
            step.check_all()
        if self.parts is not None and not isinstance(self.parts, Mapping):
            raise ParameterError(self.purpose, f"parts are {shown(self.parts)}", "Give a mapping of names to numbers.")
        for name, part in (self.parts or {}).items():
            if name not in names:
                raise ParameterError(self.purpose, f"there is no step {name!r}", f"There are {', '.join(names)}.")
            check_positive(self.purpose, f"the part of {name}", part)

    def plan(self, task: Task) -> PipelinePlan:
        """The plans of all steps, within one budget."""
        given = self.parts or {}
        parts = [given.get(name, BEFORE) for name, _ in self.steps[:-1]] + [given.get(self.steps[-1][0], 1.0)]
        return calibrated(chained(self.purpose, self.steps, task), parts, task.budget)

    def learn(self, task: Task, plan: PipelinePlan, permit: Permit) -> Artefact:
        """Every step, from the records as the steps before make them."""
        learned: dict[str, Artefact] = {}
        for step in plan.steps:
            own = step.task
            learned[step.name] = step.estimator.learn(own, step.plan, permit)
            if len(learned) < len(plan.steps):
                by = step.estimator.transformation(own.schema, own.features, learned[step.name])
                lists = {name: one for name, one in by.before.columns.items() if one != own.schema.columns[name]}
                permit = TransformedPermit(ListedPermit(permit, lists) if lists else permit, by)
        return {"steps_": learned}

    def adopt(self, task: Task, fitted: Artefact) -> None:
        """Set the attributes of the pipeline, and those of its steps."""
        super().adopt(task, {})
        self.steps_ = []
        for step in chained(self.purpose, self.steps, task):
            model = clone(step.estimator)
            model.adopt(step.task, fitted["steps_"][step.name])
            if hasattr(model, "classes_"):
                model.classes_ = self.classes_  # as they were given, where the schema has texts
            self.steps_.append((step.name, model))

    def _fitted(self, rows: Any) -> tuple[Any, Any]:
        for (_, step), (_, following) in pairwise(self.steps_):
            rows = _given(step.transform(rows), getattr(following, "columns_", ()))
        return self.steps_[-1][1], rows

    @last_has("transform")
    def transform(self, X: Any) -> Any:
        """What the last step makes of each row."""
        return _wrap_data_with_container("transform", self._last(X, "transform"), X, self)

    @last_has("transform")
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of what `transform` gives, of the last step."""
        check_is_fitted(self)
        return np.asarray(self.steps_[-1][1].get_feature_names_out(), dtype=object)

    @last_has("transform")
    def set_output(self, *, transform: str | None = None) -> PrivatePipeline:
        """Say what `transform` gives: "default", "pandas" or "polars", as in scikit-learn."""
        self._sklearn_output_config = {"transform": transform} if transform is not None else {}
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and those of the steps as `name__parameter`."""
        found: dict[str, Any] = self._get_params("steps", deep=deep)
        return found

    def set_params(self, **given: Any) -> PrivatePipeline:
        """Set parameters, and those of the steps as `name__parameter`."""
        self._set_params("steps", **given)
        return self


def _given(rows: Any, columns: Sequence[Column]) -> Any:
    """Rows as a step takes them, categories by their values: another one has given the places of these."""
    if not any(isinstance(column, Category) for column in columns):
        return rows
    schema = Schema({f"x{place}": column for place, column in enumerate(columns)})
    return values_of(np.asarray(rows, dtype=np.float64), schema, tuple(schema.columns))
