"""Garbage of a process that lives long: what is there when its work begins stays, and is not looked through again."""

from __future__ import annotations

import gc

YOUNG = 10_000  # objects that are made, beyond those that are let go, between two looks


def collect_seldom() -> None:
    """Look for cycles among new objects alone, and seldom: to serve makes few, and a look goes through all that lives.

    For programs that call nothing of anybody else's afterwards: it holds for the whole process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)
