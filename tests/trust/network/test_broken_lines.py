"""Secure sums while the line to a party is cut, stalls or has a bit flipped, at any byte of the TLS stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

import pytest

from discreet.trust.secure_sum import SecureSum
from tests.trust.network.outcome import Books, Outcome, check_safe
from tests.trust.network.relay import Relay, Trouble
from tests.trust.network.stage import NAMES, Stage, server
from tests.trust.network.test_faults import sampled

PATIENCE = 0.25
Way = Literal["to the server", "to the party"]
What = Literal["cut", "stall", "flip"]


@contextmanager
def relayed(stage: Stage, addresses: dict[str, str], relay: Relay, patience: float) -> Iterator[SecureSum]:
    """A server that reaches one party through the relay."""
    stage.run(relay.open())
    with server([relay.address, *(addresses[name] for name in NAMES if name != "north")], patience=patience) as trust:
        yield trust
    stage.run(relay.close())


@pytest.fixture(scope="module")
def length(stage: Stage, addresses: dict[str, str], books: Books) -> dict[str, int]:
    """How many bytes a first round takes, each way."""
    relay = Relay(addresses["north"])
    with relayed(stage, addresses, relay, 10.0) as trust:
        assert check_safe(Outcome.of(trust, books), books) == set(NAMES)
        return dict(relay.carried)


def test_an_idle_relay_changes_nothing(length: dict[str, int]) -> None:
    assert min(length.values()) > 1000


@pytest.mark.parametrize(
    ("what", "way", "sixth"),
    sampled([(what, way, sixth) for sixth in range(6) for way in get_args(Way) for what in get_args(What)], 5),
)
def test_a_broken_line_costs_at_most_one_party(
    what: What, way: Way, sixth: int, stage: Stage, addresses: dict[str, str], books: Books, length: dict[str, int]
) -> None:
    """And the round after is whole."""
    for patience in (PATIENCE, 4 * PATIENCE, 16 * PATIENCE):
        relay = Relay(addresses["north"], Trouble(what, way, length[way] * sixth // 6))
        with relayed(stage, addresses, relay, patience) as trust:
            whose, again = (check_safe(Outcome.of(trust, books), books) for _ in range(2))
        if whose >= set(NAMES) - {"north"} and again == set(NAMES):
            return
    pytest.fail(f"in the sum: {sorted(whose)}, in the next: {sorted(again)}")
