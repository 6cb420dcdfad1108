"""A person's own device: it sees the value, keeps its own account, and lets nothing but messages out."""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting.accountant import epsilon
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.core.events import DiscreteLoss, PureLoss
from discreet.core.held import exclusive
from discreet.ledger.own_account import OwnAccount
from discreet.local.randomizer import DEVICE_EPSILON, Randomizer
from discreet.noise.system_bits import system_bits

VERSION = 2


class Reporter(OwnAccount):
    """Randomises the values of one person, within a budget for all of them together.

    A value that was reported before is answered by the same message: it costs nothing, and shows nothing but that the
    value is the same again. Every other value is a report of its own, which is paid for before it is made. A value that
    no report can be made of is answered by the report of a random one, and all such values count as one: silence would
    tell.

    Parameters
    ----------
    randomizer : Randomizer
        Public. What the collector expects.
    budget : float, optional
        Public. The epsilon of all reports together: the owner's choice and not the collector's. By default that of one
        report, which then may cost 10 at most.
    path : path, optional
        Where the account and the reports are kept, on the person's own device, so that they outlive the process.
        Threads and processes may share it: the file is locked while a report is made.
    bits : Bits, optional
        Where randomness comes from; the operating system's where not given.

    Guarantee
    ---------
    Pure, with the budget as epsilon, for all messages together and any two sequences of values of this person that
    repeat earlier values at the same times: every different value is one report, and as many are made as the budget
    pays for. Dwork, McSherry, Nissim and Smith 2006, basic composition. That a value has changed is visible, and so is
    that it has come back: where this is a secret, report once.

    Examples
    --------
    >>> from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
    >>> device = Reporter(GeneralizedRandomizedResponse(1.0, ("no", "yes")))
    >>> message = device.message("yes")
    >>> device.message("yes") == message, device.spent
    (True, 1.0)
    >>> device.message("no")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.core.errors.BudgetExceeded: report by GeneralizedRandomizedResponse: another value ... epsilon 2 of 1. ...
    """

    whose = "reporter"

    def __init__(
        self,
        randomizer: Randomizer,
        *,
        budget: float | None = None,
        path: str | Path | None = None,
        bits: Bits | None = None,
    ) -> None:
        event = randomizer.event
        self._each = epsilon(event, 0.0) if isinstance(event, PureLoss | DiscreteLoss) else math.inf
        if self._each == math.inf:
            raise ParameterError("reporter", f"{randomizer} is not pure", "Use a randomiser with a pure promise.")
        if budget is None and self._each > DEVICE_EPSILON:
            remedy = "Give a budget, if that is what the owner wants."
            obstacle = f"a report costs epsilon {self._each:g}, and the device pays {DEVICE_EPSILON:g} at most"
            raise ParameterError("reporter", obstacle, remedy, epsilon=self._each)
        check_positive("reporter", "budget", self._each if budget is None else budget)
        self.randomizer, self.budget = randomizer, self._each if budget is None else budget
        self._bits = system_bits() if bits is None else bits
        self._sent: dict[str, bytes] = {}
        super().__init__(path)

    @property
    @exclusive
    def spent(self) -> float:
        """The epsilon of all reports so far, of everybody who shares the account."""
        with self._held():
            return len(self._sent) * self._each

    @exclusive
    def message(self, value: Any) -> bytes:
        """The message for the collector.

        Raises
        ------
        BudgetExceeded
            It would be one report too many.
        """
        key = _key(self.randomizer.read(value))
        with self._held():
            if key not in self._sent:
                self._check_room()
                sent = self._sent | {key: self.randomizer.encode(self.randomizer.report(value, self._bits))}
                self._keep(self._written(sent))
                self._sent = sent
        return self._sent[key]

    def _check_room(self) -> None:
        if (len(self._sent) + 1) * Fraction(self._each) > Fraction(self.budget):
            raise BudgetExceeded(
                f"report by {type(self.randomizer).__name__}",
                f"another value would make epsilon {(len(self._sent) + 1) * self._each:g} of {self.budget:g}",
                "Repeat an earlier value, which costs nothing, or start with a larger budget.",
            )

    @property
    def _begun(self) -> bool:
        return bool(self._sent)

    def _written(self, sent: dict[str, bytes]) -> bytes:
        reports = {key: message.hex() for key, message in sent.items()}
        about = {"version": VERSION, "fingerprint": self.randomizer.fingerprint.hex(), "reports": reports}
        return json.dumps(about).encode()

    def _take(self, data: bytes) -> None:
        kept = json.loads(data)
        sent = {str(key): bytes.fromhex(message) for key, message in kept["reports"].items()}
        if (kept["version"], kept["fingerprint"]) != (VERSION, self.randomizer.fingerprint.hex()):
            raise ValueError("it is of another randomiser or version")
        self.randomizer.decoded(list(sent.values()))
        self._sent = sent

    def __repr__(self) -> str:
        return f"Reporter({self.randomizer}, spent={len(self._sent) * self._each:g} of {self.budget:g})"


def _key(content: bytes | None) -> str:
    """The name of a value in the account, which does not grow with the value."""
    return "none" if content is None else hashlib.sha256(content).hexdigest()
