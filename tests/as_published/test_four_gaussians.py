"""The published protocol adds up what it should; its noise looks like Laplace noise, and is told apart by residues."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import stats

from discreet.as_published.four_gaussians import FourGaussianUser
from discreet.core.errors import ParameterError
from discreet.crypto.paillier import public_key
from discreet.crypto.paillier.decryptor import Decryptor, opened
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.paillier.threshold_key import dealt_from
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import rounded_gaussian
from tests.crypto.paillier.small_keys import small_key


@pytest.fixture(autouse=True, scope="module")
def short_keys() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public_key, "LEAST", 256)
        yield


def test_two_rounds_open_the_sum_with_the_squares_of_sums_that_nobody_knew() -> None:
    key, users, size = small_key(), 4, 3
    shares = dealt_from(key, ("ann", "bob", "cas"), 2, "dora")
    own = np.random.default_rng(0).integers(-(2**40), 2**40, (users, size))
    all_users = [FourGaussianUser(one, 2.0**30, users, key.public) for one in own]
    sums = EncryptedArray.total(user.first() for user in all_users)
    assert len(sums.ciphertexts) == 4 * size
    total = EncryptedArray.total(user.second(sums, users) for user in all_users)
    parts = [Decryptor(shares[name]).partial("s1", total) for name in ("ann", "cas")]
    found = opened(shares["ann"].key, "s1", total, parts)[0]
    squares = np.square(np.sum([user.shares for user in all_users], axis=0).astype(object))
    assert (found == own.sum(axis=0) + squares[0] + squares[1] - squares[2] - squares[3]).all()


def noise(scale: float, users: int, count: int) -> np.ndarray:
    bits = DeterministicBits(0)
    sums = sum(rounded_gaussian(bits, (4, count), math.sqrt(scale / (2 * users))) for _ in range(users))
    squares = np.square(np.asarray(sums))
    return np.asarray(squares[0] + squares[1] - squares[2] - squares[3])


def test_its_noise_looks_like_laplace_noise() -> None:
    scale = 2.0**30
    assert stats.kstest(noise(scale, 10, 20_000) / scale, "laplace").pvalue > 1e-6


def test_residues_betray_two_steps_at_a_loss_of_ln_3_at_any_scale() -> None:
    """By the exact law of the residues modulo 4, and by draws: three times as many are 0 as 2."""
    for scale in (2.0**7, 2.0**30):
        root = math.sqrt(scale / 2)
        reach = np.arange(-int(9 * root), int(9 * root) + 1) if root < 1000 else None
        odd = 0.5 if reach is None else float(stats.norm(scale=root).pdf(reach)[reach % 2 == 1].sum())
        one = np.array([1 - odd, odd, 0.0, 0.0])  # squares are 0 or 1 modulo 4
        law = np.fft.ifft(np.fft.fft(one) ** 2 * np.conj(np.fft.fft(one)) ** 2).real
        np.testing.assert_allclose(law, [3 / 8, 1 / 4, 1 / 8, 1 / 4], atol=1e-6)
        assert math.log(law[0] / law[2]) == pytest.approx(math.log(3), abs=1e-5)
        drawn = np.bincount(noise(scale, 5, 20_000) % 4, minlength=4) / 20_000
        np.testing.assert_allclose(drawn, law, atol=5 * math.sqrt(0.25 / 20_000))


def test_what_cannot_be_added_is_refused() -> None:
    key = small_key().public
    for vector in (np.array([0.5]), np.array([[1]]), np.array([], int), np.array([2**62])):
        with pytest.raises(ParameterError, match="none of integers"):
            FourGaussianUser(vector, 100.0, 2, key)
    with pytest.raises(ParameterError, match="scale is"):
        FourGaussianUser(np.array([1]), 2.0**60, 2, key)
