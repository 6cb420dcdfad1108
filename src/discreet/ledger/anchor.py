"""The anchor: the newest head, in a small file beside the ledger.

It is written after each entry is durable, so it may lag behind the chain and is never ahead of it. Hence a chain that
does not contain the anchored head was cut or rolled back, whatever crashed and when.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from discreet.core.errors import LedgerBroken, LedgerError
from discreet.ledger.file_lock import held
from discreet.ledger.own_file import replace_own

LINE = 20 + 1 + 64 + 1 + 16 + 1
_sync = os.fdatasync if sys.platform == "linux" else os.fsync


@dataclass(frozen=True)
class AnchoredHead:
    """A head and the number of its entry."""

    number: int
    head: str

    @property
    def line(self) -> bytes:
        """Both as text of fixed length, with a checksum that a torn write does not pass."""
        text = f"{self.number:020d} {self.head}"
        return f"{text} {hashlib.sha256(text.encode()).hexdigest()[:16]}\n".encode()


class Anchor:
    """Two lines, of which the older is overwritten in place: a torn write leaves the other one.

    Overwriting needs no space, so a full disk cannot make the anchor lag.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, mark: AnchoredHead) -> None:
        """Write the file anew, durably."""
        replace_own(self.path, mark.line * 2)

    @property
    def usable(self) -> bool:
        """Whether there is a mark to read."""
        return self.path.exists() and any(_marks(self.path.read_bytes()))

    def read(self) -> AnchoredHead:
        """The newest mark that was written whole."""
        try:
            marks = [mark for mark in _marks(self.path.read_bytes()) if mark]
        except FileNotFoundError:
            raise self._unusable("is missing") from None
        if not marks:
            raise self._unusable("is damaged")
        return max(marks, key=lambda mark: mark.number)

    def advance(self, mark: AnchoredHead) -> None:
        """Move to a mark whose entry is durable already, unless a newer one is there.

        It outlives a power cut once there was a `sync`. Processes that share the file take turns: two that read the
        same lines would both overwrite the older one, and the newer mark could be lost.
        """
        try:
            with open(self.path, "r+b", buffering=0) as file, held(file.fileno()):
                numbers = [line.number if line else -1 for line in _marks(file.read(2 * LINE))]
                if mark.number > max(numbers):
                    file.seek(numbers.index(min(numbers)) * LINE)
                    file.write(mark.line)
        except FileNotFoundError:
            raise self._unusable("is missing") from None

    def sync(self) -> None:
        """See to it that the mark is on disk, or a newer one: whoever wrote that has its entry on disk."""
        try:
            with open(self.path, "r+b", buffering=0) as file:
                _sync(file.fileno())
        except FileNotFoundError:
            raise self._unusable("is missing") from None
        except OSError as why:
            remedy = "Retry with the same key: whether it was recorded shows then."
            raise LedgerError(f"anchor {self.path}", f"it cannot be written ({why.strerror})", remedy, "") from why

    def _unusable(self, how: str) -> LedgerBroken:
        return LedgerBroken(
            f"anchor {self.path}",
            f"the file that holds the ledger's newest head {how}, so a rolled-back ledger would go unnoticed",
            "Restore it, or, if a head kept elsewhere shows that the ledger is whole,"
            " call SqliteLedger.reanchor(path, head=..., reason=...).",
        )


def _marks(content: bytes) -> list[AnchoredHead | None]:
    """Both lines, None for one that was not written whole."""
    return [_mark(content[i * LINE : (i + 1) * LINE]) for i in range(2)]


@lru_cache(maxsize=64)
def _mark(line: bytes) -> AnchoredHead | None:
    try:
        number, head, _ = line.decode("ascii").split()
        mark = AnchoredHead(int(number), head)
    except ValueError:
        return None
    return mark if mark.line == line else None
