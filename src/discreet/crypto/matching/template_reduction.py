"""Fewer numbers in each template: principal axes of public or made-up vectors, never of a gallery."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_text, check_whole
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.match_parameters import MOST, Vectors
from discreet.crypto.messages import framed, split

ASKED = "reduction of templates"
VERSION = b"discreet template reduction 1"
WIDEST = 1 << 14  # numbers of a template before
NONE = bytes(32)  # the digest where templates are not reduced


@dataclass(frozen=True)
class TemplateReduction:
    """A centre and principal axes. What is learned here is public, and whoever asks needs it.

    Axes of a gallery would tell of the people in it. So they are learned on other vectors, and `learned_on` says which.

    Parameters
    ----------
    centre : array of shape (numbers,)
        Public. What is taken off each template, after it was divided by its length.
    axes : array of shape (dimensions, numbers)
        Public. Orthonormal.
    learned_on : str
        Public. On which vectors.

    Examples
    --------
    >>> others = np.random.default_rng(0).normal(size=(200, 8)) * np.arange(8, 0, -1)
    >>> reduction = TemplateReduction.learned(others, 4, "made-up vectors")
    >>> reduction.reduced(others[:3]).shape
    (3, 4)
    """

    centre: Vectors = field(repr=False)
    axes: Vectors = field(repr=False)
    learned_on: str

    def __post_init__(self) -> None:
        check_text(ASKED, "learned_on", self.learned_on)
        if not self.learned_on.strip():
            remedy = "Say on which public or made-up vectors. Never learn on a gallery."
            raise ParameterError(ASKED, "it does not say what it was learned on", remedy)
        for name in ("centre", "axes"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), float))
        centre, axes = self.centre, self.axes
        fits = centre.ndim == 1 and axes.ndim == 2 and axes.shape[1:] == centre.shape
        if not fits or not 2 <= len(axes) <= min(MOST, len(centre)) or len(centre) > WIDEST:
            raise ParameterError(ASKED, f"its shapes are {centre.shape} and {axes.shape}", "Give what was learned.")
        if not (np.isfinite(centre).all() and np.isfinite(axes).all()):
            raise ParameterError(ASKED, "a number of it is none", "Give what was learned.")

    @classmethod
    def learned(cls, vectors: ArrayLike, dimensions: int, learned_on: str) -> TemplateReduction:
        """The principal axes of these vectors.

        Parameters
        ----------
        vectors : array of shape (many, numbers)
            Public. Templates of others than those in any gallery: of a public collection, or made up.
        dimensions : int
            Public. How many numbers are left; 64 to 128 suffice for faces.
        learned_on : str
            Public. Where the vectors are from.
        """
        rows = _directions(vectors)
        check_whole(ASKED, "dimensions", dimensions, 2, min(*rows.shape, MOST))
        centre = rows.mean(axis=0)
        axes = np.linalg.eigh((rows - centre).T @ (rows - centre))[1][:, ::-1].T[: int(dimensions)]
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
        return cls(centre, axes * np.sign(largest), learned_on)

    @property
    def dimensions(self) -> int:
        """How many numbers are left."""
        return len(self.axes)

    def reduced(self, vectors: ArrayLike) -> Vectors:
        """Templates of fewer numbers, one in each row."""
        rows = _directions(vectors)
        if rows.shape[1] != len(self.centre):
            obstacle = f"templates have {rows.shape[1]} numbers"
            raise ParameterError(ASKED, obstacle, f"Give {len(self.centre)}.")
        return (rows - self.centre) @ self.axes.T

    @cached_property
    def digest(self) -> bytes:
        """A hash of all of it, in 32 bytes."""
        return sha256(self.to_bytes()).digest()

    def to_bytes(self) -> bytes:
        """The form in which it is given away."""
        head = json.dumps({"learned_on": self.learned_on, "shape": list(self.axes.shape)}).encode()
        return framed(VERSION, head, self.centre.astype("<f8").tobytes(), self.axes.astype("<f8").tobytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> TemplateReduction:
        """The reduction in these bytes."""
        version, head, centre, axes = split(data, 4)
        if version != VERSION:
            raise _malformed("it has another version, or is none")
        try:
            found = json.loads(head)
            height, width = found["shape"]
            if not (type(height) is type(width) is int and len(axes) == 8 * height * width):
                raise _malformed("its length is another")
            numbers = np.frombuffer(axes, "<f8").reshape(height, width)
            return cls(np.frombuffer(centre, "<f8"), numbers, found["learned_on"])
        except (ValueError, TypeError, KeyError, RecursionError) as why:
            raise _malformed("it cannot be read") from why


def _directions(vectors: ArrayLike) -> Vectors:
    """Rows divided by their lengths."""
    given = np.asarray(vectors)
    if given.dtype.kind not in "iuf" or given.ndim not in (1, 2) or not 2 <= given.shape[-1] <= WIDEST:
        raise ParameterError(ASKED, f"vectors have type {given.dtype} and shape {given.shape}", "Give rows of numbers.")
    rows = np.atleast_2d(given).astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(rows).max(axis=1, initial=0.0)
        fine = np.isfinite(largest) & (largest > 0)
    if not len(rows) or not fine.all():
        raise ParameterError(ASKED, "a vector has no direction", "Give finite numbers that are not all zero.")
    rows = rows / largest[:, None]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _malformed(obstacle: str) -> Malformed:
    return Malformed(ASKED, obstacle, "Give the file that was written.", UNOPENED)
