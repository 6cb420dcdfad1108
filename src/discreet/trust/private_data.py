"""A data set: records behind a trust model, with the ledger that is charged for every release."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.checks import check_by_name, check_whole, shown
from discreet.core.condition import Condition
from discreet.core.errors import DiscreetError, EngineFailure, NotPermitted, ParameterError
from discreet.core.events import DiscreteLoss, Event, NoPromise, Sampled, walked, written
from discreet.core.grid import Array
from discreet.core.ledger import Ledger
from discreet.core.mechanism import Noise
from discreet.core.neighbors import MOST_ROWS, RECORD, Neighbors, Unit, check_protected
from discreet.core.parameters import fits
from discreet.core.receipt import RELATIONS, in_words
from discreet.display.notebook import carded, facts
from discreet.display.plain import plain
from discreet.ledger.memory_ledger import account_of
from discreet.mechanisms.additive.share_of import is_shared, share_of
from discreet.questions.question import BoundedQuestion
from discreet.schema.expressed import Expressed
from discreet.schema.plain_schema import PlainSchema, schema_of
from discreet.schema.relation.limited_rows import LimitedRows
from discreet.schema.relation.per_unit import PerUnit
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.row_wise import ComputedRows, FilteredRows
from discreet.schema.schema import Category
from discreet.trust.curator import Curator
from discreet.trust.holder import Holder
from discreet.trust.isolation.isolated import Form
from discreet.trust.mapped_trust import MappedTrust, record_map
from discreet.trust.permit import Description, releases
from discreet.trust.public_table import PublicTable
from discreet.trust.related_tables import RelatedTables
from discreet.trust.sources.source_of import source_of
from discreet.trust.sources.weighted_rows import weighed
from discreet.trust.trust_model import Promise, TrustModel, check_ready
from discreet.trust.wrapped_trust import WrappedTrust


class InWords(Protocol):
    """What says in words what is meant."""

    @property
    def words(self) -> str: ...


class PrivateData(Holder):
    """A data set that can only be asked through its ledger.

    Parameters
    ----------
    trust : TrustModel
        Who holds the records and adds the noise.
    ledger : Ledger
        The account that is charged first. One that was opened for another relation or unit is refused.
    rows : RelatedTables or str
        What the rows are made of; or the name of the one table that the trust model holds.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.schema.schema import Schema
    >>> from discreet.statistics.moments.mean import mean
    >>> data = PrivateData.of(np.ones((1000, 1)), Schema.numeric(0.0, 2.0, 1), Budget(1.0))
    >>> bool(0.5 < mean(data, "x0", epsilon=1.0).value < 1.5)
    True
    """

    def __init__(self, trust: TrustModel, ledger: Ledger, rows: RelatedTables | str = "records") -> None:
        self._trust, self.ledger = trust, ledger
        self._given_rows = rows
        self.schema, self.neighbors, self.unit = trust.schema, trust.neighbors, trust.unit
        self.local: bool = trust.local
        """Whether every person reports by itself."""
        self.coins: bool = getattr(trust, "coins", False)
        """Whether noise is made of coins that several parties toss together."""
        self.ranged: bool = getattr(trust, "ranged", False)
        """Whether sums have to be in a range that is known beforehand."""
        self.elsewhere: bool = getattr(ledger, "elsewhere", False)
        """Whether questions are charged and answered elsewhere, where they have to be told as they were declared."""
        if self.unit.kind in ("attribute", "position"):
            obstacle = f"its questions are about whole records, and its unit is a single {self.unit.kind}"
            remedy = "Give another unit, or use a SensitiveAttribute of deep, or a MovingTable of trust."
            raise ParameterError("private data", obstacle, remedy)
        neighbors, unit = ledger.neighbors, ledger.unit
        for name, mine, theirs, alike in (
            ("neighbors", trust.neighbors, neighbors, trust.neighbors is neighbors),
            ("unit", trust.unit, unit, unit is not None and trust.unit.protects_as(unit)),
        ):
            if theirs is not None and not alike:
                raise ParameterError(
                    "private data",
                    f"its {name} is {mine} and the ledger was opened for {theirs}",
                    "One data set has one relation and one unit: use those of its ledger.",
                )

    @classmethod
    def of(
        cls,
        records: Any,
        schema: PlainSchema,
        ledger: Ledger | Budget,
        *,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        unit: Unit = RECORD,
        name: str = "records",
        bits: Bits | None = None,
    ) -> PrivateData:
        """Put records behind a curator.

        Parameters
        ----------
        records : array, data frame, mapping of arrays, path, DuckDB relation, (connection, query), Spark frame, Source
            The records. A path may be a CSV or Parquet file, a folder or a pattern; a data frame may be of pandas,
            polars or anything that speaks Arrow; Spark workers need `discreet` installed.
        schema : Schema, or mapping of str to columns
            Public. Bounds and categories; never taken from the records. A mapping such as
            `{"age": (18, 100), "sex": ["f", "m"]}` describes one: see `schema_of`.
        ledger : Ledger or Budget
            The account. A budget alone is an account in memory, for as many questions as it pays.
        neighbors : Neighbors
            Public. The relation of this data set.
        unit : Unit
            Public. Whose presence is hidden.
        name : str
            Public. What the table is called, where it is joined with others.
        bits : Bits, optional
            Where noise comes from; anything but the system's makes releases that are not private.
        """
        check_protected("private data", neighbors, unit)
        account = account_of(ledger, neighbors, unit)
        trust = Curator(source_of(records, schema_of(schema), unit), neighbors, bits=bits)
        return cls(trust, account, name)

    @property
    def public_size(self) -> int | None:
        """The number of records where the relation makes it public, else None; none, if a condition chooses them."""
        if self.neighbors is Neighbors.REPLACE and self.unit.is_row:
            return self._trust.units
        return None

    def where(self, condition: str) -> PrivateData:
        """The same data set and account, for questions about the records that fulfil a condition alone.

        Rows beyond a unit's limit are left out before the condition is looked at.

        Parameters
        ----------
        condition : str
            Public. Such as "age >= 18 and sex == 'f'": comparisons of columns with numbers, listed values and dates, or
            with one another; `in`, `is missing`, `and`, `or`, `not` and brackets. One with a missing value is false.

        Examples
        --------
        >>> from discreet.statistics.moments.mean import mean
        >>> people = {"age": [30.0] * 500 + [60.0] * 500, "sex": ["f", "m"] * 500}
        >>> data = PrivateData.of(people, {"age": (0, 120), "sex": ["f", "m"]}, Budget(5.0))
        >>> older = mean(data.where("age >= 50 and sex == 'f'"), "age", epsilon=5.0)
        >>> bool(abs(older.value - 60) < 5), older.receipt.purpose
        (True, "mean of age where age >= 50 and sex == 'f'")
        """
        return self._after(FilteredRows.read(self.relation, condition))

    def filter(self, condition: str) -> PrivateData:
        """The same as `where`, by the name that polars and Spark have for it."""
        return self.where(condition)

    def derive(self, /, *, bounds: Mapping[str, tuple[float, float]] | None = None, **columns: str) -> PrivateData:
        """The same data set and account, with columns that are computed from each record by itself.

        A record for which one cannot be computed (it divides by zero, or by what is missing) has no value there.

        Parameters
        ----------
        bounds : mapping of str to (float, float), optional
            Public. Of new columns. By default they follow from the schema, which for quotients is often too wide.
        **columns : str
            Public. Expressions, such as `hours="stay * 24"` or `old="case when age >= 65 then 1 else 0 end"`, of
            numbers, dates and truth values; with `abs`, `floor`, `ceil`, `sqrt`, `least`, `greatest` and `coalesce`.

        Examples
        --------
        >>> from discreet.statistics.moments.mean import mean
        >>> visits = PrivateData.of({"stay": [2.0, 4.0] * 500}, {"stay": (0, 60)}, Budget(5.0))
        >>> hours = mean(visits.derive(hours="stay * 24"), "hours", epsilon=5.0)
        >>> bool(abs(hours.value - 72) < 20), hours.receipt.purpose
        (True, 'mean of hours with hours = (stay * 24)')
        """
        if not columns:
            raise ParameterError("derive", "nothing is computed", 'Give such as hours="stay * 24".')
        check_by_name("derive", "bounds", bounds or {})
        return self._after(ComputedRows.read(self.relation, columns, bounds or {}))

    def per_unit(
        self,
        /,
        *,
        by: str | Sequence[str] = (),
        groups: int | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        **columns: str | InWords,
    ) -> PrivateData:
        """A table with one row for each unit, of all its rows: nothing is left out, and nothing is paid.

        One unit moves one row then, however many rows it has here.

        Parameters
        ----------
        by : str or sequence of str
            Public. Columns that make groups of each unit's rows, with one row for each of them.
        groups : int, optional
            Public. The most groups of a unit, apart from the number of its rows; others are left out, without bias. By
            default, as many as the unit may have rows.
        bounds : mapping of str to (float, float), optional
            Public. Of counts and sums, which nothing else bounds; numbers outside are moved inside.
        **columns : str
            Public. What the rows of a unit come to, such as `visits="count"`, `longest="max of stay"`, or by functions
            of `discreet.query.aggregates`, `visits=count()`, `longest=maximum("stay")`;
            `ever="any of ward == 'icu'"`, `sex="only of sex"` (what all its rows have, if they agree); also `sum`,
            `mean`, `min`, `all`, of any expression or condition.

        Examples
        --------
        >>> from discreet.core.neighbors import Unit
        >>> from discreet.statistics.moments.mean import mean
        >>> visits = {"who": ["a", "b"] * 500, "stay": [2.0, 4.0] * 500}
        >>> data = PrivateData.of(visits, {"stay": (0, 60)}, Budget(9.0), unit=Unit("user", "who", rows=3))
        >>> longest = data.per_unit(visits="count", longest="max of stay", bounds={"visits": (0, 1000)})
        >>> longest.unit.rows, list(longest.schema.columns)
        (1, ['visits', 'longest'])
        """
        check_by_name("per_unit", "bounds", bounds or {})
        if not fits(by, str | Sequence[str]):
            raise ParameterError("per_unit", f"by is {shown(by)}", "Name columns.")
        keys = (by,) if isinstance(by, str) else tuple(by)
        said: dict[str, Any] = {name: getattr(one, "words", one) for name, one in columns.items()}
        node: RelationNode = PerUnit.read(self.relation, said, bounds or {}, keys)
        if groups is not None and not keys:
            raise ParameterError("per_unit", "groups are limited, and nothing makes any", "Give `by`.")
        if keys:
            most = self.relation.reach.rows if groups is None else groups
            if most is None:
                raise ParameterError("per_unit", "nothing bounds the groups of a unit", "Give groups=...")
            check_whole("per_unit", "groups", most, most=MOST_ROWS)
            node = LimitedRows(node, most)
        return self._after(node)

    def join(
        self,
        other: PrivateData | PublicTable,
        on: str | Mapping[str, str] | Sequence[str] | None = None,
        *,
        most: int | None = None,
        how: str = "inner",
        prefix: str = "",
    ) -> PrivateData:
        """Rows of this table beside those of another that agree with them, under the same account.

        Parameters
        ----------
        other : PrivateData or PublicTable
            A table of the same units with the same account; or one that is no secret.
        on : str, sequence of str, or mapping of str to str, optional
            Public. The columns that must agree, with the names on the other side if they differ; the name of the column
            of units stands for the units. By default, rows of the same unit.
        most : int, optional
            Public. The most rows on the other side that a row meets; needed where units share a key, for both sides.
            The others are left out. By default, as many as a public table has.
        how : {"inner", "left", "weighted"}
            Public. Whether a row that meets none is left out, or kept with nothing beside it. Where units share a key,
            "weighted" needs no `most`: with n rows of a key here and m there, each of its pairs counts 1 / (n + m).
        prefix : str
            Public. Stands before the names of the other table's columns.

        Examples
        --------
        >>> from discreet.trust.public_table import PublicTable
        >>> wards = PublicTable({"ward": ["day", "icu"], "beds": [20, 6]}, {"ward": ["day", "icu"], "beds": (0, 100)})
        >>> visits = {"ward": ["day", "icu"] * 500, "stay": [2.0, 4.0] * 500}
        >>> data = PrivateData.of(visits, {"stay": (0, 60), "ward": ["day", "icu"]}, Budget(9.0))
        >>> joined = data.join(wards, "ward")
        >>> list(joined.schema.columns), joined.unit.rows
        (['stay', 'ward', 'beds'], 1)
        """
        rows = self._rows.beside(self._related(other), on, most=most, how=how, prefix=prefix)
        return self._of(rows)

    def _related(self, other: PrivateData | PublicTable) -> RelatedTables:
        if isinstance(other, PublicTable):
            return other.rows
        if not isinstance(other, PrivateData):
            remedy = "Give private data with the same account, or a PublicTable."
            raise ParameterError("join", f"a {type(other).__name__} is no table", remedy)
        if other.ledger is not self.ledger:
            remedy = "Open both tables with one ledger: they are of the same people."
            raise NotPermitted("join", "the other table has another account", remedy)
        return other._rows

    @property
    def _rows(self) -> RelatedTables:
        """What the rows are made of: of one table once it is asked for, and then the same in all threads."""
        if isinstance(self._given_rows, RelatedTables):
            return self._given_rows
        found: RelatedTables | None = vars(self).get("_table")
        return found or vars(self).setdefault("_table", RelatedTables.of(self._trust, self._given_rows))

    @property
    def relation(self) -> RelationNode:
        """What the rows are: a tree of tables and of what is done with them, with its schema, unit and reach."""
        return self._rows.node

    def _after(self, node: RelationNode) -> PrivateData:
        return self._of(dataclasses.replace(self._rows, node=node))

    def _of(self, rows: RelatedTables) -> PrivateData:
        """The same account, for rows that are made of these by one step more."""
        return PrivateData(rows.trust_after(self._trust, self.neighbors), self.ledger, rows)

    def map_untrusted(
        self,
        function: Callable[[Array], Any],
        bounds: PlainSchema,
        rows_out: int = 1,
        *,
        columns: Sequence[str] | None = None,
        keep: Sequence[str] = (),
        most: int | None = None,
        seconds: float = 0.05,
        isolation: Form = "full",
    ) -> PrivateData:
        """The same account, with rows that anybody's function makes of each record, as of a table of their own.

        Each record has a process of its own, which computes for a public time and reaches nothing else: a function that
        keeps state, looks at the clock, prints, fails or never ends changes what becomes of that record alone. Where it
        gives no numbers in time, they are missing. For a function of many records at once, see `sample_and_aggregate`.

        Parameters
        ----------
        function : callable
            One record in, as an array of numbers; a number out for each new column, or up to `rows_out` rows of them.
            It need not be trusted. A missing value is nan, a category its place in the schema's list.
        bounds : mapping of str to (float, float) or list
            Public. The new columns; what is outside of their bounds is moved there. Of a list, the function gives the
            place of a value.
        rows_out : int
            Public. The most rows that come of one record. The noise grows with it.
        columns : sequence of str, optional
            Public. What the function sees, by default all numbers.
        keep : sequence of str
            Public. Numbers and categories of the record that its rows have, too: to group by, and in conditions.
        most : int, optional
            Public. How many records are looked at, which determines how long it takes; others are left out. Not needed
            where the number of records is public. Where it is secret, the noise is for two records: one that comes may
            drive another out.
        seconds : float
            Public. Processor time of each record, always. As many as there are processors are computed at a time.
        isolation : {"full", "process"}
            Public. What the function is kept from: see `discreet.trust.isolation.isolated`.

        Examples
        --------
        >>> from discreet.statistics.moments.mean import mean
        >>> data = PrivateData.of({"x": [3.0, 4.0] * 20}, {"x": (0, 10)}, Budget(50.0), neighbors=Neighbors.REPLACE)
        >>> squares = data.map_untrusted(lambda record: record[0] ** 2, {"square": (0, 100)})
        >>> bool(abs(mean(squares, "square", epsilon=50.0).value - 12.5) < 5)
        True
        """
        by = record_map(self._trust, function, bounds, rows_out, columns, keep, most, seconds, isolation)
        return PrivateData(MappedTrust(self._trust, by, self._full("")), self.ledger)

    def sql(self, text: str, **options: Any) -> Any:
        """Release what a SELECT asks for: the same as `discreet.sql`, which says what it takes."""
        return _front_end("discreet.query.select.sql", "sql")(self, text, **options)

    def group_by(self, *by: str, **options: Any) -> Any:
        """Records by groups, to be asked for several statistics at one price: the same as `discreet.group_by`."""
        return _front_end("discreet.query.select.frame", "group_by")(self, *by, **options)

    @property
    def derived(self) -> dict[str, Expressed]:
        """What is computed, in the order in which it was derived; nothing by default."""
        columns = [one for node in self.relation.walked() if isinstance(node, ComputedRows) for one in node.columns]
        return {one.name: one for one in columns}

    @property
    def _made(self) -> str:
        """What the rows were made of, where a function made them."""
        trust: Any = self._trust
        while not isinstance(trust, MappedTrust):
            if not isinstance(trust, WrappedTrust):
                return ""
            trust = trust.trust
        return f" {trust.named}"

    @property
    def condition(self) -> Condition | None:
        """What records must fulfil to be asked about; none by default."""
        return getattr(self._trust, "condition", None)

    def keeps(self, event: Event) -> bool:
        """Whether the trust model can keep the promise of this single event."""
        return isinstance(event, NoPromise) or self._trust.keeps(event)

    def check_curated(self, purpose: str) -> None:
        """Refuse what needs somebody who holds all records, where nobody does."""
        if not self.curated:
            raise NotPermitted(
                purpose,
                "it takes a curator who holds all records, and a limit of rows for each unit",
                "Trust a curator with records that are not in Spark, do not pool units, or ask sums.",
            )

    def check_counts_keys(self, purpose: str) -> None:
        """Refuse to count rows that have weights."""
        if self.relation.reach.weighted:
            raise weighed(purpose)

    def check_listing(self, purpose: str) -> None:
        """Refuse what reads columns of text by lists that are bought, where the records cannot be read again."""
        if not getattr(self._trust, "rereads", False):
            raise NotPermitted(
                purpose,
                "it takes a curator who reads the records again once the values of their text are known",
                "Trust a curator with a data frame, a file or a query, or list the categories in the schema.",
            )

    def listing(self, lists: Mapping[str, Category]) -> PrivateData:
        """The same records and account, with columns of text that are read as categories of these values.

        Parameters
        ----------
        lists : mapping of str to Category
            Public. Of text columns: what was released, as by `buy_categories`, or is known without the data.

        Examples
        --------
        >>> from discreet.schema.schema import Text
        >>> towns = PrivateData.of({"town": ["Ulm", "Bonn"]}, {"town": Text()}, Budget(1.0))
        >>> towns.listing({"town": Category(["Bonn", "Ulm"])}).schema.category("town").values
        ('Bonn', 'Ulm')
        """
        self.check_listing("lists of values")
        trust: Any = self._trust
        return PrivateData(trust.listing(lists), self.ledger, self._rows.listing(lists))

    @property
    def curated(self) -> bool:
        """Whether a mechanism can be shown all records, and not only sums of them."""
        return self._trust.curated

    @property
    def shows_all_rows(self) -> bool:
        """Whether the number of rows of each unit can be asked about: a curator has them all, and no condition."""
        return getattr(self._trust, "shows_all_rows", False)

    def reports_of(self, noise: Noise) -> float:
        """The variance of this noise in units of a curator's, where parties cannot share it evenly."""
        return getattr(self._trust, "reports_of", lambda _: self.reports)(noise)

    def check_counted(self, question: BoundedQuestion) -> None:
        """Refuse what is no count, where noise is made of coins."""
        if not self.coins:
            return
        whole = question.grid.exponent == 0 and question.bound.nonnegative and self.unit.is_row
        if not whole or math.floor(question.bound.sensitivity("l1", question.size, self.neighbors)) > 1:
            raise NotPermitted(
                "verified shares",
                "the question is no count of records: its numbers are not whole, may be negative, or several of them "
                "may move",
                'Ask counts, or let the federation take scheme "odo-vector" or "masks".',
            )

    def check_range(self, question: BoundedQuestion, noise: Noise) -> None:
        """Refuse a sum that the trust model could not add up with this noise, before anything is charged."""
        if self.ranged:
            trust: Any = self._trust
            trust.check_range(question, noise)

    @property
    def reports(self) -> float:
        """The variance of the noise in units of a curator's: one for a curator, one per person under local trust."""
        return self._trust.reports

    def _full(self, purpose: str) -> str:
        if isinstance(self._given_rows, RelatedTables):
            return f"{purpose}{self._made}{self._rows.among}"
        return f"{purpose}{self._made}" if isinstance(self._trust, WrappedTrust) else purpose

    def _promise(self, plan: Event | Description) -> Promise:
        return self._trust

    def _request(self, plan: Event | Description, purpose: str) -> str:
        """The purpose, which has the condition, and the plan; and its terms, where it has any."""
        if isinstance(plan, Event):
            return f"{purpose}\n{written(plan)}"
        return f"{purpose}\n{written(plan.event)}\n{plan.terms}"

    def _reused(self, purpose: str, key: str) -> DiscreetError | None:
        return None

    def _check_plan(self, plan: Event | Description, purpose: str, key: str | None) -> None:
        event = plan if isinstance(plan, Event) else plan.event
        self._check_sampled(event, purpose)
        for one in releases(event):
            if not self.keeps(one):
                raise NotPermitted(
                    purpose,
                    f"{type(self._trust).__name__} cannot keep the promise of {in_words(one)}",
                    'Ask counts with binomial noise, or let the federation take scheme "odo-vector" or "masks".'
                    if self.coins
                    else "Ask bounded sums with Laplace or Gaussian noise, or under another trust model.",
                )
            if getattr(self._trust, "once", False) and event != one:
                obstacle = "it asks several questions, and devices answer one in each task"
                raise NotPermitted(purpose, obstacle, "Make a task of each, or ask organisations (SecureSum).")
            if self.neighbors is Neighbors.REPLACE and isinstance(one, DiscreteLoss):
                self._check_replaced(one, purpose)
        self._check_ready(key)

    def _check_replaced(self, event: DiscreteLoss, purpose: str) -> None:
        """Refuse noise for counts that one record moves by one step, where a replaced record moves two of them.

        A single count moves by one step then, too; but a price says nothing of the question, and a table would be
        refused after it was paid for.
        """
        if not is_shared(event):
            return
        if getattr(share_of(event, 1), "moves", 2) == 1:
            obstacle = "its coins are for counts of records that come or go, and one that is replaced moves two counts"
            raise NotPermitted(purpose, obstacle, "Ask with Binomial(..., moves=2).")

    def _check_ready(self, key: str | None) -> None:
        """Refuse records that cannot be read now, except for a retry, which reads none."""
        try:
            check_ready(self._trust)
        except EngineFailure:
            if key is None or not any(entry.key == key and entry.committed for entry in self.ledger.entries()):
                raise

    def _check_sampled(self, plan: Event, purpose: str) -> None:
        """Refuse secret samples of units that cannot be drawn one by one."""
        for event in walked(plan):
            if not isinstance(event, Sampled):
                continue
            if not self.curated or self.unit.rows > 1:
                raise NotPermitted(
                    purpose,
                    "a secret sample takes a curator who holds all records, with one row for each unit",
                    "Keep one row of each unit, or ask sums over all records.",
                )
            if event.scheme == "poisson_replace":
                obstacle = "bounds of questions need not be balls around zero, which a poisson_replace sample needs"
                raise NotPermitted(purpose, obstacle, "Draw a sample of fixed size.")

    if not TYPE_CHECKING:  # so that what is misspelled is found before it runs

        def __getattr__(self, name: str) -> Any:
            ways = "; statistics are functions, such as discreet.mean(data, 'age'); see data.schema and data.ledger"
            more = "" if name.startswith("_") else ways
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{more}")

    def __repr__(self) -> str:
        among = "" if self.condition is None else f"; where {self.condition}"
        return plain(f"PrivateData({', '.join(self.schema.columns)}; {self.unit.kind}; {self.neighbors.value}{among})")

    def _repr_html_(self) -> str:
        limit = "" if self.unit.column is None else f" ({self.unit.column}, {self.unit.limit})"
        about = {
            "protects": f"one {self.unit.kind}{limit} that is {RELATIONS[self.neighbors]}",
            "held by": type(getattr(self._trust, "trust", self._trust)).__name__,
            **({} if self.condition is None else {"where": str(self.condition)}),
            "account": str(self.ledger.balance()),
        }
        return carded(self.schema.html(), facts(about))


def _front_end(room: str, name: str) -> Any:
    """A function of a room above, which is loaded when it is called: it asks through the same door as all others."""
    return getattr(importlib.import_module(room), name)
