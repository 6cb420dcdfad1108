"""Bits in shares, with proofs that they are bits and shares of one polynomial each (`odo.md` has the arguments)."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.fields.field import (
    Elements,
    add,
    dot,
    elements,
    is_canonical,
    multiply,
    subtract,
    total,
    uniform_elements,
)
from discreet.crypto.messages import framed
from discreet.crypto.odo.odo_terms import NONCE, TESTS, OdoTerms
from discreet.crypto.odo.public_coins import PublicCoins
from discreet.crypto.sharing.shamir import Deal, share, weights_at
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
    values: Elements = field(repr=False)

    def to_bytes(self) -> bytes:
        """Eight bytes for each."""
        return self.values.astype("<u8", copy=False).tobytes()

    @classmethod
    def from_bytes(cls, terms: OdoTerms, index: int, data: bytes) -> HeldShares:
        """The shares that were sealed for, or opened of, this holder."""
        if len(data) != terms.held:
            raise Malformed("shares", f"they have {len(data)} bytes", f"Send {terms.held}.", UNOPENED)
        values = np.frombuffer(data, "<u8").astype(np.uint64)
        if not is_canonical(values):
            raise Malformed("shares", "not all are field elements", "Send remainders.", UNOPENED)
        return cls(terms, index, values)

    @property
    def bits(self) -> Elements:
        """Of the numbers and the coins."""
        return self.values[: self.terms.secrets]

    @property
    def seed(self) -> Elements:
        """Of the seed and its nonce."""
        return self.values[self.terms.secrets + 2 * TESTS :]

    def degrees(self, coins: PublicCoins) -> list[int]:
        """The value, at this holder's point, of the polynomial that each test of degrees opens."""
        masks = self.values[self.terms.secrets : self.terms.secrets + TESTS]
        return [int(add(dot(w, self.bits), mask)) for w, mask in zip(coins.all_weights, masks, strict=True)]

    def squares(self, coins: PublicCoins) -> list[int]:
        """The value, at this holder's point, of the polynomial that each test of bits opens."""
        masks = self.values[self.terms.secrets + TESTS : self.terms.secrets + 2 * TESTS]
        away = subtract(multiply(self.bits, self.bits), self.bits)
        return [int(add(dot(w, away), mask)) for w, mask in zip(coins.all_weights, masks, strict=True)]

    def added(self, flips: np.ndarray) -> Elements:
        """Its share of the dealer's numbers, with the coins that are up after some were turned over."""
        size, width = self.terms.size, self.terms.width
        numbers, coins = self.bits[: size * width].reshape(width, size), self.bits[size * width :].reshape(-1, size)
        places = elements(2 ** np.arange(width, dtype=np.uint64))
        turned = np.where(flips, subtract(np.ones(1, np.uint64), coins), coins)
        return add(dot(places, numbers), total(turned))


@dataclass(frozen=True)
class Proof:
    """Two polynomials for each kind of test, by their values at 1, 2 and so on.

    Parameters
    ----------
    degrees : list of lists of int
        Of degree `faults`: a random combination of all polynomials, under a mask.
    squares : list of lists of int
        Of degree `2 faults`: the same combination of their squares less themselves, under a mask that is 0 at 0.
    """

    degrees: list[list[int]]
    squares: list[list[int]]

    def to_bytes(self) -> bytes:
        numbers = [value for one in (*self.degrees, *self.squares) for value in one]
        return elements(numbers).astype("<u8", copy=False).tobytes()

    @classmethod
    def from_bytes(cls, terms: OdoTerms, data: bytes) -> Proof:
        """The proof that was sent; its lengths are its degrees."""
        short, long = terms.faults + 1, 2 * terms.faults + 1
        values = np.frombuffer(data[: len(data) // 8 * 8], "<u8").astype(np.uint64)
        if len(data) != 8 * TESTS * (short + long) or not is_canonical(values):
            raise Malformed("proof", "it is not as many field elements as it must be", "", UNOPENED)
        first, second = values[: TESTS * short].reshape(TESTS, short), values[TESTS * short :].reshape(TESTS, long)
        return cls(first.tolist(), second.tolist())

    @property
    def of_bits(self) -> bool:
        """Whether all combinations of squares less themselves are zero: then all secrets are bits."""
        return all(_at(0, values) == 0 for values in self.squares)

    def fits(self, held: HeldShares, coins: PublicCoins) -> bool:
        """Whether it goes through what this holder has."""
        return [_at(held.index, values) for values in self.degrees] == held.degrees(coins) and [
            _at(held.index, values) for values in self.squares
        ] == held.squares(coins)


def _at(point: int, values: list[int]) -> int:
    """The polynomial through values at 1, 2 and so on."""
    points = tuple(range(1, len(values) + 1))
    return int(dot(weights_at(point, points), elements(values)))


@dataclass(frozen=True, eq=False, repr=False)
class ShareDealing:
    """A dealer's bits and seed, as everybody's shares.

    Parameters
    ----------
    terms : OdoTerms
        Public. Of the round.
    rows : array of field elements, shape (parties, held)
        The shares of each party.
    seed : array of field elements
        With its nonce.
    """

    terms: OdoTerms
    rows: Elements
    seed: Elements

    @classmethod
    def of(cls, bits: Bits, terms: OdoTerms, numbers: Steps) -> ShareDealing:
        """Share these numbers and as many fresh coins as the terms ask for."""
        if numbers.shape != (terms.size,) or ((numbers < 0) | (numbers >> terms.width > 0)).any():
            obstacle = f"they are not {terms.size} numbers from 0 to {2**terms.width - 1}"
            raise ParameterError("numbers to share", obstacle, "Move them into that range.")
        tossed = np.unpackbits(packed_coins(bits, terms.coins, terms.size, 0.5), axis=1)[:, : terms.size]
        own = (numbers[None, :] >> np.arange(terms.width)[:, None]) & 1
        secrets = np.concatenate([own.reshape(-1), tossed.reshape(-1)]).astype(np.uint64)
        masks, seed = uniform_elements(bits, TESTS), uniform_elements(bits, terms.seeds + NONCE)
        double = Deal(terms.deal.parties, 2 * terms.faults)
        parts = (
            share(bits, np.append(secrets, masks), terms.deal),
            share(bits, np.zeros(TESTS, np.uint64), double),
            share(bits, seed, terms.deal),
        )
        rows = np.stack([np.concatenate([one.values for one in each]) for each in zip(*parts, strict=True)])
        return cls(terms, rows, seed)

    def held(self, index: int) -> HeldShares:
        """What the party of this index is to hold."""
        return HeldShares(self.terms, index, self.rows[index - 1])

    @property
    def commitment(self) -> bytes:
        """To the seed."""
        return committed(self.terms, self.seed)

    def proof(self, coins: PublicCoins) -> Proof:
        """From the dealer's own rows: a polynomial of degree d is known by its values at d + 1 points."""
        faults = self.terms.faults
        degrees = [self.held(index).degrees(coins) for index in range(1, faults + 2)]
        squares = [self.held(index).squares(coins) for index in range(1, 2 * faults + 2)]
        return Proof(*([list(values) for values in zip(*found, strict=True)] for found in (degrees, squares)))


def committed(terms: OdoTerms, seed: Elements) -> bytes:
    """A commitment to a seed and its nonce, for this round."""
    return sha256(framed(b"seed", terms.digest, seed.astype("<u8", copy=False).tobytes())).digest()
