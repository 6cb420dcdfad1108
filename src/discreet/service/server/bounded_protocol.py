"""HTTP of bounded patience: so many lines at a time, and so many seconds for a request to arrive."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from discreet.core.held import unheld

PATIENCE = 20.0  # seconds for a request, from the opening of a line or the answer before to its last byte
MOST_LINES = 1024  # open at a time; one that says nothing makes room for another
MOST_HEAD = 2**14  # bytes before the body


@unheld("releases")
class BoundedProtocol(HttpToolsProtocol):
    """A line on which requests arrive in time, or it is closed."""

    patience: ClassVar[float] = PATIENCE
    most_lines: ClassVar[int] = MOST_LINES

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head, self._late = 0, asyncio.get_running_loop().call_later(self.patience, self._close_late)

    def connection_made(self, transport: Any) -> None:
        """Make room where there are too many lines: the one that has been silent for longest is closed."""
        if len(self.connections) >= self.most_lines:
            silent = [line for line in self.connections if isinstance(line, BoundedProtocol) and line.is_silent]
            if not silent:
                transport.close()
            else:
                min(silent, key=lambda line: line._late.when()).close_line()
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more arrives."""
        self._late.cancel()
        super().connection_lost(exc)

    @property
    def is_silent(self) -> bool:
        """Whether no request of it is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def close_line(self) -> None:
        """End this line."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; a head that does not end is none."""
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and self.is_silent:
            self.close_line()

    def on_headers_complete(self) -> None:
        """The body follows, whose size is bounded elsewhere."""
        self._head = -(2**62)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """All of it is there."""
        self._late.cancel()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The next one may come."""
        self._late.cancel()
        self._head, self._late = 0, asyncio.get_running_loop().call_later(self.patience, self._close_late)
        super().on_response_complete()

    def _close_late(self) -> None:
        if self.is_silent or not self._complete:
            self.close_line()

    @property
    def _complete(self) -> bool:
        return self.cycle is not None and not self.cycle.more_body
