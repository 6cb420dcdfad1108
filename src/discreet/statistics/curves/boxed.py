"""A data set and the box that its columns lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.questions.columns.box import GUESS, Box
from discreet.releases.ask import columns_of
from discreet.trust.as_private import Bounds
from discreet.trust.private_data import PrivateData

Columns = str | Sequence[str]


@dataclass(frozen=True)
class Boxed:
    """A data set and the box of the columns that are asked about."""

    data: PrivateData
    box: Box

    def size(self, asked: str, expected_size: int | None) -> int:
        """About how many records there are: as the asker says, or as is public; a guess, where it is secret."""
        if expected_size is not None:
            check_whole(asked, "expected_size", expected_size)
            return int(expected_size)
        size = self.data.public_size
        return GUESS if size is None else max(size, 1)


def boxed(asked: str, data: Any, columns: Columns | None, bounds: Bounds | None, budget: Budget) -> Boxed:
    """The columns that a density is of: those of private data, or those of an array with bounds of its own."""
    of = columns_of(asked, data, columns, bounds, budget)
    return Boxed(of.data, Box.of(of.data.schema, of.columns))
