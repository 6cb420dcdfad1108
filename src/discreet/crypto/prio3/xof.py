"""TurboSHAKE128 on many messages of one length: what seeds are expanded with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import MissingExtra
from discreet.crypto.fields.prime_field import Bytes

RATE = 168  # bytes that one permutation takes in or gives out
LONG = 5  # permutations above which the compiled one is faster, whatever the number of messages
FEW = 64  # messages below which it is
BLOCK = 256  # messages at a time, whose lanes stay in the cache
DOMAIN = 1

_U = np.uint64
_ROUNDS = [
    *(0x8000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080),
    *(0x800A, 0x800000008000000A, 0x8000000080008081, 0x8000000000008080, 0x80000001, 0x8000000080008008),
]
_TURNS = [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14]
_LEFT = np.array(_TURNS, dtype=np.uint64)[:, None]
_RIGHT = _U(64) - _LEFT
_PLACES = np.array([(x + 3 * y) % 5 + 5 * (x % 5) for y in range(5) for x in range(7)])
"""Where each lane of a row comes from; the first two are repeated at its end."""


def turboshake(messages: Bytes, size: int) -> Bytes:
    """TurboSHAKE128 (RFC 9861) of each row of bytes, with domain 1 as Prio3 has it.

    Many short messages are permuted side by side; few or long ones go through pycryptodomex, one by one.

    Raises
    ------
    MissingExtra
        pycryptodomex is not installed, and it is needed.
    """
    blocks = messages.shape[1] // RATE + 1
    if blocks + size // RATE > LONG or len(messages) < FEW:
        return _one_by_one(messages, size)
    out = np.empty((len(messages), -(-size // RATE) * RATE), np.uint8)
    for start in range(0, len(messages), BLOCK):
        part = messages[start : start + BLOCK]
        padded = np.zeros((len(part), blocks * RATE), np.uint8)
        padded[:, : part.shape[1]], padded[:, part.shape[1]] = part, DOMAIN
        padded[:, -1] ^= 0x80
        out[start : start + BLOCK] = _sponge(np.ascontiguousarray(padded.view("<u8").T), out.shape[1])
    return out[:, :size]


def shake(message: bytes, size: int) -> bytes:
    """TurboSHAKE128 of one message, with domain 1."""
    found: bytes = _compiled().new(domain=DOMAIN, data=message).read(size)
    return found


@cache
def _compiled() -> Any:
    try:
        from Cryptodome.Hash import TurboSHAKE128
    except ImportError as why:
        remedy = "Install discreet[prio3]."
        raise MissingExtra("TurboSHAKE128", "pycryptodomex 3.24 or later is not installed", remedy) from why
    return TurboSHAKE128


def _one_by_one(messages: Bytes, size: int) -> Bytes:
    found = b"".join(shake(message.tobytes(), size) for message in messages)
    return np.frombuffer(found, np.uint8).reshape(len(messages), size)


def _sponge(lanes: NDArray[np.uint64], size: int) -> Bytes:
    """What is squeezed out after all blocks of 21 lanes are absorbed; a column for each message, a row of bytes out."""
    state = np.zeros((25, lanes.shape[1]), np.uint64)
    for at in range(0, len(lanes), 21):
        state[:21] ^= lanes[at : at + 21]
        _permute(state)
    out = np.empty((lanes.shape[1], size), np.uint8)
    for at in range(0, size, RATE):
        if at:
            _permute(state)
        out[:, at : at + RATE] = np.ascontiguousarray(state[:21].T).view(np.uint8)
    return out


def _permute(lanes: NDArray[np.uint64]) -> None:
    """The last twelve rounds of Keccak-p[1600] on each column of 25 lanes, in place (FIPS 202, section 3)."""
    many = lanes.shape[1]
    parity, effect = np.empty((7, many), np.uint64), np.empty((5, many), np.uint64)
    turned, moved = np.empty_like(lanes), np.empty((35, many), np.uint64)
    rows, wide = lanes.reshape(5, 5, many), moved.reshape(5, 7, many)
    for constant in _ROUNDS:
        np.bitwise_xor.reduce(rows, 0, out=parity[1:6])  # theta
        parity[0], parity[6] = parity[5], parity[1]
        np.left_shift(parity[2:], _U(1), out=effect)
        effect |= parity[2:] >> _U(63)
        effect ^= parity[:5]
        rows ^= effect
        np.left_shift(lanes, _LEFT, out=turned)  # rho
        lanes >>= _RIGHT
        turned |= lanes
        np.take(turned, _PLACES, 0, out=moved, mode="clip")  # pi
        np.invert(wide[:, 1:6], out=rows)  # chi
        rows &= wide[:, 2:]
        rows ^= wide[:, :5]
        lanes[0] ^= _U(constant)  # iota
