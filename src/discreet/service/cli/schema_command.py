"""`discreet schema`: write a schema to fill in, or check one."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from discreet.core.errors import ParameterError
from discreet.display.plain import plain
from discreet.query.blank_schema import init as blank_schema
from discreet.query.schema_file import read_schema
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.saying import say
from discreet.trust.sources.csv_file import CsvForm


def init(arguments: Namespace) -> int:
    """Print or write a schema with the file's columns, all to be filled in."""
    text = blank_schema(arguments.file, CsvForm(arguments.delimiter, arguments.dialect))
    if arguments.out is None:
        say(arguments, text.rstrip("\n"), schema=text)
        return 0
    if Path(arguments.out).exists():
        raise ParameterError(f"write {arguments.out}", "there is a file already", "Choose another place for --out.")
    with OutFile(arguments.out) as out:
        out.write(text)
    done = f"Wrote {plain(arguments.out)}: fill it in, then run: discreet schema check {plain(arguments.out)}"
    say(arguments, done, wrote=arguments.out)
    return 0


def check(arguments: Namespace) -> int:
    """Say what the schema describes."""
    described = read_schema(arguments.schema)
    columns = {plain(name): plain(repr(column)) for name, column in described.schema.columns.items()}
    neighbors, unit = described.neighbors.value, plain(repr(described.unit))
    lines = [f"{name}: {column}" for name, column in columns.items()]
    text = "\n".join([*lines, f"neighbors: {neighbors}; unit: {unit}"])
    say(arguments, text, columns=columns, neighbors=neighbors, unit=unit)
    return 0
