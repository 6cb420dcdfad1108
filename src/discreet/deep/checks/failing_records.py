"""Records that a model fails on: they count for nothing, and nobody hears of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

from discreet.deep.questions.tensors_view import Chunk

T = TypeVar("T")


def computed(function: Callable[[Chunk], T], chunk: Chunk, blank: Chunk) -> T:
    """The function of a chunk without the records that it fails on.

    After a charge nothing may fail because of what a record holds: whether it failed would be a release, and the
    message may quote the record. What fails on blank records as well fails for public reasons, and is raised.

    Parameters
    ----------
    function : callable
        Of a chunk; treats records one by one.
    chunk : Chunk
        The records.
    blank : Chunk
        Public. As many made-up ones.
    """
    try:
        return function(chunk)
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception:  # whatever it is, it may be about a record
        pass
    function(blank)
    places = torch.arange(len(chunk.there), device=chunk.there.device)
    kept = places[chunk.there]
    failing = _failing(function, chunk, blank, kept)
    try:
        return function(_only(chunk, blank, kept[~torch.isin(kept, failing)]))
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception:  # records fail together: a rehearsal refuses a model in which they meet
        return function(blank)


def _failing(function: Callable[[Chunk], T], chunk: Chunk, blank: Chunk, places: torch.Tensor) -> torch.Tensor:
    """The places of records that fail by themselves, by halves."""
    try:
        function(_only(chunk, blank, places))
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception:  # that of one record, which is left out
        if len(places) < 2:
            return places
        return torch.cat([_failing(function, chunk, blank, half) for half in places.tensor_split(2)])
    return places[:0]


def _only(chunk: Chunk, blank: Chunk, places: torch.Tensor) -> Chunk:
    inputs, targets, there = blank.inputs.clone(), blank.targets.clone(), torch.zeros_like(chunk.there)
    inputs[places], targets[places], there[places] = chunk.inputs[places], chunk.targets[places], True
    return Chunk(inputs, targets, there)
