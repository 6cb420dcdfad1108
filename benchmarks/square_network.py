"""The network that GELU-Net is compared with: all of it under CKKS, with squares in place of activations.

Every input is a ciphertext with a slot for each of up to 4,096 records (as CryptoNets has it): a weight multiplies a
whole ciphertext, and no rotation is needed. So a batch costs the same, whether it has one record or all. Some outputs
of a layer are computed, and the time of all follows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

DEGREE, MODULUS, SCALE = 8192, [50, 35, 35, 35, 50], 2.0**35  # 205 bits, where 218 are allowed for 128 bits of security
SLOTS = DEGREE // 2
TRIED = 3  # outputs of the first layer that are computed


@dataclass(frozen=True)
class SquareTimes:
    """Seconds of one batch, for the parts of a forward pass; and the error of what was computed."""

    encrypt: float
    first: float
    squares: float
    second: float
    decrypt: float
    error: float

    @property
    def total(self) -> float:
        return self.encrypt + self.first + self.squares + self.second + self.decrypt


class Ckks:
    """A context with keys, and its parts."""

    def __init__(self) -> None:
        import tenseal.sealapi as seal

        self.seal = seal
        parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
        parameters.set_poly_modulus_degree(DEGREE)
        parameters.set_coeff_modulus(seal.CoeffModulus.Create(DEGREE, MODULUS))
        self.context = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)
        keys = seal.KeyGenerator(self.context)
        public, self.relin = seal.PublicKey(), seal.RelinKeys()
        keys.create_public_key(public)
        keys.create_relin_keys(self.relin)
        self.encoder, self.evaluator = seal.CKKSEncoder(self.context), seal.Evaluator(self.context)
        self.encryptor = seal.Encryptor(self.context, public)
        self.decryptor = seal.Decryptor(self.context, keys.secret_key())

    def sealed(self, values: list[float]) -> Any:
        plain, found = self.seal.Plaintext(), self.seal.Ciphertext()
        self.encoder.encode(values, SCALE, plain)
        self.encryptor.encrypt(plain, found)
        return found

    def weighted(self, given: list[Any], weights: list[float]) -> Any:
        """The sum of ciphertexts times numbers, back at the scale."""
        found: Any = None
        for one, weight in zip(given, weights, strict=True):
            plain, product = self.seal.Plaintext(), self.seal.Ciphertext()
            self.encoder.encode(weight, one.parms_id(), SCALE, plain)
            self.evaluator.multiply_plain(one, plain, product)
            if found is None:
                found = product
            else:
                self.evaluator.add_inplace(found, product)
        self.evaluator.rescale_to_next_inplace(found)
        found.scale = SCALE
        return found

    def squared(self, given: Any) -> Any:
        found = self.seal.Ciphertext()
        self.evaluator.square(given, found)
        self.evaluator.relinearize_inplace(found, self.relin)
        self.evaluator.rescale_to_next_inplace(found)
        found.scale = SCALE
        return found

    def opened(self, given: Any) -> np.ndarray:
        plain = self.seal.Plaintext()
        self.decryptor.decrypt(given, plain)
        return np.array(self.encoder.decode_double(plain))


def square_times(inputs: int, hidden: int, outputs: int) -> SquareTimes:
    """A forward pass of a network of these sizes, for a full batch of 4,096 records or any smaller one."""
    own, draw = Ckks(), np.random.default_rng(0)
    records, weights = draw.uniform(0, 1, (SLOTS, inputs)), draw.normal(0, 0.03, (inputs, hidden))
    last = draw.normal(0, 0.1, (hidden, outputs))
    start = time.process_time()
    sealed = [own.sealed(column.tolist()) for column in records.T]
    encrypted = time.process_time()
    first = [own.weighted(sealed, weights[:, place].tolist()) for place in range(TRIED)]
    multiplied = time.process_time()
    squares = [own.squared(one) for one in first]
    squared = time.process_time()
    found = own.weighted([squares[place % TRIED] for place in range(hidden)], last[:, 0].tolist())
    added = time.process_time()
    opened = own.opened(found)
    done = time.process_time()
    given = (records @ weights[:, :TRIED]) ** 2
    wanted = sum(given[:, place % TRIED] * last[place, 0] for place in range(hidden))
    return SquareTimes(
        encrypted - start,
        (multiplied - encrypted) * hidden / TRIED,
        (squared - multiplied) * hidden / TRIED,
        (added - squared) * outputs,
        (done - added) * outputs,
        float(np.abs(opened - wanted).max()),
    )
