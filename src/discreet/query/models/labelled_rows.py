"""Records in files as a model takes them: its features in its order, and their labels as it names them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import instead_of
from discreet.core.errors import ParameterError
from discreet.trust.sources.csv_file import RFC4180, CsvForm, csv_batches
from discreet.trust.sources.file import column_names, files_at, is_parquet, parquet_batches

ASKED = "records for a model"
YES, NO = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")
Values = NDArray[Any]


@dataclass(frozen=True)
class LabelledRows:
    """Features and labels of the records of one file, in its order."""

    X: Values = field(repr=False)
    y: Values = field(repr=False)


@dataclass(frozen=True)
class ModelRecords:
    """What a model takes from files of records.

    Parameters
    ----------
    model : object
        With `feature_names_in_` or `n_features_in_`, if it knows them.
    features : tuple of str
        The columns of the files that it takes, in its order.
    target : str
        The column of labels.
    texts : frozenset of str
        The features that are not numbers.
    """

    model: Any
    features: tuple[str, ...]
    target: str
    texts: frozenset[str] = frozenset()

    @property
    def asked(self) -> Any:
        """The model as arrays of rows are put to it; one that knows its features by name gets data frames."""
        return _Named(self) if self._framed else self.model

    @property
    def _framed(self) -> bool:
        return hasattr(self.model, "feature_names_in_") and importlib.util.find_spec("pandas") is not None

    def frame(self, rows: Values) -> Any:
        """Rows as the model was given them: a data frame with the names of its features, or an array."""
        if not self._framed:
            return rows
        import pandas

        columns = zip(self.features, rows.T, strict=True)
        kinds = {name: column.astype(object if name in self.texts else np.float64) for name, column in columns}
        return pandas.DataFrame(kinds)

    @property
    def fitted(self) -> Callable[[Values, Values], Any] | None:
        """A function that trains another model of the same kind on other records; none, if it cannot be trained."""
        if not (hasattr(self.model, "get_params") and hasattr(self.model, "fit")):
            return None
        from sklearn.base import clone

        def fit(X: Values, y: Values) -> Any:
            again = clone(self.model).fit(self.frame(X), y)
            return ModelRecords(again, self.features, self.target, self.texts).asked

        return fit


class _Named:
    """A model behind the names of its features."""

    def __init__(self, records: ModelRecords) -> None:
        self._records, model = records, records.model
        self.classes_, self.receipt_ = getattr(model, "classes_", None), getattr(model, "receipt_", None)
        for name in ("predict_proba", "predict", "apply"):
            if hasattr(model, name):
                setattr(self, name, self._through(getattr(model, name)))
        if hasattr(model, "tree_"):
            self.tree_ = model.tree_

    def _through(self, method: Callable[[Any], Any]) -> Callable[[Values], Any]:
        return lambda rows: method(self._records.frame(rows))


def read_labelled(
    model: Any, members: str, others: str, target: str | None = None, form: CsvForm = RFC4180
) -> tuple[ModelRecords, LabelledRows, LabelledRows]:
    """Members and others as the model takes them.

    Parameters
    ----------
    model : object
        A fitted model.
    members, others : str
        CSV or Parquet files with the same columns.
    target : str, optional
        The column of labels; by default the one that the model does not take.
    form : CsvForm
        How CSV files are written.

    Raises
    ------
    ParameterError
        The files differ in columns, or the model takes others, or knows no label of theirs.
    """
    there = _same_columns(members, others, form)
    label = _target(model, there, target)
    features = _features(model, there, label)
    found = [_read(path, (*features, label), form) for path in (members, others)]
    texts = frozenset(name for name in features if not all(_is_number(one[name]) for one in found))
    numbers = {name: (name not in texts) for name in features}
    inside, outside = (_side(one, numbers, _labels(model, one[label])) for one in found)
    _check_labels(model, inside.y, label)
    return ModelRecords(model, features, label, texts), inside, outside


def _same_columns(members: str, others: str, form: CsvForm) -> tuple[str, ...]:
    first, second = (column_names(path, form) for path in (members, others))
    if set(first) != set(second):
        only = [sorted(set(one) - set(other)) for one, other in ((first, second), (second, first))]
        obstacle = f"members and others differ in columns: {', '.join(map(repr, only[0] + only[1]))[:200]}"
        raise ParameterError(ASKED, obstacle, "Give files with the same columns.", columns=tuple(only[0] + only[1]))
    return first


def _target(model: Any, there: Sequence[str], target: str | None) -> str:
    if target is not None:
        if target not in there:
            raise ParameterError(ASKED, f"there is no column {target!r:.80}", instead_of(target, there))
        return target
    named = getattr(model, "feature_names_in_", None)
    left = [name for name in there if named is not None and name not in set(named)]
    if named is None and getattr(model, "n_features_in_", None) == len(there) - 1:
        left = [there[-1]]
    if len(left) != 1:
        raise ParameterError(ASKED, "which column has the labels is not said", "Give --target COLUMN.")
    return left[0]


def _features(model: Any, there: Sequence[str], label: str) -> tuple[str, ...]:
    named = getattr(model, "feature_names_in_", None)
    features = tuple(str(name) for name in named) if named is not None else tuple(n for n in there if n != label)
    missing = [name for name in features if name not in there]
    number = getattr(model, "n_features_in_", len(features))
    if missing or number != len(features):
        lack = f"{missing[0]!r:.80} among them, is not there" if missing else f"the files have {len(features)}"
        raise ParameterError(ASKED, f"the model takes {number} features; {lack}", "Give the columns it was trained on.")
    return features


def _read(path: str, names: Sequence[str], form: CsvForm) -> dict[str, Any]:
    """Some columns, as Arrow has them: bytes of CSV files, values of Parquet files."""
    files, there = files_at(path), column_names(path, form)
    if is_parquet(files[0]):
        batches = list(parquet_batches(files, names))
    else:
        batches = list(csv_batches(files, [there.index(name) for name in names], form))
    return {name: [batch.columns[place] for batch in batches] for place, name in enumerate(names)}


def _side(found: dict[str, Any], numbers: dict[str, bool], y: Values) -> LabelledRows:
    columns = [(_numbers if number else _texts)(found[name]) for name, number in numbers.items()]
    kind = np.float64 if all(numbers.values()) else object
    X = np.empty((len(y), len(columns)), dtype=kind)
    for place, column in enumerate(columns):
        X[:, place] = column
    return LabelledRows(X, y)


def _plain(chunks: Sequence[Any]) -> list[Any]:
    """The values of a column: bytes as text, empty ones as None."""
    values = [value for chunk in chunks for value in chunk.to_pylist()]
    texts = [value.decode(errors="replace").strip() if isinstance(value, bytes) else value for value in values]
    return [None if text == "" else text for text in texts]


def _is_number(chunks: Sequence[Any]) -> bool:
    try:
        _numbers(chunks)
    except (TypeError, ValueError):
        return False
    return True


def _numbers(chunks: Sequence[Any]) -> Values:
    """Numbers, nan where none is given; a chunk at a time, so that texts of one alone are in memory."""
    parts = [np.array([np.nan if one is None else float(one) for one in _plain([chunk])]) for chunk in chunks]
    return np.concatenate([np.empty(0), *parts])


def _texts(chunks: Sequence[Any]) -> Values:
    return np.array(_plain(chunks), dtype=object)


def _labels(model: Any, chunks: Sequence[Any]) -> Values:
    """Labels as the model names its classes; numbers, if it names none and all are numbers."""
    named = getattr(model, "classes_", None)
    classes = np.asarray(() if named is None else named)
    if classes.dtype.kind == "b":
        texts = [str(one).lower() for one in _plain(chunks)]
        return np.array([text in YES if text in (*YES, *NO) else None for text in texts], dtype=object)
    if classes.dtype.kind in "OUS" and len(classes) and isinstance(classes.flat[0], str):
        return np.array([str(one) for one in _plain(chunks)])
    return _numbers(chunks) if _is_number(chunks) else np.array([str(one) for one in _plain(chunks)])


def _check_labels(model: Any, y: Values, label: str) -> None:
    classes = getattr(model, "classes_", None)
    if classes is not None and not np.isin(y.astype(str), np.asarray(classes).astype(y.dtype).astype(str)).any():
        obstacle = f"no label in the column {label!r:.80} is one of the model's {len(classes)} classes"
        raise ParameterError(ASKED, obstacle, "Give --target COLUMN, with the labels that it was trained on.")
