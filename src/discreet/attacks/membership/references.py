"""Reference models: the target's training, repeated on random halves of records, to see what each record changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.membership.membership_data import Values, first_rows, row_keys
from discreet.attacks.membership.model_target import ModelTarget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.progress_bar import tracked

ASKED = "reference models"
LIMIT = 30.0  # log-odds beyond this say no more than that a model is sure
SEEDS = 2**32


@runtime_checkable
class ManyAtOnce(Protocol):
    """What trains many models at a time, each on the records that a row of `inside` names."""

    def trained_on(self, X: Values, y: Values, inside: NDArray[np.bool_], random_state: int) -> list[Any]:
        """One model for each row of `inside`."""
        ...


@dataclass(frozen=True)
class References:
    """Models that were fitted on random halves of a pool of records, once, for all attacks that need them.

    Parameters
    ----------
    X, y : array
        The pool: features and labels.
    inside : array of bool of shape (models, records)
        Which records each model has seen. Two models in a row have seen complementary halves, so that every record is
        in half of the models; copies of a record are in the same half.
    margins : array of shape (models, records)
        The logarithm of the odds of each record's own label, by each model.
    models : tuple
        The models themselves.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    >>> references = References.fitted(KNeighborsClassifier(1), X, y, number=4)
    >>> references.inside.sum(axis=0).tolist() == [2] * 40
    True
    >>> bool((references.margins[references.inside] > 0).all())
    True
    """

    X: Values = field(repr=False)
    y: Values = field(repr=False)
    inside: NDArray[np.bool_] = field(repr=False)
    margins: NDArray[np.float32] = field(repr=False)
    models: tuple[Any, ...] = field(repr=False)

    @classmethod
    def fitted(cls, train: Any, X: ArrayLike, y: ArrayLike, *, number: int = 64, random_state: int = 0) -> References:
        """Fit the models, with a progress bar.

        Parameters
        ----------
        train : estimator, function or SmallNetworks
            How the target was trained, as far as the adversary knows it: a scikit-learn classifier, which is cloned; a
            function of rows and labels that returns a model; or what trains many at a time.
        X, y : array-like
            The pool of records, with members and others among them: `data.rows` of a `MembershipData`.
        number : int
            How many models; 64 for `LiRA`, 4 are enough for `RMIA`.
        random_state : int
            For the halves, and for estimators without a seed of their own.
        """
        check_whole(ASKED, "number", number, 2)
        check_whole(ASKED, "random_state", random_state, 0, SEEDS - 1)
        rows, labels = np.asarray(X), np.asarray(y)
        if rows.ndim < 2 or labels.shape != (len(rows),):
            obstacle = f"the pool has features of shape {rows.shape} and labels of shape {labels.shape}"
            raise ParameterError(ASKED, obstacle, "Give rows, and one label for each.")
        inside = _halves(rows, labels, int(number), int(random_state))
        models = _trained(train, rows, labels, inside, int(random_state))
        margins = np.stack([_margins(model, rows, labels) for model in models])
        _check_different(margins)
        return cls(rows, labels, inside, margins, tuple(models))

    def __len__(self) -> int:
        return len(self.models)

    def some(self, models: Iterable[int]) -> References:
        """A part of the models, by their places: `some(range(4))`, or all except one that is the target."""
        places = np.asarray([*models], dtype=np.intp)
        chosen = tuple(self.models[place] for place in places)
        return replace(self, inside=self.inside[places], margins=self.margins[places], models=chosen)

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return first_rows(self.X, self.y)

    def places(self, X: Values, y: Values) -> NDArray[np.intp]:
        """Where rows with their labels are in the pool; refused, where one is not."""
        found = np.array([self._places.get(key, -1) for key in row_keys(X, y)], dtype=np.intp)
        absent = int((found < 0).sum())
        if absent:
            obstacle = f"{absent} of {len(found)} records are not among those that the references were fitted on"
            raise ParameterError(ASKED, obstacle, "Fit references on `data.rows`.", absent=absent)
        return found

    def own_margins(self, target: ModelTarget, X: Values, y: Values) -> NDArray[np.float64]:
        """The target's log-odds, as those of the references are kept."""
        return np.clip(target.margins(X, y), -LIMIT, LIMIT)


def _halves(X: Values, y: Values, number: int, seed: int) -> NDArray[np.bool_]:
    """Random halves of the distinct records, and after each its complement."""
    kinds: dict[bytes, int] = {}
    codes = np.array([kinds.setdefault(key, len(kinds)) for key in row_keys(X, y)], dtype=np.intp)
    if len(kinds) < 4:
        raise ParameterError(ASKED, f"the pool has {len(kinds)} distinct records", "Give at least 4.")
    rng, halves = np.random.default_rng(seed), []
    for _ in range(0, number, 2):
        half = np.zeros(len(kinds), dtype=bool)
        half[rng.permutation(len(kinds))[: len(kinds) // 2]] = True
        halves += [half[codes], ~half[codes]]
    return np.array(halves[:number])


def _trained(train: Any, X: Values, y: Values, inside: NDArray[np.bool_], seed: int) -> list[Any]:
    if isinstance(train, ManyAtOnce):
        return train.trained_on(X, y, inside, seed)
    fit = _fit_of(train)
    models = []
    for place in tracked(len(inside), "reference models"):
        try:
            models.append(fit(X[inside[place]], y[inside[place]], (seed + place) % SEEDS))
        except Exception as error:
            obstacle = f"training raised {type(error).__name__} on half of the records: {str(error)[:200]}"
            raise ParameterError(ASKED, obstacle, "Give a training function that works on any half.") from error
    return models


def _fit_of(train: Any) -> Callable[[Values, Values, int], Any]:
    """Training as a function of rows, labels and a seed, which an estimator without one of its own is given."""
    if hasattr(train, "fit") and hasattr(train, "get_params"):
        from sklearn.base import clone

        seedless = train.get_params().get("random_state", 0) is None
        return lambda X, y, seed: clone(train).set_params(**({"random_state": seed} if seedless else {})).fit(X, y)
    if callable(train) and not isinstance(train, type):
        return lambda X, y, seed: train(X, y)
    obstacle = f"{type(train).__name__} is neither an estimator nor a function of rows and labels"
    raise ParameterError(ASKED, obstacle, "Give a scikit-learn classifier, a function, or SmallNetworks.")


def _margins(model: Any, X: Values, y: Values) -> NDArray[np.float32]:
    return np.clip(ModelTarget.of(model).margins(X, y), -LIMIT, LIMIT).astype(np.float32)


def _check_different(margins: NDArray[np.float32]) -> None:
    """Refuse references that are all alike: what does not depend on its records says nothing of them."""
    if np.array_equal(margins, np.broadcast_to(margins[0], margins.shape), equal_nan=True):
        obstacle = f"all {len(margins)} models answer all records alike, so the training function ignores its records"
        raise ParameterError(ASKED, obstacle, "Give one that trains on the rows and labels that it is given.")
