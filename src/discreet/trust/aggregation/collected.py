"""Whoever asks for the sum of what devices reported: one task, one question, one batch."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import RECORD
from discreet.core.receipt import in_words
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.fields.prime_field import Bytes
from discreet.mechanisms.additive.share_of import is_shared
from discreet.questions.question import BoundedSum, Question
from discreet.schema.schema import Schema
from discreet.trust.aggregation.aggregation_task import NEIGHBORS, AggregationTask
from discreet.trust.aggregation.aggregator_line import AggregatorLine, written_id
from discreet.trust.aggregation.dap import Ciphertext, Collection, whole
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import about_sum
from discreet.trust.aggregation.share_aggregator import Batch
from discreet.trust.aggregation.stored_aggregator import AskerSecrets
from discreet.trust.permit import KEPT

Release = TypeVar("Release")
JOB = 16  # bytes


@dataclass
class _Devices:
    """Stands in for devices that are not asked yet: it notes the question, and answers with zeros."""

    schema: Schema
    asked: tuple[BoundedSum, Event] | None = None

    neighbors, unit = NEIGHBORS, RECORD
    curated = local = False
    secret = once = True
    units = None
    reports = 2.0

    def keeps(self, event: Event) -> bool:
        return is_shared(event)

    def ask(self, question: Question, mechanism: Mechanism[Any]) -> Any:
        found = _sum_and_event(question, mechanism)
        if self.asked is not None:
            obstacle = "it asks several questions, and devices answer one in each task"
            raise NotPermitted("task", obstacle, "Make a task of each, or ask organisations (SecureSum).")
        self.asked = found
        return np.zeros(found[0].size)


def task_for(
    ask: Callable[[Any], Any], schema: Schema, name: str, least: int = 100, packages: tuple[str, ...] = ("discreet",)
) -> AggregationTask:
    """The task that has devices answer a statistic; nothing is asked of anybody.

    Parameters
    ----------
    ask : callable
        Public. Asks the statistic of whatever it is given.
    schema : Schema
        Public. Of the devices' records.
    name : str
        Public. Which no other task has.
    least : int
        Public. The fewest reports that are opened.
    packages : tuple of str
        Public. Whose recipes are used.

    Examples
    --------
    >>> from discreet.statistics.tables.histogram import histogram
    >>> task_for(lambda phones: histogram(phones, "x0", bins=2, epsilon=1.0), Schema.numeric(0, 1, 1), "x").recipe.name
    'contingency'
    """
    devices = _Devices(schema)
    try:
        ask(devices)
    except NotPermitted as why:  # nothing was charged: there is no account
        raise NotPermitted(why.asked, why.obstacle, why.remedy) from why
    if devices.asked is None:
        raise NotPermitted("task", "nothing would be asked of devices", "Ask a statistic that needs their records.")
    question, event = devices.asked
    assert question.recipe is not None
    return AggregationTask(name, question.recipe, event, schema, 2, least, packages)


class Collected(Held):
    """Asks the aggregators of a task for the sum of what devices reported.

    It is a trust model: a statistic that asks the question that devices answered, with the noise that was promised to
    them, is given the sum. Each aggregator pays from its own account before its share leaves, and hands out the same
    share again to the same question; another question is refused before anything is opened.

    Parameters
    ----------
    published : PublishedTask
        Public. What devices were asked; from `read_task`.
    secrets : AskerSecrets
        The asker's key and token; from `read_asker`.
    trusted : str, optional
        Public. A file of certificates to trust in place of the system's.
    """

    neighbors, unit = NEIGHBORS, RECORD
    curated = local = False
    secret = once = True
    units = None
    reports = 2.0

    def __init__(self, published: PublishedTask, secrets: AskerSecrets, *, trusted: str | None = None) -> None:
        self.published, self.schema = published, published.task.schema
        self._secrets = secrets
        self._leader = AggregatorLine(published, published.leader, secrets.token, trusted)
        self.collected: int | None = None

    def keeps(self, event: Event) -> bool:
        """The promise that was made to devices, and no other."""
        return event == self.published.task.event

    @property
    def batch(self) -> Batch:
        """How many reports are verified so far, how many failed, and how many came again."""
        numbers = np.frombuffer(self._leader.told("GET", "batch"), ">u8").tolist()
        if len(numbers) != 3:
            raise Malformed("batch", "the leader does not say three numbers", "Ask its owner.", UNOPENED)
        return Batch(*numbers)

    @exclusive
    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The noisy sum over all reports; the batch is closed, and takes no more of them."""
        task = self.published.task
        asked, event = _sum_and_event(question, mechanism)
        if (asked.recipe, event) != (task.recipe, task.event):
            known = f"{task.recipe.name} {dict(task.recipe.parameters)} with {in_words(task.event)}"
            obstacle = "devices did not report for this question, or with this noise"
            raise NotPermitted(f"task {task.name!r}", obstacle, f"They answered {known}.", KEPT)
        told = self._leader.told("PUT", f"collection_jobs/{written_id(secrets.token_bytes(JOB))}", b"")
        return self._opened(whole(told, Collection.read))  # type: ignore[return-value]

    def _opened(self, found: Collection) -> Array:
        task = self.published.task
        if found.reports < task.least:
            raise Malformed("collection", "it has fewer reports than the least batch", "Ask the leader.", UNOPENED)
        self.collected = found.reports
        both = [self._share(number, one, found.reports) for number, one in enumerate((found.leader, found.helper))]
        return task.opened(both, found.reports)

    def _share(self, number: int, sealed: Ciphertext, reports: int) -> Bytes:
        task = self.published.task
        message = self._secrets.key.opened(sealed, about_sum(self.published, number, reports))
        width = task.question.size * task.circuit.field.size
        share = np.frombuffer(message or b"", np.uint8)[None]
        if share.shape != (1, width) or task.circuit.field.too_large(share).any():
            who = ("leader", "helper")[number]
            raise Malformed("collection", f"the share of the {who} does not open", "Ask who changed it.", UNOPENED)
        return share

    def __repr__(self) -> str:
        return f"Collected({self.published.task.name!r}; {self.published.leader})"


def _sum_and_event(question: Question, mechanism: Mechanism[Any]) -> tuple[BoundedSum, Event]:
    """What devices can answer: a sum by its recipe, and the promise of its noise."""
    if not isinstance(question, BoundedSum) or question.recipe is None or not hasattr(mechanism, "share"):
        obstacle = f"{type(mechanism).__name__} needs somebody who holds the exact answer, or code of the asker"
        remedy = "Ask a count, a sum, a histogram or a vector with Laplace or Gaussian noise, or trust a curator."
        raise NotPermitted("devices", obstacle, remedy)
    return question, mechanism.share(1).event
