"""Text for a reader."""

from __future__ import annotations

from discreet.display.plain import plain, shortened


def test_nothing_reaches_a_terminal_that_could_rewrite_it() -> None:
    hostile = "a\x1b[2J\r\nb\u202ec\x00\x07"
    assert plain(hostile).isprintable()
    assert shortened(hostile * 9, 10).isprintable()
    assert len(shortened("x" * 50, 10)) == 10
