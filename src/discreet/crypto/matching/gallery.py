"""A gallery on the disk: encrypted templates in blocks, added batch by batch."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.match_parameters import TEMPLATE_SCALE, MatchParameters, Vectors
from discreet.crypto.matching.template_reduction import NONE

ASKED = "gallery"
MARK = b"discreet gallery 1\n".ljust(32, b"\0")
HEAD = struct.Struct("<32sQ32s32s32s")  # mark, blocks, key, reduction, parameters
BLOCK = struct.Struct("<II")  # templates, bytes of a ciphertext
DIGEST = 32


class TemplateSealer(Protocol):
    """Encrypts the templates of a gallery: `MatchingKey`, or `EvaluationKeys` in twice the room."""

    @property
    def parameters(self) -> MatchParameters: ...

    def sealed(self, values: Vectors, scale: float) -> bytes: ...


@dataclass(frozen=True)
class GalleryBlock:
    """Where a block is: how many templates it has, where its ciphertexts begin, how long each is, and their digest."""

    templates: int
    start: int
    size: int
    digest: bytes


@dataclass(frozen=True)
class Gallery:
    """A file of encrypted templates. There are no names in it: a template is known by its number.

    Number k of ciphertext j of a block is coordinate (k + j) modulo the width of template k: so one query that repeats
    itself in its slots, rotated j times, meets the right coordinates everywhere.

    Parameters
    ----------
    path : Path
        Where it is.
    parameters : MatchParameters
        Public.
    key, reduction : bytes
        Public. The digests of the key that it is under and of the reduction of its templates.
    blocks : tuple of GalleryBlock
        Public.
    """

    path: Path
    parameters: MatchParameters
    key: bytes
    reduction: bytes
    blocks: tuple[GalleryBlock, ...] = ()

    @classmethod
    def created(cls, path: str | Path, parameters: MatchParameters, key: bytes, reduction: bytes = NONE) -> Gallery:
        """A new gallery without templates; a file that is there is left alone."""
        made = cls(Path(path), parameters, key, reduction)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as why:
            raise ParameterError(f"write {path}", str(why.strerror or why), "Choose another place.") from why
        with os.fdopen(file, "wb") as out:
            _put(out, 0, made._head)
        return made

    @classmethod
    def opened(cls, path: str | Path, key: bytes | None = None) -> Gallery:
        """The gallery in a file; refused where it is truncated or changed in length, or under another key.

        What an enrolment that was interrupted has left behind its end is passed over.
        """
        try:
            with open(path, "rb") as file:
                head = file.read(HEAD.size)
                if len(head) < HEAD.size or head[:DIGEST] != MARK:
                    raise _malformed("it has another version, or is none")
                _, count, own, reduction, parameters = HEAD.unpack(head)
                found = cls(Path(path), MatchParameters.from_bytes(parameters.rstrip(b"\0")), own, reduction)
                found = replace(found, blocks=tuple(found._read_blocks(file, count)))
        except OSError as why:
            raise ParameterError(f"read {path}", str(why.strerror or why), "Check the path.") from why
        if key is not None and key != own:
            raise _malformed("it is under another key")
        return found

    @property
    def templates(self) -> int:
        """How many there are."""
        return sum(block.templates for block in self.blocks)

    @property
    def size(self) -> int:
        """The bytes of it."""
        return HEAD.size + sum(self._length(block.size) for block in self.blocks)

    def enrolled(self, templates: ArrayLike, sealer: TemplateSealer) -> Gallery:
        """The gallery with these templates behind those that it has; a batch begins a new block.

        Parameters
        ----------
        templates : array of shape (many, dimensions)
            One in each row; refused before anything is written where one has no direction.
        sealer : MatchingKey or EvaluationKeys
            Who encrypts them. Under the secret key they take half the room.
        """
        if sealer.parameters != self.parameters:
            raise ParameterError(ASKED, "the key is for other parameters", "Give its own key.")
        rows, capacity = self.parameters.comparable(templates), self.parameters.capacity
        found = self
        for at in range(0, len(rows), capacity):
            found = found._with_block(len(rows[at : at + capacity]), self._sealed(rows[at : at + capacity], sealer))
        return found

    def block(self, place: int) -> list[bytes]:
        """The ciphertexts of a block, as they were written."""
        found = self.blocks[place]
        try:
            with open(self.path, "rb") as file:
                file.seek(found.start)
                data = file.read(found.size * self.parameters.width)
        except OSError as why:
            raise ParameterError(f"read {self.path}", str(why.strerror or why), "Check the path.") from why
        if sha256(data).digest() != found.digest:
            raise _malformed(f"block {place} was changed")
        return [data[at : at + found.size] for at in range(0, len(data), found.size)]

    def place(self, template: int) -> tuple[int, int]:
        """In which block a template is, and in which slot."""
        left = template
        for place, block in enumerate(self.blocks):
            if 0 <= left < block.templates:
                return place, left
            left -= block.templates
        raise ParameterError(ASKED, f"there is no template {template}", f"Give 0 to {self.templates - 1}.")

    def _sealed(self, rows: Vectors, sealer: TemplateSealer) -> Iterator[bytes]:
        slots, width = np.arange(len(rows)), self.parameters.width
        for turn in range(width):
            values = np.zeros(self.parameters.capacity)
            values[: len(rows)] = rows[slots, (slots + turn) % width]
            yield sealer.sealed(values, TEMPLATE_SCALE)

    def _with_block(self, templates: int, ciphertexts: Iterator[bytes]) -> Gallery:
        data = b"".join(ciphertexts)
        size, digest = len(data) // self.parameters.width, sha256(data).digest()
        start = self.size
        block = GalleryBlock(templates, start + BLOCK.size + DIGEST, size, digest)
        after = replace(self, blocks=(*self.blocks, block))
        with open(self.path, "r+b") as file:
            if file.read(HEAD.size) != self._head:
                raise ParameterError(ASKED, "somebody else has enrolled in it since it was opened", "Open it again.")
            file.truncate(start)
            _put(file, start, BLOCK.pack(templates, size) + digest + data)
            _put(file, 0, after._head)
        return after

    @property
    def _head(self) -> bytes:
        return HEAD.pack(MARK, len(self.blocks), self.key, self.reduction, self.parameters.to_bytes())

    def _read_blocks(self, file: BinaryIO, count: int) -> Iterator[GalleryBlock]:
        at, end = HEAD.size, os.fstat(file.fileno()).st_size
        for _ in range(count):
            file.seek(at)
            head = file.read(BLOCK.size + DIGEST)
            if len(head) < BLOCK.size + DIGEST:
                raise _malformed("it ends too early")
            templates, size = BLOCK.unpack_from(head)
            if not 1 <= templates <= self.parameters.capacity or size not in self._sizes:
                raise _malformed("a block of it cannot be")
            yield GalleryBlock(templates, at + len(head), size, head[BLOCK.size :])
            at += self._length(size)
            if at > end:
                raise _malformed("it ends too early")

    @property
    def _sizes(self) -> Sequence[int]:
        return self.parameters.seeded_size, self.parameters.sealed_size

    def _length(self, size: int) -> int:
        return BLOCK.size + DIGEST + size * self.parameters.width


def _put(file: BinaryIO, at: int, data: bytes) -> None:
    """Write, and wait until it is on the disk."""
    file.seek(at)
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _malformed(obstacle: str) -> Malformed:
    return Malformed(ASKED, obstacle, "Take a whole copy.", UNOPENED)
