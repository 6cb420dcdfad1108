"""What the pages of bandits and counters and the example show works."""

from __future__ import annotations

import doctest
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_pages_work() -> None:
    for page, least in (("bandits.md", 20), ("counters.md", 15)):
        found = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
        assert found.attempted > least
        assert found.failed == 0, page


def test_the_example_draws_what_it_says(tmp_path: Path) -> None:
    """600 rounds: pulling at random costs 144; the best agent here, without privacy, measured 33 +- 3."""
    found = runpy.run_path(str(ROOT / "examples" / "bandits.py"))["main"](tmp_path / "bandits.svg", rounds=600)
    assert found["Thompson sampling, not private"] == min(found.values()) < 50
    drawn = (tmp_path / "bandits.svg").read_text()
    assert drawn.count('id="line2d_') >= 6
    assert drawn.count('id="FillBetweenPolyCollection_') == 5
