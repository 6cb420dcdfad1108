"""The bundled table: synthetic, small, made again bit by bit."""

from __future__ import annotations

from discreet.query.sample import SCHEMA, TABLE
from discreet.query.sample.make_sample import COLUMNS, ROWS, table
from discreet.query.schema_file import read_schema


def test_the_committed_table_is_what_the_script_makes() -> None:
    assert TABLE.read_text(encoding="utf-8") == table()


def test_the_schema_describes_every_column() -> None:
    assert tuple(read_schema(SCHEMA).schema.columns) == COLUMNS


def test_it_is_small_and_has_rare_values_and_gaps() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:]
    towns = [line.split(",")[5] for line in lines]
    assert len(lines) == ROWS
    assert TABLE.stat().st_size < 250_000
    assert min(towns.count(town) for town in set(towns)) < 20
    assert max(towns.count(town) for town in set(towns)) > 500
    assert sum(line.split(",")[2] == "" for line in lines) > 50
