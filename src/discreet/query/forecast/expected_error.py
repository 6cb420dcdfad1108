"""How far off an answer would be: as it says itself, or by how much repeated answers miss the one without noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.microdata.synthetic.synthetic_table import SyntheticTable
from discreet.microdata.utility.utility_report import utility_report
from discreet.query.forecast.planned_question import ASKED, PlannedQuestion
from discreet.query.forecast.practice import Practice, PracticeLedger
from discreet.query.forecast.stand_in import CORRELATED, Shape
from discreet.query.report import Report
from discreet.releases.columns import Series
from discreet.releases.release import Release
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table

SIMULATED, CHANGED = "simulated: root mean square", "simulated: predictions that change"
NOBODY = "no group would be named"
APART, COUNTED, HELD = "simulated: distance, 0 to 1", "counted", "MiB, about"
WIDTHS = "columns", "pairs", "three columns"
COPIES_HELD = 4  # of all cells and records, while a table is made
NOISELESS = 30.0  # times the epsilon, for an answer that simulated ones are compared with
RUNS, MOST_RUNS = 3, 48  # answers for each shape of the records; where widths differ, two of each table at least
SELDOM = 2.0  # standard deviations: a table in twenty is farther off
SURE = 0.03  # the standard error of their mean that is sought, as a part of it


@dataclass(frozen=True)
class ExpectedError:
    """The error of one figure, by the shape of the records.

    Parameters
    ----------
    what : str
        The figure.
    basis : str
        The answer's own interval, of which an error is half the width; or a simulation, and what it measures.
    errors : tuple of float
        For each shape that the records may have: those whose columns are correlated first.
    chance : float
        How far it differs between tables of one shape and of so many records: a standard deviation, as a part of it.
    """

    what: str
    basis: str
    errors: tuple[float, ...]
    chance: float = 0.0

    @property
    def error(self) -> float:
        """In the middle of the shapes whose columns are correlated."""
        return float(np.median(self.errors[: len(CORRELATED)]))

    @property
    def low(self) -> float:
        """For the shape that suits it best, and one of the tables of it where chance does."""
        return min(self.errors) * max(1 - SELDOM * self.chance, 0.0)

    @property
    def high(self) -> float:
        """For the shape that suits it worst, and one of the tables of it where chance does not."""
        return max(self.errors) * (1 + SELDOM * self.chance)


@dataclass(frozen=True)
class Tried:
    """What a question costs, and the errors of its figures."""

    event: Event
    errors: tuple[ExpectedError, ...]


def tried(question: PlannedQuestion, practice: Practice, budget: Budget) -> Tried:
    """Put a question to made-up records of every shape."""
    data = practice.opened(Shape.BELL)
    first = question.ask(data, budget)
    assert isinstance(data.ledger, PracticeLedger)
    if isinstance(first, SyntheticTable):
        return Tried(data.ledger.event, _apart(question, practice, budget))
    event, stated = data.ledger.event, [_stated(question.name, first)]
    unnamed = isinstance(first, Table) and not len(first)
    if not stated[0] and not unnamed:
        return Tried(event, (_simulated(question, practice, budget),))
    names: dict[str, None] = {}
    for seed in range(MOST_RUNS):
        names = dict.fromkeys(name for each in stated for name in each)
        each = [errors for name in names for errors in _by_shape(stated, name)]
        enough = max(RUNS, 2 * practice.tables) if any(max(errors) > min(errors) for errors in each) else RUNS
        if seed >= enough and all(map(_is_sure, each)):
            break
        shapes, table = [*Shape][1:] if seed == 0 else Shape, seed % practice.tables
        answers = [question.ask(practice.opened(shape, seed, table), budget) for shape in shapes]
        stated += [_stated(question.name, answer) for answer in answers]
    basis = f"{100 * getattr(first, 'confidence', CONFIDENCE):g}% interval"
    if not names:
        return Tried(event, (ExpectedError(question.name, NOBODY, (math.nan,)),))
    by_shape = {name: _by_shape(stated, name) for name in names}
    return Tried(
        event,
        tuple(
            ExpectedError(name, basis, tuple(map(_mean, errors)), _between_tables(errors, practice.tables))
            for name, errors in by_shape.items()
        ),
    )


def _by_shape(stated: Sequence[Mapping[str, float]], name: str) -> list[list[float]]:
    """What repeated answers state of a figure, for each shape: widths of intervals may be noisy themselves."""
    shapes = [[each[name] for each in stated[place :: len(Shape)] if name in each] for place in range(len(Shape))]
    return [errors for errors in shapes if errors]


def _mean(errors: Sequence[float]) -> float:
    return float(np.mean(errors))


def _between_tables(by_shape: Sequence[Sequence[float]], tables: int) -> float:
    """The standard deviation of what tables of one shape state on average, as a part of it.

    By the analysis of variance: of the means of tables, that part which answers about one table do not explain.

    Examples
    --------
    >>> noise, table = np.repeat([-0.1, 0.1], 40), np.tile([-0.2, 0.2], 40)
    >>> [round(_between_tables([one], 4), 2) for one in (1 + noise, 1 + noise + table)]
    [0.0, 0.23]
    """
    between = within = 0.0
    tables_in_all = answers = size = 0
    for errors in by_shape:
        own = np.array(errors) / np.mean(errors)
        places = np.arange(len(own)) % tables
        means = np.bincount(places, own) / np.bincount(places)
        between += float(np.sum((means - 1) ** 2 * np.bincount(places)))
        within += float(np.sum((own - means[places]) ** 2))
        tables_in_all, answers, size = tables_in_all + len(means), answers + len(own), size + 1
    if tables < 2 or answers <= tables_in_all:
        return 0.0
    extra = between / (tables_in_all - size) - within / (answers - tables_in_all)
    return math.sqrt(max(extra, 0.0) * tables_in_all / answers)


def _is_sure(errors: Sequence[float]) -> bool:
    """Whether the mean is known well enough."""
    return float(np.std(errors)) <= SURE * math.sqrt(len(errors)) * float(np.mean(errors))


def _stated(name: str, answer: Any) -> dict[str, float]:
    """Half the width of the intervals of an answer: the median of each column, and of a report that of each figure."""
    if isinstance(answer, Report):
        found = {
            f"{each.name} of {column.name}": each.half_width for column in answer.columns for each in column.figures
        }
        bars = {f"counts of {column.name}": [bar.error for bar in column.bars] for column in answer.columns}
        return found | {title: float(np.median(errors)) for title, errors in bars.items() if errors}
    if not isinstance(answer, Release) or answer.confidence is None:
        return {}
    columns = {one.name: _widths(one) for one in answer.tabulated().series}
    found = {column: float(np.median(widths)) for column, widths in columns.items() if len(widths)}
    return {name if len(found) == 1 else f"{name}: {column}": width for column, width in found.items()}


def _widths(series: Series) -> Array:
    """Half the widths of the intervals that a column has, except where it is known exactly."""
    low, high = series.interval
    half = (high - low) / 2
    return half[np.isfinite(half) & (half > 0)]


def _simulated(question: PlannedQuestion, practice: Practice, budget: Budget) -> ExpectedError:
    """How far repeated answers are from one with hardly any noise."""
    changes, errors = False, []
    for shape in CORRELATED:
        rows = practice.records(shape, 0)
        exact = question.ask(practice.opened(shape), Budget(NOISELESS * budget.epsilon, budget.delta))
        outcome, misses = _outcome(question.name, exact, rows), []
        changes = outcome.dtype.kind not in "fiu"
        for seed in range(1, RUNS + 1):
            found = _outcome(question.name, question.ask(practice.opened(shape, seed), budget), rows)
            misses.append(np.mean(outcome != found) if changes else np.mean(np.square(outcome - found)))
        errors.append(float(np.mean(misses)) if changes else math.sqrt(float(np.mean(misses))))
    return ExpectedError(question.name, CHANGED if changes else SIMULATED, tuple(errors))


def _apart(question: PlannedQuestion, practice: Practice, budget: Budget) -> tuple[ExpectedError, ...]:
    """How far synthetic tables would be from the records, in tables of few columns; their cells, and the memory."""
    by_shape: dict[str, list[float]] = {}
    cells = []
    for shape in CORRELATED:
        own: dict[str, list[float]] = {}
        for seed in range(RUNS):
            table = question.ask(practice.opened(shape, seed), budget)
            found = utility_report(table, practice.records(shape, 0), bounds=practice.schema, target=(), random_state=0)
            for words, distance in zip(WIDTHS, found.margins["mean distance"].tolist(), strict=False):
                own.setdefault(words, []).append(distance)
            cells.append(table.cells)
        for words, distances in own.items():
            by_shape.setdefault(words, []).append(float(np.mean(distances)))
    most = float(max(cells))
    held = COPIES_HELD * 8 * (most + practice.n * len(practice.schema.columns)) / 2**20
    errors = [ExpectedError(f"{question.name}: {words}", APART, tuple(own)) for words, own in by_shape.items()]
    return (
        *errors,
        ExpectedError(f"{question.name}: cells", COUNTED, (most,)),
        ExpectedError(f"{question.name}: memory", HELD, (held,)),
    )


def _outcome(name: str, answer: Any, records: Mapping[str, Any]) -> Array:
    """What an answer comes to: numbers, or the classes that it predicts for the records."""
    if isinstance(answer, Release):
        return np.concatenate([np.ravel(one.values) for one in answer.tabulated().series])
    if isinstance(answer, BaseEstimator):
        return _learned(name, answer, records)
    raise ParameterError(
        ASKED, f"{name} gives a {type(answer).__name__}, whose error is not defined", "Ask for a release."
    )


def _learned(name: str, model: Any, records: Mapping[str, Any]) -> Array:
    """What a model makes of the records, whatever the order or the sign of its parts."""
    X = _rows(model, records)
    if is_classifier(model):
        return np.asarray(model.predict(X)).astype(str)
    if hasattr(model, "cluster_centers_"):
        return np.linalg.norm(X[:, None] - model.cluster_centers_, axis=2).min(axis=1)
    for method in ("score_samples", "predict"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X), dtype=np.float64).ravel()
    if hasattr(model, "inverse_transform"):
        return np.asarray(model.inverse_transform(model.transform(X)), dtype=np.float64).ravel()
    return np.asarray(model.transform(X), dtype=np.float64).ravel()


def _rows(model: Any, records: Mapping[str, Any]) -> Any:
    names: Sequence[str] = [str(name) for name in model.feature_names_in_]
    del model.feature_names_in_  # rows of arrays have no names
    columns = [np.asarray(records[name]) for name in names]
    mixed = any(column.dtype.kind not in "fiu" for column in columns)
    return np.column_stack([column.astype(object) for column in columns] if mixed else columns)
