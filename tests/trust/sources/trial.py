"""What a source of records brings for the trial that all sources are put through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from discreet.schema.schema import Schema
from discreet.trust.sources.source import Source
from tests.trust.sources.tables import Table

Opened = Callable[[Table, Schema, Path], Source]
"""Columns by name, their schema and an empty folder in; the same records as a source out."""


@dataclass(frozen=True)
class SourceTrial:
    """How a source is given records.

    Parameters
    ----------
    opened : callable, or None
        Makes a source of a table; None where it is tried `elsewhere`.
    mixed : bool
        Whether one column may hold values of any kinds, so that there is more that cannot be read.
    in_memory : bool
        Whether the records are in this process, so that nothing about them has to be looked at before a charge.
    elsewhere : str
        Where it is tried otherwise, and why.
    """

    opened: Opened | None
    mixed: bool = False
    in_memory: bool = False
    elsewhere: str = ""
