"""Arrays of encrypted numbers: encrypted, added, multiplied by plain numbers, sent and read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.messages import framed, split
from discreet.crypto.paillier.big_integers import Big, big, gmp
from discreet.crypto.paillier.linear import weighted_products
from discreet.crypto.paillier.packing import Packing, StepInterval
from discreet.crypto.paillier.public_key import Encryptor, PublicKey
from discreet.noise.system_bits import system_bits

ASKED = "encrypted array"
VERSION = b"discreet paillier array 1"
MOST_AXES, MOST_NUMBERS = 8, 2**31
LONGEST_HEAD = 1 << 13  # bytes


@dataclass(frozen=True, eq=False)
class EncryptedArray:
    """Numbers under a key, several in each ciphertext.

    Numbers lie side by side along the first axis: an array of shape (56, 784) with 56 slots is 784 ciphertexts, one for
    each column. All that is public about the numbers travels with them: shape, packing, the step, and an interval that
    surely holds every number. Arithmetic keeps the interval, and refuses what could leave its slot.

    Parameters
    ----------
    key : PublicKey
        Public. Under which they are encrypted.
    packing : Packing
        Public. How they lie.
    shape : tuple of int
        Public. At least one axis.
    interval : StepInterval
        Public. Of the numbers, in steps.
    exponent : int
        Public. A step is 2**exponent.
    ciphertexts : tuple
        By rows of blocks: `blocks` of the first axis, for each place on the other axes.

    Examples
    --------
    >>> from discreet.crypto.paillier.private_key import PrivateKey
    >>> key = PrivateKey.drawn(2048, "subgroup")
    >>> sealed = encrypt(np.arange(6).reshape(3, 2), Packing(0, 10, headroom=100), key.public)
    >>> key.decrypt(sealed @ np.array([[1], [-2]]) + sealed[:, :1] * 3)
    array([[-2],
           [ 2],
           [ 6]])
    """

    key: PublicKey
    packing: Packing
    shape: tuple[int, ...]
    interval: StepInterval
    exponent: int
    ciphertexts: tuple[Big, ...] = field(repr=False)
    __array_ufunc__ = None  # so that numpy leaves sums to this class

    @property
    def slots(self) -> int:
        """How many numbers there are in each ciphertext, but for the last of a column."""
        return self.packing.slots(self.key.key_bits)

    @property
    def blocks(self) -> int:
        """How many ciphertexts lie along the first axis."""
        return -(-self.shape[0] // self.slots)

    @property
    def columns(self) -> int:
        """How many places there are on the other axes."""
        return math.prod(self.shape[1:])

    @property
    def nbytes(self) -> int:
        """The bytes of all ciphertexts."""
        return len(self.ciphertexts) * self.key.size

    def __add__(self, other: EncryptedArray | ArrayLike) -> EncryptedArray:
        """The sums of numbers at equal places; plain integers are steps of this array."""
        if not isinstance(other, EncryptedArray):
            return self._plus_plain(np.asarray(other))
        self._check_alike(other)
        interval = self.interval + other.interval
        self.packing.check_fits("sum", interval)
        square = self.key.square
        sums = [one * two % square for one, two in zip(self.ciphertexts, other.ciphertexts, strict=True)]
        return EncryptedArray(self.key, self.packing, self.shape, interval, self.exponent, tuple(sums))

    __radd__ = __add__

    def __mul__(self, weight: int) -> EncryptedArray:
        """Every number times one plain integer."""
        whole = _plain_integers(np.asarray(weight))
        if whole.shape:
            raise ParameterError("product", "the weight is an array", "Use @ for products with a matrix.")
        number = int(whole)
        interval = self.interval.times(max(number, 0), max(-number, 0))
        self.packing.check_fits("product", interval)
        power, square = gmp().powmod, self.key.square
        return replace(self, interval=interval, ciphertexts=tuple(power(c, number, square) for c in self.ciphertexts))

    __rmul__ = __mul__

    def __neg__(self) -> EncryptedArray:
        return self * -1

    def __sub__(self, other: EncryptedArray) -> EncryptedArray:
        return self + -other

    def __matmul__(self, weights: ArrayLike) -> EncryptedArray:
        """The product with a matrix of plain integers, of shape (columns, outputs); see `matmul`."""
        return self.matmul(weights)

    def matmul(self, weights: ArrayLike, exponent: int = 0) -> EncryptedArray:
        """The product of this array, of shape (rows, columns), with plain weights, in steps of 2**exponent.

        The ciphertexts and the interval that come out are functions of the weights. Whoever sends them to somebody
        who must not see the weights sends `refreshed` ones.

        Parameters
        ----------
        weights : array of int
            Of shape (columns, outputs).
        exponent : int
            Public. A weight w stands for w 2**exponent.
        """
        matrix = _plain_integers(np.asarray(weights))
        if len(self.shape) != 2 or matrix.ndim != 2 or matrix.shape[0] != self.shape[1] or not matrix.shape[1]:
            obstacle = f"shapes {self.shape} and {matrix.shape} do not fit"
            raise ParameterError("product", obstacle, "Give weights of shape (columns, outputs).")
        positive = np.where(matrix > 0, matrix, 0).sum(axis=0)
        negative = np.where(matrix < 0, -matrix, 0).sum(axis=0)
        each = [self.interval.times(int(up), int(down)) for up, down in zip(positive, negative, strict=True)]
        interval = StepInterval(min(one.low for one in each), max(one.high for one in each))
        self.packing.check_fits("product", interval)
        found: list[Big] = []
        for block in range(self.blocks):
            own = self.ciphertexts[block * self.columns : (block + 1) * self.columns]
            found += weighted_products(own, matrix, self.key.square)
        shape = (self.shape[0], matrix.shape[1])
        return replace(
            self, shape=shape, interval=interval, exponent=self.exponent + exponent, ciphertexts=tuple(found)
        )

    def folded(self) -> EncryptedArray:
        """All blocks added up: an array no longer than the slots, whose sum along the first axis is this one's.

        Numbers in different slots cannot be added while they are encrypted: whoever decrypts adds these up.
        """
        interval = self.interval.times(self.blocks, 0)
        if self.blocks > 1:  # the last block may have fewer numbers
            interval = interval.hull(self.interval.times(self.blocks - 1, 0))
        self.packing.check_fits("sum", interval)
        found = [big(1)] * self.columns
        for place, one in enumerate(self.ciphertexts):
            found[place % self.columns] = found[place % self.columns] * one % self.key.square
        shape = (min(self.slots, self.shape[0]), *self.shape[1:])
        return replace(self, shape=shape, interval=interval, ciphertexts=tuple(found))

    @classmethod
    def total(cls, arrays: Iterable[EncryptedArray]) -> EncryptedArray:
        """The sum of several arrays of one shape."""
        first, *others = arrays
        for one in others:
            first = first + one
        return first

    def refreshed(
        self, by: Encryptor | None = None, bits: Bits | None = None, interval: StepInterval | None = None
    ) -> EncryptedArray:
        """The same numbers in fresh ciphertexts, which say nothing about how they were computed.

        Nor does their interval, which follows from plain weights: it becomes all that a slot can hold.

        Parameters
        ----------
        interval : StepInterval
            Public. A smaller one, for sums that go on; it must hold the numbers, and must not come from the weights.
        """
        stated = interval or self.packing.room
        if stated.hull(self.interval) != stated:
            raise ParameterError("refreshed array", "its numbers may be outside that interval", "Give a larger one.")
        zeros = (by or self.key).zeros(len(self.ciphertexts), bits or system_bits())
        fresh = [one * zero % self.key.square for one, zero in zip(self.ciphertexts, zeros, strict=True)]
        return replace(self, interval=stated, ciphertexts=tuple(fresh))

    def __getitem__(self, place: tuple[slice, ...]) -> EncryptedArray:
        """Some columns; all numbers of the first axis stay, since they share ciphertexts."""
        if not isinstance(place, tuple) or len(place) != len(self.shape) or place[0] != slice(None):
            raise ParameterError(ASKED, "rows cannot be taken out of ciphertexts", "Take columns: array[:, :3].")
        own = np.arange(self.columns).reshape(self.shape[1:])[place[1:]]
        if not isinstance(own, np.ndarray) or own.size == 0 or own.ndim != len(self.shape) - 1:
            raise ParameterError(ASKED, "no columns are left", "Take slices of columns: array[:, :3].")
        rows = range(self.blocks)
        chosen = [self.ciphertexts[row * self.columns + column] for row in rows for column in own.ravel().tolist()]
        return replace(self, shape=(self.shape[0], *own.shape), ciphertexts=tuple(chosen))

    def opened(self, plain: Sequence[Big | None]) -> NDArray[Any]:
        """The numbers in these plaintexts: integers, or floats where a step is no integer.

        Where there is no plaintext, the ciphertext was none of this key.

        Raises
        ------
        Malformed
            A number is not where it should be. There is this one error, after the same work whatever was inside.
            Whoever tells a sender of it tells him something about the plaintext.
        """
        lists = [
            self.packing.unpacked(self.key.signed(one or big(0)), self._count(place // self.columns))
            for place, one in enumerate(plain)
        ]
        sound = all(numbers is not None for numbers in (*lists, *plain))
        blocks = [
            np.array([lists[b * self.columns + c] or [0] * self._count(b) for c in range(self.columns)], dtype=object)
            for b in range(self.blocks)
        ]
        steps = np.concatenate([block.reshape(self.columns, -1).T for block in blocks]).reshape(self.shape)
        inside = self.interval.low <= steps.min() and steps.max() <= self.interval.high
        if not (sound and inside):
            raise Malformed("decryption", "what was encrypted does not fit its packing", "Ask for it again.", UNOPENED)
        if self.exponent:
            return np.ldexp(steps.astype(np.float64), self.exponent)
        return steps.astype(np.int64) if self.interval.most < 2**63 else steps

    def to_bytes(self) -> bytes:
        """The form in which it travels: version, key, what is public, ciphertexts of one length."""
        packing, size = self.packing, self.key.size
        head = {
            "shape": list(self.shape),
            "packing": [_exact(packing.low), _exact(packing.high), packing.exponent, packing.headroom],
            "interval": [self.interval.low, self.interval.high],
            "exponent": self.exponent,
        }
        body = b"".join(int(one).to_bytes(size, "big") for one in self.ciphertexts)
        return framed(VERSION, self.key.digest, json.dumps(head, separators=(",", ":")).encode(), body)

    @classmethod
    def from_bytes(cls, data: bytes, key: PublicKey) -> EncryptedArray:
        """The array in these bytes, under this key; what it says of its numbers is a claim of whoever sent it.

        Raises
        ------
        Malformed
            Another version or key, a shape or packing that cannot be, too few or too many bytes, or a number that is
            no ciphertext.
        """
        version, digest, head, body = split(data, 4)
        if version != VERSION:
            raise _malformed("it has another version, or is none")
        if digest != key.digest:
            raise _malformed("it is under another key")
        packing, shape, interval, exponent = _read_head(head)
        try:
            empty = cls(key, packing, shape, interval, exponent, ())
            packing.check_fits(ASKED, interval)
            count = empty.blocks * empty.columns
        except ParameterError as why:
            raise _malformed(why.obstacle) from why
        if len(body) != count * key.size:
            raise _malformed(f"it has {len(body)} bytes of ciphertexts and needs {count * key.size}")
        parts = (body[at : at + key.size] for at in range(0, len(body), key.size))
        numbers = [big(int.from_bytes(one, "big")) for one in parts]
        key.check_units(ASKED, numbers)
        return replace(empty, ciphertexts=tuple(numbers))

    def _count(self, block: int) -> int:
        """How many slots of a block are in use."""
        return min(self.slots, self.shape[0] - block * self.slots)

    def _plus_plain(self, added: NDArray[Any]) -> EncryptedArray:
        whole = np.broadcast_to(_plain_integers(added), self.shape)
        interval = self.interval + StepInterval(int(whole.min()), int(whole.max()))
        self.packing.check_fits("sum", interval)
        square = self.key.square
        packed = packed_columns(whole, self.packing, self.slots)
        sums = [one * self.key.holds(plain) % square for one, plain in zip(self.ciphertexts, packed, strict=True)]
        return replace(self, interval=interval, ciphertexts=tuple(sums))

    def _check_alike(self, other: EncryptedArray) -> None:
        if other.key is not self.key and other.key.digest != self.key.digest:
            raise Malformed("sum", "the other array is under another key", "Encrypt under one key.", UNOPENED)
        if (other.shape, other.packing, other.exponent) != (self.shape, self.packing, self.exponent):
            obstacle = f"one has shape {self.shape} and the other {other.shape}, or their packings or steps differ"
            raise ParameterError("sum", obstacle, "Give both one shape, packing and step.")

    def __repr__(self) -> str:
        return f"EncryptedArray(shape {self.shape}, {self.packing}, key {self.key.digest.hex()[:16]})"


def encrypt(values: ArrayLike, packing: Packing, by: Encryptor, bits: Bits | None = None) -> EncryptedArray:
    """Numbers, encrypted: by anybody with the public key, by the owner of the private one, or from a pool.

    Parameters
    ----------
    values : array of int or float
        The numbers; floats only where the packing has steps other than 1. A single number is an array of one.
    packing : Packing
        Public. Their range and precision; numbers outside are refused.
    by : PublicKey, PrivateKey or ZeroPool
        Who encrypts.
    bits : Bits, optional
        Where the randomness comes from; the operating system's where not given.
    """
    steps = np.atleast_1d(packing.steps(values))
    if not steps.size or steps.ndim > MOST_AXES:
        raise ParameterError(ASKED, f"the shape is {steps.shape}", f"Give numbers on 1 to {MOST_AXES} axes.")
    key = by.public
    plain = packed_columns(steps, packing, packing.slots(key.key_bits))
    zeros = by.zeros(len(plain), bits or system_bits())
    sealed = [key.holds(one) * zero % key.square for one, zero in zip(plain, zeros, strict=True)]
    return EncryptedArray(key, packing, steps.shape, packing.interval, packing.exponent, tuple(sealed))


def packed_columns(steps: NDArray[Any], packing: Packing, slots: int) -> list[Big]:
    """The plaintexts: for each block of the first axis, one for each column."""
    columns = steps.reshape(len(steps), -1).T
    return [
        packing.packed(column[at : at + slots].tolist()) for at in range(0, len(steps), slots) for column in columns
    ]


def _plain_integers(given: NDArray[Any]) -> NDArray[Any]:
    """Plain integers, of any size."""
    if given.dtype.kind == "O" and all(type(one) is int for one in given.flat):
        return given
    if given.dtype.kind not in "iu" or not given.size:
        remedy = "Give integers: multiply by a power of two and round, and state the exponent."
        raise ParameterError("plain numbers", "not all are integers", remedy, "Nothing was computed.")
    return given.astype(object)


def _exact(number: float) -> int | str:
    return number if isinstance(number, int) else float(number).hex()


def _malformed(obstacle: str) -> Malformed:
    return Malformed(ASKED, obstacle, "Ask for it again.", UNOPENED)


def _read_head(head: bytes) -> tuple[Packing, tuple[int, ...], StepInterval, int]:
    """What is public about an array, if it can be so."""
    try:
        if len(head) > LONGEST_HEAD:
            raise ValueError("it is too long")
        found = json.loads(head)
        low, high = (float.fromhex(end) if isinstance(end, str) else end for end in found["packing"][:2])
        exponent, headroom = found["packing"][2:]
        shape, interval, step = tuple(found["shape"]), StepInterval(*found["interval"]), found["exponent"]
        whole = (exponent, headroom, step, *shape, interval.low, interval.high)
        if not all(type(one) is int for one in whole) or set(found) != {"shape", "packing", "interval", "exponent"}:
            raise ValueError("a number is none")
        if not 1 <= len(shape) <= MOST_AXES or min(shape) < 1 or math.prod(shape) > MOST_NUMBERS:
            raise ValueError("the shape cannot be")
        if interval.low > interval.high or abs(step) > 2000:
            raise ValueError("the interval cannot be")
        return Packing(low, high, exponent, headroom), shape, interval, step
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as why:
        raise _malformed("what it says of its numbers cannot be read") from why
