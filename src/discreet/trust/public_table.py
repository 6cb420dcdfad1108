"""A table that is no secret, to stand beside private ones."""

from __future__ import annotations

from typing import Any

from discreet.schema.plain_schema import PlainSchema, schema_of
from discreet.schema.relation.stored_rows import PublicRows
from discreet.schema.schema import Schema
from discreet.trust.related_tables import RelatedTables
from discreet.trust.sources.source_of import source_of


class PublicTable:
    """Rows that everybody may see: a calendar, prices, the beds of each ward. Nothing about it is protected or paid.

    Parameters
    ----------
    records : data frame, mapping of arrays, path, DuckDB relation, (connection, query)
        Public. The rows.
    schema : Schema, or mapping of str to columns
        Public. Its columns; keys as the tables that it is joined with have them.
    name : str
        Public. What it is called in the ledger.

    Examples
    --------
    >>> wards = PublicTable({"ward": ["day", "icu"], "beds": [20, 6]}, {"ward": ["day", "icu"], "beds": (0, 100)})
    >>> wards.schema.features
    ('beds',)
    """

    def __init__(self, records: Any, schema: PlainSchema, *, name: str = "public") -> None:
        self.schema: Schema = schema_of(schema)
        node = PublicRows(name, self.schema)
        self.rows = RelatedTables(node, {node: source_of(records, self.schema)})
