"""Records and fields of CSV, held against a reader that goes from byte to byte."""

from __future__ import annotations

import csv
import io
from typing import get_args

import numpy as np
import pytest

from discreet.trust.sources import csv_fields
from discreet.trust.sources.csv_fields import Dialect, fields_of

COMMA = ord(",")
Records = list[list[bytes]]


def read(data: bytes, dialect: Dialect) -> Records:
    found = fields_of(data, COMMA, dialect)
    values = [value[:-1] for value in found.values.to_pylist()]
    return [values[first : first + width] for first, width in zip(found.first, found.width, strict=True)]


def closes(rest: bytes) -> bool:
    """Whether a quoted part that begins here ends here."""
    return rest.replace(b'""', b"").find(b'"') >= 0


def by_bytes(data: bytes, dialect: Dialect = "rfc4180") -> Records:
    """The whole records, from byte to byte; in `lines`, from the first wrong quote of a line on quotes mean nothing."""
    records: Records = [[b""]]
    quoted = begun = plain = False
    place = 0
    while place < len(data):
        byte, rest = data[place : place + 1], data[place + 1 :]
        place += 1
        if byte == b'"' and dialect == "lines" and not quoted:
            plain |= begun or not closes(rest.partition(b"\n")[0])
        if byte == b'"' and not plain and quoted and rest[:1] == b'"':
            records[-1][-1] += byte
            place += 1
        elif byte == b'"' and not plain and (quoted or not begun):
            quoted, begun = not quoted, True
        elif byte in b",\n" and not quoted:
            begun, plain = False, plain and byte == b","
            records[-1].append(b"") if byte == b"," else records.append([b""])
        else:
            begun = True
            records[-1][-1] += byte
    return records[:-1]


def random_bytes(count: int) -> list[bytes]:
    rng = np.random.default_rng(5)
    return [
        bytes(rng.choice(np.frombuffer(b',,""""\n\r a\x00', np.uint8), size)) for size in rng.integers(0, 30, count)
    ]


def test_fields_are_those_of_a_reader_that_goes_byte_by_byte() -> None:
    for data in random_bytes(1000):
        for dialect in get_args(Dialect):
            assert read(data, dialect) == by_bytes(data, dialect), (dialect, data)


def test_pythons_reader_finds_the_same() -> None:
    for data in random_bytes(1000):
        text = data.replace(b"\r", b"r").decode().rstrip("\n") + "\n"
        found = [[field.decode() for field in fields] for fields in read(text.encode(), "rfc4180")]
        pythons = list(csv.reader(io.StringIO(text, newline="")))[: len(found)]
        assert found == [fields or [""] for fields in pythons], text


def test_what_stands_for_an_unfinished_record_is_read_on_as_it_would_be() -> None:
    """So that a record which does not fit into memory ends where it ends."""
    rng = np.random.default_rng(6)
    for data in random_bytes(400):
        cut = int(rng.integers(0, len(data) + 1))
        for dialect in get_args(Dialect):
            begun = fields_of(data[:cut], COMMA, dialect)
            if begun.read < cut:
                whole, shortened = (read(start + data[cut:], dialect) for start in (data[begun.read : cut], begun.rest))
                assert (len(whole), whole[1:]) == (len(shortened), shortened[1:]), (dialect, data, cut)


def test_a_record_that_is_too_long_is_one_without_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_fields, "LONGEST", 8)
    assert read(b"a,b\n12345678\n1234567\nc,d\n", "rfc4180") == [[b"a", b"b"], [], [b"1234567"], [b"c", b"d"]]
