"""Relations drawn at random, with the noise off, in several engines at once: what they say is the same to a bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from discreet.core.answer import KeyedAnswer
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.key_counts import KeyCounts
from discreet.schema.schema import Boolean, Category, Number, Schema, Text
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable
from discreet.trust.sources.postgres import PostgresKept
from discreet.trust.sources.source_of import source_of

SCHEMA = Schema(
    {
        "stay": Number(-5, 60),
        "age": Number(0, 120),
        "ward": Category(("icu", "day", "it's", "Zoë")),
        "ill": Boolean(),
        "code": Category((7, 12, -3)),
        "note": Text(),
    }
)
BEDS = Schema({"ward": Category(("icu", "day", "it's", "Zoë")), "beds": Number(0, 40)})
STAYS = [None, float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, -5.0, 60.0, 1e300, 0.1, 1 / 3, 59.999, 1e-200]
WARDS = ["icu", " icu", "day\t", "Day", "it's", "Zoë", "Zoe\u0308", "", None, "other"]
NOTES = ["a", "b ", "", None, "\\", "'; DROP TABLE records; --", "日本"]
KINDS = ("where", "derive", "per unit", "public", "unit", "key")
ODDS = (0.35, 0.35, 0.08, 0.08, 0.07, 0.07)
Table = dict[str, list[Any]]
Opened = Callable[[Table], Any]


class Exact:
    """Hands the exact answer over, for comparison."""

    def release(self, answer: Any, bits: Any) -> Any:
        return [answer.keys, answer.counts.tolist()] if isinstance(answer, KeyedAnswer) else answer.steps.tolist()


def drawn_table(rng: np.random.Generator, rows: int) -> Table:
    def some(values: list[Any]) -> list[Any]:
        return [values[place] for place in rng.integers(0, len(values), rows)]

    stays = [round(float(one), 2) for one in rng.normal(20, 20, 40)]
    return {
        "who": [None if n == 0 else int(n) for n in rng.zipf(1.5, rows) % 40],
        "stay": some([*STAYS, *stays]),
        "age": [None if n > 110 else int(n) for n in rng.integers(-5, 125, rows)],
        "ward": some(WARDS),
        "ill": some([True, False, None]),
        "code": some([7, 12, -3, 0, None, 2**53]),
        "note": some(NOTES),
    }


def condition(rng: np.random.Generator, schema: Schema) -> str:
    numbers, value = numbers_of(schema), round(float(rng.uniform(-3, 50)), 1)
    one, two = (str(name) for name in rng.choice(numbers, 2))
    sign = str(rng.choice(["<", "<=", ">", ">=", "==", "!="]))
    ways = [f"{one} {sign} {value}", f"{one} {sign} {two}", f"{one} is missing", f"not {one} {sign} {value}"]
    if "ward" in schema.columns:
        ways += ["ward == 'icu'", "ward in ('day', 'Zoë')", "ward is missing"]
    if len(numbers) > 2:
        ways.append(f"({one} {sign} {value} or {two} > 3) and not {numbers[0]} is missing")
    return str(rng.choice(ways))


def expression(rng: np.random.Generator, schema: Schema) -> str:
    one, two = (str(name) for name in rng.choice(numbers_of(schema), 2))
    case = f"case when {condition(rng, schema)} then {one} when {two} > 1 then 2 * {two} end"
    ways = [f"{one} * {two} + 0.1", f"{one} / ({two} - 3)", f"sqrt(abs({one})) / 7", f"floor({one} / 7) - {two} * 0.3"]
    return str(rng.choice([*ways, case, f"coalesce({one}, 1.5)", f"least({one}, {two}) - greatest({two}, 0.7)"]))


def numbers_of(schema: Schema) -> list[str]:
    return [name for name, kind in schema.columns.items() if isinstance(kind, Number)]


@dataclass(frozen=True)
class Step:
    """One step of a relation, as it is done with any engine's table."""

    kind: str
    words: dict[str, Any]

    def after(self, data: PrivateData, other: PrivateData, beds: PublicTable) -> PrivateData:
        match self.kind:
            case "where":
                return data.where(self.words["text"])
            case "derive":
                return data.derive(bounds=self.words["bounds"], **self.words["columns"])
            case "per unit":
                return data.per_unit(bounds=self.words["bounds"], **self.words["columns"])
            case "public":
                return data.join(beds, "ward", prefix="p_")
            case "unit":
                return data.join(other, prefix=self.words["prefix"])
        return data.join(other, "ward", most=self.words["most"], prefix=self.words["prefix"])


