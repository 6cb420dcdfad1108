"""Records in a Spark data frame: added up where they are, so that only sums come to the driver."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from discreet.core.condition import Condition
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.mapped import RecordMap
from discreet.questions.question import BoundedSum, quiet
from discreet.schema.relation.limited_rows import choice, place
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.trust.exact_sum import exact_sum, pooled_sum
from discreet.trust.isolation.isolated import Form, isolated, processors
from discreet.trust.sources.columns.arrow_column import arrow, fulfilling, matrix, read_matrix, texts
from discreet.trust.sources.columns.decoding import known
from discreet.trust.sources.header import check_header, not_single, read_columns, wants_numbers, without_numbers
from discreet.trust.sources.kept_rows import canonical_batches, most_rows
from discreet.trust.sources.pooled import filled, unbounded, unit_rows
from discreet.trust.sources.shielded import check_reachable, shielded
from discreet.trust.sources.source import Source, sliced

Work = Callable[[Iterable[Any]], Iterator[Any]]
"""What an executor does with the Arrow record batches of one partition."""

ASKED = "read a Spark data frame"
START = "CAST(conv(substr(md5(u), 1, 15), 16, 10) AS BIGINT)"
SIZE = "count(*) OVER (PARTITION BY u) AS size"
NESTED = ("array", "map", "struct", "variant", "interval")
TIMES = ("date", "time")
SPARE = 20  # places of a partition beside its share of them


class SparkFrame(Source):
    """A Spark data frame as a source; the executors, which need this library installed, add up.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The records. A row of it must come from one record: it may choose rows and columns and compute with one row at a
        time, but what it joins, counts or ranks over rows is bounded by nothing.
    unit : Unit
        Public. Rows without a unit are left out, and those beyond `unit.rows` unless units are pooled. The others stay
        persisted in Spark from the first question until the source goes.
    """

    def __init__(self, frame: Any, schema: Schema, unit: Unit = RECORD) -> None:
        self.schema, self.unit, self._given, self._decoded = schema, unit, frame, unit.column is not None
        check_header(ASKED, frame.columns, schema, unit, any_case=True)
        wanted = read_columns(schema, unit)
        _check_types(frame, wanted, schema)
        self._frame = frame
        self._columns = {name: _quoted(name) for name in wanted}
        if unit.column is not None:
            self._frame = (self._pooled if unit.pooled else self._kept)(unit.column).persist()
            self._columns = {name: f"c{i}" for i, name in enumerate(schema.columns)}
            weakref.finalize(self, given_back, self._frame).atexit = False

    def check_ready(self) -> None:
        session = self._frame.sparkSession
        check_reachable(ASKED, lambda: session.range(0).schema, "Start a session, and give a data frame of it.")

    def sum(self, question: BoundedSum) -> Steps:
        for name in question.columns:
            known(self.schema, name)
        total = exact_sum(question, [])
        for steps in _collected(lambda: self._added(question, question.columns))["steps"].to_pylist():
            total += np.frombuffer(steps, dtype=np.int64)
        return total

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        if self.unit.pooled:
            raise unbounded(f"count the values of {column!r}")
        read = () if condition is None else condition.columns
        work = _named(condition, self.schema, decoded=self._decoded)
        counts = _collected(lambda: self._mapped([*read, column], work, "key binary").groupBy("key").count())
        for batch in counts.to_batches():
            keys, rows = batch.columns
            yield dict(zip(texts(keys).to_pylist(), rows.to_pylist(), strict=True))

    def units(self) -> int:
        counted = "count(*)" if self.unit.column is None else "count(DISTINCT u)"
        return int(_collected(lambda: self._frame.selectExpr(f"{counted} AS units"))["units"][0].as_py())

    def units_by_rows(self, most: int) -> Steps:

        def counted() -> Any:
            sizes = self._frame.groupBy("u").count().selectExpr(f"least(count, {most}L) AS size")
            return sizes.groupBy("size").count()

        found = _collected(counted).to_pydict()
        return filled(dict(zip(found["size"], found["count"], strict=True)), most)

    def mapped(self, by: RecordMap) -> Array:
        """All rows that an untrusted function makes of the records: on the workers, which have the walls for it.

        What partition a record is in depends on that record alone. Each has half as many places again as its share.
        """
        partitions = int(self._frame.sparkSession.sparkContext.defaultParallelism)
        share = dataclasses.replace(by, places=min(by.places, math.ceil(1.5 * by.places / partitions) + SPARE))
        read = _kept(len(by.reads)) if self._decoded else _raw(by.reads, self.schema)

        def rows() -> Any:
            columns = [f"{self._columns[name]} AS c{i}" for i, name in enumerate(by.reads)]
            own = ", ".join(map(_quoted, self._frame.columns))
            dealt = self._frame.selectExpr(*columns, f"xxhash64({own}) AS h").repartition(partitions, "h").drop("h")
            with quiet():
                return dealt.mapInArrow(_made(share, read), "rows binary")

        made = [np.frombuffer(part) for part in _collected(rows)["rows"].to_pylist()]
        return np.concatenate([np.empty(0), *made]).reshape(-1, len(by.after.columns))

    def with_units(self) -> Any:
        """All records that have a unit, decoded, as a frame: `u` is a unit's name, the columns are c0, c1, ...

        Records that are units by themselves have no names.
        """
        return self.canonical(self.unit.column)

    def _added(self, question: BoundedSum, columns: Sequence[str]) -> Any:
        """A frame with the sum of each partition."""
        width = len(columns)
        if self.unit.pooled:
            return self._mapped(columns, _pooled(question, width), "steps binary", "u")
        read = _kept(width) if self._decoded else _raw(columns, self.schema)
        named = columns or tuple(self.schema.columns)[:1]
        return self._mapped(named, _summed(question, read, width), "steps binary")

    def _mapped(self, names: Sequence[str], work: Work, result: str, *others: str) -> Any:
        columns = [f"{self._columns[name]} AS c{i}" for i, name in enumerate(names)]
        with quiet():  # it warns of new versions of pandas, which is not used
            return self._frame.selectExpr(*columns, *others).mapInArrow(work, result)

    def _kept(self, unit_column: str) -> Any:
        """At most `unit.rows` rows of each unit, as questions see them; texts as bytes, which no collation merges."""
        rows = self.canonical(unit_column).selectExpr("*", place(self.schema), SIZE)
        return rows.where(choice(START, most_rows(self.unit))).drop("place", "size")

    def _pooled(self, unit_column: str) -> Any:
        """All rows of all units, those of one unit side by side in one partition."""
        partitions = int(self._frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
        return self.canonical(unit_column).repartition(partitions, "u").sortWithinPartitions("u")

    def canonical(self, unit_column: str | None) -> Any:
        """Records that have a unit, as questions see them; texts as bytes, which no collation merges."""
        kinds = enumerate(self.schema.columns.values())
        fields = ["u binary", *(f"c{i} {_type(kind)}" for i, kind in kinds)]
        unit = "'record'" if unit_column is None else _quoted(unit_column)
        columns = [f"{own} AS c{i}" for i, own in enumerate([unit, *map(_quoted, self.schema.columns)])]
        with quiet():  # it warns of new versions of pandas, which is not used
            rows = self._given.selectExpr(*columns).mapInArrow(_canonical(self.schema), ", ".join(fields))
        return rows.where("u IS NOT NULL")


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _type(kind: Column) -> str:
    return "double" if isinstance(kind, Number) else "int" if isinstance(kind, Category) else "binary"


def _raw(columns: Sequence[str], schema: Schema) -> Callable[[Any], Array]:
    return lambda batch: matrix(batch, columns, schema)


def _kept(width: int) -> Callable[[Any], Array]:
    return lambda batch: read_matrix(batch, width)


def _summed(question: BoundedSum, read: Callable[[Any], Array], width: int) -> Work:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        steps = exact_sum(question, map(read, sliced(batches)))
        yield arrow().record_batch([arrow().array([steps.tobytes()])], names=["steps"])

    return work


def _pooled(question: BoundedSum, width: int) -> Work:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        steps = pooled_sum(question, unit_rows(batches, width))
        yield arrow().record_batch([arrow().array([steps.tobytes()])], names=["steps"])

    return work


def _made(by: RecordMap, read: Callable[[Any], Array]) -> Work:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        records = np.concatenate([np.empty((0, len(by.reads))), *map(read, sliced(batches))])
        rows = dataclasses.replace(by, lines=processors()).of(records, _isolated)
        yield arrow().record_batch([arrow().array([rows.tobytes()])], names=["rows"])

    return work


def _isolated(
    of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str
) -> list[Array | None]:
    return isolated(of, blocks, size, seconds, cast(Form, form))


def _canonical(schema: Schema) -> Work:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in canonical_batches(batches, schema):
            yield _with_bytes(batch)

    return work


def _named(condition: Condition | None, schema: Schema, *, decoded: bool) -> Work:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            keys = fulfilling(batch, condition, schema, decoded=decoded).drop_null()
            yield _with_bytes(arrow().record_batch([keys], names=["key"]))

    return work


def _with_bytes(batch: Any) -> Any:
    pa = arrow()
    columns = [c.cast(pa.binary()) if pa.types.is_large_string(c.type) else c for c in batch.columns]
    return pa.record_batch(columns, names=batch.schema.names)


def _collected(frame: Callable[[], Any]) -> Any:
    """What a job gives, as an Arrow table."""
    return shielded(ASKED, lambda: frame().toArrow())


def _check_types(frame: Any, names: Sequence[str], schema: Schema) -> None:
    for field in frame.schema.fields:
        kind = field.dataType.simpleString()
        if field.name in names and kind.startswith(NESTED):
            raise not_single(ASKED, field.name, kind)
        if wants_numbers(schema.columns.get(field.name)) and kind.startswith(TIMES):
            raise without_numbers(ASKED, field.name, kind)


def given_back(frame: Any) -> None:
    """Let go of a frame that was persisted."""
    with contextlib.suppress(Exception):  # a session that has ended holds nothing any more
        frame.unpersist()
