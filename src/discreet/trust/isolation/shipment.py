"""A function as bytes: its own code, and the names of what it needs of installed libraries."""

from __future__ import annotations

import pickletools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import cloudpickle

from discreet.core.errors import ParameterError
from discreet.core.identity import installed

_LOCK = threading.Lock()  # cloudpickle has one list for all threads


@dataclass(frozen=True)
class Shipment:
    """A pickled function, and the modules that are loaded before it is."""

    function: bytes
    modules: tuple[str, ...]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Shipment:
        """Everything except installed libraries is sent by value: where it arrives, there are no files.

        Libraries are loaded as far as they are here: those that the pickle mentions, with all their loaded parts.
        """
        try:
            with _by_value():
                pickled = cloudpickle.dumps(function)
        except Exception as why:
            raise ParameterError(
                "function",
                f"it cannot be sent to a process of its own ({type(why).__name__}: {why})",
                "Leave out what cannot be pickled.",
            ) from why
        packages = {word.partition(".")[0] for _, word, _ in pickletools.genops(pickled) if isinstance(word, str)}
        known = [name for name in list(sys.modules) if name.partition(".")[0] in packages | {"numpy"}]
        return cls(pickled, tuple(name for name in known if installed(sys.modules.get(name))))


@contextmanager
def _by_value() -> Iterator[None]:
    with _LOCK:
        before = cloudpickle.list_registry_pickle_by_value()
        modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
        own = [one for one in modules if one.__name__ in sys.modules and not installed(one)]
        added = [one for one in own if one.__name__ not in {"__main__", *before}]
        for module in added:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in added:
                cloudpickle.unregister_pickle_by_value(module)
