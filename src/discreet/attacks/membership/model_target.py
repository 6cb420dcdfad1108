"""A model as its adversary sees it: rows go in, probabilities or labels come out, and questions are counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import unheld

ASKED = "attack on a model"
LEAST = 1e-300  # a probability below this is taken for this
MOST = 2**16  # rows that are asked at a time
Values = NDArray[Any]


@unheld("one call")
@dataclass
class ModelTarget:
    """Whatever answers rows with probabilities or labels.

    Parameters
    ----------
    answer : function of rows
        Gives an array with a row of probabilities for each row, or with one label for each.
    classes : array, optional
        The labels of the columns of probabilities; by default 0, 1, 2 and so on.
    questions : int
        How many rows it was asked.
    raised : int
        On how many rows it raised an error.

    Notes
    -----
    A row on which the target raises is not a number in what is returned, so that it has the lowest score of all. Where
    every row raises, the target is not one of these rows, and it is refused.

    Examples
    --------
    >>> target = ModelTarget.of(lambda rows: np.c_[1 - rows[:, 0], rows[:, 0]])
    >>> target.confidences(np.array([[0.25], [0.75]]), np.array([1, 1]))
    array([0.25, 0.75])
    >>> target.questions
    2
    """

    answer: Callable[[Values], Any]
    classes: Values | None = None
    questions: int = 0
    raised: int = 0

    @classmethod
    def of(cls, model: Any) -> ModelTarget:
        """A target from a model with `predict_proba` or `predict`, a torch module, or a function of rows."""
        if isinstance(model, ModelTarget):
            return cls(model.answer, model.classes)
        for name in ("predict_proba", "predict"):
            if hasattr(model, name):
                return cls(getattr(model, name), getattr(model, "classes_", None))
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(model, torch.nn.Module):
            return cls(lambda rows: _softmax_of(torch, model, rows))
        if callable(model):
            return cls(model)
        obstacle = f"{type(model).__name__} has neither `predict_proba` nor `predict`, and is no function"
        raise ParameterError(ASKED, obstacle, "Give a fitted classifier, a torch module, or a function of rows.")

    def confidences(self, X: Values, y: Values) -> Array:
        """The probability of each row's own label."""
        own, _ = self._own_and_rest(X, y)
        return own

    def margins(self, X: Values, y: Values) -> Array:
        """The logarithm of the odds of each row's own label, without loss of digits where these are large."""
        own, rest = self._own_and_rest(X, y)
        return np.asarray(np.log(np.maximum(own, LEAST)) - np.log(np.maximum(rest, LEAST)))

    def probabilities(self, X: Values) -> Array:
        """A row of probabilities for each row; not a number where the target raised."""
        found = self._answers(X)
        if found.ndim != 2:
            obstacle = f"the target answers with an array of shape {found.shape}, which holds no probabilities"
            remedy = "LabelOnly needs labels alone; or give what has `predict_proba`."
            raise ParameterError(ASKED, obstacle, remedy)
        return found.astype(np.float64)

    def right(self, X: Values, y: Values) -> Array:
        """One where the label that the target finds most probable is the row's own, otherwise zero."""
        found = self._answers(X)
        if found.ndim == 1:
            if (found.dtype.kind in "fiub") != (np.asarray(y).dtype.kind in "fiub") and not (found == y).any():
                obstacle = "the target answers with labels of another kind than the records have (numbers, or texts)"
                raise ParameterError(ASKED, obstacle, "Give records with labels as the target says them.")
            return np.asarray(found == y, dtype=np.float64)
        best = np.where(np.isnan(found).any(axis=1), -1, np.nan_to_num(found).argmax(axis=1))
        return np.asarray(best == self._columns(y, found.shape[1]), dtype=np.float64)

    def _own_and_rest(self, X: Values, y: Values) -> tuple[Array, Array]:
        found = self.probabilities(X)
        rows, columns = np.arange(len(found)), self._columns(y, found.shape[1])
        known = columns >= 0
        own = np.where(known, found[rows, columns], 0 * found[:, 0])
        found[rows[known], columns[known]] = 0.0
        return own, found.sum(axis=1)

    def _columns(self, y: Values, number: int) -> NDArray[np.intp]:
        """The column of each label, and -1 for a label that the model has never seen."""
        if self.classes is None:
            return _places(y, number)
        classes = np.asarray(self.classes)
        order = np.argsort(classes)
        places = np.searchsorted(classes, y, sorter=order).clip(0, number - 1)
        columns = order[places]
        return np.where(classes[columns] == y, columns, -1).astype(np.intp)

    def _answers(self, X: Values) -> Values:
        """All answers, asked in large blocks; where one raises, in halves, until the rows are found that raise."""
        self.questions += len(X)
        parts: list[tuple[slice, Values]] = []
        error = None
        for start in range(0, len(X), MOST):
            error = self._collect(X, slice(start, min(start + MOST, len(X))), parts) or error
        if not parts:
            obstacle = f"it raised {type(error).__name__} on every one of {len(X)} rows"
            raise ParameterError(ASKED, obstacle, "Give rows as this model takes them.") from error
        if error is None and len(parts) == 1:
            return parts[0][1]
        shape, numeric = parts[0][1].shape[1:], parts[0][1].dtype.kind in "fiub"
        if any(values.shape[1:] != shape for _, values in parts):
            obstacle = "the target gives answers of different shapes to different rows"
            raise ParameterError(ASKED, obstacle, "Give what answers every row in the same form.")
        found = np.full((len(X), *shape), np.nan if numeric else None, dtype=np.float64 if numeric else object)
        for place, values in parts:
            found[place] = values
        return found

    def _collect(self, X: Values, place: slice, parts: list[tuple[slice, Values]]) -> Exception | None:
        size = place.stop - place.start
        try:
            values = np.asarray(self.answer(X[place]))
        except Exception as error:
            if size <= 1:
                self.raised += size
                return error
            middle = place.start + size // 2
            first = self._collect(X, slice(place.start, middle), parts)
            return self._collect(X, slice(middle, place.stop), parts) or first
        if len(values.shape) not in (1, 2) or len(values) != size:
            obstacle = f"to {size} rows the target gave an array of shape {values.shape}"
            raise ParameterError(ASKED, obstacle, "Give what answers each row, in order.")
        parts.append((place, values))
        return None