def drawn_step(rng: np.random.Generator, data: PrivateData, number: int) -> Step:
    kind, schema = str(rng.choice(KINDS, p=ODDS)), data.schema
    first = str(rng.choice(numbers_of(schema)))
    words: dict[str, Any] = {"prefix": f"o{number}_", "most": int(rng.integers(1, 4))}
    if kind == "where":
        words = {"text": condition(rng, schema)}
    elif kind == "derive":
        name = f"d{number}"
        words = {"columns": {name: expression(rng, schema)}, "bounds": {name: (-50.0, 70.0)}}
    elif kind == "per unit":
        own = {"n": "count", "longest": f"max of {first}", "all": f"sum of {first}", "ward": "only of ward"}
        own |= {"note": "only of note"} if "note" in schema.columns else {}
        words = {"columns": own, "bounds": {"n": (0, 30), "all": (-500, 900)}}
    return Step(kind, words)


def questions(rng: np.random.Generator, schema: Schema) -> Iterator[BoundedSum | KeyCounts]:
    number = str(rng.choice(numbers_of(schema)))
    yield count_of(schema, None)
    yield total_of(schema, number, 0.0)
    yield moments_of(schema, number, int(rng.choice([1, 2, 4])), False)
    if "note" in schema.columns:
        yield KeyCounts("note")
    categories = [name for name, kind in schema.columns.items() if isinstance(kind, Category)]
    if categories:
        by = str(rng.choice(categories))
        yield grouped_moments_of(schema, by, number, 2)
        yield contingency_of(schema, (by, number), (0, int(rng.integers(1, 9))))


def opened(records: Any, unit: Unit, ledger: MemoryLedger) -> PrivateData:
    return PrivateData(Curator(source_of(records, SCHEMA, unit)), ledger)


def agreed(seed: int, engines: dict[str, Opened]) -> Counter[str]:
    """What one relation says in all engines: the same numbers, and the same refusals; which steps it has."""
    rng = np.random.default_rng(seed)
    unit = [RECORD, Unit("user", column="who"), Unit("user", column="who", rows=3)][int(rng.integers(3))]
    tables = [drawn_table(rng, int(rng.integers(0, 90))) for _ in range(2)]
    beds = PublicTable({"ward": ["icu", "day", "Zoë", "day"], "beds": [9, 30, 4.5, 2]}, BEDS)
    ledgers = {name: MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, unit=unit) for name in engines}
    data = {name: opened(open_(tables[0]), unit, ledgers[name]) for name, open_ in engines.items()}
    others = {name: opened(open_(tables[1]), unit, ledgers[name]) for name, open_ in engines.items()}
    taken: Counter[str] = Counter()
    if "postgres" in data:
        source: Any = data["postgres"]._trust.source  # type: ignore[attr-defined]
        assert isinstance(source._kept, PostgresKept) or source._rows.reads(list(SCHEMA.columns))
    for number in range(int(rng.integers(1, 4))):
        step = drawn_step(rng, data["arrays"], number)
        try:
            after = {"arrays": step.after(data["arrays"], others["arrays"], beds)}
        except DiscreetError:
            continue
        for name in [one for one in data if one != "arrays"]:
            try:
                after[name] = step.after(data[name], others[name], beds)
            except NotPermitted:
                taken[f"not in {name}"] += 1  # it adds up and hands no rows over
        data = after
        taken[step.kind] += 1
    for question in questions(rng, data["arrays"].schema):
        answers: dict[str, Any] = {name: one._trust.ask(question, Exact()) for name, one in data.items()}  # type: ignore[arg-type]
        assert all(answer == answers["arrays"] for answer in answers.values()), (seed, question.columns, answers)
    return taken


def in_duckdb(table: Table) -> Any:
    connection = duckdb.connect()
    connection.register("seen", as_arrow(table))
    connection.execute("CREATE TABLE records AS SELECT * FROM seen")
    return connection.table("records")


def as_arrow(table: Table) -> Any:
    kinds = {"who": pa.int64(), "stay": pa.float64(), "age": pa.int64(), "ill": pa.bool_(), "code": pa.int64()}
    return pa.table({name: pa.array(values, kinds.get(name, pa.string())) for name, values in table.items()})


def swept(seeds: Iterable[int], engines: dict[str, Opened]) -> Counter[str]:
    taken: Counter[str] = Counter()
    for seed in seeds:
        taken.update(agreed(seed, engines))
    return taken
