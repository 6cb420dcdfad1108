"""Files of secret keys: their owner's alone, and under a passphrase if that is wanted."""

from __future__ import annotations

import getpass
import os
import stat
import sys
from pathlib import Path

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import from_pem, is_covered, to_pem
from discreet.crypto.identity import Identity

VARIABLE = "DISCREET_PASSPHRASE"
SHORTEST = 12  # letters of a passphrase


def write_identity(path: str | Path, drawn: Identity, passphrase: str | None = None) -> None:
    """Write a secret key to a new file that its owner alone can read, under the passphrase where one is given."""
    if passphrase is not None and len(passphrase) < SHORTEST:
        raise ParameterError("passphrase", f"it has {len(passphrase)} letters", f"Take {SHORTEST} or more.")
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(to_pem(drawn, None if passphrase is None else passphrase.encode()))
    except OSError as why:
        raise ParameterError(f"write {path}", str(why.strerror or why), "Choose another place for the key.") from why


def read_identity(path: str | Path, passphrase: str | None = None) -> Identity:
    """The identity in a file that nobody else can read.

    Where its key is under a passphrase and none is given here, the variable `DISCREET_PASSPHRASE` has it, or it
    is asked for at the terminal.
    """
    try:
        with open(path, "rb") as file:
            mode, data = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read()
    except OSError as why:
        raise ParameterError(f"read {path}", str(why.strerror or why), "Check the path.") from why
    if os.name == "posix" and mode & 0o077 and b"PRIVATE KEY" in data:
        remedy = f"Run: chmod 600 {path}. If anybody may have read it, draw a new key."
        raise ParameterError(f"read {path}", f"others on this machine can read it (mode {mode:o})", remedy)
    if is_covered(data) and passphrase is None:
        passphrase = _known_or_asked(f"Passphrase of {path}: ")
    return from_pem(data, None if passphrase is None else passphrase.encode())


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
