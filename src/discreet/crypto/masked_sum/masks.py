"""Masks that cancel in a sum: keystreams, whose pairs two parties have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from discreet.core.errors import ParameterError
from discreet.crypto.derivation import KEY
from discreet.crypto.masked_sum.mask_graph import MaskGraph
from discreet.crypto.masked_sum.mask_terms import Ring
from discreet.crypto.messages import framed, listed
from discreet.crypto.rounds.agreement import AnnouncedKeys
from discreet.crypto.rounds.terms import LARGEST
from discreet.noise.system_bits import KeyStream

CHUNK = 1 << 14  # words of 64 bits at a time
SAID = ("keys", "shares", "masked", "agreement", "reveal")
ANSWERED = ("announcements", "delivery", "survivors", "agreements")


def add_mask(vector: Ring, key: bytes) -> None:
    """Add the key's mask to a vector, in place and modulo 2 to the number of bits of its words.

    A key masks one vector: two under one key would give away their difference. Take it from `derived_key`.

    Parameters
    ----------
    vector : array of uint8, uint16, uint32 or uint64, shape (size,)
        At most 2**31 words, the life of a key.
    key : bytes
        32 bytes.

    Guarantee
    ---------
    To whoever does not know the key the masked vector is uniform, except as AES-256 differs from a random permutation
    and up to 2**-69 (2**30 blocks of 128 bits never repeat; random ones would, that rarely).

    Examples
    --------
    >>> import numpy as np
    >>> vector = np.array([5, 7], dtype=np.uint64)
    >>> add_mask(vector, bytes(32))
    >>> vector
    array([9910523521560253921, 9736928157321283764], dtype=uint64)
    >>> subtract_mask(vector, bytes(32))
    >>> vector
    array([5, 7], dtype=uint64)
    """
    for piece in _pieces(vector, key):
        piece.values += piece.mask


def subtract_mask(vector: Ring, key: bytes) -> None:
    """Take the key's mask away from a vector, in place."""
    for piece in _pieces(vector, key):
        piece.values -= piece.mask


@dataclass
class _Piece:
    values: Ring
    mask: Ring


def _pieces(vector: Ring, key: bytes) -> Iterator[_Piece]:
    if vector.dtype.kind != "u" or vector.ndim != 1 or vector.size > LARGEST:
        raise ParameterError(
            "mask",
            f"the vector is of {vector.dtype} and shape {vector.shape}",
            f"Give one axis of at most {LARGEST} words without a sign.",
        )
    if len(key) != KEY:
        raise ParameterError("mask", f"the key has {len(key)} bytes", f"Give {KEY}.")
    stream, little = KeyStream(key), vector.dtype.newbyteorder("<")
    length = 8 * CHUNK // vector.itemsize
    for start in range(0, vector.size, length):
        values = vector[start : start + length]
        words = stream.words(-(-values.nbytes // 8)).astype("<u8", copy=False)
        yield _Piece(values, words.view(little)[: values.size])


def statement(announced: AnnouncedKeys, graph: MaskGraph, survivors: list[str]) -> bytes:
    """What an agreement signs: the announced keys, who shared keys with whom, and whose vectors are added."""
    return sha256(framed(announced.transcript, graph.to_bytes(), listed(survivors))).digest()


def put_on_half(
    vector: Ring, announced: AnnouncedKeys, owner: str, secret: bytes | X25519PrivateKey, peer: str
) -> None:
    """Put on the owner's half of the mask of a pair: the first of the two adds it, the second takes it away."""
    first = announced.terms.index(owner) < announced.terms.index(peer)
    (add_mask if first else subtract_mask)(vector, announced.pair_key(owner, secret, peer))
