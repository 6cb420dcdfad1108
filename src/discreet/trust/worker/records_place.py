"""Where a worker finds its records, and what is public about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.core.neighbors import Neighbors, Unit
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class RecordsPlace:
    """What a worker is started with: it is told once, and opens this and nothing else.

    Parameters
    ----------
    name : str
        Public. What the data set is called.
    source : str or mapping of str to list
        A path of a CSV or Parquet file, a folder or a pattern; or the records themselves, where they are made up.
    schema : Schema
        Public. What is known of the columns.
    neighbors : Neighbors
        Public. The relation.
    unit : Unit
        Public. Whose presence is hidden.
    """

    name: str
    source: Any
    schema: Schema
    neighbors: Neighbors
    unit: Unit
