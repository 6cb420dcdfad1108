"""A record that a common writer wrote is one row, whatever is in it; a line of the dialect `lines` always is."""

from __future__ import annotations

import csv
import gzip
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData
from discreet.trust.sources import csv_fields, csv_file
from discreet.trust.sources.columns import arrow_column
from discreet.trust.sources.columns.decoding import texts
from discreet.trust.sources.csv_file import CsvForm, csv_batches, csv_header
from discreet.trust.sources.file import File

Rows = Sequence[tuple[str, ...]]
Writer = Callable[[Path, Rows], CsvForm]

RAW = {"newline": "", "encoding": "utf-8", "errors": "surrogateescape"}
"""How to write bytes that are no UTF-8: as halves of surrogate pairs."""


def header(rows: Rows) -> list[str]:
    return [f'na,me\n"{i}"' for i in range(len(rows[0]))]


def pythons(quoting: Any, end: str, delimiter: str = ",", mark: str = "") -> Writer:
    def write(path: Path, rows: Rows) -> CsvForm:
        with path.open("w", **RAW) as file:  # type: ignore[call-overload]
            file.write(mark)
            writer = csv.writer(file, quoting=quoting, lineterminator=end, delimiter=delimiter)
            writer.writerows([header(rows), *rows])
        return CsvForm(delimiter)

    return write


def pandas_writes(path: Path, rows: Rows) -> CsvForm:
    frame = pd.DataFrame(rows, columns=header(rows), dtype=object).replace("", None)
    frame.to_csv(path, index=False, encoding="utf-8", errors="surrogateescape")
    return CsvForm()


def postgres_writes(path: Path, rows: Rows) -> CsvForm:
    """As `COPY ... TO ... (FORMAT csv, HEADER)`: an empty text is quoted, a missing one is not."""

    def field(value: str, alone: bool) -> str:
        needs = any(character in ',"\r\n' for character in value) or (alone and value == "\\.")
        return '"' + value.replace('"', '""') + '"' if needs else value

    lines = [",".join(field(value, len(row) == 1) for value in row) + "\n" for row in (header(rows), *rows)]
    with path.open("w", **RAW) as file:  # type: ignore[call-overload]
        file.writelines(lines)
    return CsvForm()


WRITERS: dict[str, Writer] = {
    "csv": pythons(csv.QUOTE_MINIMAL, "\r\n"),
    "csv on Unix": pythons(csv.QUOTE_MINIMAL, "\n"),
    "csv, all quoted": pythons(csv.QUOTE_ALL, "\r\n"),
    "csv, texts quoted": pythons(csv.QUOTE_NONNUMERIC, "\n", "\t"),
    "Excel": pythons(csv.QUOTE_MINIMAL, "\r\n", ";", "\ufeff"),
    "pandas": pandas_writes,
    "PostgreSQL": postgres_writes,
}


def table(rows: Rows) -> Any:
    names = header(rows)
    return pa.table({name: pa.array([row[i] or None for row in rows], pa.string()) for i, name in enumerate(names)})


def duckdb_writes(path: Path, rows: Rows) -> CsvForm:
    duckdb.from_arrow(table(rows)).write_csv(str(path))
    return CsvForm()


def polars_writes(path: Path, rows: Rows) -> CsvForm:
    pl.DataFrame(table(rows)).write_csv(path)
    return CsvForm()


def arrow_writes(path: Path, rows: Rows) -> CsvForm:
    pyarrow.csv.write_csv(table(rows), path)
    return CsvForm()


IN_UTF_8: dict[str, Writer] = {"DuckDB": duckdb_writes, "polars": polars_writes, "Arrow": arrow_writes}
"""Those that write nothing else."""

FIELD = st.text(st.sampled_from('",;\t\r\n \x00\x1f\\.a1\ufeff\u2028é\udcff\udcc3'), max_size=6)


def read(path: Path, form: CsvForm, width: int) -> list[tuple[str | None, ...]]:
    """All rows, as texts."""
    batches = csv_batches([path], range(width), form)
    columns = [[arrow_column.texts(column).to_pylist() for column in batch.columns] for batch in batches]
    return [row for batch in columns for row in zip(*batch, strict=True)]


