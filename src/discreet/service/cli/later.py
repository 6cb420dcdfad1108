"""Commands whose file is loaded when they are run, so that `discreet --help` answers at once."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def later(module: str, name: str) -> Callable[[Any], Any]:
    """A function of another file of this room, which is imported when it is called."""
    return lambda given: getattr(import_module(f"{__package__}.{module}"), name)(given)
