"""The mean of a small table: how much work it is besides the sum."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import discreet

pd = pytest.importorskip("pandas")
MOST_CALLS = 300  # locks, checks of public parameters and what a receipt binds take forty of them
REDRAWN = 11  # more calls, where the first noise is rejected
HOME = str(Path(discreet.__file__).parent)


def calls(frame: Any) -> int:
    """How many calls of this library's functions one mean takes."""
    found = 0

    def counted(called: FrameType, event: str, _: Any) -> None:
        nonlocal found
        found += event == "call" and called.f_code.co_filename.startswith(HOME)

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        discreet.mean(frame, "x", bounds=(0, 100), epsilon=1.0)
    finally:
        sys.setprofile(before)
    return found


def test_a_mean_of_a_small_table_takes_few_calls() -> None:
    """The fewest of 21, once two have loaded what there is to load: in half of all means some noise is drawn again."""
    frame = pd.DataFrame({"x": np.arange(1000.0) % 100})
    found = [calls(frame) for _ in range(23)][2:]
    assert min(found) <= MOST_CALLS
    assert np.median(found) <= MOST_CALLS + REDRAWN
