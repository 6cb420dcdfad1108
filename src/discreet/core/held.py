"""The one base of everything that holds a secret or a payment and changes."""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Concatenate, Literal, NoReturn, ParamSpec, TypeVar

from discreet.core.errors import DiscreetError, NotPermitted

Given = ParamSpec("Given")
Result = TypeVar("Result")
Holder = TypeVar("Holder", bound="Held")
Kind = TypeVar("Kind", bound=type)
Reason = Literal["releases", "one call", "own turns", "cache", "part"]
FORKED = (
    "this process is a fork of the one that made it, and both would release what was paid for once",
    "Make it in the process that uses it.",
    "Nothing was released or spent by this process.",
)


class Forks:
    """The number of forks from the first process to this one: process ids come again, this does not."""

    count: ClassVar[int] = 0

    @classmethod
    def counted(cls) -> None:
        cls.count += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Forks.counted)


def this_process() -> tuple[int, int]:
    """What no other process has, parents and children included."""
    return os.getpid(), Forks.count


class Held:
    """What was paid for once is used by one process, one thread at a time, and is never copied.

    A subclass marks each method that reads or changes its state with `exclusive`. Such a method has the object to
    itself, may call others of the same object, and refuses a process that is a fork of the one that made the object.
    What overrides an exclusive method is exclusive too.

    Examples
    --------
    >>> class Purse(Held):
    ...     coins = 3
    ...
    ...     @exclusive
    ...     def taken(self) -> int:
    ...         self.coins -= 1
    ...         return self.coins
    >>> Purse().taken()
    2
    """

    _lock: threading.RLock
    _process: tuple[int, int]

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """An object that knows its process and its lock, also where a subclass is a frozen dataclass."""
        made = super().__new__(cls)
        object.__setattr__(made, "_lock", threading.RLock())
        object.__setattr__(made, "_process", (os.getpid(), Forks.count))
        return made

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, own in list(vars(cls).items()):
            if inspect.isfunction(own) and is_exclusive(getattr(super(cls, cls), name, None)):
                setattr(cls, name, own if is_exclusive(own) else exclusive(own))

    def check_process(self) -> None:
        """Refuse a fork of the process that made this: asked before the lock, which a fork may find taken for ever."""
        if self._process != this_process():
            raise self.forked()

    def forked(self) -> DiscreetError:
        obstacle, remedy, consequence = FORKED
        return NotPermitted(type(self).__name__, obstacle, remedy, consequence)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        kind = type(self).__name__
        raise TypeError(f"{kind} holds what was paid for once, or a secret, and is neither copied nor pickled")

    def __reduce__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def __copy__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self.__reduce_ex__(0)


def exclusive(method: Callable[Concatenate[Holder, Given], Result]) -> Callable[Concatenate[Holder, Given], Result]:
    """Let a method have its object to itself: one thread, and only in the process that made the object."""
    if inspect.isgeneratorfunction(method) or inspect.iscoroutinefunction(method):
        raise TypeError(f"{method.__qualname__} runs after its call has ended: let each of its steps be exclusive")

    @functools.wraps(method)
    def alone(self: Holder, /, *given: Given.args, **named: Given.kwargs) -> Result:
        if self._process != (os.getpid(), Forks.count):
            self.check_process()
        with self._lock:
            return method(self, *given, **named)

    alone.exclusive = True  # type: ignore[attr-defined]
    return alone


def is_exclusive(method: Any) -> bool:
    """Whether a method was marked by `exclusive`."""
    return getattr(method, "exclusive", False)


def unheld(reason: Reason) -> Callable[[Kind], Kind]:
    """Say of a class that changes why it need not be `Held`: no copy, thread or fork of it can spend anything twice.

    Parameters
    ----------
    reason : {"releases", "one call", "own turns", "cache", "part"}
        It knows releases and public parameters alone; it is made, used and dropped within one call; it has a lock or an
        event loop of its own, and knows what to do after a fork; it only remembers what it would find again; or it is
        part of something that is held, which alone uses it.

    Examples
    --------
    >>> @unheld("releases")
    ... class Average:
    ...     total = 0.0
    """

    def said(kind: Kind) -> Kind:
        kind.unheld = reason  # type: ignore[attr-defined]
        return kind

    return said


class Secret:
    """Holds records or exact answers, so it is neither copied nor pickled: a copy would be beyond any ledger."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds records or exact answers and is neither copied nor pickled")
