"""Charts of lines: well-formed, inside their frame, true to the numbers, told in words."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from discreet.query.line_chart import HEIGHT, MOST_POINTS, WIDTH, burn_down, error_curve


def places(drawn: str, kind: str) -> list[tuple[float, float]]:
    """The places that a path goes through."""
    found = re.search(rf'class="{kind}" d="([^"]*)"', drawn)
    assert found is not None
    x = y = 0.0
    out = []
    for letter, numbers in re.findall(r"([MLHV])([\d. ]+)", found[1]):
        values = [float(one) for one in numbers.split()]
        x, y = {"M": values, "L": values, "H": [*values, y], "V": [x, *values]}[letter][:2]
        out.append((x, y))
    return out


@pytest.mark.parametrize("used", [[], [0.5], [0.1, 0.1, 0.7], [0.2 * i for i in range(1, 11)], [5.0, 9.0]])
def test_what_is_left_goes_down_in_steps_inside_the_frame(used: list[float]) -> None:
    drawn = burn_down(2.0, used)
    ElementTree.fromstring(drawn)
    path = places(drawn, "stroke")
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in path)
    assert [x for x, _ in path] == sorted(x for x, _ in path)
    assert [y for _, y in path] == sorted(y for _, y in path)  # down is a greater y
    assert f"of 2 {'after' if used else 'no charge'}" in drawn
    assert f"epsilon left: {max(0.0, 2.0 - (used or [0.0])[-1]):.4g} of 2" in drawn


def test_heights_are_in_proportion_to_what_is_left() -> None:
    path = places(burn_down(4.0, [1.0, 3.0]), "stroke")
    (_, full), (_, half), (_, quarter) = path[0], path[2], path[4]
    empty = places(burn_down(4.0, [4.0]), "stroke")[-1][1]
    assert (empty - half) / (empty - full) == pytest.approx(0.75, abs=0.01)
    assert (empty - quarter) / (empty - full) == pytest.approx(0.25, abs=0.01)


def test_a_long_history_is_thinned_and_ends_where_it_ends() -> None:
    used = np.linspace(0.0, 1.0, 50_001)[1:].tolist()
    drawn = burn_down(2.0, used)
    assert len(drawn) < 60 * MOST_POINTS
    assert "epsilon left: 1 of 2 after 50,000 charges" in drawn


def test_the_mark_is_at_the_price_that_is_chosen() -> None:
    prices = np.geomspace(0.01, 10.0, 13)
    errors = 1.0 / prices
    drawn = error_curve(prices.tolist(), errors.tolist(), 1.0, 1.0)
    ElementTree.fromstring(drawn)
    path = places(drawn, "stroke")
    x, y = (float(one) for one in re.findall(r'c[xy]="([\d.]+)"', drawn))
    assert (x, y) in path
    assert path.index((x, y)) == 8
    assert "± 1.0 at epsilon 1" in drawn
    slopes = np.diff([one[1] for one in path]) / np.diff([one[0] for one in path])
    assert slopes == pytest.approx(slopes[0], rel=0.05)  # a straight line on logarithmic axes


def test_what_cannot_be_drawn_is_not() -> None:
    assert error_curve([1.0], [2.0], 1.0, 2.0) == ""
    assert error_curve([0.1, 1.0], [float("inf"), float("nan")], 1.0, 1.0) == ""
    ElementTree.fromstring(error_curve([0.1, 1.0], [3.0, 3.0], 0.5, float("inf")))
