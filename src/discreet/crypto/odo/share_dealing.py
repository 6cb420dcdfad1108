"""Bits in shares, with proofs that they are bits and shares of one polynomial each (`odo.md` has the arguments)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.fields.share_field import CHUNK, ShareField, Shares
from discreet.crypto.messages import framed
from discreet.crypto.odo.commitments import POINT, CombinedNumbers, NumberOpening
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.public_coins import PublicCoins
from discreet.noise.bernoulli import packed_coins


@dataclass(frozen=True, eq=False)
class HeldShares:
    """What one party holds of a dealer's bits, of the masks of its proofs, and of its seed.

    Parameters
    ----------
    terms : OdoTerms
        Public. Of the round.
    index : int
        Public. Whose shares they are.
    values : array of field elements
        The shares: bits of numbers, coins, masks of the two kinds of tests, and the seed with its nonce.
    """

    terms: OdoTerms
    index: int
    values: Shares = field(repr=False)

    def to_bytes(self) -> bytes:
        """A word for each."""
        return self.values.tobytes()

    @classmethod
    def from_bytes(cls, terms: OdoTerms, index: int, data: bytes) -> HeldShares:
        """The shares that were sealed for, or opened of, this holder."""
        values = terms.field.read(data, terms.elements)
        if values is None:
            obstacle = f"they are not {terms.elements} field elements of {terms.field.size} bytes"
            raise Malformed("shares", obstacle, "Send remainders.", UNOPENED)
        return cls(terms, index, values)

    @property
    def bits(self) -> Shares:
        """Of the numbers and the coins."""
        return self.values[: self.terms.secrets]

    @property
    def seed(self) -> Shares:
        """Of the seed and its nonce."""
        return self.values[self.terms.secrets + self.terms.masks + self.terms.field.tests :]

    def masks(self, kind: int) -> list[int]:
        """Those of the tests of degrees and of commitments (0), or of bits (1)."""
        start = self.terms.secrets + kind * self.terms.masks
        return [
            int(value) for value in self.values[start : start + (self.terms.field.tests if kind else self.terms.masks)]
        ]

    def added(self, coins: PublicCoins, dealer: int) -> Shares:
        """Its share of a dealer's numbers, with the coins that are up after some were turned over."""
        size, own, modulo = self.terms.size, self.terms.size * self.terms.width, self.terms.field
        numbers = modulo.combined(self.terms.places, self.bits[:own].reshape(-1, size))
        if not self.terms.coins:
            return numbers
        tossed = self.bits[own:].reshape(-1, size)
        turned = np.where(coins.flips(dealer), modulo.subtract(modulo.elements([1]), tossed), tossed)
        return modulo.add(numbers, modulo.total(turned))


def degrees_of(held: Sequence[HeldShares], coins: PublicCoins) -> list[list[int]]:
    """For each holder, the value at its point of the polynomial that each test of degrees opens."""
    modulo = coins.terms.field
    return _masked(held, 0, modulo.dots(coins.degree_weights, [one.bits for one in held]))


def squares_of(held: Sequence[HeldShares], coins: PublicCoins) -> list[list[int]]:
    """For each holder, the value at its point of the polynomial that each test of bits opens."""
    modulo, length = coins.terms.field, coins.terms.secrets
    found = [[0] * modulo.tests for _ in held]
    for start in range(0, length, CHUNK):
        part = slice(start, start + CHUNK)
        bits = [one.bits[part] for one in held]
        away = [modulo.multiply(one, modulo.subtract(one, modulo.elements([1]))) for one in bits]
        more = modulo.dots(coins.weights[:, part], away)
        found = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(found, more, strict=True)]
    return _masked(held, 1, found)


def _masked(held: Sequence[HeldShares], kind: int, values: list[list[int]]) -> list[list[int]]:
    """The values under the masks that were shared with the bits."""
    pairs = zip(held, values, strict=True)
    return [
        [(value + mask) % one.terms.field.prime for value, mask in zip(row, one.masks(kind), strict=True)]
        for one, row in pairs
    ]


