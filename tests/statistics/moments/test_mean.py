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
REDRAWN = 7  # more calls, where noise is rejected once more
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
    """All but one of 21, once two have loaded what there is to load: noise may be drawn again, and again."""
    frame = pd.DataFrame({"x": np.arange(1000.0) % 100})
    found = sorted([calls(frame) for _ in range(23)][2:])
    assert found[-2] <= MOST_CALLS
    assert found[-1] <= MOST_CALLS + 2 * REDRAWN
