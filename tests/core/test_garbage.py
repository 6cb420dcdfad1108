"""Cycles of a process that lives long: what was there stays, and what comes later is let go still."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
from discreet.core.garbage import YOUNG, collect_seldom

class Tied:
    left = 0
    def __init__(self):
        self.own = self
    def __del__(self):
        Tied.left += 1

first = Tied()
collect_seldom()
assert gc.isenabled() and gc.get_threshold()[0] == YOUNG
assert not any(one is first for one in gc.get_objects()), "it is looked through"
Tied()
many = [[] for _ in range(2 * YOUNG)]
assert Tied.left == 1
"""


def test_what_is_there_is_not_looked_through_and_later_cycles_are_let_go() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
