"""What the manual shows works, and it explains every parameter."""

from __future__ import annotations

import doctest
import inspect
import re
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


def test_every_parameter_of_a_public_function_or_learner_is_explained() -> None:
    explained = {
        name
        for row in re.findall(r"^\| (`.*?) \|", (DOCS / "names.md").read_text(), re.M)
        for name in re.findall(r"`(\w+)`", row)
    }
    public = [getattr(room, name) for room in (discreet, discreet.learners) for name in room.__all__]
    asked = [one for one in public if inspect.isfunction(one) or hasattr(one, "fit")]
    assert len(asked) > 40
    for one in asked:
        assert set(inspect.signature(one).parameters) <= explained, one