def expected(rows: Rows) -> list[tuple[str | None, ...]]:
    raw = [[value.encode(errors="surrogateescape") for value in row] for row in rows]
    return [tuple(texts(np.array([*row, None], dtype=object))[:-1]) for row in raw]


@given(st.data())
@settings(max_examples=20)
def test_a_record_that_a_common_writer_wrote_is_one_row_whatever_is_in_it(data: Any) -> None:
    width = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.tuples(*[FIELD] * width), min_size=1, max_size=5))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, write in (WRITERS | IN_UTF_8).items():
            if name in IN_UTF_8:
                rows = [tuple(value.encode(errors="replace").decode() for value in row) for row in rows]
            path = Path(folder) / "table.csv"
            form = write(path, rows)
            for block in (2**21, 9):
                patch.setattr(csv_file, "BLOCK", block)
                assert csv_header(path, form) == tuple(header(rows)), name
                assert read(path, form, width) == expected(rows), (name, path.read_bytes())


HOSTILE = (
    "\r" * 1000,
    "\n" * 1000,
    "1\r\n" * 1000,
    '"',
    '""',
    '"\n"\n',
    '",\n"',
    "a,b,c",
    "\udcff\udcfe",
    "\x00\x1a",
    "\\.",
    "",
    " ",
    "\ufeff",
)


def test_one_record_changes_itself_alone(tmp_path: Path) -> None:
    path, plain = tmp_path / "table.csv", [(str(age), "fm"[age % 2], "Bern") for age in range(100)]
    for name, write in WRITERS.items():
        form = write(path, plain)
        around = [row for place, row in enumerate(read(path, form, 3)) if place != 50]
        for number, text in enumerate((*HOSTILE, *(["x,\n" * 1_000_000] if name == "csv" else []))):
            for place in (number % 3, 2):
                row = ["50", "f", "Bern"]
                row[place] = text
                form = write(path, [*plain[:50], tuple(row), *plain[51:]])
                rows = read(path, form, 3)
                assert rows.pop(50) == expected([tuple(row)])[0]
                assert rows == around


SCHEMA = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "town": Text()})


def test_a_record_counts_once_and_is_one_user(tmp_path: Path) -> None:
    for text in ("Bern", "Bern\r7,f,x" * 1000, "Bern\n7,f,x\n" * 1000, "\udcff", ""):
        for place in range(3):
            row = ["7", "f", "Bern"]
            row[place] = text
            form = WRITERS["csv on Unix"](tmp_path / "t.csv", [("1", "m", "Zug")] * 100 + [tuple(row)])
            lines = (tmp_path / "t.csv").read_bytes().partition(b'"""\n')[2]
            (tmp_path / "t.csv").write_bytes(b"age,sex,town\n" + lines)
            records = File(tmp_path / "t.csv", SCHEMA)
            assert len(records.everything(("age", "sex"))) == records.units() == 101
            assert PrivateData.of(records, SCHEMA, Budget(1.0), neighbors=Neighbors.REPLACE).public_size == 101
            assert File(tmp_path / "t.csv", SCHEMA, Unit("user", "town")).units() in (1, 2)
            assert form == CsvForm()


def test_a_record_may_have_any_number_of_fields(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"age,sex,town\n\n1\n,,,,,\n2,f,Zug,more\n\r\n3,m,Bern\n ")
    assert read(path, CsvForm(), 3) == [
        (None, None, None),
        ("1", None, None),
        (None, None, None),
        ("2", "f", "Zug"),
        (None, None, None),
        ("3", "m", "Bern"),
        (None, None, None),
    ]


