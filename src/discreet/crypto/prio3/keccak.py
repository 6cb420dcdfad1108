"""Keccak-p[1600] with 12 rounds on many states at once, for short messages: what numpy does faster than one by one."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.crypto.fields.prime_field import Bytes

Lanes = NDArray[np.uint64]

TOGETHER = 1024  # states: so many that numpy is busy, and few enough for the cache
CONSTANTS = (
    *(0x000000008000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002),
    *(0x8000000000000080, 0x000000000000800A, 0x800000008000000A, 0x8000000080008081, 0x8000000000008080),
    *(0x0000000080000001, 0x8000000080008008),
)
"""Of the last 12 rounds (FIPS 202, section 3.2.5)."""


def sponged(messages: Bytes, size: int, rate: int, domain: int) -> Bytes:
    """The first bytes that a sponge gives for each row, which with its padding fits into one block, as they do.

    Parameters
    ----------
    messages : Bytes
        A row for each, shorter than the rate.
    size : int
        Public. How many bytes to give, at most the rate.
    rate : int
        Public. The bytes of a block.
    domain : int
        Public. The byte that ends a message.
    """
    many, length = messages.shape
    found = np.empty((many, size), np.uint8)
    for start in range(0, many, TOGETHER):
        some = messages[start : start + TOGETHER]
        padded = np.zeros((len(some), rate), np.uint8)
        padded[:, :length], padded[:, length] = some, domain
        padded[:, -1] ^= 0x80
        state = np.zeros((25, len(some)), np.uint64)
        state[: rate // 8] = padded.view("<u8").T
        permute(state)
        lanes = np.ascontiguousarray(state[: -(-size // 8)].T.astype("<u8", copy=False))
        found[start : start + TOGETHER] = lanes.view(np.uint8)[:, :size]
    return found


def permute(state: Lanes) -> None:
    """Twelve rounds on the columns of an array of shape (25, states), in place; lane x + 5 y is the row.

    FIPS 202, section 3.2. What reads its neighbours finds them in rows that are there twice.
    """
    many = state.shape[1]
    left, right = (shifts[:, :many] for shifts in _shifts())
    planes, source = state.reshape(5, 5, many), _source()
    turned, moved = np.empty_like(state), np.empty((35, many), np.uint64)
    rows = moved.reshape(5, 7, many)
    parity, spread = np.empty((7, many), np.uint64), np.empty((5, many), np.uint64)
    one, rest = np.uint64(1), np.uint64(63)
    for constant in CONSTANTS:
        np.bitwise_xor.reduce(planes, 0, out=parity[1:6])
        parity[0], parity[6] = parity[5], parity[1]
        np.left_shift(parity[2:], one, out=spread)
        spread |= parity[2:] >> rest
        spread ^= parity[:5]
        planes ^= spread
        np.left_shift(state, left, out=turned)
        state >>= right
        turned |= state
        np.take(turned, source, 0, out=moved, mode="clip")
        np.invert(rows[:, 1:6], out=planes)
        planes &= rows[:, 2:]
        planes ^= rows[:, :5]
        state[0] ^= np.uint64(constant)


@cache
def _shifts() -> tuple[Lanes, Lanes]:
    """By how many bits each lane is turned, for every state: numpy shifts by rows of numbers faster than by one."""
    turns, x, y = np.zeros(25, np.uint64), 1, 0
    for t in range(24):
        turns[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    left = np.repeat(turns[:, None], TOGETHER, axis=1)
    return left, 64 - left


@cache
def _source() -> NDArray[np.intp]:
    """Which lane moves to where: rows of seven, whose last two are the first two again."""
    return np.array([(x + 3 * y) % 5 + 5 * (x % 5) for y in range(5) for x in range(7)])