@dataclass(frozen=True)
class Proof:
    """Some polynomials for each kind of test, by their values at 1, 2 and so on.

    Parameters
    ----------
    terms : OdoTerms
        Public. Of the round.
    degrees : list of lists of int
        Of degree `faults`: a random combination of all polynomials, under a mask.
    squares : list of lists of int
        Of degree `2 faults`: the same combination of their squares less themselves, under a mask that is 0 at 0.
    links : tuple of CombinedNumbers
        Where numbers are committed to: the last combinations at 0, as integers.
    """

    terms: OdoTerms
    degrees: list[list[int]]
    squares: list[list[int]]
    links: tuple[CombinedNumbers, ...] = ()

    def to_bytes(self) -> bytes:
        numbers = [value for one in (*self.degrees, *self.squares) for value in one]
        return self.terms.field.elements(numbers).tobytes() + b"".join(link.to_bytes() for link in self.links)

    @classmethod
    def from_bytes(cls, terms: OdoTerms, data: bytes) -> Proof:
        """The proof that was sent; its lengths are its degrees."""
        short, tests = terms.masks * (terms.faults + 1), terms.field.tests
        end = len(data) - 2 * POINT * terms.links
        values = terms.field.read(data[: max(end, 0)], short + tests * (2 * terms.faults + 1))
        if values is None:
            raise Malformed("proof", "it is not as many field elements as it must be", "", UNOPENED)
        first, second = values[:short].reshape(terms.masks, -1), values[short:].reshape(tests, -1)
        links = (CombinedNumbers.from_bytes(data[at : at + 2 * POINT]) for at in range(end, len(data), 2 * POINT))
        return cls(terms, first.tolist(), second.tolist(), tuple(links))

    @property
    def of_bits(self) -> bool:
        """Whether all combinations of squares less themselves are zero: then all secrets are bits."""
        return not any(self._at(0, self.squares))

    @property
    def of_commitments(self) -> bool:
        """Whether combinations of committed numbers, as integers, have the remainders that shares have."""
        rows, prime = self.degrees[self.terms.field.tests :], self.terms.field.prime
        return [link.number % prime for link in self.links] == (self._at(0, rows) if rows else [])

    def misses(self, held: Sequence[HeldShares], coins: PublicCoins) -> list[HeldShares]:
        """The holders through whose shares it does not go."""
        found = zip(held, degrees_of(held, coins), squares_of(held, coins), strict=True)
        return [one for one, degrees, squares in found if not self.fits(one.index, degrees, squares)]

    def fits(self, index: int, degrees: list[int], squares: list[int]) -> bool:
        """Whether it has these values at a holder's point."""
        return self._at(index, self.degrees) == degrees and self._at(index, self.squares) == squares

    def _at(self, point: int, rows: list[list[int]]) -> list[int]:
        prime = self.terms.field.prime
        weights = weights_at(point, tuple(range(1, len(rows[0]) + 1)), prime)
        return [sum(weight * value for weight, value in zip(weights, row, strict=True)) % prime for row in rows]


