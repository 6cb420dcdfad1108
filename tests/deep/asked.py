"""Questions of deep learning, asked outside of a run: of a permit that pays for whatever is asked."""

from __future__ import annotations

from typing import Any

from discreet.core.events import Event, Repeated
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PAID_ELSEWHERE
from discreet.trust.permit import Permit


def view_of(data: Any) -> Any:
    """What a permit of these records shows to a question."""
    return data._curator._view


def paid(data: Any, event: Event, times: int = 10**6) -> Permit:
    """An open permit for so many releases, which costs nobody anything."""
    event = Repeated(event, times)
    return Permit(data._curator, data.ledger, PAID_ELSEWHERE, event, "a trial", keyed=False).__enter__()


def draw(gradient: SampledGradient) -> None:
    """Set gradients by one fresh sample with its noise, as a step of a trainer does."""
    permit = paid(gradient._data, gradient._plan.event_of(1))
    gradient.move(permit.ask(gradient, gradient.mechanism))


def sums_of(gradient: SampledGradient, chunk: int) -> Any:
    """The exact sums of a fresh sample, by the names of parameters."""
    chunks = view_of(gradient._data).chunks(gradient._plan.sample, chunk, gradient._device)
    return gradient._sums(chunks)
