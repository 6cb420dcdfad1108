"""What goes on: a stream that was paid for once, is saved under all of its public parameters, and resumed once."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import NotPermitted
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.identity import identity
from discreet.core.parameters import check_constructor
from discreet.core.receipt import Receipt

State = dict[str, NDArray[np.int64] | Array]
ASKED = "resume a stream"
NOTHING = "Nothing was released."
BITS = "bits"  # the only parameter that is not public: where noise comes from


class Resumable(Held, ABC):
    """What releases again and again. Its public parameters are whatever it was made with, except its bits."""

    purpose: ClassVar[str]

    closed: bool = False
    """Whether the state was saved, so that no update may follow."""

    begun: bool = False
    """Whether there was an update."""

    receipt: Receipt | None = None
    """What it cost, once a permit has opened it; none for one that was resumed, whose receipt is that of the first."""

    _given: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """A stream that remembers what it was made with: parameters of the right kinds."""
        check_constructor(cls, given, named)
        made = super().__new__(cls)
        made._given = given, named
        return made

    @property
    @abstractmethod
    def contributions(self) -> int:
        """In how many updates a unit takes part at most."""

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, wherever they are: one for each update, which is clipped whole."""
        return self.contributions

    @property
    def parameters(self) -> dict[str, Any]:
        """All public parameters, by name; those that were not given have their defaults."""
        bound = inspect.signature(self.__init__).bind(*self._given[0], **self._given[1])  # type: ignore[misc]
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name != BITS}

    @property
    def terms(self) -> str:
        """All public parameters, in words."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"

    @cached_property
    def identity(self) -> str:
        """A digest of all public parameters: a saved state is resumed under the same ones only."""
        return identity((type(self).__qualname__, self.parameters))

    @exclusive
    def begin_update(self) -> None:
        """Refuse an update after the state was saved; otherwise the stream has begun."""
        if self.closed:
            raise NotPermitted(self.purpose, "its state was saved", "Resume it from the file.", NOTHING)
        self.begun = True

    @exclusive
    @abstractmethod
    def state(self) -> State:
        """All that the next releases depend on. Secret: as much so as the stream."""

    @exclusive
    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from a state of a stream with the same parameters; arrays that do not fit are refused."""


def fitting(state: State, name: str, like: NDArray[Any], most: int | None = None) -> NDArray[Any]:
    """A copy of a saved array, if it is one like this: of its shape and type.

    Parameters
    ----------
    state : State
        What was saved.
    name : str
        Of the array.
    like : array
        What the new stream has in its place.
    most : int, optional
        Public. The most rows, for one that has as many as there were updates.
    """
    found = state.get(name)
    rows = like.shape[:1] if most is None or found is None or not found.ndim else (min(len(found), most),)
    wanted = (*rows, *like.shape[1:])
    if found is None or (found.shape, found.dtype) != (wanted, like.dtype):
        what = "missing" if found is None else f"of shape {found.shape} and type {found.dtype}"
        raise _unfit(f"its {name} is {what}, and not of shape {wanted} and type {like.dtype}")
    return found.copy()


def fitting_clock(state: State, like: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The saved numbers of updates, each from 0 to `most`."""
    found = fitting(state, "clock", like)
    if not ((found >= 0) & (found <= most)).all():
        raise _unfit(f"its clock is not between 0 and {most}")
    return found


def _unfit(obstacle: str) -> NotPermitted:
    return NotPermitted(ASKED, obstacle, "Give the file that save_stream wrote, as it was written.", NOTHING)
