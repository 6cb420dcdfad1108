"""A person's own device: it sees the value, keeps its own account, and lets nothing but messages out."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core.bits import Bits
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.core.events import PureLoss
from discreet.core.secret import Secret
from discreet.local.randomizer import Randomizer
from discreet.local.whole_file import write_whole
from discreet.noise.bits import system_bits


class Reporter(Secret):
    """Randomises the values of one person, within a budget for all of them together.

    A value that was reported before is answered by the same message: it costs nothing, and shows nothing but that the
    value is the same again. Every other value is a report of its own, which is paid for before it is made.

    Parameters
    ----------
    randomizer : Randomizer
        Public. What the collector expects.
    budget : float, optional
        Public. The epsilon of all reports together; by default that of one.
    path : path, optional
        Where the account and the reports are kept, on the person's own device, so that they outlive the process.
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
    >>> from discreet.local.oracles.randomized_response import KaryResponse
    >>> device = Reporter(KaryResponse(1.0, ("no", "yes")))
    >>> message = device.message("yes")
    >>> device.message("yes") == message, device.spent
    (True, 1.0)
    >>> device.message("no")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.core.errors.BudgetExceeded: report by KaryResponse: another value would make epsilon 2 of 1. ...
    """

    def __init__(
        self,
        randomizer: Randomizer,
        *,
        budget: float | None = None,
        path: str | Path | None = None,
        bits: Bits | None = None,
    ) -> None:
        if not isinstance(randomizer.event, PureLoss):
            raise ParameterError("reporter", f"{randomizer} is not pure", "Use a randomiser with a pure promise.")
        self.randomizer, self.budget = randomizer, randomizer.event.epsilon if budget is None else budget
        self._each, self._path = randomizer.event.epsilon, None if path is None else Path(path)
        self._bits = system_bits() if bits is None else bits
        self._sent: dict[str, bytes] = {} if self._path is None or not self._path.exists() else self._loaded(self._path)

    @property
    def spent(self) -> float:
        """The epsilon of all reports so far."""
        return len(self._sent) * self._each

    def message(self, value: Any) -> bytes:
        """The message for the collector.

        Raises
        ------
        BudgetExceeded
            It would be one report too many.
        """
        asked, key = f"report by {type(self.randomizer).__name__}", json.dumps(value, default=str)
        if key not in self._sent:
            if (len(self._sent) + 1) * Fraction(self._each) > Fraction(self.budget):
                raise BudgetExceeded(
                    asked,
                    f"another value would make epsilon {self.spent + self._each:g} of {self.budget:g}",
                    "Repeat an earlier value, which costs nothing, or start with a larger budget.",
                )
            sent = self._sent | {key: self.randomizer.encode(self.randomizer.report(value, self._bits))}
            if self._path is not None:
                write_whole(self._path, self._written(sent))
            self._sent = sent
        return self._sent[key]

    def _written(self, sent: dict[str, bytes]) -> bytes:
        reports = {key: message.hex() for key, message in sent.items()}
        return json.dumps({"version": 1, "fingerprint": self.randomizer.fingerprint.hex(), "reports": reports}).encode()

    def _loaded(self, path: Path) -> dict[str, bytes]:
        try:
            kept = json.loads(path.read_bytes())
            sent = {key: bytes.fromhex(message) for key, message in kept["reports"].items()}
            if (kept["version"], kept["fingerprint"]) != (1, self.randomizer.fingerprint.hex()):
                raise ValueError("it is of another randomiser or version")
            self.randomizer.decoded(list(sent.values()))
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            raise ParameterError(
                f"open {path}", f"it is not the account of this reporter ({why})", "Use the file that it wrote."
            ) from why
        return sent

    def __repr__(self) -> str:
        return f"Reporter({self.randomizer}, spent={self.spent:g} of {self.budget:g})"
