"""How far a released table is from the data, for a price: noisy distances of tables of counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.grid import Array
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.microdata.utility.common_columns import CommonColumns, check_published
from discreet.questions.columns.total import count_of
from discreet.questions.question import BoundedQuestion
from discreet.questions.tables.grouped_distances import GroupedDistances
from discreet.releases.ask import Subject
from discreet.releases.columns import Columns, Series
from discreet.releases.declaration import Refusal
from discreet.releases.joint_plan import JointPlan
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, Spread, spread
from discreet.releases.statistic import OfTheseData, statistic
from discreet.releases.table import Tabular
from discreet.trust.permit import Permit

TITLE = "distances of a table"
SIZE = 0.1  # of the information that the budget pays for: the number of records, where it is secret
MEANS = {2: "all pairs", 3: "all triples"}


@dataclass(frozen=True, kw_only=True)
class TableEvaluation(Tabular):
    """Noisy distances of a released table from the data, from 0 to 1, with their intervals.

    Parameters
    ----------
    about : tuple of str
        The columns; then all pairs and all triples of them.
    distances : Series
        The share of records that would have to change so that the counts of both agree; of pairs and triples, the mean.
    skipped : mapping of str to str
        The columns that were not compared, and why.

    Examples
    --------
    >>> from discreet.microdata import synthesize
    >>> people, bounds = {"ill": ["yes", "no"] * 1000}, {"ill": ["yes", "no"]}
    >>> table = synthesize(people, bounds=bounds, epsilon=2.0)
    >>> found = evaluate_table(people, table=table, bounds=bounds, epsilon=2.0)
    >>> found.about, bool(found.distances.values[0] < 0.05)
    (('ill',), True)
    """

    about: tuple[str, ...]
    distances: Series
    skipped: Mapping[str, str] = field(default_factory=dict)

    def tabulated(self) -> Columns:
        """A row for each column, and for pairs and triples."""
        return Columns({"columns": self.about}, (self.distances,))


@statistic(
    no_by="the table has no groups: compare the columns that make them",
    no_population=Refusal("the table is compared with these data", "Leave `population` out."),
    curator="distances are no sums over records",
)
def evaluate_table(
    records: RecordsOf,
    *,
    table: Any = None,
    confidence: float = CONFIDENCE,
    **_: Unpack[OfTheseData],
) -> TableEvaluation:
    """Release how far a released table is from the data: the distances of its columns, pairs and triples.

    A distance is half the sum of the differences of shares, cell by cell: the share of records that would have to
    change. Numbers are cut into about 16 cells by the records of the table; a missing value has a cell of its own.
    Columns that the table lacks, or has in a coarser form, are skipped.

    Parameters
    ----------
    table : PublishedTable
        Public. What was released.

    Returns
    -------
    TableEvaluation
        A distance for each column, and the mean of all pairs and of all triples. Intervals hold the noise on distances
        and on the number of records. Nothing else is released.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: `Laplace` or `Gaussian` noise on the number of records,
    where it is secret, and on distances, each of which a record moves by one. Dwork, McSherry, Nissim and Smith 2006,
    Proposition 1.

    Examples
    --------
    >>> from discreet.microdata import synthesize
    >>> people = {"smokes": ["yes", "no", "no", "no"] * 500, "ill": ["yes", "no", "no", "no"] * 500}
    >>> bounds = {"smokes": ["yes", "no"], "ill": ["yes", "no"]}
    >>> table = synthesize(people, bounds=bounds, epsilon=4.0)
    >>> found = evaluate_table(people, table=table, bounds=bounds, epsilon=2.0)
    >>> found.about, bool(found.distances.high.max() < 0.1)
    (('smokes', 'ill', 'all pairs (1)'), True)
    """
    check_published(table)
    subject = records.opened()
    common = CommonColumns.of(table, subject.data.schema)
    question = _question(common, 1.0)
    plan = _plan(subject.budget.delta == 0, subject.size is None)
    joint = calibrate(JointPlan(plan), subject.budget)
    about = TITLE, common.columns, common.codes, common.shares
    with subject.data.permit(joint.event, TITLE, key=subject.key) as permit:
        made = permit.artefact(lambda: _asked(permit, subject, common, joint), about)
    reading = _DistanceReading(subject, question, joint, float(made["size"]), confidence)
    return TableEvaluation(
        name=TITLE,
        receipt=permit.receipt,
        confidence=confidence,
        about=_about(common),
        distances=reading.series(np.asarray(made["distances"])),
        skipped=common.skipped,
    )


def _groups(common: CommonColumns) -> tuple[int, ...]:
    """Each column by itself, all pairs together, and all triples."""
    singles = sum(len(axes) == 1 for axes in common.sets)
    orders = sorted({len(axes) for axes in common.sets if len(axes) > 1})
    return tuple(
        place if len(axes) == 1 else singles + orders.index(len(axes)) for place, axes in enumerate(common.sets)
    )


def _about(common: CommonColumns) -> tuple[str, ...]:
    singles = [name for name, axes in zip(common.names, common.sets, strict=True) if len(axes) == 1]
    numbers = {order: sum(len(axes) == order for axes in common.sets) for order in MEANS}
    return (*singles, *(f"{MEANS[order]} ({number})" for order, number in numbers.items() if number))


def _question(common: CommonColumns, n: float) -> GroupedDistances:
    return GroupedDistances(common.codes, common.sets, _groups(common), common.shares * n)


def _plan(pure: bool, secret: bool) -> tuple[Any, ...]:
    """The noise on the number of records, where it is secret, and on distances, at a price of 1."""
    shares = (SIZE, 1 - SIZE) if secret else (1.0,)
    return tuple(Laplace(1 / share) if pure else Gaussian(1 / math.sqrt(2 * share)) for share in shares)


def _asked(permit: Permit, subject: Subject, common: CommonColumns, joint: JointPlan) -> dict[str, Any]:
    """The number of records, and the distances from a table of as many."""
    n = float(subject.size or 0)
    if subject.size is None:
        n = float(permit.ask(count_of(subject.schema, None), joint.mechanisms[0])[0])
    n = min(max(n, 1.0), 2.0**39)
    return {"size": n, "distances": permit.ask(_question(common, n), joint.mechanisms[-1])}


@dataclass(frozen=True)
class _DistanceReading:
    """Reads distances off a release: post-processing."""

    subject: Subject
    question: GroupedDistances
    joint: JointPlan
    n: float
    confidence: float

    @property
    def _spreads(self) -> list[Spread]:
        size: list[BoundedQuestion] = [count_of(self.subject.schema, None)] if self.subject.size is None else []
        asked = [*size, self.question]
        pairs = zip(asked, self.joint.mechanisms, strict=True)
        return [spread(self.subject.data, question, noise) for question, noise in pairs]

    def series(self, released: Array) -> Series:
        """Shares of records, with intervals.

        If the number of records is taken wrong by d, half the sum of the differences of shares is wrong by d / (2 n) at
        most, n being what it was taken for. So the half-widths of both noises add up, each at half of what the
        confidence leaves.
        """
        whole = 2 * self.n * self.question.weights
        levels = 1 - (1 - self.confidence) / len(self._spreads)
        parts = [one.half_width([1.0], levels) for one in self._spreads]
        halves = (parts[-1] + self.question.weights * sum(parts[:-1])) / whole
        errors = np.sqrt(self._spreads[-1].stddev ** 2 + sum(one.stddev**2 for one in self._spreads[:-1])) / whole
        values = np.clip(released / whole, 0.0, 1.0)
        low, high = (np.clip(released / whole + sign * halves, 0.0, 1.0) for sign in (-1, 1))
        return Series("distance", values, errors, low, high)
