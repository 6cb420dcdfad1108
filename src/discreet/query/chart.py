"""Bar charts with error bars, drawn as SVG: no script, no font, no network."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.core.grid import Array
from discreet.display.digits import error_bar, exact, number
from discreet.display.plain import plain, shortened


@dataclass(frozen=True)
class Bar:
    """A noisy count and how far it may be off."""

    label: str
    count: float
    error: float

    @property
    def low(self) -> float:
        """The lower end of its error bar; there are no negative counts."""
        return max(0.0, self.count - self.error)

    @property
    def high(self) -> float:
        """The upper end of its error bar."""
        return max(0.0, self.count + self.error)

    def __str__(self) -> str:
        return f"{number(self.count, self.error)} ± {error_bar(self.error)}"


LETTER = 6.8  # the width of a digit at 12 px, about


def columns_chart(bars: Sequence[Bar], edges: Array, shown: Callable[[float], str] = exact) -> str:
    """Upright bars, each as wide as its cell, above an axis whose numbers are shown so."""
    width, height, foot, top, right = 640.0, 250.0, 26.0, 10.0, 24.0
    scale = round_ticks(0.0, max(1.0, *(bar.high for bar in bars)))
    most = scale[-1] if scale[-1] >= max(bar.high for bar in bars) else 2 * scale[-1] - scale[-2]
    left = 14 + LETTER * max(len(exact(tick)) for tick in scale)
    floor, lower, upper = height - foot, float(edges[0]), float(edges[-1])

    def x_of(value: float) -> float:
        return left + (width - left - right) * ((value - lower) / (upper - lower))

    def y(count: float) -> float:
        return floor - (floor - top) * min(max(count, 0.0) / most, 1.0)

    drawn = [line(left, y(tick), width - right, y(tick), "grid") for tick in scale]
    drawn += [words(left - 8, y(tick) + 4, exact(tick), "end") for tick in scale]
    for bar, start, end in zip(bars, edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        step, center = x_of(end) - x_of(start), x_of(start / 2 + end / 2)
        shape = _box(x_of(start) + 0.08 * step, y(bar.count), step * 0.84, floor - y(bar.count))
        drawn.append(f"<g>{_title(bar)}{shape}{line(center, y(bar.low), center, y(bar.high), 'error')}</g>")
    for tick in round_ticks(lower, upper):
        x = x_of(tick)
        drawn += [line(x, floor, x, floor + 4, "axis"), words(x, height - 6, shown(tick), "middle")]
    return picture(width, height, drawn)


def row_chart(bar: Bar, most: float) -> str:
    """One lying bar, as wide as its place, where `most` fills it."""
    share, low, high = (100 * min(max(part, 0.0) / most, 1.0) for part in (bar.count, bar.low, bar.high))
    shape = f'<rect x="0" y="3" width="{share:.2f}%" height="16" rx="2"/>'
    whisker = f'<line x1="{low:.2f}%" y1="11" x2="{high:.2f}%" y2="11" class="error"/>'
    return f'<svg width="100%" height="22" role="img" class="chart">{_title(bar)}<g>{shape}{whisker}</g></svg>'


def round_ticks(lower: float, upper: float) -> list[float]:
    """Up to eight round numbers between two bounds, both included.

    Examples
    --------
    >>> round_ticks(0.0, 730.0), round_ticks(60.0, 220.0)
    ([0.0, 200.0, 400.0, 600.0], [75.0, 100.0, 125.0, 150.0, 175.0, 200.0])
    """
    rough = (upper - lower) / 6
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(step * unit for step in (1, 2, 2.5, 5, 10) if step * unit >= rough * 0.85)
    first, last = math.ceil(lower / step - 1e-9), math.floor(upper / step + 1e-9)
    return [step * i for i in range(first, last + 1)]


def _title(bar: Bar) -> str:
    """What a pointer over the bar reads."""
    return f"<title>{html.escape(shortened(bar.label, 200))}: {bar}</title>"


def picture(width: float, height: float, drawn: Sequence[str], label: str = "bar chart", kind: str = "bars") -> str:
    """A drawing that is as wide as its place, with what it shows in words."""
    frame = (
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(plain(label))}" class="chart {kind}"'
    )
    return f"<svg {frame}>{''.join(drawn)}</svg>"


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0):.2f}" height="{max(height, 0):.2f}" rx="2"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A line of a kind that the sheet colours."""
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" class="{kind}"/>'


def words(x: float, y: float, text: str, anchor: str) -> str:
    """Words that begin, end or have their middle at a place."""
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}">{html.escape(text)}</text>'
