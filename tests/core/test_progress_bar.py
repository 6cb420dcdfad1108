from __future__ import annotations

import sys
from io import StringIO
from types import SimpleNamespace

import pytest

from discreet.core.progress_bar import ProgressBar, tracked


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_that_is_wiped_at_the_end() -> None:
    terminal = Terminal()
    bar = ProgressBar(terminal)
    bar(1, 2, "mean of\x1b[2J age")
    drawn = terminal.getvalue()
    assert drawn.startswith("\r\x1b[K[###############...............] 1/2 mean of")
    assert "\x1b[2J" not in drawn
    bar(2, 2, "done")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_it_grows_from_nothing() -> None:
    terminal = Terminal()
    bar = ProgressBar(terminal)
    for done in range(4):
        bar(done, 3, "mean of age")
    assert [line.count("#") for line in terminal.getvalue().split("\r\x1b[K")[1:]] == [0, 10, 20, 0]


def test_what_is_quick_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 0.9, 1.1, 1.2, 1.3))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    bar = ProgressBar(terminal, after=1.0)
    bar(1, 3, "early")
    assert terminal.getvalue() == ""
    bar(2, 3, "late")
    assert "2/3 late" in terminal.getvalue()
    terminal.truncate(0)
    ProgressBar(terminal)(3, 3, "never drawn")
    assert terminal.getvalue() == ""


def test_a_terminal_that_went_away_stops_nothing() -> None:
    tried: list[str] = []

    class Gone(Terminal):
        def write(self, text: str, /) -> int:
            tried.append(text)
            raise OSError("gone")

    ProgressBar(Gone())(1, 2, "mean")
    assert len(tried) == 1


def test_a_file_stays_empty() -> None:
    log = StringIO()
    ProgressBar(log)(1, 2, "mean")
    assert log.getvalue() == ""


def test_a_notebook_updates_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []

    def display(page: str, display_id: bool) -> SimpleNamespace:
        assert display_id
        pages.append(page)
        return SimpleNamespace(update=pages.append)

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    screen = SimpleNamespace(display=display, HTML=str)
    monkeypatch.setitem(sys.modules, "IPython.display", screen)
    bar = ProgressBar()
    bar(1, 2, "<b>")
    bar(2, 2, "done")
    assert pages == [
        "<progress value='1' max='2'></progress> 1/2 &lt;b&gt;",
        "<progress value='2' max='2'></progress> 2/2 done",
    ]


def test_steps_are_tracked_after_a_second_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, clock = Terminal(), iter((0.0, 0.5, 1.01, 1.05, 1.12, 1.13))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(tracked(5, "steps")) == [0, 1, 2, 3, 4]
    drawn = [line.partition("] ")[2] for line in terminal.getvalue().split("\r\x1b[K")[1:]]
    assert drawn == ["2/5 steps", "4/5 steps", ""]
