"""Records that a curator hands to code that keeps the promise itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.secret import Secret
from discreet.questions.filtered import FilteredView
from discreet.trust.filtered import Filtered
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class CuratedRecords(Secret):
    """Records inside their bounds, categories as places, nan where missing; and where noise is to come from."""

    values: Array = field(repr=False)
    bits: Bits = field(repr=False)


def curated_records(data: PrivateData, columns: Sequence[str], purpose: str) -> CuratedRecords:
    """All records of a data set, secret: for training that samples, clips, adds noise and charges by itself.

    Everything else asks through `PrivateData.permit`. The records stay what they are: nothing was released or charged.

    Parameters
    ----------
    data : PrivateData
        The records, of a curator, for neighbors that differ by one record, added or removed.
    columns : sequence of str
        Public. Which.
    purpose : str
        Public. What for.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.budget import Budget
    >>> from discreet.schema.schema import Schema
    >>> data = PrivateData.of(np.array([[0.5], [7.0]]), Schema.numeric(0.0, 1.0, 1), Budget(1.0))
    >>> curated_records(data, ["x0"], "train").values.tolist()
    [[0.5], [1.0]]
    >>> curated_records(data.where("x0 < 1"), ["x0"], "train").values.tolist()
    [[0.5]]
    """
    data.check_curated(purpose)
    if data.neighbors is not Neighbors.ADD_REMOVE or data.unit != RECORD:
        raise NotPermitted(
            purpose,
            f"it samples records that are added or removed, and the data set is for {data.neighbors.value} and"
            f" {data.unit.kind}",
            "Open the data set for records that are added or removed.",
        )
    curator: Any = data._trust
    if not isinstance(curator, Filtered):
        return CuratedRecords(curator._view.everything(columns), curator._bits)
    view = FilteredView(curator.trust._view, curator.condition)  # type: ignore[attr-defined]
    return CuratedRecords(view.everything(columns), curator.trust._bits)  # type: ignore[attr-defined]
