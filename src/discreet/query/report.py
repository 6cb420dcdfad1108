"""A private profile of a table: everything is planned and paid for before the first question is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from discreet.core.budget import Budget, check_budget
from discreet.core.errors import ParameterError
from discreet.core.ledger import Balance
from discreet.core.mechanism import Mechanism
from discreet.core.progress_bar import Progress
from discreet.core.receipt import Receipt
from discreet.display.document import styled
from discreet.query.column_ask import ColumnAsk, Setting, column_ask
from discreet.query.column_profile import ColumnProfile
from discreet.query.page import fragment, page
from discreet.query.plan import QUANTILES, Plan, planned
from discreet.query.text import text
from discreet.questions.question import Question
from discreet.releases.spread import CONFIDENCE
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.telling import telling

CELLS = 32
FORMAT = 1


@dataclass(frozen=True)
class Report:
    """What was released about a table, with error bars and the receipt.

    Parameters
    ----------
    title : str
        What the table is called.
    columns : tuple of ColumnProfile
        In the order of the schema.
    budget : Budget
        What the report was allowed to cost.
    balance : Balance
        How the ledger stood after it.
    receipt : Receipt
        What was paid, for whom, under which promise.
    """

    title: str
    columns: tuple[ColumnProfile, ...]
    budget: Budget
    balance: Balance
    receipt: Receipt

    @property
    def version(self) -> str:
        """The release of this library that writes it."""
        return version("discreet")

    def to_html(self) -> str:
        """The report as a page of its own: it needs no network and runs no script."""
        return page(self)

    def to_json(self) -> str:
        """The report as JSON: every figure, every count, the receipt."""
        document = {
            "discreet.report": FORMAT,
            "version": self.version,
            "title": self.title,
            "confidence": CONFIDENCE,
            "budget": asdict(self.budget),
            "account": self.balance.to_dict(),
            "receipt": self.receipt.to_dict(),
            "columns": [_column_json(column) for column in self.columns],
        }
        return json.dumps(document, indent=2, allow_nan=False)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return styled(fragment(self))


def _column_json(column: ColumnProfile) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": type(column.kind).__name__.lower(),
        **asdict(column.kind),
        "figures": [{"name": each.name, "value": each.value, "error": each.half_width} for each in column.figures],
        "counts": [{"label": bar.label, "count": bar.count, "error": bar.error} for bar in column.bars],
    }


def profile(
    data: PrivateData,
    budget: Budget,
    *,
    bins: int = CELLS,
    quantiles: Sequence[float] = QUANTILES,
    title: str = "table",
    key: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Release a profile of every column of a table, for one price that is paid first.

    Parameters
    ----------
    data : PrivateData
        The records.
    budget : Budget
        Public. What the report may cost, in all. Its ledger decides whether that can be paid.
    bins : int
        Public. How many cells a number's histogram has.
    quantiles : sequence of float
        Public. Shares in [0, 1]. Where a curator has the records, they are found by the exponential mechanism, at about
        the price of the histogram; elsewhere, and where there are few records, they are read off the histogram.
    title : str
        Public. What the table is called; written in the ledger.
    key : str, optional
        Public. Makes a retry safe: the same report, asked again with the same key, is not charged again.
    progress : callable, optional
        Called with the number of releases done, their number in all, and what comes next.

    Returns
    -------
    Report
        For a number: count, mean, standard deviation, quantiles and a histogram. For a category: records per listed
        value. For text: records per value, for those frequent enough to be named.

    Guarantee
    ---------
    The event on the receipt, which is within the budget by the accountant's theorem. Everything that is shown is
    computed from the releases that it names.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.schema.schema import Schema
    >>> people = PrivateData.of(np.full((1000, 1), 30.0), Schema.numeric(0.0, 120.0, 1), Budget(1.0))
    >>> [figure.name for figure in profile(people, Budget(1.0)).columns[0].figures][:3]
    ['count', 'mean', 'standard deviation']
    """
    check_budget("report", budget)
    _check(bins, quantiles)
    plan = planned(data.schema, budget, data.neighbors, data.unit, len(quantiles) if data.curated else 0)
    setting = Setting(data, plan, bins, tuple(sorted(quantiles)), data.public_size)
    columns = [column_ask(setting, name) for name in data.schema.columns]
    if data.elsewhere:
        with telling(data, {"words": f"report bins={bins} quantiles={[*map(float, quantiles)]}"}, budget):
            return _released(data, budget, columns, plan, title, key, progress)
    return _released(data, budget, columns, plan, title, key, progress)


def _released(
    data: PrivateData,
    budget: Budget,
    columns: Sequence[ColumnAsk],
    plan: Plan,
    title: str,
    key: str | None,
    progress: Progress | None,
) -> Report:
    """Pay for all of it, and release it."""
    with data.permit(plan.event, f"report on {title}", key=key) as permit:
        ask = _Told(permit, sum(column.number for column in columns), progress)
        releases = [column.released(ask) for column in columns]
    if progress is not None:
        progress(ask.total, ask.total, "done")
    pairs = zip(columns, releases, strict=True)
    profiles = [column.profile(own, permit.receipt) for column, own in pairs]
    return Report(title, tuple(profiles), budget, data.ledger.balance(), permit.receipt)


class _Told:
    """Asks a permit, and tells somebody how far it is."""

    def __init__(self, permit: Permit, total: int, progress: Progress | None) -> None:
        self._permit, self._progress, self.total, self._done = permit, progress, total, 0
        permit.progress = _silent if progress is not None else permit.progress

    def __call__(self, what: str, question: Question, mechanism: Mechanism[Any]) -> Any:
        if self._progress is not None:
            self._progress(self._done, self.total, what)
        self._done += 1
        return self._permit.ask(question, mechanism)


def _silent(done: int, total: int, what: str) -> None:
    """Shows nothing, where somebody else does."""


def _check(bins: int, quantiles: Sequence[float]) -> None:
    if not isinstance(bins, int) or not 1 <= bins <= 4096:
        raise ParameterError("report", f"bins is {bins!r}", "Give a whole number from 1 to 4096.", bins=bins)
    for share in quantiles:
        if not 0 <= share <= 1:
            raise ParameterError("report", f"a quantile is {share}", "Give shares in [0, 1].", quantiles=quantiles)
