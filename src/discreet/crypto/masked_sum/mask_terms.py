"""What parties of a masked sum have agreed on beyond who they are: how numbers are sent, and who masks with whom."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.messages import framed
from discreet.crypto.rounds.speaker import Words
from discreet.crypto.rounds.terms import Terms
from discreet.crypto.sharing.shamir import Deal

SECOND = b"discreet masked sum 2"
"""The protocol of rounds whose numbers have fewer than eight bytes."""
THIRD = b"discreet masked sum 3"
"""The protocol of rounds whose parties do not all mask with all; their numbers have any number of bytes."""
WIDEST = 8  # bytes
Ring = NDArray[np.unsignedinteger]
"""Numbers as they are masked: of 1, 2, 4 or 8 bytes."""


@dataclass(frozen=True)
class MaskTerms(Terms):
    """The terms of a masked sum.

    Parameters
    ----------
    round, parties, threshold, size, server, about, protocol
        Public. See `Terms`.
    width : int
        Public. How many bytes a number has as it is sent: sums are taken modulo 2**(8 width).
    lowest : int
        Public. The least that a number of the sum can be; it is the one of 2**(8 width) numbers from there on.
    degree : int
        Public. How many others each party chooses to mask with and to share its secrets among; 0 for all.
    needed : int
        Public. How many of the chosen must be left, and how many shares give a secret, where not all are chosen.

    Examples
    --------
    >>> terms = MaskTerms("r1", ("ann", "bob", "cas"), 2, 1000, protocol=SECOND, width=2)
    >>> terms.word, terms.most - terms.passed_on
    (dtype('uint16'), 2000)
    """

    width: int = WIDEST
    lowest: int = -(2**63)
    degree: int = 0
    needed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.width <= WIDEST or not -(2**63) <= self.lowest <= 2**63 - 2 ** (8 * self.width):
            obstacle = f"numbers have {self.width} bytes, from {self.lowest} on"
            raise ParameterError("terms", obstacle, "Give 1 to 8 bytes, of 64 bits with a sign.")
        if self.degree and not 1 < self.needed <= self.degree < len(self.parties) - 1:
            obstacle = f"each party chooses {self.degree} of {len(self.parties)} and needs {self.needed}"
            raise ParameterError("terms", obstacle, "Let it need some, and choose fewer than all.")
        due = THIRD if self.degree else PROTOCOL if self.width == WIDEST else SECOND
        if self.protocol != due:
            raise ParameterError("terms", f"{self.protocol!r} does not send such numbers", "Name the other protocol.")

    @classmethod
    def of(cls, terms: Terms) -> MaskTerms:
        """The same terms, with numbers of eight bytes among all where nothing else is said."""
        if isinstance(terms, MaskTerms):
            return terms
        return cls(**{field.name: getattr(terms, field.name) for field in dataclasses.fields(terms)})

    @cached_property
    def digest(self) -> bytes:
        if self.protocol == PROTOCOL:
            return super().digest
        numbers = (number.to_bytes(8, "big", signed=True) for number in self._numbers)
        return sha256(framed(super().digest, *numbers)).digest()

    @property
    def _numbers(self) -> tuple[int, ...]:
        return self.width, self.lowest, self.degree, self.needed

    @property
    def deal(self) -> Deal:
        return Deal(len(self.parties), self.needed - 1) if self.degree else super().deal

    @property
    def most(self) -> int:
        return self.width * self.size + self.passed_on

    @property
    def passed_on(self) -> int:
        graph = len(self.parties) * (8 + (len(self.parties) + 7) // 8) if self.degree else 0
        return super().passed_on + graph

    @property
    def form(self) -> str:
        """How numbers are sent, in words, where that is not as it always was."""
        width = f", numbers of {self.width} bytes from {self.lowest} on" if self.width < WIDEST else ""
        return width + (f", masks with {self.degree} chosen, {self.needed} needed" if self.degree else "")

    @property
    def word(self) -> np.dtype[np.unsignedinteger]:
        """The words in which numbers are masked: the shortest of numpy's that hold them."""
        return np.dtype(f"u{1 << (self.width - 1).bit_length()}")

    @property
    def sent(self) -> int:
        """How many bytes each party sends, but for keys, signatures and lists of names."""
        return self.width * self.size

    def packed(self, numbers: Ring) -> bytes:
        """Masked numbers as they travel: the lowest bytes of each, lowest first."""
        raw = numbers.astype(self.word.newbyteorder("<"), copy=False)
        if self.width == self.word.itemsize:
            return raw.tobytes()
        return raw.view(np.uint8).reshape(self.size, -1)[:, : self.width].tobytes()

    def received(self, data: bytes) -> Ring:
        """What `packed` has made of masked numbers, of which there must be `width * size` bytes."""
        little = self.word.newbyteorder("<")
        if self.width == self.word.itemsize:
            return np.frombuffer(data, little).astype(self.word, copy=False)
        raw = np.zeros((self.size, self.word.itemsize), np.uint8)
        raw[:, : self.width] = np.frombuffer(data, np.uint8).reshape(self.size, self.width)
        return raw.reshape(-1).view(little).astype(self.word, copy=False)

    def opened(self, numbers: Ring) -> Words:
        """The sum in 64 bits with a sign: of all numbers that are alike modulo 2**(8 width), the one in range."""
        lowest = np.uint64(self.lowest % 2**64)
        return (numbers.astype(np.uint64) - lowest & np.uint64(2 ** (8 * self.width) - 1)) + lowest