def _places(labels: Values, number: int) -> NDArray[np.intp]:
    """Labels as the columns of a model that does not name them: to take others for never seen would find nothing."""
    given = np.asarray(labels)
    given = np.asarray(given.tolist()) if given.dtype.kind == "O" else given
    if given.dtype.kind not in "iub" and not (given.dtype.kind == "f" and (given == np.rint(given)).all()):
        raise _unnamed(number, "no whole numbers")
    if len(given) and not (given.min() >= 0 and given.max() < number):
        raise _unnamed(number, f"from {given.min():g} to {given.max():g}")
    return given.astype(np.intp)


def _unnamed(number: int, labels: str) -> ParameterError:
    obstacle = f"the target gives {number} probabilities without the names of classes, and the labels are {labels}"
    remedy = "Give labels 0, 1, 2 and so on, in the order of its columns, or a model with `classes_`."
    return ParameterError(ASKED, obstacle, remedy)


def _softmax_of(torch: Any, module: Any, rows: Values) -> Values:
    """The probabilities of a module, in the mode for evaluation and without gradients; its mode is kept."""
    training, some = module.training, next(iter(module.parameters()), None)
    kind = {} if some is None else {"dtype": some.dtype, "device": some.device}
    module.eval()
    try:
        with torch.no_grad():
            outputs = module(torch.as_tensor(rows, **kind)).double().cpu()
    finally:
        module.train(training)
    sums = outputs.sum(dim=-1)
    already = bool((outputs >= 0).all()) and bool(torch.allclose(sums, torch.ones_like(sums), atol=1e-5))
    return np.asarray((outputs if already else torch.softmax(outputs, dim=-1)).numpy())
