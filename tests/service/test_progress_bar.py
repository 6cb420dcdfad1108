"""The progress bar: on a terminal only."""

from __future__ import annotations

import io

from discreet.releases.progress_bar import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_where_nobody_looks() -> None:
    stream = io.StringIO()
    ProgressBar(stream)(1, 3, "mean of age")
    assert stream.getvalue() == ""


def test_it_grows_and_is_wiped_at_the_end() -> None:
    stream = Terminal()
    bar = ProgressBar(stream)
    for done in range(4):
        bar(done, 3, "mean of age")
    drawn = stream.getvalue().split("\r\x1b[K")
    assert [line.count("#") for line in drawn[1:]] == [0, 10, 20, 0]
    assert "1/3 mean of age" in drawn[2]
    assert drawn[-1] == ""


def test_a_column_name_cannot_rewrite_the_terminal() -> None:
    stream = Terminal()
    ProgressBar(stream)(0, 3, "mean of \x1b[2J\n")
    assert stream.getvalue().count("\x1b") == 1
    assert "\n" not in stream.getvalue()
