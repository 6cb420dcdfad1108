from __future__ import annotations

import copy

import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.paillier.encrypted_array import encrypt
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.zero_pool import ZeroPool
from tests.crypto.paillier.small_keys import small_key

KEY, PACKING = small_key(), Packing(-9, 9)


def test_a_pool_says_that_it_is_one_and_runs_dry_whole() -> None:
    pool = ZeroPool(KEY.public)
    pool.fill(3)
    assert repr(pool) == "ZeroPool(3 encryptions of zero, made beforehand)"
    one, two = encrypt([5], PACKING, pool), encrypt([5], PACKING, pool)
    assert one.ciphertexts != two.ciphertexts
    assert KEY.decrypt(one).tolist() == KEY.decrypt(two).tolist() == [5]
    with pytest.raises(ParameterError, match="2 ciphertexts are needed and 1 are left"):
        encrypt([[1, 2]], PACKING, pool)
    assert pool.left == 1


def test_no_zero_is_used_twice() -> None:
    pool = ZeroPool(KEY)
    pool.fill(20)
    used = [encrypt([0], PACKING, pool).ciphertexts[0] for _ in range(20)]
    assert len(set(used)) == 20
    assert pool.left == 0
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        copy.copy(pool)
