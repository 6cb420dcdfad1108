"""The file of a table that is given away."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError
from discreet.display.plain import plain
from discreet.microdata.published_table import PublishedTable
from discreet.releases.release import finite
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.saying import put, writing_paid
from discreet.trust.sources.columns.arrow_column import arrow
from discreet.trust.sources.file import files_at

ENDINGS = (".csv", ".parquet")


class TableFile(OutFile):
    """The place that `--out` names, CSV or Parquet by its ending; tried before anything is charged.

    Parameters
    ----------
    arguments : Namespace
        Public. With the data's `file`, the `schema`, the `ledger`, and `out`.
    """

    def __init__(self, arguments: Namespace) -> None:
        self._ending = Path(arguments.out).suffix
        if self._ending not in ENDINGS:
            remedy = f"Give a name that ends in {' or '.join(ENDINGS)}."
            raise ParameterError(f"write {arguments.out}", "its name does not say what it is to be", remedy)
        if self._ending == ".parquet":
            arrow()
        data, place = Path(arguments.file), Path(arguments.out).resolve()
        there = files_at(data)
        if not data.is_file() and place.parent in {file.resolve().parent for file in there}:
            raise ParameterError(f"write {place}", "that folder has the data", "Choose another folder for --out.")
        super().__init__(arguments.out, (*there, arguments.schema, arguments.ledger))

    def save(self, table: PublishedTable, key: str | None) -> None:
        """Write a table that was paid for; where that fails, it stays under its key, if a ledger has it."""
        with writing_paid(self.path, key):
            (table.to_csv if self._ending == ".csv" else table.to_parquet)(self.path)

    def say(self, table: PublishedTable, more: Mapping[str, Any], *, as_json: bool) -> None:
        """Print the first rows, what they cost and where all are; or all but the rows, as one JSON object.

        Parameters
        ----------
        table : PublishedTable
            What was released and written.
        more : mapping
            What else was released, and said of it.
        as_json : bool
            Public. Whether JSON is asked for.
        """
        if as_json:
            about = {"wrote": str(self.path), "rows": len(table), "columns": list(table.schema.columns), **more}
            text = json.dumps(finite({**about, "receipt": table.receipt.to_dict()}), allow_nan=False)
        else:
            told = [plain(f"{name}: {value}") for name, value in more.items()]
            text = "\n".join([str(table), table.receipt.cost, plain(f"Wrote {self.path}"), *told])
        put(text, f"It was charged, and the table is in {self.path}.", "Take it there.")
