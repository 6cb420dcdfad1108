"""What the manual shows works, and it explains every parameter that is shared."""

from __future__ import annotations

import doctest
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

import discreet

DOCS = Path(__file__).parent.parent / "docs"


def test_the_examples_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for page in ("statistics.md", "files.md"):
        found = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=doctest.ELLIPSIS)
        assert found.attempted > 5
        assert found.failed == 0, page


def test_every_parameter_that_two_share_is_explained() -> None:
    rows = re.findall(r"^\| (`.*?) \|", (DOCS / "names.md").read_text(), re.MULTILINE)
    public = [getattr(room, name) for room in (discreet, discreet.learners) for name in room.__all__]
    asked = [one for one in public if inspect.isfunction(one) or hasattr(one, "fit")]
    shared = Counter(name for one in asked for name in inspect.signature(one).parameters)
    assert shared["epsilon"] > 40
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {name for name, times in shared.items() if times > 1} <= explained
