"""Ciphertexts and keys of SEAL as checked bytes, and back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching import seal_stream
from discreet.crypto.matching.match_parameters import DEGREE, MatchParameters, SealEngine
from discreet.crypto.matching.residues import AGAIN, Residues, packed, packed_size, unpacked
from discreet.crypto.matching.seal_stream import SEED, WORD, Seal, seal

DIGITS = 2  # parts that a ciphertext is cut into under keys: one for each prime of data
LEVEL, COUNT = 32, struct.Struct("<Q")


def ciphertext_bytes(engine: SealEngine, sealed: Seal) -> bytes:
    """A ciphertext of two polynomials, packed."""
    primes = engine.primes[: sealed.coeff_modulus_size()]
    return packed(_tail(seal_stream.written(sealed), 2, primes), primes)


def seeded_bytes(engine: SealEngine, sealed: Seal) -> bytes:
    """A ciphertext that SEAL made with the secret key, packed, and the seed of its other half."""
    stream = seal_stream.written(sealed)
    body, seed = stream[: -SEED - len(seal_stream.KIND_OF_SEED) - seal_stream.HEADER.size], stream[-SEED:]
    return packed(_tail(body, 1, engine.data_primes), engine.data_primes) + seed


def ciphertext_of(parameters: MatchParameters, data: bytes, scale: float, *, primes: int = 2) -> Seal:
    """The ciphertext in these bytes, with a seed or without: its length tells."""
    engine, seeded = parameters.engine, primes == 2 and len(data) == parameters.seeded_size
    level, own = engine.levels[primes], engine.primes[:primes]
    residues = unpacked(data[:-SEED] if seeded else data, own, 1 if seeded else 2, DEGREE)
    if not seeded and not residues[1].any():
        raise Malformed("ciphertext", "it hides nothing", AGAIN, UNOPENED)
    named: dict[str, Any] = {
        "transformed": parameters.transformed,
        "shape": (2, primes, DEGREE),
        "scale": scale if parameters.transformed else 1.0,
        "data": residues.tobytes(),
    }
    if seeded:
        stream = seal_stream.seeded_ciphertext(level, seed=data[-SEED:], **named)
    else:
        stream = seal_stream.ciphertext(level, **named)
    return seal_stream.read(seal().Ciphertext, engine.context, stream)


def public_bytes(engine: SealEngine, key: Seal) -> bytes:
    """A public key, packed."""
    return packed(_tail(seal_stream.written(key), 2, engine.primes), engine.primes)


def public_of(engine: SealEngine, data: bytes) -> Seal:
    """The public key in these bytes."""
    return seal_stream.read(seal().PublicKey, engine.context, _key_ciphertext(engine, data))


def switching_bytes(engine: SealEngine, key: Seal, places: Sequence[int]) -> bytes:
    """Keys of SEAL for relinearisation or rotation, those at these places, packed."""
    stream, at, parts = seal_stream.written(key), LEVEL + COUNT.size, []
    for place in range(COUNT.unpack_from(stream, LEVEL)[0]):
        (count,) = COUNT.unpack_from(stream, at)
        at += COUNT.size
        for _ in range(count):
            length = seal_stream.HEADER.unpack_from(stream, at)[-1]
            parts.append(packed(_tail(stream[at : at + length], 2, engine.primes), engine.primes))
            at += length
        assert count == DIGITS * (place in places)
    return b"".join(parts)


def switching_of(engine: SealEngine, kind: Any, data: bytes, places: Sequence[int], of: int) -> Seal:
    """Such keys, from these bytes."""
    size = key_size(engine)
    each = [_key_ciphertext(engine, data[at : at + size]) for at in range(0, len(data), size)]
    keys = {place: each[DIGITS * rank : DIGITS * (rank + 1)] for rank, place in enumerate(places)}
    return seal_stream.read(kind, engine.context, seal_stream.switching(engine.levels[3], of, keys))


def key_size(engine: SealEngine) -> int:
    """The bytes of a public key."""
    return packed_size(engine.primes, 2, DEGREE)


def secret_bytes(engine: SealEngine, key: Seal) -> bytes:
    """A secret key, packed."""
    return packed(_tail(seal_stream.written(key), 1, engine.primes), engine.primes)


def secret_of(engine: SealEngine, data: bytes) -> Seal:
    """The secret key in these bytes."""
    residues = unpacked(data, engine.primes, 1, DEGREE)
    stream = seal_stream.secret(engine.levels[3], residues.tobytes())
    return seal_stream.read(seal().SecretKey, engine.context, stream)


def _key_ciphertext(engine: SealEngine, data: bytes) -> bytes:
    residues = unpacked(data, engine.primes, 2, DEGREE)
    shape = (2, len(engine.primes), DEGREE)
    return seal_stream.ciphertext(engine.levels[3], transformed=True, shape=shape, scale=1.0, data=residues.tobytes())


def _tail(stream: bytes, polynomials: int, primes: Sequence[int]) -> Residues:
    """The coefficients at the end of a stream."""
    count = polynomials * len(primes) * DEGREE
    return np.frombuffer(stream, "<u8", count, len(stream) - WORD * count).reshape(polynomials, len(primes), DEGREE)
