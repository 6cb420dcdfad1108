"""A data set: records behind a trust model, with the ledger that is charged for every release."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.condition import Condition
from discreet.core.errors import DiscreetError, EngineFailure, NotPermitted, ParameterError
from discreet.core.events import DiscreteLoss, Event, NoPromise, Sampled, walked, written
from discreet.core.ledger import Ledger
from discreet.core.mechanism import Noise
from discreet.core.neighbors import RECORD, Neighbors, Unit, check_protected
from discreet.core.receipt import RELATIONS, in_words
from discreet.display.digits import exact
from discreet.display.notebook import carded, facts
from discreet.display.plain import plain
from discreet.ledger.memory_ledger import account_of
from discreet.mechanisms.additive.share_of import is_shared, share_of
from discreet.questions.question import BoundedQuestion
from discreet.questions.transformation import Expressed
from discreet.schema.condition_text import condition_of
from discreet.schema.plain_schema import PlainSchema, schema_of
from discreet.schema.schema import Category
from discreet.trust.curator import Curator
from discreet.trust.derived_trust import DerivedTrust
from discreet.trust.filtered_trust import FilteredTrust
from discreet.trust.holder import Holder
from discreet.trust.permit import Description, releases
from discreet.trust.sources.source_of import source_of
from discreet.trust.trust_model import Promise, TrustModel, check_ready
from discreet.trust.wrapped_trust import WrappedTrust


class PrivateData(Holder):
    """A data set that can only be asked through its ledger.

    Parameters
    ----------
    trust : TrustModel
        Who holds the records and adds the noise.
    ledger : Ledger
        The account that is charged first. One that was opened for another relation or unit is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.schema.schema import Schema
    >>> from discreet.statistics.moments.mean import mean
    >>> data = PrivateData.of(np.ones((1000, 1)), Schema.numeric(0.0, 2.0, 1), Budget(1.0))
    >>> bool(0.5 < mean(data, "x0", epsilon=1.0).value < 1.5)
    True
    """

    def __init__(self, trust: TrustModel, ledger: Ledger) -> None:
        self._trust, self.ledger = trust, ledger
        self.schema, self.neighbors, self.unit = trust.schema, trust.neighbors, trust.unit
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
        bits : Bits, optional
            Where noise comes from; anything but the system's makes releases that are not private.
        """
        check_protected("private data", neighbors, unit)
        account = account_of(ledger, neighbors, unit)
        return cls(Curator(source_of(records, schema_of(schema), unit), neighbors, bits=bits), account)

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
        own, trust = condition_of(condition, self.schema), self._trust
        if isinstance(trust, FilteredTrust):
            own, trust = condition_of(f"({trust.condition}) and ({own})", self.schema), trust.trust
        return PrivateData(FilteredTrust(trust, own), self.ledger)

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
        trust, own = self._trust, self.condition
        inner = trust.trust if isinstance(trust, FilteredTrust) else trust
        derived = DerivedTrust.over(inner, columns, bounds or {})
        return PrivateData(derived if own is None else FilteredTrust(derived, own), self.ledger)

    def sql(self, text: str, **options: Any) -> Any:
        """Release what a SELECT asks for: the same as `discreet.sql`, which says what it takes."""
        return _front_end("discreet.query.select.sql", "sql")(self, text, **options)

    def group_by(self, *by: str, **options: Any) -> Any:
        """Records by groups, to be asked for several statistics at one price: the same as `discreet.group_by`."""
        return _front_end("discreet.query.select.frame", "group_by")(self, *by, **options)

    @property
    def derived(self) -> dict[str, Expressed]:
        """What is computed, in the order in which it was derived; nothing by default."""
        found: dict[str, Expressed] = {}
        trust: Any = self._trust
        while isinstance(trust, FilteredTrust | DerivedTrust):
            found = {**(trust.derived if isinstance(trust, DerivedTrust) else {}), **found}
            trust = trust.trust
        return found

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
        return PrivateData(trust.listing(lists), self.ledger)

    @property
    def curated(self) -> bool:
        """Whether a mechanism can be shown all records, and not only sums of them."""
        return self._trust.curated

    @property
    def shows_all_rows(self) -> bool:
        """Whether the number of rows of each unit can be asked about: a curator has them all, and no condition."""
        return getattr(self._trust, "shows_all_rows", False)

    @property
    def local(self) -> bool:
        """Whether every person reports by itself."""
        return self._trust.local

    def reports_of(self, noise: Noise) -> float:
        """The variance of this noise in units of a curator's, where parties cannot share it evenly."""
        return getattr(self._trust, "reports_of", lambda _: self.reports)(noise)

    def check_counted(self, question: BoundedQuestion) -> None:
        """Refuse what is no count, where noise is made of coins."""
        if self.coins and not (question.grid.exponent == 0 and question.bound.nonnegative and self.unit.is_row):
            raise NotPermitted(
                "verified shares",
                "the question is no count of records: its numbers are not whole, or may be negative",
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
        if not isinstance(self._trust, WrappedTrust):
            return purpose
        derived = "; ".join(f"{name} = {_shown(one)}" for name, one in self.derived.items())
        among = "" if self.condition is None else f" where {self.condition}"
        return f"{purpose}{f' with {derived}' if derived else ''}{among}"

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
                    "Ask bounded sums with Laplace or Gaussian noise, or under another trust model.",
                )
            self._check_replaced(one, purpose)
        self._check_ready(key)

    def _check_replaced(self, event: Event, purpose: str) -> None:
        """Refuse noise for counts that one record moves by one step, where a replaced record moves two of them.

        A single count moves by one step then, too; but a price says nothing of the question, and a table would be
        refused after it was paid for.
        """
        if self.neighbors is not Neighbors.REPLACE or not isinstance(event, DiscreteLoss) or not is_shared(event):
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


def _shown(column: Expressed) -> str:
    """What is computed, with the bounds where they do not follow from the schema."""
    span, number = column.expression.span, column.number
    own = (
        ""
        if (span.lower, span.upper) == (number.lower, number.upper)
        else f" in {exact(number.lower)} to {exact(number.upper)}"
    )
    return f"{column.expression}{own}"


def _front_end(room: str, name: str) -> Any:
    """A function of a room above, which is loaded when it is called: it asks through the same door as all others."""
    return getattr(importlib.import_module(room), name)
