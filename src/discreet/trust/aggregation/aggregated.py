"""Devices that trust one of several aggregators, whichever it is."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from typing import ClassVar, TypeVar

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.ledger import Ledger
from discreet.core.mechanism import Mechanism
from discreet.crypto.errors import UNOPENED, TooFewReports
from discreet.crypto.prio3.expansion import SEED
from discreet.crypto.prio3.prio3 import MOST_SHARES
from discreet.crypto.prio3.shares import random_bytes
from discreet.mechanisms.additive.share_of import is_shared
from discreet.noise.system_bits import system_bits
from discreet.questions.question import BoundedSum, Question
from discreet.trust.aggregation.aggregation_task import NEIGHBORS, AggregationTask
from discreet.trust.aggregation.collected import Collected
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.share_aggregator import Batch, Reports, ShareAggregator, verified_together
from discreet.trust.aggregation.stored_aggregator import AskerSecrets
from discreet.trust.permit import KEPT
from discreet.trust.sources.source import Batched, check_counted

Release = TypeVar("Release")
MOST = 2**20  # elements in the reports that are made at a time


class Aggregated(Held):
    """Has every record report its contribution in secret shares, with a proof that it is in range.

    Aggregators verify the proofs on their shares and add up (Prio3, draft-irtf-cfrg-vdaf-20). Each adds all of the
    noise, so that the promise holds whichever of them is honest; the variance is that of a curator times their number,
    where local reports have it times the number of people. Here records, devices and aggregators are in one process:
    it shows what the scheme does to an answer, and hides nothing from that process.

    A report stands for one person who may hold any record, so neighbors are replaced ones, and the number of reports is
    public. A false report is refused by its proof and counts for nothing: `batch` says how many were. What a proof
    bounds is each number by itself, and for a histogram that a report is in one cell; a person can still lie within.

    Parameters
    ----------
    source : Batched
        The records, one per person.
    aggregators : int
        Public. How many there are, from 2 to 5.
    least : int
        Public. The fewest reports that are opened.
    accounts : sequence of Ledger
        One for each aggregator, which is charged before its share leaves; none where the asker's account is enough.
    packages : sequence of str
        Public. Whose recipes are used.
    bits : Bits, optional
        Where noise and shares come from; the operating system's where not given.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.schema.schema import Schema
    >>> from discreet.statistics.tables.histogram import histogram
    >>> from discreet.trust.sources.matrix import Matrix
    >>> phones = Matrix(np.repeat([[1.0], [9.0]], 300, axis=0), Schema.numeric(0.0, 10.0, 1))
    >>> found = histogram(trust := Aggregated(phones), "x0", bins=2, epsilon=2.0)
    >>> bool((abs(found.counts - 300) < 60).all()), trust.batch
    (True, Batch(accepted=600, failed=0, repeated=0))
    """

    neighbors = NEIGHBORS
    curated = local = False
    task: ClassVar[type[AggregationTask]] = AggregationTask
    aggregator: ClassVar[type[ShareAggregator]] = ShareAggregator

    def __init__(
        self,
        source: Batched,
        aggregators: int = 2,
        *,
        least: int = 100,
        accounts: Sequence[Ledger] = (),
        packages: Sequence[str] = ("discreet",),
        bits: Bits | None = None,
    ) -> None:
        if not source.unit.is_row:
            raise ParameterError("aggregated", "a person's rows would be reported one by one", "Give one per person.")
        if not 2 <= aggregators <= MOST_SHARES:
            raise ParameterError("aggregated", f"there are {aggregators} aggregators", f"Have 2 to {MOST_SHARES}.")
        if accounts and len(accounts) != aggregators:
            raise ParameterError("aggregated", f"there are {len(accounts)} accounts", f"Give {aggregators}, or none.")
        if least < 1:
            raise ParameterError("aggregated", f"the least batch has {least} reports", "Let it have one, or many.")
        check_counted(source, self.neighbors)
        self._source, self.schema, self.unit = source, source.schema, source.unit
        self.aggregators, self.least = aggregators, least
        self._accounts: Sequence[Ledger | None] = tuple(accounts) or (None,) * aggregators
        self._packages, self._bits = tuple(packages), system_bits() if bits is None else bits
        self._last = threading.local()

    @classmethod
    def at(cls, published: PublishedTask, secrets: AskerSecrets, *, trusted: str | None = None) -> Collected:
        """The aggregators of a task that devices reported for over HTTP; see `Collected`.

        Parameters
        ----------
        published : PublishedTask
            Public. What devices were asked; from `read_task`.
        secrets : AskerSecrets
            The asker's key and token; from `read_asker`.
        trusted : str, optional
            Public. A file of certificates to trust in place of the system's.
        """
        return Collected(published, secrets, trusted=trusted)

    def check_ready(self) -> None:
        """Refuse, before anything is charged, records that cannot be read now, and too few of them."""
        self._source.check_ready()
        if self.units < self.least:
            obstacle = f"there are {self.units} devices, and a batch has at least {self.least}"
            raise TooFewReports("aggregated", obstacle, "Ask more of them, or agree on a smaller one.", UNOPENED)

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._bits.secret

    @property
    def units(self) -> int:
        """The number of devices: public."""
        return self._source.units()

    @property
    def reports(self) -> float:
        """The variance of the noise in units of a curator's: each aggregator adds all of it."""
        return float(self.aggregators)

    @property
    def batch(self) -> Batch | None:
        """What is said of the last batch that this thread opened."""
        return getattr(self._last, "batch", None)

    def keeps(self, event: Event) -> bool:
        """The promises of noise that aggregators can add."""
        return is_shared(event)

    @exclusive
    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The noisy sum over all devices, each of which makes a new report for it."""
        if not isinstance(question, BoundedSum) or not hasattr(mechanism, "share"):
            obstacle = f"{type(mechanism).__name__} needs somebody who holds the exact answer"
            remedy = "Ask a count, a sum, a histogram or a vector with Laplace or Gaussian noise, or trust a curator."
            raise NotPermitted("aggregated", obstacle, remedy, KEPT)
        if question.recipe is None:
            obstacle = "the question has no recipe, and devices run no code of the asker"
            remedy = "Build it with a function that is marked as a recipe (discreet.questions.recipe)."
            raise NotPermitted("aggregated", obstacle, remedy, KEPT)
        event, name = mechanism.share(1).event, secrets.token_hex(16)
        task = self.task(name, question.recipe, event, self.schema, self.aggregators, self.least, self._packages)
        return self._opened(task)  # type: ignore[return-value]

    def _opened(self, task: AggregationTask) -> Array:
        key = random_bytes(self._bits, 1, SEED).tobytes()
        accounts = enumerate(self._accounts)
        those = [self.aggregator(k, task, key, ledger=ledger, bits=self._bits) for k, ledger in accounts]
        for reports in self._reports(task):
            verified_together(those, reports)
        self._last.batch = batch = those[0].batch
        return task.opened([one.share(batch.accepted) for one in those], batch.accepted)

    def _reports(self, task: AggregationTask) -> Iterator[Reports]:
        """What all devices send, some at a time."""
        rows = max(1, MOST // task.circuit.measured)
        for batch in self._source.batches(task.question.columns):
            for start in range(0, len(batch), rows):
                yield Reports.of(task, batch[start : start + rows], self._bits)

    def __repr__(self) -> str:
        return f"Aggregated({type(self._source).__name__}; {self.aggregators} aggregators; least {self.least})"
