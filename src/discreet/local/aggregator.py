"""What a collector keeps: a tally of reports that can be merged, saved and loaded, and never a value."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.core.held import unheld
from discreet.ledger.own_file import replace_own
from discreet.local.randomizer import UNCOUNTED, Randomizer, Reports, refused

R = TypeVar("R", bound=Randomizer)
MAGIC = b"discreet tally 1\n"
MOST_REPORTS = 2**40
DIGEST = 32
BATCH = 1 << 16  # reports that are tallied at a time


@unheld("releases")
class Aggregator(Generic[R]):
    """Adds up reports, and estimates from their sums alone.

    Parameters
    ----------
    randomizer : Randomizer
        Public. The one that all reports come from.
    simulated : bool
        Whether the reports were drawn from bits that can be replayed. Estimates then say that they are not private.

    Examples
    --------
    >>> from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> randomizer = GeneralizedRandomizedResponse(epsilon=2.0, domain=("no", "yes"))
    >>> votes = Aggregator(randomizer, simulated=True)
    >>> votes.add(randomizer.reports(["yes"] * 700 + ["no"] * 300, DeterministicBits(1)))
    >>> votes.n
    1000
    """

    def __init__(self, randomizer: R, *, simulated: bool = False) -> None:
        self.randomizer, self.simulated, self.n = randomizer, simulated, 0
        self.tally: Steps = randomizer.tallied(np.empty((0, *randomizer.form.shape), randomizer.form.base))

    def add(self, reports: Reports) -> None:
        """Count reports: all of them or, if one cannot be right, none."""
        given, form = np.asarray(reports), self.randomizer.form
        if given.ndim != 1 + len(form.shape) or given.shape[1:] != form.shape:
            raise refused(
                self.randomizer, f"their shape is {given.shape} and not (n, {', '.join(map(str, form.shape))})"
            )
        accepted = self.randomizer.accepted(given)
        self._check_room(len(accepted))
        new = np.zeros_like(self.tally)
        for start in range(0, len(accepted), BATCH):
            new += self.randomizer.tallied(accepted[start : start + BATCH])
        self.tally, self.n = self.tally + new, self.n + len(accepted)

    def add_messages(self, messages: list[bytes]) -> None:
        """Count the reports in messages: all of them or, if one cannot be right, none."""
        self.add(self.randomizer.decoded(messages))

    def merge(self, other: Aggregator[R]) -> None:
        """Count what another aggregator of the same randomiser has counted."""
        if other.randomizer != self.randomizer:
            raise refused(self.randomizer, f"the other tally is of {other.randomizer}", "Merge like with like.")
        self._check_room(other.n)
        self.tally, self.n = self.tally + other.tally, self.n + other.n
        self.simulated = self.simulated or other.simulated

    def estimate(self, **how: Any) -> Any:
        """What the randomiser estimates from the tally: see its `estimated`."""
        if not self.n:
            raise ParameterError(
                f"estimate by {type(self.randomizer).__name__}", "there are no reports", "Add some first.", ""
            )
        return self.randomizer.estimated(self.tally, self.n, simulated=self.simulated, **how)

    def save(self, path: str | Path) -> None:
        """Write the tally to a file, whole or not at all; it replaces what was there."""
        replace_own(path, self._written())

    @classmethod
    def load(cls, path: str | Path, randomizer: R) -> Aggregator[R]:
        """The aggregator in a file.

        Raises
        ------
        ParameterError
            The file is not a tally, or damaged, or of another randomiser; or no reports add up to what it says.
        """
        data = Path(path).read_bytes()
        body, digest = data[:-DIGEST], data[-DIGEST:]
        if not data.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
            raise _unreadable(path, "it is not a tally of this version, or it was damaged or edited")
        head, _, numbers = body[len(MAGIC) :].partition(b"\n")
        about = _about(path, head)
        if about["randomizer"] != json.loads(json.dumps(randomizer.parameters)):
            raise _unreadable(path, f"it is of {about['randomizer']} and not of {randomizer.parameters}")
        made = cls(randomizer, simulated=about["simulated"])
        if len(numbers) != 8 * made.tally.size:
            raise _unreadable(path, f"it has {len(numbers) / 8:g} numbers and not {made.tally.size}")
        tally, n = np.frombuffer(numbers, "<i8").astype(np.int64).reshape(made.tally.shape), about["n"]
        if wrong := randomizer.tally_misfit(tally, n):
            raise _unreadable(path, f"no {n} reports add up to it: {wrong}")
        made.tally, made.n = tally, n
        return made

    def _written(self) -> bytes:
        about = {"randomizer": self.randomizer.parameters, "n": self.n, "simulated": self.simulated}
        body = MAGIC + json.dumps(about).encode() + b"\n" + self.tally.astype("<i8").tobytes()
        return body + hashlib.sha256(body).digest()

    def _check_room(self, more: int) -> None:
        if self.n + more > MOST_REPORTS:
            raise refused(self.randomizer, f"{self.n + more} reports are more than {MOST_REPORTS}", "Start anew.")

    def __repr__(self) -> str:
        return f"Aggregator({self.randomizer}, n={self.n})"


def _about(path: str | Path, head: bytes) -> dict[str, Any]:
    """What the first line says, if all of it is there."""
    try:
        about = json.loads(head)
    except ValueError:
        about = None
    kinds = {"randomizer": dict, "n": int, "simulated": bool}
    if not isinstance(about, dict) or any(type(about.get(name)) is not kind for name, kind in kinds.items()):
        raise _unreadable(path, "its first line does not say what it is of")
    if not 0 <= about["n"] <= MOST_REPORTS:
        raise _unreadable(path, f"it says that there are {about['n']} reports")
    return about


def _unreadable(path: str | Path, obstacle: str) -> ParameterError:
    return ParameterError(f"load {path}", obstacle, "Load the file that was saved.", UNCOUNTED, path=str(path))
