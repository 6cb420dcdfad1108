"""Plans count what is then made, to the ciphertext."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.paillier.encrypted_array import encrypt
from discreet.crypto.paillier.linear import products_needed
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.work_plan import plan_decryption, plan_encryption, plan_product
from tests.crypto.paillier.small_keys import small_key

KEY, PACKING = small_key(), Packing(-9, 9, headroom=1000)


@pytest.mark.parametrize("shape", [(1,), (100,), (31, 4), (5, 2, 3)])
def test_ciphertexts_and_bytes_are_those_that_are_made(shape: tuple[int, ...]) -> None:
    made = encrypt(np.zeros(shape, int), PACKING, KEY)
    for by in (KEY, KEY.public):
        plan = plan_encryption(by, shape, PACKING)
        assert plan.ciphertexts == len(made.ciphertexts)
        assert 0 <= plan.bytes - len(made.to_bytes()) < 400
        assert 0 < plan.seconds < 1
    assert plan_decryption(KEY.public, shape, PACKING).ciphertexts == len(made.ciphertexts)
    assert str(plan).startswith(f"{plan.ciphertexts} ciphertexts, ")


def test_products_are_counted_too() -> None:
    product = encrypt(np.zeros((100, 4), int), PACKING, KEY) @ np.ones((4, 3), int)
    plan = plan_product(KEY.public, (100, 4), 3, 1, PACKING)
    assert plan.ciphertexts == len(product.ciphertexts)
    assert products_needed(784, 128, 10) < 784 * 128 * 3
    assert plan_product(KEY.public, (100, 4), 30, 9, PACKING).seconds > plan.seconds
    for shape in ((), (0,), (2.5,)):
        with pytest.raises(ParameterError):
            plan_encryption(KEY, shape, PACKING)  # type: ignore[arg-type]
