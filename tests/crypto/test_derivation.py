from __future__ import annotations

import hashlib
import hmac
import itertools

from discreet.crypto.derivation import KeyUse, derived_key

SECRET = bytes(range(32))
USE = KeyUse("r1", "ann", "bob", "pair mask", b"seen")


def test_keys_are_those_of_rfc_5869() -> None:
    """Extract with a salt of zeros, expand once: by hand, from HMAC."""
    extracted = hmac.digest(bytes(32), SECRET, hashlib.sha256)
    assert derived_key(SECRET, USE) == hmac.digest(extracted, USE.info + b"\x01", hashlib.sha256)


def test_the_use_names_protocol_round_pair_and_purpose() -> None:
    for part in (b"discreet masked sum 1", b"r1", b"ann", b"bob", b"pair mask", b"seen"):
        assert len(part).to_bytes(8, "big") + part in USE.info


def test_every_part_of_the_use_changes_the_key() -> None:
    uses = [
        USE,
        KeyUse("r2", "ann", "bob", "pair mask", b"seen"),
        KeyUse("r1", "bob", "ann", "pair mask", b"seen"),
        KeyUse("r1", "annb", "ob", "pair mask", b"seen"),
        KeyUse("r1", "ann", "cas", "pair mask", b"seen"),
        KeyUse("r1", "ann", "bob", "self mask", b"seen"),
        KeyUse("r1", "ann", "bob", "pair mask", b""),
    ]
    keys = [derived_key(SECRET, use) for use in uses] + [derived_key(bytes(32), USE)]
    assert all(len(key) == 32 for key in keys)
    assert all(one != other for one, other in itertools.combinations(keys, 2))


def test_a_use_does_not_print_the_transcript() -> None:
    assert "seen" not in repr(USE)
