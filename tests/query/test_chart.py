"""Charts: well-formed, inside their frame, true to the numbers."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from discreet.query.chart import Bar, columns_chart, round_ticks, row_chart

ODD = {
    "usual": [Bar("a", 10.0, 2.0), Bar("b", 30.0, 2.0)],
    "nothing": [Bar("a", 0.0, 0.0)],
    "all negative": [Bar("a", -5.0, 1.0), Bar("b", -9.0, 1.0)],
    "huge": [Bar("a", 1e300, 1e299), Bar("b", 1.0, 1.0)],
    "all noise": [Bar("a", 1.0, 1e6)] * 32,
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(
    ("lower", "upper"), [(0.0, 1.0), (-1e9, 1e9), (1e6, 1e6 + 1e-3), (0.0, 1e-12), (-1e307, 1e307)]
)
def test_bars_stay_inside_the_frame(name: str, lower: float, upper: float) -> None:
    drawn = ElementTree.fromstring(columns_chart(ODD[name], np.linspace(lower, upper, len(ODD[name]) + 1)))
    _, _, width, height = (float(part) for part in drawn.attrib["viewBox"].split())
    boxes = list(drawn.iter("rect"))
    assert len(boxes) == len(ODD[name])
    for box in boxes:
        x, y, wide, high = (float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + high <= height
    for line in drawn.iter("line"):
        assert all(0 <= float(line.attrib[key]) <= height for key in ("y1", "y2"))


def test_heights_are_in_proportion() -> None:
    boxes = list(
        ElementTree.fromstring(columns_chart([Bar("a", 10, 1), Bar("b", 30, 1)], np.array([0.0, 0.5, 1.0]))).iter(
            "rect"
        )
    )
    first, second = (float(box.attrib["height"]) for box in boxes)
    assert second / first == pytest.approx(3, rel=0.01)


def test_a_row_fills_its_place_in_proportion() -> None:
    drawn = row_chart(Bar("a", 25.0, 5.0), 100.0)
    ElementTree.fromstring(drawn)
    assert 'width="25.00%"' in drawn
    assert re.search(r'x1="20.00%".*x2="30.00%"', drawn)


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", '"><img src=x>', "a & b", "\x1b[2J", "x" * 5000])
def test_labels_cannot_break_out(label: str) -> None:
    for drawn in (row_chart(Bar(label, 1, 1), 2), columns_chart([Bar(label, 1, 1)], np.array([0.0, 1.0]))):
        ElementTree.fromstring(drawn)
        assert "<script" not in drawn
        assert "<img" not in drawn
        assert len(drawn) < 3000


@pytest.mark.parametrize(("lower", "upper"), [(0, 110), (60, 220), (-0.3, 0.7), (1e6, 1e6 + 1), (0, 1e300), (-7, -3)])
def test_ticks_are_round_few_and_inside(lower: float, upper: float) -> None:
    ticks = round_ticks(lower, upper)
    width = upper - lower
    assert 2 <= len(ticks) <= 8
    assert lower - 1e-6 * width <= ticks[0] < ticks[-1] <= upper + 1e-6 * width
