"""Every class whose reports are added up refuses those that no device can make, whoever sends them.

A report that is counted all the same, whatever its bytes are, counts for no more than a few honest ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.randomizer import HEADER, Randomizer, Reports
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.walk import for_each, public_classes, randomizers

FEW = 4.0  # honest reports that one message may count for
every = for_each(randomizers())


def honest(randomizer: Randomizer, count: int = 200) -> Reports:
    """Reports of both values of the worst pair."""
    pair = randomizer.worst_pair
    return randomizer.reports([pair.first, pair.second] * count, DeterministicBits(11))


def bodies(randomizer: Randomizer) -> Iterator[bytes]:
    """Extreme bytes, extreme numbers, honest reports with one byte or number that is not, and random bytes."""
    size, base = randomizer.form.itemsize, randomizer.form.base
    yield from (bytes([byte]) * size for byte in (0, 1, 0x7F, 0x80, 0xFE, 0xFF))
    rng, right = np.random.default_rng(12), np.ascontiguousarray(honest(randomizer, 10)[0])
    yield from (rng.bytes(size) for _ in range(40))
    for place in rng.integers(0, size, 20):
        for byte in (0, 0x7F, 0x80, 0xFF):
            yield right.tobytes()[:place] + bytes([byte]) + right.tobytes()[place + 1 :]
    if base.kind in "iu":
        limits = np.iinfo(base)
        for times in (2, 5, 30, -30):
            yield np.clip(right.astype(np.float64) * times, limits.min, limits.max).astype(base).tobytes()


@every
def test_no_message_counts_for_more_than_a_few_honest_ones(kind: type[Any]) -> None:
    randomizer = kind()
    alone = [np.abs(randomizer.tallied(one[None])) for one in honest(randomizer)]
    most, longest = max(int(one.max()) for one in alone), max(float(np.linalg.norm(one)) for one in alone)
    header = randomizer.encode(honest(randomizer, 1)[0])[: HEADER.size]
    for body in bodies(randomizer):
        collector = Aggregator(randomizer)
        with contextlib.suppress(ParameterError):
            collector.add_messages([header + body])
        assert np.abs(collector.tally).max() <= FEW * most
        assert np.linalg.norm(collector.tally.astype(np.float64)) <= FEW * longest


@every
def test_what_is_not_of_the_form_of_a_report_is_refused(kind: type[Any]) -> None:
    randomizer, collector = kind(), Aggregator(kind())
    right = honest(randomizer, 2)
    plain = np.zeros(right.shape) if right.dtype.names else right
    wrongs: list[Any] = [
        plain.astype(np.float64),
        np.full(right.shape, np.nan),
        np.full(right.shape, "x"),
        np.full(right.shape, None),
        plain.astype(np.complex128),
        np.zeros(right.shape, np.bool_),
        right[..., None],
        right[0],
        np.full(right.shape, -1, np.int64),
        np.full(right.shape, 2**62, np.int64),
        np.full(right.shape, 2**63, np.uint64),
    ]
    wrongs += [right[:, :-1], np.concatenate([right, right], axis=1)] if right.ndim == 2 else []
    for wrong in wrongs:
        with pytest.raises(ParameterError, match="Nothing was counted"):
            collector.add(wrong)
    assert (collector.n, bool(collector.tally.any())) == (0, False)


def test_everything_that_makes_reports_says_which_it_accepts() -> None:
    makers = [kind for kind in public_classes("local") if callable(getattr(kind, "reports", None))]
    assert [kind.__name__ for kind in makers if not callable(getattr(kind, "accepted", None))] == []
    assert len(makers) > len(randomizers())
