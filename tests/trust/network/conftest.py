"""Parties that listen through all tests of a file, and books in which nothing is missing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from discreet.crypto.identity import Identity
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import Terms
from discreet.trust.party import Seat
from discreet.trust.secure_sum import OtherSurvivors
from tests.trust.network.outcome import Books
from tests.trust.network.stage import NAMES, Stage, party


@pytest.fixture(scope="module")
def books() -> Iterator[Books]:
    """Every vector that is masked and every total that is opened, written down."""
    kept, noisy_sum, begin, total = Books(), Seat._vector, Server.__init__, Server.total

    def noted(seat: Seat) -> np.ndarray:
        vector = noisy_sum(seat)
        kept.noisy[seat.round, seat._party.name] = vector.astype(np.uint64)
        return vector

    def begun(one: Server, identity: Identity, terms: Terms, *rest: Any) -> None:
        begin(one, identity, terms, *rest)
        kept.rounds.append(terms.round)

    def opened(one: Server) -> Total:
        kept.totals[one.terms.round] = total(one)
        return kept.totals[one.terms.round]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Seat, "_vector", noted)
        patch.setattr(Server, "__init__", begun)
        patch.setattr(Server, "total", opened)
        yield kept


@pytest.fixture(autouse=True)
def dropouts() -> Iterator[None]:
    """Parties drop out all the time here, and nobody is warned of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OtherSurvivors)
        yield


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as one:
        yield one


@pytest.fixture(scope="module")
def addresses(stage: Stage, books: Books) -> dict[str, str]:
    """Where the four parties listen, through all cases."""
    return {name: stage.listens(party(name)).address for name in NAMES}
