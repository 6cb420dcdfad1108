"""Permanent responses: the noisy Bloom filter that a client keeps for ever."""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.ledger.file_lock import locked
from discreet.ledger.own_file import read_own, replace_own
from discreet.local.rappor.rappor_parameters import BitRows, RapporParameters
from discreet.noise.bernoulli import Coins, bernoulli
from discreet.noise.system_bits import system_bits

WORD = 32  # bytes of an HMAC-SHA256
LEVELS = 128  # google/rappor compares 7 bits of a byte with f
LEAST_SECRET = 16  # bytes
GOOGLE_SECRET = 6  # bytes of the secret in google/rappor's own test
FORMAT = 1
LONGEST = 2**28  # bytes of a file
UNREPORTED = "Nothing was reported."


class PermanentMemo(Protocol):
    """Gives the same permanent response to the same Bloom filter, for ever."""

    def permanent(self, setup: RapporParameters, bloom: BitRows) -> BitRows:
        """The response of one filter."""


def randomized(setup: RapporParameters, blooms: BitRows, bits: Bits) -> BitRows:
    """Fresh permanent responses: each bit is kept with probability 1 - f, and else a fair coin."""
    tossed = bernoulli(bits, blooms.shape, setup.f)
    return np.where(tossed, bernoulli(bits, blooms.shape, 0.5), blooms).astype(np.uint8)


@dataclass(frozen=True)
class SecretMemo:
    """Derives the coins of a response from a secret, so that nothing has to be stored.

    The coins of a filter B come from SHAKE-256 of HMAC-SHA256(secret, f and B), with f as eight bytes and B as whole
    32-bit words, the highest bit first. The lowest bit of byte i is the fair coin of bit i; it counts if the other
    seven bits, as a number, are below 128 f; where they equal the whole part of 128 f, 56 more decide. So f is what it
    says, and another f has coins of its own: with the same ones, two responses would show which bits are true.

    The guarantee holds against anybody who cannot distinguish HMAC-SHA256 from a random function and does not know the
    secret.

    Parameters
    ----------
    secret : bytes
        The client's own, from a secure source; at least 16 bytes, better 32. To be shown to nobody.
    metric : bytes
        Public. Names what is reported, so that two metrics have coins of their own; its SHA-256 digest comes before the
        filter. Nothing does where it is empty.

    Examples
    --------
    >>> bloom = np.zeros(16, np.uint8)
    >>> bloom[[6, 13]] = 1
    >>> SecretMemo(b"sixteen bytes...").permanent(RapporParameters(bits=16), bloom)
    array([1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0], dtype=uint8)
    """

    secret: bytes
    metric: bytes = b""

    def __post_init__(self) -> None:
        check_secret(self.secret)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(secret=..., metric={self.metric!r})"

    def permanent(self, setup: RapporParameters, bloom: BitRows) -> BitRows:
        """The response of one filter."""
        return derived(setup, bloom[None], [self.secret], self.metric)[0]


@dataclass(frozen=True, repr=False)
class GoogleMemo(SecretMemo):
    """Derives the coins of a response as google/rappor does, bit for bit: for clients that work with its own.

    They are the bytes of HMAC-SHA256(secret, B), whatever f is, and the seven bits are compared with 128 f, which has
    to be whole. With two values of f, two responses would show which bits are true: a secret serves one f, and any
    other is refused.

    Parameters
    ----------
    secret : bytes
        The client's own, from a secure source; at least 6 bytes, better 32. To be shown to nobody.
    metric : bytes
        Public. Names what is reported, so that two metrics have coins of their own; its SHA-256 digest comes before the
        filter. Nothing does where it is empty.
    f : float
        Public. That of all responses: a multiple of 1/128.

    Examples
    --------
    >>> bloom = np.zeros(16, np.uint8)
    >>> bloom[[6, 13]] = 1
    >>> GoogleMemo(b"sixteen bytes...", f=0.5).permanent(RapporParameters(bits=16, f=0.5), bloom)
    array([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0], dtype=uint8)
    """

    f: float = 0.5

    def __post_init__(self) -> None:
        check_secret(self.secret, GOOGLE_SECRET)
        if not (self.f * LEVELS).is_integer():
            raise _refused(f"f is {self.f}", "Give a multiple of 1/128, as google/rappor does.")

    def permanent(self, setup: RapporParameters, bloom: BitRows) -> BitRows:
        if setup.f != self.f or setup.bits > WORD:
            obstacle = f"f is {setup.f} and not {self.f}, or {setup.bits} bits are more than {WORD}"
            raise _refused(obstacle, "Use another secret for another f, and SecretMemo for longer filters.")
        stream = b"".join(_digests([self.secret], _messages(bloom[None], self.metric)))
        drawn = np.frombuffer(stream, np.uint8)[: setup.bits]
        return np.where(drawn >> 1 < setup.f * LEVELS, drawn & 1, bloom)


def check_secret(secret: bytes, least: int = LEAST_SECRET) -> None:
    """Refuse a secret that can be guessed."""
    if len(secret) < least:
        raise _refused(f"the secret has {len(secret)} bytes", f"Give at least {least} random bytes, better 32.")


