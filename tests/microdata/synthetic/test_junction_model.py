"""The junction model: what is read off tables that overlap has the error that it says."""

from __future__ import annotations

import numpy as np

from discreet.microdata.synthetic.junction_model import JunctionModel, NoisyCounts
from discreet.microdata.synthetic.synthesis import total_of
from discreet.questions.tables.coded_tables import TableCodes

CODES = TableCodes(("a", "b"), ((), ()), (2, 3))
TRUTH = np.array([[30.0, 20, 10], [5, 15, 20]])


def counted(rng: np.random.Generator, size: float | None = 100.0) -> JunctionModel:
    alone = NoisyCounts((0,), TRUTH.sum(axis=1) + rng.normal(0, 2.0, 2), 2.0)
    other = NoisyCounts((1,), TRUTH.sum(axis=0) + rng.normal(0, 2.0, 3), 2.0)
    both = NoisyCounts((0, 1), TRUTH + rng.normal(0, 1.0, (2, 3)), 1.0)
    total = total_of([alone.counts, other.counts], size)
    return JunctionModel.start(CODES, [alone, other, both], total, (2, 3), size)


def test_a_column_that_was_counted_twice_has_the_error_that_it_says() -> None:
    """Of 2000 repetitions a deviation is known to 1.6 %; the mean of both counts is better than either."""
    rng = np.random.default_rng(1)
    found = [counted(rng).known((0,)) for _ in range(2000)]
    stddev = found[0].stddev
    assert stddev < min(2.0, np.sqrt(3))
    np.testing.assert_allclose(np.std([known.counts for known in found], axis=0), stddev, rtol=0.08)
    np.testing.assert_allclose(np.mean([known.counts for known in found], axis=0), TRUTH.sum(axis=1), atol=0.2)


def test_a_secret_number_of_records_is_drawn_again() -> None:
    """Totals of copies are as far apart as those of repeated counts: of 400 a deviation is known to 3.5 %."""
    rng = np.random.default_rng(2)
    repeated = [counted(rng, None).total for _ in range(400)]
    model = counted(rng, None).fitted(50)
    copies = [model.again(rng).total for _ in range(400)]
    np.testing.assert_allclose(np.std(copies), np.std(repeated), rtol=0.15)
    public = counted(rng).fitted(50)
    assert {public.again(rng).total for _ in range(10)} == {100.0}


def test_what_was_kept_without_a_size_keeps_its_total() -> None:
    model = counted(np.random.default_rng(3), None).fitted(10)
    notes = model.to_notes()
    assert JunctionModel.of_notes(CODES, notes).size is None
    old = JunctionModel.of_notes(CODES, {name: notes[name] for name in notes if name != "size"})
    assert old.again(np.random.default_rng(4)).total == model.total
