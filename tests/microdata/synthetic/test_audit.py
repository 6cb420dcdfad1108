"""Audits of what a synthetic table is made from, and of twins that cheat: each is refused by what it gives away."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.errors import UnplannedRelease
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential, TopK
from discreet.mechanisms.selection.spanning_tree import SpanningTree
from discreet.microdata.synthetic.number_cells import NumberCells, leaf_question
from discreet.microdata.synthetic.synthesis import TableAsker, TableLayout, total_of
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.questions.tables.coded_tables import TableCodes, TableDistances, coded_tables_of
from discreet.questions.tables.splits import Split, SplitScores
from discreet.releases.ask import ColumnsOf
from discreet.releases.joint_plan import JointPlan
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.microdata.synthetic.test_methods import Shown

pytestmark = pytest.mark.partial_audit("shows one fault each; the mechanisms have audits of their own")

RUNS, EPSILON = 40_000, 1.0
SCHEMA = Schema({name: Category(("u", "v")) for name in "abc"})
CODES = TableCodes.of(SCHEMA, tuple("abc"), ((),) * 3)
ONES, PAIRS = ((0,), (1,), (2,)), ((0, 1), (0, 2), (1, 2))
BEFORE = np.array([[0.0, 0, 0], [1.0, 0, np.nan]])


def answered(question: BoundedSum, rows: np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Answer:
    """The exact sum, of which many copies are released."""
    steps = np.asarray(question.total(rows) / question.grid.step, np.int64)  # type: ignore[misc]
    return Answer(steps, question.grid, question.bound, neighbors).stacked(RUNS)


def columns_of(rows: np.ndarray, seed: int) -> np.ndarray:
    """Noisy counts of all columns, many times."""
    asked = coded_tables_of(SCHEMA, tuple("abc"), ((),) * 3, ONES, "l1")
    return Laplace(1 / EPSILON).release(answered(asked, rows), DeterministicBits(seed))


def totals(counts: np.ndarray) -> np.ndarray:
    return np.array([total_of(np.split(own, 3), None) for own in counts])


def test_the_number_of_records_comes_from_what_was_paid_for() -> None:
    """It is as far apart as one noisy count for each column allows; the exact one, beside, shows every neighbor."""
    found = [columns_of(rows, seed) for seed, rows in enumerate((BEFORE, BEFORE[:1]))]
    assert judged(Laplace(1 / EPSILON).event, *map(totals, found)).holds
    exact = [np.column_stack([counts[:, 0], np.full(RUNS, n)]) for counts, n in zip(found, (2.0, 1.0), strict=True)]
    assert not judged(Laplace(1 / EPSILON).event, *exact).holds


def test_noise_that_two_margins_share_shows_their_difference() -> None:
    """The record that is taken away is counted as v in the first column and as u in the second."""
    honest = [columns_of(rows, 3 + seed) for seed, rows in enumerate((BEFORE, BEFORE[:1]))]
    assert judged(Laplace(1 / EPSILON).event, *(own[:, [1, 4]] for own in honest)).holds
    asked = coded_tables_of(SCHEMA, tuple("abc"), ((),) * 3, ONES, "l1")
    shared = []
    for counts, rows in zip(honest, (BEFORE, BEFORE[:1]), strict=True):
        exact = asked.total(rows)  # type: ignore[misc]
        noise = counts[:, :3] - exact[:3]
        both = exact + np.hstack([noise] * 3)
        shared.append(both[:, [1]] - both[:, [4]])
    assert not judged(Laplace(1 / EPSILON).event, *shared).holds


def scores(row: list[float], neighbors: Neighbors) -> Answer:
    """Of one record: what it has makes the first table right, or the two others."""
    expected = np.zeros((3, 3, 3))
    expected[0, 0, 0] = expected[1, 1, 1] = expected[2, 1, 1] = 1.0
    asked = TableDistances(CODES, PAIRS, expected.ravel(), np.ones(3), np.zeros(3))
    return asked.answer(Shown(np.array([row]), neighbors)).stacked(RUNS)  # type: ignore[arg-type]


@pytest.mark.parametrize("chooser", [SpanningTree(2 * EPSILON, nodes=3), TopK(EPSILON, 1), Exponential(EPSILON)])
def test_a_choice_of_tables_costs_its_price_where_records_are_replaced(chooser: Any) -> None:
    """A record that becomes another moves a distance by two: a twin that takes it for one is refuted."""
    both = [scores([own] * 3, Neighbors.REPLACE) for own in (0.0, 1.0)]
    assert (both[0].steps[0] != both[1].steps[0]).all()
    assert both[0].sensitivity("linf") == 2.0
    chosen = [_chosen(chooser, own, seed) for seed, own in enumerate(both)]
    assert judged(chooser.event, *chosen).holds
    cheap = [dataclasses.replace(own, neighbors=Neighbors.ADD_REMOVE) for own in both]
    assert cheap[0].sensitivity("linf") == 1.0
    chosen = [_chosen(chooser, own, seed) for seed, own in enumerate(cheap)]
    assert not judged(chooser.event, *chosen).holds


def _chosen(chooser: Any, answer: Answer, seed: int) -> np.ndarray:
    """What was chosen, as one number."""
    found = np.asarray(chooser.release(answer, DeterministicBits(seed))).reshape(RUNS, -1)
    return np.asarray(found @ 3.0 ** np.arange(found.shape[1]))


def test_a_choice_of_a_level_costs_its_price() -> None:
    """Of splits of a column; a twin that takes a score for half as sensitive is refuted by one record.

    Its class is rare: it makes one split tell the classes apart by almost one more, and the other by almost one less.
    """
    own = {"age": Category(("young", "old")), "town": Category(("a", "b")), "ill": Category(("no", "yes"))}
    codes = TableCodes.of(Schema(own), tuple(own), ((),) * 3)
    kinds = [([1.0, 0, 0], 100), ([1.0, 1, 0], 850), ([1.0, 1, 1], 45), ([0.0, 1, 1], 5), ([0.0, 0, 1], 1)]
    rows = np.repeat([kind for kind, _ in kinds], [n for _, n in kinds], axis=0)
    asked = SplitScores(codes, 2, (Split(0, 0, 1, 3), Split(1, 0, 1, 3)))
    both = [asked.answer(Shown(some, Neighbors.ADD_REMOVE)).stacked(RUNS) for some in (rows, rows[:-1])]  # type: ignore[arg-type]
    for price, holds in ((EPSILON, True), (2 * EPSILON, False)):
        chosen = [_chosen(Exponential(price), some, seed) for seed, some in enumerate(both)]
        assert judged(Exponential(EPSILON).event, *chosen).holds == holds


NUMBER = Schema({"x": Number(0, 63, step=1)})
VALUES = np.array([[0.0], [31.0], [63.0]])


def test_the_cells_of_a_number_come_from_what_was_paid_for() -> None:
    """Where they begin is as far apart as noisy counts allow; where exact counts decide it, a neighbor is seen."""
    asked, runs = leaf_question(NUMBER, "x", "l1"), 2000
    noise = Laplace(1 / EPSILON)

    def edges(counts: np.ndarray) -> np.ndarray:
        made = NumberCells.of(NUMBER.number("x"), counts, 3 * math.sqrt(2), 2, "l1").edges
        return np.array([made[1], len(made)])

    honest, exact = [], []
    for seed, rows in enumerate((VALUES, VALUES[:2])):
        answer = dataclasses.replace(answered(asked, rows), steps=answered(asked, rows).steps[:runs])
        released = noise.release(answer, DeterministicBits(seed))
        honest.append(np.array([edges(own) for own in released]))
        exact.append(np.array([edges(answer.grid.values(answer.steps[0]))] * runs))
    assert judged(noise.event, *honest).holds
    assert not judged(noise.event, *exact).holds


def test_cells_that_nobody_paid_for_are_refused() -> None:
    """A plan without the counts of cells is refused by its permit."""
    data = PrivateData.of({"x": VALUES[:, 0]}, NUMBER, Budget(9.0))
    layout = TableLayout(NUMBER, ("x",), 4, True, True)
    of = ColumnsOf(data, ("x",), budget=Budget(1.0), key=None)
    paid = JointPlan((Laplace(2.0), Laplace(2.0)))
    with data.permit(paid.event, "test") as permit:
        TableAsker.counted(permit, of, layout, paid.mechanisms)
    with pytest.raises(UnplannedRelease), data.permit(Laplace(4.0).event, "test") as permit:
        TableAsker.counted(permit, of, layout, (Laplace(2.0),))
