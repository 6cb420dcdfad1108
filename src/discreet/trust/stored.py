"""What a ledger keeps of a plan that was committed: its releases, or the artefact that they were made into."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np

from discreet.core.errors import KeyReused, ParameterError
from discreet.core.held import unheld

Artefact = Mapping[str, Any]
MANY = 2**10  # floats that are written in fewer bytes, where that is possible
HEADS = 256  # of such arrays, as they are saved
FLOAT = np.dtype(np.float64)
MOST = 2**20  # bytes of an artefact that is in a ledger's entry; of a larger one the entry has the digest


@dataclass(frozen=True)
class KeptArtefact:
    """An artefact, or the digest of one that is too large."""

    values: dict[str, Any] | None  # the artefact itself
    asked: str | None  # a digest of all that decided what was made
    digest: str  # SHA-256 of the artefact as it is written
    where: str | None = None  # where its owner keeps it

    @classmethod
    def of(cls, artefact: Artefact, asked: str | None = None, where: str | None = None) -> KeptArtefact:
        """Keep an artefact, or its digest where it is too large."""
        values = _encoded(artefact)["table"]
        text = _text_of(values)
        return cls(values if len(text) <= MOST else None, asked, sha256(text.encode()).hexdigest(), where)

    def given(self, purpose: str, key: str, kept: bytes | None = None) -> Artefact:
        """The artefact, if it is here or was kept apart."""
        values = self.values if kept is None else json.loads(kept)
        if values is not None:
            return {name: _decoded(value) for name, value in values.items()}
        place = f"it was written to {self.where}" if self.where else "its owner has it"
        raise KeyReused(
            purpose,
            f"the key {key!r} was paid for and its result is too large for the ledger; {place}, and its digest is "
            f"{self.digest}",
            "Load it from there, or use a new key to make another.",
            "Nothing more was released or spent.",
            key=key,
            digest=self.digest,
            where=self.where,
        )


def text_of_artefact(artefact: Artefact) -> str:
    """An artefact as it is written, of which the digest is."""
    return _text_of(_encoded(artefact)["table"])


def _text_of(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


@unheld("part")
@dataclass
class Stored:
    """Releases, each with what it answers, or an artefact."""

    releases: list[tuple[str, Any]] = field(default_factory=list)  # what was asked, as a digest, and what was released
    artefact: KeptArtefact | None = None  # what the releases were made into

    @property
    def digests(self) -> set[str | None]:
        """The digests of all questions that were asked."""
        return {asked for asked, _ in self.releases} | ({self.artefact.asked} if self.artefact is not None else set())

    def add(self, asked: str, release: Any) -> None:
        self.releases.append((asked, release))

    def holds(self, asked: str | None) -> bool:
        """Whether there is a release to this question that was not taken yet."""
        return asked is not None and any(one == asked for one, _ in self.releases)

    def taken(self, asked: str | None) -> Any:
        """The first release to this question."""
        place = next(place for place, (one, _) in enumerate(self.releases) if one == asked)
        return self.releases.pop(place)[1]

    def written(self) -> bytes:
        """The form in which a ledger keeps it."""
        releases = [{"asked": asked, "release": _encoded(release)} for asked, release in self.releases]
        kept = None if self.artefact is None else vars(self.artefact)
        return json.dumps({"releases": releases, "artefact": kept}, separators=(",", ":")).encode()

    @classmethod
    def read(cls, data: bytes) -> Stored:
        """What was written."""
        document = json.loads(data)
        releases = [(one["asked"], _decoded(one["release"])) for one in document["releases"]]
        kept = document["artefact"]
        return cls(releases, None if kept is None else KeptArtefact(**kept))


def _encoded(value: Any) -> Any:
    """Arrays, and what becomes one when it ends, by their bytes; everything else that JSON has, as it is."""
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        short = _shortest(array)
        kept = {"array": base64.b64encode(_saved(short)).decode()}
        return kept if short.dtype == array.dtype else {**kept, "type": array.dtype.str}
    if isinstance(value, Mapping):
        return {"table": {str(key): _encoded(one) for key, one in value.items()}}
    if isinstance(value, list | tuple):
        return [_encoded(one) for one in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ParameterError(
        "artefact", f"a {type(value).__name__} cannot be stored", "Give arrays, numbers, texts, and lists of these."
    )


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "table" in value:
        return {key: _decoded(one) for key, one in value["table"].items()}
    found = _loaded(base64.b64decode(value["array"]))
    return (found.astype(value["type"]) if "type" in value else found)[()]


def _saved(array: Any) -> bytes:
    """An array in numpy's format; the head of one with few numbers, as most releases are, is not made anew."""
    if array.ndim != 1 or array.size >= MANY or array.dtype.hasobject or not array.flags.c_contiguous:
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        return file.getvalue()
    return _head(array.dtype, array.size) + bytes(array.tobytes())


@lru_cache(maxsize=HEADS)
def _head(kind: Any, size: int) -> bytes:
    """What numpy's format begins with, of an array with so many numbers of a kind."""
    file = io.BytesIO()
    np.save(file, np.zeros(size, kind), allow_pickle=False)
    return file.getvalue()[: -size * kind.itemsize or None]


def _loaded(saved: bytes) -> Any:
    """The array that was saved; a few floats are read by their known head."""
    size = (len(saved) - len(_head(FLOAT, 1))) // 8
    if 0 < size < MANY and saved.startswith(_head(FLOAT, size)) and len(saved) == len(_head(FLOAT, size)) + 8 * size:
        return np.frombuffer(saved, FLOAT, size, len(saved) - 8 * size).copy()
    return np.load(io.BytesIO(saved), allow_pickle=False)


def _shortest(array: Any) -> Any:
    """Many floats in fewer bytes, where not a bit of any is lost: tables have many small whole numbers."""
    if array.dtype == np.float64 and array.size >= MANY:
        for kind in (np.float16, np.float32):
            with np.errstate(over="ignore", under="ignore"):
                short = array.astype(kind)
            if np.array_equal(short.astype(np.float64).view(np.int64), array.view(np.int64)):
                return short
    return array
