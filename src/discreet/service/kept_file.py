"""A file of its owner's alone that one process writes again and again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.held import Held, exclusive
from discreet.ledger.file_lock import locked
from discreet.ledger.own_file import create_own, read_own, replace_own

LONGEST = 2**31  # bytes


class KeptFile(Held):
    """What it had when it was read, and whatever is put in its place: after a crash, the one before or the last.

    What another process has written meanwhile is not replaced: whoever is second is refused.

    Parameters
    ----------
    path : str or Path
        Where it is.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._data = self._read()

    @classmethod
    def there(cls, path: str | Path, data: bytes) -> KeptFile:
        """The file, which is made with this where it is missing."""
        try:
            with suppress(FileExistsError):
                create_own(path, data)
        except OSError as why:
            raise ParameterError(f"write {path}", str(why.strerror or why), "Choose another place.") from why
        return cls(path)

    @property
    @exclusive
    def data(self) -> bytes:
        """What it has."""
        return self._data

    @exclusive
    def replace(self, data: bytes) -> None:
        """Put this in its place."""
        with locked(self._path.with_name(f"{self._path.name}.lock")):
            if self._read() != self._data:
                remedy = "Let one process at a time use it."
                raise NotPermitted("change of a file", "another process has written it meanwhile", remedy)
            replace_own(self._path, data)
        self._data = data

    def _read(self) -> bytes:
        try:
            return read_own(self._path, f"read {self._path}", 1, LONGEST)
        except OSError as why:
            raise ParameterError(f"read {self._path}", str(why.strerror or why), "Check the path.") from why
