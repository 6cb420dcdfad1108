"""Any bounded sum, asked about every group of the records at once."""

from __future__ import annotations

import dataclasses

import numpy as np

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.formula import Formula, Tally, row_after_row
from discreet.core.grid import Array, Steps
from discreet.questions.columns.total import count_of
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import MOST_NUMBERS, Recipe, recipe
from discreet.questions.tables.cells import ascending
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.domain import SPELT_OUT, Codes, Domain
from discreet.schema.schema import Schema

ASKED = "groups"


def grouped(question: BoundedSum, groups: Domain, schema: Schema) -> BoundedSum:
    """A sum in every group, as one sum of as many times the numbers, group after group.

    A record is in one group, and adds there what it adds to the sum without groups: the bound stays what it is, and all
    groups together cost what one does.
    """
    if question.recipe is None:
        raise ParameterError(ASKED, "the question has no recipe", "Build it with a function that is marked as one.")
    edges = tuple(() if axis is None else tuple(axis.tolist()) for axis in groups.edges)
    return grouped_of(schema, groups.columns, edges, question.recipe.written())


def counted(domain: Domain, schema: Schema) -> BoundedSum:
    """How many records are in each cell of some columns."""
    if domain.named:
        return grouped(count_of(schema, None), domain, schema)
    return contingency_of(schema, domain.columns, domain.bins)


@recipe("grouped")
def grouped_of(schema: Schema, by: tuple[str, ...], edges: tuple[tuple[float, ...], ...], inner: str) -> BoundedSum:
    """The sum that a recipe makes of the records in each cell of some columns.

    Parameters
    ----------
    by : tuple of str
        Public. The columns that make the groups. A record without a value in one of them is in none.
    edges : tuple of tuples of float
        Public. The ends of each number's cells, ascending, of which the last belongs to the last cell; none for a
        category. What is outside is in no group.
    inner : str
        Public. A recipe of this library, as it is written.
    """
    question = question_of(Recipe.read(inner), schema)
    domain = _domain(schema, by, edges)
    columns = tuple(dict.fromkeys((*question.columns, *by)))
    own, width, size = [columns.index(name) for name in by], len(question.columns), question.size
    if domain.size * size > MOST_NUMBERS:
        obstacle = f"there are {domain.size} of them with {size} numbers each"
        raise ParameterError(ASKED, obstacle, f"Ask for at most {MOST_NUMBERS} numbers: for fewer groups.")
    total = question.total

    def codes(records: Array) -> Codes:
        """The group of each record; the number of groups, if it is in none."""
        return domain.inside(records[:, own])

    def of(records: Array) -> Array:
        added = np.zeros((len(records), domain.size, size))
        places = codes(records)
        there = np.flatnonzero(places < domain.size)
        added[there, places[there]] = question.of(records[there, :width])
        return added.reshape(len(records), domain.size * size)

    def fused(records: Array) -> Steps:
        assert total is not None
        places = codes(records)
        order = np.argsort(places, kind="stable")
        inside = np.ascontiguousarray(records[order, :width])
        ends = np.searchsorted(places[order], np.arange(domain.size + 1))
        sums = np.zeros((domain.size, size), dtype=np.int64)
        for group in np.flatnonzero(np.diff(ends)).tolist():
            sums[group] = total(inside[ends[group] : ends[group + 1]])
        return sums.ravel()

    return BoundedSum(
        of,
        _alone(question.bound, size),
        columns,
        question.grid,
        None if total is None else fused,
        tally=_tally(question, domain, own),
    )


def _domain(schema: Schema, by: tuple[str, ...], edges: tuple[tuple[float, ...], ...]) -> Domain:
    schema.values(by)
    if len(edges) != len(by):
        raise ParameterError(ASKED, f"there are {len(edges)} edges for {len(by)} columns", "Give one for each.")
    return Domain(by, tuple(_axis(schema, *each) for each in zip(by, edges, strict=True)))


def _axis(schema: Schema, name: str, edges: tuple[float, ...]) -> tuple[str, ...] | Array:
    if not edges:
        return schema.category(name).values
    schema.number(name)
    return ascending(name, edges)


def _alone(bound: Bound, size: int) -> Bound:
    """The bound in a norm in which a vector that is zero elsewhere is as long; one number is as long in all norms."""
    return dataclasses.replace(bound, norm="l1") if bound.norm == "linf" and size == 1 else bound


def _tally(question: BoundedSum, domain: Domain, own: list[int]) -> Tally | None:
    if question.tally is None or max(domain.bins) > SPELT_OUT:
        return None
    places = [
        Formula.category(place) if edges is None else _place_inside(Formula.column(place), edges)
        for place, edges in zip(own, domain.edges, strict=True)
    ]
    tally = question.tally
    cell = row_after_row([*zip(places, domain.shape, strict=True), (tally.cell, tally.cells)])
    return dataclasses.replace(tally, cell=cell, cells=tally.cells * domain.size)


def _place_inside(number: Formula, edges: Array) -> Formula:
    """The cell of a number between the first and the last of these edges."""
    inside = number.between(float(edges[0]), float(edges[-1]))
    return number.place_among(edges[1:-1]).where(inside)
