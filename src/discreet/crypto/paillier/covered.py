"""Secret bytes under a passphrase: what a file of a key holds."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.messages import framed, unframed
from discreet.noise.system_bits import system_bits

ASKED = "secret key"
VERSION = b"discreet secret key 1"
SALT, NONCE, KEY = 16, 12, 32  # bytes
COST = 2**15  # of Scrypt: 32 MiB, a tenth of a second


def covered(secret: bytes, passphrase: str | None = None) -> bytes:
    """The secret as it is written: sealed by AES-256-GCM under the passphrase (Scrypt), or open where there is none.

    Examples
    --------
    >>> uncovered(covered(b"p and q", "correct horse battery"), "correct horse battery")
    b'p and q'
    >>> uncovered(covered(b"p and q"))
    b'p and q'
    """
    if passphrase is None:
        return framed(VERSION, secret)
    salt, nonce = (system_bits().integer(8 * size).to_bytes(size, "big") for size in (SALT, NONCE))
    return framed(VERSION, salt, nonce, AESGCM(_key(passphrase, salt)).encrypt(nonce, secret, VERSION))


def is_covered_secret(data: bytes) -> bool:
    """Whether a file of a key needs a passphrase."""
    return len(_fields(data)) == 4


def uncovered(data: bytes, passphrase: str | None = None) -> bytes:
    """The secret in these bytes."""
    version, *fields = _fields(data)
    if len(fields) == 1:
        return fields[0]
    salt, nonce, sealed = fields
    if passphrase is None:
        raise ParameterError(ASKED, "it is under a passphrase", "Give it.")
    try:
        return AESGCM(_key(passphrase, salt)).decrypt(nonce, sealed, version)
    except (InvalidTag, ValueError) as why:
        raise ParameterError(ASKED, "it is under another passphrase, or was changed", "Give its own.") from why


def _fields(data: bytes) -> list[bytes]:
    try:
        fields = unframed(data)
    except Malformed:
        fields = []
    if len(fields) not in (2, 4) or fields[0] != VERSION:
        raise ParameterError(ASKED, "there is none in the file, or one of another version", "Give what was written.")
    return fields


def _key(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt, KEY, COST, 8, 1).derive(passphrase.encode())
