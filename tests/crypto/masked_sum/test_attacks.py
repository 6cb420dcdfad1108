"""Fuzzed bytes, a relay that splits, reorders and replays: nothing ends a party, and nothing shows a share."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from discreet.core.errors import DiscreetError
from discreet.crypto.errors import ProtocolError
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.mask_terms import SECOND, THIRD, MaskTerms
from discreet.crypto.messages import Signed, labelled, listed, split, unlabelled
from discreet.crypto.rounds.terms import Terms
from tests.crypto.rehearsal import NAMES, Rehearsal, client_of, from_server, server_of, sum_of, terms_of, vector_of

FEW = MaskTerms("r1", NAMES[:8], 7, 3, protocol=THIRD, degree=4, needed=3)
SHORT = MaskTerms("r1", NAMES[:4], 3, 3, protocol=SECOND, width=2, lowest=0)
MESSAGES = 10_000
KINDS = ("announcements", "delivery", "survivors", "agreements")


class Watched:
    """A round in which one client is tried before each true message is passed to it."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.server = terms, server_of(terms)
        self.clients = {name: client_of(terms, name) for name in terms.parties}
        self.first = self.clients["p0"]

    def steps(self) -> Iterator[Signed]:
        """The true messages to the first client; it goes on with each after it was tried."""
        for client in self.clients.values():
            self.server.receive(client.begin())
        while messages := self.server.passed_on():
            yield messages["p0"]
            for name, client in self.clients.items():
                self.server.receive(client.answer(messages[name], partial(vector_of, self.terms, name)))

    def secrets(self) -> list[bytes]:
        """All that no one may read: keys, the seed, and the shares that are held."""
        held = [share for one in self.first._held.values() for share in (one.seed, one.key)]
        shares = [bytes(8 * share.share.values.size) + share.share.to_bytes() for share in held]
        return [self.first._seed, self.first._keys.mask, self.first._keys.seal, *(one[40:] for one in shares)]


def fuzzed(rng: np.random.Generator, body: bytes) -> bytes:
    """The body with some bytes changed, cut, repeated or put in."""
    data = bytearray(body)
    for _ in range(rng.integers(1, 4)):
        place, other = (int(rng.integers(len(data) + 1)) for _ in range(2))
        match rng.integers(6):
            case 0 if data:
                data[place % len(data)] ^= 1 << int(rng.integers(8))
            case 1:
                del data[min(place, other) : max(place, other)]
            case 2:
                data[place:place] = rng.bytes(int(rng.integers(1, 20)))
            case 3:
                data[place:place] = data[min(place, other) : max(place, other)][:200]
            case 4:
                data[place : place + 8] = int(rng.integers(2**40)).to_bytes(8, "big")
            case _:
                del data[place:]
    return bytes(data)


def never() -> np.ndarray:
    raise AssertionError("a fuzzed message was paid for")


@pytest.mark.parametrize(("terms", "share"), [(terms_of(4, 3), 0.3), (SHORT, 0.2), (FEW, 0.5)], ids=["8", "2", "few"])
def test_ten_thousand_fuzzed_messages_neither_end_a_client_nor_show_a_share(
    terms: Terms, share: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Signed by a hostile server, so that they are read; afterwards the round goes on and gives the sum."""
    rng, stage, words, passed = np.random.default_rng(1), Watched(terms), [], 0
    tries = int(MESSAGES * share / len(KINDS))
    with caplog.at_level(logging.DEBUG):
        for true in stage.steps():
            kind, body = true.message.kind, true.message.body
            for _ in range(tries):
                data = fuzzed(rng, body)
                if same(kind, data, body) or kind == "survivors":
                    data = rng.bytes(len(data) % 90)
                try:
                    stage.first.answer(from_server(terms, kind, data), never)
                    passed += 1
                except DiscreetError as why:
                    words.append(f"{why} {why.values!r} {why!r}")
            words.append(repr(stage.first))
    assert np.array_equal(stage.server.total().vector, stage.server.terms.opened(word_sum(stage.server.terms)))
    assert passed == 0
    said = " ".join(words) + caplog.text
    for secret in stage.secrets():
        assert secret.hex() not in said
        assert repr(secret)[2:-1] not in said


def same(kind: str, data: bytes, body: bytes) -> bool:
    """Whether what was changed says the same: fields of the same names, in another order."""
    try:
        if kind == "delivery" and len(split(body, 2)) == 2:
            return [unlabelled(part) for part in split(data, 2)] == [unlabelled(part) for part in split(body, 2)]
    except ProtocolError:
        pass
    try:
        return unlabelled(data) == unlabelled(body)
    except ProtocolError:
        return data == body


def word_sum(terms: MaskTerms) -> np.ndarray:
    return sum_of(terms, terms.parties).astype(terms.word)


def test_two_lists_of_survivors_open_nothing_among_many() -> None:
    """A relay that splits those who sent a vector in two, to subtract: each half is shown its own list."""
    stage = Watched(FEW)
    halves = [listed(name for name in FEW.parties if name != gone) for gone in ("p6", "p7")]
    for true in stage.steps():
        if true.message.kind == "delivery":
            break
    boxes = stage.server._graph
    assert len(boxes.chosen) == 8
    delivered = {
        name: from_server(FEW, "delivery", stage.server._boxes(name, boxes.to_bytes())) for name in FEW.parties
    }
    for name, client in stage.clients.items():
        client.answer(delivered[name], partial(vector_of, FEW, name))
    signed: dict[int, dict[str, bytes]] = {0: {}, 1: {}}
    for place, (name, client) in enumerate(stage.clients.items()):
        half = 0 if name == "p7" else 1 if name == "p6" else place % 2
        try:
            signed[half][name] = client.answer(from_server(FEW, "survivors", halves[half]), never).to_bytes()
        except ProtocolError:
            continue  # of its own choice too few are left
    for half, some in signed.items():
        for name in some:
            with pytest.raises(ProtocolError):
                stage.clients[name].answer(from_server(FEW, "agreements", labelled(some)), never)
            with pytest.raises(ProtocolError):
                stage.clients[name].answer(from_server(FEW, "agreements", labelled(some | signed[1 - half])), never)


@pytest.mark.parametrize("terms", [FEW, SHORT], ids=["few", "short"])
def test_messages_that_come_again_or_out_of_turn_are_not_answered(terms: MaskTerms) -> None:
    stage = Watched(terms)
    heard: list[Signed] = []
    for true in stage.steps():
        for earlier in heard:
            with pytest.raises(ProtocolError):
                stage.first.answer(earlier, never)
        heard.append(true)
    other = client_of(terms, "p0", seed=3)
    for late in heard[1:]:
        with pytest.raises(ProtocolError):
            other.answer(late, never)
    assert isinstance(other, Client)


def test_a_run_of_short_numbers_ends_whoever_leaves_at_whichever_step() -> None:
    for step in range(6):
        run = Rehearsal(SHORT, {"p2": step})
        total = run.run()
        counted = [name for name in SHORT.parties if step > 2 or name != "p2"]
        assert total.survivors == tuple(counted)
        assert np.array_equal(total.vector, SHORT.opened(sum_of(SHORT, counted).astype(SHORT.word)))
