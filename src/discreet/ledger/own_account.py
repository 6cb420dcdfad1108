"""A person's own account: in memory, or in a file that threads and processes share."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from discreet.core.errors import ParameterError
from discreet.core.held import Held
from discreet.ledger.file_lock import locked
from discreet.ledger.own_file import read_own, replace_own

LONGEST = 2**28  # bytes of an account


class OwnAccount(Held):
    """What a device keeps for the one person whose it is. A file is locked while it is looked at and changed.

    A subclass reads what it finds in the file (`_take`), and writes what it becomes before it counts (`_keep`).

    Parameters
    ----------
    path : path, optional
        Where it is kept, on the person's own device, so that it outlives the process.
    """

    whose: ClassVar[str] = "device"

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = None if path is None else Path(path).resolve()
        with self._held():
            pass

    @property
    @abc.abstractmethod
    def _begun(self) -> bool:
        """Whether anything was spent that the file has to show."""

    @abc.abstractmethod
    def _take(self, data: bytes) -> None:
        """Become what the file says, or raise what damaged files raise."""

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """Have the account to oneself, as it is on disk: others may have reported from it."""
        if self._path is None:
            yield
            return
        try:
            with locked(self._path.with_name(f"{self._path.name}.lock")):
                if self._path.exists():
                    self._load(self._path)
                elif self._begun:
                    raise self._refused("it is gone, and what was spent with it", "Restore it.")
                yield
        except OSError as why:
            raise self._refused(str(why.strerror or why), "Make it a file that can be written.") from why

    def _load(self, path: Path) -> None:
        data = read_own(path, f"open {path}", 1, LONGEST)
        try:
            self._take(data)
        except (ValueError, KeyError, TypeError, AttributeError, ParameterError) as why:
            obstacle = f"it is not the account of this {self.whose} ({why})"
            raise self._refused(obstacle, "Use the file that it wrote.") from why

    def _keep(self, data: bytes) -> None:
        """Write it, durably; nothing where it is in memory."""
        if self._path is not None:
            replace_own(self._path, data)

    def _refused(self, obstacle: str, remedy: str) -> ParameterError:
        return ParameterError(f"open {self._path}", obstacle, remedy, path=str(self._path))
