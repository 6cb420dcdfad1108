"""A progress bar on a terminal, and nothing elsewhere."""

from __future__ import annotations

import shutil
from typing import TextIO

from discreet.query.display import shortened

WIDTH = 30


class ProgressBar:
    """Draws how far a report is.

    Parameters
    ----------
    stream : text stream
        Drawn on only if it is a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.started = False

    def __call__(self, done: int, total: int, what: str) -> None:
        """Draw the bar anew; wipe it when all is done."""
        self.started = True
        if not self._stream.isatty():
            return
        filled = round(WIDTH * done / total)
        room = max(shutil.get_terminal_size().columns - WIDTH - 14, 8)
        line = f"[{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total} {shortened(what, room)}"
        self._stream.write("\r\x1b[K" + (line if done < total else ""))
        self._stream.flush()
