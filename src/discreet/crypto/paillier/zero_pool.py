"""Encryptions of zero that were made before they are needed: a pool, which runs dry."""

from __future__ import annotations

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.paillier.big_integers import Big
from discreet.crypto.paillier.public_key import Encryptor, PublicKey
from discreet.noise.system_bits import system_bits

MOST = 2**22


class ZeroPool(Held):
    """Work that is done beforehand: with a full pool, a number is encrypted by one product.

    This moves work and saves none. Every zero is used once, since two ciphertexts with one zero show the difference of
    what is in them; so a pool is neither copied nor pickled, and not used in a fork.

    Parameters
    ----------
    by : PublicKey or PrivateKey
        Who makes the zeros.
    bits : Bits, optional
        Where they come from; the operating system's where not given.

    Examples
    --------
    >>> from discreet.crypto.paillier.private_key import PrivateKey
    >>> pool = ZeroPool(PrivateKey.drawn(2048, "subgroup"))
    >>> pool.fill(2)
    >>> pool
    ZeroPool(2 encryptions of zero, made beforehand)
    """

    def __init__(self, by: Encryptor, bits: Bits | None = None) -> None:
        self._by, self._bits = by, bits or system_bits()
        self._left: list[Big] = []

    @property
    def public(self) -> PublicKey:
        return self._by.public

    @property
    @exclusive
    def left(self) -> int:
        """How many ciphertexts can be made."""
        return len(self._left)

    @exclusive
    def fill(self, count: int) -> None:
        """Make this many more."""
        check_whole("pool", "count", count, 0, MOST - len(self._left))
        self._left += self._by.zeros(int(count), self._bits)

    @exclusive
    def zeros(self, count: int, bits: Bits) -> list[Big]:
        """Zeros that nobody has had; all at once or none. Their randomness is the pool's own."""
        if count > len(self._left):
            raise ParameterError(
                "pool",
                f"{count} ciphertexts are needed and {len(self._left)} are left",
                "Fill it.",
                left=len(self._left),
            )
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def __repr__(self) -> str:
        return f"ZeroPool({self.left} encryptions of zero, made beforehand)"
