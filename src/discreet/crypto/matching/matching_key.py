"""The secret key of a gallery: draws, encrypts templates and queries, and opens scores."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.evaluation_keys import EvaluationKeys, galois_elements
from discreet.crypto.matching.match_parameters import MatchParameters, Vectors
from discreet.crypto.matching.residues import AGAIN
from discreet.crypto.matching.seal_forms import (
    public_bytes,
    secret_bytes,
    secret_of,
    seeded_bytes,
    switching_bytes,
)
from discreet.crypto.matching.seal_stream import Seal, seal
from discreet.crypto.messages import framed, split

VERSION = b"discreet matching secret key 1"
TESTED = 16  # slots that are encrypted and decrypted to see whether two halves of a key belong together


class MatchingKey:
    """A secret key, and what is public of it.

    It is never printed, copied or pickled. `discreet.service.key_file` keeps it in a file of its owner's alone. SEAL
    draws it, and the randomness of ciphertexts, from the operating system.

    Parameters
    ----------
    keys : EvaluationKeys
        Public.
    secret : bytes
        The secret part, as it was drawn.

    Examples
    --------
    >>> key = MatchingKey.drawn(MatchParameters(8))
    >>> key
    MatchingKey(8 dimensions, ckks)
    """

    def __init__(self, keys: EvaluationKeys, secret: bytes) -> None:
        self.keys, self._secret = keys, secret
        engine = keys.parameters.engine
        self._own = secret_of(engine, secret)
        shown = np.resize(np.arange(1.0, TESTED + 1), self.parameters.capacity)
        sealed = seal().Ciphertext()
        keys.encryptor.encrypt(self.parameters.encoded(shown, 2.0**40), sealed)
        if not np.allclose(self.opened(sealed), shown, atol=1e-3):
            raise ParameterError("matching key", "its halves do not belong together", "Give a key that was drawn.")

    @classmethod
    def drawn(cls, parameters: MatchParameters) -> MatchingKey:
        """A fresh key for these parameters."""
        api, engine = seal(), parameters.engine
        maker = api.KeyGenerator(engine.context)
        public, relinearisation, rotation = api.PublicKey(), api.RelinKeys(), api.GaloisKeys()
        maker.create_public_key(public)
        maker.create_relin_keys(relinearisation)
        elements = galois_elements(parameters)
        maker.create_galois_keys(elements, rotation)
        keys = EvaluationKeys(
            parameters,
            public_bytes(engine, public),
            switching_bytes(engine, relinearisation, [0]),
            switching_bytes(engine, rotation, [(one - 1) // 2 for one in elements]),
        )
        return cls(keys, secret_bytes(engine, maker.secret_key()))

    @property
    def parameters(self) -> MatchParameters:
        return self.keys.parameters

    def sealed(self, values: Vectors, scale: float) -> bytes:
        """Numbers in slots, encrypted; half of the ciphertext is a seed."""
        plain = self.parameters.encoded(values, scale)
        return seeded_bytes(self.parameters.engine, self._encryptor.encrypt_symmetric(plain))

    def opened(self, sealed: Seal) -> Vectors:
        """What is in the slots of a ciphertext.

        Under "ckks" it has the errors of the ciphertext in its last digits, and these tell of the secret key whoever
        also has the ciphertext (Li and Micciancio 2021): only rounded numbers and decisions may leave the key's owner.
        """
        return self.opened_complex(sealed).real.copy()

    def opened_complex(self, sealed: Seal) -> NDArray[np.complex128]:
        """The same with imaginary parts, which are zero where nobody cheats."""
        plain = seal().Plaintext()
        self._decryptor.decrypt(sealed, plain)
        return self.parameters.decoded_complex(plain)

    @cached_property
    def _encryptor(self) -> Seal:
        return seal().Encryptor(self.parameters.engine.context, self._own)

    @cached_property
    def _decryptor(self) -> Seal:
        return seal().Decryptor(self.parameters.engine.context, self._own)

    def to_bytes(self) -> bytes:
        """The secret form, with a version: for its owner's file alone."""
        return framed(VERSION, self.keys.to_bytes(), self._secret)

    @classmethod
    def from_bytes(cls, data: bytes) -> MatchingKey:
        """The key in these bytes."""
        version, keys, secret = split(data, 3)
        if version != VERSION:
            raise Malformed("matching key", "it has another version, or is none", AGAIN, UNOPENED)
        try:
            return cls(EvaluationKeys.from_bytes(keys), secret)
        except ParameterError as why:
            raise Malformed("matching key", why.obstacle, why.remedy, UNOPENED) from why

    def __repr__(self) -> str:
        return f"MatchingKey({self.parameters.dimensions} dimensions, {self.parameters.scheme})"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("MatchingKey holds a secret and is neither copied nor pickled")
