"""An identity as others see it: a name and a public key, on a certificate that TLS accepts."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from functools import cached_property

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from discreet.core.errors import ParameterError
from discreet.crypto.identity import Identity, check_public

LONGEST = 64  # bytes of a name that a certificate can hold
FROM, UNTIL = (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) for year in (2020, 2100))


@dataclass(frozen=True)
class PartyCertificate:
    """What a party hands out so that others know it: nothing on it is secret.

    Parameters
    ----------
    certificate : bytes
        Public. Its certificate, signed by itself, in PEM; whatever else is in the text, such as a private key, is
        dropped. Whoever puts it on a roster must have it from the party.

    Examples
    --------
    >>> from discreet.noise.system_bits import system_bits
    >>> ann = Identity.drawn("ann", system_bits())
    >>> card = PartyCertificate.of(ann)
    >>> card.name, card.public == ann.public
    ('ann', True)
    """

    certificate: bytes = field(repr=False)

    def __post_init__(self) -> None:
        try:
            found = x509.load_pem_x509_certificate(self.certificate)
            names = found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
            key = found.public_key()
        except (ValueError, UnsupportedAlgorithm) as why:
            raise ParameterError("certificate", "it cannot be read as PEM", "Give what a party handed out.") from why
        if not isinstance(key, Ed25519PublicKey) or len(names) != 1:
            raise ParameterError("certificate", "it has no name, or no Ed25519 key", "Give what a party handed out.")
        name = str(names[0].value)
        _check_name(name)
        check_public("certificate", name, key.public_bytes_raw())
        try:
            found.verify_directly_issued_by(found)
        except (ValueError, TypeError, InvalidSignature) as why:
            remedy = "Give what a party handed out."
            raise ParameterError("certificate", f"{name!r} has not signed it with that key", remedy) from why
        object.__setattr__(self, "certificate", found.public_bytes(Encoding.PEM))

    @classmethod
    def of(cls, identity: Identity) -> PartyCertificate:
        """The certificate of an identity; always the same."""
        _check_name(identity.name)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, identity.name)])
        key = Ed25519PrivateKey.from_private_bytes(identity.secret)
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        builder = builder.serial_number(int.from_bytes(identity.public[:16], "big") | 1)
        builder = builder.not_valid_before(FROM).not_valid_after(UNTIL)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        return cls(builder.sign(key, None).public_bytes(Encoding.PEM))

    @property
    def name(self) -> str:
        """Whose it is."""
        return str(self._parsed.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)

    @property
    def public(self) -> bytes:
        """The Ed25519 key, 32 bytes."""
        key = self._parsed.public_key()
        assert isinstance(key, Ed25519PublicKey)
        return key.public_bytes_raw()

    @property
    def binary(self) -> bytes:
        """The certificate in DER: what a TLS peer shows."""
        return self._parsed.public_bytes(Encoding.DER)

    @cached_property
    def _parsed(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self.certificate)


def _check_name(name: str) -> None:
    if not 1 <= len(name.encode()) <= LONGEST or not name.isprintable():
        remedy = f"Take a name of letters that can be printed, of {LONGEST} bytes at most."
        raise ParameterError("certificate", f"{name[:20]!r} is long, or cannot be printed", remedy)


def to_pem(identity: Identity, passphrase: bytes | None = None) -> bytes:
    """The identity as a file: the private key, under the passphrase where there is one, then the certificate."""
    key = Ed25519PrivateKey.from_private_bytes(identity.secret)
    cover = NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, cover) + PartyCertificate.of(identity).certificate


def is_covered(data: bytes) -> bool:
    """Whether the private key in a file that `to_pem` filled is under a passphrase."""
    return b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in data


def from_pem(data: bytes, passphrase: bytes | None = None) -> Identity:
    """The identity in a file that `to_pem` filled."""
    covered = is_covered(data)
    try:
        key = load_pem_private_key(data, passphrase if covered else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as why:
        obstacle = "there is no private key in the file"
        if covered:
            obstacle = "its key is under a passphrase" + (", and under another one" if passphrase else "")
        raise ParameterError("identity", obstacle, "Give its own, or make a new one: discreet identity.") from why
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError("identity", "its key is not an Ed25519 key", "Make one: discreet identity.")
    card = PartyCertificate(data)
    if card.public != key.public_key().public_bytes_raw():
        raise ParameterError("identity", "its certificate is of another key", "Make one: discreet identity.")
    return Identity(card.name, key.private_bytes_raw())