@dataclass(frozen=True, eq=False, repr=False)
class ShareDealing:
    """A dealer's bits and seed, as everybody's shares.

    Parameters
    ----------
    terms : OdoTerms
        Public. Of the round.
    rows : array of field elements, shape (parties, elements)
        The shares of each party.
    seed : array of field elements
        With its nonce.
    opening : NumberOpening, optional
        What the dealer committed to.
    """

    terms: OdoTerms
    rows: Shares
    seed: Shares
    opening: NumberOpening | None = None

    @classmethod
    def of(cls, bits: Bits, terms: OdoTerms, numbers: Steps) -> ShareDealing:
        """Share these numbers and as many fresh coins as the terms ask for."""
        if numbers.shape != (terms.size,) or ((numbers < 0) | (numbers > terms.largest)).any():
            obstacle = f"they are not {terms.size} numbers from 0 to {terms.largest}"
            raise ParameterError("numbers to share", obstacle, "Move them into that range.")
        modulo, tests = terms.field, terms.field.tests
        secrets = np.concatenate([_in_places(terms, numbers).reshape(-1), _tossed(bits, terms)]).astype(modulo.dtype)
        seed = modulo.uniform(bits, terms.sealed_seeds)
        rows = np.empty((len(terms.parties), terms.elements), modulo.dtype)
        middle, end = terms.secrets + terms.masks, terms.secrets + terms.masks + tests
        opening = NumberOpening.drawn(bits, numbers.tolist(), terms.links) if terms.committed else None
        hidden = modulo.elements([] if opening is None else opening.numbers[terms.size :])
        masks = np.concatenate([secrets, modulo.uniform(bits, tests), hidden])
        share(bits, modulo, masks, terms.faults, rows[:, :middle])
        share(bits, modulo, np.zeros(tests, modulo.dtype), 2 * terms.faults, rows[:, middle:end])
        share(bits, modulo, seed, terms.faults, rows[:, end:])
        return cls(terms, rows, seed, opening)

    def held(self, index: int) -> HeldShares:
        """What the party of this index is to hold."""
        return HeldShares(self.terms, index, self.rows[index - 1])

    @property
    def commitment(self) -> bytes:
        """To the seed."""
        return committed(self.terms, self.seed)

    def proof(self, coins: PublicCoins) -> Proof:
        """From the dealer's own rows: a polynomial of degree d is known by its values at d + 1 points."""
        held = [self.held(index) for index in range(1, 2 * self.terms.faults + 2)]
        degrees, squares = degrees_of(held[: self.terms.faults + 1], coins), squares_of(held, coins)
        links = (
            ()
            if self.opening is None
            else tuple(
                self.opening.combined(weights, link, self.terms.size)
                for link, weights in enumerate(coins.links.tolist())
            )
        )
        first, second = ([list(row) for row in zip(*found, strict=True)] for found in (degrees, squares))
        return Proof(self.terms, first, second, links)


def _in_places(terms: OdoTerms, numbers: Steps) -> Steps:
    """The bits of each number, a row for each place: the last place is taken where the others are not enough."""
    top = numbers >> (terms.width - 1)
    rest = numbers - top * terms.places[-1]
    return np.concatenate([(rest >> np.arange(terms.width - 1)[:, None]) & 1, top[None]])


def _tossed(bits: Bits, terms: OdoTerms) -> NDArray[np.uint8]:
    """Fresh fair coins, all those of a number in one column."""
    if not terms.coins:
        return np.zeros(0, np.uint8)
    return np.unpackbits(packed_coins(bits, terms.coins, terms.size, 0.5), axis=1)[:, : terms.size].reshape(-1)


def share(bits: Bits, modulo: ShareField, secret: Shares, degree: int, rows: Shares) -> None:
    """Write shares of a secret vector to rows, one polynomial for each element (see `sharing.shamir.share`)."""
    width = max(256, 2 * CHUNK // (degree + 1))
    for start in range(0, secret.size, width):
        part = slice(start, start + width)
        differences = np.concatenate([secret[None, part], modulo.uniform(bits, degree, secret[part].size)])
        for row in rows:
            modulo.accumulate(differences[:-1], differences[1:])
            row[part] = differences[0]


@lru_cache(maxsize=1024)
def weights_at(point: int, points: tuple[int, ...], prime: int) -> tuple[int, ...]:
    """Lagrange's weights: what values at some points count for the value at another.

    Examples
    --------
    >>> weights_at(0, (1, 2), 7)
    (2, 6)
    """
    weights = []
    for i in points:
        above, below = 1, 1
        for j in points:
            if j != i:
                above, below = above * (point - j) % prime, below * (i - j) % prime
        weights.append(above * pow(below, -1, prime) % prime)
    return tuple(weights)


def committed(terms: OdoTerms, seed: Shares) -> bytes:
    """A commitment to a seed and its nonce, for this round."""
    return sha256(framed(b"seed", terms.digest, seed.tobytes())).digest()
