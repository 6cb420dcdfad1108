"""TurboSHAKE128 on many messages of one length: what seeds are expanded with.

pycryptodomex has the permutation in C. Its public interface takes 5 microseconds for a short message, most of them for
objects around the state; here one state is used for a whole batch, in a microsecond for each message. That reaches into
the library's own bindings: where these are not as expected, or give other bytes than the public interface does, the
latter is used. Many messages of one block are hashed in numpy, all at once, which takes half a microsecond for each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from discreet.core.errors import MissingExtra
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.keccak import sponged

DOMAIN = 1
CAPACITY, ROUNDS, RATE = 32, 12, 168  # bytes that no message touches, rounds of the permutation, bytes of a block
MANY = 400  # messages from which on numpy is faster


def turboshake(messages: Bytes, size: int) -> Bytes:
    """TurboSHAKE128 (RFC 9861) of each row of bytes, with domain 1 as Prio3 has it.

    Raises
    ------
    MissingExtra
        pycryptodomex is not installed.
    """
    if len(messages) >= MANY and messages.shape[1] < RATE and size <= RATE:
        return sponged(messages, size, RATE, DOMAIN)
    return (_batched() or _one_by_one)(np.ascontiguousarray(messages), size)


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


@cache
def _batched() -> Callable[[Bytes, int], Bytes] | None:
    """The way through the library's own bindings, if it gives what the public one gives."""
    _compiled()
    try:
        from Cryptodome.Hash.keccak import _raw_keccak_lib as keccak  # type: ignore[attr-defined]
        from Cryptodome.Util._raw_api import SmartPointer, VoidPointer, ffi
    except ImportError:
        return None

    def batched(messages: Bytes, size: int) -> Bytes:
        many, width = messages.shape
        out, pointer = np.empty((many, size), np.uint8), VoidPointer()
        wrong = keccak.keccak_init(pointer.address_of(), CAPACITY, ROUNDS)
        kept = SmartPointer(pointer.get(), keccak.keccak_destroy)
        state, reset, absorb, squeeze = kept.get(), keccak.keccak_reset, keccak.keccak_absorb, keccak.keccak_squeeze
        taken, given = ffi.cast("uint8_t *", messages.ctypes.data), ffi.cast("uint8_t *", out.ctypes.data)
        for _ in range(many):
            wrong |= reset(state) | absorb(state, taken, width) | squeeze(state, given, size, DOMAIN)
            taken += width
            given += size
        if wrong:
            raise ArithmeticError("the permutation failed")
        return out

    probe = np.arange(3 * 200, dtype=np.uint8).reshape(3, 200)
    try:
        same = all((batched(probe, size) == _one_by_one(probe, size)).all() for size in (8, 400))
    except (TypeError, AttributeError, ValueError, ArithmeticError):
        return None
    return batched if same else None