def derived(setup: RapporParameters, blooms: BitRows, secrets: Sequence[bytes], metric: bytes = b"") -> BitRows:
    """The responses of many clients, each with a secret of its own: see `SecretMemo`."""
    seeds = _digests(secrets, _messages(blooms, metric, struct.pack(">d", setup.f)))
    stream = b"".join(hashlib.shake_256(seed).digest(setup.bits) for seed in seeds)
    drawn = np.frombuffer(stream, np.uint8).reshape(blooms.shape)
    level = int(setup.f * LEVELS)
    tossed = drawn >> 1 < level
    if level != setup.f * LEVELS:
        _settle(setup, seeds, np.argwhere(drawn >> 1 == level), tossed)
    return np.where(tossed, drawn & 1, blooms)


def _messages(blooms: BitRows, metric: bytes, before: bytes = b"") -> list[bytes]:
    """What is signed for each filter."""
    prefix = before + (hashlib.sha256(metric).digest() if metric else b"")
    return [prefix + word for word in _words(blooms)]


def _refused(obstacle: str, remedy: str) -> ParameterError:
    return ParameterError("RAPPOR client", obstacle, remedy, "Nothing was reported.")


def _digests(secrets: Sequence[bytes], messages: list[bytes]) -> list[bytes]:
    return [hmac.digest(secret, message, "sha256") for secret, message in zip(secrets, messages, strict=True)]


def _words(blooms: BitRows) -> list[bytes]:
    """Each filter as a number, the highest byte first, in whole 32-bit words."""
    size = -(-blooms.shape[1] // 32) * 4
    packed = np.zeros((len(blooms), size), np.uint8)
    little = np.packbits(blooms, axis=1, bitorder="little")
    packed[:, : little.shape[1]] = little
    flat = packed[:, ::-1].tobytes()
    return [flat[start : start + size] for start in range(0, len(flat), size)]


def _settle(setup: RapporParameters, seeds: list[bytes], ties: Steps, tossed: Coins) -> None:
    """Decide by 56 more bits. 128 f has no more after the point, since f is at least 2**-10: the draw is exact."""
    rest = int((setup.f * LEVELS) % 1 * 2**56)
    for row in np.unique(ties[:, 0]).tolist():
        longer = hashlib.shake_256(seeds[row]).digest(8 * setup.bits)
        for place in ties[ties[:, 0] == row, 1].tolist():
            start = setup.bits + 7 * place
            tossed[row, place] = int.from_bytes(longer[start : start + 7], "big") < rest


@dataclass(frozen=True)
class MemoFile:
    """Draws a response once for each Bloom filter and keeps it, as google/rappor does in memory.

    A response that was given once is never drawn again: a file that is damaged, or was written for other parameters, is
    refused and not replaced. The file is secret, since it tells which values were reported.

    Parameters
    ----------
    path : str or Path
        Of the file; made where there is none.
    bits : Bits, optional
        Where randomness comes from; the operating system's where not given.

    Examples
    --------
    >>> import tempfile
    >>> bloom = np.zeros(16, np.uint8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memo = MemoFile(Path(folder, "memo.json"))
    ...     first, again = (memo.permanent(RapporParameters(bits=16), bloom) for _ in range(2))
    >>> bool((first == again).all())
    True
    """

    path: str | Path
    bits: Bits | None = None

    def permanent(self, setup: RapporParameters, bloom: BitRows) -> BitRows:
        """The response of one filter: the one in the file, or a new one that is in the file before it is used."""
        path, name = Path(self.path).resolve(), np.packbits(bloom).tobytes().hex()
        with locked(path.with_name(f"{path.name}.lock")):
            responses = self._read(path, setup)
            if name not in responses:
                fresh = randomized(setup, bloom[None], system_bits() if self.bits is None else self.bits)
                responses[name] = np.packbits(fresh[0]).tobytes().hex()
                self._write(path, setup, responses)
        return np.unpackbits(np.frombuffer(bytes.fromhex(responses[name]), np.uint8), count=setup.bits)

    def _read(self, path: Path, setup: RapporParameters) -> dict[str, str]:
        if not path.exists():
            return {}
        data = read_own(path, f"RAPPOR memo {path}", 1, LONGEST, UNREPORTED)
        try:
            document = json.loads(data)
            body, digest = document["body"], document["sha256"]
        except (ValueError, KeyError, TypeError) as why:
            raise self._refused(f"it is not a file of permanent responses ({why})") from why
        if digest != _digest(body):
            raise self._refused("it was damaged or edited")
        if body["format"] != FORMAT or body["parameters"] != _plain(setup):
            raise self._refused(f"it was written for {body['parameters']}")
        return dict(body["responses"])

    def _write(self, path: Path, setup: RapporParameters, responses: dict[str, str]) -> None:
        body = {"format": FORMAT, "parameters": _plain(setup), "responses": responses}
        replace_own(path, json.dumps({"body": body, "sha256": _digest(body)}).encode())

    def _refused(self, obstacle: str) -> ParameterError:
        remedy = "Restore the file, or use another for other parameters; a second response would cost as much again."
        return ParameterError(f"RAPPOR memo {self.path}", obstacle, remedy, UNREPORTED)


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _plain(setup: RapporParameters) -> dict[str, float]:
    return {one.name: getattr(setup, one.name) for one in fields(RapporParameters)}
