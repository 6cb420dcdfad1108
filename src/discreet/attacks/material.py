"""What there is to attack a release with, and the attacks that can be made of it."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet.attacks.attack import Attack
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.attacks.membership.model_target import ModelTarget
from discreet.attacks.membership.references import References
from discreet.core.checks import check_whole
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.grid import Array
from discreet.schema.roles import Roles
from discreet.schema.schema import Category, Column, Schema

ASKED = "attack on a table"
OTHER_KIND = "It is for another kind of release"
DEVIATIONS = 5.0  # of a correlation, beyond which rows belong together


@dataclass(frozen=True)
class Prepared:
    """An attack, and the target in the form in which it takes it.

    Parameters
    ----------
    attack : Attack
        Made of what there is.
    target : object
        What it is run against.

    Examples
    --------
    >>> from discreet.attacks import Differencing
    >>> one = Prepared(Differencing([0, 1, 1]), lambda queries: queries @ [0, 1, 1])
    >>> one.attack.run(one.target).success
    1.0
    """

    attack: Attack
    target: Any


@dataclass(frozen=True)
class Unfit:
    """Why an attack cannot be made of what there is.

    Parameters
    ----------
    reason : str
        A sentence for the owner of the release, with what to give.

    Examples
    --------
    >>> data = MembershipData.of([[0.0], [1.0]], [0, 1], [[2.0], [3.0]], [1, 0], level=0.5)
    >>> prepared(ModelMaterial(lambda rows: rows[:, 0], data))["LiRA"]
    Unfit(reason='The model gives no probabilities, which it needs; LabelOnly needs labels alone.')
    """

    reason: str


@dataclass(frozen=True)
class ModelMaterial:
    """A model, records that it has seen and others that it has not.

    Parameters
    ----------
    model : object
        Whatever `ModelTarget.of` takes.
    data : MembershipData
        Members and others.
    columns : tuple of str
        The names of features.
    kind : str, optional
        What the model is, as the name of a class with its module; by default that of the model.
    fitted : function of rows and labels, optional
        Trains another model of the same kind, for attacks that compare.
    number : int
        How many such models are trained; without any, attacks that compare are not run.

    Examples
    --------
    >>> data = MembershipData.of([[0.0], [1.0]], [0, 1], [[2.0], [3.0]], [1, 0], level=0.5)
    >>> ModelMaterial(lambda rows: np.tile([0.5, 0.5], (len(rows), 1)), data).probabilities
    True
    """

    model: Any
    data: MembershipData
    columns: tuple[str, ...] = ()
    kind: str = ""
    fitted: Callable[[Values, Values], Any] | None = field(default=None, repr=False)
    number: int = 16

    def __post_init__(self) -> None:
        check_whole("attack on a model", "number", self.number, 0)
        own = type(self.model)
        object.__setattr__(self, "kind", self.kind or f"{own.__module__}.{own.__qualname__}")

    @cached_property
    def probabilities(self) -> bool:
        """Whether the model answers with probabilities: some records of the members are asked."""
        try:
            ModelTarget.of(self.model).probabilities(self.data.members_X[:8])
        except ParameterError:
            return False
        return True

    @cached_property
    def references(self) -> References:
        """Models of the same kind on random halves of all records, fitted once for all attacks that compare."""
        train = self.model if self.fitted is None else self.fitted
        return References.fitted(train, *self.data.rows, number=max(2, int(self.number)))

    def compared(self, make: Callable[[MembershipData, References], Attack]) -> Prepared | Unfit:
        """An attack that compares the model with references; or why there are none."""
        if not self.probabilities:
            return Unfit("The model gives no probabilities, which it needs; LabelOnly needs labels alone.")
        if self.fitted is None and not hasattr(self.model, "get_params"):
            return Unfit("It trains models like this one, and how that is done is not known: give `fitted`.")
        if self.number == 0:
            return Unfit("It trains models like this one, and --references is 0.")
        return Prepared(make(self.data, self.references), self.model)


@dataclass(frozen=True)
class TableMaterial:
    """A released table and the records that it was made of, read by one schema.

    Parameters
    ----------
    released, original : array of shape (n, columns)
        Numbers, places in the lists of categories, nan where a value is missing. Rows are in the order of the files.
    schema : Schema
        What the columns are, in their order.
    others : array of shape (n, columns), optional
        Records like the original ones, of people who are not among them.
    roles : Roles
        What the columns are to somebody who wants to recognise people.
    level : float
        The false-positive rate that is asked for, where members are told from others.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> table = TableMaterial(np.zeros((3, 1)), np.ones((2, 1)), Schema({"age": Number(0, 120)}))
    >>> table.columns, table.row_by_row
    (('age',), False)
    """

    released: Array = field(repr=False)
    original: Array = field(repr=False)
    schema: Schema
    others: Array | None = field(default=None, repr=False)
    roles: Roles = field(default_factory=Roles)
    level: float = 0.01

    def __post_init__(self) -> None:
        for name, table in (("released", self.released), ("original", self.original), ("others", self.others)):
            if table is not None and (table.ndim != 2 or not len(table) or table.shape[1] != len(self.columns)):
                obstacle = f"the table `{name}` has the shape {table.shape}, and there are {len(self.columns)} columns"
                raise ParameterError(ASKED, obstacle, "Give at least one row, and a value for each column.")

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.schema.columns)

    @cached_property
    def row_by_row(self) -> bool:
        """Whether each released row is that of one original record: as many, and columns depend row by row."""
        if len(self.released) != len(self.original):
            return False
        apart = np.roll(self.original, len(self.original) // 2, axis=0)
        own, luck = (_most_alike(self.released, table) for table in (self.original, apart))
        return own > luck + DEVIATIONS / math.sqrt(len(self.original))

    @property
    def numbers_alone(self) -> bool:
        """Whether no column is a category."""
        return not any(isinstance(column, Category) for column in self.schema.columns.values())

    def named(self, rows: Array) -> dict[str, Any]:
        """Rows as columns by name: numbers as they are, categories as texts, None where one is missing."""
        columns = zip(self.schema.columns.items(), rows.T, strict=True)
        return {name: _decoded(column, values) for (name, column), values in columns}

    def rows(self, table: Array) -> Values:
        """The same as rows of numbers and texts."""
        if self.numbers_alone:
            return table
        return np.column_stack([np.asarray(column, dtype=object) for column in self.named(table).values()])

    @cached_property
    def membership(self) -> MembershipData | Unfit:
        """The original records and the others, for attacks that tell them apart; or why there are none."""
        if self.others is None:
            return Unfit("It needs records of people who are not in the table: give --others.")
        return self.told_from(self.others)

    def told_from(self, others: Array) -> MembershipData | Unfit:
        """The original records and some of the others; or why these cannot be told apart."""
        try:
            return MembershipData.of_rows(self.rows(self.original), self.rows(others), level=self.level)
        except ParameterError as why:
            return Unfit(f"It cannot use these records: {why.obstacle}. {why.remedy}")


Material = ModelMaterial | TableMaterial


def _most_alike(first: Array, second: Array) -> float:
    """The greatest correlation of a column of one table with a column of the other; missing values are their mean."""
    ours, theirs = (_standard(table) for table in (first, second))
    return float(np.abs(ours.T @ theirs).max(initial=0.0))


def _standard(table: Array) -> Array:
    missing = np.isnan(table)
    counts = np.maximum((~missing).sum(axis=0), 1)
    centred = np.where(missing, 0.0, table - np.where(missing, 0.0, table).sum(axis=0) / counts)
    length = np.linalg.norm(centred, axis=0)
    return np.asarray(centred / np.where(length > 0, length, 1.0))


def _decoded(column: Column, values: Array) -> Any:
    if not isinstance(column, Category):
        return values
    names = np.array([*map(str, column.values), None], dtype=object)
    return names[np.where(np.isnan(values), len(column.values), values).astype(np.intp)]


def attacks() -> dict[str, type[Any]]:
    """All attacks of this room by name, found by themselves: whatever has a paper, a threat model and a run."""
    room = importlib.import_module(__package__)
    found: dict[str, type[Any]] = {}
    for module in pkgutil.walk_packages(room.__path__, f"{__package__}."):
        there = vars(importlib.import_module(module.name)).values()
        own = (one for one in there if inspect.isclass(one) and one.__module__ == module.name)
        found |= {one.__name__: one for one in own if _is_attack(one)}
    return dict(sorted(found.items()))


def _is_attack(kind: type[Any]) -> bool:
    public = not (kind.__name__.startswith("_") or getattr(kind, "_is_protocol", False))
    return public and all(hasattr(kind, name) for name in ("paper", "threat", "run"))


def prepared(material: Material, kinds: Mapping[str, type[Any]] | None = None) -> dict[str, Prepared | Unfit]:
    """Each attack made of the material by its own `fitting`, or why it cannot be.

    Examples
    --------
    >>> data = MembershipData.of([[0.0], [1.0]], [0, 1], [[2.0], [3.0]], [1, 0], level=0.5)
    >>> found = prepared(ModelMaterial(lambda rows: rows[:, 0], data))
    >>> type(found["LabelOnly"]).__name__, found["ThresholdAttack"].reason[:23]
    ('Prepared', 'The model gives no prob')
    """
    every = attacks() if kinds is None else kinds
    return {name: _fitting(kind, material) for name, kind in every.items()}


def _fitting(kind: type[Any], material: Material) -> Prepared | Unfit:
    """An attack that says nothing of this material needs another kind of release."""
    make = getattr(kind, "fitting", None)
    try:
        made = None if make is None else make(material)
    except DiscreetError as why:
        return Unfit(f"It cannot be made: {why.obstacle}. {why.remedy}")
    return made if made is not None else Unfit(f"{OTHER_KIND}: it sees {kind.threat.sees}.")
