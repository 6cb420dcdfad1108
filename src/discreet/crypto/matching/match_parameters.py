"""What a gallery, its keys and its queries have in common: the scheme, and how many numbers a template has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.checks import check_one_of, check_whole
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.residues import packed_size
from discreet.crypto.matching.seal_stream import SEED, Seal, seal

ASKED = "matching"
MatchScheme = Literal["ckks", "bfv"]
DEGREE = 4096
PRIMES = (
    36,
    36,
    37,
)  # bits; the last serves the keys alone: 109 in all, the most of this degree for 128 bits of security
PLAIN_BITS = 20  # of the prime that exact scores are computed modulo
ROW = DEGREE // 2  # slots that a rotation goes round
MOST = 1024  # numbers of a template
TEMPLATE_SCALE, QUERY_SCALE, STRANGERS_SCALE = 2.0**30.5, 2.0**39.5, 2.0**35
"""Together 2**70, so that scores up to 2 do not wrap round; a stranger's query is squared, too. See `matching.md`."""
LARGEST, WIDTH, MOST_STEPS = 127, 4.0, 340.0
Vectors = NDArray[np.float64]


@dataclass(frozen=True)
class MatchParameters:
    """The scheme, and how many numbers a template has.

    Templates are compared as directions: each is divided by its length, and a score is the cosine of the angle between
    two.

    Parameters
    ----------
    dimensions : int
        Public. How many numbers a template has, from 2 to 1024. Time and room grow with the next power of two.
    scheme : {"ckks", "bfv"}
        Public. Scores within 1e-6; or scores of templates rounded to 8 bits, which are exact, at nine times the time.

    Examples
    --------
    >>> MatchParameters(64).capacity, MatchParameters(64, "bfv").capacity
    (2048, 4096)
    """

    dimensions: int
    scheme: MatchScheme = "ckks"

    def __post_init__(self) -> None:
        check_whole(ASKED, "dimensions", self.dimensions, 2, MOST)
        check_one_of(ASKED, "scheme", self.scheme, get_args(MatchScheme))
        object.__setattr__(self, "dimensions", int(self.dimensions))

    @property
    def width(self) -> int:
        """The ciphertexts of a block of templates."""
        return 1 << (self.dimensions - 1).bit_length()

    @property
    def capacity(self) -> int:
        """The templates of a block."""
        return ROW if self.scheme == "ckks" else DEGREE

    @property
    def steps(self) -> float:
        """How many steps a number of 1 has, where templates are rounded: few, so that no score wraps round."""
        return min(LARGEST * math.sqrt(self.width) / WIDTH, MOST_STEPS)

    @property
    def precision(self) -> float:
        """How far a score is from that of the same templates, at most: 7 deviations of the error of the worst slot."""
        return 1e-6 if self.scheme == "ckks" else 0.0

    @property
    def transformed(self) -> bool:
        """Whether ciphertexts are kept as SEAL multiplies them."""
        return self.scheme == "ckks"

    def to_bytes(self) -> bytes:
        return f"{self.scheme} {self.dimensions}".encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> MatchParameters:
        """The parameters in these bytes."""
        scheme, _, dimensions = data[:32].decode(errors="replace").partition(" ")
        if not (dimensions.isascii() and dimensions.isdecimal()) or len(data) > 32:
            raise Malformed(ASKED, "its parameters cannot be read", "Give what was written.", UNOPENED)
        try:
            return cls(int(dimensions), scheme)  # type: ignore[arg-type]
        except ParameterError as why:
            raise Malformed(ASKED, why.obstacle, why.remedy, UNOPENED) from why

    def directions(self, vectors: ArrayLike) -> Vectors:
        """Templates divided by their lengths, one in each row, with zeros up to the width."""
        given = np.asarray(vectors)
        if given.dtype.kind not in "iuf" or given.ndim not in (1, 2) or given.shape[-1] != self.dimensions:
            obstacle = f"templates have type {given.dtype} and shape {given.shape}"
            raise ParameterError(ASKED, obstacle, f"Give rows of {self.dimensions} numbers.", UNSEALED)
        rows = np.atleast_2d(given).astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.abs(rows).max(axis=1, initial=0.0)
            fine = np.isfinite(largest) & (largest > 0)
        if not rows.shape[0] or not fine.all():
            remedy = "Give finite numbers that are not all zero."
            raise ParameterError(ASKED, "a template has no direction", remedy, UNSEALED)
        rows = rows / largest[:, None]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.pad(rows, ((0, 0), (0, self.width - self.dimensions)))

    def comparable(self, vectors: ArrayLike) -> Vectors:
        """The directions, as they are compared: under "bfv" in whole steps."""
        directions = self.directions(vectors)
        if self.scheme == "ckks":
            return directions
        return np.clip(np.rint(directions * self.steps), -LARGEST, LARGEST)

    def score(self, found: Vectors) -> Vectors:
        """Cosines, from products of what is compared."""
        return found if self.scheme == "ckks" else found / self.steps**2

    @property
    def longest(self) -> float:
        """The largest score of two directions as they are compared: rounding makes a vector longer."""
        return 1.0 if self.scheme == "ckks" else (1 + math.sqrt(self.width) / 2 / self.steps) ** 2

    def encoded(self, values: Vectors, scale: float) -> Seal:
        """A plaintext with these numbers in its slots."""
        found = seal().Plaintext()
        if self.scheme == "ckks":
            self.engine.encoder.encode(values.tolist(), scale, found)
        else:
            self.engine.encoder.encode(values.astype(np.int64).tolist(), found)
        return found

    def decoded(self, plain: Seal) -> Vectors:
        """The numbers in the slots of a plaintext, as they were compared."""
        return self.decoded_complex(plain).real.copy()

    def decoded_complex(self, plain: Seal) -> NDArray[np.complex128]:
        """The same with imaginary parts, which are zero where nobody cheats."""
        encoder = self.engine.encoder
        found = encoder.decode_complex(plain) if self.scheme == "ckks" else encoder.decode_int64(plain)
        return np.array(found, np.complex128)

    @property
    def engine(self) -> SealEngine:
        """What computes; made once for each scheme."""
        return _engine(self.scheme)

    @property
    def sealed_size(self) -> int:
        """The bytes of a ciphertext by anybody."""
        return packed_size(self.engine.data_primes, 2, DEGREE)

    @property
    def seeded_size(self) -> int:
        """The bytes of a ciphertext by the owner of the key: half of it is expanded from a seed."""
        return packed_size(self.engine.data_primes, 1, DEGREE) + SEED

    @property
    def answer_size(self) -> int:
        """The bytes of a ciphertext of scores."""
        return packed_size(self.engine.data_primes[:1], 2, DEGREE)

    def reduced_scale(self, query_scale: float) -> float:
        """The scale of scores, after the last prime was divided out."""
        if self.scheme == "bfv":
            return 1.0
        return TEMPLATE_SCALE * query_scale / self.engine.data_primes[-1]

    @property
    def square_scale(self) -> float:
        """The scale of the squared length of a stranger's query, likewise."""
        return 1.0 if self.scheme == "bfv" else STRANGERS_SCALE**2 / self.engine.data_primes[-1]


