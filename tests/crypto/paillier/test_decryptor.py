"""Threshold decryption: right by enough holders, refused by name where a part or its proof is false."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed, RoundReused, TooFewSurvivors, UnknownParty, WrongShares
from discreet.crypto.paillier import decryption_proof
from discreet.crypto.paillier.decryption_proof import DecryptionProof
from discreet.crypto.paillier.decryptor import Decryptor, PartialDecryption, about, check_partial, opened
from discreet.crypto.paillier.encrypted_array import EncryptedArray, encrypt
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.threshold_key import CHALLENGE, KeyShare, ThresholdKey
from discreet.noise.system_bits import system_bits
from tests.crypto.paillier.small_keys import small_key
from tests.crypto.paillier.test_threshold_key import NAMES, shares

PACKING = Packing(-50, 50, headroom=20)
WIDER = dataclasses.replace(PACKING, headroom=21)  # a slot is as wide
KEY = shares()["ann"].key
SUM = encrypt([[7, -3], [40, 0]], PACKING, KEY.public) + encrypt([[1, 2], [3, 4]], PACKING, KEY.public)


def partials(names: Any = NAMES, session: str = "monday", array: EncryptedArray = SUM) -> list[PartialDecryption]:
    return [Decryptor(shares()[name]).partial(session, array) for name in names]


def test_every_choice_of_enough_holders_opens_what_the_owner_would() -> None:
    given = {one.giver: one for one in partials()}
    truth = small_key().decrypt(SUM)
    for count in (3, 4, 5):
        for chosen in itertools.combinations(NAMES, count):
            assert (opened(KEY, "monday", SUM, [given[name] for name in chosen]) == truth).all()


def test_parts_are_powers_of_the_ciphertexts() -> None:
    (one,) = partials(["bob"])
    for part, ciphertext in zip(one.parts, SUM.ciphertexts, strict=True):
        assert part == pow(int(ciphertext), 2 * 120 * int(shares()["bob"]._secret), int(KEY.public.square))


def test_fewer_than_the_threshold_open_nothing() -> None:
    for names in ([], ["ann"], ["ann", "eve"]):
        with pytest.raises(TooFewSurvivors, match=r"3 are needed.*Nothing was opened") as refused:
            opened(KEY, "monday", SUM, partials(names))
        assert refused.value.values["threshold"] == 3
    with pytest.raises(WrongShares, match="two parts"):
        opened(KEY, "monday", SUM, partials(["ann", "bob", "bob"]))


def lies() -> dict[str, PartialDecryption]:
    """What eve may give in the place of her part."""
    (honest,) = partials(["eve"])
    parts, proof, square = honest.parts, honest.proof, KEY.public.square
    other = Decryptor(shares()["dan"]).partial("monday", SUM)
    proven = DecryptionProof.made(shares()["dan"], about("monday", SUM), SUM.ciphertexts, other.parts, system_bits())
    own = {
        "another number": dataclasses.replace(honest, parts=(parts[0] * 2 % square, *parts[1:])),
        "the last one": dataclasses.replace(honest, parts=(*parts[:-1], parts[-1] * (1 + KEY.public.modulus) % square)),
        "parts that are swapped": dataclasses.replace(honest, parts=parts[::-1]),
        "ones": dataclasses.replace(honest, parts=tuple(one * 0 + 1 for one in parts)),
        "too few parts": dataclasses.replace(honest, parts=parts[:1]),
        "dan's part": dataclasses.replace(other, giver="eve"),
        "dan's proof": PartialDecryption("monday", "eve", other.parts, proven),
        "another session": partials(["eve"], "tuesday")[0],
        "another session's name": dataclasses.replace(partials(["eve"], "tuesday")[0], session="monday"),
        "the same ciphertexts in another packing": partials(["eve"], array=dataclasses.replace(SUM, packing=WIDER))[0],
        "another array": partials(["eve"], array=encrypt([[7, -3], [40, 0]], PACKING, KEY.public))[0],
    }
    for name, challenge, answer in (
        ("answer", proof.challenge, proof.answer + 1),
        ("challenge", proof.challenge ^ 1, proof.answer),
        ("zeros", 0, 0),
        ("negative", proof.challenge, proof.answer - 2 ** (KEY.mask_bits + 2)),
        ("long", proof.challenge, proof.answer + 2 ** (KEY.mask_bits + 2)),
        ("negative challenge", -1, proof.answer),
    ):
        own[name] = dataclasses.replace(honest, proof=DecryptionProof(challenge, answer))
    return own


@pytest.mark.parametrize("name", lies())
def test_a_decryptor_that_lies_is_named(name: str) -> None:
    honest = partials(["ann", "bob", "cas"])
    with pytest.raises(WrongShares, match=r"partial decryption of 'eve'.*Nothing was opened") as refused:
        opened(KEY, "monday", SUM, [*honest, lies()[name]])
    assert refused.value.values["name"] == "eve"
    assert (opened(KEY, "monday", SUM, honest) == small_key().decrypt(SUM)).all()


def test_strangers_and_other_keys_are_refused() -> None:
    (one,) = partials(["ann"])
    with pytest.raises(WrongShares, match="it belongs to session 'monday' and not to 'tuesday'"):
        check_partial(KEY, "tuesday", SUM, one)
    with pytest.raises(UnknownParty):
        check_partial(KEY, "monday", SUM, dataclasses.replace(one, giver="fay"))
    foreign = encrypt([1], PACKING, small_key(256))
    with pytest.raises(Malformed, match="another key"):
        Decryptor(shares()["ann"]).partial("monday", foreign)
    with pytest.raises(ParameterError, match="empty or long"):
        Decryptor(shares()["ann"]).partial("", SUM)


def test_a_session_is_opened_once_and_only_what_was_announced_in_it() -> None:
    ann = Decryptor(shares()["ann"])
    ann.partial("monday", SUM)
    single = encrypt([[7, -3], [40, 0]], PACKING, KEY.public)
    for array in (SUM, single):
        with pytest.raises(RoundReused, match="run already"):
            ann.partial("monday", array)
    assert repr(ann) == "Decryptor(KeyShare('ann', 3 of 5))"


def test_one_proof_covers_many_ciphertexts_and_sees_one_false_part_among_them() -> None:
    array = encrypt(np.arange(32).reshape(1, 32), PACKING, KEY.public)
    (honest,) = partials(["cas"], array=array)
    assert len(honest.parts) == 32
    check_partial(KEY, "monday", array, honest)
    for place in (0, 17, 31):
        parts = list(honest.parts)
        parts[place] = parts[place] * 4 % KEY.public.square
        told = about("monday", array)
        forged = DecryptionProof.made(shares()["cas"], told, array.ciphertexts, parts, system_bits())
        with pytest.raises(WrongShares, match="its proof fails"):
            check_partial(KEY, "monday", array, dataclasses.replace(honest, parts=tuple(parts), proof=forged))


def test_a_sign_does_no_harm() -> None:
    """The one number besides 1 whose square is 1 and that anybody knows: parts are squared before they are used."""
    (honest,) = partials(["eve"])
    parts = [-part % KEY.public.square for part in honest.parts]
    proof = DecryptionProof.made(shares()["eve"], about("monday", SUM), SUM.ciphertexts, parts, system_bits())
    turned = dataclasses.replace(honest, parts=tuple(parts), proof=proof)
    assert (opened(KEY, "monday", SUM, [*partials(["ann", "bob"]), turned]) == small_key().decrypt(SUM)).all()


def test_a_proof_is_of_one_giver_even_where_a_dealer_gave_two_the_same_share() -> None:
    square, secret = KEY.public.square, 12345
    shown = pow(int(KEY.base), 2 * secret, int(square))
    key = ThresholdKey(KEY.public, 2, "dora", KEY.base, {"ann": shown, "bob": shown})
    given = Decryptor(KeyShare(key, "ann", secret)).partial("monday", SUM)
    check_partial(key, "monday", SUM, given)
    with pytest.raises(WrongShares, match=r"partial decryption of 'bob'.*its proof fails"):
        check_partial(key, "monday", SUM, dataclasses.replace(given, giver="bob"))


def test_numbers_that_no_proof_has_are_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A challenge of a megabyte would keep whoever checks it busy for minutes."""
    (one,) = partials(["ann"])
    challenge, answer = one.proof.challenge, one.proof.answer
    work: list[int] = []
    monkeypatch.setattr(decryption_proof, "folded", lambda *_: work.append(1))
    told = about("monday", SUM)
    for wrong in (
        DecryptionProof(challenge + 2**CHALLENGE, answer),
        DecryptionProof(challenge - 2**CHALLENGE, answer),
        DecryptionProof(challenge, answer + 2 ** (KEY.mask_bits + 1)),
        DecryptionProof(challenge, -1 - answer),
    ):
        assert not wrong.holds(KEY, "ann", told, SUM.ciphertexts, one.parts)
    assert not work


def test_proofs_hide_the_share_behind_a_longer_mask() -> None:
    assert KEY.mask_bits >= int(shares()["ann"].exponent).bit_length() + 128 + 120
    assert len({partials(["ann"])[0].proof.answer for _ in range(5)}) == 5


def test_parts_travel_as_bytes_and_ten_thousand_fuzzed_ones_do_no_harm() -> None:
    (one,) = partials(["dan"])
    good = one.to_bytes(KEY)
    assert PartialDecryption.from_bytes(good, KEY) == one
    rng, accepted = np.random.default_rng(3), 0
    for turn in range(10_000):
        data = bytearray(good)
        for place in rng.integers(0, len(data), rng.integers(1, 3)):
            data[place] = rng.integers(0, 256)
        if bytes(data) == good:
            continue
        with contextlib.suppress(Malformed):
            read = PartialDecryption.from_bytes(bytes(data), KEY)
            if turn % 50 == 0:  # a proof takes a hundred times as long as reading it
                with contextlib.suppress(WrongShares, UnknownParty):
                    check_partial(KEY, "monday", SUM, read)
                    accepted += 1
    assert accepted == 0
