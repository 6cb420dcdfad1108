"""Numbers of as few bytes as a sum needs: exact, uniform under masks, and in a protocol of their own."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.errors import Disagreement, Malformed
from discreet.crypto.masked_sum.mask_terms import SECOND, THIRD, MaskTerms
from discreet.crypto.masked_sum.masks import CHUNK, add_mask, subtract_mask
from discreet.crypto.messages import Message
from tests.crypto.rehearsal import NAMES, Rehearsal, client_of, identity, server_of, terms_of
from tests.noise.fit import ALARM


def narrow(width: int, size: int = 50, lowest: int | None = None, **options: Any) -> MaskTerms:
    lowest = -(2 ** (8 * width - 1)) if lowest is None else lowest
    protocol = PROTOCOL if width == 8 else SECOND
    terms = {"round": "r1", "parties": NAMES[:4], "threshold": 3, "size": size, "protocol": protocol, **options}
    return MaskTerms(**terms, width=width, lowest=lowest)


@pytest.mark.parametrize("width", range(1, 9))
def test_sums_are_exact_to_both_ends_of_their_range_and_no_longer_than_they_must_be(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a party that vanishes once its masks are on, so that all kinds of masks are taken off again."""
    for lowest in (-(2 ** (8 * width - 1)), 0 if width < 8 else -(2**63), -3 if width < 8 else -(2**63)):
        terms = narrow(width, lowest=lowest)
        highest = lowest + 2 ** (8 * width) - 1
        wanted = np.random.default_rng(width).integers(lowest, highest, terms.size, endpoint=True)
        wanted[:2] = lowest, highest
        parts = {"p0": wanted - 5, "p1": np.full(terms.size, 7), "p2": np.full(terms.size, -2), "p3": wanted}
        monkeypatch.setattr("tests.crypto.rehearsal.vector_of", lambda _, name, parts=parts: parts[name])
        run = Rehearsal(terms, {"p3": 2})
        assert np.array_equal(run.run().vector.view(np.int64), wanted)
        assert {len(body) for body in run.bodies("masked").values()} == {width * terms.size}


def test_what_is_out_of_range_is_right_but_for_a_multiple_of_the_modulus() -> None:
    terms = narrow(2, 3, lowest=-10)
    opened = terms.opened(np.array([65535, 65526, 65525], np.uint16)).view(np.int64)
    assert opened.tolist() == [-1, -10, 65525]


@pytest.mark.parametrize("word", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("size", [0, 1, 7, 8 * CHUNK, 16 * CHUNK + 3])
def test_a_mask_of_short_words_is_the_same_key_stream(word: type[np.unsignedinteger], size: int) -> None:
    key = bytes(range(32))
    vector = np.zeros(size, word)
    add_mask(vector, key)
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(vector.nbytes))
    assert vector.astype(vector.dtype.newbyteorder("<")).tobytes() == stream
    subtract_mask(vector, key)
    assert not vector.any()


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_masked_numbers_look_uniform_in_every_byte_that_is_sent(width: int) -> None:
    terms = narrow(width, 1 << 14)
    vector = np.zeros(terms.size, terms.word)
    add_mask(vector, bytes(range(32)))
    sent = np.frombuffer(terms.packed(vector), np.uint8).reshape(terms.size, width)
    for byte in sent.T:
        assert stats.chisquare(np.bincount(byte, minlength=256)).pvalue > ALARM
    assert np.array_equal(terms.received(terms.packed(vector)), vector & np.array(2 ** (8 * width) - 1, terms.word))


def test_terms_of_eight_bytes_among_all_are_those_of_always() -> None:
    plain = terms_of(4, 3)
    assert MaskTerms.of(plain).digest == plain.digest
    assert (MaskTerms.of(plain).most, MaskTerms.of(plain).form) == (plain.most, "")
    first = narrow(2)
    others = [narrow(3), narrow(2, lowest=0), dataclasses.replace(first, size=51), plain]
    assert len({one.digest for one in (first, *others)}) == 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0},
        {"width": 9},
        {"width": 2, "lowest": 2**63 - 2**16 + 1},
        {"width": 2, "lowest": -(2**63) - 1},
        {"width": 2, "protocol": PROTOCOL},
        {"width": 8, "protocol": SECOND},
        {"width": 2, "protocol": THIRD},
        {"width": 8, "protocol": THIRD},
    ],
)
def test_terms_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    options = {"lowest": -(2**63), **wrong}
    with pytest.raises(ParameterError, match="terms"):
        narrow(options.pop("width"), **options)


def test_a_party_that_sends_other_numbers_is_refused() -> None:
    """By its terms, in its first message; and a vector of another length by its length."""
    server = server_of(narrow(2))
    for other in (narrow(3), narrow(2, lowest=0), terms_of(4, 3, size=50)):
        with pytest.raises(Disagreement, match="signed for other terms"):
            server.receive(client_of(other, "p0").advertise())
    run, terms = Rehearsal(narrow(2)), narrow(2)
    for client in run.clients.values():
        run.carry(client.advertise())
    announcements = run.server.announce()
    for client in run.clients.values():
        run.carry(client.share_keys(announcements))
    run.server.deliver()
    for length in (0, 2 * terms.size - 1, 2 * terms.size + 1, 8 * terms.size):
        with pytest.raises(Malformed, match="not 50 numbers of 2 bytes"):
            run.server.receive(Message("r1", "p0", "masked", bytes(length)).signed(identity("p0")))


def test_a_sum_of_sixteen_bits_sends_about_a_quarter_of_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a party says in a round of 10,000 numbers, keys and shares included."""
    sent = {}
    for width in (2, 8):
        terms = narrow(width, 10_000)
        monkeypatch.setattr("tests.crypto.rehearsal.vector_of", lambda terms, _: np.zeros(terms.size, np.int64))
        run = Rehearsal(terms)
        run.run()
        sent[width] = sum(len(message.body) for message in run.said if message.sender == "p0")
    assert sent[2] / sent[8] < 0.27
