"""Secret bits: AES-256 in counter mode, keyed by the operating system."""

from __future__ import annotations

import os
import sys
import threading
from functools import cache

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.held import Forks, this_process

WORDS = 1 << 16  # requests up to this size share one buffer
KEY_LIFE = 1 << 34  # bytes under one key: 2**30 blocks
ZEROS = memoryview(bytes(8 * WORDS))


class KeyStream:
    """The key stream of AES-256 in counter mode, as words and integers.

    Encrypting zeros yields the raw stream. The first byte of the stream is the lowest byte of the first word on
    every platform. Not safe across threads.

    Parameters
    ----------
    key : bytes
        32 bytes.
    first : int
        The counter of the first block.
    """

    def __init__(self, key: bytes, first: int = 0) -> None:
        self.spent = 0
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(first.to_bytes(16, "big"))).encryptor()
        self._buffer = bytearray(16)

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` fresh words, in a buffer that the next call overwrites."""
        size = 8 * count
        buffer = self._buffer if size + 16 <= len(self._buffer) else bytearray(size + 16)  # update_into may ask for 16
        if count <= WORDS:
            self._buffer = buffer
        view = memoryview(buffer)
        for start in range(0, size, len(ZEROS)):
            self._encryptor.update_into(ZEROS[: size - start], view[start:])
        self.spent += size
        fresh = np.frombuffer(buffer, dtype="<u8", count=count)
        return fresh if sys.byteorder == "little" else fresh.astype(np.uint64)

    def integer(self, width: int) -> int:
        size = (width + 7) // 8
        self.spent += size
        return int.from_bytes(self._encryptor.update(bytes(size)), "big") >> (8 * size - width)


class _ThreadStream(threading.local):
    """The stream of one thread, and the process that it was keyed in."""

    stream: KeyStream
    process: tuple[int, int] | None = None

    def renew(self) -> None:
        """Take a key that nobody has had."""
        self.stream = KeyStream(os.urandom(32), int.from_bytes(os.urandom(16), "big"))
        self.process = this_process()


class SystemBits:
    """Bits that nobody can replay: there is no seed, and every thread, process and copy has a key of its own.

    Key and first counter come from `os.urandom`. A new key is taken after 2**30 blocks and after a fork; a pickle or
    copy of a source carries no state, so that it starts on a key of its own. What is promised of the noise holds
    against anybody who cannot distinguish AES-256 from a random permutation, up to 2**-69 for each key (2**30 blocks of
    128 bits never repeat; random ones would, with probability below (2**30)**2 / 2**129).

    A virtual machine that is restored from a snapshot repeats its keys: start a new process after restoring.

    Examples
    --------
    >>> SystemBits().integer(8) < 256
    True
    """

    secret = True

    def __init__(self) -> None:
        self._own = _ThreadStream()

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` fresh 64-bit words; the caller owns the array only until this thread's next call."""
        own = self._own
        if own.process != (os.getpid(), Forks.count) or own.stream.spent >= KEY_LIFE:
            own.renew()
        return own.stream.words(count)

    def integer(self, width: int) -> int:
        own = self._own
        if own.process != this_process() or own.stream.spent >= KEY_LIFE:
            own.renew()
        return own.stream.integer(width)

    def __reduce__(self) -> tuple[type[SystemBits], tuple[()]]:
        return SystemBits, ()


@cache
def system_bits() -> Bits:
    """The secret bits of this process; threads may share the source.

    Examples
    --------
    >>> system_bits().secret
    True
    """
    return SystemBits()
