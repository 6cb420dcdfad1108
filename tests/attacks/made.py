"""Tables that were given away, made up."""

from __future__ import annotations

from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.microdata import PublishedTable
from discreet.schema.schema import Schema


def published(schema: Schema, rows: Array) -> PublishedTable:
    """Rows as a released table."""
    receipt = Receipt("made", NoPromise("made up"), 0.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    return PublishedTable(name="made", receipt=receipt, confidence=None, schema=schema, records=rows)