def test_every_line_is_a_record_of_the_dialect_lines(tmp_path: Path) -> None:
    """Whatever its bytes are, the others are read as they were."""
    rng = np.random.default_rng(1)
    path, form = tmp_path / "t.csv", CsvForm(dialect="lines")
    around = [b"%d,f,Bern" % age for age in range(20)]
    wild = [bytes(rng.choice(np.frombuffer(b',"""\r a\xff\x00', np.uint8), rng.integers(0, 12))) for _ in range(200)]
    for line in (*wild, b'"' * 10_001, b'"a,' * 10_000, b"\xff" * 100_000):
        path.write_bytes(b"\n".join([b"age,sex,town", *around[:10], line, *around[10:], b""]))
        rows = read(path, form, 3)
        assert len(rows) == 21
        del rows[10]
        assert rows == [(str(age), "f", "Bern") for age in range(20)]


@pytest.mark.parametrize("dialect", ["rfc4180", "lines"])
def test_a_record_that_is_too_long_is_a_row_without_values(
    dialect: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it falls into blocks, and whatever its quotes are."""
    form, path = CsvForm(dialect=dialect), tmp_path / "t.csv"
    monkeypatch.setattr(csv_fields, "LONGEST", 30)
    for long in (b"x" * 100, b'"' + b'a,""' * 30 + b'"', b'"a"' + b"," * 99 + b'"b"', b"x," * 15 + b"y"):
        for block in (1, 2, 3, 29, 30, 31, 64):
            monkeypatch.setattr(csv_file, "BLOCK", block)
            for end in (b"", b"\n", b'\n"3",\n'):
                path.write_bytes(b"a,b\n1,2\n" + long + end)
                assert read(path, form, 2) == [("1", "2"), (None, None), ("3", None)][: 3 if len(end) > 1 else 2]


def test_a_record_that_is_just_short_enough_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n1,"' + b"x" * 25 + b'"\n2,\n')
    monkeypatch.setattr(csv_fields, "LONGEST", 30)
    for block in range(1, 40):
        monkeypatch.setattr(csv_file, "BLOCK", block)
        assert read(path, CsvForm(), 2) == [("1", "x" * 25), ("2", None)]


def test_no_more_of_a_record_is_held_than_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, held = tmp_path / "t.csv", []

    def noted(data: bytes, *others: Any) -> csv_fields.Fields:
        held.append(len(data))
        return csv_fields.fields_of(data, *others)

    path.write_bytes(b'a,b\n"' + b"x\n" * 5000 + b'",1\n2,3\n')
    for name, value in (("LONGEST", 30), ("BLOCK", 8), ("fields_of", noted)):
        monkeypatch.setattr(csv_fields if name == "LONGEST" else csv_file, name, value)
    assert read(path, CsvForm(), 2) == [(None, None), ("2", "3")]
    assert max(held) <= 2 * 30


def test_a_quote_that_stays_open_ends_with_the_file(tmp_path: Path) -> None:
    for rest, last in ((b'"x,y\nz', "x,y\nz"), (b'"x""', 'x"'), (b'"x"', "x"), (b'x"', 'x"')):
        (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n3," + rest)
        assert read(tmp_path / "t.csv", CsvForm(), 2) == [("1", "2"), ("3", last)]


def test_files_in_a_folder_begin_with_a_header_each(tmp_path: Path) -> None:
    for part in (1, 2):
        text = f'\ufeff"age",sex,town\r\n{part},f,"a\r\nb"\r\n'.encode()
        (tmp_path / f"{part}.csv.gz").write_bytes(gzip.compress(text))
    assert sorted(File(tmp_path, SCHEMA).everything(("age", "sex")).tolist()) == [[1, 0], [2, 0]]


def test_a_form_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_fields, "LONGEST", 1000)
    (tmp_path / "t.csv").write_bytes(b"age,sex,town\n")
    for wrong in ({"delimiter": ""}, {"delimiter": "||"}, {"delimiter": '"'}, {"delimiter": "§"}, {"dialect": "excel"}):
        with pytest.raises(ParameterError, match=r"delimiter|dialect"):
            File(tmp_path / "t.csv", SCHEMA, **wrong)  # type: ignore[arg-type]
    for header in (b"", b"\n1,2\n", b"a,a\n", b'"' + b"a," * 1000):
        (tmp_path / "t.csv").write_bytes(header)
        with pytest.raises(SchemaError, match="header"):
            csv_header(tmp_path / "t.csv", CsvForm())
