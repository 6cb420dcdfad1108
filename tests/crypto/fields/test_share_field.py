"""Narrow fields against Python's integers: every operation, at the ends of the range and in between."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.crypto.fields.share_field import CHUNK, MIDDLE, NARROW, WIDE, ShareField, narrowest
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM

FIELDS = pytest.mark.parametrize("field", [NARROW, MIDDLE, WIDE], ids=lambda field: str(field.size))


def some(field: ShareField) -> list[int]:
    ends = [0, 1, 2, field.prime // 2, field.prime // 2 + 1, field.prime - 2, field.prime - 1]
    return ends + field.uniform(DeterministicBits(1), 40).tolist()


@FIELDS
def test_arithmetic_is_that_of_remainders(field: ShareField) -> None:
    values, p = some(field), field.prime
    a, b = (field.elements(one) for one in zip(*[(x, y) for x in values for y in values], strict=True))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert field.add(a, b).tolist() == [(x + y) % p for x, y in pairs]
    assert field.subtract(a, b).tolist() == [(x - y) % p for x, y in pairs]
    assert field.multiply(a, b).tolist() == [x * y % p for x, y in pairs]
    rows = np.stack([a, b, a, b, a, b, a, b, a])
    assert field.total(rows).tolist() == [(5 * x + 4 * y) % p for x, y in pairs]
    assert field.combined([1, -1, 3, 2**40, 0, p, 1, 1, 1], rows).tolist() == [
        (x - y + 3 * x + 2**40 * y + x + y + x) % p for x, y in pairs
    ]
    assert field.elements([-1, p, 2**70]).tolist() == [p - 1, 0, 2**70 % p]


@FIELDS
def test_dots_are_exact_over_several_chunks_of_the_largest_elements(field: ShareField) -> None:
    length = 2 * CHUNK + 7
    largest = np.full(length, field.prime - 1, field.dtype)
    drawn = field.uniform(DeterministicBits(2), 2, length)
    found = field.dots(np.stack([largest, drawn[0]]), [largest, drawn[1]])
    assert field.dots(drawn, []) == []
    vectors = [[int(value) for value in one] for one in (largest, drawn[0], drawn[1])]
    for row, other in enumerate((vectors[0], vectors[2])):
        for test, weights in enumerate(vectors[:2]):
            expected = sum(x * y for x, y in zip(weights, other, strict=True)) % field.prime
            assert found[row][test] == expected


@FIELDS
def test_elements_are_drawn_uniformly_and_below_the_prime(field: ShareField) -> None:
    drawn = field.uniform(DeterministicBits(3), 40_000)
    assert (drawn < field.prime).all()
    cells = (drawn.astype(np.float64) / field.prime * 16).astype(int)
    assert stats.chisquare(np.bincount(cells, minlength=16)).pvalue > ALARM
    assert (
        stats.chisquare(np.bincount(drawn.astype(np.uint64) & np.uint64(15), minlength=16).astype(int)).pvalue > ALARM
    )


class Top:
    """Words of ones alone, and zeros afterwards."""

    secret, given = False, 0

    def words(self, count: int) -> np.ndarray:
        self.given += 1
        return np.full(count, 2**64 - 1 if self.given == 1 else 0, np.uint64)


@FIELDS
def test_what_is_not_below_the_prime_is_drawn_again(field: ShareField) -> None:
    assert field.uniform(Top(), 5).tolist() == [0] * 5  # type: ignore[arg-type]


@FIELDS
def test_bytes_that_are_no_elements_are_not_read(field: ShareField) -> None:
    written = field.elements([0, field.prime - 1]).tobytes()
    assert field.read(written, 2) is not None
    for data in (
        written[:-1],
        written + b"\0",
        b"",
        b"\xff" * len(written),
        field.prime.to_bytes(field.size, "little") * 2,
    ):
        assert field.read(data, 2) is None


def test_the_narrowest_field_holds_the_sum() -> None:
    for field in (NARROW, MIDDLE, WIDE):
        assert narrowest(field.prime - 1) == field
        assert field.prime**field.tests > 2**119
    assert narrowest(NARROW.prime) == MIDDLE
    with pytest.raises(ParameterError, match="stay below"):
        narrowest(WIDE.prime)
