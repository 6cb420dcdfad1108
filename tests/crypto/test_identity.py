from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from discreet.core.errors import ParameterError
from discreet.crypto.errors import BadSignature, UnknownParty
from discreet.crypto.identity import FIELD, SMALL_ORDER, Identity, Roster, Signatures
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.system_bits import system_bits

ANN, BOB = (Identity.drawn(name, DeterministicBits(seed)) for seed, name in enumerate(("ann", "bob")))
ROSTER = Roster.of([ANN, BOB])


def test_keys_and_signatures_are_those_of_rfc_8032() -> None:
    """Its first test vector: the empty message."""
    secret = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    one = Identity("one", secret)
    assert one.public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert one.sign(b"").hex().startswith("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155")


def test_a_signature_binds_signer_and_bytes() -> None:
    signature = ANN.sign(b"hello")
    ROSTER.verify("ann", b"hello", signature)
    for name, data, other in (
        ("bob", b"hello", signature),
        ("ann", b"hallo", signature),
        ("ann", b"hello", BOB.sign(b"hello")),
        ("ann", b"hello", b""),
        ("ann", b"hello", bytes(64)),
    ):
        with pytest.raises(BadSignature, match="not theirs") as refused:
            ROSTER.verify(name, data, other)
        assert refused.value.values["name"] == name


def test_what_has_proved_right_is_not_verified_again_and_what_is_false_always_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[bytes] = []

    class Watched:
        def __init__(self, key: bytes) -> None:
            self.key = Ed25519PublicKey.from_public_bytes(key)

        @classmethod
        def from_public_bytes(cls, key: bytes) -> Watched:
            return cls(key)

        def verify(self, signature: bytes, data: bytes) -> None:
            tried.append(data)
            self.key.verify(signature, data)

    monkeypatch.setattr("discreet.crypto.identity.Ed25519PublicKey", Watched)
    data = system_bits().integer(256).to_bytes(32, "big")
    signature, again = ANN.sign(data), Roster.of([ANN, BOB])
    for roster in (ROSTER, again, ROSTER):
        roster.verify("ann", data, signature)
    assert tried == [data]
    for _ in range(2):
        with pytest.raises(BadSignature):
            ROSTER.verify("bob", data, signature)
        with pytest.raises(BadSignature):
            Roster({"ann": BOB.public}).verify("ann", data, signature)
        with pytest.raises(BadSignature):
            ROSTER.verify("ann", data, signature[:32] + bytes(32))
    assert len(tried) == 7


def test_only_so_many_signatures_are_remembered() -> None:
    right = Signatures(most=100)
    for number in range(1000):
        right.add(number.to_bytes(4, "big"))
        assert number.to_bytes(4, "big") in right
        assert len(right._digests) <= 100


def test_strangers_are_refused() -> None:
    with pytest.raises(UnknownParty, match="'eve' is not on it"):
        ROSTER.verify("eve", b"", ANN.sign(b""))


def test_drawn_identities_differ() -> None:
    assert len({Identity.drawn("ann", system_bits()).public for _ in range(5)}) == 5


def test_a_key_is_not_printed() -> None:
    assert repr(ANN.secret) not in repr(ANN)
    assert repr(ANN) == "Identity(name='ann')"


def test_malformed_identities_are_refused() -> None:
    for name, secret in (("", bytes(32)), ("a" * 201, bytes(32)), ("ann", bytes(31))):
        with pytest.raises(ParameterError):
            Identity(name, secret)
    with pytest.raises(ParameterError, match="the key of 'ann' is no Ed25519 key"):
        Roster({"ann": b"abc"})


def test_a_key_under_which_anybody_can_sign_is_refused() -> None:
    """All points of a small order, in every form; with the first of them, one signature fits every message."""
    weak = (1).to_bytes(32, "little")
    Ed25519PublicKey.from_public_bytes(weak).verify(weak + bytes(32), b"anything")
    for place in (*SMALL_ORDER, *(point + FIELD for point in SMALL_ORDER if point < 19)):
        for sign in (0, 1 << 255):
            with pytest.raises(ParameterError, match="no Ed25519 key of a large order"):
                Roster({"ann": (place + sign).to_bytes(32, "little")})


def test_a_roster_cannot_be_changed() -> None:
    keys = {"ann": ANN.public}
    roster = Roster(keys)
    keys["ann"] = BOB.public
    roster.verify("ann", b"x", ANN.sign(b"x"))
    with pytest.raises(TypeError):
        roster.keys["ann"] = BOB.public  # type: ignore[index]
