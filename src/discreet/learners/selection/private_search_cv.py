"""Private choice of hyper-parameters: candidates are fitted and scored within one budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid

from discreet.core.checks import check_one_of, check_whole, shown
from discreet.core.errors import NotPermitted, ParameterError
from discreet.fitting.task import Task
from discreet.learners.selection.meta_estimator import MetaEstimator
from discreet.learners.selection.pipeline_plan import check_step
from discreet.learners.selection.search_plan import SearchPlan, searched
from discreet.learners.selection.search_scores import REGRESSION_SCORES, SCORES
from discreet.questions.question import AllRecords
from discreet.trust.permit import Permit
from discreet.trust.random_stopping import RandomStopping, Trial, check_wait
from discreet.trust.stored import Artefact

FEW, FEW_PURE = 4, 3  # candidates up to which trying each of them costs less than random stopping


class PrivateSearchCV(MetaEstimator):
    """The best of several candidates, each a private learner with other parameters, for one price.

    Candidates are fitted to all records and scored on them, from noisy counts or moments: what is learned privately
    cannot depend on any record by much, so that no part of the records has to be kept for the scores, nor is there any
    cross-validation. Trying a parameter and choosing by what it gives is never free. Here it is paid for, in one of two
    ways: every candidate is tried once, and all trials are paid for; or candidates are drawn at random, and trials end
    with a fixed chance after each, so that only the best has to be paid for, about threefold, however many there are.

    Parameters
    ----------
    estimator : PrivateEstimator
        Public. A classifier or a regressor, or a pipeline that ends with one; its own epsilon and delta are not used.
    param_grid : dict or list of dict
        Public. The values of each parameter that are tried, as in scikit-learn.
    scoring : str, optional
        Public. What candidates are compared by: "accuracy", "balanced_accuracy", "f1" of the second class, "roc_auc",
        "neg_log_loss" or "neg_brier_score"; for regressors "r2" or "neg_mean_squared_error". By default accuracy or R2.
        Where one class is rare, the accuracy of a model that never names it is hard to beat: take "roc_auc" or
        "neg_log_loss" for scores, "balanced_accuracy" or "f1" for classes. Each follows from noisy counts, in which one
        record is one mark, so that no score costs more than another.
    method : {"random_stopping", "every"}, optional
        Public. How candidates are tried. By default every one of up to 4 (without a delta 3), and wherever no curator
        holds all records: then all intermediate releases are seen by others, and have to be paid for.
    n_iter : int
        Public. How many trials there are on average, in random stopping.
    release_after : float, optional
        Public. How many seconds after its start random stopping hands out its result, so that the time does not show
        the number of trials: enough for several times `n_iter` of them, or 0 where nobody can time the search. By
        default the time is that of about 14 * n_iter trials, most of which count for nothing.
    epsilon, delta : float
        Public. What the whole search costs, with the fit of the best candidate.

    Attributes
    ----------
    best_estimator_ : PrivateEstimator
        Released. The best candidate, fitted.
    best_params_ : dict
        Released. Its parameters.
    best_score_ : float
        Released. Its noisy score. As the highest of several it is too high on average: see `evaluate`.
    best_index_ : int
        Released. Its place among the candidates.
    scores_ : array of shape (n_candidates,) or None
        Released. The same of every candidate; None after random stopping, which keeps the others secret.
    candidates_ : list of dict
        Public. The parameters of all candidates.
    event_ : Event
        What the search cost.

    Guarantee
    ---------
    `event_`: the composed events of all fits and scores, or about three times that of one of them, for the neighbors
    and the unit of the data set; add or remove one record for arrays. For random stopping: Papernot and Steinke 2022,
    Theorem 2, and Liu and Talwar 2019, Theorem 3.4; see `trust.random_stopping`. Released: what is called so above.

    Examples
    --------
    >>> from discreet.learners import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.logistic(0, 0.2, 20_000) > 0
    >>> search = PrivateSearchCV(
    ...     LogisticRegression(), {"max_iter": [1, 5]}, bounds=(-1, 1), classes=[False, True], delta=0.0
    ... ).fit(X, y)
    >>> bool(search.score(X, y) > 0.85), search.scores_.shape, search.receipt_.cost
    (True, (2,), 'epsilon 1, delta 0')
    """

    purpose: ClassVar[str] = "search"
    supervised: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Any = None,
        *,
        scoring: str | None = None,
        method: str | None = None,
        n_iter: int = 10,
        release_after: float | None = None,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.method = method
        self.n_iter = n_iter
        self.release_after = release_after
        self.target, self.bounds, self.classes, self.target_bounds = target, bounds, classes, target_bounds
        self.epsilon, self.delta = epsilon, delta

    @property
    def categories(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.estimator, "categories", False))

    @property
    def last(self) -> Any:
        return self.estimator

    def check(self) -> None:
        check_one_of(self.purpose, "method", self.method, (None, "random_stopping", "every"))
        check_whole(self.purpose, "n_iter", self.n_iter, 2, 2**20)
        check_wait(self.purpose, self.release_after)
        _check_grid(self.purpose, self.param_grid)
        check_step(self.purpose, "estimator", self.estimator)
        if not (is_classifier(self.estimator) or is_regressor(self.estimator)):
            kind = type(self.estimator).__name__
            raise ParameterError(self.purpose, f"a {kind} has no score", "Give a classifier or a regressor.")
        known = SCORES if is_classifier(self.estimator) else REGRESSION_SCORES
        check_one_of(self.purpose, "scoring", self.scoring, (None, *known))
        if self.estimator.texts:
            obstacle = "its estimator would buy the same categories in every trial"
            raise ParameterError(self.purpose, obstacle, "Buy them once, by `buy_categories`.")
        for candidate in self._candidates():
            candidate.check_all()

    def plan(self, task: Task) -> SearchPlan:
        candidates = self._candidates()
        few = len(candidates) <= (FEW if task.budget.delta > 0 else FEW_PURE)
        seen = not task.data.curated or task.data.unit.rows > 1
        method = self.method or ("every" if few or seen else "random_stopping")
        if method == "random_stopping" and seen:
            raise NotPermitted(
                self.purpose,
                "random stopping takes a curator who holds all records, with one row for each unit",
                'Try every candidate: method="every".',
            )
        scoring = self.scoring or ("accuracy" if is_classifier(self.estimator) else "r2")
        if scoring in SCORES and SCORES[scoring].two and task.classes != 2:
            obstacle = f"{scoring} is about two classes, and there are {task.classes}"
            raise ParameterError(self.purpose, obstacle, 'Score by "accuracy" or "balanced_accuracy".')
        return searched(candidates, task, None if method == "every" else 1 / self.n_iter, task.budget, scoring)

    def learn(self, task: Task, plan: SearchPlan, permit: Permit) -> Artefact:

        def tried(place: int, permit: Permit) -> Trial:
            return plan.candidates[place].tried(place, permit)

        scores = None
        if plan.stop is None:
            every = [tried(place, permit) for place in range(len(plan.candidates))]
            best, scores = max(every, key=lambda trial: trial.score), np.array([trial.score for trial in every])
        else:
            columns = task.data.schema.values(task.columns)
            schema = type(task.data.schema)({name: task.data.schema.columns[name] for name in columns})
            prices = tuple(candidate.event for candidate in plan.candidates)
            search = RandomStopping(tried, prices, schema, plan.stop, self.release_after)
            best = permit.ask(AllRecords(columns), search)
        about = {"best_index_": best.candidate, "best_score_": best.score, "scores_": scores}
        return {**about, "best_estimator_": best.found}

    def adopt(self, task: Task, fitted: Artefact) -> None:
        """Set the attributes of the search, and those of the best candidate."""
        super().adopt(task, {name: value for name, value in fitted.items() if name != "best_estimator_"})
        self.candidates_ = list(ParameterGrid(self.param_grid))
        self.best_params_ = self.candidates_[self.best_index_]
        self.best_estimator_ = self._candidates()[self.best_index_]
        self.best_estimator_.adopt(task, fitted["best_estimator_"])
        if is_classifier(self):
            _rename(self.best_estimator_, self.classes_)

    def _candidates(self) -> list[Any]:
        try:
            return [clone(self.estimator).set_params(**given) for given in ParameterGrid(self.param_grid)]
        except ValueError as why:
            raise ParameterError(self.purpose, f"{why}".rstrip("."), "Give parameters of the estimator.") from None

    def _fitted(self, rows: Any) -> tuple[Any, Any]:
        return self.best_estimator_, rows


def _rename(model: Any, classes: Any) -> None:
    """Give a model, and its steps, the classes as they were given, where the schema has texts."""
    for one in (model, *(step for _, step in getattr(model, "steps_", []))):
        if hasattr(one, "classes_"):
            one.classes_ = classes


def _check_grid(asked: str, grid: Any) -> None:
    """Refuse what is no grid of parameters, or an empty one."""
    try:
        if isinstance(grid, Mapping | list | tuple) and len(ParameterGrid(grid)) > 0:
            return
    except (TypeError, ValueError):
        pass
    obstacle = f"the grid of parameters is {shown(grid)}"
    raise ParameterError(asked, obstacle, 'Give lists of values by name, such as {"max_iter": [1, 5]}.')
