"""The streams in which SEAL writes and reads its objects: made here of checked numbers, so that it reads no others."""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from discreet.core.errors import EngineFailure, MissingExtra

ASKED = "encrypted matching"
HEADER = struct.Struct("<HBBBBHQ")  # mark, own length, version, compression, nothing, length with this
MARK, NO_COMPRESSION = 0xA15E, 0
HEAD = struct.Struct("<QQQdQ")  # polynomials, degree, primes, scale, a factor of another scheme
SEED = 64  # bytes
KIND_OF_SEED = b"\x01"  # Blake2xb
WORD = 8  # bytes of a coefficient

Seal = Any
"""An object of TenSEAL, which has no stubs."""


@cache
def seal() -> Any:
    """The module tenseal.sealapi.

    Raises
    ------
    MissingExtra
        It is not installed.
    """
    _zstandard()
    try:
        import tenseal.sealapi as api
    except ImportError as why:
        raise _missing("TenSEAL") from why
    return api


@cache
def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError as why:
        raise _missing("zstandard") from why
    return zstandard


def _missing(name: str) -> MissingExtra:
    return MissingExtra(ASKED, f"{name} is not installed", "Run: pip install 'discreet[matching]'.")


def written(thing: Seal) -> bytes:
    """What SEAL writes of an object of its own, without its compression and its header."""
    with _memory() as (path, file):
        thing.save(path)
        data = os.pread(file, os.fstat(file).st_size, 0)
    return bytes(_zstandard().ZstdDecompressor().decompressobj().decompress(data[HEADER.size :]))


def read(kind: Any, context: Seal, stream: bytes) -> Seal:
    """An object of this kind, from a stream that was made here."""
    found = kind()
    with _memory() as (path, file):
        view = memoryview(stream)
        while view:
            view = view[os.write(file, view) :]
        try:
            found.load(context, path)
        except (RuntimeError, ValueError) as why:
            raise EngineFailure(ASKED, "SEAL does not read what was checked", "Install another TenSEAL.") from why
    return found


def ciphertext(level: bytes, *, transformed: bool, shape: Sequence[int], scale: float, data: bytes) -> bytes:
    """A ciphertext, or a public key: of polynomials, primes and coefficients in this shape."""
    return _headed(_ciphertext_head(level, transformed, shape, scale) + _array(data))


def seeded_ciphertext(
    level: bytes, *, transformed: bool, shape: Sequence[int], scale: float, data: bytes, seed: bytes
) -> bytes:
    """A ciphertext whose second polynomial is expanded from a seed."""
    expanded = _headed(KIND_OF_SEED + seed)
    return _headed(_ciphertext_head(level, transformed, shape, scale) + _array(data) + expanded)


def secret(level: bytes, data: bytes) -> bytes:
    """A secret key."""
    return _headed(level + struct.pack("<Qd", len(data) // WORD, 1.0) + _array(data))


def switching(level: bytes, places: int, keys: Mapping[int, Sequence[bytes]]) -> bytes:
    """Keys that a ciphertext is brought under another key with, at these of so many places."""
    parts = [level, struct.pack("<Q", places)]
    for place in range(places):
        own = keys.get(place, ())
        parts += [struct.pack("<Q", len(own)), *own]
    return _headed(b"".join(parts))


def _ciphertext_head(level: bytes, transformed: bool, shape: Sequence[int], scale: float) -> bytes:
    polynomials, primes, degree = shape
    return level + bytes([transformed]) + HEAD.pack(polynomials, degree, primes, scale, 1)


def _array(data: bytes) -> bytes:
    return _headed(struct.pack("<Q", len(data) // WORD) + data)


def _headed(body: bytes) -> bytes:
    return HEADER.pack(MARK, HEADER.size, *_version(), NO_COMPRESSION, 0, HEADER.size + len(body)) + body


@cache
def _version() -> tuple[int, int]:
    """That of SEAL, by what it writes."""
    with _memory() as (path, file):
        seal().Plaintext().save(path)
        mark, length, major, minor, *_ = HEADER.unpack(os.pread(file, HEADER.size, 0))
    if (mark, length) != (MARK, HEADER.size):
        raise EngineFailure(ASKED, "this SEAL writes in another form", "Install TenSEAL 0.3.16.")
    return major, minor


@contextlib.contextmanager
def _memory() -> Iterator[tuple[str, int]]:
    """A file that SEAL can name: in memory, or in a folder of the owner's alone."""
    if os.path.isdir("/proc/self/fd") and hasattr(os, "memfd_create"):
        file = os.memfd_create("discreet")
        try:
            yield f"/proc/self/fd/{file}", file
        finally:
            os.close(file)
    else:
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            path = os.path.join(folder, "stream")
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                yield path, file
            finally:
                os.close(file)
