"""What is public of a key: whoever has it computes with ciphertexts, encrypts queries, and reads nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.match_parameters import DEGREE, MatchParameters, Vectors
from discreet.crypto.matching.residues import AGAIN
from discreet.crypto.matching.seal_forms import DIGITS, ciphertext_bytes, key_size, public_of, switching_of
from discreet.crypto.matching.seal_stream import Seal, seal
from discreet.crypto.messages import framed, split

VERSION = b"discreet matching keys 1"
TURN = 3  # the power that a rotation by one slot substitutes


def rotations(parameters: MatchParameters) -> list[int]:
    """By how many slots keys rotate: the powers of two up to the width."""
    return [1 << place for place in range(parameters.width.bit_length())]


def galois_elements(parameters: MatchParameters) -> list[int]:
    """The powers that these rotations substitute, in the order in which SEAL keeps their keys."""
    return sorted(pow(TURN, steps, 2 * DEGREE) for steps in rotations(parameters))


@dataclass(frozen=True)
class EvaluationKeys:
    """The public part of a key for matching: for the keeper of a gallery, and for whoever asks without the secret key.

    Parameters
    ----------
    parameters : MatchParameters
        Public.
    public, relinearisation, rotation : bytes
        Public. The keys, as `MatchingKey.drawn` makes them.
    """

    parameters: MatchParameters
    public: bytes = field(repr=False)
    relinearisation: bytes = field(repr=False)
    rotation: bytes = field(repr=False)

    def __post_init__(self) -> None:
        size = key_size(self.parameters.engine)
        needed = (size, DIGITS * size, DIGITS * size * len(rotations(self.parameters)))
        if (len(self.public), len(self.relinearisation), len(self.rotation)) != needed:
            raise ParameterError("matching keys", "they have other lengths than keys have", "Give what was drawn.")

    @cached_property
    def digest(self) -> bytes:
        """A hash of all of it, in 32 bytes: the name of the key."""
        return sha256(self.to_bytes()).digest()

    def sealed(self, values: Vectors, scale: float) -> bytes:
        """Numbers in slots, encrypted under the public key."""
        found = seal().Ciphertext()
        self.encryptor.encrypt(self.parameters.encoded(values, scale), found)
        return ciphertext_bytes(self.parameters.engine, found)

    @cached_property
    def encryptor(self) -> Seal:
        """Encrypts under the public key."""
        engine = self.parameters.engine
        return seal().Encryptor(engine.context, public_of(engine, self.public))

    @cached_property
    def relinearising(self) -> Seal:
        """Brings a product back to two polynomials."""
        return switching_of(self.parameters.engine, seal().RelinKeys, self.relinearisation, [0], 1)

    @cached_property
    def rotating(self) -> Seal:
        """Rotates slots."""
        places = [(one - 1) // 2 for one in galois_elements(self.parameters)]
        return switching_of(self.parameters.engine, seal().GaloisKeys, self.rotation, places, DEGREE)

    def to_bytes(self) -> bytes:
        """The form in which it is given away."""
        return framed(VERSION, self.parameters.to_bytes(), self.public, self.relinearisation, self.rotation)

    @classmethod
    def from_bytes(cls, data: bytes) -> EvaluationKeys:
        """The keys in these bytes; each number in them is checked before SEAL reads it."""
        version, parameters, *keys = split(data, 5)
        if version != VERSION:
            raise Malformed("matching keys", "they have another version, or are none", AGAIN, UNOPENED)
        try:
            found = cls(MatchParameters.from_bytes(parameters), *keys)
        except ParameterError as why:
            raise Malformed("matching keys", why.obstacle, why.remedy, UNOPENED) from why
        _ = found.encryptor, found.relinearising, found.rotating
        return found
