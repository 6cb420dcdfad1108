"""Tables in which everybody is one of k, without a promise."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from discreet.core.checks import check_one_of, check_positive, instead_of, names_of, shown
from discreet.core.errors import ParameterError, SchemaError
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel, Diversity
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.lattice import Lattice
from discreet.mechanisms.microdata.mondrian import Mondrian
from discreet.microdata.anonymity.hierarchies import Hierarchy
from discreet.microdata.anonymity.range_texts import ranged, scale_of
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.waived_table import gives_away, waived_table
from discreet.schema.roles import Roles
from discreet.schema.schema import Category, Column, Number, Schema, Text
from discreet.trust.private_data import PrivateData

TITLE = "anonymous table"
METHODS = ("mondrian", "lattice")
MOST_NODES = 2**20  # combinations of levels that are looked through
KEPT = "The waiver is on record; nothing was released but this message."


@gives_away
def anonymize(
    data: PrivateData,
    roles: Mapping[str, str] | Roles,
    *,
    k: int,
    l: float | None = None,  # noqa: E741
    diversity: Diversity = "distinct",
    c: float | None = None,
    t: float | None = None,
    method: str = "mondrian",
    hierarchies: Mapping[str, Sequence[Any]] | None = None,
    suppression: float = 0.0,
    ordered: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> PublishedTable:
    """Give records away such that at least k people are alike in what others may know of them: NOT PRIVATE.

    Identifying columns are left out. Quasi-identifiers are made coarser: by Mondrian into boxes, smaller where there
    are more records; by the lattice to one level of a hierarchy for all records. All other columns are given away as
    they are. Rows are in no order of the original. A missing value is a value of its own, never one that fits all.

    No model is a promise; `AnonymityModel` says what breaks each of them. k-anonymity is broken where all of a class
    have one sensitive value, l-diversity where its values are rare or alike, t-closeness by whoever knows some records;
    all by whoever knows how the table was made (minimality), and by a second table of the same people (composition).
    `discreet.synthesize` keeps a promise.

    Parameters
    ----------
    data : PrivateData
        The records, with a curator. Where a person has up to m rows, classes have at least k m of them; l and t are
        about rows.
    roles : mapping of str to str, or Roles
        Public. What columns are: "identifying", "quasi-identifier", "sensitive" or "other", which is the default.
    k : int
        Public. The least number of people in a class.
    l : float, optional
        Public. l-diversity of each sensitive column.
    diversity : {"distinct", "entropy", "recursive"}
        Public. What l counts: different values, the entropy as that of l equally frequent values, or by
        (c, l)-diversity.
    c : float, optional
        Public. Of recursive (c, l)-diversity: the most frequent value occurs less than c times as often as the l-th
        most frequent and all rarer ones together.
    t : float, optional
        Public. t-closeness of each sensitive column.
    method : {"mondrian", "lattice"}
        Public. See `Mondrian` and `Lattice` of mechanisms.microdata.
    hierarchies : mapping of str to sequences, optional
        Public. Of the lattice, level by level from fine to coarse: widths of intervals for a number, some of "hour",
        "day", "month", "quarter", "year" and "decade" for a time, and for a category mappings of groups to their
        values. A column as it is, and one value for all, are levels of every hierarchy.
    suppression : float
        Public. The share of records that the lattice may leave out, below 1.
    ordered : sequence of str
        Public. Sensitive categories whose list is in an order, so that the distance of two values is that of their
        places; numbers are in order by themselves.

    Returns
    -------
    PublishedTable
        The records. Its `notes` say, for the lattice, the levels, the loss, and how many records were left out.

    Raises
    ------
    NotPermitted
        There is no waiver, or nobody holds all records.
    SchemaError
        No column is a quasi-identifier, or a hierarchy does not fit.
    ParameterError
        The parameters cannot be met; or no table meets them, which is known only after the records were read.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.budget import Budget
    >>> people = {"age": np.arange(20, 60), "ill": ["flu", "cold"] * 20}
    >>> data = PrivateData.of(people, {"age": Number(0, 120, step=1), "ill": ["flu", "cold"]}, Budget(1.0))
    >>> roles = {"age": "quasi-identifier", "ill": "sensitive"}
    >>> table = anonymize(data, roles, k=10, l=2, waiver="made-up people")
    >>> sorted(set(table["age"]))
    ['[0, 30)', '[30, 40)', '[40, 50)', '[50, 120]']
    """
    model = AnonymityModel(k, l, diversity, c, t)
    own = Roles(roles).checked(TITLE, data.schema)
    plan = AnonymityPlan(data.schema, own, model, names_of(ordered))
    plan.check(data.public_size, data.unit.rows)
    mechanism: Mondrian | Lattice = plan.mondrian
    check_method(method, hierarchies, suppression)
    if method == "lattice":
        plan = plan.with_hierarchies({} if hierarchies is None else hierarchies)
        mechanism = plan.lattice(float(suppression))
    found = waived_table(data, TITLE, plan.columns, mechanism, plan.schema_of, waiver=waiver, key=key)
    if "near" in found.notes:
        remedy = "Ask for a smaller k or l, a greater c or t, or leave out more records."
        raise ParameterError(TITLE, f"no table meets {model.described}: {found.notes['near']}", remedy, KEPT)
    return _in_order(found, data.schema, plan.roles.quasi_identifiers)


def check_method(method: object, hierarchies: Mapping[str, Any] | None, suppression: float) -> None:
    """Refuse a method that there is not, and what the lattice alone takes."""
    check_one_of(TITLE, "method", method, METHODS)
    check_positive(TITLE, "suppression", suppression, least=0.0, most=1 - 2.0**-20)
    if hierarchies is not None and not isinstance(hierarchies, Mapping):
        raise ParameterError(TITLE, f"hierarchies is {shown(hierarchies)}", 'Give a mapping: {"age": (5, 10)}.')
    if method == "mondrian" and (hierarchies or suppression):
        what = "hierarchies" if hierarchies else "suppression"
        remedy = f'Ask for method="lattice", or leave out {what}.'
        raise ParameterError(TITLE, f"Mondrian cuts by itself, and {what} is given", remedy)


@dataclass(frozen=True)
class AnonymityPlan:
    """What is asked, all of it public: checked before anything is charged.

    Parameters
    ----------
    schema : Schema
        Of the data.
    roles : Roles
        Of its columns.
    model : AnonymityModel
        What classes fulfil.
    ordered : tuple of str
        Sensitive categories whose values have an order.
    hierarchies : mapping of str to Hierarchy, optional
        Of quasi-identifiers, for the lattice.
    """

    schema: Schema
    roles: Roles
    model: AnonymityModel
    ordered: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that are given away, quasi-identifiers first."""
        first = self.roles.quasi_identifiers
        return *first, *(name for name in self.roles.given_away(self.schema.columns) if name not in first)

    @property
    def sensitive(self) -> tuple[tuple[int, bool], ...]:
        """The places of sensitive columns, and whether their order says how near values are."""
        return tuple(
            (self.columns.index(name), isinstance(self.schema.columns[name], Number) or name in self.ordered)
            for name in self.roles.sensitive
        )

    def check(self, size: int | None, rows: int) -> None:
        """Refuse what no table can meet, as far as that is public."""
        for name in self.columns:
            if isinstance(self.schema.columns[name], Text):
                remedy = "Call it identifying, or list its values; discreet.learners.buy_categories buys them."
                raise SchemaError(TITLE, f"column {name!r} is text whose values are not public", remedy, column=name)
        if self.model.looks_at_values and not self.roles.sensitive:
            remedy = 'Say which columns must not be found out: roles={"illness": "sensitive"}.'
            raise SchemaError(TITLE, f"{self.model.described} is about sensitive columns, and there is none", remedy)
        for name in self.ordered:
            if name not in self.roles.sensitive:
                remedy = instead_of(name, self.roles.sensitive) if self.roles.sensitive else "Leave it out."
                raise SchemaError(TITLE, f"{shown(name)!r} is ordered and no sensitive column", remedy)
        for name in self.roles.sensitive:
            column = self.schema.columns[name]
            if isinstance(column, Category) and (self.model.l or 0) > len(column.values) + 1:
                obstacle = f"l is {self.model.l:g} and {name!r} has {len(column.values)} values, and the missing one"
                raise ParameterError(TITLE, obstacle, f"Ask for l up to {len(column.values) + 1}.", column=name)
        if size is not None and size < self.model.k * rows:
            raise ParameterError(TITLE, f"k is {self.model.k} and there are {size} records", "Ask for a smaller k.")

    @property
    def mondrian(self) -> Mondrian:
        """Cuts the quasi-identifiers."""
        scales = tuple(scale_of(name, self.schema.columns[name]) for name in self.roles.quasi_identifiers)
        return Mondrian(self.model, scales, self.sensitive)

    def with_hierarchies(self, given: Mapping[str, Any]) -> AnonymityPlan:
        """The same with hierarchies for all quasi-identifiers."""
        names = self.roles.quasi_identifiers
        for name in given:
            if name not in names:
                obstacle = f"{shown(name)!r} has a hierarchy and is no quasi-identifier"
                raise SchemaError(TITLE, obstacle, instead_of(shown(name), names), column=name)
        made = {name: Hierarchy.of(name, self.schema.columns[name], given.get(name, ())) for name in names}
        self._check_size({name: len(one.levels.losses) for name, one in made.items()})
        return dataclasses.replace(self, hierarchies=made)

    def lattice(self, suppression: float) -> Lattice:
        """Finds the levels of the hierarchies."""
        levels = tuple(one.levels for one in (self.hierarchies or {}).values())
        return Lattice(self.model, levels, self.sensitive, suppression)

    def _check_size(self, levels: dict[str, int]) -> None:
        nodes, left = prod(levels.values()), dict(levels)
        if nodes <= MOST_NODES:
            return
        while prod(left.values()) > MOST_NODES:
            left.pop(max(left, key=lambda name: left[name]))
        out = ", ".join(name for name in levels if name not in left)
        obstacle = f"there are {nodes:,} combinations of levels, and {MOST_NODES:,} are looked through at most"
        remedy = f'Leave out {out}, give fewer levels, or ask for method="mondrian".'
        raise ParameterError(TITLE, obstacle, remedy, nodes=nodes, columns=tuple(levels))

    def schema_of(self, found: ChangedRows) -> Schema:
        """What the columns of a release are."""
        own = {name: self.schema.columns[name] for name in self.columns}
        return Schema(own if "near" in found.notes else own | self._coarser(found))

    def _coarser(self, found: ChangedRows) -> dict[str, Column]:
        if self.hierarchies is not None:
            levels = zip(self.hierarchies.items(), found.notes["levels"], found.notes["groups"], strict=True)
            return {name: one.named(level, groups) for (name, one), level, groups in levels}
        cuts = zip(self.roles.quasi_identifiers, found.notes["ranges"], strict=True)
        return {name: ranged(self.schema.columns[name], ranges) for name, ranges in cuts}


def _in_order(table: PublishedTable, schema: Schema, quasi: tuple[str, ...]) -> PublishedTable:
    """The same table with columns in the order of the schema, and levels by the names of columns."""
    names = list(table.schema.columns)
    order = sorted(range(len(names)), key=lambda place: list(schema.columns).index(names[place]))
    columns = {names[place]: table.schema.columns[names[place]] for place in order}
    notes = {name: value for name, value in table.notes.items() if name in ("left_out", "loss")}
    if "levels" in table.notes:
        notes["levels"] = dict(zip(quasi, table.notes["levels"], strict=True))
    return dataclasses.replace(table, schema=Schema(columns), records=table.records[:, order], notes=notes)
