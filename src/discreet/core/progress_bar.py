"""A progress bar on a terminal or in a notebook, and nothing elsewhere."""

from __future__ import annotations

import contextlib
import html
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from discreet.core.held import unheld
from discreet.display.plain import plain, shortened

WIDTH = 30
PATIENCE = 1.0  # seconds, before a bar is drawn

Progress = Callable[[int, int, str], None]
"""Called with how much is done, how much there is, and what it is in words; all public."""


@unheld("releases")
class ProgressBar:
    """Draws how far long work is.

    Parameters
    ----------
    stream : text stream, optional
        Drawn on if it is a terminal; by default standard error. A notebook draws a bar of its own instead.
    after : float
        How many seconds work has to take before anything is drawn.
    every : float
        How many seconds are at least between two drawings.

    Examples
    --------
    >>> from io import StringIO
    >>> bar = ProgressBar(StringIO())
    >>> bar(1, 2, "halfway")  # no terminal
    """

    def __init__(self, stream: TextIO | None = None, after: float = 0.0, every: float = 0.0) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._given = stream is not None
        self._shown: Any = None
        self.started = self._drawn = False
        self._due, self._every = time.monotonic() + after, every

    def __call__(self, done: int, total: int, what: str) -> None:
        """Draw the bar anew; wipe it from a terminal when all is done."""
        self.started = True
        now = time.monotonic()
        if (not self._drawn) if done == total else now < self._due:
            return
        self._drawn, self._due = True, now + self._every
        if not self._given and (notebook := _notebook()) is not None:
            self._show(
                notebook,
                f"<progress value='{done}' max='{total}'></progress> {done}/{total} {html.escape(plain(what))}",
            )
        elif self._stream is not None and not self._stream.closed and self._stream.isatty():
            filled = round(WIDTH * done / total)
            room = max(shutil.get_terminal_size().columns - WIDTH - 14, 8)
            line = f"[{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total} {shortened(what, room)}"
            with contextlib.suppress(OSError):  # a terminal that went away must not cost what was paid for
                self._stream.write("\r\x1b[K" + (line if done < total else ""))
                self._stream.flush()

    def _show(self, notebook: Any, page: str) -> None:
        if self._shown is None:
            self._shown = notebook.display(notebook.HTML(page), display_id=True)
        else:
            self._shown.update(notebook.HTML(page))


def tracked(total: int, what: str) -> Iterator[int]:
    """The numbers of so many steps, while a bar shows how many are made; after a second, and ten times a second.

    Examples
    --------
    >>> list(tracked(3, "steps of training"))
    [0, 1, 2]
    """
    bar = patient_bar()
    for step in range(total):
        yield step
        bar(step + 1, total, what)


def patient_bar() -> ProgressBar:
    """A bar for work that is usually quick and has many steps."""
    return ProgressBar(after=PATIENCE, every=0.1)


def _notebook() -> Any:
    """What displays in the notebook that this code runs in, if it does."""
    running = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return sys.modules.get("IPython.display") if running and hasattr(running(), "kernel") else None
