"""Files of secret keys: who may read them, and what they say without the passphrase."""

from __future__ import annotations

import contextlib
import getpass
import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import is_covered
from discreet.crypto.identity import Identity
from discreet.crypto.messages import framed, unframed
from discreet.crypto.paillier.covered import covered, is_covered_secret, uncovered
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.ledger.own_file import create_own
from discreet.noise.system_bits import system_bits
from discreet.service.cli.command import main
from discreet.service.key_file import VARIABLE, read_identity, read_secret_key, write_identity, write_secret_key

ANN = Identity.drawn("ann", system_bits())
WORDS = "correct horse battery"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a variable nor a terminal, until a test says otherwise."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO())


def answers(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """Somebody at the terminal, who answers with these words; and what was asked."""
    left, asked = list(words), list[str]()

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return left.pop(0)

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(getpass, "getpass", typed)
    return asked


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path, before = tmp_path / "ann.key", os.umask(0)
    try:
        write_identity(path, ANN)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_identity(path) == ANN
    for mode in (0o640, 0o604, 0o660, 0o644, 0o620, 0o777):
        path.chmod(mode)
        with pytest.raises(ParameterError, match=f"others on this machine can read it .mode {mode:o}.*chmod 600"):
            read_identity(path)
    path.chmod(0o400)
    assert read_identity(path) == ANN


def test_a_passphrase_is_given_known_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ann.key"
    write_identity(path, ANN, WORDS)
    assert is_covered(path.read_bytes())
    assert read_identity(path, WORDS) == ANN
    with pytest.raises(ParameterError, match="under another one"):
        read_identity(path, WORDS.upper())
    with pytest.raises(ParameterError, match=f"no terminal to ask for it.*{VARIABLE}"):
        read_identity(path)
    asked = answers(monkeypatch, WORDS)
    assert read_identity(path) == ANN
    assert asked == [f"Passphrase of {path}: "]
    monkeypatch.setenv(VARIABLE, WORDS)
    assert read_identity(path) == ANN
    assert len(asked) == 1


def test_a_short_passphrase_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for short in ("", "x" * 11):
        with pytest.raises(ParameterError, match="Take 12 or more"):
            write_identity(tmp_path / "ann.key", ANN, short)
    assert list(tmp_path.iterdir()) == []


def test_the_command_asks_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["identity", "ann", "--out", "ann.key", "--card", "ann.card", "--passphrase"]
    assert main(command) == 2
    assert VARIABLE in capsys.readouterr().err
    answers(monkeypatch, WORDS, WORDS + "!")
    assert main(command) == 2
    assert "the second is not the first" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    answers(monkeypatch, WORDS, WORDS)
    assert main(command) == 0
    assert read_identity("ann.key", WORDS).name == "ann"
    monkeypatch.setenv(VARIABLE, WORDS)
    assert main(["identity", "bob", "--out", "bob.key", "--card", "bob.card", "--passphrase"]) == 0
    assert is_covered(Path("bob.key").read_bytes())


def test_keys_of_encrypted_numbers_are_kept_as_identities_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = PrivateKey.drawn(2048, "subgroup")
    for name, words in (("open", None), ("covered", WORDS)):
        path = tmp_path / name
        write_secret_key(path, key, words)
        assert path.stat().st_mode & 0o777 == 0o600
        assert read_secret_key(path, PrivateKey, words).public == key.public
        with pytest.raises(ParameterError, match="Choose another place"):
            write_secret_key(path, key, words)
    prime = bytes(unframed(key.to_bytes())[2])
    assert prime in (tmp_path / "open").read_bytes()
    assert prime not in (tmp_path / "covered").read_bytes()
    with pytest.raises(ParameterError, match="another passphrase, or was changed"):
        read_secret_key(tmp_path / "covered", PrivateKey, WORDS + "!")
    with pytest.raises(ParameterError, match="no terminal"):
        read_secret_key(tmp_path / "covered", PrivateKey)
    monkeypatch.setenv(VARIABLE, WORDS)
    assert read_secret_key(tmp_path / "covered", PrivateKey).public == key.public
    with pytest.raises(ParameterError, match="it has 4 letters"):
        write_secret_key(tmp_path / "weak", key, "weak")
    (tmp_path / "open").chmod(0o644)
    with pytest.raises(ParameterError, match="others on this machine can read it"):
        read_secret_key(tmp_path / "open", PrivateKey)


def test_files_that_hold_no_key_of_that_version_are_refused(tmp_path: Path) -> None:
    good = covered(b"secret", WORDS)
    version, salt, nonce, sealed = unframed(good)
    for place, (data, words) in enumerate(
        (
            (b"", "has 0 bytes"),
            (b"hello", "none in the file"),
            (good[:-1], "none in the file"),
            (framed(b"discreet secret key 2", salt, nonce, sealed), "another version"),
            (framed(version, salt, nonce, sealed[:-1] + bytes([sealed[-1] ^ 1])), "was changed"),
            (framed(version, salt, b"", sealed), "was changed"),
        )
    ):
        path = tmp_path / str(place)
        create_own(path, data)
        with pytest.raises(ParameterError, match=words):
            read_secret_key(path, PrivateKey, WORDS)
    path = tmp_path / "identity"
    write_identity(path, ANN)
    with pytest.raises(ParameterError, match="none in the file"):
        read_secret_key(path, PrivateKey, WORDS)


def test_ten_thousand_fuzzed_secrets_are_refused_or_read() -> None:
    rng = np.random.default_rng(4)
    for good in (covered(b"secret" * 20), covered(b"secret" * 20, WORDS)):
        for _ in range(10_000):
            data = bytearray(good)
            for place in rng.integers(0, len(data), rng.integers(1, 4)):
                data[place] = rng.integers(0, 256)
            with contextlib.suppress(ParameterError):
                if not is_covered_secret(bytes(data)):  # a passphrase is tried for a tenth of a second
                    uncovered(bytes(data))
