"""Permanent responses: the noisy Bloom filter that a client keeps for ever."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.local.rappor.bloom import BitRows
from discreet.local.rappor.parameters import RapporParameters
from discreet.noise.bernoulli import Coins, bernoulli

WORD = 32  # bytes of an HMAC-SHA256
LEVELS = 128  # google/rappor compares 7 bits of a byte with f
LEAST_SECRET = 6  # bytes, the length of the secret in google/rappor's own test


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

    The coins of a filter B come from the bytes of HMAC-SHA256(secret, B), with B as whole 32-bit words, the highest bit
    first. The lowest bit of byte i is the fair coin of bit i; it counts if the other seven bits, as a number, are
    below 128 f. That is google/rappor's derivation, bit for bit, where 128 f is whole and there are at most 32 bits.
    Otherwise the bytes are those of SHAKE-256 of HMAC-SHA256(secret, B and a byte 1); where the seven bits equal the
    whole part of 128 f, 56 more decide. So f is what it says, whereas google/rappor's Python client rounds it up to a
    multiple of 1/128, and the C++ client down.

    The guarantee holds against anybody who cannot distinguish HMAC-SHA256 from a random function and does not know the
    secret.

    Parameters
    ----------
    secret : bytes
        The client's own, from a secure source; at least 6 bytes, better 32. To be shown to nobody.
    metric : bytes
        Public. Names what is reported, so that two metrics have coins of their own; its SHA-256 digest comes before the
        filter. Nothing does where it is empty.

    Examples
    --------
    >>> bloom = np.zeros(16, np.uint8)
    >>> bloom[[6, 13]] = 1
    >>> SecretMemo(b"secret").permanent(RapporParameters(bits=16), bloom)
    array([0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1], dtype=uint8)
    """

    secret: bytes
    metric: bytes = b""

    def __post_init__(self) -> None:
        check_secret(self.secret)

    def __repr__(self) -> str:
        return f"SecretMemo(secret=..., metric={self.metric!r})"

    def permanent(self, setup: RapporParameters, bloom: BitRows) -> BitRows:
        """The response of one filter."""
        return derived(setup, bloom[None], [self.secret], self.metric)[0]


def check_secret(secret: bytes) -> None:
    """Refuse a secret that can be guessed."""
    if len(secret) < LEAST_SECRET:
        obstacle = f"the secret has {len(secret)} bytes"
        raise ParameterError("RAPPOR client", obstacle, f"Give at least {LEAST_SECRET} random bytes, better 32.")


def derived(setup: RapporParameters, blooms: BitRows, secrets: Sequence[bytes], metric: bytes = b"") -> BitRows:
    """The responses of many clients, each with a secret of its own."""
    prefix = hashlib.sha256(metric).digest() if metric else b""
    messages = [prefix + word for word in _words(blooms)]
    if setup.bits <= WORD and (setup.f * LEVELS).is_integer():
        stream = b"".join(_digests(secrets, messages))
        drawn = np.frombuffer(stream, np.uint8).reshape(len(blooms), WORD)[:, : setup.bits]
        return np.where(drawn >> 1 < setup.f * LEVELS, drawn & 1, blooms)
    seeds = _digests(secrets, [message + b"\1" for message in messages])
    stream = b"".join(hashlib.shake_256(seed).digest(setup.bits) for seed in seeds)
    drawn = np.frombuffer(stream, np.uint8).reshape(blooms.shape)
    level = int(setup.f * LEVELS)
    tossed = drawn >> 1 < level
    if level != setup.f * LEVELS:
        _settle(setup, seeds, np.argwhere(drawn >> 1 == level), tossed)
    return np.where(tossed, drawn & 1, blooms)


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
