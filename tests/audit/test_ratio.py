from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from discreet.audit.ratio import CELLS, Ratio, spread


def test_who_asks_for_no_audit_does_not_load_learners() -> None:
    """`discreet ask` has the room's names at hand, and would wait for a second."""
    loaded = "import sys, discreet.audit.ratio; print('sklearn.ensemble' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_few_distinct_values_get_a_cell_each() -> None:
    ratio = Ratio.learnt(np.array([-5, 2, 2, 7]), np.array([-5, -5, 7, 7]))
    shares = np.array([1.5, 2.5, 1.5, 0.5]), np.array([2.5, 0.5, 2.5, 0.5])
    expected = np.log(shares[0] / shares[1])
    assert ratio(np.array([-5, 2, 7])) == pytest.approx(expected[:3])
    assert ratio(np.array([100])) == pytest.approx(expected[3:])


def test_the_ratio_of_laplace_outputs_is_found() -> None:
    generator = np.random.default_rng(1)
    ratio = Ratio.learnt(generator.laplace(1, 1, 200_000), generator.laplace(0, 1, 200_000))
    places = np.array([-3.0, -1.0, 0.5, 2.0, 4.0])
    # a cell holds 1/128 of 400,000 outputs, and its log-ratio has standard error below 0.04
    assert ratio(places) == pytest.approx(np.abs(places) - np.abs(places - 1), abs=0.2)


def test_a_frequent_value_among_many_gets_a_cell_to_itself() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(size=(2, 20_000))
    first[:10_000], second[:2_000] = 0.25, 0.25
    ratio = Ratio.learnt(first, second)
    near = ratio(np.array([np.nextafter(0.25, -1), 0.25, np.nextafter(0.25, 1)]))
    assert near[1] == pytest.approx(np.log(5), abs=0.1)
    assert near[0] < 0 > near[2]


def test_large_integers_and_not_a_number_have_their_places() -> None:
    values = np.array([2**62, 2**62 + 1, 2**62 + 2] * 200)
    ratio = Ratio.learnt(values, np.append(values, [2**62 + 1] * 300))
    assert len(np.unique(ratio(values[:3]))) == 2
    holes = np.append(np.arange(1000.0), [np.nan] * 500)
    assert Ratio.learnt(holes, np.arange(1000.0))(np.array([np.nan]))[0] > 2


def test_an_event_is_told_in_words() -> None:
    ratio = Ratio(np.array([0, 1, 2]), np.array([0.5, -1.0, 0.5, 2.0]))
    assert ratio.where(0.5, above=True) == "output <= 0 or 1 < output"
    assert ratio.where(-1.0, above=False) == "0 < output <= 1"
    assert ratio.where(-1.0, above=True) == "any output"
    assert ratio.where(3.0, above=True) == "no output"
    zigzag = Ratio(np.arange(20), (np.arange(21) % 2).astype(np.float64))
    assert zigzag.where(1.0, above=True).endswith("or 6 more stretches")


def test_quantiles_are_finer_at_both_ends() -> None:
    cuts = spread(np.arange(100_001), cells=CELLS, crowd=16)
    assert cuts[0] < 40
    assert cuts[-1] > 100_000 - 40
    assert np.diff(cuts).max() <= 100_000 / CELLS + 1
