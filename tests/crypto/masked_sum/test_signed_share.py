"""One signature on both shares of a holder: it binds both, and shows of the one that is kept back nothing."""

from __future__ import annotations

from hashlib import sha256

import pytest

from discreet.crypto.errors import Malformed
from discreet.crypto.masked_sum.mask_terms import THIRD, MaskTerms
from discreet.crypto.masked_sum.signed_share import SignedShare
from discreet.crypto.messages import Message, Signed, framed, labelled, split, unlabelled
from discreet.crypto.rounds.agreement import AnnouncedKeys, SecretKeys
from discreet.crypto.sharing.shamir import packed, share
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.rehearsal import NAMES, Rehearsal, identity, roster, sum_of

TERMS = MaskTerms("r1", NAMES, 9, 3, protocol=THIRD, degree=8, needed=5)
HOLDER = TERMS.parties[2]
BITS = DeterministicBits(5)
ANNOUNCED = AnnouncedKeys(TERMS, {name: SecretKeys.drawn(BITS).public for name in NAMES})
SHARES = [share(BITS, packed(bytes([number]) * 32), TERMS.deal)[2] for number in (1, 2)]
BOTH = SignedShare.dealt_both(SHARES[0], SHARES[1], ANNOUNCED, identity("p0"), BITS)
VALUES, SALT, OTHER = slice(0, 40), slice(40, 72), slice(72, 104)


def is_true(
    place: int, data: bytes, dealer: str = "p0", holder: str = HOLDER, announced: AnnouncedKeys = ANNOUNCED
) -> bool:
    read = SignedShare.from_bytes(announced, holder, data)
    return read.is_true(("seed", "key")[place], announced, dealer, roster(TERMS))


@pytest.mark.parametrize("place", [0, 1])
def test_a_share_is_true_for_its_dealer_holder_secret_and_run_alone(place: int) -> None:
    data = BOTH[place].to_bytes()
    later = AnnouncedKeys(TERMS, {name: SecretKeys.drawn(BITS).public for name in NAMES})
    assert is_true(place, data)
    assert not is_true(1 - place, data)
    assert not is_true(place, data, dealer="p1")
    assert not is_true(place, data, holder="p3")
    assert not is_true(place, data, announced=later)


@pytest.mark.parametrize("place", [0, 1])
def test_nothing_of_it_can_be_changed(place: int) -> None:
    """A bit of the values, of the random bytes, of the digest of the other share or of the signature."""
    data = BOTH[place].to_bytes()
    assert is_true(place, data)
    for spot in (0, 32, *range(40, len(data), 8)):
        assert not is_true(place, data[:spot] + bytes([data[spot] ^ 1]) + data[spot + 1 :])
    for short in (data[1:], data[:60], b""):
        with pytest.raises(Malformed):
            is_true(place, short)


def test_one_signature_is_on_both_and_a_share_shows_only_a_salted_digest_of_the_other() -> None:
    seed, key = (one.to_bytes() for one in BOTH)
    assert seed[-64:] == key[-64:]
    assert seed[SALT] != key[SALT]
    assert seed[OTHER] == sha256(framed(key[SALT], key[VALUES])).digest()
    assert key[OTHER] == sha256(framed(seed[SALT], seed[VALUES])).digest()
    assert key[SALT] not in seed
    assert seed[SALT] not in key


def test_each_digest_has_random_bytes_of_its_own() -> None:
    run = Rehearsal(TERMS)
    run.run()
    held = [one for client in run.clients.values() for mine in client._held.values() for one in (mine.seed, mine.key)]
    assert len({one.beside[:32] for one in held}) == len(held) == 2 * len(NAMES) * (TERMS.degree + 1)


@pytest.mark.parametrize("part", [0, 1], ids=["seed", "key"])
def test_who_reveals_a_false_share_is_named_and_the_sum_is_right(part: int) -> None:
    run, gone = Rehearsal(TERMS, {"p11": 2}), "p11"
    carry = run.carry

    def lying(signed: Signed) -> None:
        message = signed.message
        if message.kind == "reveal" and message.sender == "p4":
            parts = [unlabelled(one) for one in split(message.body, 2)]
            parts[part] = {name: bytes([one[0] ^ 1]) + one[1:] for name, one in parts[part].items()}
            body = framed(*(labelled(one) for one in parts))
            signed = Message("r1", "p4", "reveal", body).signed(identity("p4"))
        carry(signed)

    run.carry = lying  # type: ignore[method-assign]
    total = run.run()
    assert list(total.vector) == list(sum_of(TERMS, [name for name in NAMES if name != gone]))
    holds = part == 0 or run.server._graph.holds("p4", gone)
    assert total.liars == (("p4",) if holds else ())
    assert holds


def test_as_many_agreements_as_the_threshold_are_passed_on() -> None:
    run, seen = Rehearsal(TERMS), []
    confirm = run.server.confirm

    def confirmed() -> Signed:
        seen.append(confirm())
        return seen[0]

    run.server.confirm = confirmed  # type: ignore[method-assign]
    run.run()
    assert list(unlabelled(seen[0].message.body)) == list(TERMS.parties[: TERMS.threshold])
