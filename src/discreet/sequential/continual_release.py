"""What releases again and again: a frozen description, and the one object that a permit makes of it."""

from __future__ import annotations

import copy
import dataclasses
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.identity import Unidentified, identity
from discreet.core.inherited_docs import inherit_docs
from discreet.core.ledger import Ledger
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.sequential.stream_account import StreamAccount
from discreet.trust.grant import Grant
from discreet.trust.permit import Openable

State = dict[str, NDArray[np.int64] | Array]
Opened = TypeVar("Opened")
Described = TypeVar("Described", bound="ContinualRelease", covariant=True)
WHOLE = ("int", "int | None", int, int | None)  # annotations of fields that are kept as int, also where 3.0 was given
RESUME = "resume a stream"
NOTHING = "Nothing was released."


class ContinualRelease(CheckedParameters, ABC):
    """What releases again and again, described by public parameters alone: a frozen dataclass.

    A subclass has its parameters as fields, refuses wrong ones in `check`, derives its price (`event`) from the numbers
    that make the noise, and makes the object that takes updates (`opened`). Streams are equal if all fields are.
    """

    purpose: ClassVar[str]
    neighbors: Neighbors

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, ContinualRelease)

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):  # type: ignore[arg-type]
            if one.type in WHOLE and (value := getattr(self, one.name)) is not None:
                object.__setattr__(self, one.name, int(value))
        self.check()

    def check(self) -> None:
        """Refuse parameters that cannot be right, before anything is charged."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """The price of all releases."""

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, wherever they are."""
        return 1

    @property
    def parameters(self) -> dict[str, Any]:
        """All public parameters, by name."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}  # type: ignore[arg-type]

    @property
    def terms(self) -> str:
        """All public parameters, in words."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"

    @cached_property
    def identity(self) -> str:
        """A digest of all public parameters: a saved state is resumed under the same ones only."""
        try:
            return identity((type(self).__qualname__, self.parameters))
        except Unidentified as why:
            raise ParameterError(self.purpose, str(why), "Give parameters that are numbers or dataclasses.") from why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContinualRelease) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def copied(self) -> Self:
        """The same, made anew of copies of its fields: what is done to this one does not change it."""
        return copy.deepcopy(dataclasses.replace(self))  # type: ignore[type-var]

    @abstractmethod
    def opened(self, grant: Grant) -> OpenStream[Any]:
        """The object that takes updates, for whoever has paid: see `open`."""

    def open(
        self: Openable[Opened],
        ledger: Ledger | Budget,
        purpose: str | None = None,
        *,
        key: str | None = None,
        analyst: str | None = None,
        bits: Bits | None = None,
    ) -> Opened:
        """Pay for all releases, and get the one object that takes updates.

        `StreamAccount(ledger, bits).permit(stream, purpose, key=key, analyst=analyst).open(stream)`, in one call.

        Parameters
        ----------
        ledger : Ledger or Budget
            The account. A budget alone pays for this stream and is gone: for a trial.
        purpose : str, optional
            Public. What for; written in the ledger. By default what kind of stream it is.
        key : str, optional
            Public. Makes a retry safe; a key opens one stream.
        analyst : str, optional
            Public. Who asks, where the account has smaller caps for each.
        bits : Bits, optional
            Where noise comes from; secret bits of this process by default.
        """
        account, asked = StreamAccount(ledger, bits), getattr(self, "purpose", "") if purpose is None else purpose
        return account.permit(self, asked, key=key, analyst=analyst).open(self)


class OpenStream(Held, Generic[Described]):
    """A stream that is paid for: the one object that takes updates.

    Parameters
    ----------
    grant : Grant
        What a permit, or a saved state, hands over; an open stream hands it on to its parts.

    Attributes
    ----------
    description : ContinualRelease
        What was paid for.
    receipt : Receipt or None
        What it cost; None for one that was resumed from a file without it.
    """

    def __init__(self, grant: Grant) -> None:
        if not isinstance(grant, Grant):
            remedy = "Describe the stream, and open it: `TreeCounter(100, Laplace(1.0)).open(Budget(1.0))`."
            raise NotPermitted(type(self).__name__, "it was not paid for", remedy)
        grant.take()
        self.description: Described = grant.description
        self.receipt, self._bits, self._closed = grant.receipt, grant.bits, False

    def _part(self, description: Any) -> Any:
        """A stream that this one is made of, and whose price is in its own."""
        return description.opened(Grant(description, self._bits, self.receipt))

    @property
    def closed(self) -> bool:
        """Whether the state was saved, so that no update may follow."""
        return self._closed

    @exclusive
    def begin_update(self) -> None:
        """Refuse an update after the state was saved."""
        if self._closed:
            raise NotPermitted(self.description.purpose, "its state was saved", "Resume it from the file.", NOTHING)

    @exclusive
    @abstractmethod
    def _state(self) -> State:
        """All that the next releases depend on. Secret: as much so as the updates."""

    @exclusive
    @abstractmethod
    def _restore(self, state: State) -> None:
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
    return NotPermitted(RESUME, obstacle, "Give the file that save_stream wrote, as it was written.", NOTHING)