UNSEALED = "Nothing was encrypted."


class SealEngine:
    """SEAL, set up for one scheme.

    Parameters
    ----------
    scheme : {"ckks", "bfv"}
        Public.
    """

    def __init__(self, scheme: MatchScheme) -> None:
        api = seal()
        parameters = api.EncryptionParameters(getattr(api.SCHEME_TYPE, scheme.upper()))
        parameters.set_poly_modulus_degree(DEGREE)
        parameters.set_coeff_modulus(api.CoeffModulus.Create(DEGREE, list(PRIMES)))
        if scheme == "bfv":
            parameters.set_plain_modulus(api.PlainModulus.Batching(DEGREE, PLAIN_BITS))
        self.context = api.SEALContext(parameters, True, api.SEC_LEVEL_TYPE.TC128)
        self.primes = tuple(int(one.value()) for one in parameters.coeff_modulus())
        self.evaluator = api.Evaluator(self.context)
        self.encoder: Any = (api.CKKSEncoder if scheme == "ckks" else api.BatchEncoder)(self.context)

    @property
    def data_primes(self) -> tuple[int, ...]:
        """Those of ciphertexts."""
        return self.primes[:-1]

    @cached_property
    def levels(self) -> dict[int, bytes]:
        """The names of the levels, by how many primes they have."""
        ids = (self.context.key_parms_id(), self.context.first_parms_id(), self.context.last_parms_id())
        return {primes: np.array(one, "<u8").tobytes() for primes, one in zip((3, 2, 1), ids, strict=True)}


@cache
def _engine(scheme: MatchScheme) -> SealEngine:
    return SealEngine(scheme)
