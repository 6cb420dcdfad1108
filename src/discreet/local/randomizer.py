"""What a person's device does to a value before anybody else sees it, and what a collector may do with the result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import Event, PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.inherited_docs import inherit_docs
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters

Reports = NDArray[Any]
VERSION = 1
HEADER = struct.Struct("<B8s")  # version, fingerprint
MOST_EPSILON = 40.0
DEVICE_EPSILON = 10.0  # what a device pays for reports of one value, unless its owner says otherwise
UNCOUNTED = "Nothing was counted."


@dataclass(frozen=True)
class WorstPair:
    """Two values of one person whose reports differ most."""

    first: Any
    second: Any


@dataclass(frozen=True)
class Randomizer(CheckedParameters, ABC):
    """Turns one person's value into a report: a frozen dataclass of public parameters.

    The device calls `report` and `encode`. The collector calls `decode`, adds up `tallied` reports in an `Aggregator`,
    and calls `estimated`. Nothing but reports leaves the device, so that the promise holds against everybody.

    A report is an array of the type `form`; reports are stacked along the first axis. A message is the version, the
    fingerprint of the parameters, and the bytes of the report in that type.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.

    Examples
    --------
    >>> from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
    >>> randomizer = GeneralizedRandomizedResponse(epsilon=1.0, domain=("no", "yes"))
    >>> isinstance(randomizer, Randomizer), randomizer.event
    (True, PureLoss(epsilon=1.0))
    """

    epsilon: float = 1.0
    kind: ClassVar[str]
    """A permanent name: it is part of the fingerprint."""
    calibrated: ClassVar[str] = "epsilon"
    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, Randomizer)

    def __post_init__(self) -> None:
        self._settle_numbers()
        check_positive(type(self).__name__, "epsilon", self.epsilon, least=2.0**-20, most=MOST_EPSILON)

    def _settle_numbers(self) -> None:
        """Write each number in the type of its field, so that 1, 1.0 and 1.00 are one protocol."""
        for field in (one for one in dataclasses.fields(self) if one.init and one.type in ("int", "float")):
            value = getattr(self, field.name)
            object.__setattr__(self, field.name, float(value) if field.type == "float" else int(value))

    @property
    def event(self) -> Event:
        """The price of one report, where one value is replaced by any other."""
        return PureLoss(self.epsilon)

    @property
    @abstractmethod
    def form(self) -> np.dtype[Any]:
        """The type of one report, in little-endian order; a type with a shape for several numbers."""

    @property
    @abstractmethod
    def worst_pair(self) -> WorstPair:
        """Two values whose reports differ most: the audit tries to distinguish them."""

    @abstractmethod
    def reports(self, values: Any, bits: Bits) -> Reports:
        """A report of each value, by the law of `report`, each by itself: for simulations."""

    @abstractmethod
    def score(self, reports: Reports) -> Array | Steps:
        """For each report, a number on which the likelihood ratio of the worst pair depends: for the audit."""

    @abstractmethod
    def accepted(self, reports: Reports) -> Reports:
        """The reports, if each is one that this randomiser can make; else an error, and nothing was counted."""

    @abstractmethod
    def tallied(self, reports: Reports) -> Steps:
        """What the collector keeps of accepted reports: whole numbers that add up."""

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """What shows that no n reports add up to this; nothing, where this is empty. Here each number is a count."""
        return "" if ((tally >= 0) & (tally <= n)).all() else f"a count is not between 0 and {n}"

    @abstractmethod
    def estimated(self, tally: Steps, n: int, *, simulated: bool = False) -> Any:
        """The estimate, from the tally of n reports; a randomiser may take further options."""

    @abstractmethod
    def content(self, value: Any) -> bytes:
        """All of a value that its report depends on; an error where no report can be made of it."""

    @abstractmethod
    def stand_in(self, bits: Bits) -> Any:
        """A value that is drawn without looking at anybody's."""

    def read(self, value: Any) -> bytes | None:
        """The content of a value, or nothing where no report can be made of it, whatever it is."""
        try:
            return self.content(value)
        except Exception:  # a value may be any object of the device, and none may stop it visibly
            return None

    def report(self, value: Any, bits: Bits) -> Reports:
        """The report of one person.

        Where no report can be made of the value, one of a stand-in is: silence would tell that the value is such a one.
        """
        return self.reports([self.stand_in(bits) if self.read(value) is None else value], bits)[0]

    def encode(self, report: Reports) -> bytes:
        """The message that carries a report."""
        accepted = self.accepted(np.asarray(report)[None])[0]
        return HEADER.pack(VERSION, self.fingerprint) + np.asarray(accepted).astype(self.form.base).tobytes()

    def decode(self, message: bytes) -> Reports:
        """The report in a message.

        Raises
        ------
        ParameterError
            It is of another version, of a randomiser with other parameters, too short, too long, or not a report.
        """
        return self.decoded([message])[0]

    def decoded(self, messages: list[bytes]) -> Reports:
        """The reports in many messages: all of them, or an error."""
        size = HEADER.size + self.form.itemsize
        for message in messages:
            if len(message) != size:
                raise refused(self, f"a message has {len(message)} bytes and not {size}")
            version, fingerprint = HEADER.unpack_from(message)
            if version != VERSION:
                raise refused(self, f"a message is of version {version} and not {VERSION}")
            if fingerprint != self.fingerprint:
                raise refused(self, "a message was made with other parameters")
        body = b"".join(message[HEADER.size :] for message in messages)
        return self.accepted(np.frombuffer(body, self.form.base).reshape(len(messages), *self.form.shape))

    @property
    def parameters(self) -> dict[str, Any]:
        """All that decides what a report means, as JSON has it."""
        fields = dataclasses.fields(self)
        return {"kind": self.kind} | {one.name: _plain(one, getattr(self, one.name)) for one in fields}

    @property
    def derived(self) -> dict[str, Any]:
        """Numbers that follow from the parameters, for clients in other languages."""
        return {}

    @cached_property
    def fingerprint(self) -> bytes:
        """The first 8 bytes of SHA-256 of the parameters as JSON with sorted keys and without spaces, in UTF-8."""
        text = json.dumps(self.parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).digest()[:8]


def _plain(field: dataclasses.Field[Any], value: Any) -> Any:
    """A value as JSON has it; 1 and 1.0 are written alike where a number need not be whole."""
    if field.type in ("float", float):
        return float(value)
    return list(value) if isinstance(value, tuple) else value


def grouped_misfit(tally: Steps, n: int) -> str:
    """What is wrong with a tally of groups, a row each: the number of reports, and how many of these have each bit."""
    sizes = tally[:, 0]
    if (sizes < 0).any() or (sizes > n).any() or sizes.sum() != n:
        return f"the groups are not {n} in all"
    return "" if ((tally >= 0) & (tally <= sizes[:, None])).all() else "a count is beyond that of its group"


def refused(randomizer: Randomizer, obstacle: str, remedy: str = "Leave it out, and ask its sender.") -> ParameterError:
    """The error for a report that cannot be counted."""
    return ParameterError(f"reports of {type(randomizer).__name__}", obstacle, remedy, UNCOUNTED)
