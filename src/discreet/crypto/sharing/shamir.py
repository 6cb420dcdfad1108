"""Shamir's secret sharing of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed, WrongShares
from discreet.crypto.fields.field import (
    CHUNK,
    PRIME,
    Elements,
    accumulate,
    dot,
    elements,
    is_canonical,
    uniform_elements,
)

PIECE = 7  # bytes of a secret in one field element


@dataclass(frozen=True)
class Deal:
    """Among how many a secret is shared, and how many of them learn nothing.

    Parameters
    ----------
    parties : int
        Public. How many shares there are; their indices are 1 to `parties`.
    threshold : int
        Public. The most shares that say nothing about the secret; one more gives it. At least 1, less than `parties`.
    """

    parties: int
    threshold: int

    def __post_init__(self) -> None:
        if not 1 <= self.threshold < self.parties < 1 << 16:
            raise ParameterError(
                "sharing",
                f"{self.threshold} of {self.parties} are to learn nothing",
                "Let at least 1 learn nothing, and less than all of at most 65535.",
                parties=self.parties,
                threshold=self.threshold,
            )


@dataclass(frozen=True, eq=False)
class ShamirShare:
    """What one party holds of a secret vector.

    Parameters
    ----------
    deal : Deal
        Public. How the secret was shared.
    index : int
        Public. Whose share it is: 1 to `deal.parties`.
    values : array of field elements, shape (size,)
        The share itself.
    """

    deal: Deal
    index: int
    values: Elements = field(repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.deal.parties:
            raise WrongShares(
                "share",
                f"the index {self.index} is foreign to a sharing among {self.deal.parties}",
                "Take only shares of this sharing.",
                UNOPENED,
                index=self.index,
            )
        if self.values.ndim != 1 or self.values.dtype != np.uint64 or not is_canonical(self.values):
            raise WrongShares("share", f"that of {self.index} is no vector of field elements", "", UNOPENED)

    def to_bytes(self) -> bytes:
        """The values as bytes, eight for each."""
        return self.values.astype("<u8", copy=False).tobytes()

    @classmethod
    def from_bytes(cls, deal: Deal, index: int, data: bytes, size: int) -> ShamirShare:
        """A share from its bytes, whose sharing, holder and size are known."""
        if len(data) != 8 * size:
            raise Malformed("share", f"that of {index} has {len(data)} bytes", f"Send {8 * size}.", UNOPENED)
        return cls(deal, index, np.frombuffer(data, "<u8").astype(np.uint64))


def share(bits: Bits, secret: Elements, deal: Deal) -> list[ShamirShare]:
    """Share a secret vector, one polynomial for each element.

    The polynomial is secret + r_1 C(x, 1) + ... + r_t C(x, t), with r_k uniform and C(x, k) the binomial coefficient.
    The r_k are its coefficients times a triangular matrix with k! on the diagonal, which has an inverse modulo
    PRIME: uniform r_k mean uniform coefficients, as in Shamir 1979. They are also its differences at 0, so that the
    share at x + 1 follows from the one at x by t additions, without a product.

    Parameters
    ----------
    bits : Bits
        Where randomness comes from.
    secret : array of field elements, shape (size,)
        What is shared.
    deal : Deal
        Public. Among how many, and how many learn nothing.

    Guarantee
    ---------
    Any `deal.threshold` shares are uniform and independent of the secret: for every secret there is exactly one
    polynomial that fits them.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> shares = share(DeterministicBits(1), elements([7, -1]), Deal(parties=5, threshold=2))
    >>> reconstruct([shares[4], shares[0], shares[2]])
    array([                  7, 2305843009213693950], dtype=uint64)
    """
    rows = np.empty((deal.parties, secret.size), np.uint64)
    width = max(256, 2 * CHUNK // (deal.threshold + 1))
    for start in range(0, secret.size, width):
        part = slice(start, start + width)
        unknown = uniform_elements(bits, (deal.threshold, secret[part].size))
        differences = np.concatenate([secret[None, part], unknown])
        for row in rows:
            accumulate(differences[:-1], differences[1:])
            row[part] = differences[0]
    return [ShamirShare(deal, index, row) for index, row in enumerate(rows, 1)]


def reconstruct(shares: Iterable[ShamirShare]) -> Elements:
    """The secret, from more shares than the threshold; those beyond the fewest needed must agree with them.

    Lagrange's interpolation at 0.

    Raises
    ------
    WrongShares
        They are too few, of several sharings, of one index twice, or do not lie on one polynomial.
    """
    known = _checked(sorted(shares, key=lambda one: one.index))
    enough = known[0].deal.threshold + 1
    base, spare = known[:enough], known[enough:]
    indices = tuple(one.index for one in base)
    secret = np.empty_like(base[0].values)
    for start in range(0, secret.size, CHUNK):
        part = slice(start, start + CHUNK)
        rows = np.stack([one.values[part] for one in base])
        secret[part] = dot(weights_at(0, indices), rows)
        for one in spare:
            if not np.array_equal(dot(weights_at(one.index, indices), rows), one.values[part]):
                raise WrongShares(
                    "reconstruction",
                    f"the share of {one.index} does not lie on the polynomial of {list(indices)}",
                    "At least one of them was changed; ask for them again.",
                    UNOPENED,
                    indices=[*indices, one.index],
                )
    return secret


def _checked(shares: Sequence[ShamirShare]) -> Sequence[ShamirShare]:
    if not shares:
        raise WrongShares("reconstruction", "there are no shares", "Collect them first.", UNOPENED)
    deal, size = shares[0].deal, shares[0].values.size
    if any(one.deal != deal or one.values.size != size for one in shares):
        raise WrongShares("reconstruction", "the shares are of different sharings", "Take those of one.", UNOPENED)
    indices = [one.index for one in shares]
    if len(set(indices)) < len(indices):
        raise WrongShares(
            "reconstruction", f"an index comes twice in {indices}", "Take one share of each.", UNOPENED, indices=indices
        )
    if len(indices) <= deal.threshold:
        raise WrongShares(
            "reconstruction",
            f"there are {len(indices)} shares and {deal.threshold + 1} are needed",
            "Collect more.",
            UNOPENED,
            indices=indices,
        )
    return shares


@lru_cache(maxsize=256)
def weights_at(point: int, indices: tuple[int, ...]) -> Elements:
    """Lagrange's weights: what values at `indices` count for the value at `point`.

    Examples
    --------
    >>> weights_at(0, (1, 2)).tolist() == [2, PRIME - 1]
    True
    """
    weights = []
    for i, inverse in zip(indices, _inverses(indices), strict=True):
        above = inverse
        for j in indices:
            if j != i:
                above = above * (point - j) % PRIME
        weights.append(above)
    out = elements(weights)
    out.flags.writeable = False
    return out


@lru_cache(maxsize=256)
def _inverses(indices: tuple[int, ...]) -> tuple[int, ...]:
    """For each index one over the product of its distances from the others: the same at every point."""
    return tuple(pow(prod(i - j for j in indices if j != i), -1, PRIME) for i in indices)


def packed(secret: bytes) -> Elements:
    """Bytes as field elements, seven in each."""
    pieces = [secret[start : start + PIECE] for start in range(0, len(secret), PIECE)]
    return elements([int.from_bytes(piece, "little") for piece in pieces])


def unpacked(pieces: Elements, size: int) -> bytes:
    """`size` bytes from the field elements that `packed` made of them.

    Examples
    --------
    >>> unpacked(packed(b"a secret of any size"), 20)
    b'a secret of any size'
    """
    widths = [min(PIECE, size - start) for start in range(0, size, PIECE)]
    if len(widths) != pieces.size or any(int(one) >> 8 * width for one, width in zip(pieces, widths, strict=True)):
        raise Malformed("secret", f"these elements are not {size} bytes", "Reconstruct it from other shares.", UNOPENED)
    return b"".join(int(one).to_bytes(width, "little") for one, width in zip(pieces, widths, strict=True))
