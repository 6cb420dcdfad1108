"""A few ranks of many values: the run holds them, whatever a sample says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.mechanisms.ranks import ranking as module
from discreet.mechanisms.ranks.ranking import Ranking

rng = np.random.default_rng(0)
NUMBER = 2**17
COLUMNS = {
    "spread": rng.normal(size=NUMBER),
    "sorted": np.sort(rng.normal(size=NUMBER)),
    "tied": rng.integers(0, 3, NUMBER).astype(float),
    "half missing": np.where(rng.random(NUMBER) < 0.5, np.nan, rng.normal(size=NUMBER)),
    "all but one missing": np.append(np.full(NUMBER, np.nan), 1.0),
    "infinite": np.where(rng.random(NUMBER) < 0.5, np.inf, -np.inf),
    "few": rng.normal(size=10),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_the_ranks_are_those_of_all_values_sorted(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = COLUMNS[column]
    exact, ranking = np.sort(values[~np.isnan(values)]), Ranking.of(values)
    for margin, share in itertools.product((2.0, 0.0, -1000.0), (0.0, 0.2, 0.999, 1.0)):
        monkeypatch.setattr(module, "MARGIN", margin)
        start = round(share * len(exact)) * 9 // 10
        stop = min(start + 50, len(exact))
        run = ranking.run(start, stop)
        np.testing.assert_array_equal(np.sort(run.values)[start - run.before : stop - run.before], exact[start:stop])


@pytest.mark.parametrize("column", ["spread", "half missing"])
def test_a_run_is_short_and_has_all_values_between_its_ends(column: str) -> None:
    values, ranking = COLUMNS[column], Ranking.of(COLUMNS[column])
    middle = ranking.number // 2
    run = ranking.run(middle, middle + 10)
    assert len(run.values) < ranking.number / 10
    assert run.before == (values < run.low).sum()
    np.testing.assert_array_equal(np.sort(run.values), np.sort(values[(values >= run.low) & (values <= run.high)]))
