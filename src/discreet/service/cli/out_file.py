"""A file that is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.ledger.own_file import replace_own


class OutFile:
    """A place to write to, tried before anything is charged. Use it in a `with` block.

    Parameters
    ----------
    path : str
        Where to write; a missing folder is made. What is there is replaced only when the new file is whole.
    keep : iterable of paths
        Files that must not be overwritten, such as the data.
    """

    def __init__(self, path: str, keep: Iterable[str | Path | None] = ()) -> None:
        self.path = Path(path).resolve()
        self._part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        if any(other is not None and Path(other).resolve() == self.path for other in keep):
            raise _refused(self.path, "that file is needed as it is")
        if self.path.exists() and not self.path.is_file():
            raise _refused(self.path, "it is a folder or a device")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self._part, "x", encoding="utf-8", newline="\n")  # noqa: SIM115
        except OSError as why:
            raise _refused(self.path, str(why.strerror or why)) from why

    def write(self, text: str, consequence: str = UNTOUCHED, remedy: str = "Make room.") -> None:
        """Put the text in its place."""
        with self._told(consequence, remedy):
            with self._file as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._part, self.path)

    def write_own(self, text: str, consequence: str = UNTOUCHED, remedy: str = "Make room.") -> None:
        """The same for a text that is not private: nobody but the owner of the file can read it."""
        with self._told(consequence, remedy):
            replace_own(self.path, text.encode())

    @contextmanager
    def _told(self, consequence: str, remedy: str) -> Iterator[None]:
        try:
            yield
        except OSError as why:
            raise ParameterError(f"write {self.path}", str(why.strerror or why), remedy, consequence) from why

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)


def _refused(path: Path, obstacle: str) -> ParameterError:
    return ParameterError(f"write {path}", obstacle, "Choose another place for --out.", path=str(path))
