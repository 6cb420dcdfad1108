"""The two ends of a linear part: what seals numbers and opens answers, and what multiplies without reading."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.paillier.packing import Packing

EXACT = 53  # bits below which sums of float64 are exact, in any order
Steps = NDArray[Any]


class Sealer(Protocol):
    """The client's end: it has the key."""

    cipher: ClassVar[str]

    def opening(self) -> list[bytes]:
        """What the server needs before anything is sealed; it hides nothing that must be hidden."""

    def sealed(self, steps: Steps, packing: Packing) -> bytes:
        """Numbers of shape (records, columns)."""

    def opened(self, answer: bytes, packing: Packing, shape: tuple[int, int]) -> Steps:
        """Numbers of shape (records, outputs)."""


class SealedProducts(Protocol):
    """The server's end: it has the weights."""

    def read(self, data: bytes, shape: tuple[int, int], packing: Packing) -> Any:
        """Sealed numbers, if they can be such; all that is public of them is known beforehand."""

    def answer(self, given: Any, matrix: Steps, bias: Steps, packing: Packing) -> bytes:
        """The product with a matrix, and a bias, sealed so that nothing but the numbers can be read."""


def exact_product(steps: Steps, matrix: Steps, width: int) -> Steps:
    """A product of integers of which none, nor any part of its sum, has more than `width` bits.

    Examples
    --------
    >>> exact_product(np.array([[1, -2]]), np.array([[3], [4]]), 10)
    array([[-5]])
    """
    if width <= EXACT:
        return np.rint(steps.astype(np.float64) @ matrix.astype(np.float64)).astype(np.int64)
    kind: Any = np.int64 if width < 63 else object
    return steps.astype(kind) @ matrix.astype(kind)


class PlainSealer:
    """No encryption: the integer twin of an encrypted run, for tests and for figures of accuracy."""

    cipher: ClassVar[str] = "plain"

    def opening(self) -> list[bytes]:
        return []

    def sealed(self, steps: Steps, packing: Packing) -> bytes:
        return packing.steps(steps).astype("<i8").tobytes()

    def opened(self, answer: bytes, packing: Packing, shape: tuple[int, int]) -> Steps:
        return _read(answer, shape)


class PlainProducts:
    """The server's end of the twin."""

    def read(self, data: bytes, shape: tuple[int, int], packing: Packing) -> Steps:
        found = _read(data, shape)
        if not (packing.interval.low <= found.min() and found.max() <= packing.interval.high):
            raise Malformed("plain numbers", "one is outside its range", "Send others.", UNOPENED)
        return found

    def answer(self, given: Steps, matrix: Steps, bias: Steps, packing: Packing) -> bytes:
        return (exact_product(given, matrix, packing.width) + bias).astype("<i8").tobytes()


def _read(data: bytes, shape: tuple[int, int]) -> Steps:
    if len(data) != 8 * shape[0] * shape[1]:
        raise Malformed("plain numbers", f"there are {len(data)} bytes of them", "Send 8 for each.", UNOPENED)
    return np.frombuffer(data, dtype="<i8").astype(np.int64).reshape(shape)
