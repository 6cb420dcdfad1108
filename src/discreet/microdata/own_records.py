"""Records that their owner looks at as they are: nothing that is computed from them is private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.microdata.published_table import PublishedTable
from discreet.schema.plain_schema import PlainSchema, schema_of
from discreet.schema.schema import Schema, Text
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of


@dataclass(frozen=True)
class OwnRecords:
    """Records in the clear, read by a schema.

    Parameters
    ----------
    schema : Schema
        What the columns are.
    columns : tuple of str
        Those that were read.
    values : array of shape (n, columns)
        Numbers, places in the lists of categories, nan where a value is missing.

    Examples
    --------
    >>> own = OwnRecords.of("example", {"age": [31, None], "sex": ["f", "x"]}, {"age": (0, 90), "sex": ["f", "m"]})
    >>> own.values
    array([[31.,  0.],
           [nan, nan]])
    """

    schema: Schema
    columns: tuple[str, ...]
    values: Array = field(repr=False)

    @classmethod
    def of(
        cls, asked: str, records: Any, bounds: PlainSchema | None = None, columns: Sequence[str] | None = None
    ) -> OwnRecords:
        """Of a published table, a data frame, a mapping of arrays, or a file; private data are refused."""
        if isinstance(records, PrivateData):
            obstacle = "it looks at records as they are, and these are behind their ledger"
            raise NotPermitted(asked, obstacle, "Give the records themselves, if they are yours, or ask privately.")
        if isinstance(records, PublishedTable):
            names = records.schema.values(tuple(records.schema.columns) if columns is None else columns)
            places = [list(records.schema.columns).index(name) for name in names]
            return cls(records.schema, names, records.records[:, places])
        if bounds is None:
            raise ParameterError(asked, "bounds are not given", "Say what the columns are: bounds={'tea': bool}.")
        schema = schema_of(bounds)
        there = tuple(name for name, column in schema.columns.items() if not isinstance(column, Text))
        source = source_of(records, schema)
        if not isinstance(source, Batched):
            raise ParameterError(asked, "its records cannot be read one by one", "Give a data frame or a mapping.")
        names = schema.values(there if columns is None else columns)
        return cls(schema, names, source.everything(names))
