"""Files of secret keys: their owner's alone, and under a passphrase if that is wanted."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self, TypeVar

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate, from_pem, is_covered, to_pem
from discreet.crypto.identity import Identity
from discreet.crypto.paillier.covered import covered, is_covered_secret, uncovered
from discreet.ledger.own_file import create_own, read_own
from discreet.service.kept_file import KeptFile

VARIABLE = "DISCREET_PASSPHRASE"
SHORTEST = 12  # letters of a passphrase
LONGEST = 2**16  # bytes of a file of an identity
LONGEST_SHARE = 2**22  # and of a share of a key, which names all holders


class SecretKey(Protocol):
    """A key that says itself how it is written: `PrivateKey` and `KeyShare` of Paillier's encryption."""

    def to_bytes(self) -> bytes: ...

    @classmethod
    def from_bytes(cls, data: bytes) -> Self: ...


class KeptSecret(Protocol):
    """A secret that changes, and is given a function that keeps its new form: `ServerWeights` and `MaskedUpdates`."""

    @classmethod
    def from_bytes(cls, data: bytes, keep: Callable[[bytes], object], /) -> Self: ...


Key = TypeVar("Key", bound=SecretKey)
Kept = TypeVar("Kept", bound=KeptSecret)


def write_identity(path: str | Path, drawn: Identity, passphrase: str | None = None) -> None:
    """Write a secret key to a new file that its owner alone can read, under the passphrase where one is given."""
    _check_passphrase(passphrase)
    _create(path, to_pem(drawn, None if passphrase is None else passphrase.encode()))


def read_identity(path: str | Path, passphrase: str | None = None) -> Identity:
    """The identity in a file that nobody else can read.

    Where its key is under a passphrase and none is given here, the variable `DISCREET_PASSPHRASE` has it, or it
    is asked for at the terminal.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST)
        if b"PRIVATE KEY" in data:  # what has none, such as a card, is refused for that
            data = read_own(path, f"read {path}", 1, LONGEST)
    except OSError as why:
        raise ParameterError(f"read {path}", str(why.strerror or why), "Check the path.") from why
    if is_covered(data) and passphrase is None:
        passphrase = _known_or_asked(f"Passphrase of {path}: ")
    return from_pem(data, None if passphrase is None else passphrase.encode())


def read_card(path: str | Path) -> PartyCertificate:
    """The card in a file; not one in a file of a secret key, which nobody else should have."""
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST)
    except OSError as why:
        raise ParameterError(f"read {path}", str(why.strerror or why), "Check the path.") from why
    if b"PRIVATE KEY" in data:
        remedy = "Give the card. If its owner handed the key out, a new one is due."
        raise ParameterError(f"read {path}", "it holds a secret key, not a card", remedy)
    return PartyCertificate(data)


def write_secret_key(path: str | Path, key: SecretKey, passphrase: str | None = None) -> None:
    """Write a key of encrypted numbers, or a share of one, as an identity is written."""
    _check_passphrase(passphrase)
    _create(path, covered(key.to_bytes(), passphrase))


def read_secret_key(path: str | Path, kind: type[Key], passphrase: str | None = None) -> Key:
    """The key of this kind in a file that nobody else can read; its passphrase is found as an identity's is."""
    try:
        data = read_own(path, f"read {path}", 1, LONGEST_SHARE)
    except OSError as why:
        raise ParameterError(f"read {path}", str(why.strerror or why), "Check the path.") from why
    return kind.from_bytes(uncovered(data, passphrase or _passphrase_for(path, data)))


def read_kept_secret(path: str | Path, kind: type[Kept]) -> Kept:
    """A secret that writes its file again, under the same passphrase, before a change of it is in force."""
    file = KeptFile(path)
    passphrase = _passphrase_for(path, file.data)
    return kind.from_bytes(uncovered(file.data, passphrase), lambda secret: file.replace(covered(secret, passphrase)))


def _passphrase_for(path: str | Path, data: bytes) -> str | None:
    return _known_or_asked(f"Passphrase of {path}: ") if is_covered_secret(data) else None


def _check_passphrase(passphrase: str | None) -> None:
    if passphrase is not None and len(passphrase) < SHORTEST:
        raise ParameterError("passphrase", f"it has {len(passphrase)} letters", f"Take {SHORTEST} or more.")


def _create(path: str | Path, data: bytes) -> None:
    try:
        create_own(path, data)
    except OSError as why:
        raise ParameterError(f"write {path}", str(why.strerror or why), "Choose another place for the key.") from why


def new_passphrase() -> str:
    """One that was chosen for a new key: from the variable, or asked for twice."""
    chosen = _known_or_asked("New passphrase: ")
    if VARIABLE not in os.environ and getpass.getpass("Again: ") != chosen:
        raise ParameterError("passphrase", "the second is not the first", "Try again.")
    return chosen


def _known_or_asked(prompt: str) -> str:
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]
    if sys.stdin is None or not sys.stdin.isatty():
        raise ParameterError("passphrase", "there is no terminal to ask for it", f"Set the variable {VARIABLE}.")
    return getpass.getpass(prompt)
