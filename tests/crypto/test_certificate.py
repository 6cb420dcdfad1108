"""Cards: what a party hands out, and what it must not."""

from __future__ import annotations

import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate, from_pem, is_covered, to_pem
from discreet.crypto.identity import Identity
from discreet.noise.system_bits import system_bits

ANN, BOB = (Identity.drawn(name, system_bits()) for name in ("ann", "bob"))


def test_a_card_has_the_name_and_the_key() -> None:
    card = PartyCertificate.of(ANN)
    assert (card.name, card.public) == ("ann", ANN.public)
    assert x509.load_der_x509_certificate(card.binary).public_bytes(Encoding.PEM) == card.certificate


def test_an_identity_has_one_card() -> None:
    """Else everybody would have to agree on files anew whenever somebody makes a card again."""
    assert PartyCertificate.of(ANN) == PartyCertificate.of(Identity("ann", ANN.secret))
    assert PartyCertificate.of(ANN) != PartyCertificate.of(Identity("anna", ANN.secret))


def test_a_card_is_signed_by_its_owner_and_vouches_for_nobody() -> None:
    found = x509.load_der_x509_certificate(PartyCertificate.of(ANN).binary)
    found.verify_directly_issued_by(found)
    assert found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is False


def test_an_identity_is_read_as_it_was_written() -> None:
    assert from_pem(to_pem(ANN)) == ANN
    assert from_pem(to_pem(ANN), b"a passphrase that is not needed") == ANN


def test_a_passphrase_covers_the_key_and_nothing_else() -> None:
    data = to_pem(ANN, b"correct horse battery")
    assert is_covered(data)
    assert not is_covered(to_pem(ANN))
    assert b"BEGIN PRIVATE KEY" not in data
    assert PartyCertificate(data) == PartyCertificate.of(ANN)
    assert from_pem(data, b"correct horse battery") == ANN
    for wrong, words in ((None, "its key is under a passphrase"), (b"incorrect horse", "under another one")):
        with pytest.raises(ParameterError, match=words):
            from_pem(data, wrong)


def test_a_card_that_is_read_from_a_secret_file_does_not_hold_the_secret() -> None:
    """It might be handed out, or be written into a file for all."""
    card = PartyCertificate(to_pem(ANN))
    assert card == PartyCertificate.of(ANN)
    assert b"PRIVATE" not in card.certificate


def test_line_ends_and_words_around_a_card_do_not_matter() -> None:
    plain = PartyCertificate.of(ANN).certificate
    assert PartyCertificate(b"From: ann\r\n" + plain.replace(b"\n", b"\r\n") + b"\r\nbye '''\n") == PartyCertificate.of(
        ANN
    )


@pytest.mark.parametrize("name", ["a", "Zoë's ward, 2nd floor", "日本", "x" * 64, "é" * 32])
def test_names_are_kept(name: str) -> None:
    assert PartyCertificate.of(Identity(name, ANN.secret)).name == name


@pytest.mark.parametrize("name", ["x" * 65, "é" * 33, "two\nlines", "\x1b[2J", "nul\0"])
def test_names_that_a_certificate_or_a_terminal_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="64 bytes at most"):
        PartyCertificate.of(Identity(name, ANN.secret))


def certificate(key: object, *names: str, public: object = None) -> bytes:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names])
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).serial_number(1)
    first, last = (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) for year in (2020, 2090))
    builder = builder.public_key(public or key.public_key()).not_valid_before(first).not_valid_after(last)  # type: ignore[arg-type, attr-defined]
    signed = builder.sign(key, None if isinstance(key, Ed25519PrivateKey) else SHA256())  # type: ignore[arg-type]
    return signed.public_bytes(Encoding.PEM)


KEY = Ed25519PrivateKey.from_private_bytes(ANN.secret)
NO_CARDS = {
    "nothing": b"",
    "no PEM": b"ann",
    "a key alone": KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    "half of one": PartyCertificate.of(ANN).certificate[:200],
    "garbled": PartyCertificate.of(ANN).certificate.replace(b"M", b"N", 1),
    "another kind of key": certificate(ec.generate_private_key(ec.SECP256R1()), "ann"),
    "no name": certificate(KEY),
    "two names": certificate(KEY, "ann", "bob"),
    "a name of two lines": certificate(KEY, "ann\nbob"),
    "the key of another": certificate(KEY, "ann", public=Ed25519PublicKey.from_public_bytes(BOB.public)),
    "a key of a small order": certificate(KEY, "ann", public=Ed25519PublicKey.from_public_bytes(bytes([1] + [0] * 31))),
}


@pytest.mark.parametrize("wrong", NO_CARDS)
def test_what_is_no_card_is_refused(wrong: str) -> None:
    with pytest.raises(ParameterError):
        PartyCertificate(NO_CARDS[wrong])


def pem(key: Ed25519PrivateKey | rsa.RSAPrivateKey, password: bytes | None = None) -> bytes:
    closed = NoEncryption() if password is None else BestAvailableEncryption(password)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, closed)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no private key"),
        (PartyCertificate.of(ANN).certificate, "no private key"),
        (pem(KEY, b"password") + PartyCertificate.of(ANN).certificate, "its key is under a passphrase"),
        (pem(rsa.generate_private_key(65537, 2048)) + PartyCertificate.of(ANN).certificate, "not an Ed25519 key"),
        (pem(KEY), "cannot be read"),
        (pem(KEY) + PartyCertificate.of(BOB).certificate, "of another key"),
    ],
)
def test_what_is_no_identity_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        from_pem(data)


def test_nothing_shows_the_secret() -> None:
    assert ANN.secret.hex() not in repr(ANN)
    assert "PRIVATE" not in repr(PartyCertificate(to_pem(ANN)))
