"""Logarithms of uniform numbers: correctly rounded, with every exponent."""

from __future__ import annotations

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats

from discreet.noise import log_uniform as subject
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.log_uniform import extended, log_uniform, logarithms
from tests.noise.fit import ALARM, ScriptedBits


def exact(digits: int, exponent: int) -> float:
    """Rounded by another library, with 60 digits."""
    with mpmath.workdps(60):
        return float(mpmath.log(mpmath.mpf(digits) / mpmath.mpf(2) ** (52 + exponent)))


def numbers(count: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    digits = generator.integers(2**52, 2**53, count, dtype=np.uint64)
    digits[: count // 4] = np.uint64(2**53) - np.arange(1, count // 4 + 1, dtype=np.uint64)
    exponents = generator.geometric(0.5, count)
    exponents[: count // 4], exponents[-3:] = 1, (900, 1074, 5000)
    return digits, exponents


def test_logarithms_are_rounded_to_the_nearest_float() -> None:
    digits, exponents = numbers(1500)
    found = logarithms(digits, exponents)
    assert found.tolist() == [exact(int(d), int(e)) for d, e in zip(digits, exponents, strict=True)]


def test_without_extended_precision_they_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    digits, exponents = numbers(200)
    usual = logarithms(digits, exponents)
    monkeypatch.setattr(subject, "extended", lambda: False)
    assert logarithms(digits, exponents).tolist() == usual.tolist()


def test_a_logarithm_that_cannot_be_trusted_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    right = np.log
    extended.cache_clear()
    monkeypatch.setattr(np, "log", lambda x: right(x) * (1 + 1e-17 * np.longdouble(x.size)))
    assert not extended()
    monkeypatch.undo()
    extended.cache_clear()


def test_draws_have_the_exponential_law() -> None:
    draws = -log_uniform(DeterministicBits(1), 200_000)
    assert stats.kstest(draws, "expon").pvalue > ALARM


def test_there_is_no_least_number() -> None:
    """Bits that are all zero at first: 53 of the word, 64 more, and a one."""
    bits = ScriptedBits([0, 0], [0, 1 << 63])
    assert log_uniform(bits, 1)[0] == exact(2**52, 53 + 64 + 1)
