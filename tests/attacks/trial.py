"""What the test file of an attack brings, where no release of the common trial is broken, or silent, for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from discreet.attacks import Attack

Runs = Callable[[], Iterable[tuple[Attack, Any]]]


@dataclass(frozen=True)
class AttackTrial:
    """Attacks of one kind, each with a target: on what is broken, and where there is nothing to find.

    Both are made anew at each call, so that a target may remember, or draw.
    """

    broken: Runs
    silent: Runs
