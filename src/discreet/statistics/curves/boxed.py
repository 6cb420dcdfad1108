"""A data set and the box that its columns lie in."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.checks import check_whole
from discreet.questions.columns.box import GUESS, Box
from discreet.releases.ask import ColumnsOf
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class Boxed:
    """The columns that are asked about, and their box."""

    of: ColumnsOf
    box: Box

    @classmethod
    def around(cls, of: ColumnsOf) -> Boxed:
        """The columns in the box of their bounds."""
        return cls(of, Box.of(of.schema, of.columns))

    @property
    def data(self) -> PrivateData:
        """The records."""
        return self.of.data

    def size(self, asked: str, expected_size: int | None) -> int:
        """About how many records there are: as the asker says, or as is public; a guess, where it is secret."""
        if expected_size is not None:
            check_whole(asked, "expected_size", expected_size)
            return int(expected_size)
        size = self.of.size
        return GUESS if size is None else max(size, 1)
