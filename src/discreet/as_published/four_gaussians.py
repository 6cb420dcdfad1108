"""The noise of Rastogi and Nath 2010 as it was published: four Gaussian sums that are squared under encryption.

Laplace noise of scale b is Y1**2 + Y2**2 - Y3**2 - Y4**2 for independent Gaussian Y of variance b / 2. Every user has a
share of each Y, and nobody knows a whole one. A square of a sum takes a second round:

    round   a user sends                                           the aggregator computes
    1       Enc(y1), ..., Enc(y4), its shares                      Enc(Y1), ..., Enc(Y4), the sums
    2       Enc(Y1)**y1 Enc(Y2)**y2 Enc(Y3)**-y3 Enc(Y4)**-y4      the product of all: Enc of the sum of all x, and
            Enc(x), made fresh                                     the noise

Users follow the protocol; there are no proofs. Holders of the key open the last product (`Decryptor`).

IT KEEPS NO PROMISE. Ciphertexts hold whole numbers, so shares must be rounded. The noise is then a difference of sums
of two squares, and such numbers are not spread evenly over the residues: 3/8 of them are 0 modulo 4, and 1/8 are 2. Two
totals that differ by two steps are thus told apart with a loss of ln 3, however large the scale is and however fine the
steps are; `tests/as_published/test_four_gaussians.py` computes it. Use the scheme "paillier", whose Polya shares are
exact, and which needs one round and one ciphertext for all numbers.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.core.held import Held, exclusive
from discreet.crypto.paillier.encrypted_array import EncryptedArray, encrypt
from discreet.crypto.paillier.packing import Packing, StepInterval
from discreet.crypto.paillier.public_key import PublicKey
from discreet.noise.gaussian import rounded_gaussian
from discreet.noise.system_bits import system_bits

ASKED = "four Gaussians"
FARTHEST = 2**31  # steps of a share
LARGEST = 2**62  # steps of a user's own number
SIGNS = (1, 1, -1, -1)
PACKING = Packing(-FARTHEST, FARTHEST, headroom=2**80)


class FourGaussianUser(Held):
    """One user of the protocol: NOT PRIVATE as it is, see above; for study.

    Parameters
    ----------
    vector : array of int
        The user's own numbers, in steps.
    scale : float
        Public. Of the Laplace noise, in steps; at most 2**50.
    honest : int
        Public. Over how many users the noise is shared.
    key : PublicKey
        Public. Whose holders open the total.
    bits : Bits, optional
        Where the shares come from; the operating system's where not given.

    Examples
    --------
    >>> from discreet.crypto.paillier.private_key import PrivateKey
    >>> key = PrivateKey.drawn(2048, "subgroup")
    >>> ann, bob = (FourGaussianUser(np.array([number]), 1e6, 2, key.public) for number in (3, 4))
    >>> sums = ann.first() + bob.first()
    >>> total = key.decrypt(ann.second(sums, 2) + bob.second(sums, 2))
    >>> y = ann.shares + bob.shares
    >>> int(total[0, 0]) == 7 + int(y[0, 0] ** 2 + y[1, 0] ** 2 - y[2, 0] ** 2 - y[3, 0] ** 2)
    True
    """

    def __init__(self, vector: Steps, scale: float, honest: int, key: PublicKey, bits: Bits | None = None) -> None:
        check_positive(ASKED, "scale", scale, 1.0, 2.0**50)
        check_whole(ASKED, "honest", honest, 1, 2**20)
        own = np.asarray(vector)
        if own.ndim != 1 or not own.size or own.dtype.kind not in "iu" or np.abs(own).max() >= LARGEST:
            raise ParameterError(ASKED, "the vector is none of integers below 2**62", "Give steps of a grid.")
        self._own, self._key, self._bits = own.astype(object), key, bits or system_bits()
        self.shares = rounded_gaussian(self._bits, (4, own.size), math.sqrt(scale / (2 * honest)))
        """Secret: shown for study."""

    @exclusive
    def first(self) -> EncryptedArray:
        """The shares of all four sums, a ciphertext for each number."""
        return encrypt(self.shares.reshape(1, -1), PACKING, self._key, self._bits)

    @exclusive
    def second(self, sums: EncryptedArray, users: int) -> EncryptedArray:
        """Own numbers, and own shares times the sums that nobody knows."""
        size = self._own.size
        weights = np.zeros((4 * size, size), dtype=object)
        for place, sign in enumerate(SIGNS):
            for column, share in enumerate(self.shares[place].tolist()):
                weights[place * size + column, column] = sign * share
        most = 4 * users * FARTHEST**2 + LARGEST
        return (sums @ weights + self._own[None]).refreshed(bits=self._bits, interval=StepInterval(-most, most))
