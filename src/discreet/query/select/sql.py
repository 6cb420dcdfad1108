"""Private statistics in SQL: parsed, checked against what is allowed, planned together, and paid for once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.checks import check_by_name
from discreet.core.errors import ParameterError
from discreet.query.select.privacy_options import PrivacyOptions
from discreet.query.select.selection import Selection
from discreet.query.select.shown_rows import ShownRows
from discreet.query.select.sql_from import FromReader, Tables
from discreet.query.select.sql_rows import Bounds
from discreet.query.select.sql_select import SqlSelect
from discreet.query.select.sql_text import ASKED, SqlText
from discreet.questions.tables.cells import Edges
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import ShownGroups, StatisticRows
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable
from discreet.trust.telling import telling


@dataclass(frozen=True)
class SqlStatement:
    """A statement that may be asked: what it selects, and what is done with the rows once they are released.

    Parameters
    ----------
    selection : Selection
        Public. What is paid for.
    relation : ShownGroups
        Public. What is asked, and which of the released rows are shown in which order, which is post-processing.
    purpose : str
        Public. What is written in the ledger.
    """

    selection: Selection
    relation: ShownGroups
    purpose: str

    def asked(self, key: str | None = None) -> Table:
        """Pay, release, and show."""
        return ShownRows(self.relation).of(self.selection.released(self.purpose, key))


def sql(
    data: Tables,
    text: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    edges: Edges | None = None,
    bounds: Bounds | None = None,
    most: int | None = None,
    confidence: float = CONFIDENCE,
    key: str | None = None,
) -> Table:
    """Release what a SELECT asks for, all of it at one price that is paid first.

    Parameters
    ----------
    data : PrivateData, or mapping of str to PrivateData or PublicTable
        The records; or several data sets by the names of their tables, all of the same account, and public tables.
    text : str
        Public. One SELECT of statistics (count, sum, avg, variance, stddev, min, max, median, quantile) of columns or
        of numbers that are computed from single records, with WHERE, GROUP BY, HAVING, ORDER BY and LIMIT. The last
        three see released rows alone. `WITH` and queries in FROM may choose and compute, record by record. `variance`
        and `stddev` divide by one less than the number of values, `var_pop` and `stddev_pop` by their number.
    epsilon, delta : float, optional
        Public. What it may cost in all; 1 and 0 by default. Also in the text, as BigQuery writes it:
        `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) ...`.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers in GROUP BY.
    bounds : mapping of str to (float, float), optional
        Public. Of numbers that are computed and have a name, where what follows from the schema is too wide.
    most : int, optional
        Public. The most rows that a row meets, where protected tables are joined; see `PrivateData.join`.
    confidence : float
        Public. Of each interval.
    key : str, optional
        Public. Makes a retry safe: the same question with the same key is not charged again.

    Returns
    -------
    Table
        A row for each group, a column for each statistic, with intervals and the receipt.

    Guarantee
    ---------
    The event on the receipt: that of all sums, and of naming groups that only the data know, which needs a delta.

    Examples
    --------
    >>> from discreet import Budget, PrivateData
    >>> visits = {"stay": [2.0, 4.0] * 500, "ward": ["day"] * 500 + ["icu"] * 500}
    >>> data = PrivateData.of(visits, {"stay": (0, 60), "ward": ["day", "icu"]}, Budget(9.0))
    >>> table = sql(data, "SELECT ward, count(*) AS n, avg(stay * 24) AS hours FROM visits GROUP BY ward", epsilon=9)
    >>> table.labels["ward"], bool(abs(table["hours"].values[0] - 72) < 20)
    (('day', 'icu'), True)
    """
    statement = read_sql(
        data, text, epsilon=epsilon, delta=delta, edges=edges, bounds=bounds, most=most, confidence=confidence
    )
    if not getattr(data, "elsewhere", False):
        return statement.asked(key)
    said = {"sql": text, "edges": edges, "confidence": confidence, "bounds": bounds, "most": most}
    with telling(data, {name: one for name, one in said.items() if one is not None}, statement.selection.budget):
        return statement.asked(key)


def read_sql(
    data: Tables,
    text: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    edges: Edges | None = None,
    bounds: Bounds | None = None,
    most: int | None = None,
    confidence: float = CONFIDENCE,
) -> SqlStatement:
    """The same without asking it: refused here, if it may not be asked."""
    check_by_name(ASKED, "bounds", bounds or {})
    for one in data.values() if isinstance(data, Mapping) else (data,):
        if not isinstance(one, PrivateData | PublicTable):
            raise ParameterError(ASKED, f"a {type(one).__name__} is no table", "Give PrivateData, or tables by name.")
    plain, said = PrivacyOptions.read(text)
    budget, statement = said.budget(epsilon, delta), SqlText(plain)
    node = statement.parsed()
    try:
        rows = FromReader(statement, data, dict(bounds or {}), most, said.max_groups_contributed).rows(node)
        said.check_unit(rows.data)
        shown = SqlSelect(statement, node, rows, said.max_groups_contributed).read(budget, edges)
        assert isinstance(shown.of, StatisticRows)
        selection = Selection.read(rows.data, shown.of, budget, confidence)
    except RecursionError:
        obstacle = "too many operations are inside one another"
        raise ParameterError(ASKED, obstacle, "Write IN for many values, or less in one statement.") from None
    said.check_contributed(rows.data, bool(selection.by))
    return SqlStatement(selection, shown, " ".join(node.sql(dialect="duckdb").split()))


def is_sql(text: str) -> bool:
    """Whether a question is in SQL, and not in words.

    Examples
    --------
    >>> is_sql("SELECT count(*) FROM visits"), is_sql("with v as (select 1) select 2"), is_sql("mean of age")
    (True, True, False)
    """
    return [word.lower() for word in text.split(None, 1)[:1]] in (["select"], ["with"])
