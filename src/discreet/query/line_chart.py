"""Charts of lines: what an account has left after each charge, and the error to expect at each price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.display.digits import error_bar, exact
from discreet.query.chart import line, picture, round_ticks, words

WIDTH, HEIGHT, FOOT, TOP, RIGHT = 480.0, 210.0, 58.0, 12.0, 20.0
MARGIN, LETTER = 16.0, 8.5  # beside the numbers of an axis, and the width of a digit on the narrowest page
MOST_POINTS = 400  # of a burn-down that is drawn: of a longer one, every few


@dataclass(frozen=True)
class PlotArea:
    """The place of a drawing between its axes.

    Parameters
    ----------
    left : float
        Where the horizontal axis begins.
    """

    left: float

    @property
    def floor(self) -> float:
        return HEIGHT - FOOT

    def x(self, share: float) -> float:
        """A place from 0, at the left, to 1."""
        return self.left + (WIDTH - self.left - RIGHT) * share

    def y(self, share: float) -> float:
        """A place from 0, at the floor, to 1."""
        return self.floor - (self.floor - TOP) * min(max(share, 0.0), 1.0)

    def captioned(self, below: str) -> str:
        """What the horizontal axis shows."""
        return words(self.x(0.5), HEIGHT - 6, below, "middle")

    def level(self, share: float, text: str) -> list[str]:
        """A line across, and its name on the left."""
        height = self.y(share)
        return [line(self.left, height, WIDTH - RIGHT, height, "grid"), words(self.left - 8, height + 4, text, "end")]

    def mark(self, share: float, text: str) -> list[str]:
        """A tick on the floor, and its name below."""
        place = self.x(share)
        return [line(place, self.floor, place, self.floor + 4, "axis"), words(place, self.floor + 19, text, "middle")]


def burn_down(cap: float, used: Sequence[float]) -> str:
    """What was left of a cap of epsilon after each charge, as steps that go down.

    Parameters
    ----------
    cap : float
        What there was.
    used : sequence of float
        What was used after each charge, oldest first.
    """
    kept = _thinned([max(0.0, cap - one) for one in (0.0, *used)])
    ticks = [tick for tick in round_ticks(0.0, cap) if tick <= cap]
    frame = PlotArea(MARGIN + LETTER * max(len(exact(tick)) for tick in ticks))
    drawn = [part for tick in ticks for part in frame.level(tick / cap, exact(tick))]
    count, most = len(used), len(kept)  # behind the last charge, what is left goes on
    places = [(frame.x(i / most), frame.y(left / cap)) for i, left in enumerate(kept)]
    path = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in places[1:])
    path += f"H{frame.x(1):.1f}"
    area = f'<path class="area" d="{path}V{frame.floor:.1f}H{frame.left:.1f}Z"/>'
    below = "no charge yet" if not used else f"after {count:,} charge{'s' if count > 1 else ''}, oldest first"
    told = f"epsilon left: {_four(kept[-1])} of {exact(cap)} {below}"
    return picture(
        WIDTH, HEIGHT, [*drawn, area, f'<path class="stroke" d="{path}"/>', frame.captioned(below)], told, "lines"
    )


def error_curve(epsilons: Sequence[float], errors: Sequence[float], here: float, error: float) -> str:
    """How the error to expect falls as the price grows, on logarithmic axes, with a mark at the price that is chosen.

    Parameters
    ----------
    epsilons, errors : sequence of float
        Prices in rising order, and the error at each.
    here, error : float
        The price that is chosen, and the error at it.
    """
    known = [(price, error) for price, error in zip(epsilons, errors, strict=True) if 0 < error < math.inf]
    if len(known) < 2:
        return ""
    prices, sizes = zip(*known, strict=True)
    low, high = math.log10(min(sizes)), math.log10(max(sizes))
    low, high = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    first, last = math.log10(prices[0]), math.log10(prices[-1])
    decades = [10.0**power for power in range(low, high + 1)]
    frame = PlotArea(MARGIN + LETTER * max(len(exact(tick)) for tick in decades))

    def across(price: float) -> float:
        return min(max((math.log10(price) - first) / (last - first), 0.0), 1.0)

    def up(error: float) -> float:
        return (math.log10(error) - low) / (high - low)

    drawn = [part for tick in decades for part in frame.level(up(tick), exact(tick))]
    drawn += [part for tick in _decades(prices[0], prices[-1]) for part in frame.mark(across(tick), exact(tick))]
    path = "L".join(f"{frame.x(across(price)):.1f} {frame.y(up(error)):.1f}" for price, error in known)
    x, y = frame.x(across(here)), frame.y(up(error)) if 0 < error < math.inf else TOP
    spot = f'{line(x, frame.floor, x, y, "error")}<circle class="spot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    told = f"expected error ± {error_bar(error)} at epsilon {exact(here)}; it falls as epsilon grows"
    stroke = f'<path class="stroke" d="M{path}"/>'
    return picture(WIDTH, HEIGHT, [*drawn, stroke, spot, frame.captioned("epsilon: more is dearer")], told, "lines")


def _four(value: float) -> str:
    """A value with four digits that count.

    Examples
    --------
    >>> _four(0.123456), _four(12.0)
    ('0.1235', '12')
    """
    return f"{value:.4g}"


def _thinned(values: list[float]) -> list[float]:
    """The first, the last, and every few between."""
    step = math.ceil(len(values) / MOST_POINTS)
    return [*values[:-1:step], values[-1]] if step > 1 else values


def _decades(low: float, high: float) -> list[float]:
    """The powers of ten between two prices, both included."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**power for power in range(first, last + 1)]
